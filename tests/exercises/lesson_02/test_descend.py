"""descend: right answers written in other ways, and a parabola whose every step is known."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_02.descend import descend
from gradlab.exercises.notebook import evaluate


def with_an_optimizer(loss, w, rate, steps):
    optimizer = keras.optimizers.SGD(rate)
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        optimizer.apply_gradients([(tape.gradient(value, w), w)])
        losses.append(value)
    return losses


def assigning_the_difference(loss, w, rate, steps):
    losses = np.zeros(steps)
    for step in range(steps):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(w)
            losses[step] = value = loss(w)
        w.assign(w - tf.constant(rate) * tape.gradient(value, [w])[0])
    return losses


def on_a_copy_and_back(loss, w, rate, steps):
    point, losses = tf.identity(w), []
    while len(losses) < steps:
        with tf.GradientTape() as tape:
            tape.watch(point)
            losses.append(loss(point))
        point = point - rate * tape.gradient(losses[-1], point)
    w.assign(point)
    return tf.stack(losses)


def by_recursion(loss, w, rate, steps):
    if steps == 0:
        return []
    with tf.GradientTape() as tape:
        value = loss(w)
    w.assign_add(-rate * tape.gradient(value, w))
    return [value.numpy(), *by_recursion(loss, w, rate, steps - 1)]


RIGHT = [with_an_optimizer, assigning_the_difference, on_a_copy_and_back, by_recursion]


def test_each_step_on_a_parabola_multiplies_the_distance_by_one_factor():
    w = tf.Variable(5.0)
    losses = descend(lambda w: (w - 2) ** 2, w, 0.1, 4)
    assert losses == pytest.approx([9 * 0.64**step for step in range(4)], rel=1e-5)
    assert float(w) == pytest.approx(2 + 3 * 0.8**4, rel=1e-6)


def rebound_and_watched(loss, w, rate, steps):
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(w)
            value = loss(w)
        w = w - rate * tape.gradient(value, w)
        losses.append(float(value))
    return losses


def rebound_and_returned(loss, w, rate, steps):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        w = w - rate * tape.gradient(value, w)
    return w


def made_anew(loss, w, rate, steps):
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        w = tf.Variable(w - rate * tape.gradient(value, w))
        losses.append(float(value))
    return losses


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [(rebound_and_watched, "copy-moves"), (rebound_and_returned, "rebound"), (made_anew, "copy-moves")],
)
def test_every_way_of_rebinding_the_name_is_called_that(answer, mistake):
    verdict = evaluate(load("descend"), answer)
    assert verdict.outcome == "wrong"
    assert verdict.misconceptions[0] == mistake


def test_an_answer_that_cannot_take_one_step_is_shown_its_own_exception():
    def typo(loss, w, rate, steps):
        return None * rate

    assert "TypeError" in evaluate(load("descend"), typo).message


def test_a_list_of_positions_and_of_the_variable_itself_are_refused():
    def positions(loss, w, rate, steps):
        found = []
        for _ in range(steps):
            found.append(w.numpy().copy())
            descend(loss, w, rate, 1)
        return found

    def the_variable_each_time(loss, w, rate, steps):
        seen = []
        for _ in range(steps):
            descend(loss, w, rate, 1)
            seen.append(w)
        return [loss(variable) for variable in seen]

    assert evaluate(load("descend"), positions).outcome == "wrong"
    assert evaluate(load("descend"), the_variable_each_time).outcome == "wrong"
