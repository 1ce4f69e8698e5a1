"""chain: the slope of one function put into another."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception


def chain(outer_slope, inner_slope):
    """Return the slope of a chain of two steps: x goes into an inner step, its result u into an outer step, giving y.

    inner_slope: how much u changes per unit of x. outer_slope: how much y changes per unit of u. Both are numbers
    (positive, negative or zero). Returns one number: how much y changes per unit of x.

    Example: where u moves 2 for each unit of x, and y moves 5 for each unit of u, then y moves 10 for each unit of x:
    ``chain(5.0, 2.0)`` is ``10.0``.
    """
    return outer_slope * inner_slope


def probe(answer, rng):
    """Slopes of both signs, a flat step, and numbers for which no other rule gives the product."""
    outer, inner = (float(x) for x in rng.uniform(1.3, 1.9, size=2))
    return {
        "both rise": answer(outer + 2.0, inner),
        "one falls": answer(-outer, inner + 1.0),
        "both fall": answer(-outer, -inner - 3.0),
        "outer step flat": answer(0.0, inner),
        "inner step flat": answer(outer, np.float64(0.0)),  # a NumPy zero: division gives infinity, not an exception
        "small slopes": answer(outer * 0.1, inner * 0.1),
    }


def add(outer_slope, inner_slope):
    """Adds the slopes."""
    return outer_slope + inner_slope


def average(outer_slope, inner_slope):
    """Takes the mean of the slopes."""
    return (outer_slope + inner_slope) / 2


def divide(outer_slope, inner_slope):
    """Divides one slope by the other."""
    return outer_slope / inner_slope


def outer_only(outer_slope, inner_slope):
    """Looks at the last step alone."""
    return outer_slope


def inner_only(outer_slope, inner_slope):
    """Looks at the first step alone."""
    return inner_slope


def size_only(outer_slope, inner_slope):
    """Multiplies sizes and drops the signs."""
    return abs(outer_slope * inner_slope)


exercise = Exercise(
    answer=chain,
    probe=probe,
    misconceptions=[
        Misconception(
            "sum",
            add,
            "You add the slopes. Take a step of 1 in x: u moves by the inner slope, and y by the outer slope "
            "for each unit that u moved. Is that a sum?",
        ),
        Misconception(
            "mean",
            average,
            "You take the mean of the slopes. The second step acts on what the first one did, so their effects "
            "don't average.",
        ),
        Misconception(
            "quotient",
            divide,
            "You divide one slope by the other. Take a step of 1 in x: u moves by the inner slope, and y by the outer "
            "slope for each unit that u moved. If u doesn't move at all, neither does y.",
        ),
        Misconception(
            "outer-only",
            outer_only,
            "You return the outer slope alone. It counts per unit of u; how far does u move when x moves by one?",
        ),
        Misconception(
            "inner-only",
            inner_only,
            "You return the inner slope alone: how far u moves. How far does y move for each unit that u moved?",
        ),
        Misconception(
            "sign-dropped",
            size_only,
            "The size is right and the sign is lost. Where one step falls and the other rises, y falls.",
        ),
    ],
    hints=[
        "Let x grow by 1. How far does u move? And how far does y move then?",
        "u moves by inner_slope. Each unit of u moves y by outer_slope.",
        "Try numbers: u moves 2 units, each worth 5 units of y. What did you do with the 2 and the 5?",
    ],
    explanation=(
        "Slopes along a path multiply: this is the chain rule. A network of fifty layers multiplies fifty of them, "
        "which is why lessons 07 to 10 care so much whether each is near 1."
    ),
)
