"""The doctor leaves no trace: hooks, flags, compiled functions, variables, generators, other threads, other doctors."""

import gc
import random
import threading
import weakref

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers
from tensorflow.python.eager import backprop, context, execute, record
from tensorflow.python.ops import resource_variable_ops

from gradlab import diagnose, doctor
from gradlab.instruments.doctor import ground


def hooks():
    """Everything through which the doctor listens, as it stands now."""
    classes = {ground.GradientTape, resource_variable_ops.BaseResourceVariable, *ground.EagerTensor.__mro__[:-1]}
    found = {(home.__name__, name): value for home in classes for name, value in vars(home).items()}
    found |= {("record", name): value for name, value in vars(record).items()}
    found |= {("numpy", name): value for name, value in vars(np).items()}
    found |= {("keras.ops", name): value for name, value in vars(keras.ops).items()}
    found |= {("backprop", name): value for name, value in vars(backprop).items()}
    found["execute"] = execute.execute
    found["callbacks"] = tuple(context.context().op_callbacks)
    found["flag"] = tf.config.functions_run_eagerly()
    found["tf"] = tuple(sorted(vars(tf)))
    made_when_looked_at = "__annotations__", "__doc__", "__abstractmethods__"
    return {name: value for name, value in found.items() if name[1] not in made_when_looked_at}


def changed(before):
    after = hooks()
    return sorted(
        str(name)
        for name in before.keys() | after.keys()
        if before.get(name) is not after.get(name) and before.get(name) != after.get(name)
    )


def lost():
    """A program that loses its gradient."""
    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        loss = tf.round(w) * 3.0
    return tape.gradient(loss, w)


def raise_(error):
    raise error


def ask_twice():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    tape.gradient(y, x)


def wrong_rule():
    @tf.custom_gradient
    def broken(x):
        return x * 2.0, lambda upstream: 1 / 0

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = broken(x)
    tape.gradient(y, x)


ENDINGS = {
    "the end": lambda: None,
    "an exception": lambda: raise_(ValueError("mine")),
    "ctrl-c": lambda: raise_(KeyboardInterrupt()),
    "an exit": lambda: raise_(SystemExit(3)),
    "a shape that doesn't fit": lambda: tf.ones([2, 3]) @ tf.ones([2, 3]),
    "a tape asked twice": ask_twice,
    "a backward rule that raises": wrong_rule,
    "an open tape": lambda: tf.GradientTape().__enter__().watch(tf.constant(1.0)),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("eagerly", [False, True])
def test_after_any_ending_every_hook_and_flag_is_as_before(ending, eagerly):
    tf.config.run_functions_eagerly(eagerly)
    try:
        before = hooks()
        end = None
        try:
            with doctor() as visit:
                lost()
                ENDINGS[ending]()
        except BaseException as error:
            end = error
        assert (end is None) == (ending in ("the end", "an open tape"))
        assert changed(before) == []
        assert "nondiff-op" in [f.cause for f in visit.findings]
        assert any(f.status == "raises" for f in visit.findings) == isinstance(end, Exception)
    finally:
        tf.config.run_functions_eagerly(False)


@pytest.mark.parametrize("ending", ENDINGS)
def test_after_any_ending_of_a_diagnosed_function_too(ending):
    w, before = tf.Variable(2.0, name="w"), hooks()

    def loss():
        ENDINGS[ending]()
        return tf.round(w)

    if ending in ("ctrl-c", "an exit"):
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            diagnose(loss, [w])
    else:
        assert not diagnose(loss, [w]).ok
    assert changed(before) == []


@pytest.mark.parametrize("name", ["add_callback", "listen_to_handles", "register_gradient_function"])
def test_a_start_that_fails_midway_is_undone(monkeypatch, name):
    before, original, calls = hooks(), getattr(ground, name), []

    def fail_at_first(*arguments):
        if not calls:
            calls.append(arguments)
            raise OSError("no")
        return original(*arguments)

    monkeypatch.setattr(ground, name, fail_at_first)
    with pytest.raises(OSError, match="no"), doctor():
        pass
    monkeypatch.undo()
    assert changed(before) == []
    with doctor() as visit:
        lost()
    assert len(visit.findings) == 1


def test_compiled_functions_are_not_traced_again_and_give_what_they_gave():
    w = tf.Variable([0.3, 0.7])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.exp(tf.sin(x * w)) / 3.0)
        return tape.gradient(y, w)

    before = step(tf.constant(2.0)).numpy()
    traces = step.experimental_get_tracing_count()
    with doctor() as visit:
        step(tf.constant(2.0))
    assert visit.ok
    assert visit.eagerly
    assert step(tf.constant(2.0)).numpy().tobytes() == before.tobytes()
    assert step.experimental_get_tracing_count() == traces


