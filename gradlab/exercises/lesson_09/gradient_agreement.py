"""gradient_agreement: do inputs that lie next to each other have similar gradients?"""

from itertools import pairwise

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def gradient_agreement(gradients):
    """Return how far the gradients at neighbouring inputs agree: the mean correlation of neighbours.

    Row i of ``gradients`` belongs to input number i of a walk, so rows i and i + 1 are neighbours. For each pair of
    neighbours take the correlation of the two rows, as in lesson 04: shift each row to mean 0, divide it by its own
    spread (standard deviation), multiply the two element by element, and take the mean of the products. Then take the
    mean of these correlations over all pairs of neighbours.

    gradients: array (inputs, numbers), at least (2, 2), any float type; no row has all its numbers equal.
    Returns one number from -1 to 1. Examples: ``[[1, 2, 3], [2, 4, 6], [3, 2, 1]]`` gives 0.0, because the first pair
    has the correlation 1 and the second -1. ``[[1, 2, 3], [11, 12, 13]]`` gives 1.0.
    """
    gradients = np.asarray(gradients, dtype=np.float64)
    centred = gradients - gradients.mean(axis=1, keepdims=True)
    scaled = centred / centred.std(axis=1, keepdims=True)
    return np.mean(scaled[:-1] * scaled[1:])


def probe(answer, rng):
    """Walks of 2, 5 and 40 inputs; gradients of very different lengths, with a mean that isn't 0."""
    pair = rng.normal(size=(2, 5)) + np.array([[1.0], [-2.0]])
    lengths = np.array([[1.0], [0.02], [5.0], [0.4], [30.0]])
    uneven = lengths * (rng.normal(size=(5, 4)) + 1.5 + [[0.0], [2.0], [0.0], [1.0], [-1.0]])
    walk = np.cumsum(rng.normal(size=(40, 16)), axis=0) + rng.uniform(2, 4)
    return {
        "one pair": answer(pair),
        "gradients of different lengths": answer(uneven),
        "a long walk": answer(walk),
        "float32": answer(walk[:11].astype(np.float32)),
        "opposite neighbours": answer(pair[:1] * np.array([[1.0], [-0.5], [2.0]])),
    }


def _correlation(a, b):
    return np.corrcoef(a, b)[0, 1]


def no_centring(gradients):
    """The cosine of the angle between neighbours."""
    gradients = np.asarray(gradients, dtype=np.float64)
    unit = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    return np.mean(np.sum(unit[:-1] * unit[1:], axis=1))


def correlated_norms(gradients):
    """Correlates the lengths of neighbouring gradients."""
    norms = np.linalg.norm(np.asarray(gradients, dtype=np.float64), axis=1)
    first, second = norms[:-1] - norms[:-1].mean(), norms[1:] - norms[1:].mean()
    spread = first.std() * second.std()
    return np.mean(first * second) / spread if spread else np.nan


def every_pair(gradients):
    """Compares each gradient with each other one."""
    table = np.atleast_2d(np.corrcoef(np.asarray(gradients, dtype=np.float64)))
    return table[np.triu_indices(len(table), k=1)].mean()


def with_the_first(gradients):
    """Compares every gradient with the first one."""
    gradients = np.asarray(gradients, dtype=np.float64)
    return np.mean([_correlation(gradients[0], other) for other in gradients[1:]])


def covariance(gradients):
    """Centres and multiplies, and doesn't divide by the spreads."""
    gradients = np.asarray(gradients, dtype=np.float64)
    centred = gradients - gradients.mean(axis=1, keepdims=True)
    return np.mean(centred[:-1] * centred[1:])


def pooled(gradients):
    """Puts all pairs into two long lists and correlates those."""
    gradients = np.asarray(gradients, dtype=np.float64)
    return _correlation(gradients[:-1].ravel(), gradients[1:].ravel())


def along_the_walk(gradients):
    """Correlates neighbouring columns: the wrong axis."""
    return gradient_agreement(np.asarray(gradients, dtype=np.float64).T)


def centred_over_the_inputs(gradients):
    """Takes away the mean gradient of the walk in place of each gradient's own mean."""
    gradients = np.asarray(gradients, dtype=np.float64)
    return no_centring(gradients - gradients.mean(axis=0))


def without_sign(gradients):
    """Counts an opposite gradient as agreement."""
    gradients = np.asarray(gradients, dtype=np.float64)
    return np.mean([abs(_correlation(a, b)) for a, b in pairwise(gradients)])


exercise = Exercise(
    answer=gradient_agreement,
    probe=probe,
    misconceptions=[
        Misconception(
            "no-centring",
            no_centring,
            "You have the cosine of the angle between neighbours. Two gradients that share nothing but a mean far from "
            "0 look alike to it. Take each row's own mean away first.",
        ),
        Misconception(
            "norms-correlated",
            correlated_norms,
            "You compare the lengths of the gradients. Two gradients of one length may point in opposite directions: "
            "compare them number by number.",
        ),
        Misconception(
            "every-pair",
            every_pair,
            "You compare every gradient with every other one. Only neighbours count here: rows i and i + 1.",
        ),
        Misconception(
            "with-the-first",
            with_the_first,
            "You compare each gradient with the first one, which gets farther and farther away. Neighbours are rows i "
            "and i + 1.",
        ),
        Misconception(
            "covariance",
            covariance,
            "The rows are centred and not scaled, so long gradients count more, and the result may be above 1. Divide "
            "each row by its own spread.",
        ),
        Misconception(
            "all-pairs-in-one",
            pooled,
            "You put all pairs into one long correlation. Then the longest gradients decide it. Take one correlation "
            "for each pair, with each row's own mean and spread, and their mean at the end.",
        ),
        Misconception(
            "wrong-axis",
            along_the_walk,
            "You compare neighbouring columns. A gradient is a row: its mean and its spread go along axis 1.",
        ),
        Misconception(
            "centred-over-the-inputs",
            centred_over_the_inputs,
            "You take away the mean over the inputs, one for each column. The task takes away the mean of each row: "
            "one for each gradient.",
        ),
        Misconception(
            "sign-dropped",
            without_sign,
            "You count opposite gradients as agreement. A step that helps one of two such inputs harms the other: keep "
            "the sign.",
        ),
    ],
    hints=[
        "First two rows only: what is the correlation of two lists of numbers? Lesson 04 had it in `loss_a`.",
        "Centre each row: `gradients - gradients.mean(axis=1, keepdims=True)`. Divide each row by its own standard "
        "deviation. Neighbours are then `scaled[:-1]` and `scaled[1:]`.",
        "With `scaled` centred and divided: the mean of `scaled[:-1] * scaled[1:]` over everything. All rows are "
        "equally long, so one mean does both.",
    ],
    explanation=(
        "One update moves the weights for all inputs of a batch at once. Where neighbouring inputs ask for unrelated "
        "moves, the sum of their gradients says little about any of them."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=2e-5),
    level="stretch",
)
