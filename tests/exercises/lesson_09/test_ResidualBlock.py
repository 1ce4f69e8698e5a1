"""ResidualBlock: right answers written in other ways, and blocks known in closed form."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_09.ResidualBlock import ResidualBlock
from gradlab.exercises.notebook import evaluate


class MadeInBuild(keras.layers.Layer):
    """Everything is made, and built, once the width is known."""

    def __init__(self, units, scale=1.0, **options):
        super().__init__(**options)
        self.units, self.factor = units, scale

    def build(self, shape):
        he = keras.initializers.HeNormal()
        layers = [keras.layers.Dense(self.units, "relu", kernel_initializer=he)]
        layers.append(keras.layers.Dense(self.units, kernel_initializer=keras.initializers.HeNormal()))
        self.branch = keras.Sequential([keras.Input((shape[-1],)), *layers])
        fits = shape[-1] == self.units
        self.skip = keras.layers.Identity() if fits else keras.layers.Dense(self.units, use_bias=False)
        self.skip.build(shape)

    def call(self, inputs):
        return keras.layers.Add()([self.skip(inputs), keras.ops.multiply(self.branch(inputs), self.factor)])


class OwnMatrix(keras.layers.Layer):
    """The projection is a weight of the block's own; ReLU is a layer; He by a variance scaling."""

    def __init__(self, units, scale=1):
        super().__init__()
        self.units = int(units)
        self.scale = tf.constant(scale, tf.float32)

        def dense():
            he = keras.initializers.VarianceScaling(2.0, "fan_in", "uniform")
            return keras.layers.Dense(units, kernel_initializer=he)

        self.branch = keras.Sequential([dense(), keras.layers.ReLU(), dense()])

    def build(self, input_shape):
        self.branch.build(input_shape)
        if input_shape[-1] != self.units:
            self.matrix = self.add_weight(shape=(input_shape[-1], self.units), initializer="glorot_uniform")

    def call(self, x, training=None):
        change = self.scale * self.branch(x, training=training)
        return change + (tf.matmul(x, self.matrix) if hasattr(self, "matrix") else x)


class Lazy(keras.layers.Layer):
    """Builds only the projection; Keras builds the branch when it is called."""

    def __init__(self, units, scale=1.0):
        super().__init__()
        self.first = keras.layers.Dense(units, activation=tf.nn.relu, kernel_initializer="HeNormal")
        self.second = keras.layers.Dense(units, activation="linear", kernel_initializer="he_normal")
        self.branch = keras.Sequential([self.first, self.second])
        self.width, self.scale, self.skip = units, scale, lambda x: x

    def build(self, input_shape):
        if self.width != input_shape[-1]:
            self.skip = keras.layers.Dense(self.width, use_bias=False)

    def call(self, x):
        return tf.add(self.skip(x), self.scale * self.second(self.first(x)))


RIGHT = [MadeInBuild, OwnMatrix, Lazy]


def test_a_block_of_width_1_with_known_weights():
    block = ResidualBlock(1, scale=0.5)
    x = np.array([[2.0]], np.float32)
    block(x)
    block.branch.set_weights([np.array([[1.0]]), np.array([0.0]), np.array([[1.0]]), np.array([1.0])])
    assert float(block(x)[0, 0]) == pytest.approx(3.5)


def test_the_gradient_passes_a_block_whose_branch_is_switched_off():
    x = tf.constant(np.random.default_rng(0).normal(size=(3, 5)), tf.float32)
    block = ResidualBlock(5, scale=0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(block(x))
    np.testing.assert_array_equal(tape.gradient(total, x), np.ones((3, 5)))


def test_a_projection_is_made_only_where_the_width_changes():
    x = np.zeros((2, 5), np.float32)
    counts = []
    for units in (5, 6):
        block = ResidualBlock(units)
        assert block(x).shape == (2, units)
        counts.append(len(block.trainable_variables))
    assert counts == [4, 5]


class BiasOnProjection(ResidualBlock):
    def build(self, input_shape):
        if input_shape[-1] != self.units:
            self.projection = keras.layers.Dense(self.units)


class CutsOrPads(ResidualBlock):
    """Fills up with zeros, or cuts off, where the widths differ."""

    def build(self, input_shape):
        self.missing = max(0, self.units - input_shape[-1])

    def call(self, x):
        return tf.pad(x, [[0, 0], [0, self.missing]])[:, : self.units] + self.scale * self.branch(x)


class FrozenProjection(ResidualBlock):
    def build(self, input_shape):
        if input_shape[-1] != self.units:
            self.projection = keras.layers.Dense(self.units, use_bias=False, trainable=False)


class HeUnderRoot(ResidualBlock):
    """Gives the variance as the standard deviation."""

    def __init__(self, units, scale=1.0):
        super().__init__(units, scale)
        small = keras.initializers.RandomNormal(stddev=2 / units)
        self.branch = keras.Sequential(
            [
                keras.layers.Dense(units, "relu", kernel_initializer=small),
                keras.layers.Dense(units, kernel_initializer=small),
            ]
        )


class NormalizedBranch(ResidualBlock):
    """Divides x by its spread before the branch."""

    def call(self, x):
        skip = x if self.projection is None else self.projection(x)
        return skip + self.scale * self.branch(x / (1e-6 + tf.math.reduce_std(x, axis=-1, keepdims=True)))


class OneLayer(ResidualBlock):
    def __init__(self, units, scale=1.0):
        super().__init__(units, scale)
        self.branch = keras.Sequential([keras.layers.Dense(units, "relu", kernel_initializer="he_normal")])


class Concatenates(ResidualBlock):
    def call(self, x):
        return tf.concat([x, self.scale * self.branch(x)], axis=-1)


WRONG = [BiasOnProjection, CutsOrPads, FrozenProjection, HeUnderRoot, NormalizedBranch, OneLayer, Concatenates]


@pytest.mark.parametrize("answer", WRONG)
def test_other_wrong_blocks_are_refused(answer):
    assert evaluate(load("ResidualBlock"), answer).outcome in ("wrong", "error")


def test_two_mistakes_at_once_are_both_named():
    class NoScaleAndActivation(ResidualBlock):
        def __init__(self, units, scale=1.0):
            super().__init__(units, scale)
            self.branch = keras.Sequential(
                [keras.layers.Dense(units, "relu"), keras.layers.Dense(units, kernel_initializer="glorot_uniform")]
            )

        def call(self, x):
            skip = x if self.projection is None else self.projection(x)
            return skip + self.branch(x)

    found = evaluate(load("ResidualBlock"), NoScaleAndActivation)
    assert set(found.misconceptions) == {"scale-ignored", "another-initializer"}
