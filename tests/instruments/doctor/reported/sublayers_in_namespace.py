"""A block keeps its sublayer in a SimpleNamespace, which the framework does not search, so its weights are never collected."""

SOURCE = "tensorflow/tensorflow#38211"
CAUSE = "untracked-variable"
EXPECT = {
    "status": {"block/entry/kernel": "ok", "block/entry/bias": "ok"},
    "missing": ["mixer_w"],
    "op": "untracked tf.Variable",
    "op_any": ["untracked tf.Variable", "untracked variable", "untracked layer"],
    "line_contains": "self.parts = types.SimpleNamespace(",
}
import types

import tensorflow as tf

X = tf.random.stateless_normal([4, 3], seed=[11, 1])


class Mixer(tf.keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 2), initializer="glorot_uniform", name="mixer_w")

    def call(self, x):
        return tf.matmul(x, self.w)


class Block(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__(name="block")
        self.entry = tf.keras.layers.Dense(3, name="entry")
        self.parts = types.SimpleNamespace(mixer=Mixer(name="mixer"))

    def call(self, x):
        return self.parts.mixer(tf.tanh(self.entry(x)))


class OpenBlock(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__(name="block")
        self.entry = tf.keras.layers.Dense(3, name="entry")
        self.mixer = Mixer(name="mixer")

    def call(self, x):
        return self.mixer(tf.tanh(self.entry(x)))


def _go(kind):
    tf.keras.utils.set_random_seed(35)
    layer = kind()
    layer(X)
    return (lambda: tf.reduce_mean(tf.square(layer(X) - 0.5))), layer.trainable_variables


def build():
    return _go(Block)


def fixed():
    return _go(OpenBlock)
