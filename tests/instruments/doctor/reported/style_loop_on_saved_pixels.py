"""A style-transfer loop evaluates its Gram losses on the image as it would be saved, with whole-number pixels."""

SOURCE = "peikexin9/deepxplore#13"
CAUSE = "int-cast"
EXPECT = {
    "status": {"canvas": "none"},
    "op": "Cast",
    "line_contains": "tf.cast(tf.clip_by_value(image, 0.0, 1.0) * 255.0, tf.uint8)",
}
import tensorflow as tf

CONTENT = tf.random.stateless_uniform([1, 8, 8, 3], seed=[60, 6])
STYLE = tf.random.stateless_uniform([1, 8, 8, 3], seed=[60, 7])


def _features():
    tf.keras.utils.set_random_seed(606)
    i = tf.keras.Input((8, 8, 3))
    low = tf.keras.layers.Conv2D(4, 3, activation="elu", name="low")(i)
    high = tf.keras.layers.Conv2D(6, 3, activation="elu", name="high")(low)
    net = tf.keras.Model(i, [low, high])
    net.trainable = False
    return net


def gram(maps):
    flat = tf.reshape(maps, [-1, maps.shape[-1]])
    return tf.matmul(flat, flat, transpose_a=True) / tf.cast(tf.shape(flat)[0], tf.float32)


def as_saved(image):
    pixels = tf.cast(tf.clip_by_value(image, 0.0, 1.0) * 255.0, tf.uint8)
    return tf.cast(pixels, tf.float32) / 255.0


def as_float(image):
    return image + 0.0


def _train(view, steps=3):
    net = _features()
    want_style = [gram(m) for m in net(STYLE)]
    want_content = net(CONTENT)[1]
    canvas = tf.Variable(0.5 * CONTENT + 0.2, name="canvas")
    optimizer = tf.keras.optimizers.Adam(0.02)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            maps = net(view(canvas))
            style_loss = tf.add_n([tf.reduce_mean(tf.square(gram(m) - g)) for m, g in zip(maps, want_style)])
            content_loss = tf.reduce_mean(tf.square(maps[1] - want_content))
            loss = style_loss + 0.1 * content_loss
        grad = tape.gradient(loss, canvas)
        if grad is not None:
            optimizer.apply_gradients([(grad, canvas)])
            canvas.assign(tf.clip_by_value(canvas, 0.0, 1.0))
    return [grad]


def run():
    return _train(as_saved)


def fixed():
    return _train(as_float)
