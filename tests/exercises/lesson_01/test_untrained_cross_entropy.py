"""untrained_cross_entropy: right answers written in other ways, and Keras's own loss of equal scores."""

import math

import numpy as np
import pytest

from gradlab.exercises.lesson_01.untrained_cross_entropy import exercise, untrained_cross_entropy
from gradlab.exercises.notebook import evaluate


def logarithm_of_the_number(classes):
    return math.log(classes)


def with_tensorflow(classes):
    import tensorflow as tf

    return -tf.math.log(tf.constant(1.0) / classes)


def from_the_other_base(classes):
    return np.float32(np.log2(classes) * np.log(2))


def as_an_average_over_the_classes(classes):
    probabilities = np.full(classes, 1 / classes)
    return float(-(probabilities * np.log(probabilities)).sum())


def with_keras(classes):
    import keras
    import tensorflow as tf

    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(tf.constant([0]), tf.zeros((1, classes)))


RIGHT = [
    logarithm_of_the_number,
    with_tensorflow,
    from_the_other_base,
    as_an_average_over_the_classes,
    with_keras,
]


@pytest.mark.parametrize("classes", [2, 4, 10, 1_000])
def test_its_exponential_is_the_number_of_classes(classes):
    assert math.exp(untrained_cross_entropy(classes)) == pytest.approx(classes)


@pytest.mark.parametrize("classes", [2, 10, 37])
def test_keras_agrees_on_equal_scores(classes):
    assert untrained_cross_entropy(classes) == pytest.approx(float(with_keras(classes)), rel=1e-6)


@pytest.mark.parametrize("answer", [lambda classes: np.exp(-1 / classes), lambda classes: np.log(classes - 1)])
def test_a_number_that_comes_near_a_mistake_only_for_many_classes_is_not_named_for_it(answer):
    assert evaluate(exercise, answer).misconceptions == ()
