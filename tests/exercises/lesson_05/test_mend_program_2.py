"""mend_program_2: other mends, Keras's own recurrent layer, and the chain rule by hand."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_05.mend_program_2 import mend_program_2
from gradlab.exercises.notebook import evaluate


def list_of_memories(weight, state, signals, target):
    memories = [state.read_value()]
    for signal in signals:
        memories.append(tf.tanh(weight * memories[-1] + signal))
    state.assign(memories[-1])
    return tf.reduce_mean(tf.square(memories[-1] - target))


def by_scan(weight, state, signals, target):
    memories = tf.scan(lambda memory, signal: tf.tanh(weight * memory + signal), signals, initializer=state.value())
    state.assign(memories[-1])
    return keras.ops.mean((memories[-1] - target) ** 2)


def shadow_variable_beside_a_tensor(weight, state, signals, target):
    memory = state + 0.0
    for i in range(len(signals)):
        memory = tf.tanh(weight * memory + signals[i])
        state.assign(memory)
    return tf.reduce_mean((target - memory) ** 2)


def by_recursion(weight, state, signals, target):
    def after(steps):
        return tf.identity(state) if steps == 0 else tf.tanh(weight * after(steps - 1) + signals[steps - 1])

    memory = after(signals.shape[0])
    loss = tf.math.reduce_mean((memory - target) ** 2)
    state.assign(tf.stop_gradient(memory))
    return loss


RIGHT = [list_of_memories, by_scan, shadow_variable_beside_a_tensor, by_recursion]


def test_the_example_of_the_docstring():
    weight, state = tf.Variable([1.0]), tf.Variable([0.0], trainable=False)
    with tf.GradientTape() as tape:
        loss = mend_program_2(weight, state, tf.constant([[0.5], [0.0]]), tf.constant([0.0]))
    one = np.tanh(0.5)
    two = np.tanh(one)
    assert float(loss) == pytest.approx(two**2, rel=1e-5)
    assert float(tape.gradient(loss, weight)[0]) == pytest.approx(2 * two * (1 - two**2) * one, rel=1e-5)
    assert [round(float(v), 4) for v in (loss, tape_slope(two, one), state[0])] == [0.1865, 0.3247, 0.4318]


def tape_slope(two, one):
    return 2 * two * (1 - two**2) * one


def test_the_memory_is_that_of_a_keras_layer():
    rng = np.random.default_rng(0)
    signals, weight = rng.normal(size=(6, 3)).astype(np.float32), rng.uniform(0.5, 1.5, 3).astype(np.float32)
    layer = keras.layers.SimpleRNN(3, use_bias=False)
    layer.build((1, 6, 3))
    layer.set_weights([np.eye(3), np.diag(weight)])
    state = tf.Variable(tf.zeros(3), trainable=False)
    mend_program_2(tf.Variable(weight), state, tf.constant(signals), tf.zeros(3))
    np.testing.assert_allclose(state, layer(signals[None])[0], rtol=1e-5)


def memory_stopped_between_steps(weight, state, signals, target):
    memory = tf.convert_to_tensor(state)
    for signal in tf.unstack(signals):
        memory = tf.tanh(weight * tf.stop_gradient(memory) + signal)
    state.assign(memory)
    return tf.reduce_mean((memory - target) ** 2)


def signals_backwards(weight, state, signals, target):
    return mend_program_2(weight, state, signals[::-1], target)


def without_the_last_signal(weight, state, signals, target):
    return mend_program_2(weight, state, signals[:-1], target)


def summed(weight, state, signals, target):
    return signals.shape[1] * mend_program_2(weight, state, signals, target)


def the_assigned_value(weight, state, signals, target):
    for signal in tf.unstack(signals):
        state = state.assign(tf.tanh(weight * state + signal))
    return tf.reduce_mean((state - target) ** 2)


def as_a_number(weight, state, signals, target):
    return float(mend_program_2(weight, state, signals, target))


@pytest.mark.parametrize(
    "answer",
    [
        memory_stopped_between_steps,
        signals_backwards,
        without_the_last_signal,
        summed,
        the_assigned_value,
        as_a_number,
    ],
    ids=lambda answer: answer.__name__,
)
def test_mends_that_do_not_mend_are_refused(answer):
    assert evaluate(load("mend_program_2"), answer).outcome == "wrong"


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [(memory_stopped_between_steps, "last-step-only"), (the_assigned_value, "still-assigned")],
)
def test_other_ways_of_losing_the_memory_are_named(answer, mistake):
    assert evaluate(load("mend_program_2"), answer).misconceptions == (mistake,)
