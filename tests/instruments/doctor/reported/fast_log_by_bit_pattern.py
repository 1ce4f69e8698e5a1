"""A quick logarithm reads the exponent out of the bit pattern while a compiled loop fills a TensorArray."""

SOURCE = "common mistake"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {"energy": "zero", "slope": "ok"},
    "op": "Bitcast",
    "line_contains": "bits = tf.bitcast(v, tf.int32)",
}
import tensorflow as tf


def fast_log2(v):
    bits = tf.bitcast(v, tf.int32)
    return tf.cast(bits, tf.float32) / 8388608.0 - 127.0


def log2(v):
    return tf.math.log(v) / 0.6931472


def _go(logarithm):
    energy = tf.Variable([[1.3, 2.2], [0.7, 5.0], [3.1, 0.9]], name="energy")
    slope = tf.Variable(0.3, name="slope")

    @tf.function
    def fn():
        bands = tf.TensorArray(tf.float32, size=3)
        for i in tf.range(3):
            bands = bands.write(i, tf.reduce_sum(logarithm(energy[i] + 1.0)))
        steps = tf.range(3, dtype=tf.float32)
        return tf.reduce_mean(tf.square(bands.stack() - slope * steps))

    return fn, [energy, slope]


def build():
    return _go(fast_log2)


def fixed():
    return _go(log2)
