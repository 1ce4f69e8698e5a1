"""A class activation map starts from the softmax output of a very certain network fed with raw 16-bit pixels, where the slope has underflowed to zero."""

SOURCE = "keras-team/keras#5881"
CAUSE = "zero-saturation"
EXPECT = {
    "status": {"body/kernel": "zero", "top/kernel": "zero"},
    "op": "Softmax",
    "line_contains": 'name="top")',
    "line_any": ["net(IMG)[0, 2]", "return net(IMG)"],
}
import tensorflow as tf

IMG = tf.reshape(tf.linspace(0.0, 65535.0, 16), [1, 16])


def _net(last):
    tf.keras.utils.set_random_seed(40)
    x = tf.keras.Input((16,))
    h = tf.keras.layers.Dense(6, activation="relu", use_bias=False, name="body")(x)
    top = tf.keras.layers.Dense(4, activation=last, use_bias=False, name="top")(h)
    return tf.keras.Model(x, top)


def _class_score(net):
    def fn():
        return net(IMG)[0, 2]

    return fn


def build():
    net = _net("softmax")
    return _class_score(net), net.trainable_variables


def fixed():
    net = _net(None)
    return _class_score(net), net.trainable_variables
