"""safe_norm: the length of vectors, with a gradient that stays finite at the origin."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def safe_norm(x):
    """Return the length of each row of ``x``, with a gradient that is finite everywhere, at a row of zeros too.

    The length of a row is the square root of the sum of its squares. Its gradient is the row divided by its length.
    For a row of zeros that would be 0 / 0; there the gradient must be 0 in every element, the length 0, and the other
    rows must not be touched by it. All of this has to hold when TensorFlow runs your function eagerly, and when XLA
    compiles it, as ``tf.function(safe_norm, jit_compile=True)`` does.

    x: float32 tensor of shape (n, d): n vectors of d numbers.
    Returns a float32 tensor of shape (n,). A length may be off by 0.00001 at most, and gradients by 0.0001.

    Example: for ``x = tf.constant([[3.0, 4.0], [0.0, 0.0]])`` the lengths are ``[5.0, 0.0]``, and the gradient of
    their sum with respect to x is ``[[0.6, 0.8], [0.0, 0.0]]``.
    """
    squares = tf.reduce_sum(x**2, axis=1)
    is_zero = squares == 0
    harmless = tf.where(is_zero, 1.0, squares)
    return tf.where(is_zero, 0.0, tf.sqrt(harmless))


def probe(answer, rng):
    """Lengths and slopes of long and short rows, with a row of zeros and without, eagerly and under XLA."""
    directions = rng.normal(size=(4, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    healthy = tf.constant(directions * np.array([[0.003], [0.4], [1.5], [30.0]]), tf.float32)
    with_zeros = tf.constant(directions * np.array([[2.0], [0.0], [0.7], [0.02]]), tf.float32)
    weights = tf.constant(rng.uniform(0.5, 1.5, 4), tf.float32)

    def measured(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            length = answer(x)
            flat = tf.reshape(tf.cast(tf.convert_to_tensor(length), tf.float32), [-1])
            total = tf.reduce_sum(weights[: flat.shape[0]] * flat)
        slope = tape.gradient(total, x)
        return length, None if slope is None else tf.convert_to_tensor(slope) + 0.0  # never "-0"

    lengths, slope = measured(healthy)
    lengths_beside_zeros, slope_beside_zeros = measured(with_zeros)
    return {
        "lengths": [lengths, lengths_beside_zeros],
        "slope without zeros": slope,
        "slope with a row of zeros": slope_beside_zeros,
        "under XLA": _under_xla(measured, with_zeros),
    }


def _under_xla(measured, x):
    """Lengths and slope as XLA computes them, or why it can't, in words."""
    try:
        compiled = tf.function(measured, jit_compile=True, autograph=False)
        lengths, slope = compiled.get_concrete_function(x)(x)  # a call of `compiled` would warn of retracing
    except (AttributeError, TypeError, ValueError, NotImplementedError, tf.errors.OpError) as error:
        return error if "safe_norm" in str(error) else dict.fromkeys(("lengths", "slope"), "not compiled by XLA")
    return {"lengths": lengths, "slope": slope}


def bare_root(x):
    """Takes the root of zero; a constant added afterwards changes nothing about its slope."""
    return tf.sqrt(tf.reduce_sum(x**2, axis=1)) + 1e-9


def where_around_the_root(x):
    """Chooses between the root and 0 when the root has already been taken."""
    squares = tf.reduce_sum(x**2, axis=1)
    return tf.where(squares > 0, tf.sqrt(squares), 0.0)


def coarse_epsilon(x):
    """Adds so much inside the root that short vectors get longer."""
    return tf.sqrt(tf.reduce_sum(x**2, axis=1) + 1e-4)


def constant_too_large(x):
    """Adds the constant that Keras adds, whose root is still seen."""
    return tf.sqrt(tf.reduce_sum(x**2, axis=1) + 1e-7)


def shifted_input(x):
    """Moves the vector away from the origin, so that the origin gets a slope that it hasn't."""
    return tf.sqrt(tf.reduce_sum((x + 1e-6) ** 2, axis=1))


def no_root(x):
    """Forgets the root."""
    return tf.reduce_sum(x**2, axis=1)


def sum_of_sizes(x):
    """Adds up absolute values."""
    return tf.reduce_sum(tf.abs(x), axis=1)


