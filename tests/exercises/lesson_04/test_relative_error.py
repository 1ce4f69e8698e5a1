"""relative_error: right answers written in other ways, and values in closed form."""

import math

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_04.relative_error import relative_error
from gradlab.exercises.notebook import evaluate


def with_plain_python(a, b):
    one, other = np.ravel(a).tolist(), np.ravel(b).tolist()
    gap = math.hypot(*(x - y for x, y in zip(one, other, strict=True)))
    return gap / (max(math.hypot(*one), math.hypot(*other)) or 1.0)


def with_tensors(a, b):
    a, b = tf.convert_to_tensor(a), tf.convert_to_tensor(b)
    longer = tf.maximum(tf.norm(a), tf.norm(b))
    return tf.math.divide_no_nan(tf.norm(a - b), longer)


def with_sums_of_squares(a, b):
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if not a.any() and not b.any():
        return 0.0
    return np.sqrt(np.sum((a - b) ** 2) / max(np.sum(a**2), np.sum(b**2)))


def scaled_first(a, b):
    """Divides by the largest element before anything is squared, so that nothing underflows."""
    a, b = np.asarray(a), np.asarray(b)
    largest = max(np.abs(a).max(), np.abs(b).max())
    if largest == 0:
        return 0
    a, b = a / largest, b / largest
    return np.linalg.norm((a - b).ravel()) / max(np.linalg.norm(a.ravel()), np.linalg.norm(b.ravel()))


RIGHT = [with_plain_python, with_tensors, with_sums_of_squares, scaled_first]


def test_the_docstring_s_examples():
    assert relative_error(np.array([3.0, 4.0]), np.array([3.0, 3.0])) == pytest.approx(0.2)
    assert relative_error(0.0, 0.0) == 0
    assert relative_error(np.zeros(3), np.ones(3)) == pytest.approx(1)
    assert relative_error(2.0, -2.0) == pytest.approx(2)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_it_does_not_depend_on_the_unit(scale):
    a, b = np.array([1.0, -2.0, 2.0]), np.array([1.0, -2.0, 5.0])
    assert relative_error(scale * a, scale * b) == pytest.approx(3 / math.sqrt(30))


def largest_elements(a, b):
    longer = max(np.abs(a).max(), np.abs(b).max())
    return np.abs(np.subtract(a, b)).max() / longer if longer else 0.0


def never_above_one(a, b):
    return min(relative_error(a, b), 1.0)


def longer_without_abs(a, b):
    longer = max(np.linalg.norm(a), np.linalg.norm(b)) if np.ndim(a) else max(a, b)
    return np.linalg.norm(np.subtract(a, b)) / longer if longer else 0.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("answer", "mistakes"),
    [(largest_elements, ("largest-element-for-the-length",)), (never_above_one, ()), (longer_without_abs, ())],
)
def test_no_other_mistake_is_named_by_luck(answer, mistakes, seed):
    verdict = evaluate(load("relative_error"), answer, seed)
    assert (verdict.outcome, verdict.misconceptions) == ("wrong", mistakes)
