"""A differential equation is fitted through the second input derivative of a rectifier network, which is zero wherever it exists."""

SOURCE = "tensorflow/tensorflow#9398"
CAUSE = "second-order-vanishes"
EXPECT = {
    "status": {"w1": "zero", "w2": "none"},
    "op": "Relu",
    "op_any": ["Relu", "ReluGrad"],
    "line_contains": "return tf.nn.relu(z)",
}
import tensorflow as tf

X = tf.reshape(tf.linspace(0.2, 1.0, 5), [5, 1])


def _go(bend):
    w1 = tf.Variable([[0.7, -0.4, 1.1]], name="w1")
    w2 = tf.Variable([[0.5], [0.9], [-0.3]], name="w2")

    def fn():
        with tf.GradientTape() as outer:
            outer.watch(X)
            with tf.GradientTape() as inner:
                inner.watch(X)
                u = bend(X @ w1 + 0.1) @ w2
            slope = inner.gradient(u, X)
        curve = outer.gradient(slope, X)
        return tf.reduce_mean(tf.square(curve + 1.0))

    return fn, [w1, w2]


def build():
    def bend(z):
        return tf.nn.relu(z)

    return _go(bend)


def fixed():
    return _go(tf.nn.tanh)
