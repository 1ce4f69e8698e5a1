"""line_gradients: the chain rule by hand, for a line with two numbers to learn."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def line_gradients(w, b, x, y):
    """Return how the loss of the line ``w * x + b`` changes with w, and how it changes with b.

    The loss is the mean, over all n examples, of the squared error ``(w * x_i + b - y_i) ** 2``. Return its two
    derivatives as a tuple of two numbers: first the one with respect to w, then the one with respect to b.

    w, b: two floats. x, y: n inputs and n targets, NumPy arrays of float32. Each of them is flat, shape (n,), or a
    column, shape (n, 1), and the two don't always have the same of these shapes. The i-th number of x always belongs
    to the i-th number of y. Both arrays stay as they are: don't change them in place.

    Example: for w = 1.0, b = 0.0 and one example, x = [1.5] and y = [4.5], the result is ``(-9.0, -6.0)``.
    """
    x, y = np.reshape(x, -1), np.reshape(y, -1)
    error = w * x + b - y
    return 2 * np.mean(error * x), 2 * np.mean(error)


def probe(answer, rng):
    """Gradients for batches of several sizes, with x and y flat and as columns in all four ways."""
    batches = {
        "x and y flat": (7, (-1,), (-1,)),
        "x and y columns": (5, (-1, 1), (-1, 1)),
        "x a column and y flat": (4, (-1, 1), (-1,)),
        "x flat and y a column": (3, (-1,), (-1, 1)),
    }
    given = {}
    for part, (n, x_shape, y_shape) in batches.items():
        w, b = rng.uniform(0.5, 2.0), rng.uniform(-2.0, -0.5)
        x = rng.uniform(-1.0, 3.0, n).astype("float32")
        y = (rng.uniform(-3.0, 1.0) * x + rng.uniform(1.0, 3.0) + rng.normal(0, 0.5, n)).astype("float32")
        given[part] = float(w), float(b), x.reshape(x_shape), y.reshape(y_shape)
    return {part: answer(*inputs) for part, inputs in given.items()}


def _error(w, b, x, y):
    x = np.reshape(x, -1)
    return w * x + b - np.reshape(y, -1), x


def without_the_two(w, b, x, y):
    """Forgets that the derivative of a square has a factor 2."""
    error, x = _error(w, b, x, y)
    return np.mean(error * x), np.mean(error)


def sum_for_mean(w, b, x, y):
    """Adds up over the examples and never divides by their number."""
    error, x = _error(w, b, x, y)
    return 2 * np.sum(error * x), 2 * np.sum(error)


def never_averaged(w, b, x, y):
    """Stops at the gradients of the single examples."""
    error, x = _error(w, b, x, y)
    return 2 * error * x, 2 * error


def sign_turned(w, b, x, y):
    """Takes target minus prediction, and forgets the minus sign that this brings."""
    error, x = _error(w, b, x, y)
    return 2 * np.mean(-error * x), 2 * np.mean(-error)


def broadcast_to_a_square(w, b, x, y):
    """Subtracts a flat array from a column: every prediction meets every target."""
    error = w * x + b - y
    return 2 * np.mean(error * x), 2 * np.mean(error)


def input_forgotten(w, b, x, y):
    """Stops at the error: forgets that w reaches the prediction through x."""
    error, x = _error(w, b, x, y)
    return 2 * np.mean(error), 2 * np.mean(error)


def means_multiplied(w, b, x, y):
    """Multiplies mean error and mean input, instead of taking the mean of their products."""
    error, x = _error(w, b, x, y)
    return 2 * np.mean(error) * np.mean(x), 2 * np.mean(error)


def broadcast_in_the_product(w, b, x, y):
    """Makes the error flat, and multiplies it by x as it came: each error meets the x of every example."""
    error, _ = _error(w, b, x, y)
    return 2 * np.mean(error * x), 2 * np.mean(error)


def not_watched(w, b, x, y):
    """Asks a tape for the gradient with respect to plain tensors that it doesn't watch."""
    w, b = tf.constant(w), tf.constant(b)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(_error(w, b, x, y)[0] ** 2)
    return tape.gradient(loss, [w, b])


def b_before_w(w, b, x, y):
    """Returns the two in the other order."""
    error, x = _error(w, b, x, y)
    return 2 * np.mean(error), 2 * np.mean(error * x)


exercise = Exercise(
    answer=line_gradients,
    probe=probe,
    misconceptions=[
        Misconception(
            "no-factor-two",
            without_the_two,
            "Your numbers are half of what they should be. The error is squared in the loss: what is the slope of "
            "error ** 2 where the error is 3?",
        ),
        Misconception(
            "sum-for-mean",
            sum_for_mean,
            "Your numbers grow with the number of examples. The loss is a mean over the examples, so its gradient is "
            "a mean as well.",
        ),
        Misconception(
            "no-mean",
            never_averaged,
            "You return one slope for each example. The loss is one number, the mean over the examples, so its slope "
            "in w is one number as well, and so is the one in b.",
        ),
        Misconception(
            "sign-turned",
            sign_turned,
            "Both numbers have the wrong sign. Follow one example: if the line lies below its target and w grows, does "
            "the loss rise or fall? Error is prediction minus target here.",
        ),
        Misconception(
            "broadcast",
            broadcast_to_a_square,
            "Right where x and y have one shape. Where a column (n, 1) meets a flat (n,), NumPy and TensorFlow "
            "subtract every target from every prediction, which gives (n, n) errors. Bring x and y to one shape first.",
        ),
        Misconception(
            "broadcast-in-the-product",
            broadcast_in_the_product,
            "Right where x is flat. Where it is a column, your flat errors times x make a square: each error is "
            "multiplied by the x of every example. Make x flat before you use it, in the product too.",
        ),
        Misconception(
            "input-forgotten",
            input_forgotten,
            "Your two numbers are equal. b is added to the prediction as it is, but w is multiplied by x on its way: "
            "if w grows by 1, by how much does the prediction of one example grow?",
        ),
        Misconception(
            "means-multiplied",
            means_multiplied,
            "The one for b is right. For w, multiply each error by its own x and take the mean last: the mean of "
            "products is not the product of means.",
        ),
        Misconception(
            "not-watched",
            not_watched,
            "The tape gives None for both, because it watches variables and not plain tensors. Make a tf.Variable of w "
            "and of b before you compute with them.",
        ),
        Misconception(
            "order",
            b_before_w,
            "Both numbers are right, in the wrong order: first the one for w, then the one for b.",
        ),
    ],
    hints=[
        "Take one example. Its loss is error ** 2 with error = w * x + b - y. How does the error change when w grows "
        "by a little? When b does?",
        "Chain rule for one example: 2 * error is the slope of the square; times x it is the slope in w, times 1 the "
        "slope in b. The loss is a mean over examples, so take the mean of each. Before that, make x and y flat.",
        "Start with `x, y = np.reshape(x, -1), np.reshape(y, -1)` and `error = w * x + b - y`. The slope in b is "
        "`2 * np.mean(error)`; the one in w has one factor more inside the mean.",
    ],
    explanation=(
        "The slope in w is the mean of 2 * error * x, the slope in b the mean of 2 * error: each example pulls with "
        "its error, and on w the more, the larger its input is. A tape computes the same two numbers."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=1e-5),
    weights={"x and y flat": 2},
    level="core",
)
