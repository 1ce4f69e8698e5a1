"""A module keeps its parameters in a dataclass; the module's own list of variables does not look inside it."""

SOURCE = "google/gematria#323"
CAUSE = "untracked-variable"
EXPECT = {
    "status": {"bias": "ok"},
    "missing": ["slope", "curve"],
    "op": "untracked tf.Variable",
    "line_contains": "self.p = Params(",
    "line_any": ['Params(tf.Variable(0.5, name="slope")', "return self.p.slope * x + self.p.curve"],
}
import dataclasses

import tensorflow as tf

X = tf.constant([0.3, -0.9, 1.4])


@dataclasses.dataclass
class Params:
    slope: tf.Variable
    curve: tf.Variable


class Parabola(tf.Module):
    def __init__(self):
        super().__init__()
        self.bias = tf.Variable(0.1, name="bias")
        self.p = Params(tf.Variable(0.5, name="slope"), tf.Variable(-0.2, name="curve"))

    def __call__(self, x):
        return self.p.slope * x + self.p.curve * x * x + self.bias


class Registered(Parabola):
    def __init__(self):
        super().__init__()
        self.held = [self.p.slope, self.p.curve]


def _go(kind):
    model = kind()
    return (lambda: tf.reduce_mean(tf.square(model(X) - 0.7))), list(model.trainable_variables)


def build():
    return _go(Parabola)


def fixed():
    return _go(Registered)
