"""safe_norm: right answers written in other ways, lengths from NumPy, and slopes known in closed form."""

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_05.safe_norm import safe_norm
from gradlab.exercises.notebook import evaluate


def constant_inside(x):
    return tf.sqrt(tf.einsum("nd,nd->n", x, x) + 1e-12)


def floor_inside(x):
    return tf.math.sqrt(tf.maximum(tf.reduce_sum(tf.square(x), axis=-1), 1e-11))


def reciprocal_root(x):
    squares = tf.reduce_sum(x * x, 1)
    return squares * tf.math.rsqrt(squares + 1e-14)


def unit_vector_held_still(x):
    unit = tf.stop_gradient(tf.math.divide_no_nan(x, tf.norm(x, axis=1, keepdims=True)))
    return tf.reduce_sum(unit * x, axis=1)


@tf.custom_gradient
def own_rule(x):
    length = tf.norm(x, axis=1)

    def backward(upstream):
        return tf.math.divide_no_nan(upstream[:, None] * x, length[:, None])

    return length, backward


def harmless_rows(x):
    is_zero = tf.reduce_all(x == 0, axis=1, keepdims=True)
    length = tf.norm(tf.where(is_zero, tf.ones_like(x), x), axis=1)
    return tf.where(is_zero[:, 0], 0.0, length)


RIGHT = [constant_inside, floor_inside, reciprocal_root, unit_vector_held_still, own_rule, harmless_rows]


def test_lengths_are_those_of_numpy():
    x = np.random.default_rng(0).normal(size=(20, 5)).astype(np.float32)
    np.testing.assert_allclose(safe_norm(tf.constant(x)), np.linalg.norm(x, axis=1), rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_slope_is_the_unit_vector_and_zero_at_the_origin(compiled):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(safe_norm(x))
        return tape.gradient(total, x)

    slope = tf.function(slope, jit_compile=True) if compiled else slope
    found = slope(tf.constant([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]]))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]], atol=1e-6)


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda x: tf.norm(x, axis=1), "bare-root"),
        (lambda x: tf.where(tf.reduce_sum(x**2, 1) > 0, tf.reduce_sum(x**2, 1) ** 0.5, 0.0), "bare-root"),
        (lambda x: tf.sqrt(tf.reduce_sum(x**2, 1)) + 1e-12, "bare-root"),
        (lambda x: tf.where(tf.reduce_sum(x**2, 1) > 0, tf.norm(x, axis=1), 0.0), "where-around-the-root"),
        (lambda x: tf.maximum(tf.norm(x, axis=1), 1e-6), "where-around-the-root"),
        (lambda x: tf.sqrt(tf.reduce_sum(x**2, 1) + 1e-4), "coarse-epsilon"),
    ],
)
def test_the_usual_guards_that_fail_are_told_apart(answer, mistake):
    verdict = evaluate(load("safe_norm"), answer)
    assert verdict.outcome == "wrong"
    assert verdict.misconceptions == (mistake,)


def keras_epsilon(x):
    return tf.sqrt(tf.reduce_sum(x**2, axis=1) + 1e-7)


def kept_axis(x):
    return tf.sqrt(tf.reduce_sum(x**2, axis=1, keepdims=True) + 1e-12)


def nan_replaced_in_the_value(x):
    length = tf.norm(x, axis=1)
    return tf.where(tf.math.is_nan(length), 0.0, length)


def no_slope(x):
    return tf.stop_gradient(safe_norm(x))


def one_row_spoils_all(x):
    return tf.where(tf.reduce_any(safe_norm(x) == 0), tf.zeros(x.shape[0]), safe_norm(x))


def through_numpy(x):
    return tf.constant(np.linalg.norm(x.numpy(), axis=1))


@pytest.mark.parametrize(
    "answer",
    [keras_epsilon, kept_axis, nan_replaced_in_the_value, no_slope, one_row_spoils_all, through_numpy],
    ids=lambda answer: answer.__name__,
)
def test_other_wrong_lengths_are_refused(answer):
    assert evaluate(load("safe_norm"), answer).outcome == "wrong"


def test_a_constant_that_is_too_large_is_named():
    assert evaluate(load("safe_norm"), keras_epsilon).misconceptions == ("constant-too-large",)


def test_no_warning_of_retracing(caplog):
    for _ in range(6):
        load("safe_norm").probe(safe_norm, np.random.default_rng(0))
    assert "retracing" not in caplog.text
