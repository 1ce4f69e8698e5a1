"""A saliency map is asked for an image tensor of bytes that is scaled to floats inside the model function."""

SOURCE = "deepchem/deepchem#1445"
CAUSE = "integer-source"
EXPECT = {
    "status": {"image": "none"},
    "op": "uint8 tensor",
    "op_any": ["uint8 tensor", "uint8 variable", "uint8", "Cast"],
    "line_contains": "image = tf.constant(PIXELS, tf.uint8)",
    "line_any": ["tape.watch(image)", "tf.cast(image, tf.float32) / 255.0", "tape.gradient(score, image)"],
}
import numpy as np
import tensorflow as tf

PIXELS = np.random.RandomState(4).randint(0, 255, (1, 4, 4, 1))


def _net():
    tf.keras.utils.set_random_seed(39)
    return tf.keras.Sequential(
        [
            tf.keras.Input((4, 4, 1)),
            tf.keras.layers.Conv2D(2, 3, activation="tanh"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(1),
        ]
    )


def run():
    net = _net()
    image = tf.constant(PIXELS, tf.uint8)
    with tf.GradientTape() as tape:
        tape.watch(image)
        score = net(tf.cast(image, tf.float32) / 255.0)[0, 0]
    return tape.gradient(score, image)


def fixed():
    net = _net()
    image = tf.constant(PIXELS, tf.float32) / 255.0
    with tf.GradientTape() as tape:
        tape.watch(image)
        score = net(image)[0, 0]
    return tape.gradient(score, image)
