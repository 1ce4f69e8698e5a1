"""Small programs that lose their gradient, one or more for each cause; the line to blame ends with `# here`.

A `Case` with variables is a function for `diagnose`; one without is a whole program for `doctor()`.
"""

import inspect
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

CASES: dict[str, "Case"] = {}


@dataclass(frozen=True)
class Case:
    """One program, and what is to be found in it.

    Attributes:
        make: gives the function and its variables, or is itself the whole program.
        status, cause: of the variables whose gradient is lost.
        lost: the names of those variables; all others are healthy.
        lines: the lines to blame, any of them.
        whole: whether `make` is a whole program, to be run under `doctor()`.
    """

    make: Callable[[], Any]
    status: str
    cause: str
    lost: tuple[str, ...]
    lines: tuple[int, ...]
    whole: bool


def case(status, cause, *lost, whole=False):
    """Note a program under its name; lost: the variables that have no gradient, w if none is named."""

    def note(make):
        source, first = inspect.getsourcelines(make)
        marked = tuple(first + i for i, line in enumerate(source) if line.rstrip().endswith("# here"))
        CASES[make.__name__] = Case(make, status, cause, lost or ("w",), marked, whole)
        return make

    return note


def variable(*values, name="w"):
    """Floats that learn."""
    return tf.Variable(values[0] if len(values) == 1 else list(values), dtype=tf.float32, name=name)


@case("none", "left-tensorflow")
def numpy_of_a_tensor():
    w, b = variable(1.0, 2.0), variable(1.0, name="b")

    def loss():
        scaled = w * 2.0
        value = np.mean(np.square(scaled.numpy()))  # here
        return tf.convert_to_tensor(value) * b

    return loss, [w, b]


@case("none", "left-tensorflow")
def float_of_a_tensor():
    w = variable(1.5)

    def loss():
        plain = float(tf.sin(w))  # here
        return tf.constant(plain) ** 2

    return loss, [w]


@case("none", "left-tensorflow")
def numpy_called_on_a_variable():
    w = variable(1.0, 2.0)

    def loss():
        total = np.sum(w)  # here
        return tf.constant(total) * 2.0

    return loss, [w]


@case("none", "captured-outside")
def computed_before_the_function():
    w = variable(1.0, 2.0)
    early = w * 3.0

    def loss():
        return tf.reduce_sum(early**2)

    return loss, [w]


@case("none", "captured-outside", whole=True)
def computed_before_the_tape():
    w = variable(1.0, 2.0)
    early = w * 3.0  # here
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(early**2)
    tape.gradient(loss, w)


@case("none", "outside-tape", whole=True)
def computed_after_the_tape():
    w = variable(1.0, 2.0)
    with tf.GradientTape() as tape:
        prediction = w * 3.0
    loss = tf.reduce_sum(prediction**2)  # here
    tape.gradient(loss, w)


@case("none", "not-watched", "x", whole=True)
def tensor_that_nobody_watches():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:  # here
        loss = tf.reduce_sum(x**2)
    tape.gradient(loss, x)


@case("none", "not-watched", "x", whole=True)
def tensor_that_is_watched_late():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x**2
        tape.watch(x)  # here
        loss = tf.reduce_sum(y)
    tape.gradient(loss, x)


@case("none", "unconnected-target", "hidden", whole=True)
def tensor_that_is_computed_a_second_time():
    w = variable(1.0, 2.0)
    with tf.GradientTape() as tape:
        hidden = tf.tanh(w)  # here
        loss = tf.reduce_sum(tf.tanh(w) ** 2)
    tape.gradient(loss, hidden)


@case("none", "unused-variable", "b")
def variable_that_is_not_used():
    w, b = variable(1.0, 2.0), variable(1.0, name="b")

    def loss():
        return tf.reduce_sum(w**2)

    return loss, [w, b]


@case("none", "unused-variable", "b")
def result_that_is_not_used():
    w, b = variable(1.0, 2.0), variable(1.0, name="b")

    def loss():
        b**2  # here
        return tf.reduce_sum(w**2)

    return loss, [w, b]


@case("untracked", "untracked-variable", "hidden")
def variable_in_a_plain_list():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.out = keras.layers.Dense(1)
            self.parts = {"hidden": [tf.Variable(tf.ones([2, 2]), name="hidden")]}

        def call(self, x):
            return self.out(x @ self.parts["hidden"][0])

    net, x = Net(), tf.constant([[1.0, 2.0]])
    net(x)

    def loss():
        return tf.reduce_sum(net(x) ** 2)

    return loss, net.trainable_variables


