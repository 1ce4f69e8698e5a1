"""Stand-ins do what the course's answer does, for functions and for classes, and say what they are."""

import inspect

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.standin import StandInUsed, grading, stand_in, stands_in_for


def cube(x: float) -> float:
    """Return x to the third power."""
    return x**3


class Scale(keras.layers.Layer):
    """Multiply by a weight that starts at 3."""

    def build(self, shape):
        self.factor = self.add_weight(shape=(), initializer=keras.initializers.Constant(3.0))

    def call(self, inputs):
        return inputs * self.factor


def test_a_function_works_with_a_tape_and_in_a_graph():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.function(stand_in(cube))(x)
    assert tape.gradient(y, x).numpy() == 12.0


def test_signature_and_docstring_are_the_originals():
    assert inspect.signature(stand_in(cube)) == inspect.signature(cube)
    assert stand_in(cube).__doc__ == cube.__doc__
    assert stand_in(cube).__name__ == "cube"


def test_a_class_makes_layers_that_train():
    layer = stand_in(Scale)
    assert stands_in_for(layer) == "Scale"
    assert "standing in for yours" in repr(layer)
    made = layer()
    assert isinstance(made, Scale)
    np.testing.assert_array_equal(made(np.ones((1, 2))), [[3.0, 3.0]])
    assert len(made.trainable_variables) == 1


def test_a_subclass_of_a_stand_in_is_the_learners():
    class Mine(stand_in(Scale)):
        pass

    assert stands_in_for(Mine) is None


@pytest.mark.parametrize("thing", [cube, Scale, 3, None, "cube", np.zeros(3), Scale()])
def test_other_things_are_no_stand_ins(thing):
    assert stands_in_for(thing) is None


def test_a_stand_in_refuses_to_work_while_its_own_exercise_is_graded():
    with grading("cube"), pytest.raises(StandInUsed):
        stand_in(cube)(2.0)
    with grading("Scale"), pytest.raises(StandInUsed):
        stand_in(Scale)()
    with grading("another"):
        assert stand_in(cube)(2.0) == 8.0
