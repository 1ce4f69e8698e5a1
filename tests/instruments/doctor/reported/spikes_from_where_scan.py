"""A leaky unit fires through where(potential > 1, one, zero) inside scan, and the loss sees nothing but the spikes."""

SOURCE = "tensorflow/tensorflow#13082"
CAUSE = "hard-threshold"
EXPECT = {
    "status": {"drive": "none"},
    "op": "Greater",
    "op_any": ["Greater", "SelectV2", "where"],
    "line_contains": "tf.where(potential > 1.0, 1.0, 0.0)",
}
import tensorflow as tf

X = tf.constant([[0.9, 0.2], [0.8, 1.1], [0.7, 0.4], [1.3, 0.6]])
AIM = tf.constant([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])


def _go(fire):
    drive = tf.Variable([0.8, 0.9], name="drive")

    def step(carry, x):
        potential = 0.7 * carry[0] * (1.0 - carry[1]) + drive * x
        return potential, fire(potential)

    def fn():
        _, spikes = tf.scan(step, X, initializer=(tf.zeros([2]), tf.zeros([2])))
        return tf.reduce_mean(tf.square(spikes - AIM))

    return fn, [drive]


def build():
    def fire(potential):
        return tf.where(potential > 1.0, 1.0, 0.0)

    return _go(fire)


def fixed():
    def fire(potential):
        return tf.sigmoid(4.0 * (potential - 1.0))

    return _go(fire)
