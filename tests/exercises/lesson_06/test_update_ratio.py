"""update_ratio: right answers written in other ways, and values in closed form."""

import math

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_06.update_ratio import update_ratio
from gradlab.exercises.notebook import evaluate


def in_plain_python(before, after):
    old, new = np.ravel(before).tolist(), np.ravel(after).tolist()
    size = math.hypot(*old)
    return math.hypot(*(b - a for a, b in zip(old, new, strict=True))) / size if size > 0 else math.nan


def with_tensors(before, after):
    before, after = tf.convert_to_tensor(before), tf.convert_to_tensor(after)
    size = tf.norm(before)
    return tf.where(size > 0, tf.math.divide_no_nan(tf.norm(after - before), size), np.nan)


def one_root_for_both(before, after):
    before, after = np.asarray(before, np.float64), np.asarray(after, np.float64)
    if not np.any(before):
        return np.nan
    return np.sqrt(np.sum((after - before) ** 2) / np.sum(before**2))


def relative_first(before, after):
    largest = np.max(np.abs(before))
    if largest == 0:
        return np.float32("nan")
    return np.linalg.norm((after - before) / largest) / np.linalg.norm(before / largest)


RIGHT = [in_plain_python, with_tensors, one_root_for_both, relative_first]


def test_the_example_of_the_docstring():
    assert update_ratio(np.array([3.0, -4.0]), np.array([3.0, -3.5])) == pytest.approx(0.1)


def test_a_step_of_gradient_descent():
    weights, gradient = np.array([[2.0, 1.0], [0.0, 2.0]], np.float32), np.array([[0.0, 6.0], [8.0, 0.0]], np.float32)
    assert update_ratio(weights, weights - 0.01 * gradient) == pytest.approx(0.01 * 10 / 3, rel=1e-5)


def test_zeros_have_no_ratio():
    assert math.isnan(update_ratio(np.zeros(3), np.ones(3)))


def infinite_for_zeros_that_moved(before, after):
    return math.inf if not before.any() and after.any() else update_ratio(before, after)


def never_above_one(before, after):
    return np.minimum(update_ratio(before, after), 1.0)


def by_the_longer(before, after):
    longer = max(np.linalg.norm(before), np.linalg.norm(after))
    return np.linalg.norm(after - before) / longer if before.any() else math.nan


def largest_elements(before, after):
    return np.max(np.abs(after - before)) / np.max(np.abs(before)) if before.any() else math.nan


def sums_of_absolute_values(before, after):
    return np.sum(np.abs(after - before)) / np.sum(np.abs(before)) if before.any() else math.nan


def nan_where_nothing_moved(before, after):
    return update_ratio(before, after) or math.nan


def minus(before, after):
    return -update_ratio(before, after)


def close_to_zero_is_zero(before, after):
    return math.nan if np.allclose(before, 0) else update_ratio(before, after)


WRONG = [
    infinite_for_zeros_that_moved,
    never_above_one,
    by_the_longer,
    largest_elements,
    sums_of_absolute_values,
    nan_where_nothing_moved,
    minus,
    close_to_zero_is_zero,
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("answer", WRONG, ids=lambda answer: answer.__name__)
def test_other_wrong_answers_are_refused(answer, seed):
    assert evaluate(load("update_ratio"), answer, seed).outcome == "wrong"
