"""Between harmless prints and checks stands a simulated quantisation whose range is far too small for the values."""

SOURCE = "common mistake"
CAUSE = "zero-clip"
EXPECT = {
    "status": {"act": "zero", "scale": "ok"},
    "op": "FakeQuantWithMinMaxArgs",
    "line_contains": "q = tf.quantization.fake_quant_with_min_max_args(h, -reach, reach)",
}
import sys

import tensorflow as tf


def _go(reach):
    act, scale = tf.Variable([14.0, -22.0, 9.0], name="act"), tf.Variable(0.5, name="scale")

    def fn():
        h = tf.debugging.check_numerics(2.0 * act, "activations")
        tf.print("largest", tf.reduce_max(h), output_stream="file:///dev/null")
        h = tf.ensure_shape(tf.identity(h), [3])
        q = tf.quantization.fake_quant_with_min_max_args(h, -reach, reach)
        tf.debugging.assert_less(tf.reduce_max(q), 1000.0)
        return tf.reduce_mean(tf.square(scale * q - 1.0))

    return fn, [act, scale]


def build():
    return _go(6.0)


def fixed():
    return _go(60.0)
