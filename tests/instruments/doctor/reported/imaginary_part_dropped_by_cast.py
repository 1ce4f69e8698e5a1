"""A complex signal is cast to a real number before the loss, which throws the imaginary part away."""

SOURCE = "tensorflow/tensorflow#17110"
CAUSE = "zero-gradient-op"
EXPECT = {"status": {"re": "ok", "im": "zero"}, "op": "Cast", "line_contains": "tf.cast(wave, tf.float32)"}
import tensorflow as tf


def _go(measure):
    re, im = tf.Variable([0.5, -1.0, 0.2], name="re"), tf.Variable([0.3, 0.4, -0.8], name="im")

    def fn():
        wave = tf.complex(re, im)
        return tf.reduce_mean(tf.square(measure(wave) - 1.0))

    return fn, [re, im]


def build():
    def measure(wave):
        return tf.cast(wave, tf.float32)

    return _go(measure)


def fixed():
    def measure(wave):
        return tf.math.real(wave * tf.math.conj(wave))

    return _go(measure)
