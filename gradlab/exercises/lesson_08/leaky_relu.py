"""leaky_relu: a ReLU that lets a little through on the other side."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception


def leaky_relu(x, slope):
    """Return ``x`` where it is positive, and ``slope * x`` where it is negative.

    x: array of floats, of any shape. slope: a number, 0 or more; it may be larger than 1.
    Returns an array of the same shape.

    Examples: ``leaky_relu(np.array([-2.0, 0.0, 3.0]), 0.1)`` is ``[-0.2, 0.0, 3.0]``, and with a slope of 2 it is
    ``[-4.0, 0.0, 3.0]``.
    """
    return np.where(np.asarray(x) > 0, x, slope * np.asarray(x))


def probe(answer, rng):
    """Both sides, in several shapes, with slopes of 0, below 1 and above it."""

    def both_sides(shape, dtype=np.float64):
        x = rng.uniform(0.2, 3.0, shape)
        x.flat[::2] *= -1
        x.flat[-1] = 0.0
        return x.astype(dtype)

    square, cube = both_sides((5, 4)), both_sides((2, 3, 2))
    flat, other = both_sides(7, np.float32), both_sides((4, 3))
    small, large = float(rng.uniform(0.05, 0.4)), float(rng.uniform(1.5, 4.0))
    return {
        "slope below 1": answer(square, small),
        "slope above 1": answer(cube, large),
        "slope 0": answer(flat, 0.0),
        "slope 1": answer(other, 1.0),
    }


def wrong_side(x, slope):
    """Multiplies the positive side."""
    return np.where(x > 0, slope * x, x)


def larger_of_two(x, slope):
    """Takes the larger of x and slope * x, which turns round for a slope above 1."""
    return np.maximum(x, slope * x)


def smaller_of_two(x, slope):
    """Takes the smaller of x and slope * x."""
    return np.minimum(x, slope * x)


def slope_itself(x, slope):
    """Returns the slope where slope times x is meant."""
    return np.where(x > 0, x, slope)


def added_everywhere(x, slope):
    """Adds slope * x on both sides."""
    return np.maximum(x, 0) + slope * x


def folded_up(x, slope):
    """Turns the negative side up."""
    return np.where(x > 0, x, -slope * x)


def fixed_slope(x, slope):
    """Uses a slope of its own."""
    return np.where(x > 0, x, 0.01 * x)


def elu(x, slope):
    """Bends the negative side, as ELU does."""
    return np.where(x > 0, x, slope * np.expm1(np.minimum(x, 0)))


def plain_relu(x, slope):
    """Cuts the negative side off."""
    return np.maximum(x, 0)


def no_side(x, slope):
    """Multiplies on both sides."""
    return slope * x


def divided(x, slope):
    """Divides where it should multiply (a slope of 0 cuts off)."""
    return np.where(x > 0, x, x / slope if slope else 0.0)


exercise = Exercise(
    answer=leaky_relu,
    probe=probe,
    misconceptions=[
        Misconception(
            "slope-on-the-positive-side",
            wrong_side,
            "The two sides are swapped: positive numbers pass as they are, negative ones are multiplied by the slope.",
        ),
        Misconception(
            "larger-of-two",
            larger_of_two,
            "The larger of x and slope * x is a known trick, and it is right for slopes up to 1. With a slope above 1 "
            "it picks the wrong one on both sides: choose by the sign of x instead.",
        ),
        Misconception(
            "smaller-of-two",
            smaller_of_two,
            "The smaller of x and slope * x is right for slopes above 1 only. Choose by the sign of x instead.",
        ),
        Misconception(
            "slope-itself",
            slope_itself,
            "Where x is negative you return the slope itself, so all negative numbers become one. It is a factor: "
            "slope * x.",
        ),
        Misconception(
            "added-everywhere",
            added_everywhere,
            "You add slope * x on the positive side too, so positive numbers grow. They should pass as they are.",
        ),
        Misconception(
            "folded-up",
            folded_up,
            "Negative numbers come out positive: there is a minus sign too many.",
        ),
        Misconception(
            "fixed-slope",
            fixed_slope,
            "You use a slope of 0.01 whatever you are given. The slope is an argument.",
        ),
        Misconception(
            "elu",
            elu,
            "slope * (exp(x) - 1) is ELU, which levels off on the negative side. The leaky ReLU is straight there.",
        ),
        Misconception(
            "plain-relu",
            plain_relu,
            "That is the plain ReLU: the negative side is gone. Let it through, multiplied by the slope.",
        ),
        Misconception(
            "both-sides",
            no_side,
            "You multiply on both sides. Positive numbers should pass as they are.",
        ),
        Misconception(
            "divided",
            divided,
            "You divide negative numbers by the slope: it is the factor by which they are multiplied.",
        ),
    ],
    hints=[
        "What comes out for 3, and what for -3, if the slope is 0.1? And if it is 2?",
        "Choose by the sign of x, not by which of two numbers is larger.",
        "`np.where(x > 0, a, b)` takes from a where x is positive, and from b elsewhere.",
    ],
    explanation=(
        "On the negative side its slope isn't 0, so each unit gets some gradient from every example. In Keras it is "
        "`keras.layers.LeakyReLU(negative_slope)`; PReLU is the same with a slope that is learned."
    ),
    level="stretch",
)
