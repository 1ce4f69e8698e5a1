"""residual_jacobian: right answers written in other ways, and products known in closed form."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_09.residual_jacobian import residual_jacobian
from gradlab.exercises.notebook import evaluate


def with_reduce(jacobians):
    blocks = [np.eye(len(j)) + j for j in jacobians]
    return functools.reduce(lambda before, block: block @ before, blocks)


def from_the_back(jacobians):
    whole = np.eye(np.shape(jacobians[0])[0])
    for jacobian in reversed(list(jacobians)):
        whole = whole + whole @ jacobian
    return whole


def in_tensorflow(jacobians):
    jacobians = tf.cast(tf.stack(jacobians), tf.float32)
    identity = tf.eye(jacobians.shape[-1])
    whole = identity
    for jacobian in tf.unstack(jacobians):
        whole = tf.linalg.matmul(jacobian + identity, whole)
    return whole


def plain_lists(jacobians):
    n = len(jacobians[0])
    whole = [[float(i == k) for k in range(n)] for i in range(n)]
    for jacobian in jacobians:
        whole = [
            [whole[i][k] + sum(float(jacobian[i][j]) * whole[j][k] for j in range(n)) for k in range(n)]
            for i in range(n)
        ]
    return whole


RIGHT = [with_reduce, from_the_back, in_tensorflow, plain_lists]


def test_width_1_is_the_product_of_one_plus_slope():
    assert float(residual_jacobian([[[0.5]], [[0.1]]])[0, 0]) == pytest.approx(1.65)


def test_two_blocks_by_hand():
    np.testing.assert_allclose(residual_jacobian([[[0, 1], [0, 0]], [[0, 0], [2, 0]]]), [[1, 1], [2, 3]])


def test_it_is_what_a_tape_finds_for_a_chain():
    rng = np.random.default_rng(3)
    kernels = [tf.constant(rng.normal(size=(4, 4))) for _ in range(3)]
    start = x = tf.constant(rng.normal(size=(4, 1)))
    jacobians = []
    with tf.GradientTape(persistent=True) as whole:
        whole.watch(start)
        for kernel in kernels:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                branch = tf.tanh(kernel @ x)
            jacobians.append(tf.reshape(tape.jacobian(branch, x, experimental_use_pfor=False), (4, 4)).numpy())
            x = x + branch
    expected = tf.reshape(whole.jacobian(x, start, experimental_use_pfor=False), (4, 4))
    np.testing.assert_allclose(residual_jacobian(jacobians), expected, rtol=1e-10)


def first_order_and_second(jacobians):
    """Stops after the ways through two branches."""
    n = np.shape(jacobians)[-1]
    total = np.eye(n) + np.sum(jacobians, axis=0)
    return total + sum(b @ a for i, a in enumerate(jacobians) for b in jacobians[i + 1 :])


def power_of_the_mean(jacobians):
    return np.linalg.matrix_power(np.eye(np.shape(jacobians)[-1]) + np.mean(jacobians, axis=0), len(jacobians))


def square_of_the_last(jacobians):
    return (np.eye(np.shape(jacobians)[-1]) + jacobians[-1]) @ (np.eye(np.shape(jacobians)[-1]) + jacobians[0])


@pytest.mark.parametrize("answer", [first_order_and_second, power_of_the_mean, square_of_the_last])
def test_shortcuts_that_hold_for_few_blocks_are_refused(answer):
    assert evaluate(load("residual_jacobian"), answer).outcome == "wrong"
