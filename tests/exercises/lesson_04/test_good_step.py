"""good_step: right answers written in other ways, and the balance that it should strike."""

import math

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_04.good_step import good_step
from gradlab.exercises.notebook import evaluate


def from_a_table(dtype, scale):
    return {"float32": 0.004921, "float64": 6.055e-06}[dtype] * scale


def a_power_of_two(dtype, scale):
    """Steps that are powers of two are taken exactly."""
    eps = {"float32": 2.0**-23, "float64": 2.0**-52}[dtype]
    return 2.0 ** round(math.log2(scale * eps ** (1 / 3)))


def least_total_error(dtype, scale):
    """The minimum of the sum of both errors lies 20 % below their balance."""
    eps = np.finfo(np.dtype(dtype)).eps
    return float(np.cbrt(eps / 2)) * scale


def by_bisection(dtype, scale):
    eps = float(np.finfo(tf.as_dtype(dtype).as_numpy_dtype).eps)
    low, high = 0.0, scale
    for _ in range(80):
        middle = (low + high) / 2
        if (middle / scale) ** 2 < eps * scale / middle:
            low = middle
        else:
            high = middle
    return low


def as_a_tensor(dtype, scale):
    eps = tf.constant(np.finfo(dtype).eps, tf.float32)
    return tf.constant(scale) * tf.pow(eps, 1 / 3)


RIGHT = [from_a_table, a_power_of_two, least_total_error, by_bisection, as_a_tensor]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 150.0])
def test_both_errors_are_equal_at_the_step(dtype, scale):
    step = good_step(dtype, scale)
    assert (step / scale) ** 2 == pytest.approx(np.finfo(dtype).eps * scale / step, rel=1e-6)


def test_the_docstring_s_example():
    assert good_step("float32", 1.0) == pytest.approx(0.005, rel=0.02)


@pytest.mark.parametrize(("factor", "outcome"), [(2.0, "correct"), (0.5, "correct"), (2.5, "wrong"), (0.4, "wrong")])
def test_a_factor_of_two_is_accepted_and_no_more(factor, outcome):
    assert evaluate(load("good_step"), lambda dtype, scale: factor * good_step(dtype, scale)).outcome == outcome


def test_a_step_that_is_not_positive_is_told_so():
    verdict = evaluate(load("good_step"), lambda dtype, scale: -good_step(dtype, scale))
    assert "not positive" in verdict.message


def test_steps_by_type_alone_are_not_called_one_step_for_all():
    verdict = evaluate(load("good_step"), lambda dtype, scale: 1e-3 if dtype == "float32" else 1e-5)
    assert verdict.misconceptions == ("scale-ignored",)
