"""he_normal_weights: first weights that keep the size of a signal through ReLU layers."""

import random
from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def he_normal_weights(fan_in, fan_out, rng):
    """Return random first weights for a layer of ``fan_out`` ReLU units, each of which reads ``fan_in`` numbers.

    The weights are an array of shape (fan_in, fan_out): one column for each unit. Every entry is drawn on its own from
    a normal distribution with mean 0 and **variance** ``2 / fan_in`` (He and others, 2015). A truncated normal (one
    that draws again where an entry lies far out) is fine too, if ``2 / fan_in`` is the variance *after* the truncation.

    fan_in, fan_out: whole numbers >= 1. rng: a NumPy generator, as ``np.random.default_rng`` makes it. Draw from it and
    from nothing else: ``rng.normal(...)`` or ``rng.standard_normal(...)``. (To use another library's random numbers,
    draw a seed from ``rng`` for it.)

    Example: ``he_normal_weights(200, 50, rng)`` has shape (200, 50), and the standard deviation of its 10,000 entries
    is close to 0.1, because 0.1² = 0.01 = 2 / 200.
    """
    return rng.normal(0.0, np.sqrt(2.0 / fan_in), size=(fan_in, fan_out))


def probe(answer, rng):
    """Moments of many weights, for more inputs than outputs and the other way round; and where they are drawn from."""
    shapes = {
        "more inputs than outputs": (int(rng.integers(700, 900)), int(rng.integers(150, 170))),
        "more outputs than inputs": (int(rng.integers(150, 170)), int(rng.integers(700, 900))),
    }
    found: dict[str, Any] = {
        part: {} for part in ("shapes", "standard deviation", "mean", "bell shape", "entries on their own")
    }
    for case, (fan_in, fan_out) in shapes.items():
        _seed_all_others()
        weights = answer(fan_in, fan_out, rng)
        values = _plain(weights)
        if values is None:
            return dict.fromkeys([*found, "drawn from rng", "a single unit"], weights)
        found["shapes"][case] = np.array(values.shape)
        std = values.std()
        scaled = values / std if std > 0 else values
        found["standard deviation"][case] = std
        found["mean"][case] = scaled.mean()
        found["bell shape"][case] = [np.mean(np.abs(scaled) < 0.5), np.mean(np.abs(scaled) > 2.0)]
        distinct = len(np.unique(values.astype(np.float32))) / max(values.size, 1)
        found["entries on their own"][case] = "yes" if distinct > 0.8 else "many are equal"
    once, again = (_redraw(answer, rng) for _ in range(2))
    found["drawn from rng"] = "the same weights from two generators" if np.array_equal(once, again) else "yes"
    found["a single unit"] = np.array(np.shape(_redraw(answer, rng, 7, 1)))
    return found


def _plain(weights):
    """The weights as a real array with at least one entry; None if they are anything else."""
    try:
        values = np.asarray(weights)
    except Exception:
        return None
    return values.astype(np.float64) if values.dtype.kind == "f" and values.ndim and values.size else None


def _redraw(answer, rng, fan_in=5, fan_out=4):
    _seed_all_others()
    return np.asarray(answer(fan_in, fan_out, rng))


def _seed_all_others():
    """Whatever doesn't come from the given generator comes out alike after this."""
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    tf.random.set_seed(1)


def uses_fan_out(fan_in, fan_out, rng):
    """Counts the outputs of the layer."""
    return rng.normal(0.0, np.sqrt(2.0 / fan_out), size=(fan_in, fan_out))


def variance_for_std(fan_in, fan_out, rng):
    """Hands the variance to a function that takes a standard deviation."""
    return rng.normal(0.0, 2.0 / fan_in, size=(fan_in, fan_out))


def factor_one(fan_in, fan_out, rng):
    """Is right for layers without an activation."""
    return rng.normal(0.0, np.sqrt(1.0 / fan_in), size=(fan_in, fan_out))


def glorot(fan_in, fan_out, rng):
    """Averages inputs and outputs."""
    return rng.normal(0.0, np.sqrt(2.0 / (fan_in + fan_out)), size=(fan_in, fan_out))


def root_of_fan_in_only(fan_in, fan_out, rng):
    """Leaves the 2 outside of the root."""
    return rng.normal(0.0, 2.0 / np.sqrt(fan_in), size=(fan_in, fan_out))


def root_of_two_only(fan_in, fan_out, rng):
    """Leaves fan_in outside of the root."""
    return rng.normal(0.0, np.sqrt(2.0) / fan_in, size=(fan_in, fan_out))


def not_scaled(fan_in, fan_out, rng):
    """Draws standard normal numbers."""
    return rng.standard_normal((fan_in, fan_out))


def cut_and_not_corrected(fan_in, fan_out, rng):
    """Draws again beyond two standard deviations, which makes the spread smaller."""
    return np.sqrt(2.0 / fan_in) * _within_two(rng, (fan_in, fan_out))


def clipped(fan_in, fan_out, rng):
    """Sets what lies beyond two standard deviations to two."""
    return np.sqrt(2.0 / fan_in) * np.clip(rng.standard_normal((fan_in, fan_out)), -2, 2)


def he_uniform(fan_in, fan_out, rng):
    """Has the right variance and the wrong distribution."""
    limit = np.sqrt(6.0 / fan_in)
    return rng.uniform(-limit, limit, size=(fan_in, fan_out))


