"""A Lambda layer of a functional model multiplies by a variable from the enclosing scope, which the model does not own."""

SOURCE = "tensorflow/tensorflow#14359"
CAUSE = "untracked-variable"
EXPECT = {
    "status": {"plain/kernel": "ok"},
    "missing": ["hidden_gain"],
    "op": "untracked tf.Variable",
    "op_any": ["untracked tf.Variable", "untracked variable"],
    "line_contains": "hidden_gain = tf.Variable(1.5",
    "line_any": ["tf.keras.layers.Lambda(lambda t: tf.tanh(hidden_gain * t))(h)"],
}
import tensorflow as tf

X = tf.random.stateless_normal([4, 3], seed=[29, 1])


class Gain(tf.keras.layers.Layer):
    def build(self, shape):
        self.gain = self.add_weight(shape=(), initializer=tf.keras.initializers.Constant(1.5), name="gain")

    def call(self, t):
        return tf.tanh(self.gain * t)


def build():
    tf.keras.utils.set_random_seed(46)
    hidden_gain = tf.Variable(1.5, name="hidden_gain")
    x = tf.keras.Input((3,))
    h = tf.keras.layers.Dense(2, use_bias=False, name="plain")(x)
    y = tf.keras.layers.Lambda(lambda t: tf.tanh(hidden_gain * t))(h)
    net = tf.keras.Model(x, y)
    return (lambda: tf.reduce_mean(tf.square(net(X) - 0.5))), net.trainable_variables


def fixed():
    tf.keras.utils.set_random_seed(46)
    x = tf.keras.Input((3,))
    h = tf.keras.layers.Dense(2, use_bias=False, name="plain")(x)
    net = tf.keras.Model(x, Gain()(h))
    return (lambda: tf.reduce_mean(tf.square(net(X) - 0.5))), net.trainable_variables
