"""slope_between: how steep a function is between two points."""

from gradlab.exercises.exercise import Exercise, Misconception


def slope_between(f, a, b):
    """Return the slope of the straight line through the points (a, f(a)) and (b, f(b)).

    The slope is the change of ``f`` divided by the change of its input. It is negative where ``f`` falls.

    f: a function of one number that returns one number. a, b: two different numbers, in any order.
    Returns one number. Example: ``slope_between(square, 1.0, 3.0)`` is ``(9 - 1) / (3 - 1) = 4.0``.
    """
    return (f(b) - f(a)) / (b - a)


def probe(answer, rng):
    """Slopes of curves and of a falling line, with a before and after b, far apart and close together.

    A cube tells the line through two points from the tangent halfway between them; for a square they are parallel.
    """
    a, b = rng.uniform(0.5, 2.0), rng.uniform(3.0, 5.0)
    drop = rng.uniform(1.5, 3.0)

    def square(x):
        return x * x

    def cube(x):
        return x * x * x

    def falling_line(x):
        return 7.0 - drop * x

    return {
        "rising": answer(cube, float(a), float(b)),
        "falling": answer(falling_line, float(a), float(b)),
        "a after b": answer(cube, float(b), float(-a)),
        "close together": answer(square, float(a), float(a) + 0.25),
    }


def difference_only(f, a, b):
    """Forgets to divide by the step."""
    return f(b) - f(a)


def order_mixed(f, a, b):
    """Takes b minus a above, and a minus b below."""
    return (f(b) - f(a)) / (a - b)


def run_over_rise(f, a, b):
    """Turns the fraction upside down."""
    return (b - a) / (f(b) - f(a))


def always_rising(f, a, b):
    """Drops the sign, so that nothing ever falls."""
    return abs(f(b) - f(a)) / abs(b - a)


def rise_without_sign(f, a, b):
    """Drops the sign of the change of f alone."""
    return abs(f(b) - f(a)) / (b - a)


def run_without_sign(f, a, b):
    """Divides by the distance of a and b, which has no sign."""
    return (f(b) - f(a)) / abs(b - a)


def no_parentheses(f, a, b):
    """Divides by b alone, and takes a away afterwards."""
    return (f(b) - f(a)) / b - a


def no_parentheses_at_all(f, a, b):
    """Writes the fraction in one line, without any parentheses."""
    return f(b) - f(a) / b - a


def no_parentheses_above(f, a, b):
    """Divides f(a) alone."""
    return f(b) - f(a) / (b - a)


exercise = Exercise(
    answer=slope_between,
    probe=probe,
    misconceptions=[
        Misconception(
            "no-division",
            difference_only,
            "You have the change of f. A slope is a change per unit of the input: how far apart are a and b?",
        ),
        Misconception(
            "mixed-order",
            order_mixed,
            "The sign is turned round: the upper difference runs from a to b, the lower one from b to a. "
            "Take both in the same order.",
        ),
        Misconception(
            "upside-down",
            run_over_rise,
            "The fraction stands on its head: this is change of input per change of f.",
        ),
        Misconception(
            "no-parentheses",
            no_parentheses,
            "Python divides before it subtracts: `.../ b - a` divides by b and takes a away from the result. Put "
            "parentheses around the change of the input.",
        ),
        Misconception(
            "no-parentheses-at-all",
            no_parentheses_at_all,
            "Python divides before it subtracts: only the two terms beside the `/` are divided. Put parentheses around "
            "each of the two changes.",
        ),
        Misconception(
            "no-parentheses-above",
            no_parentheses_above,
            "Python divides before it subtracts: only f(a) is divided. Put parentheses around the change of f.",
        ),
        Misconception(
            "sign-dropped",
            always_rising,
            "Your slope is never negative. A function that falls has a negative slope; keep the sign.",
        ),
        Misconception(
            "rise-without-sign",
            rise_without_sign,
            "You drop the sign of the change of f and keep that of the input. Keep both: the slope is negative where "
            "one of them is.",
        ),
        Misconception(
            "run-without-sign",
            run_without_sign,
            "Right where a lies before b. From a larger a back to b the change of the input is negative, like the "
            "change of f on that way: keep its sign too.",
        ),
    ],
    hints=[
        "How much does f change on the way from a to b? And how much does its input change?",
        "Change of f: f(b) minus f(a). Change of the input: b minus a. The slope is one divided by the other.",
        "Start with `rise = f(b) - f(a)` and `run = b - a`.",
    ],
    explanation=(
        "A derivative is this number with b moved close to a. Lesson 04 uses it to ask whether a gradient is right."
    ),
)
