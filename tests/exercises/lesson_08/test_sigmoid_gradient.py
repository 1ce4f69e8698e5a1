"""sigmoid_gradient: right answers written in other ways, and wrong ones near the edge."""

import math

import numpy as np
import pytest
import tensorflow as tf
from scipy import special, stats

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_08.sigmoid_gradient import sigmoid_gradient
from gradlab.exercises.notebook import evaluate


def with_tensorflow(x):
    s = tf.sigmoid(x)
    return s * (1 - s)


def by_the_tape(x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sigmoid(x)
    return tape.gradient(y, x)


def with_scipy(x):
    return special.expit(x) * special.expit(-x)


def in_plain_python(x):
    def slope(value):
        e = math.exp(-abs(value))
        return e / (1 + e) ** 2

    return np.vectorize(slope, otypes=[float])(x).tolist()


def by_tanh(x):
    return (1 - np.tanh(x / 2) ** 2) / 4


def clipped_far_out(x):
    s = 1 / (1 + np.exp(-np.clip(x, -50, 50)))
    return s * (1 - s)


def one_side_at_a_time(x):
    result = np.empty(x.shape)
    left = x < 0
    e = np.exp(x[left])
    result[left] = e / (1 + e) ** 2
    e = np.exp(-x[~left])
    result[~left] = e / (1 + e) ** 2
    return result


RIGHT = [with_tensorflow, by_the_tape, with_scipy, in_plain_python, by_tanh, clipped_far_out, one_side_at_a_time]


def test_it_is_the_density_of_the_logistic_distribution():
    x = np.linspace(-40, 40, 81)
    np.testing.assert_allclose(sigmoid_gradient(x), stats.logistic.pdf(x), rtol=1e-12)


def test_the_docstring_s_example():
    np.testing.assert_allclose(sigmoid_gradient(np.array([-1000.0, 0.0, 2.0])), [0, 0.25, 0.105], atol=5e-4)


def overflow_by_the_tape(x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = 1 / (1 + tf.exp(-x))
    return tape.gradient(y, x)


def nan_made_zero(x):
    with np.errstate(over="ignore", invalid="ignore"):
        return np.nan_to_num(np.exp(-x) / (1 + np.exp(-x)) ** 2, nan=0.25)


def gaussian(x):
    return 0.25 * np.exp(-(x**2) / 4)


def one_number(x):
    return np.max(sigmoid_gradient(x))


def flattened(x):
    return sigmoid_gradient(x).ravel()


@pytest.mark.parametrize("answer", [nan_made_zero, gaussian, one_number, flattened])
def test_wrong_slopes_are_refused(answer):
    assert evaluate(load("sigmoid_gradient"), answer).outcome == "wrong"


def test_an_overflow_on_the_tape_is_named_too():
    verdict = evaluate(load("sigmoid_gradient"), overflow_by_the_tape)
    assert verdict.outcome == "wrong"
    assert verdict.misconceptions == ("overflow-on-the-left",)