def columns_for_rows(x):
    """Adds up over the wrong axis."""
    return tf.sqrt(tf.reduce_sum(x**2, axis=0) + 1e-12)


def one_length(x):
    """Returns one length for all rows together."""
    return tf.sqrt(tf.reduce_sum(x**2) + 1e-12)


def floor_for_short_ones(x):
    """Treats all short vectors as zero."""
    squares = tf.reduce_sum(x**2, axis=1)
    short = squares < 1e-4
    return tf.where(short, 0.0, tf.sqrt(tf.where(short, 1.0, squares)))


def root_held_still(x):
    """Divides by a root that the tape doesn't see."""
    squares = tf.reduce_sum(x**2, axis=1)
    return squares / tf.stop_gradient(tf.sqrt(squares) + 1e-9)


exercise = Exercise(
    answer=safe_norm,
    probe=probe,
    misconceptions=[
        Misconception(
            "bare-root",
            bare_root,
            "The root of 0 has an infinite slope, and infinite times 0 is NaN. Nothing that you do after the root, "
            "such as adding a small constant or choosing with tf.where, takes that back: the root must never see a 0.",
        ),
        Misconception(
            "where-around-the-root",
            where_around_the_root,
            "Eagerly this works, by a kindness of tf.sqrt to an upstream gradient of 0; under XLA the row of zeros "
            "gets NaN. Choose before the root, so that it never sees a 0.",
        ),
        Misconception(
            "coarse-epsilon",
            coarse_epsilon,
            "A constant inside the root does keep the slope finite. But yours is so large that a row of zeros has a "
            "length that can be seen: the root of the constant. How small must it be for 0.00001?",
        ),
        Misconception(
            "constant-too-large",
            constant_too_large,
            "A constant inside the root is right, and 0.0000001 is too large: a row of zeros becomes as long as the "
            "root of that, 0.0003. How small must it be for 0.00001?",
        ),
        Misconception(
            "shifted-input",
            shifted_input,
            "You shift the vectors before you measure them. At the origin that leaves a slope that isn't there: it "
            "should be 0 in every element.",
        ),
        Misconception("no-root", no_root, "That is the square of the length: the root is missing."),
        Misconception(
            "sum-of-sizes",
            sum_of_sizes,
            "You add up absolute values. The length is the root of the sum of squares: 3 and 4 make 5, not 7.",
        ),
        Misconception(
            "columns-for-rows",
            columns_for_rows,
            "You measure the columns. Each row is a vector: which axis has to be summed away?",
        ),
        Misconception(
            "one-length",
            one_length,
            "You return one length for all rows together. Each row has its own: sum over one axis only.",
        ),
        Misconception(
            "short-for-zero",
            floor_for_short_ones,
            "You treat short vectors as if they were zero. A row of length 0.003 has that length, and a slope.",
        ),
        Misconception(
            "root-held-still",
            root_held_still,
            "The lengths are right, and the gradient is twice as long as it should be: the tape doesn't know that "
            "what you divide by changes, too.",
        ),
    ],
    hints=[
        "Where does the NaN come from: from the value of the root at 0, or from its slope there? What must never reach "
        "the root?",
        "Two ways: add something inside the root that is too small to be seen (0.00001 is the root of what?), or use "
        "tf.where twice: before the root, to put a harmless number in the place of 0, and after it, to put 0 back.",
        "`squares = tf.reduce_sum(x**2, axis=1)`, then `harmless = tf.where(squares == 0, 1.0, squares)`, and the root "
        "of `harmless` in a second tf.where.",
    ],
    explanation=(
        "A tf.where chooses values, but the backward pass walks through both branches, and 0 times infinity is NaN. "
        "So guard what goes in, not what comes out. Distances, standard deviations and normalised vectors all need it."
    ),
    tolerance={
        "lengths": Tolerance(rtol=1e-5, atol=1.1e-5),
        "slope without zeros": Tolerance(rtol=1e-4, atol=1e-4),
        "slope with a row of zeros": Tolerance(rtol=1e-4, atol=1e-4),
        "under XLA": Tolerance(rtol=1e-4, atol=1e-4),
    },
    weights={"slope with a row of zeros": 2, "under XLA": 2},
    level="stretch",
)
