"""directional_check: right answers written in other ways, and slopes in closed form."""

import math

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_04.directional_check import directional_check
from gradlab.exercises.notebook import evaluate


def with_plain_numpy(f, gradient, x, direction):
    unit = direction / math.sqrt(np.sum(direction**2))
    step = 1e-5
    return (f(x + step * unit) - f(x - step * unit)) / (2 * step), np.vdot(gradient, unit)


def divided_at_the_end(f, gradient, x, direction):
    """Walks along the raw direction, and divides both slopes by its length afterwards."""
    length = np.linalg.norm(direction.ravel())
    step = 2e-5 / length
    raw = (f(x + step * direction) - f(x - step * direction)) / (2 * step)
    return np.array([raw / length, (gradient * direction).sum() / length])


def with_tensors(f, gradient, x, direction):
    unit = tf.math.l2_normalize(tf.constant(direction))
    measured = (f(tf.constant(x) + 1e-6 * unit) - f(tf.constant(x) - 1e-6 * unit)) / 2e-6
    return [measured, tf.tensordot(tf.reshape(gradient, -1), tf.reshape(unit, -1), 1)]


def by_the_cosine(f, gradient, x, direction):
    """The claimed slope as the length of the gradient times the cosine of the angle."""
    lengths = np.linalg.norm(gradient), np.linalg.norm(direction)
    cosine = np.einsum("i,i", gradient.ravel(), direction.ravel()) / np.prod(lengths)
    ends = [f(x + side * 1e-4 * direction / lengths[1]) for side in (1, -1)]
    return (ends[0] - ends[1]) / 2e-4, lengths[0] * cosine


RIGHT = [with_plain_numpy, divided_at_the_end, with_tensors, by_the_cosine]


def test_the_docstring_s_example():
    found = directional_check(lambda x: np.sum(x**2), np.array([2.0, 4.0]), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert found == pytest.approx((4.4, 4.4), rel=1e-6)


def test_along_the_gradient_the_slope_is_its_length():
    x = np.array([0.3, -1.2, 0.8])
    gradient = np.cos(x)
    measured, claimed = directional_check(lambda point: np.sum(np.sin(point)), gradient, x, gradient)
    assert measured == pytest.approx(np.linalg.norm(gradient), rel=1e-6)
    assert claimed == pytest.approx(np.linalg.norm(gradient))


def test_across_the_gradient_a_wrong_length_is_not_seen():
    x, across = np.array([1.0, 2.0]), np.array([2.0, -1.0])
    measured, claimed = directional_check(lambda point: np.sum(point**2), 5 * 2 * x, x, across)
    assert (measured, claimed) == pytest.approx((0, 0), abs=1e-6)


@pytest.mark.parametrize(("step", "outcome"), [(1e-2, "wrong"), (1e-4, "correct"), (1e-6, "correct"), (1e-10, "wrong")])
def test_only_steps_from_the_range_of_the_task_are_accepted(step, outcome):
    def with_this_step(f, gradient, x, direction):
        unit = direction / np.linalg.norm(direction)
        return (f(x + step * unit) - f(x - step * unit)) / (2 * step), np.sum(gradient * unit)

    assert evaluate(load("directional_check"), with_this_step).outcome == outcome


def test_a_third_call_of_f_is_refused():
    def looks_at_the_middle_too(f, gradient, x, direction):
        f(x)
        return directional_check(f, gradient, x, direction)

    assert evaluate(load("directional_check"), looks_at_the_middle_too).outcome == "wrong"
