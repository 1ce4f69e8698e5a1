"""glorot_limit: right answers written in other ways, and Keras's own draws."""

import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.lesson_07.glorot_limit import glorot_limit


def in_plain_python(fan_in, fan_out):
    return math.sqrt(6 / (fan_in + fan_out))


def from_the_standard_deviation(fan_in, fan_out):
    mean = (fan_in + fan_out) / 2
    return np.sqrt(3) * np.sqrt(1 / mean)


def as_a_float32_tensor(fan_in, fan_out):
    return tf.math.rsqrt(tf.constant(fan_in + fan_out, tf.float32) / 6.0)


def by_bisection(fan_in, fan_out):
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle**2 / 3 < 2 / (fan_in + fan_out) else (low, middle)
    return low


RIGHT = [in_plain_python, from_the_standard_deviation, as_a_float32_tensor, by_bisection]


@pytest.mark.parametrize("shape", [(100, 50), (30, 400)])
def test_keras_draws_up_to_this_limit_and_not_beyond(shape):
    largest = np.abs(keras.initializers.GlorotUniform(seed=0)(shape)).max()
    assert largest == pytest.approx(glorot_limit(*shape), rel=2e-3)


def test_the_docstring_s_example():
    assert glorot_limit(100, 50) == pytest.approx(0.2)