def test_a_function_first_called_under_the_doctor_is_compiled_afterwards():
    ran = []

    @tf.function
    def double(x):
        ran.append(1)
        return x * 2.0

    with doctor():
        double(tf.constant(1.0))
        double(tf.constant(1.0))
    assert len(ran) == 2
    assert [float(double(tf.constant(v))) for v in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert len(ran) == 3


def compiled_model():
    keras.utils.clear_session()
    keras.utils.set_random_seed(3)
    model = keras.Sequential([layers.Dense(4, "tanh"), layers.Dropout(0.2), layers.Dense(1)])
    model.compile("adam", loss="mse")
    return model, np.random.default_rng(0).normal(size=(8, 3)).astype("float32")


@pytest.mark.parametrize("first_fit", [False, True])
def test_a_model_fitted_under_the_doctor_goes_on_like_one_that_was_fitted_eagerly(first_fit):
    ends = []
    for watched in (False, True):
        model, x = compiled_model()
        if first_fit:
            model.fit(x, x[:, :1], verbose=0)
        kept = model.train_function
        if watched:
            with doctor() as visit:
                model.fit(x, x[:, :1], verbose=0)
            assert visit.ok
        else:
            tf.config.run_functions_eagerly(True)
            model.fit(x, x[:, :1], verbose=0)
            tf.config.run_functions_eagerly(False)
        assert not first_fit or model.train_function is kept
        history = model.fit(x, x[:, :1], epochs=2, verbose=0)
        ends.append((history.history["loss"], [w.tobytes() for w in model.get_weights()]))
    assert ends[0] == ends[1]


def test_diagnosing_a_model_leaves_its_weights_its_statistics_and_its_dropout_as_they_were():
    keras.utils.set_random_seed(3)
    parts = [layers.Dense(4, "relu"), layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(1)]
    model = keras.Sequential(parts)
    model.compile("adam", loss="mse", metrics=["mae"])
    x = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
    model.fit(x, x[:, :1], verbose=0)
    states = [*model.variables, *model.optimizer.variables, *model.metrics_variables]
    before, kept = [v.numpy().tobytes() for v in states], model.train_function
    found = diagnose(model, x=x, y=x[:, :1])
    assert {f.variable for f in found.findings} == {v.path for v in model.trainable_variables}
    assert [v.numpy().tobytes() for v in states] == before
    assert model.train_function is kept


class Leaves:
    """A loss whose value leaves TensorFlow, so that diagnose runs it again; `more` is what else happens in it."""

    def __init__(self, more=lambda: 0.0):
        self.w, self.more, self.runs = tf.Variable([1.0, 2.0], name="w"), more, 0

    def __call__(self):
        self.runs += 1
        return tf.reduce_sum(tf.constant(np.square(self.w.numpy()))) + self.more()


def test_what_the_reruns_of_diagnose_touch_is_as_after_a_single_run():
    counter = tf.Variable(0)
    other = tf.Variable([5.0])

    def more():
        counter.assign_add(1)
        other.assign(other * 2.0)
        return float(np.random.rand()) + random.random() + float(other[0])  # noqa: NPY002

    np.random.seed(1)  # noqa: NPY002
    random.seed(2)
    Leaves(more)()
    expected = (np.random.rand(), random.random())  # noqa: NPY002
    counter.assign(0)
    other.assign([5.0])
    np.random.seed(1)  # noqa: NPY002
    random.seed(2)
    loss = Leaves(more)
    (finding,) = diagnose(loss, [loss.w]).findings
    assert (finding.status, finding.cause, finding.also) == ("none", "left-tensorflow", ())
    assert loss.runs > 1
    assert loss.w.numpy().tolist() == [1.0, 2.0]
    assert (int(counter), other.numpy().tolist()) == (1, [10.0])
    assert (np.random.rand(), random.random()) == expected  # noqa: NPY002


def iterator():
    values = iter(tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    return lambda: next(values)


def compiled():
    function = tf.function(lambda x: x * tf.random.normal([])).get_concrete_function(tf.TensorSpec([], tf.float32))
    return lambda: function(tf.constant(1.0))


NOT_REPEATABLE = {
    "a draw": lambda: lambda: tf.random.normal([]),
    "a draw inside a layer": lambda: lambda: tf.reduce_sum(tf.nn.dropout(tf.ones([3]), 0.5)),
    "an iterator": iterator,
    "a py_function": lambda: lambda: tf.py_function(lambda: 1.0, [], tf.float32),
    "a compiled function": compiled,
}


@pytest.mark.parametrize("kind", NOT_REPEATABLE)
def test_what_can_t_be_restored_is_not_run_again_and_both_causes_stay_open(kind):
    loss = Leaves(NOT_REPEATABLE[kind]())
    (finding,) = diagnose(loss, [loss.w]).findings
    assert loss.runs == 1
    assert {finding.cause, *finding.also} == {"left-tensorflow", "unused-variable"}


def test_the_doctor_itself_never_runs_anything_again():
    loss = Leaves()
    with doctor() as visit:
        with tf.GradientTape() as tape:
            value = loss()
        tape.gradient(value, loss.w)
    assert loss.runs == 1
    (finding,) = visit.findings
    assert {finding.cause, *finding.also} == {"left-tensorflow", "unused-variable"}


INNER = {
    "doctor": lambda: doctor().__enter__(),
    "diagnose": lambda: diagnose(lambda: tf.constant(1.0), [tf.Variable(1.0)]),
}


@pytest.mark.parametrize("inner", INNER)
def test_a_doctor_within_a_doctor_is_refused_and_the_outer_one_goes_on(inner):
    before = hooks()
    with doctor() as visit:
        with pytest.raises(RuntimeError, match="a doctor is already at work"):
            INNER[inner]()
        lost()
    assert [f.cause for f in visit.findings] == ["nondiff-op"]
    assert changed(before) == []


@pytest.mark.parametrize("inner", INNER)
def test_a_doctor_within_a_diagnosed_function_is_refused_and_named(inner):
    w, before = tf.Variable(1.0), hooks()
    found = diagnose(lambda: INNER[inner]() and w * 2.0, [w])
    assert [(f.status, "already at work" in f.advice) for f in found.findings] == [("raises", True)]
    assert changed(before) == []
    assert diagnose(lambda: w * 2.0, [w]).ok


def test_other_threads_are_not_recorded_and_compute_what_they_compute():
    results, refused = [], []

    def other():
        results.append(lost())
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = x * x
        results.append(float(tape.gradient(y, x)))
        try:
            doctor().__enter__()
        except RuntimeError as error:
            refused.append(str(error))

    with doctor() as visit:
        x = tf.Variable(1.0, name="mine")
        with tf.GradientTape() as tape:
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            y = x * 2.0
        assert float(tape.gradient(y, x)) == 2.0
    assert results == [None, 6.0]
    assert [f.variable for f in visit.findings] == ["mine"]
    assert len(refused) == 1


def test_tapes_that_open_before_or_end_after_the_visit_work():
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape(persistent=True) as early:
        a = x * x
        with doctor() as visit:
            b = x * 2.0
            late = tf.GradientTape()
            late.__enter__()
            c = x**3
    late.__exit__(None, None, None)
    assert [float(tape.gradient(y, x)) for tape, y in ((early, a), (early, b), (late, c))] == [6.0, 2.0, 27.0]
    assert visit.ok


def test_nothing_of_the_program_is_kept_alive():
    class Held:
        pass

    held = Held()
    gone = weakref.ref(held)
    large = tf.random.normal([100])
    tensor = weakref.ref(large)

    def program(held, large):
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.round(w) * large)
        return tape.gradient(loss, w)

    with doctor() as visit:
        program(held, large)
    del held, large
    gc.collect()
    assert gone() is None
    assert tensor() is None
    assert len(visit.findings) == 1
