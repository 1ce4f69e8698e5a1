"""mend_program_1: other mends, SciPy's entropy, and mends of the symptom alone."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_05.mend_program_1 import mend_program_1
from gradlab.exercises.notebook import evaluate


def shares_of(scores):
    positive = tf.maximum(scores, 0.0)
    return positive / tf.reduce_sum(positive, axis=1, keepdims=True)


def with_xlogy(scores):
    shares = shares_of(scores)
    return -tf.reduce_mean(tf.reduce_sum(tf.math.xlogy(shares, shares), axis=1))


def a_tiny_constant_inside(scores):
    shares = shares_of(scores)
    surprise = tf.where(shares > 0, -shares * tf.math.log(shares + 1e-10), 0.0)
    return tf.reduce_mean(tf.reduce_sum(surprise, axis=1))


def only_what_counts(scores):
    shares = shares_of(scores)
    alive = tf.boolean_mask(shares, shares > 0)
    return -tf.reduce_sum(alive * tf.math.log(alive)) / scores.shape[0]


def row_by_row(scores):
    total = 0.0
    for row in tf.unstack(scores):
        positive = tf.gather(row, tf.where(row > 0)[:, 0])
        whole = tf.reduce_sum(positive)
        total += tf.math.log(whole) - tf.reduce_sum(positive * tf.math.log(positive)) / whole
    return total / len(scores)


def floor_inside(scores):
    shares = tf.cast(shares_of(scores), tf.float64)
    return tf.reduce_mean(tf.reduce_sum(-shares * tf.math.log(tf.clip_by_value(shares, 1e-30, 1.0)), axis=1))


RIGHT = [with_xlogy, a_tiny_constant_inside, only_what_counts, row_by_row, floor_inside]


def test_it_is_the_entropy_of_scipy():
    scores = np.random.default_rng(0).normal(0.5, 1.0, size=(6, 5)).astype(np.float32)
    expected = stats.entropy(np.maximum(scores, 0), axis=1).mean()
    assert float(mend_program_1(tf.constant(scores))) == pytest.approx(expected, rel=1e-5)


def test_the_example_of_the_docstring():
    scores = tf.Variable([[2.0, 2.0, -1.0]])
    with tf.GradientTape() as tape:
        loss = mend_program_1(scores)
    assert float(loss) == pytest.approx(np.log(2))
    np.testing.assert_allclose(tape.gradient(loss, scores), [[0.0, 0.0, 0.0]], atol=1e-6)


def leaky_shares(scores):
    positive = tf.nn.leaky_relu(scores, 1e-3)
    shares = tf.abs(positive) / tf.reduce_sum(tf.abs(positive), axis=1, keepdims=True)
    return tf.reduce_mean(tf.reduce_sum(-shares * tf.math.log(shares), axis=1))


def log_with_an_epsilon_outside(scores):
    shares = shares_of(scores)
    surprise = tf.where(shares > 0, -shares * (tf.math.log(shares) + 1e-9), 0.0)
    return tf.reduce_mean(tf.reduce_sum(surprise, axis=1))


def divide_no_nan_outside(scores):
    shares = shares_of(scores)
    return tf.reduce_mean(tf.reduce_sum(tf.math.multiply_no_nan(-tf.math.log(shares), shares), axis=1))


def through_numpy(scores):
    return tf.constant(np.float32(stats.entropy(np.maximum(scores.numpy(), 0), axis=1).mean()))


def gini_instead(scores):
    return tf.reduce_mean(1 - tf.reduce_sum(shares_of(scores) ** 2, axis=1))


def base_two(scores):
    return mend_program_1(scores) / np.log(2)


@pytest.mark.parametrize(
    "answer",
    [leaky_shares, log_with_an_epsilon_outside, divide_no_nan_outside, through_numpy, gini_instead, base_two],
    ids=lambda answer: answer.__name__,
)
def test_mends_that_do_not_mend_are_refused(answer):
    assert evaluate(load("mend_program_1"), answer).outcome == "wrong"


def test_a_guard_after_the_logarithm_is_called_late_however_it_is_written():
    def as_it_stands(scores):
        shares = shares_of(scores)
        surprise = tf.where(shares > 0, -shares * tf.math.log(shares), 0.0)
        return tf.reduce_mean(tf.reduce_sum(surprise, axis=1))

    def nan_replaced(scores):
        shares = shares_of(scores)
        surprise = -shares * tf.math.log(shares)
        surprise = tf.where(tf.math.is_nan(surprise), tf.zeros_like(surprise), surprise)
        return tf.reduce_mean(tf.reduce_sum(surprise, axis=1))

    for answer in (as_it_stands, nan_replaced, log_with_an_epsilon_outside, divide_no_nan_outside):
        assert evaluate(load("mend_program_1"), answer).misconceptions == ("guarded-afterwards",)


def test_a_floor_under_the_scores_is_named():
    def floored(scores):
        positive = tf.maximum(scores, 1e-6)
        shares = positive / tf.reduce_sum(positive, axis=1, keepdims=True)
        return -tf.reduce_mean(tf.reduce_sum(shares * tf.math.log(shares), axis=1))

    assert evaluate(load("mend_program_1"), floored).misconceptions == ("floor-under-the-scores",)
