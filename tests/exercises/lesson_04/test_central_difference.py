"""central_difference: right answers written in other ways, slopes in closed form, and the step really taken."""

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_04.central_difference import central_difference
from gradlab.exercises.notebook import evaluate


def step_made_representable(f, x, step):
    """The usual trick: replace the step by one that x can take exactly."""
    taken = (x + step) - x
    return (f(x + taken) - f(x - taken)) / (2 * taken)


def with_numpy_arrays(f, x, step):
    ends = np.asarray(x) + np.array([-step, step], dtype=np.asarray(x).dtype)
    values = np.array([f(end) for end in ends])
    return np.diff(values)[0] / np.diff(ends)[0]


def with_tensors(f, x, step):
    x = tf.convert_to_tensor(np.asarray(x))
    upper, lower = x + step, x - step
    return tf.cast(f(upper.numpy()) - f(lower.numpy()), x.dtype) / (upper - lower)


def mean_of_both_sides(f, x, step):
    """Forward and backward difference, each weighted by its own length."""
    upper, lower = x + step, x - step
    ahead, behind = float(upper - x), float(x - lower)
    slope_ahead = (f(upper) - f(x)) / ahead
    slope_behind = (f(x) - f(lower)) / behind
    return (slope_ahead * ahead + slope_behind * behind) / (ahead + behind)


RIGHT = [step_made_representable, with_numpy_arrays, with_tensors, mean_of_both_sides]


@pytest.mark.parametrize("step", [0.5, 0.1, 1e-3])
def test_the_error_on_a_cubic_is_the_square_of_the_step(step):
    def cube(x):
        return x**3

    assert central_difference(cube, 2.0, step) == pytest.approx(12 + step**2, rel=1e-9)


def test_the_docstring_s_example():
    assert central_difference(lambda x: x**3, 2.0, 0.5) == 12.25


def test_a_float32_step_is_the_one_really_taken():
    def line(x):
        return 3 * (x - np.float32(150))

    assert central_difference(line, np.float32(150), 1e-5) == np.float32(3)


def test_it_agrees_with_tensorflow_s_own_numerical_jacobian():
    _, numerical = tf.test.compute_gradient(tf.sin, [tf.constant([0.7], tf.float64)], delta=1e-3)
    assert central_difference(np.sin, 0.7, 1e-3) == pytest.approx(numerical[0][0, 0], rel=1e-10)


@pytest.mark.parametrize("below", [lambda upper, lower, step: upper - lower, lambda upper, lower, step: 2 * step])
def test_missing_parentheses_are_named(below):
    def no_parentheses(f, x, step):
        upper, lower = x + step, x - step
        return f(upper) - f(lower) / below(upper, lower, step)

    assert evaluate(load("central_difference"), no_parentheses).misconceptions == ("no-parentheses-above",)
