"""A robustness term differentiates the input gradient of a network with local response normalisation, whose backward op has no rule."""

SOURCE = "tensorflow/tensorflow#22825"
CAUSE = "second-order-op"
EXPECT = {
    "status": {},
    "raises": "LookupError",
    "op": "LRNGrad",
    "op_any": ["LRNGrad", "LRN"],
    "line_contains": "tf.nn.local_response_normalization(maps",
    "line_any": ["inner.gradient(score, img)"],
}
import tensorflow as tf

IMG = tf.random.stateless_uniform([1, 4, 4, 1], seed=[22, 1])


def _go(normal):
    filt = tf.Variable(tf.random.stateless_normal([3, 3, 1, 4], seed=[22, 2]), name="filt")

    def fn():
        img = tf.identity(IMG)
        with tf.GradientTape() as inner:
            inner.watch(img)
            maps = tf.nn.conv2d(img, filt, 1, "SAME")
            score = tf.reduce_mean(tf.square(normal(maps)))
        slope = inner.gradient(score, img)
        return tf.reduce_sum(tf.square(slope))

    return fn, [filt]


def build():
    def normal(maps):
        return tf.nn.local_response_normalization(maps, depth_radius=1, alpha=0.5)

    return _go(normal)


def fixed():
    def normal(maps):
        return maps * tf.math.rsqrt(1.0 + 0.5 * tf.reduce_mean(tf.square(maps), axis=-1, keepdims=True))

    return _go(normal)
