"""A contractive penalty takes the batch Jacobian for an input nobody watched; asking for zeros instead of None hides it."""

SOURCE = "tensorflow/tensorflow#43043"
CAUSE = "not-watched"
EXPECT = {
    "status": {"w": "none", "target": "ok"},
    "op": "batch_jacobian",
    "line_contains": "jac = inner.batch_jacobian(h, x, unconnected_gradients=ZERO)",
    "line_any": ["with tf.GradientTape() as inner:"],
}
import tensorflow as tf

ZERO = tf.UnconnectedGradients.ZERO
X = tf.constant([[0.2, -0.5], [0.9, 0.3], [-0.4, 0.6]])


def _go(watch):
    w = tf.Variable([[0.4, -0.3, 0.2], [0.1, 0.8, -0.5]], name="w")
    target = tf.Variable(0.3, name="target")

    def fn():
        x = tf.identity(X)
        with tf.GradientTape() as inner:
            if watch:
                inner.watch(x)
            h = tf.tanh(x @ w)
        jac = inner.batch_jacobian(h, x, unconnected_gradients=ZERO)
        return tf.reduce_mean(tf.square(jac - target))

    return fn, [w, target]


def build():
    return _go(False)


def fixed():
    return _go(True)
