"""gradient_at: right answers written in other ways, and gradients known in closed form."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_02.gradient_at import gradient_at
from gradlab.exercises.notebook import evaluate


def as_a_variable(f, x):
    x = tf.Variable(x)
    with tf.GradientTape() as tape:
        value = f(x)
    return tape.gradient(value, x).numpy()


def persistent_and_late(f, x):
    tape = tf.GradientTape(persistent=True, watch_accessed_variables=False)
    with tape:
        copied = tf.identity(tf.convert_to_tensor(x))
        tape.watch(copied)
        value = f(copied) * 1.0
    return tape.gradient(value, [copied])[0]


def by_a_jacobian(f, x):
    x = tf.constant(x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x])
        value = f(x)
    return tape.jacobian(value, x, experimental_use_pfor=False)


def with_tf_gradients(f, x):
    @tf.function
    def graph(x):
        return tf.gradients(f(x), x)[0]

    return graph(tf.convert_to_tensor(x))


RIGHT = [as_a_variable, persistent_and_late, by_a_jacobian, with_tf_gradients]


def test_gradient_of_a_quadratic_form():
    rng = np.random.default_rng(0)
    matrix, x = rng.normal(size=(4, 4)), rng.normal(size=4)
    found = gradient_at(lambda x: tf.tensordot(x, tf.linalg.matvec(matrix, x), 1), tf.constant(x))
    np.testing.assert_allclose(found, (matrix + matrix.T) @ x, rtol=1e-12)


def test_an_answer_that_moves_the_variable_is_refused():
    def descends(f, x):
        gradient = gradient_at(f, x)
        if isinstance(x, tf.Variable):
            x.assign_sub(0.1 * gradient)
        return gradient

    verdict = evaluate(load("gradient_at"), descends)
    assert [part for part, passed in verdict.parts.items() if not passed] == ["the variable afterwards"]
