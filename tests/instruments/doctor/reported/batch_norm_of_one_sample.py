"""Batch normalisation in training mode sees a batch of one, so each value minus its mean is zero and nothing before it can learn."""

SOURCE = "ben-davidson-6/Gated-SCNN#9"
CAUSE = "zero-cancellation"
EXPECT = {
    "status": {"lift/kernel": "zero", "norm/gamma": "zero", "norm/beta": "ok"},
    "op": "Sub",
    "op_any": ["Sub", "Mean", "FusedBatchNormV3", "SquaredDifference", "BatchNormalization"],
    "line_contains": "norm(lift(x), training=True)",
}
import tensorflow as tf

X = tf.random.stateless_normal([5, 3], seed=[30, 1])


def _go(x):
    tf.keras.utils.set_random_seed(47)
    lift = tf.keras.layers.Dense(4, use_bias=False, name="lift")
    norm = tf.keras.layers.BatchNormalization(name="norm")
    lift.build((None, 3))
    norm.build((None, 4))

    def fn():
        h = norm(lift(x), training=True)
        return tf.reduce_mean(tf.square(h - 0.6))

    return fn, lift.trainable_variables + norm.trainable_variables


def build():
    return _go(X[:1])


def fixed():
    return _go(X)
