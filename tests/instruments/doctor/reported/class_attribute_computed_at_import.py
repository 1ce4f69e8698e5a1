"""A decoder keeps its squashed code book as a class attribute, computed once while the class body ran."""

SOURCE = "common mistake"
CAUSE = "captured-outside"
EXPECT = {
    "status": {"codes": "none", "gain": "ok"},
    "op": "captured tensor",
    "line_contains": "table = tf.tanh(CODES)",
    "line_any": ["rows = tf.gather(cls.table, ids)"],
}
import tensorflow as tf

CODES = tf.Variable([[0.3, -0.5], [1.0, 0.2], [-0.7, 0.8]], name="codes")
GAIN = tf.Variable(1.1, name="gain")


class Decoder:
    table = tf.tanh(CODES)

    @classmethod
    def decode(cls, ids):
        rows = tf.gather(cls.table, ids)
        return GAIN * rows


class LiveDecoder(Decoder):
    @classmethod
    def decode(cls, ids):
        return GAIN * tf.gather(tf.math.tanh(CODES), ids)


def build():
    return (lambda: tf.reduce_mean(tf.square(Decoder.decode([2, 0]) - 0.1))), [CODES, GAIN]


def fixed():
    return (lambda: tf.reduce_mean(tf.square(LiveDecoder.decode([2, 0]) - 0.1))), [CODES, GAIN]
