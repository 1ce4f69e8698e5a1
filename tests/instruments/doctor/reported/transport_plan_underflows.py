"""Transport scaling runs five rounds with so small a temperature that one row of the kernel is all zeros; it divides by zero."""

SOURCE = "rajewsky-lab/novosparc#50 (same method)"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"points": "nonfinite"},
    "op": "RealDiv",
    "op_any": ["RealDiv", "Exp"],
    "line_contains": "u = MASS / tf.linalg.matvec(kernel, v)",
    "line_any": ["kernel = tf.exp(-cost / temperature)", "v = MASS / tf.linalg.matvec(kernel, u, transpose_a=True)"],
}
import tensorflow as tf

MASS = tf.constant([0.5, 0.3, 0.2])
GOAL = tf.constant([0.0, 0.4, 1.0])


def _go(temperature):
    points = tf.Variable([0.1, 0.5, 3.0], name="points")

    def fn():
        cost = tf.square(points[:, None] - GOAL[None, :])
        kernel = tf.exp(-cost / temperature)
        v = tf.ones([3])
        for _ in range(5):
            u = MASS / tf.linalg.matvec(kernel, v)
            v = MASS / tf.linalg.matvec(kernel, u, transpose_a=True)
        return tf.reduce_sum(u[:, None] * kernel * v[None, :] * cost)

    return fn, [points]


def build():
    return _go(0.02)


def fixed():
    return _go(1.0)
