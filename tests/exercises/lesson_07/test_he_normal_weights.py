"""he_normal_weights: right answers written in other ways, Keras among them; and what must be refused."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_07.he_normal_weights import he_normal_weights
from gradlab.exercises.notebook import evaluate


def scaled_afterwards(fan_in, fan_out, rng):
    return (rng.standard_normal((fan_in, fan_out)) * (2 / fan_in) ** 0.5).astype(np.float32)


def by_keras(fan_in, fan_out, rng):
    """Keras truncates, and corrects for it."""
    return keras.initializers.HeNormal(seed=int(rng.integers(2**31)))((fan_in, fan_out))


def by_tensorflow(fan_in, fan_out, rng):
    seed = rng.integers(2**31, size=2)
    return tf.random.stateless_normal((fan_in, fan_out), seed=seed, stddev=tf.sqrt(2.0 / fan_in))


def truncated_at_three(fan_in, fan_out, rng):
    values = rng.standard_normal((fan_in, fan_out))
    while (far := np.abs(values) > 3).any():
        values[far] = rng.standard_normal(far.sum())
    return values * np.sqrt(2 / fan_in) / 0.98658


def column_by_column(fan_in, fan_out, rng):
    return np.stack([rng.normal(scale=np.sqrt(2 / fan_in), size=fan_in) for _ in range(fan_out)], axis=1)


def as_lists(fan_in, fan_out, rng):
    scale = (2 / fan_in) ** 0.5
    return [[scale * value for value in row] for row in rng.standard_normal((fan_in, fan_out)).tolist()]


RIGHT = [scaled_afterwards, by_keras, by_tensorflow, truncated_at_three, column_by_column, as_lists]


def test_the_variance_is_that_of_keras():
    ours = he_normal_weights(400, 500, np.random.default_rng(0))
    theirs = np.asarray(keras.initializers.HeNormal(seed=0)((400, 500)))
    assert ours.std() == pytest.approx(theirs.std(), rel=0.01)


@pytest.mark.parametrize("seed", range(40))
def test_no_right_answer_is_refused_by_chance(seed):
    for answer in (scaled_afterwards, by_keras):
        assert evaluate(load("he_normal_weights"), answer, seed).outcome == "correct"


def laplace(fan_in, fan_out, rng):
    return rng.laplace(0.0, np.sqrt(1 / fan_in), size=(fan_in, fan_out))


def signs(fan_in, fan_out, rng):
    return np.sqrt(2 / fan_in) * rng.choice([-1.0, 1.0], size=(fan_in, fan_out))


def by_the_larger_fan(fan_in, fan_out, rng):
    return rng.normal(0.0, np.sqrt(2 / max(fan_in, fan_out)), size=(fan_in, fan_out))


def shifted(fan_in, fan_out, rng):
    return rng.normal(0.05 * np.sqrt(2 / fan_in), np.sqrt(2 / fan_in), size=(fan_in, fan_out))


@pytest.mark.parametrize("answer", [laplace, signs, by_the_larger_fan, shifted])
def test_other_distributions_are_refused(answer):
    assert evaluate(load("he_normal_weights"), answer).outcome == "wrong"


def from_numpy_s_global_generator(fan_in, fan_out, rng):
    return np.random.normal(0.0, np.sqrt(2 / fan_in), size=(fan_in, fan_out))  # noqa: NPY002


def from_keras_without_a_seed(fan_in, fan_out, rng):
    return keras.initializers.HeNormal()((fan_in, fan_out))


def from_tensorflow_s_global_generator(fan_in, fan_out, rng):
    return tf.random.normal((fan_in, fan_out), stddev=(2 / fan_in) ** 0.5)


@pytest.mark.parametrize(
    "answer", [from_numpy_s_global_generator, from_keras_without_a_seed, from_tensorflow_s_global_generator]
)
def test_other_sources_of_chance_are_told_so(answer):
    assert evaluate(load("he_normal_weights"), answer).misconceptions == ("not-from-rng",)


def test_a_flat_array_and_whole_numbers_are_refused_with_a_message():
    def flat(fan_in, fan_out, rng):
        return rng.normal(0.0, np.sqrt(2 / fan_in), size=fan_in * fan_out)

    def whole(fan_in, fan_out, rng):
        return rng.integers(-1, 2, size=(fan_in, fan_out))

    for answer in (flat, whole):
        verdict = evaluate(load("he_normal_weights"), answer)
        assert verdict.outcome == "wrong"
        assert len(verdict.message) > 20
