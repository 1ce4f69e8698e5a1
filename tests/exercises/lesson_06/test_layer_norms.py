"""layer_norms: right answers written in other ways, and the norms of a real tape."""

import math

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_06.layer_norms import layer_norms
from gradlab.exercises.notebook import evaluate


def with_numpy(gradients):
    return [None if g is None else np.linalg.norm(tf.convert_to_tensor(g).numpy()) for g in gradients]


def tensors_in_a_tuple(gradients):
    return tuple(g if g is None else tf.sqrt(tf.reduce_sum(tf.convert_to_tensor(g) ** 2)) for g in gradients)


def with_global_norm(gradients):
    return [None if g is None else tf.linalg.global_norm([tf.convert_to_tensor(g)]).numpy() for g in gradients]


def in_plain_python(gradients):
    def length(gradient):
        if isinstance(gradient, tf.IndexedSlices):
            rows = {}
            for index, row in zip(gradient.indices.numpy().tolist(), gradient.values.numpy(), strict=True):
                rows[index] = rows.get(index, 0) + row.astype(np.float64)
            numbers = [number for row in rows.values() for number in row]
        else:
            numbers = np.ravel(gradient).tolist()
        return math.sqrt(sum(number * number for number in numbers))

    return [length(g) if g is not None else None for g in gradients]


def double_precision_dict_order(gradients):
    found = {}
    for place, gradient in enumerate(gradients):
        found[place] = None
        if gradient is not None:
            found[place] = tf.norm(tf.cast(tf.convert_to_tensor(gradient), tf.float64))
    return list(found.values())


RIGHT = [with_numpy, tensors_in_a_tuple, with_global_norm, in_plain_python, double_precision_dict_order]


def test_the_example_of_the_docstring():
    assert layer_norms([tf.constant([[3.0, 0.0], [0.0, -4.0]]), None, tf.constant(-2.0)]) == [5.0, None, 2.0]


def test_what_a_tape_returns():
    table, scale, unused = tf.Variable(tf.ones((4, 2))), tf.Variable(3.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(scale * tf.gather(table, [1, 1, 3]))
    gradients = tape.gradient(loss, [table, scale, unused])
    assert isinstance(gradients[0], tf.IndexedSlices)
    # row 1 was read twice: gradient 6 in each of its two places, row 3 has 3
    assert layer_norms(gradients) == [pytest.approx(math.sqrt(2 * 36 + 2 * 9)), pytest.approx(6.0), None]


def none_is_nan(gradients):
    return [float("nan") if norm is None else norm for norm in layer_norms(gradients)]


def last_axis_only(gradients):
    return [None if g is None else tf.norm(tf.convert_to_tensor(g), axis=-1) for g in gradients[:]]


def none_as_text(gradients):
    return ["None" if norm is None else norm for norm in layer_norms(gradients)]


def sorted_norms(gradients):
    norms = layer_norms(gradients)
    return norms if None in norms else sorted(norms)


def last_part_of_a_row(gradients):
    def whole(gradient):
        if not isinstance(gradient, tf.IndexedSlices):
            return gradient
        table = np.zeros(gradient.dense_shape.numpy(), np.float32)
        table[gradient.indices.numpy()] = gradient.values.numpy()
        return tf.constant(table)

    return layer_norms([whole(g) for g in gradients])


def sum_inside_the_square(gradients):
    return [None if g is None else abs(float(tf.reduce_sum(tf.convert_to_tensor(g)))) for g in gradients]


WRONG = [none_is_nan, none_as_text, sorted_norms, last_part_of_a_row, sum_inside_the_square]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("answer", WRONG, ids=lambda answer: answer.__name__)
def test_other_wrong_answers_are_refused(answer, seed):
    assert evaluate(load("layer_norms"), answer, seed).outcome == "wrong"


def test_norms_along_one_axis_are_refused():
    assert evaluate(load("layer_norms"), last_axis_only).outcome in ("wrong", "error")
