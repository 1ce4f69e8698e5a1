"""The gradient is asked for the model object instead of its weights; the tape finds no tensor in it and raises."""

SOURCE = "keras-team/keras#14287"
CAUSE = "not-watched"
EXPECT = {
    "status": {},
    "raises": "AttributeError",
    "op": "not a tensor",
    "line_contains": "return tape.gradient(loss, branches[1])",
}
import tensorflow as tf

STATE = tf.random.stateless_uniform([4, 3], seed=[3, 3])


def _branches():
    tf.keras.utils.set_random_seed(9)
    return [tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, name=f"branch{i}")]) for i in range(2)]


def run():
    branches = _branches()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(branches[1](STATE) - 1.0))
    return tape.gradient(loss, branches[1])


def fixed():
    branches = _branches()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(branches[1](STATE) - 1.0))
    return tape.gradient(loss, branches[1].trainable_variables)
