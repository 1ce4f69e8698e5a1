"""identity_at_start: right answers written in other ways, and a block that starts as the identity and learns."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_09.identity_at_start import identity_at_start
from gradlab.exercises.lesson_09.ResidualBlock import ResidualBlock
from gradlab.exercises.notebook import evaluate


def times_zero(block):
    last = block.branch.layers[-1]
    for weight in last.trainable_weights:
        weight.assign(weight * 0.0)
    return block


def with_set_weights(block):
    last = block.branch.layers[-1]
    learned = {variable.path for variable in last.trainable_variables}
    last.set_weights([np.zeros(v.shape) if v.path in learned else v.numpy() for v in last.variables])
    return block


def by_the_kind_of_layer(block):
    *_, last = block.branch.layers
    names = ("gamma", "beta") if isinstance(last, keras.layers.BatchNormalization) else ("kernel", "bias")
    for name in names:
        variable = getattr(last, name)
        variable.assign_sub(variable)
    return block


RIGHT = [times_zero, with_set_weights, by_the_kind_of_layer]


def test_a_block_starts_as_the_identity_and_one_step_makes_it_another_function():
    x = np.random.default_rng(0).normal(size=(8, 6)).astype(np.float32)
    block = ResidualBlock(6)
    block(x)
    assert identity_at_start(block) is block
    np.testing.assert_array_equal(block(x), x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(block(x) ** 2)
    for variable, gradient in zip(
        block.trainable_variables, tape.gradient(loss, block.trainable_variables), strict=True
    ):
        variable.assign_sub(0.01 * gradient)
    assert np.abs(block(x) - x).max() > 0.01


def a_new_block(block):
    return ResidualBlock(3)


def bias_cancels_the_mean(block):
    last = block.branch.layers[-1]
    last.trainable_variables[0].assign(tf.zeros_like(last.trainable_variables[0]))
    last.trainable_variables[1].assign(1e-3 + tf.zeros_like(last.trainable_variables[1]))
    return block


def dense_alone(block):
    for layer in reversed(block.branch.layers):
        if isinstance(layer, keras.layers.Dense):
            layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])
            return block
    return block


def without_return(block):
    identity_at_start(block)


def replaces_the_branch(block):
    block.branch = lambda x, training=False: 0.0
    return block


@pytest.mark.parametrize(
    "answer", [a_new_block, bias_cancels_the_mean, dense_alone, without_return, replaces_the_branch]
)
def test_other_wrong_answers_are_refused(answer):
    assert evaluate(load("identity_at_start"), answer).outcome in ("wrong", "error")
