"""gradcheck beside two usual ways to check a gradient: verdicts on the bank, and CPU seconds by number of inputs.

    python benchmarks/gradcheck.py [--seeds 3]

The others are `tf.test.compute_gradient` with a tolerance of 1e-3 on its largest error, and the recipe that tutorials
give: a central difference with a step of 1e-5, element by element, and a relative tolerance of 1e-3.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import tensorflow as tf

from gradlab.instruments.gradcheck import gradcheck
from tests.instruments import gradcheck_bank as bank

TOLERANCE = 1e-3
MOST_ELEMENTS = 1000
"""The ways that go element by element aren't tried on larger programs of the bank; they are counted as unanswered."""


def by_gradcheck(fn: Callable, inputs: tuple, variables: list | None) -> str:
    return gradcheck(fn, *inputs, variables=variables).verdict


def by_compute_gradient(fn: Callable, inputs: tuple, variables: list | None) -> str:
    """`tf.test.compute_gradient`: one word for a match, one for a mismatch, one where it raises."""
    floats = [i for i, x in enumerate(inputs) if _is_float(x)]
    if variables or any(isinstance(x, tf.Variable) for x in inputs):
        return "unanswered"
    if sum(np.size(inputs[i]) for i in floats) > MOST_ELEMENTS:
        return "unanswered"

    def of_floats(*values):
        whole = list(inputs)
        for i, value in zip(floats, values, strict=True):
            whole[i] = value
        return fn(*whole)

    theoretical, numerical = tf.test.compute_gradient(of_floats, [inputs[i] for i in floats])
    largest = max(float(np.max(np.abs(t - n))) for t, n in zip(theoretical, numerical, strict=True))
    return "agrees" if largest < TOLERANCE else "disagrees"


def by_recipe(fn: Callable, inputs: tuple, variables: list | None) -> str:
    """Central differences with a step of 1e-5 in the dtype of the input, of the sum of the outputs."""
    sources = list(variables or [x for x in inputs if _is_float(x)])
    if sum(np.size(x) for x in sources) > MOST_ELEMENTS or any(not isinstance(x, np.ndarray) for x in sources):
        return "unanswered"
    places = [i for i, x in enumerate(inputs) if _is_float(x)]

    def total(arrays):
        whole = list(inputs)
        for i, array in zip(places, arrays, strict=True):
            whole[i] = tf.constant(array)
        return tf.reduce_sum(fn(*whole))

    tensors = [tf.constant(x) for x in sources]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        whole = list(inputs)
        for i, tensor in zip(places, tensors, strict=True):
            whole[i] = tensor
        value = tf.reduce_sum(fn(*whole))
    analytic = tape.gradient(value, tensors)
    for which, gradient in enumerate(analytic):
        for index in np.ndindex(sources[which].shape):
            moved = []
            for sign in (1, -1):
                copies = [x.copy() for x in sources]
                copies[which][index] += sign * sources[which].dtype.type(1e-5)
                moved.append(total(copies).numpy())
            numerical = (moved[0] - moved[1]) / 2e-5
            told = tf.convert_to_tensor(gradient).numpy()[index]
            if not abs(numerical - told) <= TOLERANCE * max(abs(numerical), abs(told)):
                return "disagrees"
    return "agrees"


def _is_float(x: object) -> bool:
    return isinstance(x, np.ndarray) and np.issubdtype(x.dtype, np.floating)


WAYS = {
    "gradcheck": by_gradcheck,
    "tf.test.compute_gradient": by_compute_gradient,
    "central difference, step 1e-5": by_recipe,
}


def verdicts(seeds: int) -> None:
    counts = {name: Counter() for name in WAYS}
    totals = Counter()
    for kind, cases in (("right", bank.RIGHT), ("wrong", bank.WRONG), ("special", bank.SPECIAL)):
        for case in cases:
            for dtype in case.dtypes:
                for seed in range(seeds):
                    totals[kind] += 1
                    for name, way in WAYS.items():
                        fn, inputs, more = case.build(dtype, seed)
                        counts[name][kind, _score(way, fn, inputs, more.get("variables"), case)] += 1
    print(f"{'':30}  {'false alarms':>14} {'misses':>14} {'wrong word':>14} {'unanswered':>11}")
    for name, count in counts.items():
        unanswered = sum(number for (_, score), number in count.items() if score == "unanswered")
        cells = [f"{count[kind, 'bad']} of {totals[kind]}" for kind in ("right", "wrong", "special")]
        print(f"{name:30}  {cells[0]:>14} {cells[1]:>14} {cells[2]:>14} {unanswered:>11}")


def _score(way: Callable, fn: Callable, inputs: tuple, variables: list | None, case: bank.Case) -> str:
    try:
        word = way(fn, inputs, variables)
    except Exception:
        word = "raised"
    if word == "unanswered":
        return word
    return "good" if word in case.expected else "bad"


def costs() -> None:
    base = None
    print(f"\n{'inputs':>8} {'CPU of gradcheck, 10 inputs = 1':>34} {'gradients it costs as much as':>32}")
    for size in (10, 1_000, 100_000):
        x = np.random.default_rng(0).normal(size=size).astype("float32")

        def fn(x):
            return tf.reduce_sum(tf.sin(x) * x)

        gradcheck(fn, x)
        spent = min(_cpu(lambda x=x: gradcheck(fn, x)) for _ in range(3))
        tensor = tf.constant(x)
        single = min(_cpu(lambda tensor=tensor: [_gradient(fn, tensor) for _ in range(50)]) / 50 for _ in range(3))
        base = base or spent
        print(f"{size:>8,} {spent / base:>34.2f} {spent / single:>32.0f}")


def _gradient(fn: Callable, x: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = fn(x)
    return tape.gradient(value, x)


def _cpu(action: Callable) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1, help="draws of every program of the bank")
    verdicts(parser.parse_args().seeds)
    costs()


if __name__ == "__main__":
    main()
