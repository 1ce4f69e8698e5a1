"""gain_of: the factor by which weights make up for what an activation takes away, measured."""

import keras
import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def gain_of(activation):
    """Return the gain of an activation: one divided by the size of what it makes of standard normal numbers.

    *Size* is the root of the mean square; the mean is not subtracted. Measure it: draw at least 200,000 numbers from
    the standard normal distribution (mean 0, standard deviation 1), send them through the activation, and take the
    size of what comes out. A result within 2 % of the exact one is accepted, so that your random numbers may differ.

    activation: a function that takes an array or a tensor of floats, of any shape, and returns a tensor of that shape;
    it works element by element (such as ``tf.nn.relu``). It may be one that nobody has given a name. Convert what it
    returns with ``np.asarray``, or compute with TensorFlow. Returns a positive number.

    Examples: ``gain_of(tf.nn.relu)`` is about 1.41, the root of 2: ReLU halves the mean square. ``gain_of(tf.sigmoid)``
    is about 1.85. An activation that changes nothing has gain 1.
    """
    values = np.random.default_rng(0).standard_normal(500_000)
    return 1 / np.sqrt(np.mean(np.square(np.asarray(activation(values)))))


def ripple(z):
    """Has a mean far from zero."""
    return tf.cos(z) + 0.3 * z


def steep_tanh(z):
    """Saturates for most of its inputs."""
    return tf.tanh(3.0 * z)


def leaky(z):
    """Has two slopes, neither of them 1."""
    return tf.where(z > 0, 2.0 * z, 0.2 * z)


def probe(answer, rng):
    """Activations by the book, and some without a name; with a mean of zero and without."""
    bend, lift = float(rng.uniform(0.5, 0.9)), float(rng.uniform(0.8, 1.2))

    def bent_and_lifted(z):
        return tf.abs(bend * tf.cast(z, tf.float32)) - lift

    return {
        "ReLU": answer(tf.nn.relu),
        "sigmoid": answer(tf.sigmoid),
        "tanh": answer(keras.activations.tanh),
        "no activation": answer(keras.activations.linear),
        "unnamed activations": [answer(f) for f in (ripple, steep_tanh, leaky, bent_and_lifted)],
    }


def _through(activation, values=None):
    if values is None:
        values = np.random.default_rng(1).standard_normal(300_000)
    return values, np.asarray(activation(values), dtype=float)


def centred(activation):
    """Takes the standard deviation about the mean."""
    return 1 / _through(activation)[1].std()


def mean_square(activation):
    """Forgets the root."""
    return 1 / np.mean(_through(activation)[1] ** 2)


def upside_down(activation):
    """Returns the size itself."""
    return np.sqrt(np.mean(_through(activation)[1] ** 2))


def uniform_inputs(activation):
    """Draws between -1 and 1."""
    _, out = _through(activation, np.random.default_rng(1).uniform(-1, 1, size=300_000))
    return 1 / np.sqrt(np.mean(out**2))


def uniform_inputs_compared(activation):
    """Draws between -1 and 1 and compares with what went in."""
    values, out = _through(activation, np.random.default_rng(1).uniform(-1, 1, size=300_000))
    return np.sqrt(np.mean(values**2) / np.mean(out**2))


def positive_inputs(activation):
    """Draws between 0 and 1."""
    _, out = _through(activation, np.random.default_rng(1).uniform(size=300_000))
    return 1 / np.sqrt(np.mean(out**2))


def even_grid(activation):
    """Goes through all inputs from -3 to 3 as if each were as likely."""
    _, out = _through(activation, np.linspace(-3, 3, 300_001))
    return 1 / np.sqrt(np.mean(out**2))


def absolute_values(activation):
    """Takes the mean absolute value for the size."""
    return 1 / np.mean(np.abs(_through(activation)[1]))


def slope_at_zero(activation):
    """Looks at the activation at 0 alone."""
    left, right = np.asarray(activation(np.array([-1e-3, 1e-3])), dtype=float)
    return 2e-3 / (right - left)


def size_of_slopes(activation):
    """Takes the slopes for the values."""
    values = np.random.default_rng(1).standard_normal(300_000)
    above, below = (_through(activation, values + step)[1] for step in (1e-3, -1e-3))
    return 1 / np.sqrt(np.mean(((above - below) / 2e-3) ** 2))


exercise = Exercise(
    answer=gain_of,
    probe=probe,
    misconceptions=[
        Misconception(
            "centred",
            centred,
            "You subtract the mean: that is what np.std does. The next layer multiplies the whole value with its "
            "weights, mean included, so take the root of the mean square.",
        ),
        Misconception(
            "no-root",
            mean_square,
            "That is one divided by the mean square. The gain multiplies weights, so it goes with the size: its root.",
        ),
        Misconception(
            "upside-down",
            upside_down,
            "That is the size of what comes out. The gain has to make up for it: an activation that halves the size "
            "has a gain of 2.",
        ),
        Misconception(
            "inputs-from-minus-one-to-one",
            uniform_inputs,
            "Your inputs lie between -1 and 1. The sums that reach an activation are normal, with standard deviation "
            "1: draw them so.",
        ),
        Misconception(
            "uniform-inputs-compared",
            uniform_inputs_compared,
            "You divide by the size of your inputs, which is a fine thought, but they lie between -1 and 1. What bends "
            "further out is never met. Draw standard normal numbers.",
        ),
        Misconception(
            "positive-inputs",
            positive_inputs,
            "Your inputs are never negative. The sums that reach an activation have both signs; draw standard normal "
            "numbers.",
        ),
        Misconception(
            "even-grid",
            even_grid,
            "You count all inputs between two ends alike. Standard normal numbers lie mostly near 0: draw them.",
        ),
        Misconception(
            "mean-absolute-value",
            absolute_values,
            "You take the mean of the absolute values. The size is the root of the mean square; variances add up in "
            "the next layer, and absolute values don't.",
        ),
        Misconception(
            "slope-at-zero",
            slope_at_zero,
            "You look at the slope at 0 alone. Sums with a standard deviation of 1 reach well into the bends of an "
            "activation: measure what it makes of them.",
        ),
        Misconception(
            "slopes-for-values",
            size_of_slopes,
            "That is the size of the slopes, which counts on the way back. The gain is about the way there: the size "
            "of the values.",
        ),
    ],
    hints=[
        "Three steps: draw standard normal numbers, send them through, measure the size of the result.",
        "The size is the root of the mean of the squares, without subtracting anything. The gain is 1 divided by it.",
        "Start with `out = np.asarray(activation(np.random.default_rng(0).standard_normal(500_000)))`.",
    ],
    explanation=(
        "With weights of standard deviation gain / √fan_in, sums of size 1 give sums of size 1 in the next layer. For "
        "ReLU that is He's rule, found without a formula."
    ),
    tolerance=Tolerance(rtol=0.02, atol=0.0),
    level="stretch",
)
