"""A subclassed model turns the output of its gate layer into a NumPy array on the way, so the gate never learns."""

SOURCE = "common mistake"
CAUSE = "left-tensorflow"
EXPECT = {
    "status": {
        "mixer/gate/kernel": "none",
        "mixer/gate/bias": "none",
        "mixer/body/kernel": "ok",
        "mixer/body/bias": "ok",
    },
    "op": "convert_to_numpy",
    "line_contains": "return keras.ops.convert_to_numpy(values)",
}
import keras
import tensorflow as tf

X = tf.random.stateless_uniform([4, 3], seed=[6, 2])


def to_host(values):
    return keras.ops.convert_to_numpy(values)


def keep(values):
    return values


class Mixer(keras.Model):
    def __init__(self, move):
        super().__init__(name="mixer")
        self.gate = keras.layers.Dense(2, activation="sigmoid", name="gate")
        self.body = keras.layers.Dense(2, activation="tanh", name="body")
        self.move = move

    def call(self, x):
        opening = self.move(self.gate(x))
        return keras.ops.sum(opening * self.body(x), axis=-1)


def _go(move):
    keras.utils.set_random_seed(5)
    net = Mixer(keep)
    net(X)
    net.move = move
    return (lambda: tf.reduce_mean(tf.square(net(X) - 1.0))), net.trainable_variables


def build():
    return _go(to_host)


def fixed():
    return _go(keep)
