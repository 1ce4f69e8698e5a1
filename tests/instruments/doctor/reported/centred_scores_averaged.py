"""Scores are centred and then averaged again; the two means cancel exactly and nothing is left to learn from."""

SOURCE = "common mistake"
CAUSE = "zero-cancellation"
EXPECT = {
    "status": {"skill": "zero", "level": "ok"},
    "op": "Mean",
    "op_any": ["Mean", "Sub", "AddN"],
    "line_contains": "gain = tf.reduce_mean(power(centred))",
    "line_any": ["centred = skill - tf.reduce_mean(skill)"],
}
import tensorflow as tf


def _go(power):
    skill, level = tf.Variable([0.5, 1.0, -2.0, 0.25], name="skill"), tf.Variable(0.7, name="level")

    def fn():
        centred = skill - tf.reduce_mean(skill)
        gain = tf.reduce_mean(power(centred))
        return level * level - gain

    return fn, [skill, level]


def build():
    return _go(tf.identity)


def fixed():
    return _go(tf.square)
