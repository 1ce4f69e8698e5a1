"""update_ratio: how far a step moved a weight, measured by the weight's own size."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def update_ratio(before, after):
    """Return how far one step has moved a variable, as a share of the variable's size before the step.

    That is the norm of ``after - before``, divided by the norm of ``before``. The norm of an array is the square root
    of the sum of its squared elements.

    A variable that was all zeros before the step, as a bias is at first, has no size to compare with: return NaN
    (``float("nan")``) for it, whether it moved or not. Curves have a gap there, and ``np.nanmedian`` leaves it out.

    before, after: two float32 NumPy arrays of the same shape (any number of dimensions), the values of one variable
    before and after the step. They may be as small as 1e-9.
    Returns one number. Example: ``update_ratio(np.array([3.0, -4.0]), np.array([3.0, -3.5]))`` is ``0.5 / 5 = 0.1``.
    """
    size = np.linalg.norm(before)
    if size == 0:
        return float("nan")
    return np.linalg.norm(after - before) / size


def probe(answer, rng):
    """A vector, kernels, a table; updates small and large; tiny weights, no update, and weights of zero."""

    def normal(shape, scale=1.0):
        return (scale * rng.normal(size=shape)).astype(np.float32)

    vector = np.array([0.1, 3.0, -1.0, 2.0], np.float32) * rng.uniform(0.9, 1.1, 4).astype(np.float32)
    moved_vector = vector + np.array([0.3, -0.8, 0.0, 0.5], np.float32)
    kernel, filters, tiny = normal((5, 3)), normal((2, 2, 3, 4), 0.3), normal((6,), 1e-9)
    zeros = np.zeros(3, np.float32)
    cases = {
        "a vector": (vector, moved_vector),
        "a kernel after a small step": (kernel, kernel + normal((5, 3), 1e-3)),
        "a kernel after a large step": (kernel, kernel + normal((5, 3), 2.0)),
        "the kernel of a convolution": (filters, filters + normal((2, 2, 3, 4), 0.01)),
        "it only turned its sign": (kernel, -kernel),
        "tiny weights": (tiny, tiny + normal((6,), 1e-10)),
        "nothing moved": (kernel, kernel.copy()),
        "zeros that moved": (zeros, normal((3,))),
        "zeros that stayed": (zeros, zeros.copy()),
        "all zero after": (vector, np.zeros(4, np.float32)),
    }
    return {part: answer(*pair) for part, pair in cases.items()}


def _size(array):
    return np.linalg.norm(np.asarray(array, dtype=np.float64))


def _share(part, whole):
    return part / whole if whole else float("nan")


def not_divided(before, after):
    """Returns the length of the update."""
    return _size(after - before) if _size(before) else float("nan")


def by_the_new(before, after):
    """Divides by the weights after the step."""
    with np.errstate(all="ignore"):
        return np.float64(_size(after - before)) / _size(after) if _size(before) else float("nan")


def of_the_lengths(before, after):
    """Compares the lengths before and after."""
    return _share(abs(_size(after) - _size(before)), _size(before))


def element_by_element(before, after):
    """Takes the mean of the elements' own ratios."""
    if not _size(before):
        return float("nan")
    return np.mean(np.abs(after - before) / np.abs(before))


def no_zero_case(before, after):
    """Divides by zero."""
    with np.errstate(all="ignore"):
        return np.float64(_size(after - before)) / _size(before)


def zero_for_zero(before, after):
    """Returns 0 where there is nothing to divide by."""
    return _size(after - before) / _size(before) if _size(before) else 0.0


def constant_in_the_divisor(before, after):
    """Adds a small constant to what it divides by."""
    return _size(after - before) / (_size(before) + 1e-8)


def upside_down(before, after):
    """Divides the weights by the update."""
    with np.errstate(all="ignore"):
        return np.float64(_size(before)) / _size(after - before) if _size(before) else float("nan")


def squared(before, after):
    """Forgets both roots."""
    return _share(_size(after - before) ** 2, _size(before) ** 2)


def with_a_sign(before, after):
    """Adds the elements up, so that those of different signs cancel."""
    return _share(abs(np.sum(after - before, dtype=np.float64)), abs(np.sum(before, dtype=np.float64)))


exercise = Exercise(
    answer=update_ratio,
    probe=probe,
    misconceptions=[
        Misconception(
            "not-divided",
            not_divided,
            "You return the length of the update. A step of 0.01 is large for weights of 0.01 and nothing for weights "
            "of 100: divide by the size of the weights.",
        ),
        Misconception(
            "by-the-new-weights",
            by_the_new,
            "You divide by the size after the step. A step that blows the weights up would then hide itself: a weight "
            "that became a thousand times as large has a ratio of 1. Use the size before.",
        ),
        Misconception(
            "lengths-compared",
            of_the_lengths,
            "You subtract two lengths. Weights that only turn their sign move far and keep their length: subtract the "
            "arrays first, then take the length.",
        ),
        Misconception(
            "element-by-element",
            element_by_element,
            "You divide element by element and take the mean. One weight near zero then decides alone; here the whole "
            "update is divided by the whole variable.",
        ),
        Misconception(
            "zero-not-caught",
            no_zero_case,
            "A variable of zeros that moved gives infinity in your answer, and one infinity spoils every mean and "
            "every picture. Return NaN for it, before you divide.",
        ),
        Misconception(
            "zero-for-zero",
            zero_for_zero,
            "For a variable that was all zeros you return 0, which says that it stands still. Your other answer could "
            "hardly be further from the truth if it has just moved: return NaN, for not defined.",
        ),
        Misconception(
            "constant-in-the-divisor",
            constant_in_the_divisor,
            "A small constant in your divisor is larger than small weights, and makes a huge number out of zeros. "
            "Treat zeros as a case of its own instead.",
        ),
        Misconception(
            "upside-down",
            upside_down,
            "You divide the size of the weights by the size of the update. It is the other way round: a small step "
            "has a small ratio.",
        ),
        Misconception(
            "squared",
            squared,
            "Your number is the square of the right one: a ratio of 0.001 looks like 0.000001. Take the root of both "
            "sums of squares.",
        ),
        Misconception(
            "signs-cancel",
            with_a_sign,
            "You add the elements up with their signs, so half of them cancel the other half. Square them before you "
            "add, and take the root.",
        ),
    ],
    hints=[
        "Two lengths: of the update and of the variable before it. Which arrays are they the lengths of?",
        "`np.linalg.norm` gives the length of an array of any shape. For which `before` can you not divide?",
        "`size = np.linalg.norm(before)`; return NaN if it is 0, else `np.linalg.norm(after - before) / size`.",
    ],
    explanation=(
        "The ratio has no unit, so it can be compared between layers, models and optimizers. A healthy one is near a "
        "thousandth: at 1e-3 a weight needs about a thousand steps in one direction to become another."
    ),
    tolerance=Tolerance(rtol=1e-3, atol=1e-9),
    level="core",
)
