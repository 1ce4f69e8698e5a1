"""l2_penalty: right answers written in other ways, and equality with Keras' own regularizer."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_03.l2_penalty import l2_penalty
from gradlab.exercises.notebook import evaluate


def by_axes(model, strength):
    return sum(strength * tf.reduce_sum(w**2) for w in model.trainable_variables if w.shape.rank != 1)


def by_layer(model, strength):
    total = 0.0
    for layer in model.layers:
        if hasattr(layer, "kernel"):
            total += keras.ops.sum(keras.ops.square(layer.kernel))
    return total * strength


def keras_regularizer(model, strength):
    penalty = keras.regularizers.L2(strength)
    return tf.reduce_sum([penalty(w) for w in model.weights if "bias" not in w.path])


def twice_the_half(model, strength):
    return 2 * strength * tf.add_n([tf.nn.l2_loss(w) for w in model.weights if "kernel" in w.path])


def squared_length_in_float64(model, strength):
    flat = tf.concat([tf.reshape(w, [-1]) for w in model.trainable_variables if w.name == "kernel"], axis=0)
    flat = tf.cast(flat, tf.float64)
    return tf.tensordot(flat, flat, 1) * strength


RIGHT = [by_axes, by_layer, keras_regularizer, twice_the_half, squared_length_in_float64]


def test_the_example_of_the_docstring():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(2)])
    model.set_weights([np.array([[1.0, -2.0]], np.float32), np.array([5.0, 5.0], np.float32)])
    assert float(l2_penalty(model, 0.1)) == pytest.approx(0.5)


def test_it_is_what_keras_adds_to_the_loss():
    def build(regularizer):
        keras.utils.set_random_seed(2)
        layers = [
            keras.layers.Conv2D(3, 2, kernel_regularizer=regularizer),
            keras.layers.Flatten(),
            keras.layers.Dense(4, kernel_regularizer=regularizer),
        ]
        return keras.Sequential([keras.Input((5, 5, 1)), *layers])

    regularized = build(keras.regularizers.L2(0.03))
    assert float(l2_penalty(build(None), 0.03)) == pytest.approx(float(sum(regularized.losses)), rel=1e-6)


def strength_squared(model, strength):
    return l2_penalty(model, strength**2)


def first_layer_only(model, strength):
    return strength * tf.reduce_sum(tf.square(model.trainable_variables[0]))


def every_second_variable(model, strength):
    return strength * tf.add_n([tf.reduce_sum(tf.square(v)) for v in model.trainable_variables[::2]])


def plain_float(model, strength):
    return float(l2_penalty(model, strength))


def constant_tensor(model, strength):
    return tf.stop_gradient(l2_penalty(model, strength))


def sum_of_weights(model, strength):
    return strength * sum(tf.reduce_sum(v) for v in model.trainable_variables if v.name == "kernel")


def square_of_the_sum(model, strength):
    return strength * sum(tf.reduce_sum(v) ** 2 for v in model.trainable_variables if v.name == "kernel")


def one_per_kernel(model, strength):
    return strength * tf.stack([tf.reduce_sum(v**2) for v in model.trainable_variables if v.name == "kernel"])


def dense_layers_only(model, strength):
    dense = [layer for layer in model.layers if isinstance(layer, keras.layers.Dense)]
    return strength * sum(tf.reduce_sum(tf.square(layer.kernel)) for layer in dense)


def the_gradient(model, strength):
    return 2 * strength * sum(tf.reduce_sum(v) for v in model.trainable_variables if v.name == "kernel")


WRONG = [
    strength_squared,
    first_layer_only,
    every_second_variable,
    plain_float,
    constant_tensor,
    sum_of_weights,
    square_of_the_sum,
    one_per_kernel,
    dense_layers_only,
    the_gradient,
]


@pytest.mark.parametrize("answer", WRONG, ids=lambda answer: answer.__name__)
def test_other_wrong_penalties_are_refused(answer):
    assert evaluate(load("l2_penalty"), answer).outcome == "wrong"
