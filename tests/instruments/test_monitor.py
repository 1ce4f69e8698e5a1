"""`GradientMonitor`: the optimizer's own gradients, nothing changed, a bounded history, alarms in words."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab import GradientMonitor, plots
from gradlab.instruments.monitor_buffer import ROWS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(96, 12)).astype("float32")
Y = RNG.integers(0, 3, 96)


def net(units=(16, 16), activation="relu", **compiled):
    keras.utils.set_random_seed(3)
    model = keras.Sequential(
        [keras.Input((12,)), *[keras.layers.Dense(u, activation) for u in units], keras.layers.Dense(3)]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(**{"optimizer": keras.optimizers.Adam(1e-2), "loss": loss, **compiled})
    return model


def fit(model, callbacks=(), epochs=2):
    model.fit(X, Y, batch_size=16, epochs=epochs, shuffle=False, verbose=0, callbacks=list(callbacks))
    return model.get_weights()


WAYS = {
    "graph": {},
    "eager": {"run_eagerly": True},
    "xla": {"jit_compile": True},
    "clipnorm": {"optimizer": lambda: keras.optimizers.SGD(0.1, clipnorm=0.1)},
    "global clipnorm": {"optimizer": lambda: keras.optimizers.SGD(0.1, global_clipnorm=0.1)},
    "accumulation": {"optimizer": lambda: keras.optimizers.SGD(0.1, gradient_accumulation_steps=3)},
    "loss scale": {
        "optimizer": lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1), initial_scale=1024.0)
    },
}


def compiled(way):
    return {key: value() if callable(value) else value for key, value in WAYS[way].items()}


@pytest.mark.parametrize("way", WAYS)
def test_weights_are_bit_equal_with_and_without(way):
    plain = fit(net(**compiled(way)))
    monitor = GradientMonitor()
    watched = fit(net(**compiled(way)), [monitor])
    assert all(np.array_equal(a, b) for a, b in zip(plain, watched, strict=True))
    assert len(monitor.history) == 12
    assert monitor.alarms == []


@pytest.mark.parametrize("way", WAYS)
def test_norms_are_those_of_the_gradients_before_clipping_and_unscaled(way):
    model = net(**compiled(way))
    with tf.GradientTape() as tape:
        loss = model.compute_loss(x=X[:16], y=Y[:16], y_pred=model(X[:16], training=True))
    expected = [float(tf.norm(g)) for g in tape.gradient(loss, model.trainable_variables)]
    monitor = GradientMonitor()
    fit(model, [monitor], epochs=1)
    np.testing.assert_allclose(monitor.history.norm[0], expected, rtol=1e-4)
    assert monitor.history.names == tuple(v.path for v in model.trainable_variables)


def test_the_details_of_a_step_are_what_numpy_says():
    variables = [tf.Variable(np.ones((2, 3), "float32"), name="a"), tf.Variable([2.0, 0.0], name="b")]
    gradient = np.array([[0.0, -3.0, 1.0], [0.0, 2.0, np.inf]], "float32")
    monitor = GradientMonitor()
    before = [v.numpy() for v in variables]
    variables[0].assign_sub(tf.fill([2, 3], 0.1))
    monitor.record([tf.constant(gradient), None], variables, before)
    history = monitor.history
    assert history.norm[0, 0] == np.inf
    assert history.largest[0, 0] == np.inf
    assert history.zeros[0, 0] == pytest.approx(2 / 6)
    assert history.nonfinite[0, 0] == pytest.approx(1 / 6)
    assert history.update_ratio[0, 0] == pytest.approx(0.1, rel=1e-5)
    assert np.isnan(history.norm[0, 1]), "no gradient"


def test_a_sparse_gradient_counts_repeated_rows_once():
    table = tf.Variable(np.ones((5, 2), "float32"), name="table")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [1, 1, 3]))
    gradient = tape.gradient(loss, table)
    assert isinstance(gradient, tf.IndexedSlices)
    monitor = GradientMonitor()
    monitor.record([gradient], [table])
    dense = np.asarray(tf.convert_to_tensor(gradient))
    assert monitor.history.norm[0, 0] == pytest.approx(np.linalg.norm(dense))
    assert monitor.history.zeros[0, 0] == pytest.approx(np.mean(dense == 0))


def test_record_works_inside_a_compiled_function():
    w, monitor = tf.Variable([3.0, 4.0], name="w"), GradientMonitor()

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2) / 2
        gradient = tape.gradient(loss, w)
        monitor.record([gradient], [w])
        w.assign_sub(0.5 * gradient)

    for _ in range(3):
        step()
    np.testing.assert_allclose(monitor.history.norm[:, 0], [5.0, 2.5, 1.25])
    assert list(monitor.history.steps) == [0, 1, 2]


def test_a_run_of_100_000_steps_keeps_a_readable_history():
    w, monitor = tf.Variable([1.0], name="w"), GradientMonitor()

    @tf.function
    def steps(count):
        for i in tf.range(count):
            monitor.record([tf.reshape(tf.cast(i, tf.float32), [1])], [w])

    steps(100_000)
    history = monitor.history
    assert ROWS // 2 <= len(history) <= ROWS
    assert len(set(np.diff(history.steps))) == 1, "evenly spaced"
    np.testing.assert_allclose(history.norm[:, 0], history.steps)
    assert history.steps[-1] > 99_000


def test_every_keeps_each_such_step():
    monitor = GradientMonitor(every=5)
    fit(net(), [monitor])
    assert list(monitor.history.steps) == [0, 5, 10]


def test_watch_hears_train_on_batch_and_leaves_the_model_as_it_was():
    model = net()
    model.train_on_batch(X[:16], Y[:16])
    function, monitor = model.train_function, GradientMonitor()
    with monitor.watch(model):
        for _ in range(3):
            model.train_on_batch(X[:16], Y[:16])
    model.train_on_batch(X[:16], Y[:16])
    assert len(monitor.history) == 3
    assert model.train_function is function
    assert "apply" not in vars(model.optimizer)


def test_two_optimizers_in_a_loop_of_ones_own_stand_side_by_side():
    a, b = tf.Variable([1.0], name="a"), tf.Variable([2.0], name="b")
    first, second = keras.optimizers.SGD(0.1), keras.optimizers.SGD(0.1)
    monitor = GradientMonitor()
    with monitor.watch(first, second):
        first.apply_gradients([(tf.constant([3.0]), a)])
        second.apply_gradients([(tf.constant([4.0]), b)])
        first.apply_gradients([(tf.constant([5.0]), a)])
    assert monitor.history.names == ("a", "b")
    np.testing.assert_allclose(monitor.history.norm, [[3, 4], [5, np.nan]])


def test_after_an_exception_everything_is_as_before_and_the_next_fit_works():
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 2:
                raise KeyboardInterrupt

    model, monitor = net(), GradientMonitor()
    with pytest.raises(KeyboardInterrupt):
        fit(model, [monitor, Stop()])
    assert len(monitor.history) == 3
    fit(model, [monitor], epochs=1)
    assert len(monitor.history) == 9
    assert "apply" not in vars(model.optimizer)


def test_tensorboard_gets_norms_and_ratios(tmp_path):
    fit(net(), [GradientMonitor(log_dir=tmp_path)])
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path), size_guidance={"tensors": 0})
    events.Reload()
    tags = events.Tags()["tensors"]
    assert any(tag.startswith("gradient norm/") for tag in tags)
    assert any(tag.startswith("update ratio/") for tag in tags)


def deep(activation, initializer, layers, rate=0.01, bias=0.0):
    keras.utils.set_random_seed(5)
    dense = [
        keras.layers.Dense(
            24, activation, kernel_initializer=initializer, bias_initializer=keras.initializers.Constant(bias)
        )
        for _ in range(layers)
    ]
    model = keras.Sequential([keras.Input((12,)), *dense, keras.layers.Dense(3)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(rate), loss)
    return model


RUNS = {
    "healthy": [("relu", "he_normal", 3), ("tanh", "glorot_uniform", 5), ("gelu", "he_normal", 8)],
    "vanishing": [
        ("sigmoid", "glorot_uniform", 10),
        ("tanh", keras.initializers.RandomNormal(stddev=0.03), 8),
        ("sigmoid", "he_normal", 14),
    ],
    "exploding": [
        ("relu", keras.initializers.RandomNormal(stddev=1.5), 8),
        ("linear", keras.initializers.RandomNormal(stddev=0.8), 10),
        ("relu", "he_normal", 4, 1e3),
    ],
    "dead": [
        ("relu", "he_normal", 2, 0.01, -30.0),
        ("relu", "zeros", 3, 0.01, -1.0),
        ("relu6", "he_normal", 3, 0.01, -50.0),
    ],
}


@pytest.mark.parametrize(("kind", "run"), [(kind, run) for kind, runs in RUNS.items() for run in runs])
def test_alarms_say_what_is_wrong_and_nothing_where_all_is_well(kind, run):
    monitor = GradientMonitor()
    fit(deep(*run), [monitor], epochs=5)
    kinds = [alarm.kind for alarm in monitor.alarms]
    if kind == "healthy":
        assert kinds == []
    else:
        assert kinds
        assert kinds[0] == kind
        assert len(kinds) == len(set(kinds)), "each kind once"
        assert f"step {monitor.alarms[0].step}" in str(monitor)


def test_a_rate_that_is_far_too_small_is_said_to_stall():
    monitor = GradientMonitor()
    fit(deep("relu", "he_normal", 3, 1e-8), [monitor], epochs=40)
    assert [alarm.kind for alarm in monitor.alarms] == ["stalled"]


def test_the_figure_shows_layers_over_steps():
    monitor = GradientMonitor()
    fit(net(), [monitor])
    plots.check_figure(monitor.plot())


@pytest.mark.parametrize("every", [0, -1, 1.5, True, "2"])
def test_every_is_a_whole_number_from_1(every):
    with pytest.raises(ValueError, match="every"):
        GradientMonitor(every=every)


def test_what_can_not_be_watched_is_refused_in_words():
    monitor = GradientMonitor()
    with pytest.raises(TypeError, match="not compiled"), monitor.watch(keras.Sequential([keras.layers.Dense(1)])):
        pass
    with pytest.raises(TypeError, match="watch takes"), monitor.watch():
        pass
    with pytest.raises(ValueError, match="one gradient for each variable"):
        monitor.record([None], [])
    with pytest.raises(ValueError, match="nothing has been recorded"):
        monitor.history  # noqa: B018
