"""directional_check: one number that tests a whole gradient."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance
from gradlab.exercises.lesson_04.central_difference import central_difference
from gradlab.exercises.lesson_04.good_step import good_step


def directional_check(f, gradient, x, direction):
    """Return the slope of ``f`` at ``x`` along ``direction`` twice: as measured, and as ``gradient`` claims it.

    Both are slopes per unit length: first divide ``direction`` by its length, the square root of the sum of all its
    squared elements. Call the result ``unit``.

    * measured: the slope of ``t -> f(x + t * unit)`` at ``t = 0``, by ``central_difference``. The numbers in ``x`` are
      float64 and of size 1; any step from 1e-6 to 1e-4 is fine. ``f`` is expensive: call it exactly twice.
    * claimed: the sum of all products of an element of ``gradient`` with the same element of ``unit``.

    f: a function of one array like ``x`` that returns one number. gradient, x, direction: float64 NumPy arrays of the
    same shape (any number of dimensions); ``gradient`` may be wrong, that is what you test. ``direction`` has any
    length but 0. All of them stay as they are.
    Returns the pair ``(measured, claimed)``. Example: for ``f(x) = sum of squares``, ``x = [1, 2]``,
    ``gradient = [2, 4]`` and ``direction = [3, 4]`` it is ``(4.4, 4.4)``, as ``2 * 0.6 + 4 * 0.8 = 4.4``.
    """
    unit = direction / np.linalg.norm(direction)
    measured = central_difference(lambda t: f(x + t * unit), 0.0, good_step("float64", 1.0))
    claimed = np.sum(gradient * unit)
    return measured, claimed


def probe(answer, rng):
    """A right and a wrong gradient; vectors, a matrix, a direction along one axis; where f is called, and how often."""
    x, direction = rng.uniform(0.5, 1.5, size=5), 4 * rng.normal(size=5)
    bend = rng.uniform(0.5, 1.5, size=5)
    wrong = rng.normal(size=5)
    table, across = rng.uniform(0.5, 1.5, size=(4, 3)), 0.3 * rng.normal(size=(4, 3))
    turn = rng.normal(size=(4, 3))
    axis = np.zeros(5)
    axis[3] = -2.5

    points = []

    def growth(point):
        points.append(np.array(point, dtype=float))
        return float(np.sum(np.exp(bend * points[-1])))

    def bowl(point):
        return float(np.sum(turn * np.asarray(point) ** 3))

    right = bend * np.exp(bend * x)
    first = list(answer(growth, right, x, direction))
    step, calls = calls_around(x, points)
    return {
        "a right gradient": first,
        "a wrong gradient": list(answer(growth, wrong, x, direction)),
        "the opposite direction": list(answer(growth, right, x, -2 * direction)),
        "along one axis": list(answer(growth, right, x, axis)),
        "a matrix": list(answer(bowl, 3 * turn * table**2, table, across)),
        "length of the step": step,
        "calls of f": calls,
    }


def calls_around(x, points):
    """The range that the step lies in; how many points there are, and how many steps off x their middle is."""
    if len(points) < 2:
        return "none is taken", {"how many": len(points), "steps from x to their middle": 0.0}
    step = max(np.linalg.norm(point - points[0]) for point in points) / 2
    off = np.linalg.norm(np.mean(points, axis=0) - x) / step if step else 0.0
    words = "shorter than 1e-6" if step < 0.9e-6 else "longer than 1e-4" if step > 1.1e-4 else "from 1e-6 to 1e-4"
    return words, {"how many": len(points), "steps from x to their middle": float(off)}


def slope_along(f, x, way):
    """A central difference along ``way``, which is taken as it is."""
    step = 1e-6
    return (f(x + step * way) - f(x - step * way)) / (2 * step)


def not_normalised(f, gradient, x, direction):
    """Takes the direction at its own length."""
    return slope_along(f, x, direction), np.sum(gradient * direction)


def against_the_norm(f, gradient, x, direction):
    """Takes the length of the gradient for the slope in every direction."""
    unit = direction / np.linalg.norm(direction)
    return slope_along(f, x, unit), np.linalg.norm(gradient)


def measured_unnormalised(f, gradient, x, direction):
    """Divides only the claimed slope by the length."""
    unit = direction / np.linalg.norm(direction)
    return slope_along(f, x, direction), np.sum(gradient * unit)


def claimed_unnormalised(f, gradient, x, direction):
    """Divides only the measured slope by the length."""
    unit = direction / np.linalg.norm(direction)
    return slope_along(f, x, unit), np.sum(gradient * direction)


def along_the_gradient(f, gradient, x, direction):
    """Walks along the gradient instead of along the direction."""
    unit = gradient / np.linalg.norm(gradient)
    return slope_along(f, x, unit), np.sum(gradient * unit)


def swapped(f, gradient, x, direction):
    """Returns the pair the other way round."""
    unit = direction / np.linalg.norm(direction)
    return np.sum(gradient * unit), slope_along(f, x, unit)


def sizes_only(f, gradient, x, direction):
    """Drops the signs."""
    unit = direction / np.linalg.norm(direction)
    return abs(slope_along(f, x, unit)), abs(np.sum(gradient * unit))


def mean_of_products(f, gradient, x, direction):
    """Averages the products instead of adding them."""
    unit = direction / np.linalg.norm(direction)
    return slope_along(f, x, unit), np.mean(gradient * unit)


def forward(f, gradient, x, direction):
    """Goes forward only."""
    unit = direction / np.linalg.norm(direction)
    return (f(x + 4e-6 * unit) - f(x)) / 4e-6, np.sum(gradient * unit)


def element_by_element(f, gradient, x, direction):
    """Measures every element of the gradient first."""
    unit = direction / np.linalg.norm(direction)
    slopes = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        axis = np.zeros_like(x)
        axis[place] = 1.0
        slopes[place] = slope_along(f, x, axis)
    return np.sum(slopes * unit), np.sum(gradient * unit)


def half_forgotten(f, gradient, x, direction):
    """Walks two steps and divides by one."""
    unit = direction / np.linalg.norm(direction)
    return 2 * slope_along(f, x, unit), np.sum(gradient * unit)


def divided_by_the_sum(f, gradient, x, direction):
    """Takes the sum of the elements for the length."""
    unit = direction / np.sum(direction)
    return slope_along(f, x, unit), np.sum(gradient * unit)


def root_forgotten(f, gradient, x, direction):
    """Divides by the sum of the squared elements: the square of the length."""
    unit = direction / np.sum(direction**2)
    return slope_along(f, x, unit), np.sum(gradient * unit)


def nothing_measured(f, gradient, x, direction):
    """Gives the claim for the measurement, too."""
    claimed = np.sum(gradient * (direction / np.linalg.norm(direction)))
    return claimed, claimed


exercise = Exercise(
    answer=directional_check,
    probe=probe,
    misconceptions=[
        Misconception(
            "not-normalised",
            not_normalised,
            "Both slopes are too steep by the length of the direction. Divide the direction by its length first: a "
            "slope per unit length can be compared with other directions.",
        ),
        Misconception(
            "compared-with-the-norm",
            against_the_norm,
            "You claim the length of the gradient as the slope in every direction. That is the slope along the "
            "gradient itself, the steepest of all. Along another direction only a share of it counts.",
        ),
        Misconception(
            "measured-along-the-raw-direction",
            measured_unnormalised,
            "The claimed slope is per unit length, the measured one isn't: walk along the unit direction too.",
        ),
        Misconception(
            "claimed-along-the-raw-direction",
            claimed_unnormalised,
            "The measured slope is per unit length, the claimed one isn't: multiply the gradient with the unit "
            "direction.",
        ),
        Misconception(
            "along-the-gradient",
            along_the_gradient,
            "You walk along the gradient. Then a wrong gradient chooses the direction in which it is tested. Walk "
            "along the direction that you were given.",
        ),
        Misconception(
            "pair-swapped",
            swapped,
            "The right numbers in the wrong order: measured first, then claimed.",
        ),
        Misconception(
            "sign-dropped",
            sizes_only,
            "Your slopes are never negative. Walking downhill, a slope is negative; keep the sign, or a gradient that "
            "points the wrong way passes your test.",
        ),
        Misconception(
            "mean-for-sum",
            mean_of_products,
            "You average the products; add them. Every element contributes its own slope.",
        ),
        Misconception(
            "forward-only",
            forward,
            "You measure from x to a point ahead: a forward difference, which leans to one side. Go one step to "
            "either side of x; your central_difference does it.",
        ),
        Misconception(
            "element-by-element",
            element_by_element,
            "The right numbers at the wrong price: you call f twice for every element. The function "
            "t -> f(x + t * unit) has one input, so two calls are enough, however many elements there are.",
        ),
        Misconception(
            "half-forgotten",
            half_forgotten,
            "Your measured slope is twice too steep: the two points are two steps apart.",
        ),
        Misconception(
            "divided-by-the-sum",
            divided_by_the_sum,
            "You divide the direction by the sum of its elements, which may even be negative. Its length is the square "
            "root of the sum of the squared elements.",
        ),
        Misconception(
            "root-forgotten",
            root_forgotten,
            "You divide by the sum of the squared elements. The length is its square root.",
        ),
        Misconception(
            "nothing-measured",
            nothing_measured,
            "Both of your numbers come from the gradient, and f is never called. Then every gradient passes. Measure "
            "the first one with values of f alone.",
        ),
    ],
    # how exact the measured slope is follows from where f is called, and that is judged by itself
    tolerance=dict.fromkeys(
        ["a right gradient", "a wrong gradient", "the opposite direction", "along one axis", "a matrix"],
        Tolerance(rtol=1e-3, atol=1e-4),
    )
    | {"calls of f": Tolerance(rtol=0.0, atol=0.01)},
    hints=[
        "Make `unit` first. Then the function of one number, t -> f(x + t * unit), is a case for central_difference.",
        "`central_difference(lambda t: f(x + t * unit), 0.0, step)` is the measured slope. The claimed one needs no "
        "call of f at all.",
        "`unit = direction / np.linalg.norm(direction)`; claimed is `np.sum(gradient * unit)`. Return both, measured "
        "first.",
    ],
    explanation=(
        "Two calls of f test every element of the gradient at once, and a wrong one hides only if the direction "
        "happens to be at a right angle to the mistake. gradcheck does exactly this with several random directions."
    ),
    level="core",
)
