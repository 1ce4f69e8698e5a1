"""second_derivative: right answers written in other ways, and curves whose curvature is known."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_02.second_derivative import second_derivative
from gradlab.exercises.notebook import evaluate


def through_a_variable(f, x):
    x = tf.Variable(x)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            value = f(x)
        slope = inner.gradient(value, x)
    return outer.gradient(slope, x).numpy()


def one_persistent_tape(f, x):
    x = tf.convert_to_tensor(x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        slope = tape.gradient(tf.reduce_sum(f(x)), x)
    return tape.gradient(slope, x)


def diagonal_of_a_hessian(f, x):
    x = tf.convert_to_tensor(x)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            value = f(x)
        slope = inner.gradient(value, x)
    hessian = outer.jacobian(slope, x, experimental_use_pfor=False)
    return tf.linalg.diag_part(hessian) if x.shape.rank else hessian


def forward_over_reverse(f, x):
    x = tf.convert_to_tensor(x)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as along:
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = f(x)
        slope = tape.gradient(value, x)
    return along.jvp(slope)


RIGHT = [through_a_variable, one_persistent_tape, diagonal_of_a_hessian, forward_over_reverse]


def test_curvature_of_known_curves():
    x = tf.constant(np.linspace(-2, 2, 9))
    np.testing.assert_allclose(second_derivative(tf.sin, x), -np.sin(x), rtol=1e-12)
    np.testing.assert_allclose(second_derivative(tf.exp, x), np.exp(x), rtol=1e-12)
    np.testing.assert_allclose(second_derivative(lambda x: x**5, x), 20 * x.numpy() ** 3, rtol=1e-12, atol=1e-12)


def test_an_answer_without_sign_is_refused_whatever_the_seed():
    for seed in range(8):
        verdict = evaluate(load("second_derivative"), lambda f, x: abs(second_derivative(f, x)), seed)
        assert not verdict.parts["at several"]


def test_an_answer_that_moves_the_variable_is_refused():
    def moves(f, x):
        found = second_derivative(f, x)
        if isinstance(x, tf.Variable):
            x.assign_add(found)
        return found

    assert evaluate(load("second_derivative"), moves).outcome == "wrong"


def test_a_difference_of_slopes_is_too_coarse():
    def slope(f, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = f(x)
        return tape.gradient(value, x)

    def measured(f, x):
        x = tf.convert_to_tensor(x)
        return (slope(f, x + 1e-3) - slope(f, x - 1e-3)) / 2e-3

    assert not any(evaluate(load("second_derivative"), measured, seed).outcome == "correct" for seed in range(4))
