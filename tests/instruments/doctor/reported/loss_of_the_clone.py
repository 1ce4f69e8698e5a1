"""A cloned model computes the loss while the gradients are asked for the weights of the original."""

SOURCE = "tensorflow/tensorflow#34335"
CAUSE = "unused-variable"
EXPECT = {
    "status": {"auto/enc/kernel": "none", "auto/enc/bias": "none", "auto/dec/kernel": "none", "auto/dec/bias": "none"},
    "op": "clone_model",
    "line_contains": "twin = tf.keras.models.clone_model(net)",
    "line_any": ["out = twin(X)"],
}
import tensorflow as tf

X = tf.random.stateless_uniform([5, 3], seed=[4, 4])


def _net():
    tf.keras.utils.set_random_seed(3)
    return tf.keras.Sequential(
        [
            tf.keras.Input((3,)),
            tf.keras.layers.Dense(4, activation="tanh", name="enc"),
            tf.keras.layers.Dense(3, name="dec"),
        ],
        name="auto",
    )


def build():
    net = _net()
    twin = tf.keras.models.clone_model(net)
    twin.set_weights(net.get_weights())

    def fn():
        out = twin(X)
        return tf.reduce_mean(tf.square(out - X))

    return fn, net.trainable_variables


def fixed():
    net = _net()
    twin = tf.keras.models.clone_model(net)
    twin.set_weights(net.get_weights())
    return (lambda: tf.reduce_mean(tf.square(net(X) - X))), net.trainable_variables
