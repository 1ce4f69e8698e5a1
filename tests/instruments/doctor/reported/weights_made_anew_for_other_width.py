"""A lazy layer makes a new matrix when the width of its input changes; the list of variables was taken before that."""

SOURCE = "common mistake"
CAUSE = "unused-variable"
EXPECT = {
    "status": {"lazy_w": "none", "lazy_b": "ok"},
    "op": "replaced variable",
    "line_contains": "self.w = tf.Variable(0.2 * tf.ones([width, 2])",
    "line_any": ["variables = list(layer.trainable_variables)"],
}
import tensorflow as tf

NARROW, WIDE = tf.constant([[0.5, -0.3]]), tf.constant([[0.5, -0.3, 0.9]])


class Lazy(tf.Module):
    def __init__(self):
        super().__init__()
        self.b = tf.Variable([0.0, 0.1], name="lazy_b")
        self.w = None

    def __call__(self, x):
        width = x.shape[-1]
        if self.w is None or self.w.shape[0] != width:
            self.w = tf.Variable(0.2 * tf.ones([width, 2]), name="lazy_w")
        return x @ self.w + self.b


def _go(first):
    layer = Lazy()
    layer(first)
    variables = list(layer.trainable_variables)
    variables.sort(key=lambda v: v.name, reverse=True)
    return (lambda: tf.reduce_mean(tf.square(layer(WIDE) - 1.0))), variables


def build():
    return _go(NARROW)


def fixed():
    return _go(WIDE)
