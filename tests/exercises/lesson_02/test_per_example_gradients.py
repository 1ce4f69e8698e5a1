"""per_example_gradients: right answers written in other ways, and a linear model in closed form."""

import keras
import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_02.per_example_gradients import per_example_gradients
from gradlab.exercises.notebook import evaluate


def by_a_jacobian(model, x, y):
    with tf.GradientTape(persistent=True) as tape:
        losses = tf.reduce_mean(tf.square(y - model(x)), axis=-1)
    return tape.jacobian(losses, model.trainable_variables, experimental_use_pfor=False)


def by_a_vectorized_jacobian(model, x, y):
    with tf.GradientTape() as tape:
        losses = keras.losses.mean_squared_error(y, model(x))
    return tuple(tape.jacobian(losses, model.trainable_variables))


def one_persistent_tape(model, x, y):
    variables = model.trainable_weights
    with tf.GradientTape(persistent=True) as tape:
        losses = [tf.reduce_mean((row - target) ** 2) for row, target in zip(model(x), y, strict=True)]
    return [np.array([tape.gradient(loss, variable).numpy() for loss in losses]) for variable in variables]


def summed_with_each_example_chosen(model, x, y):
    collected = []
    for chosen in np.eye(len(x), dtype="float32"):
        with tf.GradientTape() as tape:
            losses = tf.reduce_mean((model(x) - y) ** 2, axis=1)
        collected.append(tape.gradient(losses, model.trainable_variables, output_gradients=tf.constant(chosen)))
    return [np.stack([gradients[k] for gradients in collected]) for k in range(len(collected[0]))]


RIGHT = [by_a_jacobian, by_a_vectorized_jacobian, one_persistent_tape, summed_with_each_example_chosen]


def linear_model(kernel, bias):
    model = keras.Sequential([keras.Input((len(kernel),)), keras.layers.Dense(len(bias))])
    model.set_weights([np.array(kernel), np.array(bias)])
    return model


def test_the_example_of_the_docstring():
    found = per_example_gradients(linear_model([[1.0]], [0.0]), np.array([[1.5], [2.0]]), np.array([[4.5], [2.0]]))
    np.testing.assert_allclose(found[0], [[[-9.0]], [[0.0]]])
    np.testing.assert_allclose(found[1], [[-6.0], [0.0]])


def test_a_linear_model_gives_outer_products_of_input_and_error():
    rng = np.random.default_rng(0)
    kernel, bias, x, y = (rng.normal(size=s).astype("float32") for s in [(3, 2), (2,), (6, 3), (6, 2)])
    error = x @ kernel + bias - y
    kernel_gradients, bias_gradients = per_example_gradients(linear_model(kernel, bias), x, y)
    np.testing.assert_allclose(kernel_gradients, x[:, :, None] * error[:, None, :], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(bias_gradients, error, rtol=1e-4, atol=1e-5)


def test_single_losses_of_outputs_from_before_the_tape_are_named():
    def forward_first(model, x, y):
        predictions, rows = model(x), []
        for i in range(len(x)):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((predictions[i] - y[i]) ** 2)
            rows.append(tape.gradient(loss, model.trainable_variables))
        return [tf.stack(gradients) for gradients in zip(*rows, strict=True)]

    assert evaluate(load("per_example_gradients"), forward_first).misconceptions == ("chosen-outside",)


def test_an_exception_of_another_kind_is_shown_as_it_is():
    def typo(model, x, y):
        raise ValueError("too many values to unpack")

    assert "too many values" in evaluate(load("per_example_gradients"), typo).message


def test_lists_of_gradients_are_read_as_arrays():
    def not_stacked(model, x, y):
        return [list(gradients) for gradients in per_example_gradients(model, x, y)]

    assert evaluate(load("per_example_gradients"), not_stacked).outcome == "correct"


def test_an_axis_lost_with_a_single_example_is_named_for_that():
    def unpacked(model, x, y):
        gradients = per_example_gradients(model, x, y)
        return [gradient[0] for gradient in gradients] if len(x) == 1 else gradients

    assert evaluate(load("per_example_gradients"), unpacked).misconceptions == ("squeezed",)
