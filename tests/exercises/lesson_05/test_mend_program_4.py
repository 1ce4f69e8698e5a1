"""mend_program_4: other mends, one step by the formula, and mends that leave half of the fault."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_05.mend_program_4 import mend_program_4
from gradlab.exercises.notebook import evaluate


def with_an_optimizer(variables, x, y, rate, steps):
    optimizer, losses = keras.optimizers.SGD(rate), []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            slope, offset = variables
            loss = tf.reduce_mean(tf.square(tf.tanh(slope * x + offset) - y))
        optimizer.apply(tape.gradient(loss, variables), variables)
        losses.append(loss)
    return losses


def assigning_the_difference(variables, x, y, rate, steps):
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.math.reduce_mean((tf.tanh(variables[0] * x + variables[1]) - y) ** 2)
        new = [v - rate * g for v, g in zip(variables, tape.gradient(loss, variables), strict=True)]
        for variable, value in zip(variables, new, strict=True):
            variable.assign(value)
        losses.append(loss.numpy())
    return np.array(losses)


def watched_tensors_written_back(variables, x, y, rate, steps):
    values, losses = [v.read_value() for v in variables], []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(values)
            loss = tf.reduce_mean((tf.tanh(values[0] * x + values[1]) - y) ** 2)
        values = [v - rate * g for v, g in zip(values, tape.gradient(loss, values), strict=True)]
        losses.append(float(loss))
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)
    return tuple(losses)


def by_the_formula(variables, x, y, rate, steps):
    slope, offset = variables
    losses = []
    for _ in range(steps):
        curve = tf.tanh(slope * x + offset)
        error = curve - y
        upstream = 2 * error * (1 - curve**2)
        losses.append(float(tf.reduce_mean(error**2)))
        in_slope, in_offset = tf.reduce_mean(upstream * x), tf.reduce_mean(upstream)
        slope.assign_add(-rate * in_slope)
        offset.assign_add(-rate * in_offset)
    return losses


RIGHT = [with_an_optimizer, assigning_the_difference, watched_tensors_written_back, by_the_formula]


def test_the_example_of_the_docstring():
    variables = [tf.Variable(1.0), tf.Variable(0.0)]
    losses = mend_program_4(variables, tf.constant([0.0, 1.0]), tf.constant([0.0, 0.0]), 0.1, 1)
    one = np.tanh(1)
    step = 0.1 * one * (1 - one**2)
    assert losses == [pytest.approx(one**2 / 2)]
    assert [float(v) for v in variables] == pytest.approx([1 - step, -step])
    assert [round(float(v), 4) for v in (losses[0], *variables)] == [0.29, 0.968, -0.032]


def test_it_finds_the_curve_that_made_the_data():
    x = tf.linspace(-3.0, 3.0, 41)
    variables = [tf.Variable(0.3), tf.Variable(0.0)]
    losses = mend_program_4(variables, x, tf.tanh(1.5 * x + 0.4), 0.5, 500)
    assert [float(v) for v in variables] == pytest.approx([1.5, 0.4], abs=1e-3)
    assert losses[-1] < 1e-6


def new_variables_each_step(variables, x, y, rate, steps):
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(variables[0] * x + variables[1]) - y) ** 2)
        gradients = tape.gradient(loss, variables)
        variables = [tf.Variable(v - rate * g) for v, g in zip(variables, gradients, strict=True)]
        losses.append(float(loss))
    return losses


def in_the_list(variables, x, y, rate, steps):
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(variables[0] * x + variables[1]) - y) ** 2)
        gradients = tape.gradient(loss, variables, unconnected_gradients="zero")
        for i in range(2):
            variables[i] = variables[i] - rate * gradients[i]
        losses.append(float(loss))
    return losses


def without_the_zeros(variables, x, y, rate, steps):
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(variables[0] * x + variables[1]) - y) ** 2)
        gradients = tape.gradient(loss, variables)
        variables = [v - rate * g for v, g in zip(variables, gradients, strict=True)]
        losses.append(float(loss))
    return losses


def one_step_less(variables, x, y, rate, steps):
    losses = mend_program_4(variables, x, y, rate, steps - 1)
    return [*losses, losses[-1] if losses else 0.0]


def momentum(variables, x, y, rate, steps):
    optimizer, losses = keras.optimizers.SGD(rate, momentum=0.5), []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(variables[0] * x + variables[1]) - y) ** 2)
        optimizer.apply(tape.gradient(loss, variables), variables)
        losses.append(loss)
    return losses


@pytest.mark.parametrize(
    "answer",
    [new_variables_each_step, in_the_list, without_the_zeros, one_step_less, momentum],
    ids=lambda answer: answer.__name__,
)
def test_mends_that_do_not_mend_are_refused(answer):
    assert evaluate(load("mend_program_4"), answer).outcome in ("wrong", "error")


@pytest.mark.parametrize(("answer", "mistake"), [(new_variables_each_step, "copies-move"), (in_the_list, "rebound")])
def test_other_ways_of_losing_the_variables_are_named(answer, mistake):
    assert evaluate(load("mend_program_4"), answer).misconceptions == (mistake,)


def test_a_name_that_is_bound_anew_is_named():
    def in_a_for_loop(variables, x, y, rate, steps):
        losses = []
        for _ in range(steps):
            slope, offset = variables
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.tanh(slope * x + offset) - y) ** 2)
            for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
                v = v - rate * g
            losses.append(float(loss))
        return losses

    assert evaluate(load("mend_program_4"), in_a_for_loop).misconceptions == ("name-rebound",)
