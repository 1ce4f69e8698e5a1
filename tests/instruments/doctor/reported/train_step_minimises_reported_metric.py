"""A custom training step takes its loss from the dictionary of reported metrics instead of from the loss function."""

SOURCE = "common mistake"
CAUSE = "metric-as-loss"
EXPECT = {
    "status": {"kernel": "none", "bias": "none"},
    "op": "metric result",
    "line_contains": 'self.compute_metrics(x, y, out)["error"]',
}
import keras
import tensorflow as tf

X = tf.random.stateless_normal([8, 3], seed=[5, 5])
Y = tf.reduce_sum(X, axis=1, keepdims=True)


class ByMetric(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            out = self(x, training=True)
            loss = self.compute_metrics(x, y, out)["error"]
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


class ByLoss(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            out = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=out)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return self.compute_metrics(x, y, out)


def _fit(kind):
    keras.utils.set_random_seed(2)
    i = keras.Input((3,))
    net = kind(i, keras.layers.Dense(1, name="line")(i))
    net.compile(keras.optimizers.SGD(0.1), loss="mse", metrics=[keras.metrics.MeanSquaredError(name="error")])
    net.fit(X, Y, batch_size=4, epochs=1, verbose=0)


def run():
    _fit(ByMetric)


def fixed():
    _fit(ByLoss)
