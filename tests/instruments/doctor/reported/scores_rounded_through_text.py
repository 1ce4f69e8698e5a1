"""Ragged scores are cut to two decimals by printing them as text and parsing the text again."""

SOURCE = "common mistake"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {"scores": "none", "offset": "ok"},
    "op": "AsString",
    "line_contains": "text = tf.strings.as_string(v, precision=2)",
}
import tensorflow as tf


def two_decimals(v):
    text = tf.strings.as_string(v, precision=2)
    return tf.strings.to_number(text)


def _go(tidy):
    scores = tf.Variable([0.123, 1.456, -0.789, 2.222, 0.5], name="scores")
    offset = tf.Variable(0.3, name="offset")

    def fn():
        rows = tf.RaggedTensor.from_row_lengths(scores * 1.5, [2, 0, 3])
        neat = tf.ragged.map_flat_values(tidy, rows)
        sums = tf.reduce_sum(neat, axis=1)
        return tf.reduce_mean(tf.square(sums + offset - 1.0))

    return fn, [scores, offset]


def build():
    return _go(two_decimals)


def fixed():
    return _go(tf.identity)
