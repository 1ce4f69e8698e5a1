"""Learned masses are summed per bin with the weighted bin count, which is a plain sum but has no backward rule."""

SOURCE = "common mistake"
CAUSE = "no-registered-gradient"
EXPECT = {
    "status": {},
    "raises": "LookupError",
    "op": "DenseBincount",
    "op_any": ["DenseBincount", "Bincount"],
    "line_contains": "per_bin = tf.math.bincount(WHERE, weights=mass)",
}
import tensorflow as tf

WHERE = tf.constant([0, 2, 2, 1, 0])
GOAL = tf.constant([0.2, 0.5, 0.3])


def build():
    logits = tf.Variable([0.3, -0.2, 0.8, 0.1, 0.5], name="logits")

    def fn():
        mass = tf.nn.softmax(logits)
        per_bin = tf.math.bincount(WHERE, weights=mass)
        return tf.reduce_sum(tf.square(per_bin - GOAL))

    return fn, [logits]


def fixed():
    logits = tf.Variable([0.3, -0.2, 0.8, 0.1, 0.5], name="logits")

    def fn():
        mass = tf.nn.softmax(logits)
        summed = tf.math.unsorted_segment_sum(mass, WHERE, 3)
        return tf.reduce_sum(tf.square(summed - GOAL))

    return fn, [logits]
