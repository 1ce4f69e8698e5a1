"""keep_in_tensorflow: right answers written in other ways, Lin's concordance, and slopes measured in float64."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_05.keep_in_tensorflow import keep_in_tensorflow
from gradlab.exercises.notebook import evaluate


def moments_together(predictions, targets):
    p, t = tf.reshape(predictions, -1), tf.reshape(tf.constant(targets), -1)
    (mean_p, var_p), (mean_t, var_t) = tf.nn.moments(p, 0), tf.nn.moments(t, 0)
    return tf.reduce_mean(tf.square(p - t)) / (var_p + var_t + tf.square(mean_p - mean_t))


def numpy_for_the_targets(predictions, targets):
    mean = tf.reduce_mean(predictions)
    variance = tf.reduce_mean((predictions - mean) ** 2)
    error = tf.reduce_mean((predictions - targets) ** 2)
    return error / (variance + np.var(targets) + (mean - targets.mean()) ** 2)


def by_the_covariance(predictions, targets):
    p, t = tf.cast(predictions, tf.float64), tf.cast(targets, tf.float64)
    covariance = tf.reduce_mean((p - tf.reduce_mean(p)) * (t - tf.reduce_mean(t)))
    shift = tf.reduce_mean(p) - tf.reduce_mean(t)
    return 1 - 2 * covariance / (tf.math.reduce_variance(p) + tf.math.reduce_variance(t) + shift**2)


def with_keras(predictions, targets):
    ops = keras.ops
    below = ops.var(predictions) + ops.var(targets) + (ops.mean(predictions) - ops.mean(targets)) ** 2
    return ops.mean(ops.square(predictions - targets)) / below


RIGHT = [moments_together, numpy_for_the_targets, by_the_covariance, with_keras]


def test_the_examples_of_the_docstring():
    assert float(keep_in_tensorflow(tf.constant([0.0, 2.0]), np.array([1.0, 1.0], np.float32))) == pytest.approx(1.0)
    assert float(keep_in_tensorflow(tf.constant([1.0, 3.0]), np.array([0.0, 4.0], np.float32))) == pytest.approx(0.2)


def test_it_is_one_minus_the_concordance():
    rng = np.random.default_rng(0)
    p, t = rng.normal(size=30), rng.normal(0.5, 2.0, size=30)
    concordance = 2 * np.cov(p, t, bias=True)[0, 1] / (p.var() + t.var() + (p.mean() - t.mean()) ** 2)
    assert float(keep_in_tensorflow(tf.constant(p), t)) == pytest.approx(1 - concordance)


def test_the_slope_is_the_measured_one():
    rng = np.random.default_rng(1)
    p, t = rng.normal(size=6), rng.normal(size=6)
    predictions = tf.Variable(p)
    with tf.GradientTape() as tape:
        loss = keep_in_tensorflow(predictions, t)
    slope = tape.gradient(loss, predictions).numpy()
    for i in range(6):
        step = np.eye(6)[i] * 1e-6
        measured = keep_in_tensorflow(tf.constant(p + step), t) - keep_in_tensorflow(tf.constant(p - step), t)
        assert slope[i] == pytest.approx(float(measured) / 2e-6, abs=1e-7)


def numpy_function(predictions, targets):
    def inside(p, t):
        return np.float32(np.mean((p - t) ** 2) / (p.var() + t.var() + (p.mean() - t.mean()) ** 2))

    return tf.numpy_function(inside, [predictions, targets], tf.float32)


def py_function(predictions, targets):
    def inside(p, t):
        p, t = p.numpy(), t.numpy()
        return np.float32(np.mean((p - t) ** 2) / (p.var() + t.var() + (p.mean() - t.mean()) ** 2))

    return tf.py_function(inside, [predictions, targets], tf.float32)


def returned_as_a_float(predictions, targets):
    return float(keep_in_tensorflow(predictions, targets))


def mean_squared_error(predictions, targets):
    return tf.reduce_mean((predictions - targets) ** 2)


def without_the_targets(predictions, targets):
    shift = tf.reduce_mean(predictions) - np.mean(targets)
    return mean_squared_error(predictions, targets) / (tf.math.reduce_variance(predictions) + shift**2)


@pytest.mark.parametrize(
    "answer",
    [numpy_function, py_function, returned_as_a_float, mean_squared_error, without_the_targets],
    ids=lambda answer: answer.__name__,
)
def test_other_wrong_losses_are_refused(answer):
    assert evaluate(load("keep_in_tensorflow"), answer).outcome == "wrong"


def column_minus_row(predictions, targets):
    error = tf.reduce_mean((tf.reshape(predictions, (-1, 1)) - tf.reshape(tf.constant(targets), -1)) ** 2)
    shift = tf.reduce_mean(predictions) - np.mean(targets)
    return error / (tf.math.reduce_variance(predictions) + np.var(targets) + shift**2)


def row_for_the_targets(predictions, targets):
    return (
        column_minus_row(predictions, targets)
        if predictions.shape.rank == 2
        else keep_in_tensorflow(predictions, targets)
    )


@pytest.mark.parametrize("answer", [column_minus_row, row_for_the_targets])
def test_a_table_of_all_pairs_is_named(answer):
    assert evaluate(load("keep_in_tensorflow"), answer).misconceptions == ("all-pairs",)
