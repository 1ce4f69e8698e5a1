"""Three direction vectors are normalised in a comprehension; only the last one still has its zero start value."""

SOURCE = "tensorflow/tensorflow#35257"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"north": "ok", "east": "ok", "up": "nonfinite"},
    "op": "RealDiv",
    "op_any": ["RealDiv", "Sqrt", "tf.linalg.normalize"],
    "line_contains": "tf.linalg.normalize(v)[0] for v in axes",
}
import tensorflow as tf

GOAL = tf.constant([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def _axes():
    return [
        tf.Variable([0.1, 0.9, 0.3], name="north"),
        tf.Variable([0.7, -0.2, 0.1], name="east"),
        tf.Variable([0.0, 0.0, 0.0], name="up"),
    ]


def build():
    axes = _axes()

    def fn():
        units = [tf.linalg.normalize(v)[0] for v in axes]
        return tf.add_n([tf.reduce_sum(tf.square(u - g)) for u, g in zip(units, GOAL)])

    return fn, axes


def fixed():
    axes = _axes()

    def fn():
        units = [tf.nn.l2_normalize(v, epsilon=1e-3) for v in axes]
        return tf.add_n([tf.reduce_sum(tf.square(u - g)) for u, g in zip(units, GOAL)])

    return fn, axes
