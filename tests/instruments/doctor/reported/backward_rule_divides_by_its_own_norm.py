"""A hand-written backward rule scales the incoming gradient to length one; where the fit is perfect it divides zero by zero."""

SOURCE = "common mistake"
CAUSE = "custom-gradient"
EXPECT = {
    "status": {"far": "ok", "near": "nonfinite"},
    "op": "custom_gradient",
    "op_any": ["custom_gradient", "RealDiv", "Sqrt"],
    "line_contains": "return dy / tf.norm(dy)",
    "line_any": ["b = unit_gradient(near)"],
}
import tensorflow as tf


@tf.custom_gradient
def unit_gradient(v):
    def backward(dy):
        return dy / tf.norm(dy)

    return tf.identity(v), backward


@tf.custom_gradient
def safe_unit_gradient(v):
    def backward(dy):
        return dy * tf.math.rsqrt(tf.reduce_sum(dy * dy) + 1e-6)

    return tf.identity(v), backward


def build():
    far, near = tf.Variable([0.5, 2.0], name="far"), tf.Variable([1.0, 1.0], name="near")

    def fn():
        a = unit_gradient(far)
        b = unit_gradient(near)
        return tf.reduce_sum(tf.square(a - 1.0)) + tf.reduce_sum(tf.square(b - 1.0))

    return fn, [far, near]


def fixed():
    far, near = tf.Variable([0.5, 2.0], name="far"), tf.Variable([1.1, 0.8], name="near")

    def fn():
        a = safe_unit_gradient(far)
        b = safe_unit_gradient(near)
        return tf.reduce_sum(tf.square(a - 1.0)) + tf.reduce_sum(tf.square(b - 1.0))

    return fn, [far, near]
