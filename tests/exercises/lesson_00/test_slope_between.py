"""slope_between: right answers written in other ways, and slopes known in closed form."""

import numpy as np
import pytest

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_00.slope_between import slope_between
from gradlab.exercises.notebook import evaluate


def with_numpy(f, a, b):
    ends = np.array([a, b])
    return np.diff([f(x) for x in ends])[0] / np.diff(ends)[0]


def by_fitting_a_line(f, a, b):
    return np.polyfit([a, b], [f(a), f(b)], deg=1)[0]


RIGHT = [with_numpy, by_fitting_a_line]


@pytest.mark.parametrize(("a", "b"), [(1.0, 3.0), (3.0, 1.0), (-2.0, 5.0)])
def test_slope_of_a_parabola_is_the_sum_of_the_ends(a, b):
    assert slope_between(lambda x: x * x, a, b) == pytest.approx(a + b)


def tangent_halfway(f, a, b):
    middle, step = (a + b) / 2, 1e-5
    return (f(middle + step) - f(middle - step)) / (2 * step)


def flat_where_close(f, a, b):
    return (f(b) - f(a)) / (b - a) if abs(b - a) > 1 else 0.0


@pytest.mark.parametrize("answer", [tangent_halfway, flat_where_close])
def test_a_tangent_and_a_rule_for_far_points_alone_are_refused(answer):
    assert evaluate(load("slope_between"), answer).outcome == "wrong"


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda f, a, b: abs(f(b) - f(a)) / (b - a), "rise-without-sign"),
        (lambda f, a, b: (f(max(a, b)) - f(min(a, b))) / (b - a), "run-without-sign"),
    ],
)
def test_a_lost_sign_is_told_from_a_mixed_order(answer, mistake):
    assert evaluate(load("slope_between"), answer).misconceptions == (mistake,)
