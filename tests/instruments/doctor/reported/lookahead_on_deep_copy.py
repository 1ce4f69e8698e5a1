"""A look-ahead loss deep-copies the module inside the loss and evaluates the copy, whose variables are new ones."""

SOURCE = "common mistake"
CAUSE = "unused-variable"
EXPECT = {
    "status": {"kernel": "none", "temperature": "ok"},
    "op": "deepcopy",
    "line_contains": "ahead = copy.deepcopy(policy)",
    "line_any": ["tf.reduce_sum(ahead(S)"],
}
import copy

import tensorflow as tf

S = tf.constant([[0.2, -0.7], [0.9, 0.4]])


class Policy(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable([[0.3, -0.1, 0.6], [0.2, 0.5, -0.4]], name="kernel")

    def __call__(self, s):
        return tf.nn.log_softmax(s @ self.kernel)


def _go(copies):
    policy, temperature = Policy(), tf.Variable(0.7, name="temperature")

    def broken():
        ahead = copy.deepcopy(policy)
        return temperature * tf.reduce_sum(ahead(S)[:, 0])

    def sound():
        return temperature * tf.reduce_sum(policy(S)[:, 0])

    return (broken if copies else sound), [policy.kernel, temperature]


def build():
    return _go(True)


def fixed():
    return _go(False)
