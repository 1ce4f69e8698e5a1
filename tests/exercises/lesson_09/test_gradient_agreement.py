"""gradient_agreement: right answers written in other ways, and walks whose agreement is known."""

from itertools import pairwise

import numpy as np
import pytest
import tensorflow as tf
from sklearn.metrics import pairwise_distances

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_09.gradient_agreement import gradient_agreement
from gradlab.exercises.notebook import evaluate


def from_numpys_table(gradients):
    return np.diag(np.corrcoef(gradients), k=1).mean()


def in_tensorflow(gradients):
    g = tf.cast(gradients, tf.float32)
    g = g - tf.reduce_mean(g, axis=1, keepdims=True)
    g = tf.math.l2_normalize(g, axis=1, epsilon=0.0)
    return tf.reduce_mean(tf.reduce_sum(g[1:] * g[:-1], axis=1))


def pair_by_pair(gradients):
    rows = np.asarray(gradients, dtype=float).tolist()
    found = []
    for a, b in pairwise(rows):
        mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
        above = sum((p - mean_a) * (q - mean_b) for p, q in zip(a, b, strict=True))
        found.append(above / (sum((p - mean_a) ** 2 for p in a) * sum((q - mean_b) ** 2 for q in b)) ** 0.5)
    return sum(found) / len(found)


def by_scikit_learn(gradients):
    return 1 - np.diag(pairwise_distances(gradients, metric="correlation"), k=1).mean()


RIGHT = [from_numpys_table, in_tensorflow, pair_by_pair, by_scikit_learn]


def test_the_examples_of_the_task():
    assert gradient_agreement([[1, 2, 3], [2, 4, 6], [3, 2, 1]]) == pytest.approx(0.0)
    assert gradient_agreement([[1, 2, 3], [11, 12, 13]]) == pytest.approx(1.0)


def test_white_noise_agrees_with_nothing_and_a_slow_walk_nearly_with_itself():
    rng = np.random.default_rng(0)
    assert abs(gradient_agreement(rng.normal(size=(400, 400)))) < 0.02
    assert gradient_agreement(np.cumsum(rng.normal(size=(400, 400)), axis=0)[100:]) > 0.98


def median_of_pairs(gradients):
    return np.median(np.diag(np.corrcoef(gradients), k=1))


def every_second_pair(gradients):
    return np.diag(np.corrcoef(gradients), k=1)[::2].mean()


def two_apart(gradients):
    return np.diag(np.corrcoef(gradients), k=min(2, len(gradients) - 1)).mean()


def sample_spread(gradients):
    """Divides by n - 1 in the spread and by n in the mean."""
    g = np.asarray(gradients, dtype=float)
    g = (g - g.mean(axis=1, keepdims=True)) / g.std(axis=1, ddof=1, keepdims=True)
    return np.mean(g[1:] * g[:-1])


def ends_joined(gradients):
    table = np.corrcoef(gradients)
    return np.mean([table[i, i - 1] for i in range(len(table))])


@pytest.mark.parametrize("answer", [median_of_pairs, every_second_pair, two_apart, sample_spread, ends_joined])
def test_other_wrong_answers_are_refused(answer):
    assert evaluate(load("gradient_agreement"), answer).outcome == "wrong"
