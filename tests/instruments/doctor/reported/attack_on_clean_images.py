"""An adversarial example is watched, but the loss is taken on the clean images, which do not depend on it."""

SOURCE = "tensorflow/tensorflow#56968"
CAUSE = "unconnected-target"
EXPECT = {
    "status": {"adversarial": "none"},
    "op": "unconnected",
    "op_any": ["unconnected", "tape.gradient", "GradientTape.gradient"],
    "line_contains": "loss = tf.reduce_mean(tf.square(net(clean)",
    "line_any": ["tape.gradient(loss, adversarial)"],
}
import tensorflow as tf


def _parts():
    tf.keras.utils.set_random_seed(33)
    net = tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="tanh"), tf.keras.layers.Dense(1)]
    )
    clean = tf.random.stateless_uniform([3, 4], seed=[10, 1])
    adversarial = tf.clip_by_value(clean + 0.01, 0.0, 1.0)
    return net, clean, adversarial


def run():
    net, clean, adversarial = _parts()
    with tf.GradientTape() as tape:
        tape.watch(adversarial)
        loss = tf.reduce_mean(tf.square(net(clean) - 1.0))
    return tape.gradient(loss, adversarial)


def fixed():
    net, clean, adversarial = _parts()
    with tf.GradientTape() as tape:
        tape.watch(adversarial)
        loss = tf.reduce_mean(tf.square(net(adversarial) - 1.0))
    return tape.gradient(loss, adversarial)
