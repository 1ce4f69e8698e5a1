"""Mining keeps the examples whose loss is above a bound; none is, and the mean over nothing gives NaN with a zero gradient."""

SOURCE = "common mistake"
CAUSE = "zero-gradient-op"
EXPECT = {
    "status": {"score": "zero"},
    "op": "boolean_mask",
    "op_any": ["boolean_mask", "GatherV2", "Mean", "Where"],
    "line_contains": "kept = tf.boolean_mask(each, each > bound)",
    "line_any": ["return tf.reduce_mean(kept)"],
}
import tensorflow as tf

Y = tf.constant([1.0, 0.0, 1.0, 0.0])


def _go(bound):
    score = tf.Variable([2.0, -1.0, 0.7, -0.4], name="score")

    def hard_mean(each):
        kept = tf.boolean_mask(each, each > bound)
        return tf.reduce_mean(kept)

    def fn():
        return hard_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=Y, logits=score))

    return fn, [score]


def build():
    return _go(3.0)


def fixed():
    return _go(0.2)
