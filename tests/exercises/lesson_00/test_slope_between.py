"""slope_between: right answers written in other ways, and slopes known in closed form."""

import numpy as np
import pytest

from gradlab.exercises.lesson_00.slope_between import slope_between


def with_numpy(f, a, b):
    ends = np.array([a, b])
    return np.diff([f(x) for x in ends])[0] / np.diff(ends)[0]


def by_fitting_a_line(f, a, b):
    return np.polyfit([a, b], [f(a), f(b)], deg=1)[0]


RIGHT = [with_numpy, by_fitting_a_line]


@pytest.mark.parametrize(("a", "b"), [(1.0, 3.0), (3.0, 1.0), (-2.0, 5.0)])
def test_slope_of_a_parabola_is_the_sum_of_the_ends(a, b):
    assert slope_between(lambda x: x * x, a, b) == pytest.approx(a + b)
