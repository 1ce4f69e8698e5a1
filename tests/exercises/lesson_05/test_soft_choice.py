"""soft_choice: right answers written in other ways, and the softmax of SciPy."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from scipy import special

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_05.soft_choice import soft_choice
from gradlab.exercises.notebook import evaluate


def with_einsum(images, scores):
    return tf.einsum("n,nhw->hw", keras.ops.softmax(scores), images)


def by_hand(images, scores):
    powers = tf.exp(scores - tf.reduce_max(scores))
    canvas = tf.zeros(images.shape[1:])
    for image, power in zip(tf.unstack(images), tf.unstack(powers), strict=True):
        canvas += power * image
    return canvas / tf.reduce_sum(powers)


def in_double_precision(images, scores):
    shares = tf.nn.softmax(tf.cast(scores, tf.float64))
    return tf.reduce_sum(tf.reshape(shares, (-1, 1, 1)) * tf.cast(images, tf.float64), axis=0)


def as_a_matrix_product(images, scores):
    flat = tf.reshape(images, (len(images), -1))
    shares = tf.exp(tf.nn.log_softmax(scores))
    return tf.reshape(shares[None] @ flat, images.shape[1:])


RIGHT = [with_einsum, by_hand, in_double_precision, as_a_matrix_product]


def test_the_examples_of_the_docstring():
    images = [[[4.0]], [[8.0]]]
    np.testing.assert_allclose(soft_choice(images, tf.constant([0.0, 0.0])), [[6.0]])
    np.testing.assert_allclose(soft_choice(images, tf.constant([0.0, np.log(3)], tf.float32)), [[7.0]], rtol=1e-6)


def test_shares_are_those_of_scipy():
    rng = np.random.default_rng(0)
    images, scores = rng.normal(size=(6, 3, 2)).astype(np.float32), rng.normal(size=6).astype(np.float32)
    expected = np.tensordot(special.softmax(scores), images, axes=1)
    np.testing.assert_allclose(soft_choice(images, tf.constant(scores)), expected, rtol=1e-4, atol=1e-6)


def test_the_slope_in_a_score_is_its_share_times_what_its_image_is_above_the_blend():
    images, scores = tf.constant([[[1.0]], [[5.0]], [[2.0]]]), tf.constant([0.1, -0.4, 0.8])
    with tf.GradientTape() as tape:
        tape.watch(scores)
        blend = soft_choice(images, scores)[0, 0]
    shares, values = special.softmax(scores.numpy()), np.array([1.0, 5.0, 2.0])
    np.testing.assert_allclose(tape.gradient(blend, scores), shares * (values - shares @ values), rtol=1e-4)


def twice_as_sharp(images, scores):
    return soft_choice(images, 2 * scores)


def sorted_scores(images, scores):
    return soft_choice(images, tf.sort(scores))


def clipped_scores(images, scores):
    return soft_choice(images, tf.clip_by_value(scores, -50.0, 50.0))


def choice_held_still(images, scores):
    return soft_choice(images, tf.stop_gradient(scores))


def one_hot(images, scores):
    return tf.tensordot(tf.one_hot(tf.argmax(scores), len(scores)), images, axes=1)


def shares_without_the_images(images, scores):
    return tf.nn.softmax(scores)


def kept_axis(images, scores):
    return tf.reduce_sum(tf.nn.softmax(scores)[:, None, None] * images, axis=0, keepdims=True)


@pytest.mark.parametrize(
    "answer",
    [
        twice_as_sharp,
        sorted_scores,
        clipped_scores,
        choice_held_still,
        one_hot,
        shares_without_the_images,
        kept_axis,
    ],
    ids=lambda answer: answer.__name__,
)
def test_other_wrong_choices_are_refused(answer):
    assert evaluate(load("soft_choice"), answer).outcome == "wrong"


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda images, scores: tf.tensordot(tf.nn.softmax(scores), np.array(images), 1), "images-through-numpy"),
        (lambda images, scores: np.tensordot(special.softmax(np.array(scores)), images, 1), "all-in-numpy"),
        (lambda images, scores: soft_choice(images, scores / 0.1), "temperature"),
    ],
)
def test_numpy_and_a_temperature_are_named(answer, mistake):
    assert evaluate(load("soft_choice"), answer).misconceptions == (mistake,)
