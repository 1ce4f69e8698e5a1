"""line_gradients: right answers written in other ways, and lines whose gradient is known."""

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_02.line_gradients import line_gradients
from gradlab.exercises.notebook import evaluate


def with_a_tape(w, b, x, y):
    w, b = tf.Variable(w), tf.Variable(b)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((w * tf.reshape(x, [-1]) + b - tf.reshape(y, [-1])) ** 2)
    return tape.gradient(loss, [w, b])


def as_a_matrix_product(w, b, x, y):
    design = np.stack([np.ravel(x), np.ones(np.size(x))], axis=1)
    error = design @ np.array([w, b]) - np.ravel(y)
    return 2 / len(design) * design.T @ error


def in_plain_python(w, b, x, y):
    pairs = list(zip(x.flatten().tolist(), y.flatten().tolist(), strict=True))
    dw = sum(-2 * xi * (yi - w * xi - b) for xi, yi in pairs) / len(pairs)
    db = sum(-2 * (yi - w * xi - b) for xi, yi in pairs) / len(pairs)
    return [dw, db]


def from_the_normal_equations(w, b, x, y):
    x, y = x.squeeze(), y.squeeze()
    return 2 * (w * np.mean(x * x) + b * x.mean() - np.mean(x * y)), 2 * (w * x.mean() + b - y.mean())


RIGHT = [with_a_tape, as_a_matrix_product, in_plain_python, from_the_normal_equations]


def test_the_example_of_the_docstring():
    one = np.array([1.5], "float32"), np.array([4.5], "float32")
    assert line_gradients(1.0, 0.0, *one) == pytest.approx((-9.0, -6.0))


def test_the_gradient_vanishes_at_the_least_squares_line():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    y = 3 * x + rng.normal(size=50)
    w, b = np.polyfit(x, y, 1)
    assert line_gradients(w, b, x[:, None], y) == pytest.approx((0, 0), abs=1e-12)


def test_flat_errors_times_a_column_are_told_from_a_product_of_means():
    def flat_error_only(w, b, x, y):
        error = (w * x + b).ravel() - y.ravel()
        return 2 * np.mean(error * x), 2 * np.mean(error)

    assert evaluate(load("line_gradients"), flat_error_only).misconceptions == ("broadcast-in-the-product",)


def test_the_docstring_s_example_for_every_input_is_wrong():
    assert evaluate(load("line_gradients"), lambda w, b, x, y: (-9.0, -6.0)).outcome == "wrong"
