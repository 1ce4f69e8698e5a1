"""sigmoid_gradient: the slope of the sigmoid, for inputs however large."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def sigmoid_gradient(x):
    """Return the slope of the sigmoid at each element of ``x``: the derivative of ``1 / (1 + exp(-x))``.

    With ``s = 1 / (1 + exp(-x))`` the slope is ``s * (1 - s)``, which is also ``exp(-x) / (1 + exp(-x))**2``. It is the
    same at x and at -x, largest at 0, and never negative. It has to be a number for every input: at 1000 and at -1000
    the slope is 0 and not NaN, though ``exp(1000)`` is more than a float can hold.

    x: array of floats, of any shape: the input of the sigmoid (not its output).
    Returns an array of the same shape. An error of 0.0000001, or of a thousandth of the slope, doesn't matter.

    Example: ``sigmoid_gradient(np.array([-1000.0, 0.0, 2.0]))`` is ``[0.0, 0.25, 0.105]`` (rounded).
    """
    small = np.exp(-np.abs(x))  # at most 1, so nothing overflows
    return small / (1 + small) ** 2


def probe(answer, rng):
    """Near 0, where the curve levels off, and far out on either side, in float64 and in float32."""
    near = rng.uniform(0.3, 3.0, (3, 4)) * rng.choice([-1.0, 1.0], (3, 4))
    levelling = rng.uniform(5.0, 8.0, 6) * np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    far = rng.uniform(900.0, 1100.0, 2)
    return {
        "near 0": answer(near),
        "at 0": answer(np.zeros((2, 1, 2))),
        "where it levels off": answer(levelling.astype(np.float32)),
        "far to the left": answer(np.array([-far[0], -100.0])),
        "far to the right": answer(np.array([far[1], 100.0], np.float32)),
    }


def overflow_left(x):
    """Writes the formula with exp(-x): infinity by infinity on the left."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.exp(-x) / (1 + np.exp(-x)) ** 2


def overflow_right(x):
    """Writes the formula with exp(x): infinity by infinity on the right."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.exp(x) / (1 + np.exp(x)) ** 2


def _sigmoid(x):
    return np.exp(-np.logaddexp(0.0, -x))


def of_the_output(x):
    """Takes x for the output of the sigmoid."""
    return x * (1 - x)


def sigmoid_twice(x):
    """Takes the slope at s instead of at x."""
    s = _sigmoid(_sigmoid(x))
    return s * (1 - s)


def sigmoid_itself(x):
    """Returns the sigmoid."""
    return _sigmoid(x)


def tanh_slope(x):
    """Takes the rule for tanh, 1 minus the square, for the sigmoid."""
    return 1 - _sigmoid(x) ** 2


def no_square(x):
    """Forgets the square below: that is the smaller of s and 1 - s."""
    small = np.exp(-np.abs(x))
    return small / (1 + small)


def sign_turned(x):
    """Subtracts 1 from s instead of s from 1."""
    s = _sigmoid(x)
    return s * (s - 1)


def clipped_too_close(x):
    """Clips x so close to 0 that the slope can't fall any more."""
    s = _sigmoid(np.clip(x, -4, 4))
    return s * (1 - s)


def signed_like_x(x):
    """Gives the slope the sign of x."""
    return np.sign(x) * sigmoid_gradient(x)


exercise = Exercise(
    answer=sigmoid_gradient,
    probe=probe,
    misconceptions=[
        Misconception(
            "overflow-on-the-left",
            overflow_left,
            "Far to the left exp(-x) is infinite, and you divide infinity by infinity: NaN. Which exponent is never "
            "large, whatever the sign of x? The slope is the same at x and at -x.",
        ),
        Misconception(
            "overflow-on-the-right",
            overflow_right,
            "Far to the right exp(x) is infinite, and you divide infinity by infinity: NaN. Which exponent is never "
            "large, whatever the sign of x? The slope is the same at x and at -x.",
        ),
        Misconception(
            "x-for-the-output",
            of_the_output,
            "x * (1 - x) is right when x is what came out of the sigmoid. Here x is what goes in: compute s first.",
        ),
        Misconception(
            "sigmoid-twice",
            sigmoid_twice,
            "You apply the sigmoid twice: to x, and once more to the result, before you take s * (1 - s). Once is "
            "enough.",
        ),
        Misconception(
            "value-for-slope",
            sigmoid_itself,
            "You return the sigmoid itself. Its slope is small on both sides; yours is 1 on the right.",
        ),
        Misconception(
            "slope-of-tanh",
            tanh_slope,
            "1 minus the square of the output is the rule for tanh. The sigmoid has one of its own: s * (1 - s).",
        ),
        Misconception(
            "no-square",
            no_square,
            "At 0 you get 1/2, and the slope there is 1/4: the square of the denominator is missing.",
        ),
        Misconception(
            "sign-turned",
            sign_turned,
            "The sigmoid rises everywhere, so its slope is never negative: 1 - s, not s - 1.",
        ),
        Misconception(
            "clipped-too-close",
            clipped_too_close,
            "Clipping x does keep exp finite. But yours is clipped so close to 0 that the slope stays at 0.018 from "
            "there on, where it should go on falling towards 0.",
        ),
        Misconception(
            "signed-like-x",
            signed_like_x,
            "The slope is the same at x and at -x. Take the size of x for the exponent, and leave its sign out of the "
            "result.",
        ),
    ],
    hints=[
        "Compute exp(1000) and exp(-1000) in NumPy. One of the two is harmless. How do you always get that one?",
        "The slope at x equals the slope at -x, so only the size of x counts: exp of minus the size is at most 1.",
        "`small = np.exp(-np.abs(x))`, and then the second formula of the task with `small` for exp(-x).",
    ],
    explanation=(
        "The slope is 1/4 at 0 and falls about e-fold with each unit of x beyond 3 or so. In a backward pass it is a "
        "factor, one per layer: that is what this lesson is about."
    ),
    tolerance=Tolerance(rtol=1e-3, atol=1e-7),
    level="core",
)