@case("none", "non-trainable", whole=True)
def variable_that_is_not_trainable():
    w = tf.Variable(2.0, trainable=False, name="w")  # here
    with tf.GradientTape() as tape:
        loss = w * w
    tape.gradient(loss, w)


@case("none", "assign-state")
def way_through_an_assignment():
    w, state = variable(1.0, 2.0), tf.Variable([0.0, 0.0], trainable=False)

    def loss():
        state.assign(w * 2.0)  # here
        return tf.reduce_sum(state**2)

    return loss, [w]


@case("none", "stop-gradient")
def stopped_on_purpose():
    w, b = variable(1.0, 2.0), variable(1.0, name="b")

    def loss():
        hidden = tf.stop_gradient(w * 2.0)  # here
        return tf.reduce_sum(hidden * b)

    return loss, [w, b]


@case("none", "stop-gradient")
def variable_stopped_where_it_is_read():
    w, b = variable(1.0, 2.0), variable(1.0, name="b")

    def loss():
        return tf.reduce_sum(tf.stop_gradient(w) * b)  # here

    return loss, [w, b]


@case("none", "nondiff-op")
def largest_place():
    w = variable(1.0, 3.0, 2.0)

    def loss():
        place = tf.argmax(w * 2.0)  # here
        return tf.cast(place, tf.float32) ** 2

    return loss, [w]


@case("none", "nondiff-op")
def rounded():
    w = variable(1.2, 3.4)

    def loss():
        return tf.reduce_sum(tf.round(w * 2.0))  # here

    return loss, [w]


@case("none", "hard-threshold")
def compared():
    w = variable(0.2, 0.9)

    def loss():
        chosen = w * 2.0 > 1.0  # here
        return tf.reduce_mean(tf.cast(chosen, tf.float32))

    return loss, [w]


@case("none", "metric-as-loss")
def metric_in_place_of_a_loss():
    w, error = variable(0.2, 0.9), keras.metrics.MeanSquaredError()

    def loss():
        error.update_state(tf.constant([1.0, 0.0]), w * 2.0)  # here
        return error.result()

    return loss, [w]


@case("none", "sampling")
def drawn():
    w = variable(0.2, 0.9)

    def loss():
        taken = tf.random.categorical([w * 2.0], 4)  # here
        return tf.reduce_mean(tf.cast(taken, tf.float32))

    return loss, [w]


@case("none", "int-cast")
def cast_to_whole_numbers():
    w = variable(1.2, 3.9)

    def loss():
        place = tf.cast(w * 2.0, tf.int32)  # here
        return tf.reduce_sum(tf.gather([float(i) for i in range(9)], place))

    return loss, [w]


@case("none", "integer-source")
def variable_of_whole_numbers():
    w = tf.Variable([1, 2], name="w")

    def loss():
        return tf.reduce_sum(tf.cast(w, tf.float32) ** 2)

    return loss, [w]


@case("none", "partial-gradient-op")
def operation_with_a_rule_for_another_input():
    w, q = variable(2.5, 3.5), variable(1.0, 2.0, name="q")

    def loss():
        return tf.reduce_sum(tf.math.zeta(w, q))  # here

    return loss, [w, q]


@case("raises", "no-registered-gradient")
def operation_without_a_rule():
    w = variable(1.0, 2.0, 3.0)

    def loss():
        counted = tf.math.bincount([0, 1, 1], weights=w * 2.0)  # here
        return tf.reduce_sum(counted**2)

    return loss, [w]


@case("none", "custom-gradient")
def handwritten_rule_that_gives_none():
    w = variable(1.0, 2.0)

    @tf.custom_gradient
    def soft(x):
        return tf.round(x), lambda upstream: None

    def loss():
        return tf.reduce_sum(soft(w * 2.0))  # here

    return loss, [w]


@case("raises", "custom-gradient")
def handwritten_rule_that_gives_too_many():
    w = variable(1.0, 2.0)

    @tf.custom_gradient
    def soft(x):
        return tf.round(x), lambda upstream: (upstream, upstream)  # here

    def loss():
        return tf.reduce_sum(soft(w * 2.0))  # here

    return loss, [w]


@case("zero", "zero-gradient-op")
def sign():
    w = variable(1.0, -2.0)

    def loss():
        return tf.reduce_sum(tf.sign(w * 2.0))  # here

    return loss, [w]


@case("zero", "zero-clip")
def clipped():
    w = variable(3.0, -4.0)

    def loss():
        return tf.reduce_sum(tf.clip_by_value(w * 2.0, -1.0, 1.0))  # here

    return loss, [w]


