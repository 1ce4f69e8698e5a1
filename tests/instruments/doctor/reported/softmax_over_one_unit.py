"""A yes/no classifier ends in a softmax over a single unit, which is one for every input."""

SOURCE = "keras-team/keras#18909"
CAUSE = "zero-cancellation"
EXPECT = {
    "status": {"classifier/hidden/kernel": "zero", "classifier/yes/kernel": "zero", "classifier/yes/bias": "zero"},
    "op": "Softmax",
    "line_contains": "tf.nn.softmax(logit)",
}
import tensorflow as tf

X = tf.random.stateless_normal([5, 3], seed=[21, 1])
Y = tf.constant([[1.0], [0.0], [0.0], [1.0], [1.0]])


class Classifier(tf.keras.Model):
    def __init__(self, end):
        super().__init__(name="classifier")
        self.hidden = tf.keras.layers.Dense(4, activation="tanh", use_bias=False, name="hidden")
        self.yes = tf.keras.layers.Dense(1, name="yes")
        self.end = end

    def call(self, x):
        return self.end(self.yes(self.hidden(x)))


def one_unit(logit):
    return tf.nn.softmax(logit)


def _go(end):
    tf.keras.utils.set_random_seed(41)
    net = Classifier(end)
    net(X)
    return (lambda: tf.reduce_mean(tf.square(net(X) - Y))), net.trainable_variables


def build():
    return _go(one_unit)


def fixed():
    return _go(tf.sigmoid)
