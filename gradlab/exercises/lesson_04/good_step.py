"""good_step: the step at which the two errors of a central difference balance."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def good_step(dtype, scale):
    """Return the step at which the two errors of a central difference are equally large.

    ``scale`` says, in the units of the input, how far you have to go until the slope of the function is clearly
    another: 1 for ``sin(x)``, 100 for ``sin(x / 100)``. Over that distance the function changes by about its own size,
    so its slope is about ``size / scale``. Relative to the slope, a central difference then has these two errors:

    * the bend of the function: about ``(step / scale) ** 2``. It grows with the step.
    * rounding: each value of the function is off by about ``eps * size``, and so their difference divided by the step
      by ``eps * size / step``. Relative to the slope that is ``eps * scale / step``. It grows as the step shrinks.

    ``eps`` is the relative spacing of the dtype's numbers, about 1.2e-7 for float32 and 2.2e-16 for float64;
    ``np.finfo(dtype).eps`` knows it. Set the two equal and solve for the step. The balance is broad: an answer within a
    factor of 2 of the exact one is accepted.

    dtype: the text "float32" or "float64". scale: a positive number, which may be far below or above 1.
    Returns a positive number. Example: ``good_step("float32", 1.0)`` is about 0.005.
    """
    eps = np.finfo(dtype).eps
    return scale * eps ** (1 / 3)


def probe(answer, rng):
    """The power of ten of the step, for both dtypes and for scales at, above and below 1."""
    scales = [1.0, float(rng.uniform(2e3, 9e3)), float(rng.uniform(1e-4, 1e-3))]

    def power_of_ten(dtype, scale):
        step = answer(dtype, scale)
        if np.asarray(step).dtype.kind not in "iuf":
            return step
        if np.size(step) == 1 and np.asarray(step).item() <= 0:
            return "a step that is not positive"
        with np.errstate(all="ignore"):
            return np.log10(np.asarray(step, dtype=float)) + 12  # counted from 1e-12: a power isn't "so many times"

    return {
        f"steps in {dtype}": {
            name: power_of_ten(dtype, scale)
            for name, scale in zip(("scale 1", "scale near 5000", "scale near 1/2000"), scales, strict=True)
        }
        for dtype in ("float32", "float64")
    }


def one_step_for_all(dtype, scale):
    """Takes the usual 1e-5."""
    return 1e-5


def square_root(dtype, scale):
    """Takes the rule for forward differences."""
    return scale * np.finfo(dtype).eps ** 0.5


def scale_ignored(dtype, scale):
    """Balances the errors for a scale of 1, whatever the scale."""
    return np.finfo(dtype).eps ** (1 / 3)


def scale_at_least_one(dtype, scale):
    """Never goes below the step for a scale of 1."""
    return max(scale, 1.0) * np.finfo(dtype).eps ** (1 / 3)


def float64_always(dtype, scale):
    """Uses the spacing of float64 for every dtype."""
    return scale * np.finfo("float64").eps ** (1 / 3)


def smallest(dtype, scale):
    """Takes the smallest step that still moves the input."""
    return scale * np.finfo(dtype).eps


def a_third_of_eps(dtype, scale):
    """Takes the first power, and divides it by 3."""
    return scale * np.finfo(dtype).eps ** 1 / 3


def scale_under_the_root(dtype, scale):
    """Forgets that the scale has a power of its own."""
    return (np.finfo(dtype).eps * scale) ** (1 / 3)


def no_root(dtype, scale):
    """Solves for the third power of the step."""
    return np.finfo(dtype).eps * scale**3


def divided_by_scale(dtype, scale):
    """Solves for the step with the scale on the wrong side."""
    return np.finfo(dtype).eps ** (1 / 3) / scale


exercise = Exercise(
    answer=good_step,
    probe=probe,
    misconceptions=[
        Misconception(
            "square-root",
            square_root,
            "That is the balance for a forward difference, whose first error is step / scale. Here it is the square of "
            "that. Which root do you get when you solve for the step?",
        ),
        Misconception(
            "scale-ignored",
            scale_ignored,
            "Right for a scale of 1 only. A function that changes over thousands of pixels wants a longer step than "
            "one that changes over thousandths.",
        ),
        Misconception(
            "one-step-for-all",
            one_step_for_all,
            "You give the same step for every dtype and every scale. Which of the two arguments did you use?",
        ),
        Misconception(
            "scale-at-least-one",
            scale_at_least_one,
            "Right for large scales. A function that changes its shape within 0.0005 is bent a lot within your step: "
            "let the step shrink with the scale.",
        ),
        Misconception(
            "float64-always",
            float64_always,
            "Right for float64. float32 numbers lie further apart: its eps is about 1.2e-7.",
        ),
        Misconception(
            "smallest-step",
            smallest,
            "That is the smallest step that still moves x, and the rounding error is then as large as the slope. Set "
            "the two errors equal instead.",
        ),
        Misconception(
            "a-third-for-a-root",
            a_third_of_eps,
            "Python reads `** 1 / 3` as `(... ** 1) / 3`: you divide by 3 and take no root. Put brackets around 1/3.",
        ),
        Misconception(
            "scale-under-the-root",
            scale_under_the_root,
            "Right for a scale of 1 only. The scale stands on both sides when you set the errors equal: collect all of "
            "it on one side before you take the root.",
        ),
        Misconception(
            "no-root",
            no_root,
            "That is the third power of the step. One root is still to be taken.",
        ),
        Misconception(
            "scale-upside-down",
            divided_by_scale,
            "Your step shrinks as the scale grows. A function that changes slowly can take a longer step.",
        ),
    ],
    tolerance=Tolerance(rtol=0.0, atol=0.31),  # a factor of 2, and what rounding adds to it
    hints=[
        "Write the two errors side by side: (step / scale)² on the left, eps · scale / step on the right. At the best "
        "step they are equal.",
        "Multiply both sides by step, then by scale²: only step³ is left on one side.",
        "step³ = eps · scale³. Take the cube root: a number to the power 1/3.",
    ],
    explanation=(
        "The cube root of eps is about 0.005 in float32 and 0.000006 in float64. At that step each of the two errors "
        "is its square: about 2e-5 in float32, 4e-11 in float64. So of the 7 digits that a float32 has, a measured "
        "slope keeps 4 to 5; of the 16 of a float64, about 10."
    ),
    level="stretch",
    examples=False,
)
