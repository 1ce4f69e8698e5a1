"""mend_program_3: other mends, one step by the formula, and mends that leave half of the fault."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_05.mend_program_3 import mend_program_3
from gradlab.exercises.notebook import evaluate


def with_an_optimizer(width, height, x, y, rate, steps):
    optimizer, losses = keras.optimizers.SGD(rate), []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            losses.append(tf.reduce_mean((height * tf.exp(-tf.square(x / width)) - y) ** 2))
        optimizer.apply_gradients(zip(tape.gradient(losses[-1], [width, height]), [width, height], strict=True))
    return losses


def shape_in_a_function(width, height, x, y, rate, steps):
    def shape():
        return tf.exp(-((x / width) ** 2))

    losses = np.zeros(steps)
    for step in range(steps):
        with tf.GradientTape(persistent=True) as tape:
            losses[step] = loss = tf.reduce_mean((height * shape() - y) ** 2)
        moves = [(variable, rate * tape.gradient(loss, variable)) for variable in (width, height)]
        for variable, move in moves:
            variable.assign_sub(move)
    return losses


def by_the_formula(width, height, x, y, rate, steps):
    w, h, x, y = float(width), float(height), x.numpy().astype(float), y.numpy().astype(float)
    losses = []
    for _ in range(steps):
        shape = np.exp(-((x / w) ** 2))
        error = h * shape - y
        losses.append(np.mean(error**2))
        in_width, in_height = np.mean(2 * error * h * shape * 2 * x**2 / w**3), np.mean(2 * error * shape)
        w, h = w - rate * in_width, h - rate * in_height
    width.assign(w)
    height.assign(h)
    return losses


def tensors_then_written_back(width, height, x, y, rate, steps):
    w, h, losses = tf.identity(width), tf.identity(height), []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch([w, h])
            loss = tf.reduce_mean((h * tf.exp(-((x / w) ** 2)) - y) ** 2)
        in_w, in_h = tape.gradient(loss, [w, h])
        w, h = w - rate * in_w, h - rate * in_h
        losses.append(loss.numpy())
    width.assign(w)
    height.assign(h)
    return tf.stack(losses)


RIGHT = [with_an_optimizer, shape_in_a_function, by_the_formula, tensors_then_written_back]


def test_the_example_of_the_docstring():
    width, height = tf.Variable(1.0), tf.Variable(1.0)
    losses = mend_program_3(width, height, tf.constant([0.0, 1.0]), tf.constant([0.0, 0.0]), 0.1, 1)
    assert losses == [pytest.approx((1 + np.exp(-2)) / 2)]
    assert float(height) == pytest.approx(1 - 0.1 * (1 + np.exp(-2)))
    assert float(width) == pytest.approx(1 - 0.1 * 2 * np.exp(-2))
    assert [round(float(v), 4) for v in (losses[0], width, height)] == [0.5677, 0.9729, 0.8865]


def test_it_finds_the_bump_that_made_the_data():
    x = tf.linspace(-3.0, 3.0, 41)
    width, height = tf.Variable(0.7), tf.Variable(1.0)
    losses = mend_program_3(width, height, x, 2 * tf.exp(-((x / 1.5) ** 2)), 0.3, 300)
    assert (float(width), float(height)) == pytest.approx((1.5, 2.0), abs=1e-3)
    assert losses[-1] < 1e-6


def every_other_step(width, height, x, y, rate, steps):
    losses = []
    for step in range(steps):
        losses += mend_program_3(width, height, x, y, rate, 1) if step % 2 == 0 else [losses[-1]]
    return losses


def one_tape_for_all_steps(width, height, x, y, rate, steps):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((height * tf.exp(-((x / width) ** 2)) - y) ** 2)
        losses = [float(loss)] * steps
    in_width, in_height = tape.gradient(loss, [width, height])
    width.assign_sub(rate * steps * in_width)
    height.assign_sub(rate * steps * in_height)
    return losses


def a_fixed_width(width, height, x, y, rate, steps):
    start = float(width)
    losses = mend_program_3(width, height, x, y, rate, steps)
    width.assign(start)
    return losses


def negative_shape(width, height, x, y, rate, steps):
    return mend_program_3(width, height, tf.abs(x) ** 0.5, y, rate, steps)


@pytest.mark.parametrize(
    "answer",
    [every_other_step, one_tape_for_all_steps, a_fixed_width, negative_shape],
    ids=lambda answer: answer.__name__,
)
def test_mends_that_do_not_mend_are_refused(answer):
    assert evaluate(load("mend_program_3"), answer).outcome == "wrong"


def test_the_program_as_it_stands_is_told_what_is_computed_too_early():
    def as_it_stands(width, height, x, y, rate, steps):
        shape, losses = tf.exp(-((x / width) ** 2)), []
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((height * shape - y) ** 2)
            gradients = tape.gradient(loss, [width, height], unconnected_gradients="zero")
            width.assign_sub(rate * gradients[0])
            height.assign_sub(rate * gradients[1])
            losses.append(float(loss))
        return losses

    assert evaluate(load("mend_program_3"), as_it_stands).misconceptions == ("computed-before",)


def test_a_width_that_becomes_a_tensor_is_named():
    def rebound(width, height, x, y, rate, steps):
        losses = []
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((height * tf.exp(-((x / width) ** 2)) - y) ** 2)
            gradients = tape.gradient(loss, [width, height], unconnected_gradients="zero")
            width = width - rate * gradients[0]
            height.assign_sub(rate * gradients[1])
            losses.append(float(loss))
        return losses

    assert evaluate(load("mend_program_3"), rebound).misconceptions == ("width-rebound",)
