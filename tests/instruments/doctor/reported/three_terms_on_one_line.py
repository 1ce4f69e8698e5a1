"""Three penalty terms stand on one line; only the logarithm of one plus a return of minus one is singular."""

SOURCE = "common mistake"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"risk": "ok", "growth": "nonfinite", "volume": "ok"},
    "op": "Log1p",
    "line_contains": "tf.exp(risk)",
}
import tensorflow as tf


def _vars(worst):
    return (
        tf.Variable([0.2, -0.1], name="risk"),
        tf.Variable([worst, 0.3], name="growth"),
        tf.Variable([0.5, 2.0], name="volume"),
    )


def _go(worst):
    risk, growth, volume = _vars(worst)

    def fn():
        total = tf.reduce_sum(tf.exp(risk) - tf.math.log1p(growth) + tf.sqrt(volume))
        shifted = total + tf.math.log1p(tf.reduce_sum(volume))
        return 0.5 * shifted

    return fn, [risk, growth, volume]


def build():
    return _go(-1.0)


def fixed():
    return _go(-0.9)
