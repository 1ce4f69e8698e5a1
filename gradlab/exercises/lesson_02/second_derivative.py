"""second_derivative: a tape around a tape."""

import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def second_derivative(f, x):
    """Return the second derivative of ``f`` at ``x``, d²f/dx²: how fast the slope of f changes there.

    f: a function written with TensorFlow operations that works on each number of a tensor by itself, as ``tf.sin``
    does, and returns a tensor of the same shape.
    x: a float32 ``tf.Tensor`` or ``tf.Variable`` of shape () or (n,). It stays as it is.
    Returns a tensor or array of the shape of x: for each number of x, the second derivative of f there.

    Example: with ``def cube(x): return x ** 3``, whose slope is 3 * x ** 2, ``second_derivative(cube, x)`` at
    ``x = tf.constant([1.0, -2.0])`` is ``[6.0, -12.0]``.
    """
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            value = f(x)
        slope = inner.gradient(value, x)
    return outer.gradient(slope, x)


def probe(answer, rng):
    """Second derivatives of curves at a number, at several, and at a variable."""
    number = tf.constant(rng.uniform(0.5, 1.5), tf.float32)
    several = tf.constant(rng.uniform([-1.4, -0.4, 0.6, 1.0], [-0.9, 0.1, 0.8, 1.4]), tf.float32)  # bent up, then down
    variable = tf.Variable(rng.uniform(0.5, 2.0), dtype=tf.float32)
    rate = round(float(rng.uniform(1.2, 1.8)), 2)

    def sine_plus_cube(x):
        return tf.sin(rate * x) + x**3

    def decaying_square_on_a_steep_line(x):  # a difference of slopes near 50 has no digits left in float32
        return tf.exp(-rate * x) * x**2 + 50.0 * x

    def fourth_power_minus_three_squares(x):
        return x**4 - 3.0 * x**2

    sine_plus_cube.__name__ = f"sin({rate} * x) + x ** 3"
    decaying_square_on_a_steep_line.__name__ = f"exp(-{rate} * x) * x ** 2 + 50 * x"
    fourth_power_minus_three_squares.__name__ = "x ** 4 - 3 * x ** 2"
    found = {"at a variable": answer(fourth_power_minus_three_squares, variable)}
    for part, f, x in (
        ("at a number", sine_plus_cube, number),
        ("at several", decaying_square_on_a_steep_line, several),
    ):
        try:
            found[part] = answer(f, x)
        except TypeError as error:  # what a tape raises that is asked for the gradient of None
            found[part] = error
    return found | {"the variable afterwards": variable.numpy()}


def slope_outside(f, x):
    """Asks for the first derivative after the outer tape has closed."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            value = f(x)
    slope = inner.gradient(value, x)
    return outer.gradient(slope, x)


def watched_by_none(f, x):
    """Trusts both tapes to watch whatever they are asked about."""
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            value = f(x)
        slope = inner.gradient(value, x)
    return outer.gradient(slope, x)


def watched_by_one(f, x):
    """Tells only the inner tape about x."""
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            value = f(x)
        slope = inner.gradient(value, x)
    return outer.gradient(slope, x)


def whole_matrix(f, x):
    """Returns how each slope changes with each number of x, where only the diagonal is asked for."""
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            value = f(x)
        slope = inner.gradient(value, x)
    return outer.jacobian(slope, x, experimental_use_pfor=False)


def _slope(f, x):
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = f(x)
    return tape.gradient(value, x)


def first_derivative(f, x):
    """Returns the slope itself."""
    return _slope(f, x)


def slope_squared(f, x):
    """Reads d²f/dx² as the square of the slope."""
    return _slope(f, x) ** 2


def slope_at_the_slope(f, x):
    """Does the same thing twice: takes the slope of f at the place that the first slope names."""
    return _slope(f, _slope(f, x))


exercise = Exercise(
    answer=second_derivative,
    probe=probe,
    misconceptions=[
        Misconception(
            "slope-outside",
            slope_outside,
            "You get None. A tape can only differentiate what it saw. The first derivative has to be computed while a "
            "tape still records, and so has whatever you make of it (a sum, a mean): what stands outside the `with`?",
        ),
        Misconception(
            "watched-by-none",
            watched_by_none,
            "At a variable it works. At a plain tensor the inner tape answers None, and the outer one can't "
            "differentiate None. A plain tensor has to be announced, to both tapes.",
        ),
        Misconception(
            "watched-by-one",
            watched_by_one,
            "At a variable it works, at a plain tensor you get None. Each tape watches for itself: tell both of them "
            "about x.",
        ),
        Misconception(
            "whole-matrix",
            whole_matrix,
            "For n numbers you return n x n: how each slope changes with each number. f works on each one by itself, "
            "so only the diagonal counts; return one second derivative for each number.",
        ),
        Misconception(
            "first-derivative",
            first_derivative,
            "That is the slope of f. Asked for is the slope of the slope: differentiate once more.",
        ),
        Misconception(
            "slope-squared",
            slope_squared,
            "You squared the slope. The 2 in d²f/dx² means: differentiate twice.",
        ),
        Misconception(
            "slope-at-the-slope",
            slope_at_the_slope,
            "You took the slope of f at the place f'(x). Asked for is how f' changes at x.",
        ),
    ],
    hints=[
        "A gradient is computed with ordinary operations. A tape that is open while they run records them as well.",
        "Open an outer tape and an inner one inside it. Compute f(x) in the inner, ask the inner for the slope while "
        "the outer is still open, then ask the outer for the slope of that. Both have to watch x.",
        "Indentation decides: `slope = inner.gradient(value, x)` stands inside the outer `with`, and "
        "`outer.gradient(slope, x)` after it.",
    ],
    explanation=(
        "A backward pass is a computation like any other, so a second tape can record it. Curvature tells how large a "
        "step may be; gradient penalties and physics-informed losses differentiate through gradients in this way."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=1e-5),
    weights={"the variable afterwards": 0},
    level="stretch",
)
