"""chain: right answers written in other ways, and a chain whose slope is known in closed form."""

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.lesson_00.chain import chain
from gradlab.exercises.lesson_00.slope_between import slope_between


def with_numpy(outer_slope, inner_slope):
    return np.prod([outer_slope, inner_slope])


def with_tensorflow(outer_slope, inner_slope):
    return tf.multiply(tf.cast(outer_slope, tf.float32), tf.cast(inner_slope, tf.float32))


def step_by_step(outer_slope, inner_slope):
    moved_u = inner_slope * 1.0
    return outer_slope * moved_u


RIGHT = [with_numpy, with_tensorflow, step_by_step]


def test_straight_lines_chain_exactly():
    def inner(x):
        return 2.0 * x + 1.0

    def outer(u):
        return -3.0 * u

    whole = slope_between(lambda x: outer(inner(x)), 0.5, 4.0)
    assert chain(slope_between(outer, 0, 1), slope_between(inner, 0, 1)) == pytest.approx(whole)
