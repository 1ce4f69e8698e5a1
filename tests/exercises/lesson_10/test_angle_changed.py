"""angle_changed: right answers written in other ways, and angles known in closed form."""

import math

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_10.angle_changed import angle_changed
from gradlab.exercises.notebook import evaluate


def with_tensorflow(before, after):
    one, other = (
        tf.concat([tf.cast(tf.reshape(a, [-1]), tf.float64) for a in arrays], 0) for arrays in (before, after)
    )
    cosine = tf.reduce_sum(tf.math.l2_normalize(one) * tf.math.l2_normalize(other))
    return tf.acos(tf.clip_by_value(cosine, -1.0, 1.0)) * 180 / math.pi


def by_sums(before, after):
    def dot(one, other):
        return sum(float(np.sum(np.float64(a) * b)) for a, b in zip(one, other, strict=True))

    cosine = dot(before, after) / math.sqrt(dot(before, before) * dot(after, after))
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def by_half_the_angle(before, after):
    """Kahan's formula, exact for the smallest angles."""
    one, other = (np.concatenate([np.ravel(np.float64(a)) for a in arrays]) for arrays in (before, after))
    one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
    return np.degrees(2 * np.arctan2(np.linalg.norm(one - other), np.linalg.norm(one + other)))


RIGHT = [with_tensorflow, by_sums, by_half_the_angle]


@pytest.mark.parametrize("degrees", [0.0, 1.0, 30.0, 90.0, 135.0, 180.0])
def test_a_vector_turned_in_a_plane_has_turned_by_that_much(degrees):
    turn = np.radians(degrees)
    before = [np.array([2.0, 0.0]), np.array([[0.0]])]
    after = [np.array([5 * np.cos(turn), 0.0]), np.array([[5 * np.sin(turn)]])]
    assert angle_changed(before, after) == pytest.approx(degrees, abs=1e-5)


def test_the_docstring_s_examples():
    assert angle_changed([[3.0, 0.0], [0.0]], [[1.0, 0.0], [1.0]]) == pytest.approx(45)
    assert angle_changed([[3.0, 0.0], [0.0]], [[6.0, 0.0], [0.0]]) == pytest.approx(0, abs=1e-5)


def not_normalised(before, after):
    one, other = (np.concatenate([np.ravel(a) for a in arrays]) for arrays in (before, after))
    return np.degrees(np.arccos(np.clip(one @ other, -1, 1)))


def nan_by_rounding(before, after):
    one, other = (np.concatenate([np.ravel(a) for a in arrays]) for arrays in (before, after))
    cosine = one @ other / (np.linalg.norm(one) * np.linalg.norm(other))
    return np.degrees(np.arccos(cosine)) if cosine < 0.99999 else np.nan


def share_of_the_length(before, after):
    lengths = [math.sqrt(sum(float(np.sum(np.square(a))) for a in arrays)) for arrays in (before, after)]
    return 100 * lengths[1] / lengths[0]


@pytest.mark.parametrize("answer", [not_normalised, nan_by_rounding, share_of_the_length])
def test_other_wrong_answers_are_refused(answer):
    assert evaluate(load("angle_changed"), answer).outcome == "wrong"
