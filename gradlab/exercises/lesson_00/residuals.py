"""residuals: what is left between targets and predictions, example by example."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception


def residuals(predictions, targets):
    """Return target minus prediction for each of n examples, as a flat array of shape (n,).

    predictions: NumPy array of shape (n,) or (n, 1). targets: the same, and not always the same of the two shapes.
    Entry i of the result belongs to example i. n may be 1. The inputs stay as they are.

    Example: predictions ``[[1.0], [2.0], [3.0]]`` with targets ``[1.5, 2.0, 2.0]`` give ``[0.5, 0.0, -1.0]``.
    """
    return np.reshape(targets, -1) - np.reshape(predictions, -1)


def probe(answer, rng):
    """All four pairs of shapes, and a single example."""
    predictions, targets = rng.normal(size=5), rng.normal(size=5)
    one = rng.normal(size=2)
    return {
        "both flat": answer(predictions, targets),
        "predictions a column": answer(predictions[:, None], targets),
        "targets a column": answer(predictions, targets[:, None]),
        "both columns": answer(predictions[:, None], targets[:, None]),
        "one example": answer(one[:1, None], one[1:]),
    }


def plain_difference(predictions, targets):
    """Subtracts whatever shapes come."""
    return np.asarray(targets) - np.asarray(predictions)


def mean_residual(predictions, targets):
    """Gives one number for the whole batch."""
    return np.mean(np.reshape(targets, -1) - np.reshape(predictions, -1))


def other_way(predictions, targets):
    """Takes prediction minus target."""
    return np.reshape(predictions, -1) - np.reshape(targets, -1)


def without_sign(predictions, targets):
    """Drops the sign."""
    return np.abs(np.reshape(targets, -1) - np.reshape(predictions, -1))


def squeezed(predictions, targets):
    """Removes every axis of length 1, also the batch's."""
    return np.squeeze(targets) - np.squeeze(predictions)


def as_columns(predictions, targets):
    """Returns a column."""
    return np.reshape(targets, (-1, 1)) - np.reshape(predictions, (-1, 1))


exercise = Exercise(
    answer=residuals,
    probe=probe,
    misconceptions=[
        Misconception(
            "broadcast",
            plain_difference,
            "Where a column (n, 1) meets a flat (n,), the difference is a square: every target minus every prediction. "
            "Bring both to one shape before you subtract.",
        ),
        Misconception(
            "batch-flattened",
            mean_residual,
            "You give one number for the whole batch. Asked for is one residual per example.",
        ),
        Misconception(
            "other-way-round",
            other_way,
            "Your signs are turned round: this is prediction minus target. A residual says how much is missing: "
            "positive where the target lies above the prediction.",
        ),
        Misconception(
            "sign-dropped",
            without_sign,
            "You dropped the sign. A residual of -1 says that the prediction is too high; keep it.",
        ),
        Misconception(
            "squeezed",
            squeezed,
            "np.squeeze removes every axis of length 1. With a single example that is the batch axis too, and the "
            "shape becomes () instead of (1,).",
        ),
        Misconception(
            "columns",
            as_columns,
            "You return a column of shape (n, 1). Asked for is a flat array of shape (n,).",
        ),
    ],
    hints=[
        "Print the shape of your result when predictions has shape (3, 1) and targets has shape (3,).",
        "Bring both inputs to shape (n,) first. reshape with -1 lets NumPy count.",
        "Start with `flat_targets = np.reshape(targets, -1)`, and the same for the predictions.",
    ],
    explanation=(
        "Keras gives predictions of shape (n, 1), and labels often have shape (n,). A loss written without looking "
        "compares every prediction with every target and still returns a number. Lesson 02 trains with that mistake."
    ),
    level="stretch",
)
