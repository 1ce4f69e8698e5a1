"""A low-rank update starts with both of its factors at zero, so each one's gradient is multiplied by the other's zeros."""

SOURCE = "common mistake"
CAUSE = "zero-gradient-op"
EXPECT = {
    "status": {"down": "zero", "up": "zero", "base": "ok"},
    "op": "MatMul",
    "line_contains": "x @ self.down @ self.up",
    "line_any": ["self.down = tf.Variable(start([3, 1])", "self.up = tf.Variable(start([1, 2])"],
}
import tensorflow as tf

X = tf.constant([[0.4, -0.9, 0.2], [1.1, 0.3, -0.5]])


def small(shape):
    return tf.random.stateless_normal(shape, seed=[4, 1], stddev=0.1)


class Adapted(tf.Module):
    def __init__(self, start):
        super().__init__()
        self.base = tf.Variable([[0.2, 0.5], [-0.3, 0.1], [0.7, -0.6]], name="base")
        self.down = tf.Variable(start([3, 1]), name="down")
        self.up = tf.Variable(start([1, 2]), name="up")

    def __call__(self, x):
        update = x @ self.down @ self.up
        return x @ self.base + 2.0 * update


def _go(start):
    layer = Adapted(start)
    return (lambda: tf.reduce_mean(tf.square(layer(X) - 1.0))), [layer.down, layer.up, layer.base]


def build():
    return _go(tf.zeros)


def fixed():
    return _go(small)
