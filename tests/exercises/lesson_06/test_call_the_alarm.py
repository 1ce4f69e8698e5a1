"""call_the_alarm: right answers written in other ways, the docstring's examples, and other hasty ones refused."""

import math
import statistics

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_06.call_the_alarm import call_the_alarm
from gradlab.exercises.notebook import evaluate


def in_plain_python(history):
    layers = list(history.values())
    if any(not math.isfinite(norm) for layer in layers for norm in layer):
        return "not finite"
    if any(not any(layer[-10:]) for layer in layers):
        return "dead"
    loudest = max(statistics.median(layer[:10]) for layer in layers)
    if any(statistics.median(layer[-10:]) > 100 * loudest for layer in layers):
        return "exploding"
    if 1000 * statistics.median(layers[0][-10:]) < statistics.median(layers[-1][-10:]):
        return "vanishing"
    return "healthy"


def steps_down_the_rows(history):
    table = np.stack([np.asarray(norms, np.float32) for norms in history.values()], axis=1)
    head, tail = np.sort(table[:10], axis=0), np.sort(table[-10:], axis=0)
    start, end = (head[4] + head[5]) / 2, (tail[4] + tail[5]) / 2
    rules = {
        "not finite": not np.all(np.isfinite(table)),
        "dead": (tail.max(axis=0) == 0).any(),
        "exploding": (end > 100 * start.max()).any(),
        "vanishing": end[0] * 1000 < end[-1],
        "healthy": True,
    }
    return next(word for word, fits in rules.items() if fits)


def with_tensors(history):
    table = tf.constant(list(history.values()), tf.float64)
    if not tf.reduce_all(tf.math.is_finite(table)):
        return "not finite"
    last = table[:, -10:]
    if tf.reduce_any(tf.reduce_max(last, axis=1) == 0):
        return "dead"
    start, end = np.median(table[:, :10], axis=1), np.median(last, axis=1)
    return "exploding" if max(end) / max(start) > 100 else "vanishing" if end[0] < 1e-3 * end[-1] else "healthy"


RIGHT = [in_plain_python, steps_down_the_rows, with_tensors]


def flat(*levels, steps=40):
    return {f"layer_{i}": [float(level)] * steps for i, level in enumerate(levels)}


@pytest.mark.parametrize(
    ("history", "word"),
    [
        (flat(0.5, 0.9), "healthy"),
        (flat(1e-6, 1e-5), "healthy"),
        (flat(1e-6, 0.9), "vanishing"),
        (flat(0.5, 0, 0.9), "dead"),
        (flat(0.5, math.inf), "not finite"),
        ({"in": [0.1] * 20 + [200.0] * 20, "out": [1.0] * 40}, "exploding"),
        ({"in": [1e-4] * 20 + [0.2] * 20, "out": [1.0] * 40}, "healthy"),  # it woke up
        ({"in": [0.1] * 31 + [0.0] * 9, "out": [1.0] * 40}, "vanishing"),  # not yet ten zeros, but the median is 0
    ],
)
def test_each_word(history, word):
    assert call_the_alarm(history) == word


def always_healthy(history):
    return "healthy"


def any_layer_below_the_last(history):
    word = call_the_alarm(history)
    worst = np.array(list(history.values()))
    return "vanishing" if word == "healthy" and worst.min() < worst.max() / 1000 else word


def sorted_by_name(history):
    return call_the_alarm(dict(sorted(history.items())))


def capitals(history):
    return call_the_alarm(history).title()


def all_that_fit(history):
    return [call_the_alarm(history)]


def loudest_against_quietest_start(history):
    table = np.array(list(history.values()))
    word = call_the_alarm(history)
    return "exploding" if word == "vanishing" and table[-1, -1] > 100 * table[0, 0] else word


def all_layers_dead(history):
    table = np.array(list(history.values()))
    word = call_the_alarm(history)
    return word if word != "dead" or not table[:, -10:].any() else "healthy"


WRONG = [
    always_healthy,
    any_layer_below_the_last,
    capitals,
    sorted_by_name,
    loudest_against_quietest_start,
    all_layers_dead,
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("answer", WRONG, ids=lambda answer: answer.__name__)
def test_other_wrong_answers_are_refused(answer, seed):
    assert evaluate(load("call_the_alarm"), answer, seed).outcome == "wrong"


def test_the_probe_s_labels_are_what_its_parts_say():
    found = load("call_the_alarm").probe(call_the_alarm, np.random.default_rng(7))
    for part, words in found.items():
        for word in words if isinstance(words, list) else [words]:
            assert word.split()[-1] in part.replace("NaN", "finite").replace("infinite", "finite"), part
