"""safe_log_loss: right answers written in other ways, scikit-learn's loss, and what Keras's own does at 0."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from sklearn.metrics import log_loss

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_10.safe_log_loss import safe_log_loss
from gradlab.exercises.notebook import evaluate


def of_the_right_class(labels, probabilities):
    right = tf.where(labels == 1, probabilities, 1 - probabilities)
    return tf.reduce_mean(-tf.math.log(right + 1e-7))


def clipped_straight_through(labels, probabilities):
    inside = tf.clip_by_value(probabilities, 1e-7, 1 - 1e-7)
    p = probabilities + tf.stop_gradient(inside - probabilities)
    return -tf.reduce_mean(labels * tf.math.log(p) + (1 - labels) * tf.math.log(1 - p))


def squeezed(labels, probabilities):
    p = 1e-7 + (1 - 2e-7) * tf.cast(probabilities, tf.float64)
    labels = tf.cast(labels, tf.float64)
    return -tf.reduce_mean(labels * tf.math.log(p) + (1 - labels) * tf.math.log1p(-p))


def xlogy(labels, probabilities):
    losses = tf.math.xlogy(labels, probabilities + 1e-7) + tf.math.xlogy(1 - labels, 1 - probabilities + 1e-7)
    return -tf.math.reduce_sum(losses) / len(labels)


RIGHT = [of_the_right_class, clipped_straight_through, squeezed, xlogy]


def test_it_is_scikit_learn_s_log_loss():
    rng = np.random.default_rng(0)
    labels, probabilities = rng.integers(0, 2, 50).astype(np.float32), rng.uniform(0.01, 0.99, 50).astype(np.float32)
    ours = safe_log_loss(tf.constant(labels), tf.constant(probabilities))
    assert float(ours) == pytest.approx(log_loss(labels, probabilities), rel=1e-5)


def test_the_docstring_s_example():
    assert float(safe_log_loss(tf.constant([1.0, 0.0]), tf.constant([0.5, 0.25]))) == pytest.approx(0.4904, abs=1e-4)


def with_keras(labels, probabilities):
    return keras.losses.BinaryCrossentropy()(labels[:, None], probabilities[:, None])


def test_keras_clips_and_so_loses_the_gradient():
    verdict = evaluate(load("safe_log_loss"), with_keras)
    assert verdict.outcome == "wrong"
    assert verdict.misconceptions == ("clipping-kills-the-gradient",)


def clipped_below_only(labels, probabilities):
    p = tf.maximum(probabilities, 1e-7)
    return -tf.reduce_mean(labels * tf.math.log(p) + (1 - labels) * tf.math.log(1 - p))


def in_numpy(labels, probabilities):
    p = np.clip(probabilities, 1e-7, 1 - 1e-7)
    return -np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p))


def one_for_each(labels, probabilities):
    return -(labels * tf.math.log(probabilities + 1e-7) + (1 - labels) * tf.math.log(1 - probabilities + 1e-7))


def squared(labels, probabilities):
    return tf.reduce_mean((labels - probabilities) ** 2)


@pytest.mark.parametrize("answer", [clipped_below_only, in_numpy, one_for_each, squared])
def test_other_wrong_losses_are_refused(answer):
    assert evaluate(load("safe_log_loss"), answer).outcome == "wrong"
