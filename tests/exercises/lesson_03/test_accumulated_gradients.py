"""accumulated_gradients: right answers written in other ways, and equality with one big batch."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_03.accumulated_gradients import accumulated_gradients
from gradlab.exercises.notebook import evaluate


def share_inside_the_tape(model, loss_fn, batches):
    examples = sum(x.shape[0] for x, _ in batches)
    sums = None
    for x, y in batches:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x)) * (x.shape[0] / examples)
        gradients = tape.gradient(loss, model.trainable_variables)
        sums = gradients if sums is None else [a + b for a, b in zip(sums, gradients, strict=True)]
    return sums


def numpy_average(model, loss_fn, batches):
    rows = []
    for x, y in batches:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=False))
        rows.append([g.numpy() for g in tape.gradient(loss, model.trainable_variables)])
    sizes = [len(y) for _, y in batches]
    return tuple(np.average(np.stack(column), axis=0, weights=sizes) for column in zip(*rows, strict=True))


def running_mean(model, loss_fn, batches):
    mean, seen = [np.zeros(v.shape) for v in model.trainable_variables], 0
    for x, y in batches:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(tf.constant(x)))
        seen += len(x)
        mean = [
            m + (g.numpy().astype(np.float64) - m) * len(x) / seen
            for m, g in zip(mean, tape.gradient(loss, model.trainable_variables), strict=True)
        ]
    return mean


def example_by_example(model, loss_fn, batches):
    sums, seen = [tf.Variable(tf.zeros(v.shape)) for v in model.trainable_variables], 0
    for x, y in batches:
        for row, target in zip(x, y, strict=True):
            with tf.GradientTape() as tape:
                loss = loss_fn(target[None], model(row[None]))
            for total, gradient in zip(sums, tape.gradient(loss, model.trainable_variables), strict=True):
                total.assign_add(gradient)
            seen += 1
    return [total / seen for total in sums]


RIGHT = [share_inside_the_tape, numpy_average, running_mean, example_by_example]


def digits_model():
    keras.utils.set_random_seed(1)
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(3)])


@pytest.mark.parametrize("sizes", [(20,), (10, 10), (7, 7, 6), (1, 19), (12, 5, 2, 1)])
def test_pieces_give_the_gradient_of_one_big_batch(sizes):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 6)).astype(np.float32), rng.integers(0, 3, 20)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model = digits_model()
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    expected = tape.gradient(loss, model.trainable_variables)
    ends = np.cumsum(sizes)
    batches = [(x[end - size : end], y[end - size : end]) for end, size in zip(ends, sizes, strict=True)]
    for mine, right in zip(accumulated_gradients(model, loss_fn, batches), expected, strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-4, atol=1e-6)


def test_the_example_of_the_docstring():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    batches = [
        (np.full((3, 1), 2.0, np.float32), np.zeros((3, 1))),
        (np.full((1, 1), 6.0, np.float32), np.zeros((1, 1))),
    ]
    [gradient] = accumulated_gradients(model, lambda y, p: tf.reduce_mean(p), batches)
    assert gradient.numpy().item() == pytest.approx(3.0)


def weighted_by_square_of_size(model, loss_fn, batches):
    weights = [len(x) ** 2 for x, _ in batches]
    rows = [accumulated_gradients(model, loss_fn, [batch]) for batch in batches]
    return [
        sum(w * g for w, g in zip(weights, column, strict=True)) / sum(weights) for column in zip(*rows, strict=True)
    ]


def largest_batch_only(model, loss_fn, batches):
    return accumulated_gradients(model, loss_fn, [max(batches, key=lambda batch: len(batch[0]))])


def frozen_ones_too(model, loss_fn, batches):
    gradients = accumulated_gradients(model, loss_fn, batches)
    return [*gradients[:2], np.zeros((4, 5), np.float32), np.zeros(5, np.float32), *gradients[2:]]


def swapped_arguments(model, loss_fn, batches):
    return accumulated_gradients(model, lambda t, p: loss_fn(p, t), batches)


def descends_on_the_way(model, loss_fn, batches):
    gradients = accumulated_gradients(model, loss_fn, batches)
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        variable.assign_sub(0.1 * gradient)
    return gradients


def means_of_scaled(model, loss_fn, batches):
    steps = len(batches)
    return [g / steps for g in accumulated_gradients(model, loss_fn, batches)]


def size_of_the_first_for_all(model, loss_fn, batches):
    rows = [accumulated_gradients(model, loss_fn, [batch]) for batch in batches]
    total = sum(len(x) for x, _ in batches)
    return [sum(column) * len(batches[0][0]) / total for column in zip(*rows, strict=True)]


WRONG = [
    weighted_by_square_of_size,
    largest_batch_only,
    frozen_ones_too,
    swapped_arguments,
    descends_on_the_way,
    means_of_scaled,
    size_of_the_first_for_all,
]


@pytest.mark.parametrize("answer", WRONG, ids=lambda answer: answer.__name__)
def test_other_wrong_gradients_are_refused(answer):
    assert evaluate(load("accumulated_gradients"), answer).outcome == "wrong"
