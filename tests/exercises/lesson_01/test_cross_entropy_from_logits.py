"""cross_entropy_from_logits: right answers written in other ways, TensorFlow's own, and values in closed form."""

import math

import numpy as np
import pytest

from gradlab.exercises.lesson_01.cross_entropy_from_logits import cross_entropy_from_logits, exercise
from gradlab.exercises.notebook import evaluate


def log_sum_exp_in_float32(labels, logits):
    """The row's logarithm of sums, minus the score; subtracts two large float32 numbers at the end."""
    import tensorflow as tf

    chosen = tf.gather(logits, labels, axis=1, batch_dims=1)
    return tf.reduce_mean(tf.reduce_logsumexp(logits, axis=1) - chosen)


def with_one_hot(labels, logits):
    import tensorflow as tf

    one_hot = tf.one_hot(labels, tf.shape(logits)[1])
    return -tf.reduce_mean(tf.reduce_sum(one_hot * tf.nn.log_softmax(logits), axis=1))


def with_tensorflow(labels, logits):
    import tensorflow as tf

    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def with_keras(labels, logits):
    import keras

    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, logits)


def with_logaddexp(labels, logits):
    losses = [np.logaddexp.reduce(row) - row[label] for label, row in zip(labels, logits, strict=True)]
    return np.mean(losses)


def in_plain_python(labels, logits):
    total = 0.0
    for label, row in zip(labels, logits, strict=True):
        scores = [float(score) for score in row]
        largest = max(scores)
        total += largest + math.log(sum(math.exp(score - largest) for score in scores)) - scores[int(label)]
    return total / len(labels)


def relative_to_the_label(labels, logits):
    """ln of the sum of exp(score - label's score), with the largest difference taken out."""
    gaps = logits - np.take_along_axis(logits, labels[:, None], axis=1)
    largest = gaps.max(axis=1)
    return (largest + np.log(np.exp(gaps - largest[:, None]).sum(axis=1))).mean()


RIGHT = [
    log_sum_exp_in_float32,
    with_one_hot,
    with_tensorflow,
    with_keras,
    with_logaddexp,
    in_plain_python,
    relative_to_the_label,
]


def test_two_classes_in_closed_form():
    """ln(1 + exp(gap)) for two classes."""
    gap = 0.7
    assert cross_entropy_from_logits([0], [[0.0, gap]]) == pytest.approx(math.log1p(math.exp(gap)))


def test_the_example_of_the_task():
    assert cross_entropy_from_logits([0, 1], [[0.0, 0.0], [2.0, 0.0]]) == pytest.approx(1.410, abs=5e-4)


@pytest.mark.parametrize("classes", [2, 10])
def test_equal_scores_cost_the_logarithm_of_their_number(classes):
    assert cross_entropy_from_logits([1, 0], np.full((2, classes), 7.0)) == pytest.approx(math.log(classes))


def test_a_sure_and_wrong_score_costs_its_distance():
    assert cross_entropy_from_logits([0], [[-1000.0, 1000.0]]) == pytest.approx(2000.0)


def plain_softmax(labels, logits):
    """exp of a large score raises OverflowError in plain Python."""
    total = 0.0
    for label, row in zip(labels, logits, strict=True):
        powers = [math.exp(score) for score in row]
        total -= math.log(powers[label] / sum(powers))
    return total / len(labels)


def plain_softmax_of_shifted_scores(labels, logits):
    """ln of a probability that became 0 raises ValueError in plain Python."""
    shifted = [[score - max(row) for score in row] for row in logits]
    return plain_softmax(labels, shifted)


@pytest.mark.parametrize(
    ("answer", "mistake"), [(plain_softmax, "exp-overflows"), (plain_softmax_of_shifted_scores, "log-of-zero")]
)
def test_a_mistake_that_raises_in_plain_python_is_named_as_in_numpy(answer, mistake):
    assert evaluate(exercise, answer).misconceptions == (mistake,)


def _softmax(logits, shift):
    powers = np.exp(logits - shift)
    return powers / powers.sum(axis=1, keepdims=True)


def _own(labels):
    return np.arange(len(labels)), labels


def softmax_of_everything(labels, logits):
    return -np.log((np.exp(logits) / np.exp(logits).sum())[_own(labels)]).mean()


def first_column_of_a_safe_softmax(labels, logits):
    return -np.log(_softmax(logits, logits.max(axis=1, keepdims=True))[:, 0]).mean()


def all_labels_of_all_rows(labels, logits):
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.mean(np.log(np.exp(shifted).sum(axis=1)) - shifted[:, labels])


def shifted_by_the_mean(labels, logits):
    shifted = logits - logits.mean(axis=1, keepdims=True)
    return np.mean(np.log(np.exp(shifted).sum(axis=1)) - shifted[_own(labels)])


def logarithm_of_a_sum_that_overflows(labels, logits):
    return np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[_own(labels)])


def a_little_added(labels, logits):
    return -np.log(_softmax(logits, logits.max(axis=1, keepdims=True))[_own(labels)] + 1e-12).mean()


def clipped(labels, logits):
    chosen = _softmax(logits, logits.max(axis=1, keepdims=True))[_own(labels)]
    return -np.log(np.clip(chosen, 1e-7, 1 - 1e-7)).mean()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("answer", "mistakes"),
    [
        (softmax_of_everything, {"softmax-over-everything", "exp-overflows"}),
        (first_column_of_a_safe_softmax, {"always-the-first-column"}),
        (all_labels_of_all_rows, {"every-label-for-every-row"}),
        (shifted_by_the_mean, {"row-mean-subtracted"}),
        (logarithm_of_a_sum_that_overflows, {"exp-overflows"}),
        (a_little_added, {"probability-kept-from-zero"}),
        (clipped, {"probability-kept-from-zero"}),
    ],
)
def test_a_mistake_is_named_however_it_is_written(answer, mistakes):
    assert set(evaluate(exercise, answer).misconceptions) == mistakes
