"""The padding mask of an embedding sum is written the wrong way round; every real token is multiplied by zero."""

SOURCE = "common mistake"
CAUSE = "zero-gradient-op"
EXPECT = {
    "status": {"table": "zero", "out_bias": "ok"},
    "op": "Mul",
    "line_contains": "mask = tf.cast(ids == PAD, tf.float32)",
    "line_any": ["pooled = tf.reduce_sum(vectors * mask[..., None]"],
}
import tensorflow as tf

PAD = 0
IDS = tf.constant([[3, 1, 2], [2, 2, 1]])


def _go(real):
    table = tf.Variable(tf.random.stateless_normal([4, 2], seed=[2, 9]), name="table")
    out_bias = tf.Variable([0.1, 0.2], name="out_bias")

    def reversed_mask(ids):
        mask = tf.cast(ids == PAD, tf.float32)
        return mask

    def right_mask(ids):
        return tf.cast(ids != PAD, tf.float32)

    def fn():
        vectors = tf.nn.embedding_lookup(table, IDS)
        mask = (right_mask if real else reversed_mask)(IDS)
        pooled = tf.reduce_sum(vectors * mask[..., None], axis=1)
        return tf.reduce_mean(tf.square(pooled + out_bias - 1.0))

    return fn, [table, out_bias]


def build():
    return _go(False)


def fixed():
    return _go(True)
