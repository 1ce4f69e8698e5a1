"""A hinge loss under a lambda is flat: each sample lies beyond the margin, and only the penalty of the bias moves."""

SOURCE = "common mistake"
CAUSE = "zero-saturation"
EXPECT = {
    "status": {"normal": "zero", "bias": "ok"},
    "op": "Maximum",
    "line_contains": "hinge = lambda m: tf.maximum(margin - m, 0.0)",
}
import tensorflow as tf

X = tf.constant([[3.0, 1.0], [-2.0, -2.5], [4.0, -0.5]])
Y = tf.constant([1.0, -1.0, 1.0])


def _go(margin):
    normal, bias = tf.Variable([1.5, 0.8], name="normal"), tf.Variable(0.2, name="bias")
    hinge = lambda m: tf.maximum(margin - m, 0.0)

    def fn():
        signed = Y * (tf.linalg.matvec(X, normal) + bias)
        return tf.reduce_mean(hinge(signed)) + 0.1 * tf.square(bias)

    return fn, [normal, bias]


def build():
    return _go(1.0)


def fixed():
    return _go(5.0)
