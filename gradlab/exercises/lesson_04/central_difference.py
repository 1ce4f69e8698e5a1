"""central_difference: the slope of a function, measured by going one step to either side."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def central_difference(f, x, step):
    """Return the slope of ``f`` at ``x``, measured between the two points one ``step`` to either side of ``x``.

    Evaluate ``f`` one whole ``step`` above ``x`` and one whole ``step`` below. Divide the change of ``f`` between the
    two points by their distance *as they came out*. The computer may have rounded them. At
    ``x = np.float32(150)`` the next larger float32 is 0.0000153 away, so a step of 0.00001 becomes a step of
    0.0000153: the points are then 0.0000305 apart, not ``2 * step``.

    f: a function of one number that returns one number. x: one number, a Python float, ``np.float64`` or
    ``np.float32``; call ``f`` with numbers of the same type, as it may compute in another precision otherwise.
    step: a positive Python float.
    Returns one number. Example: ``central_difference(cube, 2.0, 0.5)`` is ``(15.625 - 3.375) / 1.0 = 12.25``.
    """
    upper = x + step
    lower = x - step
    return (f(upper) - f(lower)) / (upper - lower)


def probe(answer, rng):
    """A cubic with a long step, where other recipes differ; float32 points that rounding has moved; their type."""
    bend, start = rng.uniform(0.5, 1.5), rng.uniform(0.5, 2.0)
    drop = rng.uniform(1.5, 3.0)
    slope = rng.uniform(0.3, 0.7)
    far = np.float32(rng.uniform(140.0, 240.0))

    def cubic(x):
        return bend * x * x * x - x * x

    def falling_curve(x):
        return 5.0 - drop * x * x * x

    types = []

    def line_through_far(x):
        types.append(np.asarray(x).dtype.name)
        return slope * (float(x) - float(far))

    def line_through_128(x):
        types.append(np.asarray(x).dtype.name)
        return slope * (float(x) - 128.0)

    found = {
        "a curve": answer(cubic, float(start), 0.375),
        "a falling curve": answer(falling_curve, float(-start), 0.25),
        "a short step": answer(cubic, float(start), 1e-6),
        "float32, a step rounded up": answer(line_through_far, far, 4e-5),
        "float32, a step rounded down": answer(line_through_far, far, 5e-5),
        "float32, two steps rounded unlike": answer(line_through_128, np.float32(128), 4e-5),
    }
    return found | {"float32, the type that f is called with": ", ".join(sorted(set(types)))}


def forward(f, x, step):
    """Goes forward only."""
    upper = x + step
    return (f(upper) - f(x)) / (upper - x)


def forward_by_the_step(f, x, step):
    """Goes forward only, and divides by the step that was asked for."""
    return (f(x + step) - f(x)) / step


def backward(f, x, step):
    """Goes back only."""
    lower = x - step
    return (f(x) - f(lower)) / (x - lower)


def backward_by_the_step(f, x, step):
    """Goes back only, and divides by the step that was asked for."""
    return (f(x) - f(x - step)) / step


def one_step_below(f, x, step):
    """Walks two steps and divides by one."""
    upper = x + step
    lower = x - step
    return (f(upper) - f(lower)) / (upper - x)


def step_asked_for(f, x, step):
    """Divides by the step that was asked for, not by the one that was taken."""
    return (f(x + step) - f(x - step)) / (2 * step)


def half_steps(f, x, step):
    """Goes only half a step to either side."""
    return (f(x + step / 2) - f(x - step / 2)) / step


def change_only(f, x, step):
    """Forgets to divide."""
    return f(x + step) - f(x - step)


def in_float64(f, x, step):
    """Leaves float32 before it takes the step."""
    upper, lower = np.float64(x) + step, np.float64(x) - step
    return (f(upper) - f(lower)) / (upper - lower)


def twice_the_upper_step(f, x, step):
    """Measures one of the two steps and takes the other to be the same."""
    upper = x + step
    lower = x - step
    return (f(upper) - f(lower)) / (2 * (upper - x))


def no_parentheses_above(f, x, step):
    """Divides the value at the lower point alone."""
    upper = x + step
    lower = x - step
    return f(upper) - f(lower) / (upper - lower)


def no_parentheses_below(f, x, step):
    """Divides by the upper point, and takes the lower one away afterwards."""
    upper = x + step
    lower = x - step
    return (f(upper) - f(lower)) / upper - lower


exercise = Exercise(
    answer=central_difference,
    probe=probe,
    misconceptions=[
        Misconception(
            "forward-only",
            forward,
            "You compare a point ahead with x itself. That is the forward difference: it leans to the side where the "
            "function bends. Take one point on either side of x.",
        ),
        Misconception(
            "forward-by-the-step-asked-for",
            forward_by_the_step,
            "You compare a point ahead with x itself. That is the forward difference: it leans to the side where the "
            "function bends. Take one point on either side of x, and divide by the distance that they really have.",
        ),
        Misconception(
            "backward-only",
            backward,
            "You compare x with a point behind it. That leans to one side; take one point on either side of x.",
        ),
        Misconception(
            "backward-by-the-step-asked-for",
            backward_by_the_step,
            "You compare x with a point behind it. That leans to one side; take one point on either side of x, and "
            "divide by the distance that they really have.",
        ),
        Misconception(
            "half-forgotten",
            one_step_below,
            "Your slope is twice too steep: from the lower to the upper point you walk two steps, and divide by one.",
        ),
        Misconception(
            "step-not-taken",
            step_asked_for,
            "Right in float64 and wrong in float32: you divide by the step you asked for. Near 150 float32 can't take "
            "a step of 1e-5 and takes another one. How far apart are the two points that f was really called with?",
        ),
        Misconception(
            "half-steps",
            half_steps,
            "Your points are one step apart. Go a whole step to either side, so that they are two steps apart.",
        ),
        Misconception(
            "no-division",
            change_only,
            "You have the change of f. A slope is a change per unit of the input: how far apart are the two points?",
        ),
        Misconception(
            "type-thrown-away",
            in_float64,
            "You turn x into float64 before you take the step. Then f is measured at points, and in a precision, that "
            "a float32 program never sees. Take the step in the type that x has.",
        ),
        Misconception(
            "no-parentheses-above",
            no_parentheses_above,
            "Python divides before it subtracts: only the value at the lower point is divided. Put parentheses around "
            "the change of f.",
        ),
        Misconception(
            "no-parentheses-below",
            no_parentheses_below,
            "Python divides before it subtracts: you divide by the upper point and take the lower one away from the "
            "result. Put parentheses around the distance of the two.",
        ),
        Misconception(
            "one-side-doubled",
            twice_the_upper_step,
            "You measured one of the two steps and doubled it. At 128 the floats below lie closer together than those "
            "above, so the two steps are rounded unlike. Measure from the lower point to the upper one.",
        ),
    ],
    tolerance=Tolerance(rtol=1e-5, atol=1e-7),
    weights={"a curve": 2},
    hints=[
        "Name the two points first: one step above x, one step below. What is the change of f between them?",
        "Divide by the distance of the two points you named, not by a number computed from step.",
        "Start with `upper = x + step` and `lower = x - step`. The distance is `upper - lower`.",
    ],
    explanation=(
        "Going the same way to both sides cancels the bend of the function: the error falls with the square of the "
        "step, where the forward difference falls with the step itself. Dividing by the step really taken costs "
        "nothing and takes one rounding error away."
    ),
    level="core",
)
