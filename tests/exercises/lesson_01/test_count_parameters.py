"""count_parameters: right answers written in other ways, and Keras's own count."""

import numpy as np
import pytest

from gradlab.exercises.lesson_01.count_parameters import count_parameters


def with_one_more_input(layer_sizes):
    """A bias is the weight of one more input that is always 1."""
    return sum((layer_sizes[i] + 1) * layer_sizes[i + 1] for i in range(len(layer_sizes) - 1))


def with_numpy(layer_sizes):
    sizes = np.array(layer_sizes)
    return np.dot(sizes[:-1], sizes[1:]) + sizes[1:].sum()


def backwards_with_floats(layer_sizes):
    total, rest = 0.0, list(layer_sizes)
    while len(rest) > 1:
        units = rest.pop()
        total = total + units * (1.0 + rest[-1])
    return total


def by_building_it(layer_sizes):
    import keras

    model = keras.Sequential([keras.Input((layer_sizes[0],))] + [keras.layers.Dense(n) for n in layer_sizes[1:]])
    return model.count_params()


def from_shapes_in_tensorflow(layer_sizes):
    import tensorflow as tf

    sizes = tf.constant(layer_sizes)
    return tf.reduce_sum(sizes[:-1] * sizes[1:]) + tf.reduce_sum(sizes[1:])


RIGHT = [with_one_more_input, with_numpy, backwards_with_floats, by_building_it, from_shapes_in_tensorflow]


@pytest.mark.parametrize("layer_sizes", [[3, 2], [64, 48, 10], [1, 1], [784, 128, 10], [5, 5, 5, 5]])
def test_keras_counts_the_same(layer_sizes):
    assert count_parameters(layer_sizes) == by_building_it(layer_sizes)


def test_the_example_of_the_task():
    assert count_parameters([3, 2]) == 8
