"""A critic appends the spread over the minibatch as a feature; the last batch of the epoch holds one sample."""

SOURCE = "tensorflow/tensorflow#56830"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {
        "critic/body/kernel": "nonfinite",
        "critic/body/bias": "nonfinite",
        "critic/head/kernel": "ok",
        "critic/head/bias": "ok",
    },
    "op": "Sqrt",
    "line_contains": "spread = tf.math.reduce_std(h, axis=0, keepdims=True)",
}
import numpy as np
import tensorflow as tf

ROWS = np.random.default_rng(608).normal(size=(9, 4)).astype("float32")
TRUTH = (ROWS.sum(axis=1, keepdims=True) > 0).astype("float32")


class MinibatchSpread(tf.keras.layers.Layer):
    def call(self, h):
        spread = tf.math.reduce_std(h, axis=0, keepdims=True)
        level = tf.reduce_mean(spread, keepdims=True)
        return tf.concat([h, tf.repeat(level, tf.shape(h)[0], axis=0)], axis=1)


class SafeSpread(tf.keras.layers.Layer):
    def call(self, h):
        spread = tf.sqrt(tf.math.reduce_variance(h, axis=0, keepdims=True) + 1e-6)
        level = tf.reduce_mean(spread, keepdims=True)
        return tf.concat([h, tf.repeat(level, tf.shape(h)[0], axis=0)], axis=1)


def _critic(spread_layer):
    tf.keras.utils.set_random_seed(608)
    return tf.keras.Sequential(
        name="critic",
        layers=[
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(6, activation="tanh", name="body"),
            spread_layer,
            tf.keras.layers.Dense(1, name="head"),
        ],
    )


def _last_batch():
    pipeline = tf.data.Dataset.from_tensor_slices((ROWS, TRUTH)).batch(4)
    return list(pipeline)[-1]


def _go(layer):
    critic = _critic(layer)
    x, y = _last_batch()
    bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    return (lambda: bce(y, critic(x, training=True))), critic.trainable_variables


def build():
    return _go(MinibatchSpread())


def fixed():
    return _go(SafeSpread())
