"""clip_gradients: held to TensorFlow's own function and to Keras's argument on a thousand random lists."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_10.clip_gradients import clip_gradients
from gradlab.exercises.notebook import evaluate


def tensorflows_own(gradients, max_norm):
    return tf.clip_by_global_norm(gradients, max_norm)[0]


def with_numpy(gradients, max_norm):
    arrays = [None if g is None else np.asarray(tf.convert_to_tensor(g)) for g in gradients]
    norm = np.linalg.norm(np.concatenate([a.ravel() for a in arrays if a is not None]))
    if not np.isfinite(norm):
        raise ValueError("a gradient is not finite")
    return [None if a is None else a * min(1.0, max_norm / norm) for a in arrays]


def with_the_global_norm(gradients, max_norm):
    norm = tf.linalg.global_norm(gradients)
    if not np.isfinite(norm.numpy()):
        return [None if g is None else tf.convert_to_tensor(g) * np.nan for g in gradients]
    if norm <= max_norm:
        return gradients
    clipped = []
    for gradient in gradients:
        if gradient is None:
            clipped.append(None)
        elif isinstance(gradient, tf.IndexedSlices):
            values = gradient.values / norm * max_norm
            clipped.append(tf.IndexedSlices(values, gradient.indices, gradient.dense_shape))
        else:
            clipped.append(gradient / norm * max_norm)
    return tuple(clipped)


def in_float64(gradients, max_norm):
    wide = [None if g is None else tf.cast(tf.convert_to_tensor(g), tf.float64) for g in gradients]
    norm = float(sum(float(tf.reduce_sum(g * g)) for g in wide if g is not None)) ** 0.5
    tf.debugging.assert_all_finite(norm, "a gradient is not finite")
    factor = max_norm / norm if norm > max_norm else 1.0
    return [g if g is None else g * factor for g in wide]


RIGHT = [tensorflows_own, with_numpy, with_the_global_norm, in_float64]

SHAPES = [(4, 3), (3,), (6, 2), (), (2, 1, 3)]
TABLE = 2  # the place whose gradient comes as rows of a table


def draw(rng):
    """A list of gradients with None and IndexedSlices in it, from far below the limit to far above, and a limit."""
    scale, limit = 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-1, 1)
    gradients = []
    for place, shape in enumerate(SHAPES):
        values = tf.constant(scale * rng.normal(size=shape), tf.float32)
        if place == TABLE and rng.random() < 0.5:
            rows = rng.choice(shape[0], rng.integers(1, shape[0]), replace=False)
            values = tf.IndexedSlices(tf.gather(values, rows), tf.constant(rows), tf.constant(shape, tf.int64))
        gradients.append(None if place and rng.random() < 0.2 else values)
    return gradients, limit


def dense(gradients):
    return [None if gradient is None else tf.convert_to_tensor(gradient).numpy() for gradient in gradients]


def assert_equal(ours, theirs):
    assert [a is None for a in ours] == [b is None for b in theirs]
    for a, b in zip(ours, theirs, strict=True):
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=2e-6, atol=0)


def test_it_equals_tensorflow_s_function_on_a_thousand_draws():
    rng = np.random.default_rng(0)
    clipped = 0
    for _ in range(1000):
        gradients, limit = draw(rng)
        clipped += float(tf.linalg.global_norm(gradients)) > limit
        assert_equal(dense(clip_gradients(gradients, limit)), dense(tf.clip_by_global_norm(gradients, limit)[0]))
    assert 300 < clipped < 700, "both cases are tried"


def test_it_equals_keras_s_argument_on_a_thousand_draws():
    """SGD with a rate of 1 moves a variable from 0 to minus the gradient that it was left with."""
    rng = np.random.default_rng(1)
    variables = [keras.Variable(np.zeros(shape, np.float32)) for shape in SHAPES]
    optimizer = keras.optimizers.SGD(1.0, global_clipnorm=1.0)
    for _ in range(1000):
        gradients, limit = draw(rng)
        for variable in variables:
            variable.assign(tf.zeros(variable.shape))
        optimizer.global_clipnorm = limit
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Keras says which variables have no gradient
            optimizer.apply(gradients, variables)
        moved = [None if g is None else -v.numpy() for g, v in zip(gradients, variables, strict=True)]
        assert_equal(dense(clip_gradients(gradients, limit)), moved)


@pytest.mark.parametrize("sick", [np.nan, np.inf, -np.inf])
def test_nothing_looks_healthy_beside_a_sick_gradient(sick):
    result = clip_gradients([tf.constant([1.0, sick]), None, tf.constant([2.0])], 1.0)
    assert result[1] is None
    assert all(np.isnan(part).all() for part in result if part is not None)


def test_zeros_stay_zeros():
    np.testing.assert_array_equal(clip_gradients([tf.zeros(3)], 1.0)[0], np.zeros(3))


def squared_limit(gradients, max_norm):
    return clip_gradients(gradients, max_norm**2)


def last_left_alone(gradients, max_norm):
    return [*clip_gradients(gradients, max_norm)[:-1], gradients[-1]]


def without_its_limit(gradients, max_norm):
    return clip_gradients(gradients, 1.0)


def nan_where_it_was(gradients, max_norm):
    norm = float(tf.linalg.global_norm(gradients))
    return [None if g is None else tf.convert_to_tensor(g) * min(1.0, max_norm / norm) for g in gradients]


@pytest.mark.parametrize("answer", [squared_limit, last_left_alone, without_its_limit, nan_where_it_was])
def test_other_wrong_answers_are_refused(answer):
    assert evaluate(load("clip_gradients"), answer).outcome == "wrong"
