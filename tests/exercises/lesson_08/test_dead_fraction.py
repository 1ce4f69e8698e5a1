"""dead_fraction: right answers written in other ways, and shares known in advance."""

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_08.dead_fraction import dead_fraction
from gradlab.exercises.notebook import evaluate


def with_tensorflow(activations):
    fires = tf.reduce_any(tf.convert_to_tensor(activations) != 0, axis=0)
    return 1 - tf.reduce_mean(tf.cast(fires, tf.float64))


def by_the_largest(activations):
    return float((np.max(activations, axis=0) == 0).mean())


def in_plain_python(activations):
    columns = list(zip(*activations.tolist(), strict=True))
    return sum(not any(column) for column in columns) / len(columns)


def by_counting_what_fires(activations):
    return 1 - np.count_nonzero(np.count_nonzero(activations, axis=0)) / activations.shape[1]


def by_the_sum(activations):
    return np.mean(np.sum(activations, 0) == 0)


RIGHT = [with_tensorflow, by_the_largest, in_plain_python, by_counting_what_fires, by_the_sum]


@pytest.mark.parametrize("dead", range(6))
def test_units_with_a_hopeless_bias_are_counted(dead):
    """A unit whose bias is far below zero can't fire: the share of such units is known."""
    inputs = np.random.default_rng(dead).normal(size=(200, 3))
    bias = np.where(np.arange(5) < dead, -100.0, 0.5)
    weights = np.random.default_rng(9).normal(size=(3, 5))
    assert dead_fraction(np.maximum(inputs @ weights + bias, 0)) == pytest.approx(dead / 5)


def test_the_docstring_s_example():
    rows = [[0.0, 2.0, 0.0, 0.5], [0.0, 0.0, 0.0, 0.5], [0.0, 0.3, 0.1, 0.5]]
    assert dead_fraction(np.array(rows)) == 0.25
    assert dead_fraction(rows) == 0.25


def first_ten_examples(activations):
    return np.mean(np.all(activations[:10] == 0, axis=0))


def rounded(activations):
    return round(float(dead_fraction(activations)), 1)


def as_percent(activations):
    return 100 * dead_fraction(activations)


def close_to_zero(activations):
    return np.mean(np.all(np.isclose(activations, 0), axis=0))


def one_for_each_unit(activations):
    return np.all(activations == 0, axis=0)


@pytest.mark.parametrize("answer", [first_ten_examples, rounded, as_percent, close_to_zero, one_for_each_unit])
@pytest.mark.parametrize("seed", range(5))
def test_wrong_shares_are_refused(answer, seed):
    assert evaluate(load("dead_fraction"), answer, seed).outcome == "wrong"
