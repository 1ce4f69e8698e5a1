"""warmup_cosine: right answers written in other ways, the docstring's five values, and Keras's own schedule."""

import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_10.warmup_cosine import warmup_cosine
from gradlab.exercises.notebook import evaluate


def with_tensorflow(step, warmup, total, peak):
    rise = peak * step / max(warmup, 1)
    behind = tf.clip_by_value((step - warmup) / (total - warmup), 0.0, 1.0)
    return tf.where(step < warmup, rise, 0.5 * peak * (1.0 + tf.cos(math.pi * behind)))


def by_the_squared_cosine(step, warmup, total, peak):
    if step >= total:
        return 0
    if step < warmup:
        return peak * (step / warmup)
    return peak * math.cos(math.pi / 2 * (step - warmup) / (total - warmup)) ** 2


def by_interpolation(step, warmup, total, peak):
    height = float(np.interp(step, [0, warmup, total], [0.0 if warmup else 1.0, 1.0, 0.0]))
    return peak * height if step < warmup else peak * (1 - math.cos(math.pi * height)) / 2


RIGHT = [with_tensorflow, by_the_squared_cosine, by_interpolation]


@pytest.mark.parametrize(("step", "rate"), [(0, 0.0), (5, 0.4), (10, 0.8), (60, 0.4), (110, 0.0), (500, 0.0)])
def test_the_docstring_s_five_values_and_one_after_the_end(step, rate):
    assert warmup_cosine(step, warmup=10, total=110, peak=0.8) == pytest.approx(rate, abs=1e-12)


def test_it_is_the_schedule_that_keras_has():
    keras_schedule = keras.optimizers.schedules.CosineDecay(0.0, decay_steps=80, warmup_target=0.3, warmup_steps=20)
    ours = [warmup_cosine(step, 20, 100, 0.3) for step in range(130)]
    np.testing.assert_allclose(ours, [float(keras_schedule(step)) for step in range(130)], atol=1e-6)


def no_rate_after_half(step, warmup, total, peak):
    return warmup_cosine(step, warmup, total, peak) if step < total / 2 else 0.0


def peak_a_step_late(step, warmup, total, peak):
    return warmup_cosine(max(step - 1, 0), warmup, total, peak)


def small_floor(step, warmup, total, peak):
    return max(warmup_cosine(step, warmup, total, peak), 0.01 * peak)


@pytest.mark.parametrize("answer", [no_rate_after_half, peak_a_step_late, small_floor])
def test_other_wrong_schedules_are_refused(answer):
    assert evaluate(load("warmup_cosine"), answer).outcome == "wrong"
