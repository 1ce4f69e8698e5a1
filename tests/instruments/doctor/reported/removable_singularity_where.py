"""A function with a removable gap at zero is patched with where, but the quotient behind the patch is still differentiated at zero."""

SOURCE = "stackoverflow.com/questions/79042404"
CAUSE = "nan-where"
EXPECT = {
    "status": {"slope": "nonfinite"},
    "op": "SelectV2",
    "op_any": ["SelectV2", "RealDiv", "Reciprocal", "where", "Select"],
    "line_contains": "1.0 / (1.0 - tf.exp(-x)) - 1.0 / x",
    "line_any": ["tf.where(tf.abs(x) < 0.1"],
}
import tensorflow as tf

AGE = tf.constant([-2.0, 0.0, 0.5, 3.0])
AIM = tf.constant([0.2, 0.4, 0.6, 0.9])


def build():
    slope = tf.Variable(1.2, name="slope")

    @tf.function
    def fn():
        x = slope * AGE
        exact = 1.0 / (1.0 - tf.exp(-x)) - 1.0 / x
        f = tf.where(tf.abs(x) < 0.1, 0.5 + x / 12.0, exact)
        return tf.reduce_mean(tf.square(f - AIM))

    return fn, [slope]


def fixed():
    slope = tf.Variable(1.2, name="slope")

    @tf.function
    def fn():
        x = slope * AGE
        near = tf.abs(x) < 0.1
        away = tf.where(near, 1.0, x)
        exact = 1.0 / (1.0 - tf.exp(-away)) - 1.0 / away
        f = tf.where(near, 0.5 + x / 12.0, exact)
        return tf.reduce_mean(tf.square(f - AIM))

    return fn, [slope]
