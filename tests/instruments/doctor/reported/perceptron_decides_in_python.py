"""A classifier turns each score into plus or minus one with a Python conditional expression before comparing with the label."""

SOURCE = "common mistake"
CAUSE = "hard-threshold"
EXPECT = {
    "status": {"weights": "none", "costs": "ok"},
    "op": "bool()",
    "op_any": ["bool()", "__bool__", "Greater"],
    "line_contains": "votes = [1.0 if s > 0.0 else -1.0 for s in scores]",
}
import tensorflow as tf

X = tf.constant([[0.5, 1.0], [-0.7, 0.2], [0.1, -0.9]])
Y = tf.constant([1.0, 1.0, -1.0])


def _vars():
    return tf.Variable([0.4, 0.3], name="weights"), tf.Variable([1.0, 2.0, 1.5], name="costs")


def build():
    weights, costs = _vars()

    def fn():
        scores = tf.linalg.matvec(X, weights)
        votes = [1.0 if s > 0.0 else -1.0 for s in scores]
        return tf.reduce_sum(costs * tf.square(tf.stack(votes) - Y))

    return fn, [weights, costs]


def fixed():
    weights, costs = _vars()

    def fn():
        scores = tf.linalg.matvec(X, weights)
        return tf.reduce_sum(costs * tf.square(tf.tanh(scores) - Y))

    return fn, [weights, costs]
