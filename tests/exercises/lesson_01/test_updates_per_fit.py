"""updates_per_fit: right answers written in other ways, and the optimizer's own count after fit."""

import math

import numpy as np
import pytest

from gradlab.exercises.lesson_01.updates_per_fit import exercise, updates_per_fit
from gradlab.exercises.notebook import evaluate


def rounded_up(samples, batch_size, epochs):
    return epochs * math.ceil(samples / batch_size)


def floor_of_the_negative(samples, batch_size, epochs):
    return -(samples // -batch_size) * epochs


def by_walking(samples, batch_size, epochs):
    updates = 0
    for _ in range(epochs):
        for _ in range(0, samples, batch_size):
            updates += 1
    return updates


def with_numpy_floats(samples, batch_size, epochs):
    return np.ceil(samples / batch_size) * epochs


def with_a_dataset(samples, batch_size, epochs):
    import tensorflow as tf

    return tf.data.Dataset.range(samples).batch(batch_size).repeat(epochs).cardinality()


RIGHT = [rounded_up, floor_of_the_negative, by_walking, with_numpy_floats, with_a_dataset]


@pytest.mark.parametrize(("samples", "batch_size", "epochs"), [(70, 32, 3), (64, 32, 2), (5, 8, 2), (1, 1, 1)])
def test_the_optimizer_counts_the_same(samples, batch_size, epochs):
    import keras

    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    model.fit(np.zeros((samples, 1)), np.zeros((samples, 1)), batch_size=batch_size, epochs=epochs, verbose=0)
    assert int(model.optimizer.iterations) == updates_per_fit(samples, batch_size, epochs)


def test_the_example_of_the_task():
    assert updates_per_fit(70, 32, 3) == 9


def rounds_halves_to_even(samples, batch_size, epochs):
    """4 for (63, 21, 1): Python rounds 3.5 to 4, but 2.5 to 2."""
    return round(samples / batch_size + 0.5) * epochs


@pytest.mark.parametrize("seed", range(20))
def test_rounding_halves_to_even_is_refused(seed):
    assert evaluate(exercise, rounds_halves_to_even, seed).outcome == "wrong"


def test_the_number_of_epochs_alone_is_not_taken_for_the_batches_of_one_epoch():
    assert evaluate(exercise, lambda samples, batch_size, epochs: epochs).misconceptions == ()
