"""Four layers are called one after the other; a large negative bias keeps every unit of the second one below zero."""

SOURCE = "common mistake"
CAUSE = "zero-saturation"
EXPECT = {
    "status": {
        "deep/one/kernel": "zero",
        "deep/one/bias": "zero",
        "deep/two/kernel": "zero",
        "deep/two/bias": "zero",
        "deep/three/kernel": "zero",
        "deep/three/bias": "ok",
        "deep/four/kernel": "ok",
        "deep/four/bias": "ok",
    },
    "op": "Relu",
    "line_contains": "h = self.two(h)",
    "line_any": ["self.two = keras.layers.Dense("],
}
import keras
import tensorflow as tf

X = tf.random.stateless_uniform([6, 3], seed=[8, 3])


class Deep(keras.Model):
    def __init__(self, low):
        super().__init__(name="deep")
        start = keras.initializers.Constant(low)
        self.one = keras.layers.Dense(4, activation="tanh", name="one")
        self.two = keras.layers.Dense(4, activation="relu", bias_initializer=start, name="two")
        self.three = keras.layers.Dense(4, activation="tanh", bias_initializer="ones", name="three")
        self.four = keras.layers.Dense(1, name="four")

    def call(self, x):
        h = self.one(x)
        h = self.two(h)
        h = self.three(h)
        return self.four(h)


def _go(low):
    keras.utils.set_random_seed(11)
    net = Deep(low)
    net(X)
    return (lambda: tf.reduce_mean(tf.square(net(X) - 2.0))), net.trainable_variables


def build():
    return _go(-20.0)


def fixed():
    return _go(0.5)
