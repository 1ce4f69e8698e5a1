"""residuals: right answers written in other ways, for every pair of shapes."""

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.lesson_00.residuals import residuals


def with_tensorflow(predictions, targets):
    return tf.reshape(targets, [-1]) - tf.reshape(predictions, [-1])


def with_a_loop(predictions, targets):
    def flat(values):
        return [float(np.ravel(value)[0]) for value in values]

    return [target - prediction for prediction, target in zip(flat(predictions), flat(targets), strict=True)]


def in_single_precision(predictions, targets):
    return np.float32(targets).ravel() - np.float32(predictions).flatten()


RIGHT = [with_tensorflow, with_a_loop, in_single_precision]


@pytest.mark.parametrize("shape_of_predictions", [(3,), (3, 1)])
@pytest.mark.parametrize("shape_of_targets", [(3,), (3, 1)])
def test_the_shape_is_flat_whatever_comes(shape_of_predictions, shape_of_targets):
    predictions = np.reshape([1.0, 2.0, 3.0], shape_of_predictions)
    targets = np.reshape([1.5, 2.0, 2.0], shape_of_targets)
    np.testing.assert_allclose(residuals(predictions, targets), [0.5, 0.0, -1.0])
