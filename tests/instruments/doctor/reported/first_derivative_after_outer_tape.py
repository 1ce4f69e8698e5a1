"""A physics-informed residual takes the first derivative after both tapes have closed, so the outer one has never seen it."""

SOURCE = "tensorflow/tensorflow#31519"
CAUSE = "second-order-tape"
EXPECT = {
    "status": {"x": "none"},
    "op": "tape.gradient",
    "op_any": ["tape.gradient", "GradientTape.gradient", "inner.gradient", "tape.gradient()"],
    "line_contains": "u_x = inner.gradient(u, x)",
    "line_any": ["u_xx = outer.gradient(u_x, x)"],
}
import tensorflow as tf


def _net():
    tf.keras.utils.set_random_seed(43)
    return tf.keras.Sequential(
        [tf.keras.Input((1,)), tf.keras.layers.Dense(5, activation="tanh"), tf.keras.layers.Dense(1)]
    )


def run():
    net = _net()
    x = tf.reshape(tf.linspace(0.0, 1.0, 4), [4, 1])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = net(x)
    u_x = inner.gradient(u, x)
    u_xx = outer.gradient(u_x, x)
    return u_xx


def fixed():
    net = _net()
    x = tf.reshape(tf.linspace(0.0, 1.0, 4), [4, 1])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = net(x)
        u_x = inner.gradient(u, x)
    return outer.gradient(u_x, x)
