"""A graph layer sums messages per node and scales each row to unit length; padding nodes have a zero row."""

SOURCE = "keras-team/keras#23075"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"graph/message/kernel": "nonfinite", "readout/kernel": "ok", "readout/bias": "ok"},
    "op": "Sqrt",
    "op_any": ["RealDiv"],
    "line_contains": "inverse = 1.0 / tf.sqrt(square)",
    "line_any": ["return tf.minimum(inverse, 1e6)"],
}
import tensorflow as tf

FEATURES = tf.concat([tf.random.stateless_normal([3, 3], seed=[61, 1]), tf.zeros([2, 3])], axis=0)  # padded to five
SENDERS = tf.constant([0, 1, 2, 2, 0, 3, 4])
RECEIVERS = tf.constant([1, 0, 0, 1, 2, 4, 3])  # padding nodes write to each other
LABELS = tf.constant([0, 1, 1, 0, 1])


def guard_after(square):
    inverse = 1.0 / tf.sqrt(square)
    return tf.minimum(inverse, 1e6)


def guard_before(square):
    return tf.math.rsqrt(tf.maximum(square, 1e-12))


class GraphLayer(tf.keras.layers.Layer):
    def __init__(self, inverse_length):
        super().__init__(name="graph")
        self.inverse_length = inverse_length
        self.message = tf.keras.layers.Dense(4, use_bias=False, name="message")

    def call(self, nodes):
        sent = tf.gather(self.message(nodes), SENDERS)
        pooled = tf.math.unsorted_segment_sum(sent, RECEIVERS, num_segments=5)
        square = tf.reduce_sum(tf.square(pooled), axis=-1, keepdims=True)
        return pooled * self.inverse_length(square)


def _go(inverse_length):
    tf.keras.utils.set_random_seed(611)
    layer = GraphLayer(inverse_length)
    readout = tf.keras.layers.Dense(2, name="readout")
    readout(layer(FEATURES))

    def fn():
        logits = readout(layer(FEATURES))
        per_node = tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, logits)
        return tf.reduce_mean(per_node[:3])

    return fn, layer.trainable_variables + readout.trainable_variables


def build():
    return _go(guard_after)


def fixed():
    return _go(guard_before)
