"""A while_loop adds up how far rounded predictions of each batch are from the labels, and this count is minimised."""

SOURCE = "tensorflow/tensorflow#58614"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {"w": "none"},
    "op": "Round",
    "op_any": ["Round", "Rint"],
    "line_contains": "miss = tf.abs(tf.round(p) - Y[i])",
}
import tensorflow as tf

X = tf.random.stateless_normal([3, 4, 2], seed=[27, 1])
Y = tf.cast(tf.random.stateless_uniform([3, 4], seed=[27, 2]) > 0.5, tf.float32)


def _go(hard):
    w = tf.Variable([0.7, -0.9], name="w")

    def body(i, total):
        p = tf.sigmoid(tf.linalg.matvec(X[i], w))
        return i + 1, total + tf.reduce_sum(hard(p, i))

    def fn():
        _, total = tf.while_loop(lambda i, total: i < 3, body, (tf.constant(0), tf.constant(0.0)))
        return total / 12.0

    return fn, [w]


def build():
    def hard(p, i):
        miss = tf.abs(tf.round(p) - Y[i])
        return miss

    return _go(hard)


def fixed():
    def soft(p, i):
        return tf.square(p - Y[i])

    return _go(soft)
