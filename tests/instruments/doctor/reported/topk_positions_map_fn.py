"""Keypoints are the positions of the two highest responses of each row, found with top_k inside map_fn."""

SOURCE = "vcg-uvic/lf-net-release#16"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {"detector": "none", "shift": "ok"},
    "op": "TopKV2",
    "line_contains": "tf.math.top_k(row, k=2).indices",
}
import tensorflow as tf

X = tf.random.stateless_normal([3, 2], seed=[15, 1])
AIM = tf.constant([[1.0, 3.0], [0.0, 2.0], [4.0, 1.0]])


def _vars():
    return tf.Variable(tf.random.stateless_normal([2, 6], seed=[15, 2]), name="detector"), tf.Variable(
        0.2, name="shift"
    )


def build():
    detector, shift = _vars()

    def peaks(row):
        return tf.cast(tf.math.top_k(row, k=2).indices, tf.float32)

    def fn():
        heat = X @ detector
        where = tf.map_fn(peaks, heat) + shift
        return tf.reduce_mean(tf.square(where - AIM))

    return fn, [detector, shift]


def fixed():
    detector, shift = _vars()

    def peaks(row):
        place = tf.reduce_sum(tf.nn.softmax(row) * tf.range(6.0))
        return tf.stack([place, place])

    def fn():
        heat = X @ detector
        where = tf.map_fn(peaks, heat) + shift
        return tf.reduce_mean(tf.square(where - AIM))

    return fn, [detector, shift]
