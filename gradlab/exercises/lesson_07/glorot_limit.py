"""glorot_limit: the compromise between the way there and the way back, as Keras draws it."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def glorot_limit(fan_in, fan_out):
    """Return the limit of the uniform distribution from which Glorot's initialization draws the weights of a layer.

    The way there asks for a variance of ``1 / fan_in``, the way back for ``1 / fan_out``. Glorot and Bengio (2010) take
    the middle: one divided by the *mean* of the two, that is, a variance of ``2 / (fan_in + fan_out)``.

    Weights drawn evenly between ``-limit`` and ``limit`` have the variance ``limit ** 2 / 3``. Return the ``limit``
    with which that is Glorot's variance.

    fan_in, fan_out: whole numbers >= 1. Returns a positive number.

    Example: ``glorot_limit(100, 50)`` is 0.2: 0.2² / 3 is 1/75, and so is 2 / 150.
    """
    return np.sqrt(6.0 / (fan_in + fan_out))


def probe(answer, rng):
    """Layers that narrow, widen and keep their width, and the smallest one."""
    few, many = int(rng.integers(20, 60)), int(rng.integers(300, 900))
    return {
        "more inputs than outputs": [answer(many, few), answer(2 * many, 3 * few)],
        "more outputs than inputs": [answer(few, many), answer(few + 5, 3 * many)],
        "as many": answer(many, many),
        "one input": answer(1, few),
        "one of each": answer(1, 1),
    }


def std_for_limit(fan_in, fan_out):
    """Returns the standard deviation."""
    return np.sqrt(2.0 / (fan_in + fan_out))


def product(fan_in, fan_out):
    """Multiplies the fans."""
    return np.sqrt(6.0 / (fan_in * fan_out))


def no_root(fan_in, fan_out):
    """Returns the square of the limit."""
    return 6.0 / (fan_in + fan_out)


def variance(fan_in, fan_out):
    """Returns the variance."""
    return 2.0 / (fan_in + fan_out)


def mean_forgotten(fan_in, fan_out):
    """Divides by the sum of the fans in place of their mean."""
    return np.sqrt(3.0 / (fan_in + fan_out))


def he_limit(fan_in, fan_out):
    """Looks at the inputs alone, with He's 2."""
    return np.sqrt(6.0 / fan_in)


def inputs_only(fan_in, fan_out):
    """Cares for the way there alone."""
    return np.sqrt(3.0 / fan_in)


def outputs_only(fan_in, fan_out):
    """Cares for the way back alone."""
    return np.sqrt(3.0 / fan_out)


def mean_of_variances(fan_in, fan_out):
    """Takes the mean of the two variances."""
    return np.sqrt(3.0 * (1.0 / fan_in + 1.0 / fan_out) / 2)


def width_for_limit(fan_in, fan_out):
    """Returns how wide the whole interval is."""
    return 2 * np.sqrt(6.0 / (fan_in + fan_out))


def half_the_width(fan_in, fan_out):
    """Divides by 3 where it should multiply."""
    return np.sqrt(2.0 / (fan_in + fan_out) / 3)


def bracket_forgotten(fan_in, fan_out):
    """Divides by fan_in and adds fan_out."""
    return np.sqrt(6.0 / fan_in + fan_out)


exercise = Exercise(
    answer=glorot_limit,
    probe=probe,
    misconceptions=[
        Misconception(
            "std-for-limit",
            std_for_limit,
            "That is the standard deviation. Numbers spread evenly between two limits lie mostly nearer than the "
            "limit, so the limit is larger: set limit² / 3 equal to the variance and solve for it.",
        ),
        Misconception(
            "product",
            product,
            "You multiply the two fans. The middle of the two demands has their sum below the line.",
        ),
        Misconception(
            "no-root",
            no_root,
            "That is the limit squared. One root is still to be taken.",
        ),
        Misconception(
            "variance",
            variance,
            "That is the variance itself. The task asks for the limit that gives it.",
        ),
        Misconception(
            "sum-for-mean",
            mean_forgotten,
            "You divide by the sum of the fans. Their mean is half of it: the variance is 2 / (fan_in + fan_out).",
        ),
        Misconception(
            "he-limit",
            he_limit,
            "That is the limit of He's uniform weights. Glorot's rule has both fans in it.",
        ),
        Misconception(
            "way-there-only",
            inputs_only,
            "You care for the way there alone: the variance is 1 / fan_in. Glorot's rule has fan_out in it too.",
        ),
        Misconception(
            "way-back-only",
            outputs_only,
            "You care for the way back alone: the variance is 1 / fan_out. Glorot's rule has fan_in in it too.",
        ),
        Misconception(
            "mean-of-the-variances",
            mean_of_variances,
            "You take the mean of 1 / fan_in and 1 / fan_out. Glorot takes the mean of the fans, and divides one by "
            "it. These differ when the fans do.",
        ),
        Misconception(
            "width-for-limit",
            width_for_limit,
            "That is the width of the whole interval, from -limit to limit. The limit is half of it: a variance of "
            "width² / 12 is one of limit² / 3.",
        ),
        Misconception(
            "three-on-the-wrong-side",
            half_the_width,
            "You divide by 3. From limit² / 3 = variance, multiply both sides by 3.",
        ),
        Misconception(
            "no-parentheses",
            bracket_forgotten,
            "Python divides before it adds: `6 / fan_in + fan_out` divides by fan_in alone. Put brackets around the "
            "sum.",
        ),
    ],
    hints=[
        "Write down the equation: limit² / 3 on one side, Glorot's variance on the other.",
        "Multiply both sides by 3, then take the square root.",
        "3 · 2 / (fan_in + fan_out) is limit². Mind the brackets around the sum.",
    ],
    explanation=(
        'This is kernel_initializer="glorot_uniform", which every Dense and convolution layer of Keras uses unless you '
        "say otherwise. It has no factor for ReLU in it: Glorot and Bengio thought of activations that are nearly a "
        "straight line around 0, such as tanh."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=0.0),
    level="stretch",
)
