"""One branch of a tf.cond stores the picture as eight-bit numbers; when that branch runs, the picture gets a zero gradient."""

SOURCE = "tensorflow/tensorflow#23274"
CAUSE = "int-cast"
EXPECT = {
    "status": {"paint": "zero", "scale": "ok"},
    "op": "Cast",
    "line_contains": "tf.cast(picture * 255.0, tf.uint8)",
}
import tensorflow as tf

AIM = tf.random.stateless_uniform([4, 4], seed=[17, 1])


def _go(narrow):
    paint = tf.Variable(tf.random.stateless_normal([4, 4], seed=[17, 2]), name="paint")
    scale = tf.Variable(0.9, name="scale")
    export = tf.constant(True)

    @tf.function
    def fn():
        picture = tf.sigmoid(paint)
        shown = tf.cond(export, lambda: narrow(picture), lambda: picture)
        return tf.reduce_mean(tf.square(scale * shown - AIM))

    return fn, [paint, scale]


def build():
    def narrow(picture):
        return tf.cast(tf.cast(picture * 255.0, tf.uint8), tf.float32) / 255.0

    return _go(narrow)


def fixed():
    def narrow(picture):
        whole = tf.cast(tf.cast(tf.stop_gradient(picture) * 255.0, tf.uint8), tf.float32) / 255.0
        return picture + tf.stop_gradient(whole - picture)

    return _go(narrow)
