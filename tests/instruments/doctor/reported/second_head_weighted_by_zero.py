"""A two-headed model is compiled with a loss weight of zero left over from an experiment; the second head gets only zeros."""

SOURCE = "common mistake"
CAUSE = "zero-gradient-op"
EXPECT = {
    "status": {"depth/kernel": "zero", "depth/bias": "zero", "label/kernel": "ok"},
    "op": "loss_weights",
    "op_any": ["loss_weights", "Mul"],
    "line_contains": 'WEIGHTS = {"label": 1.0, "depth": 0.0}',
    "line_any": ["loss_weights=weights", "_fit(WEIGHTS)", "net.fit(X, {"],
}
import keras
import tensorflow as tf

X = tf.random.stateless_normal([8, 3], seed=[2, 3])
Y = tf.reduce_sum(X, axis=1, keepdims=True)
WEIGHTS = {"label": 1.0, "depth": 0.0}


def _fit(weights):
    keras.utils.set_random_seed(4)
    i = keras.Input((3,))
    h = keras.layers.Dense(4, activation="tanh", name="trunk")(i)
    heads = {n: keras.layers.Dense(1, name=n)(h) for n in ("label", "depth")}
    net = keras.Model(i, heads)
    net.compile("sgd", loss={"label": "mse", "depth": "mse"}, loss_weights=weights, run_eagerly=True)
    net.fit(X, {"label": Y, "depth": 0.5 * Y}, batch_size=4, epochs=1, verbose=0)


def run():
    _fit(WEIGHTS)


def fixed():
    _fit({"label": 1.0, "depth": 0.5})
