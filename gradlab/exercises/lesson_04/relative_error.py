"""relative_error: how far two gradients differ, measured by their own size."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def relative_error(a, b):
    """Return how far ``a`` and ``b`` are apart, divided by the length of the longer of the two.

    The length of an array is the square root of the sum of its squared elements; for a single number it is its
    absolute value. The result has no unit and doesn't depend on the order of ``a`` and ``b``: 0.0 if they are equal
    (both all zero included), 1.0 if only one of them is zero, 2.0 if one is the other with its sign turned. It must be
    right however small the numbers are, 1e-17 for instance.

    a, b: two Python floats, or two NumPy arrays of the same shape (any number of dimensions).
    Returns one number. Example: ``relative_error(np.array([3.0, 4.0]), np.array([3.0, 3.0]))`` is ``1 / 5 = 0.2``.
    """
    longer = max(np.linalg.norm(a), np.linalg.norm(b))
    if longer == 0:
        return 0.0
    return np.linalg.norm(np.subtract(a, b)) / longer


def probe(answer, rng):
    """Numbers, vectors and a matrix; the longer first and second; tiny ones, and zeros on either side."""
    a = np.array([0.1, 3.0, -1.0, 2.0, -0.5]) * rng.uniform(0.9, 1.1, size=5)  # b is longer; for a single element
    b = np.array([-0.3, 5.0, -3.0, 3.5, 0.9]) * rng.uniform(0.9, 1.1, size=5)  # the largest relative error is small
    matrix = rng.normal(size=(4, 3)).astype(np.float32)
    near = matrix + np.float32(0.02)
    tiny = 1e-17 * rng.uniform(1.0, 2.0, size=4)
    number = float(rng.uniform(1.0, 2.0))
    return {
        "two numbers": [
            answer(number, 1.5 * number),
            answer(-2.0 * number, number),
            answer(number, -3.0 * number),
            answer(-2.0 * number, -number),
        ],
        "two vectors": [answer(a, b), answer(b, a)],
        "two matrices": answer(matrix, near),
        "tiny numbers": answer(tiny, 3 * tiny),
        "both zero": [answer(0.0, 0.0), answer(np.zeros(3), np.zeros(3))],
        "one of them zero": [answer(a, np.zeros(5)), answer(np.zeros(5), a), answer(0.0, -number)],
        "multiples of each other": [answer(a, -a), answer(a, -0.5 * a), answer(0.5 * a, a)],
    }


def absolute(a, b):
    """Forgets to divide."""
    return np.linalg.norm(np.subtract(a, b))


def by_the_second(a, b):
    """Divides by the second alone."""
    with np.errstate(all="ignore"):
        return np.linalg.norm(np.subtract(a, b)) / np.linalg.norm(b)


def by_the_first(a, b):
    """Divides by the first alone."""
    with np.errstate(all="ignore"):
        return np.linalg.norm(np.subtract(a, b)) / np.linalg.norm(a)


def by_the_shorter(a, b):
    """Divides by the shorter of the two."""
    with np.errstate(all="ignore"):
        return np.linalg.norm(np.subtract(a, b)) / np.minimum(np.linalg.norm(a), np.linalg.norm(b))


def by_the_mean(a, b):
    """Divides by the mean of the two lengths."""
    total = np.linalg.norm(a) + np.linalg.norm(b)
    return 2 * np.linalg.norm(np.subtract(a, b)) / total if total else 0.0


def no_zero_case(a, b):
    """Divides zero by zero."""
    with np.errstate(all="ignore"):
        return np.linalg.norm(np.subtract(a, b)) / np.maximum(np.linalg.norm(a), np.linalg.norm(b))


def epsilon_below(a, b):
    """Guards the division with a constant that is larger than small gradients."""
    return np.linalg.norm(np.subtract(a, b)) / (max(np.linalg.norm(a), np.linalg.norm(b)) + 1e-8)


def by_the_sum(a, b):
    """Divides by the sum of the two lengths."""
    total = np.linalg.norm(a) + np.linalg.norm(b)
    return np.linalg.norm(np.subtract(a, b)) / total if total else 0.0


def by_the_largest_element(a, b):
    """Takes the largest element for the length."""
    largest = max(np.max(np.abs(a)), np.max(np.abs(b)))
    return np.max(np.abs(np.subtract(a, b))) / largest if largest else 0.0


def difference_of_lengths(a, b):
    """Compares the lengths, whatever the directions."""
    lengths = np.linalg.norm(a), np.linalg.norm(b)
    return abs(lengths[0] - lengths[1]) / max(lengths) if max(lengths) else 0.0


def worst_element(a, b):
    """Divides element by element and reports the worst."""
    a, b = np.atleast_1d(a), np.atleast_1d(b)
    larger = np.maximum(np.abs(a), np.abs(b))
    return np.max(np.abs(a - b) / np.where(larger == 0, 1, larger))


exercise = Exercise(
    answer=relative_error,
    probe=probe,
    misconceptions=[
        Misconception(
            "absolute",
            absolute,
            "You return the distance itself. A distance of 0.01 is nothing for a gradient of length 1000 and "
            "everything for one of length 0.001: divide by a length.",
        ),
        Misconception(
            "by-one-of-them",
            by_the_second,
            "You divide by b. Swap a and b and your answer changes; let b be zero and it is infinite. Use the longer "
            "of the two.",
        ),
        Misconception(
            "by-the-first",
            by_the_first,
            "You divide by a. Swap a and b and your answer changes; let a be zero and nothing is left to divide by. "
            "Use the longer of the two.",
        ),
        Misconception(
            "by-the-shorter",
            by_the_shorter,
            "You divide by the shorter of the two lengths. Where one of them is zero, nothing is left to divide by: "
            "take the longer.",
        ),
        Misconception(
            "by-the-mean",
            by_the_mean,
            "You divide by the mean of the two lengths, so your numbers are too large where they differ: 2 where one "
            "of them is zero, and it should be 1. Here it is the longer of the two.",
        ),
        Misconception(
            "zero-by-zero",
            no_zero_case,
            "Two gradients that are both zero are equal, and your answer for them is NaN. Catch that case before you "
            "divide.",
        ),
        Misconception(
            "constant-in-the-divisor",
            epsilon_below,
            "A small constant, in your divisor or in your test for zero, is larger than a small gradient: two "
            "gradients near 1e-17, one three times the other, look almost equal to you. Treat zero as a case of its "
            "own instead.",
        ),
        Misconception(
            "by-the-sum",
            by_the_sum,
            "You divide by the sum of the two lengths, so your numbers are up to twice too small. Here it is the "
            "longer of the two.",
        ),
        Misconception(
            "lengths-only",
            difference_of_lengths,
            "You compare the lengths. Two gradients that point in opposite directions have the same length: subtract "
            "first, then take the length.",
        ),
        Misconception(
            "largest-element-for-the-length",
            by_the_largest_element,
            "You take the largest element where the length is asked for. The length is the square root of the sum of "
            "all squared elements: every element counts.",
        ),
        Misconception(
            "worst-element",
            worst_element,
            "You divide element by element and report the worst. One element near zero then decides alone; here the "
            "whole difference is divided by the whole length.",
        ),
    ],
    # any constant in the divisor makes the tiny numbers look equal, whatever its size
    tolerance={"tiny numbers": Tolerance(rtol=1e-4, atol=1e-3)},
    hints=[
        "Three lengths are needed: of a, of b, and of a - b.",
        "Divide the length of the difference by the larger of the other two. Which pair of inputs makes that 0 / 0?",
        "`np.linalg.norm` gives the length of an array of any shape and of a number. "
        "Return 0.0 if the larger length is 0.",
    ],
    explanation=(
        "A relative error can be compared with what the ruler resolves: about 1e-10 for a central difference in "
        "float64, about 1e-4 in float32. An absolute error can't, because nothing says how large the gradient should "
        "be."
    ),
    level="stretch",
)
