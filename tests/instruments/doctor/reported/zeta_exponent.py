"""A power-law exponent is fitted through the Hurwitz zeta normaliser, which only differentiates its second argument."""

SOURCE = "tensorflow/tensorflow#60041"
CAUSE = "partial-gradient-op"
EXPECT = {
    "status": {"exponent": "none", "cutoff": "ok"},
    "op": "Zeta",
    "line_contains": "tf.math.zeta(exponent, cutoff)",
}
import tensorflow as tf


def _vars():
    return tf.Variable(2.4, name="exponent"), tf.Variable(1.3, name="cutoff")


def build():
    exponent, cutoff = _vars()

    def fn():
        mass = tf.math.zeta(exponent, cutoff)
        return tf.square(tf.math.log(mass) - 0.2)

    return fn, [exponent, cutoff]


def fixed():
    exponent, cutoff = _vars()

    def fn():
        n = tf.range(400.0)
        mass = tf.reduce_sum(tf.pow(n + cutoff, -exponent))
        return tf.square(tf.math.log(mass) - 0.2)

    return fn, [exponent, cutoff]
