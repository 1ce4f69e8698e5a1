"""signal_std_after: right answers written in other ways, and the theory against a wide network."""

import math

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_07.signal_std_after import signal_std_after
from gradlab.exercises.notebook import evaluate


def layer_by_layer(depth, fan_in, weight_std):
    mean_square = 1.0
    for _ in range(depth):
        mean_square *= fan_in * weight_std**2
        mean_square /= 2
    return math.sqrt(mean_square)


def relative_to_he(depth, fan_in, weight_std):
    return (weight_std / np.sqrt(2 / fan_in)) ** depth


def by_logarithms(depth, fan_in, weight_std):
    return np.exp(depth * (np.log(weight_std) + 0.5 * np.log(fan_in / 2)))


def in_float32(depth, fan_in, weight_std):
    factor = tf.constant(weight_std, tf.float32) * tf.sqrt(tf.constant(fan_in / 2, tf.float32))
    return tf.pow(factor, tf.cast(depth, tf.float32))


RIGHT = [layer_by_layer, relative_to_he, by_logarithms, in_float32]


@pytest.mark.parametrize("weight_std", [0.03, 0.06, 0.08])
def test_a_wide_network_does_what_theory_says(weight_std):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 1000)).astype(np.float32)
    for _ in range(5):
        x = np.maximum(x @ rng.normal(0, weight_std, size=(1000, 1000)).astype(np.float32), 0)
    assert np.sqrt(np.mean(x**2)) == pytest.approx(signal_std_after(5, 1000, weight_std), rel=0.1)


def test_the_docstring_s_examples():
    assert signal_std_after(50, 200, 0.1) == pytest.approx(1)
    assert signal_std_after(3, 200, 0.2) == pytest.approx(8)


def test_a_network_simulated_once_is_refused():
    """It depends on its random numbers; the task asks for the theory."""

    def simulated(depth, fan_in, weight_std):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(50, fan_in))
        for _ in range(depth):
            x = np.maximum(x @ rng.normal(0, weight_std, size=(fan_in, fan_in)), 0)
        return np.sqrt(np.mean(x**2))

    assert evaluate(load("signal_std_after"), simulated).outcome == "wrong"
