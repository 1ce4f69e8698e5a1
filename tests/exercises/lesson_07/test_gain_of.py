"""gain_of: right answers written in other ways, and gains known in closed form."""

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_07.gain_of import gain_of
from gradlab.exercises.notebook import evaluate


def in_tensorflow(activation):
    out = activation(tf.random.stateless_normal((200_000,), seed=(3, 4)))
    return tf.math.rsqrt(tf.reduce_mean(tf.square(out)))


def by_an_integral(activation):
    """The mean over a fine grid, weighted by the normal density."""
    z = np.linspace(-8, 8, 4001)
    density = np.exp(-(z**2) / 2)
    return np.sqrt(density.sum() / np.sum(density * np.asarray(activation(z)) ** 2))


def by_gauss_hermite(activation):
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    return float(np.sqrt(weights.sum() / np.sum(weights * np.asarray(activation(nodes.astype(np.float32))) ** 2)))


def as_a_matrix_from_the_global_generator(activation):
    out = np.asarray(activation(np.random.randn(1000, 300)))  # noqa: NPY002
    return np.sqrt(out.size) / np.linalg.norm(out)


def variance_and_mean_together(activation):
    out = np.asarray(activation(np.random.default_rng(9).normal(size=400_000).astype("float32")), dtype="float64")
    return (out.var() + out.mean() ** 2) ** -0.5


RIGHT = [
    in_tensorflow,
    by_an_integral,
    by_gauss_hermite,
    as_a_matrix_from_the_global_generator,
    variance_and_mean_together,
]


@pytest.mark.parametrize(
    ("activation", "gain"),
    [(tf.nn.relu, 2**0.5), (tf.abs, 1.0), (tf.cos, ((1 + np.exp(-2)) / 2) ** -0.5), (tf.square, 3**-0.5)],
)
def test_gains_in_closed_form(activation, gain):
    assert gain_of(activation) == pytest.approx(gain, rel=0.01)


def test_sigmoid_s_gain_is_that_of_the_syllabus():
    assert gain_of(tf.sigmoid) == pytest.approx(1.85, abs=0.01)


def test_a_table_of_known_activations_is_refused():
    known = {"relu": 2**0.5, "sigmoid": 1.846, "tanh": 1.593}
    verdict = evaluate(load("gain_of"), lambda activation: known.get(activation.__name__, 1.0))
    assert verdict.outcome == "wrong"


@pytest.mark.parametrize("seed", range(30))
def test_two_hundred_thousand_draws_are_enough(seed):
    def with_other_numbers(activation):
        out = np.asarray(activation(np.random.default_rng(1000 + seed).standard_normal(200_000)))
        return 1 / np.sqrt(np.mean(out**2))

    assert evaluate(load("gain_of"), with_other_numbers).outcome == "correct"
