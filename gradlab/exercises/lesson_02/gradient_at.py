"""gradient_at: the gradient of a function at a plain tensor, which no tape watches by itself."""

import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def gradient_at(f, x):
    """Return the gradient of ``f`` at ``x``: how much f(x) changes per unit of change of each number in x.

    f: a function of one tensor that is written with TensorFlow operations and returns one number (shape ()).
    x: a float32 tensor of any shape. It is a plain ``tf.Tensor`` or a ``tf.Variable``; your function works for both
    and leaves it as it is.
    Returns a tensor or array of the shape of x.

    Example: with ``def sum_of_squares(x): return tf.reduce_sum(x ** 2)``,
    ``gradient_at(sum_of_squares, tf.constant([1.0, -3.0]))`` is ``[2.0, -6.0]``.
    """
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = f(x)
    return tape.gradient(value, x)


def probe(answer, rng):
    """Gradients at a number, a vector, a matrix and a variable; one of the functions has a variable of its own."""
    number = tf.constant(rng.uniform(0.6, 1.4), tf.float32)
    vector = tf.constant(rng.uniform(-2.0, 2.0, 4), tf.float32)
    matrix = tf.constant(rng.normal(size=(2, 3)), tf.float32)
    mixing = tf.constant(rng.normal(size=(3, 4)), tf.float32)
    variable = tf.Variable(rng.uniform(0.5, 2.0, 4).astype("float32"))
    scale = tf.Variable(rng.uniform(2.0, 3.0, 4).astype("float32"))

    def fourth_power_minus_twice_x(x):
        return x**4 - 2.0 * x

    def sum_of_scaled_sines_plus_x0_times_x1(x):
        return tf.reduce_sum(scale * tf.sin(x)) + x[0] * x[1]

    def logsumexp_of_x_times_a_matrix(x):
        return tf.reduce_logsumexp(x @ mixing)

    def sum_of_cubes(x):
        return tf.reduce_sum(x**3)

    return {
        "a number": answer(fourth_power_minus_twice_x, number),
        "a vector": answer(sum_of_scaled_sines_plus_x0_times_x1, vector),
        "a matrix": answer(logsumexp_of_x_times_a_matrix, matrix),
        "a variable": answer(sum_of_cubes, variable),
        "the variable afterwards": variable.numpy(),
    }


def not_watched(f, x):
    """Trusts the tape to watch whatever it is asked about."""
    with tf.GradientTape() as tape:
        value = f(x)
    return tape.gradient(value, x)


def computed_outside(f, x):
    """Computes the value before the tape begins to record."""
    value = f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.gradient(value, x)


def one_slope(f, x):
    """Moves all numbers of x at once, so that one slope comes back for all of them."""
    step = 1e-2
    return (f(x + step) - f(x)) / step


def added_up(f, x):
    """Adds the gradient up to one number."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = f(x)
    return tf.reduce_sum(tape.gradient(value, x))


def list_of_one(f, x):
    """Asks for a list of gradients, and returns the list."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = f(x)
    return tape.gradient(value, [x])


def value_per_input(f, x):
    """Divides the value by the input: the slope of a line from the origin, not of the curve."""
    return f(x) / x


exercise = Exercise(
    answer=gradient_at,
    probe=probe,
    misconceptions=[
        Misconception(
            "not-watched",
            not_watched,
            "For a tf.Variable you get the gradient, for a plain tensor you get None. A tape watches variables by "
            "itself; a tensor it has to be told about before f(x) is computed.",
        ),
        Misconception(
            "outside-the-tape",
            computed_outside,
            "You return None where a gradient should be. Is there a `return`? Then: the tape records what runs inside "
            "its `with` block: where is f(x) computed? And tape.gradient takes first what is to be differentiated, "
            "then with respect to what.",
        ),
        Misconception(
            "one-slope",
            one_slope,
            "You moved all numbers of x at once and got one slope for all of them. The gradient holds one number for "
            "each number in x, and the tape gives them exactly.",
        ),
        Misconception(
            "added-up",
            added_up,
            "You return one number, the sum of the gradient. Return it as it comes from the tape: in the shape of x.",
        ),
        Misconception(
            "list-of-one",
            list_of_one,
            "Right numbers, packed in a list: a tape that is asked about [x] answers with a list. Ask about x.",
        ),
        Misconception(
            "value-per-input",
            value_per_input,
            "f(x) / x is the slope of a line from the origin to the curve. Asked for is the slope of the curve at x.",
        ),
    ],
    hints=[
        "Which of the two does a tape watch by itself: a tf.Variable or a tf.Tensor? What do you do about the other?",
        "Open a tape, tell it to watch x, compute f(x) while it is open, and ask for the gradient after the block.",
        "Inside `with tf.GradientTape() as tape:` come `tape.watch(x)` and `value = f(x)`; after it comes "
        "`tape.gradient(value, x)`.",
    ],
    explanation=(
        "A tape watches trainable variables when they are read; any other tensor only after tape.watch. The gradient "
        "with respect to an input is what saliency maps, adversarial examples and physics-informed losses are made of."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=1e-5),
    weights={"the variable afterwards": 0},
    level="stretch",
)
