"""A cached property turns a raw parameter into a positive one; the first training step works, the second gets nothing."""

SOURCE = "common mistake"
CAUSE = "captured-outside"
EXPECT = {
    "status": {"raw": "none"},
    "op": "cached tensor",
    "line_contains": "return tf.nn.softplus(self.raw)",
    "line_any": ["@functools.cached_property", "z = DATA / model.scale"],
}
import functools

import tensorflow as tf

DATA = tf.constant([0.3, -1.2, 2.2])


class Gaussian(tf.Module):
    def __init__(self):
        super().__init__()
        self.raw = tf.Variable(0.4, name="raw")

    @functools.cached_property
    def scale(self):
        return tf.nn.softplus(self.raw)


class Fresh(tf.Module):
    def __init__(self):
        super().__init__()
        self.raw = tf.Variable(0.4, name="raw")

    @property
    def scale(self):
        return tf.math.softplus(self.raw)


def _train(kind):
    model, answers = kind(), []
    for _ in range(2):
        with tf.GradientTape() as tape:
            z = DATA / model.scale
            loss = tf.reduce_mean(0.5 * z * z) + tf.math.log(model.scale)
        answers.append(tape.gradient(loss, model.raw))
        if answers[-1] is not None:
            model.raw.assign_sub(0.1 * answers[-1])
    return answers


def run():
    return _train(Gaussian)


def fixed():
    return _train(Fresh)
