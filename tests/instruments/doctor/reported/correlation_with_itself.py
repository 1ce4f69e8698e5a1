"""The Fisher transform of a correlation is taken for a series compared with a multiple of itself: the inverse is at one."""

SOURCE = "common mistake"
CAUSE = "nan-singular-point"
EXPECT = {"status": {"r": "nonfinite", "extra": "ok"}, "op": "Atanh", "line_contains": "tf.atanh(rho)"}
import tensorflow as tf


def report(function):
    def inner(*values):
        tf.debugging.assert_rank(values[0], 1)
        return function(*values)

    return inner


@report
def fisher(rho, extra):
    return tf.square(tf.minimum(tf.atanh(rho), 3.0) - extra)


def _go(top):
    r, extra = tf.Variable([0.2, top, -0.4], name="r"), tf.Variable([0.1, 0.3, 0.2], name="extra")

    def fn():
        each = fisher(r, extra)
        return tf.reduce_sum(each)

    return fn, [r, extra]


def build():
    return _go(1.0)


def fixed():
    return _go(0.8)
