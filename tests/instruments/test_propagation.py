"""`propagate`: the scale at each layer is what a tape and NumPy say, and the model stays as it was."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab import plots, propagate

RNG = np.random.default_rng(0)


def chain(layers, width=256, activation="relu", initializer="he_normal"):
    keras.utils.set_random_seed(1)
    dense = [
        keras.layers.Dense(width, activation=activation, kernel_initializer=initializer, name=f"d{i}")
        for i in range(layers)
    ]
    return keras.Sequential([keras.Input((width,)), *dense])


def test_the_scales_are_those_of_the_layers_outputs_and_of_their_gradients():
    model = chain(3, width=16)
    x = RNG.normal(size=(5, 16)).astype("float32")
    result = propagate(model, x, loss=lambda y: tf.reduce_mean(y**2))
    with tf.GradientTape() as tape:
        h, outputs = tf.constant(x), []
        for layer in model.layers:
            h = layer(h)
            outputs.append(h)
        loss = tf.reduce_mean(h**2)
    gradients = tape.gradient(loss, outputs)
    assert result.loss == pytest.approx(float(loss), rel=1e-6)
    for row, output, gradient in zip(result.rows, outputs, gradients, strict=True):
        assert row.forward_std == pytest.approx(np.std(output), rel=1e-5)
        assert row.forward_rms == pytest.approx(np.sqrt(np.mean(np.square(output))), rel=1e-5)
        assert row.gradient_std == pytest.approx(np.std(gradient), rel=1e-5)
        assert row.gradient_rms == pytest.approx(np.sqrt(np.mean(np.square(gradient))), rel=1e-5)
        assert row.dead_fraction == pytest.approx(np.mean(np.all(output == 0, axis=0)))


def test_moving_statistics_seeds_and_weights_stay_as_they_were():
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(8), keras.layers.BatchNormalization(), keras.layers.Dropout(0.5)]
    )
    before = [np.array(v) for v in model.variables]
    first = propagate(model, RNG.normal(size=(6, 4)).astype("float32"))
    assert all(np.array_equal(a, b) for a, b in zip(before, model.variables, strict=True))
    assert [row.kind for row in first.rows] == ["Dense", "BatchNormalization", "Dropout"]


def test_a_shared_layer_has_a_row_for_each_call():
    entry = keras.Input((4,))
    shared = keras.layers.Dense(4, name="shared")
    model = keras.Model(entry, shared(shared(entry)))
    assert [row.name for row in propagate(model, np.ones((2, 4))).rows] == ["shared (call 1)", "shared (call 2)"]


def test_layers_of_ones_own_are_opened_up_and_those_of_keras_are_not():
    class Block(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = keras.layers.Dense(8)

        def call(self, x):
            return x + self.inner(x)

    class Scale(keras.layers.Layer):
        def call(self, x):
            return 2 * x

    entry = keras.Input((3, 8))
    model = keras.Model(entry, Scale()(keras.layers.LSTM(4)(Block()(entry))))
    assert [row.kind for row in propagate(model, np.ones((2, 3, 8), "float32")).rows] == ["Dense", "LSTM", "Scale"]


def test_several_inputs_and_outputs_and_whole_numbers_as_input():
    words, extra = keras.Input((3,), dtype="int32"), keras.Input((2,))
    pooled = keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(10, 4)(words))
    joined = keras.layers.Concatenate()([pooled, extra])
    model = keras.Model([words, extra], {"a": keras.layers.Dense(2)(joined), "b": keras.layers.Dense(1)(joined)})
    rows = propagate(model, [np.array([[1, 2, 3]]), np.ones((1, 2), "float32")]).rows
    assert {row.kind for row in rows} == {"Embedding", "GlobalAveragePooling1D", "Concatenate", "Dense"}
    assert all(row.gradient_rms > 0 for row in rows)


def test_a_layer_that_no_gradient_reaches_has_none():
    entry = keras.Input((4,))
    cut = keras.layers.Lambda(tf.stop_gradient)(keras.layers.Dense(4, name="before")(entry))
    model = keras.Model(entry, keras.layers.Dense(1, name="after")(cut))
    result = propagate(model, np.ones((2, 4)))
    rows = {row.name: row for row in result.rows}
    assert np.isnan(rows["before"].gradient_std)
    assert rows["after"].gradient_std > 0
    assert "none" in str(result)


def test_a_dead_layer_is_said_to_be_dead():
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(4, "relu", bias_initializer=keras.initializers.Constant(-100.0))]
    )
    row = propagate(model, RNG.normal(size=(8, 4))).rows[0]
    assert row.dead_fraction == 1.0
    assert row.gradient_rms > 0, "the gradient at the output of a dead layer is still there"


@pytest.mark.parametrize(
    ("activation", "initializer"), [("relu", "he_normal"), ("tanh", "glorot_uniform"), ("sigmoid", "glorot_uniform")]
)
def test_theory_meets_the_measurement_in_wide_nets(activation, initializer):
    result = propagate(chain(8, 512, activation, initializer), RNG.normal(size=(64, 512)).astype("float32"))
    for row in result.rows:
        assert row.forward_rms == pytest.approx(row.forward_theory, rel=0.25)
    for row in result.rows[:-1]:
        assert row.gradient_rms == pytest.approx(row.gradient_theory, rel=0.25)


def test_the_factor_per_layer_of_linear_layers_is_their_weights_scale():
    keras.utils.set_random_seed(0)
    init = keras.initializers.RandomNormal(stddev=0.5 / np.sqrt(256))
    dense = [keras.layers.Dense(256, use_bias=False, kernel_initializer=init) for _ in range(10)]
    result = propagate(keras.Sequential([keras.Input((256,)), *dense]), RNG.normal(size=(64, 256)).astype("float32"))
    assert result.factor("forward") == pytest.approx(0.5, rel=0.03)
    assert result.factor("gradient") == pytest.approx(0.5, rel=0.03)
    with pytest.raises(ValueError, match="forward"):
        result.factor("sideways")


def test_the_figure_says_what_is_seen():
    for layers in (3, 30):
        fig = propagate(chain(layers, 32, "sigmoid"), RNG.normal(size=(8, 32)).astype("float32")).plot()
        plots.check_figure(fig)
        assert "shrinks" in plots_title(fig)


def plots_title(fig):
    return " ".join(ax.get_title(loc="left") or ax.get_title() for ax in fig.axes) + str(fig.get_suptitle())


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"model": lambda x: x, "x": np.ones((1, 2))}, TypeError, "Keras model"),
        ({"model": None, "x": np.ones((1, 2)), "loss": 3}, TypeError, "function"),
        ({"model": None, "x": np.ones((1, 2)), "loss": lambda y: y}, ValueError, "scalar"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, error, words):
    if arguments["model"] is None:
        arguments["model"] = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
    with pytest.raises(error, match=words):
        propagate(**arguments)


def test_a_model_that_raises_leaves_keras_as_it_was():
    original = keras.layers.Layer.__call__

    class Broken(keras.layers.Layer):
        def call(self, x):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        propagate(Broken(), np.ones((1, 2)))
    assert keras.layers.Layer.__call__ is original
