"""leaky_relu: right answers written in other ways, and Keras's own layer."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_08.leaky_relu import leaky_relu
from gradlab.exercises.notebook import evaluate


def with_tensorflow(x, slope):
    return tf.nn.leaky_relu(x, alpha=slope)


def two_halves(x, slope):
    return np.maximum(x, 0) + slope * np.minimum(x, 0)


def by_the_absolute_value(x, slope):
    return (1 + slope) / 2 * x + (1 - slope) / 2 * np.abs(x)


def larger_or_smaller(x, slope):
    return np.maximum(x, slope * x) if slope <= 1 else np.minimum(x, slope * x)


def in_place_on_a_copy(x, slope):
    result = x.copy()
    result[x < 0] *= slope
    return result


def with_a_mask(x, slope):
    return x * ((x > 0) + slope * (x <= 0))


def with_a_choice_in_tensorflow(x, slope):
    x = tf.convert_to_tensor(x, tf.float32)
    return tf.where(x >= 0, x, x * slope)


RIGHT = [
    with_tensorflow,
    two_halves,
    by_the_absolute_value,
    larger_or_smaller,
    in_place_on_a_copy,
    with_a_mask,
    with_a_choice_in_tensorflow,
]


@pytest.mark.parametrize("slope", [0.0, 0.01, 0.3, 1.0, 2.5])
def test_it_is_what_keras_computes(slope):
    x = np.linspace(-4, 4, 33).reshape(3, 11).astype(np.float32)
    np.testing.assert_allclose(leaky_relu(x, slope), keras.ops.leaky_relu(x, negative_slope=slope), rtol=1e-6)


def test_the_docstring_s_examples():
    np.testing.assert_allclose(leaky_relu(np.array([-2.0, 0.0, 3.0]), 0.1), [-0.2, 0.0, 3.0])
    np.testing.assert_allclose(leaky_relu(np.array([-2.0, 0.0, 3.0]), 2), [-4.0, 0.0, 3.0])


def slope_at_most_one(x, slope):
    return two_halves(x, min(slope, 1.0))


def flattened(x, slope):
    return two_halves(x, slope).ravel()


def kink_at_one(x, slope):
    return np.where(x > 1, x, slope * x)


def in_place(x, slope):
    x[x < 0] *= slope
    return x


@pytest.mark.parametrize("answer", [slope_at_most_one, flattened, kink_at_one, in_place])
def test_wrong_functions_are_refused(answer):
    assert evaluate(load("leaky_relu"), answer).outcome == "wrong"
