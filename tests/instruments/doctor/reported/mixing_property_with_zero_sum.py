"""A property of a module divides raw mixing weights by their sum, and the weights happen to add up to zero."""

SOURCE = "common mistake"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"raw_mix": "nonfinite", "means": "nonfinite"},
    "op": "RealDiv",
    "line_contains": "return self.raw / tf.reduce_sum(self.raw)",
}
import tensorflow as tf

X = tf.constant([[0.2], [1.3], [-0.4]])


class Mixture(tf.Module):
    def __init__(self):
        super().__init__()
        self.raw = tf.Variable([0.5, -1.0, 0.5], name="raw_mix")
        self.means = tf.Variable([-0.5, 0.4, 1.5], name="means")

    @property
    def mix(self):
        return self.raw / tf.reduce_sum(self.raw)

    def density(self, x):
        bumps = tf.exp(-tf.square(x - self.means))
        return tf.reduce_sum(self.mix * bumps, axis=1)


class Softly(Mixture):
    @property
    def mix(self):
        return tf.nn.softmax(self.raw)


def _go(kind):
    model = kind()
    return (lambda: tf.reduce_mean(tf.square(model.density(X) - 0.3))), [model.raw, model.means]


def build():
    return _go(Mixture)


def fixed():
    return _go(Softly)
