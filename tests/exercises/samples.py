"""Small exercises made for the tests of the engine."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def double(x):
    """Return twice x."""
    return np.asarray(x) * 2.0


def probe_double(answer, rng):
    row, column = rng.normal(size=5), rng.normal(size=(4, 1))
    return {"row": answer(row), "column": answer(column)}


def unchanged(x):
    return np.asarray(x) * 1.0


def square(x):
    return np.asarray(x) ** 2


def half_right(x):
    return np.asarray(x) * 2.0 if np.ndim(x) == 1 else np.asarray(x) * 3.0


DOUBLE = Exercise(
    answer=double,
    probe=probe_double,
    misconceptions=[
        Misconception("unchanged", unchanged, "You return x as it came."),
        Misconception("squares", square, "You square x."),
        Misconception("triples-columns", half_right, "Columns are tripled."),
    ],
    hints=["one", "two", "three"],
    explanation="Doubling is adding to itself.",
    weights={"row": 2, "column": 1},
)


def pair(x):
    """Return x and its square, as two arrays."""
    return x, x**2


PAIR = Exercise(
    answer=pair,
    probe=lambda answer, rng: {"both": answer(rng.normal(size=3))},
    misconceptions=[],
    hints=[],
    explanation="Two things.",
    tolerance=Tolerance(rtol=1e-4, atol=1e-6),
)
