"""train_step: right answers written in other ways, and steps known from a closed form and from fit."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_03.train_step import train_step
from gradlab.exercises.notebook import evaluate


def with_apply(model, loss_fn, optimizer, x, y):
    variables = model.trainable_weights
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        for variable in variables:
            tape.watch(variable.value)
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply(tape.gradient(loss, variables), variables)
    return loss


def loss_by_keyword_and_persistent_tape(model, loss_fn, optimizer, x, y):
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    with tf.GradientTape(persistent=True) as tape:
        loss = loss_fn(y_true=y, y_pred=model(x, training=True))
        total = loss + sum(model.losses)
    pairs = [(tape.gradient(total, v), v) for v in model.trainable_variables]
    del tape
    optimizer.apply_gradients(pairs)
    return tf.identity(loss)


@tf.function
def compiled_by_the_learner(model, loss_fn, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


def with_the_optimizers_own_tape(model, loss_fn, optimizer, x, y):
    def forward():
        return loss_fn(y, model(x, training=True))

    with tf.GradientTape() as tape:
        value = forward()
    optimizer.apply([tape.gradient(value, model.trainable_variables)][0], list(model.trainable_variables))
    return tf.reshape(value, ())


RIGHT = [with_apply, loss_by_keyword_and_persistent_tape, compiled_by_the_learner, with_the_optimizers_own_tape]


def line_model(w):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.set_weights([np.array([[w]], np.float32)])
    return model


def mean_squared_error(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred))


def test_the_example_of_the_docstring():
    model, one = line_model(3.0), np.array([[1.0]], np.float32)
    loss = train_step(model, mean_squared_error, keras.optimizers.SGD(0.1), one, one)
    assert float(loss) == pytest.approx(4.0)
    assert model.get_weights()[0].item() == pytest.approx(2.6)


def test_plain_descent_on_a_line_follows_the_closed_form():
    x, w, rate = np.array([[1.0], [2.0]], np.float32), 3.0, 0.1
    model, optimizer = line_model(w), keras.optimizers.SGD(rate)
    for _ in range(5):
        train_step(model, mean_squared_error, optimizer, x, 0.5 * x)
    factor = 1 - 2 * rate * float(np.mean(x**2))
    assert model.get_weights()[0].item() == pytest.approx(0.5 + (w - 0.5) * factor**5, rel=1e-5)


def test_the_steps_are_those_of_fit_with_dropout_and_batch_normalization():
    x = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    y = np.arange(10) % 2
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def build():
        keras.utils.set_random_seed(5)
        layers = [keras.layers.Dense(8, use_bias=False), keras.layers.BatchNormalization(), keras.layers.Dropout(0.5)]
        return keras.Sequential([keras.Input((3,)), *layers, keras.layers.Dense(2)]), keras.optimizers.Adam(0.01)

    fitted, optimizer = build()
    fitted.compile(optimizer, loss_fn)
    fitted.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    own, optimizer = build()
    for _ in range(2):
        for start in range(0, 10, 4):
            train_step(own, loss_fn, optimizer, x[start : start + 4], y[start : start + 4])
    for mine, theirs in zip(own.get_weights(), fitted.get_weights(), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)


def optimizer_made_anew(model, loss_fn, optimizer, x, y):
    fresh = type(optimizer).from_config(optimizer.get_config())
    return train_step(model, loss_fn, fresh, x, y)


def applied_twice(model, loss_fn, optimizer, x, y):
    loss = train_step(model, loss_fn, optimizer, x, y)
    train_step(model, loss_fn, optimizer, x, y)
    return loss


def forward_twice(model, loss_fn, optimizer, x, y):
    loss = loss_fn(y, model(x, training=True))
    train_step(model, loss_fn, optimizer, x, y)
    return loss


def one_variable_at_a_time(model, loss_fn, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    for gradient, variable in zip(
        tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True
    ):
        optimizer.apply([gradient], [variable])
    return loss


def summed_loss(model, loss_fn, optimizer, x, y):
    return train_step(model, lambda t, p: loss_fn(t, p) * len(x), optimizer, x, y)


def kernels_only(model, loss_fn, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    variables = [v for v in model.trainable_variables if v.name == "kernel"]
    optimizer.apply(tape.gradient(loss, variables), variables)
    return loss


def nothing_returned(model, loss_fn, optimizer, x, y):
    train_step(model, loss_fn, optimizer, x, y)


def own_loss(model, loss_fn, optimizer, x, y):
    return train_step(model, mean_squared_error, optimizer, x, y)


def uphill(model, loss_fn, optimizer, x, y):
    loss = train_step(model, lambda t, p: -loss_fn(t, p), optimizer, x, y)
    return -loss


def numpy_loss(model, loss_fn, optimizer, x, y):
    return train_step(model, loss_fn, optimizer, x, y).numpy()


def statistics_only(model, loss_fn, optimizer, x, y):
    model(x, training=True)
    return train_step(model, lambda t, _: loss_fn(t, model(x)), optimizer, x, y)


def clipped(model, loss_fn, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


def reports_the_loss_in_use(model, loss_fn, optimizer, x, y):
    reported = loss_fn(y, model(x, training=False))
    train_step(model, loss_fn, optimizer, x, y)
    return reported


def thaws_the_layers(model, loss_fn, optimizer, x, y):
    for layer in model.layers:
        layer.trainable = True
    return train_step(model, loss_fn, optimizer, x, y)


WRONG = [
    clipped,
    reports_the_loss_in_use,
    thaws_the_layers,
    optimizer_made_anew,
    applied_twice,
    forward_twice,
    one_variable_at_a_time,
    summed_loss,
    kernels_only,
    nothing_returned,
    own_loss,
    uphill,
    numpy_loss,
    statistics_only,
]


@pytest.mark.parametrize("answer", WRONG, ids=lambda answer: answer.__name__)
def test_other_wrong_steps_are_refused(answer):
    verdict = evaluate(load("train_step"), answer)
    assert verdict.outcome in ("wrong", "error"), verdict.message


def test_a_number_instead_of_a_tensor_costs_one_part_only():
    verdict = evaluate(load("train_step"), numpy_loss)
    assert [part for part, right in verdict.parts.items() if not right] == ["as a tf.function"]
    assert verdict.misconceptions == ("python-number",)


def test_variables_that_are_made_in_each_call_are_not_an_error():
    def own_optimizer(model, loss_fn, optimizer, x, y):
        return train_step(model, loss_fn, keras.optimizers.SGD(0.05, momentum=0.9), x, y)

    verdict = evaluate(load("train_step"), own_optimizer)
    assert verdict.misconceptions[:1] == ("new-optimizer",)
    assert "new variables in each call" in verdict.message
