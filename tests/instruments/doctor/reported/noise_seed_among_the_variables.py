"""All variables of a model are differentiated, not the trainable ones; the noise layer's integer seed state is among them."""

SOURCE = "common mistake"
CAUSE = "integer-source"
EXPECT = {
    "status": {
        "noisy/a/kernel": "ok",
        "noisy/a/bias": "ok",
        "dice/seed_generator_state": "none",
        "noisy/b/kernel": "ok",
        "noisy/b/bias": "ok",
    },
    "op": "integer variable",
    "line_contains": "return (lambda: tf.reduce_mean(tf.square(net(X, training=True) - 0.5))), net.variables",
    "line_any": ['self.dice = keras.random.SeedGenerator(7, name="dice")'],
}
import keras
import tensorflow as tf

X = tf.random.stateless_uniform([4, 3], seed=[1, 9])


class Jitter(keras.layers.Layer):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.dice = keras.random.SeedGenerator(7, name="dice")

    def call(self, x):
        return x + keras.random.normal(keras.ops.shape(x), stddev=0.05, seed=self.dice)


def _net():
    keras.utils.set_random_seed(6)
    return keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4, activation="tanh", name="a"),
            Jitter(name="jitter"),
            keras.layers.Dense(1, name="b"),
        ],
        name="noisy",
    )


def build():
    net = _net()
    return (lambda: tf.reduce_mean(tf.square(net(X, training=True) - 0.5))), net.variables


def fixed():
    net = _net()
    return (lambda: tf.reduce_mean(tf.square(net(X, training=True) - 0.5))), net.trainable_variables