@case("zero", "zero-saturation")
def dead_relu():
    w, b = variable(-1.0, -2.0), variable(0.5, name="b")

    def loss():
        return tf.reduce_sum(tf.nn.relu(w * 2.0)) + b  # here

    return loss, [w, b]


@case("zero", "zero-saturation")
def saturated_sigmoid():
    w = variable(200.0, 300.0)

    def loss():
        return tf.reduce_sum(tf.sigmoid(w * 2.0))  # here

    return loss, [w]


@case("zero", "zero-cancellation")
def terms_that_cancel():
    w = variable(1.0, 2.0)

    def loss():
        scaled = w * 2.0
        return tf.reduce_sum(scaled - (scaled + 1.0))  # here

    return loss, [w]


@case("nonfinite", "nan-singular-point")
def root_of_zero():
    w = variable(0.0, 4.0)

    def loss():
        return tf.reduce_sum(tf.sqrt(w))  # here

    return loss, [w]


@case("nonfinite", "nan-singular-point")
def norm_of_nothing():
    w = variable(1.0, 1.0)

    def loss():
        return tf.norm(w - [1.0, 1.0])  # here

    return loss, [w]


@case("nonfinite", "nan-where")
def branch_that_is_not_taken():
    w = variable(0.0, 4.0)

    def loss():
        log = tf.math.log(w)  # here
        return tf.reduce_sum(tf.where(w > 0.0, log, 0.0))  # here

    return loss, [w]


@case("zero", "degenerate-linalg")
def equal_eigenvalues():
    w = tf.Variable(tf.eye(2), name="w")

    def loss():
        _, vectors = tf.linalg.eigh(w * 2.0)  # here
        return tf.reduce_sum(vectors**3)

    return loss, [w]


@case("nonfinite", "degenerate-linalg")
def matrix_without_full_rank():
    w = tf.Variable([[1.0, 1.0], [0.0, 0.0]], name="w")

    def loss():
        q, _ = tf.linalg.qr(w * 2.0)  # here
        return tf.reduce_sum(q)

    return loss, [w]


@case("nonfinite", "mixed-precision")
def overflow_in_half_precision():
    w = variable(3.0, 2.0)

    def loss():
        half = tf.cast(w, tf.float16)
        scaled = half * half * 60000.0  # here
        return tf.cast(tf.reduce_sum(scaled), tf.float32)

    return loss, [w]


@case("none", "second-order-tape", "x", whole=True)
def first_gradient_outside_the_outer_tape():
    x = variable(3.0, name="x")
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = x**3
    slope = inner.gradient(y, x)  # here
    outer.gradient(slope, x)


@case("raises", "second-order-op", "x", whole=True)
def second_derivative_that_nobody_wrote():
    x = tf.Variable(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            larger = tf.image.resize(x, [8, 8], method="bicubic")  # here
            y = tf.reduce_sum(larger**2)
        slope = tf.reduce_sum(inner.gradient(y, x) ** 2)  # here
    outer.gradient(slope, x)  # here


@case("none", "second-order-vanishes", "x", whole=True)
def second_derivative_of_a_line():
    x = variable(3.0, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = 3.0 * x  # here
        slope = inner.gradient(y, x)  # here
    outer.gradient(slope, x)


@case("raises", "tape-reuse", whole=True)
def tape_asked_twice():
    w = variable(3.0)
    with tf.GradientTape() as tape:
        loss = w * w
    tape.gradient(loss, w)
    tape.gradient(loss, w)  # here


class Rounding(tf.Module):
    """A function with a rule of its own, to be saved without it."""

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def __call__(self, x):
        @tf.custom_gradient
        def soft(t):
            return tf.round(t), lambda upstream: 2.0 * upstream

        return soft(x)


@case("raises", "saved-model")
def rule_that_was_not_saved():
    with tempfile.TemporaryDirectory() as folder:
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
        tf.saved_model.save(Rounding(), folder, options=options)
        for key in [k for k in ops.gradient_registry.list() if k.startswith("CustomGradient-")]:
            ops.gradient_registry._registry.pop(key)  # as in a new process
        loaded = tf.saved_model.load(folder)  # here
    w = variable(0.4, 1.6)

    def loss():
        return tf.reduce_sum(loaded(w) ** 2)  # here

    return loss, [w]


@case("raises", "")
def exception_in_the_function():
    w = variable(1.0, 2.0)

    def loss():
        return tf.reduce_sum(tf.reshape(w, [3]))  # here

    return loss, [w]
