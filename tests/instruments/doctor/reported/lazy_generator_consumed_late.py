"""The per-row losses are written as a generator under the tape, but a generator runs only when summed, after it closed."""

SOURCE = "common mistake"
CAUSE = "outside-tape"
EXPECT = {
    "status": {"theta": "none"},
    "op": "call outside tape",
    "line_contains": "total = tf.add_n(list(terms))",
    "line_any": ["terms = (row_loss(theta, x) for x in ROWS)", "return tf.square(tf.reduce_sum(theta * x) - 1.0)"],
}
import tensorflow as tf

ROWS = [tf.constant([0.5, 1.0]), tf.constant([-1.0, 0.3]), tf.constant([0.2, 0.2])]


def row_loss(theta, x):
    return tf.square(tf.reduce_sum(theta * x) - 1.0)


def run():
    theta = tf.Variable([0.1, 0.7], name="theta")
    with tf.GradientTape() as tape:
        terms = (row_loss(theta, x) for x in ROWS)
    total = tf.add_n(list(terms))
    return tape.gradient(total, theta)


def fixed():
    theta = tf.Variable([0.1, 0.7], name="theta")
    with tf.GradientTape() as tape:
        whole = tf.add_n([row_loss(theta, x) for x in ROWS])
    return tape.gradient(whole, theta)