def uniform_up_to_std(fan_in, fan_out, rng):
    """Takes the standard deviation for the limit of a uniform distribution."""
    limit = np.sqrt(2.0 / fan_in)
    return rng.uniform(-limit, limit, size=(fan_in, fan_out))


def transposed(fan_in, fan_out, rng):
    """Has a row for each unit."""
    return rng.normal(0.0, np.sqrt(2.0 / fan_in), size=(fan_out, fan_in))


def own_generator(fan_in, fan_out, rng):
    """Makes a generator of its own."""
    return np.random.default_rng(0).normal(0.0, np.sqrt(2.0 / fan_in), size=(fan_in, fan_out))


def all_units_alike(fan_in, fan_out, rng):
    """Draws one column and gives it to every unit."""
    return np.repeat(rng.normal(0.0, np.sqrt(2.0 / fan_in), size=(fan_in, 1)), fan_out, axis=1)


def never_negative(fan_in, fan_out, rng):
    """Draws sizes without signs."""
    return np.abs(rng.normal(0.0, np.sqrt(2.0 / fan_in), size=(fan_in, fan_out)))


def _within_two(rng, shape):
    values = rng.standard_normal(shape)
    while (far := np.abs(values) > 2).any():
        values[far] = rng.standard_normal(far.sum())
    return values


exercise = Exercise(
    answer=he_normal_weights,
    probe=probe,
    misconceptions=[
        Misconception(
            "uses-fan-out",
            uses_fan_out,
            "Your spread depends on the number of outputs. A unit adds up as many products as it has inputs: so the "
            "variance is 2 / fan_in.",
        ),
        Misconception(
            "variance-for-std",
            variance_for_std,
            "2 / fan_in is the variance. rng.normal takes a standard deviation. What lies between the two?",
        ),
        Misconception(
            "factor-one",
            factor_one,
            "Your variance is 1 / fan_in: right for layers without an activation. ReLU takes half of the signal away, "
            "and the 2 gives it back.",
        ),
        Misconception(
            "glorot",
            glorot,
            "Your variance, 2 / (fan_in + fan_out), is Glorot's. He's has the inputs alone below the line.",
        ),
        Misconception(
            "two-outside-the-root",
            root_of_fan_in_only,
            "Your spread is 2 / √fan_in: the 2 belongs under the root too.",
        ),
        Misconception(
            "fan-in-outside-the-root",
            root_of_two_only,
            "Your spread is √2 / fan_in: fan_in belongs under the root too. Mind where the bracket of np.sqrt closes.",
        ),
        Misconception(
            "not-scaled",
            not_scaled,
            "Your weights have a standard deviation of 1, whatever fan_in is. Scale them.",
        ),
        Misconception(
            "truncation-not-corrected",
            cut_and_not_corrected,
            "You cut the tails off, and what is left spreads about 12 % less than before. Divide the scale that you "
            "draw with by 0.8796, or don't truncate.",
        ),
        Misconception(
            "clipped",
            clipped,
            "You clip: every entry from the tails lands on the very same two numbers, and the spread is too small. A "
            "truncated normal draws these entries again. The plain normal is fine here.",
        ),
        Misconception(
            "uniform",
            he_uniform,
            "The variance is right, and the distribution isn't normal: yours is uniform. (Keras has that too, as "
            "he_uniform.) Use rng.normal.",
        ),
        Misconception(
            "uniform-up-to-the-std",
            uniform_up_to_std,
            "You draw evenly between minus and plus the standard deviation. That isn't a normal distribution, and its "
            "spread is √3 times too small.",
        ),
        Misconception(
            "transposed",
            transposed,
            "Your array has a row for each unit. A Dense layer's kernel has a column for each unit: (fan_in, fan_out).",
        ),
        Misconception(
            "not-from-rng",
            own_generator,
            "Two different generators gave the very same weights, so you don't draw from rng. Give two layers of one "
            "size such weights, and they start as twins.",
        ),
        Misconception(
            "units-alike",
            all_units_alike,
            "All your units get the same column of weights. They would compute the same and get the same gradient "
            "for ever. Draw every entry on its own: what is the size of your draw?",
        ),
        Misconception(
            "never-negative",
            never_negative,
            "None of your weights is negative, so their mean isn't 0: the products of a unit pull in one direction and "
            "their sum grows like fan_in, not like its root.",
        ),
    ],
    tolerance={
        "standard deviation": Tolerance(rtol=0.025, atol=0.0),
        "mean": Tolerance(rtol=0.0, atol=0.03),
        "bell shape": Tolerance(rtol=0.0, atol=0.036),
    },
    weights={"standard deviation": 3},
    hints=[
        "A variance is the square of a standard deviation. Which of the two does rng.normal want?",
        "The standard deviation is the square root of 2 / fan_in. The shape goes into `size`, inputs first.",
        "`rng.normal(0.0, STD, size=(fan_in, fan_out))`, with np.sqrt somewhere in STD.",
    ],
    explanation=(
        "Each unit adds fan_in products, ReLU drops half of what comes out, and 2 / fan_in pays for both. Keras knows "
        "it "
        'as kernel_initializer="he_normal" (truncated at two standard deviations, and corrected for that).'
    ),
    examples=False,
)
