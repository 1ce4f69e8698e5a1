"""The gradient is asked for slices of the table cut after the fact; each slice is a new tensor the loss never saw."""

SOURCE = "tensorflow/tensorflow#41999 (slice taken after recording)"
CAUSE = "unconnected-target"
EXPECT = {
    "status": {"tensor": "none"},
    "op": "recomputed tensor",
    "line_contains": "[tape.gradient(loss, table[i]) for i in (0, 2)]",
}
import tensorflow as tf


def run():
    table = tf.Variable([[0.1, 0.6], [0.4, -0.2], [-0.5, 0.9]], name="table")
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(tf.square(tf.gather(table, [0, 2]) - 1.0))
    return [tape.gradient(loss, table[i]) for i in (0, 2)]


def fixed():
    table = tf.Variable([[0.1, 0.6], [0.4, -0.2], [-0.5, 0.9]], name="table")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.gather(table, [0, 2]) - 1.0))
    whole = tf.convert_to_tensor(tape.gradient(loss, table))
    return [whole[i] for i in (0, 2)]
