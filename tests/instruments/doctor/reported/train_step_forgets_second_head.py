"""A two-headed network has its own train_step, which computes a loss for the first head only."""

SOURCE = "tensorflow/tensorflow#35267"
CAUSE = "unused-variable"
EXPECT = {
    "status": {"trunk/kernel": "ok", "place/kernel": "ok", "sure/kernel": "none"},
    "op": "unused",
    "op_any": ["unused", "unused variable", "not used", "unused output"],
    "line_contains": "loss = tf.reduce_mean(tf.square(place - y))",
    "line_any": ["place, sure = self(x)", "tape.gradient(loss, self.trainable_variables)"],
}
import numpy as np
import tensorflow as tf

X = np.random.RandomState(0).randn(8, 3).astype("float32")
Y = np.random.RandomState(1).randn(8, 2).astype("float32")


def _net(kind):
    tf.keras.utils.set_random_seed(34)
    x = tf.keras.Input((3,))
    h = tf.keras.layers.Dense(4, activation="tanh", use_bias=False, name="trunk")(x)
    place = tf.keras.layers.Dense(2, use_bias=False, name="place")(h)
    sure = tf.keras.layers.Dense(2, activation="sigmoid", use_bias=False, name="sure")(h)
    net = kind(x, [place, sure])
    net.compile(optimizer="sgd")
    return net


class OneLoss(tf.keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            place, sure = self(x)
            loss = tf.reduce_mean(tf.square(place - y))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


class BothLosses(tf.keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            place, sure = self(x)
            loss = tf.reduce_mean(sure * tf.square(place - y) - 0.1 * tf.math.log(sure + 1e-6))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


def run():
    _net(OneLoss).fit(X, Y, batch_size=8, epochs=1, verbose=0)


def fixed():
    _net(BothLosses).fit(X, Y, batch_size=8, epochs=1, verbose=0)
