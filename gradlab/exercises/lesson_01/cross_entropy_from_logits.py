"""cross_entropy_from_logits: the loss of a batch, from the raw scores of the model."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def cross_entropy_from_logits(labels, logits):
    """Return the mean cross-entropy of a batch, as one finite number.

    A row of ``logits`` holds one raw score per class, any number from very negative to very positive. Softmax turns a
    row z into probabilities: ``p[c] = exp(z[c]) / (exp(z[0]) + exp(z[1]) + ...)``. The cross-entropy of an example is
    ``-ln(p[label])``; the loss is the mean of it over the examples.

    The scores can be as large as 1000 or as small as -1000, where exp gives infinity or 0, and the loss is still an
    ordinary number: 2000 for a label that scores -1000 beside a class that scores 1000. So no step may overflow, and
    no logarithm of 0 may be taken. It helps that softmax doesn't change when one number is subtracted from all scores
    of a row.

    labels: NumPy array of shape (n,), whole numbers: the right class of each example. logits: NumPy array of shape
    (n, classes), float32.
    Returns one number. Example: labels ``[0, 1]`` and logits ``[[0.0, 0.0], [2.0, 0.0]]`` have the cross-entropies
    ``ln(2) = 0.693`` and ``ln(1 + exp(2)) = 2.127``; their mean is ``1.410``.
    """
    logits = np.asarray(logits, dtype="float64")
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_sums = np.log(np.exp(shifted).sum(axis=1))
    chosen = shifted[np.arange(len(logits)), labels]
    return np.mean(log_sums - chosen)


def probe(answer, rng):
    """Everyday scores, a single example, rows far from zero, and scores that are sure: right, wrong, more wrong."""

    def scores(n, classes, spread):
        return (spread * rng.normal(size=(n, classes))).astype("float32")

    def picked(n, classes):
        return rng.integers(0, classes, size=n)

    everyday = picked(7, 4), scores(7, 4, 1.5)
    single = 1 + picked(1, 4), scores(1, 5, 1.0)
    more_classes = picked(3, 12), scores(3, 12, 2.0)
    offsets = np.array([[0.0], [900.0], [-900.0], [450.0], [-450.0]], dtype="float32")
    far = picked(5, 3), scores(5, 3, 1.0) + offsets
    sure = scores(4, 6, 1.0)
    wrong = picked(4, 6)
    right = (wrong + 2) % 6
    sure[np.arange(4), wrong] -= np.float32(900.0)
    sure[np.arange(4), right] += np.float32(990.0)
    surer = sure.copy()
    surer[np.arange(4), wrong] -= np.float32(90.0)

    def tried(labels, logits):
        """One number; NaN where a step broke: the same step gives NaN, infinity, or an exception of plain Python."""
        try:
            found = answer(labels, logits)
            return found if np.isfinite(float(found)) else np.nan
        except (OverflowError, ValueError, ZeroDivisionError):
            return np.nan
        except TypeError:
            return found

    def grown(labels, before, after):
        """By how much the loss grows: not at all where a probability is kept away from 0, however that is done."""
        low, high = tried(labels, before), tried(labels, after)
        try:
            return float(high) - float(low)
        except (TypeError, ValueError):
            return high

    return {
        "everyday scores": answer(*everyday),
        "one example": answer(*single),
        "more classes than examples": answer(*more_classes),
        "scores far from zero": tried(*far),
        "sure and right": tried(right, sure),
        "sure and wrong": tried(wrong, surer),
        "ever more wrong": grown(wrong, sure, surer),
    }


def _shifted(logits):
    logits = np.asarray(logits, dtype="float64")
    return logits - logits.max(axis=1, keepdims=True)


def _softmax(logits):
    powers = np.exp(_shifted(logits))
    return powers / powers.sum(axis=1, keepdims=True)


def _losses(labels, logits):
    shifted = _shifted(logits)
    return np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]


def overflowing(labels, logits):
    """Softmax as it is written, then the logarithm."""
    powers = np.exp(np.asarray(logits))
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    return -np.mean(np.log(probabilities[np.arange(len(labels)), labels]))


def log_of_zero(labels, logits):
    """A softmax that doesn't overflow, then the logarithm of a probability that became 0."""
    return -np.mean(np.log(_softmax(logits)[np.arange(len(labels)), labels]))


def kept_from_zero(labels, logits):
    """Adds a little to the probability, and so keeps the loss below 20.8."""
    chosen = _softmax(logits)[np.arange(len(labels)), labels]
    return -np.mean(np.log(chosen + 1e-9))


def row_mean_subtracted(labels, logits):
    """Shifts each row by its mean, which leaves large scores large."""
    logits = np.asarray(logits, dtype="float64")
    return overflowing(labels, logits - logits.mean(axis=1, keepdims=True))


def one_maximum_for_all(labels, logits):
    """Subtracts the largest score of the batch instead of each row's."""
    return overflowing(labels, np.asarray(logits, dtype="float64") - np.max(logits))


def summed(labels, logits):
    """Adds the losses up."""
    return _losses(labels, logits).sum()


def softmax_twice(labels, logits):
    """Treats probabilities as scores once more."""
    return _losses(labels, _softmax(logits)).mean()


def mean_over_everything(labels, logits):
    """Divides by examples times classes."""
    return _losses(labels, logits).sum() / np.size(logits)


def softmax_over_everything(labels, logits):
    """Divides by one sum over all rows and columns."""
    powers = np.exp(np.asarray(logits, dtype="float64") - np.max(logits))
    return -np.mean(np.log((powers / powers.sum())[np.arange(len(labels)), labels]))


def first_column(labels, logits):
    """Takes the first class for the right one, always."""
    return -np.mean(np.log(_softmax(logits)[:, 0]))


def every_label_for_every_row(labels, logits):
    """Indexes the columns with all labels at once: n by n numbers."""
    return -np.mean(np.log(_softmax(logits)[:, labels]))


def softmax_over_the_batch(labels, logits):
    """Makes the columns add up to 1 instead of the rows."""
    shifted = np.asarray(logits, dtype="float64") - np.max(logits, axis=0, keepdims=True)
    log_sums = np.log(np.exp(shifted).sum(axis=0))
    return np.mean(log_sums[labels] - shifted[np.arange(len(labels)), labels])


def keras_takes_probabilities(labels, logits):
    """Hands raw scores to a Keras loss that expects probabilities."""
    import keras

    return np.mean(np.asarray(keras.losses.sparse_categorical_crossentropy(labels, logits)))


def minus_forgotten(labels, logits):
    """Returns the mean logarithm of the probability."""
    return -_losses(labels, logits).mean()


exercise = Exercise(
    answer=cross_entropy_from_logits,
    probe=probe,
    misconceptions=[
        Misconception(
            "softmax-over-everything",
            softmax_over_everything,
            "You divide by one sum over all examples and classes. Each example, a row, has a sum of its own: axis=1.",
        ),
        Misconception(
            "always-the-first-column",
            first_column,
            "You take the first column for every example. Each example has a label of its own, and the label is the "
            "column.",
        ),
        Misconception(
            "every-label-for-every-row",
            every_label_for_every_row,
            "You picked the columns of all labels from every row: n by n numbers. Each row has one label: give the "
            "row's number beside it.",
        ),
        Misconception(
            "exp-overflows",
            overflowing,
            "exp of a large score is infinity, and no step after it can bring the number back. Subtract each row's "
            "largest score first: the probabilities stay the same.",
        ),
        Misconception(
            "log-of-zero",
            log_of_zero,
            "The probability of the right class became 0 where the model is sure and wrong, and its logarithm is minus "
            "infinity. Don't form the probability: take the logarithm of the fraction apart first.",
        ),
        Misconception(
            "probability-kept-from-zero",
            kept_from_zero,
            "You keep the probability away from 0, so from some point on a worse score costs no more. A score that is "
            "1000 too low costs about 1000: take the logarithm of the fraction apart instead.",
        ),
        Misconception(
            "row-mean-subtracted",
            row_mean_subtracted,
            "You subtract each row's mean. A score far above the mean stays large, and exp overflows: after which "
            "subtraction is no score above 0?",
        ),
        Misconception(
            "one-maximum-for-all-rows",
            one_maximum_for_all,
            "You subtract the largest score of the whole batch. Rows far below it become all zeros; each row needs its "
            "own largest score.",
        ),
        Misconception(
            "sum-for-mean",
            summed,
            "You added up the losses of the examples. The loss of a batch is their mean, so that it doesn't grow with "
            "the batch.",
        ),
        Misconception(
            "softmax-twice",
            softmax_twice,
            "Softmax is applied twice: the second one takes probabilities for scores, and makes them all nearly alike.",
        ),
        Misconception(
            "mean-over-classes-too",
            mean_over_everything,
            "You divided by examples times classes. Each example has one loss, so divide by the number of examples.",
        ),
        Misconception(
            "softmax-over-the-batch",
            softmax_over_the_batch,
            "Your softmax runs down the columns, over the examples. The probabilities of one example, a row, add up "
            "to 1: use axis=1.",
        ),
        Misconception(
            "from-logits-forgotten",
            keras_takes_probabilities,
            "Keras took your raw scores for probabilities and cut off what lies outside 0 to 1. Its losses expect "
            "probabilities unless you say from_logits=True.",
        ),
        Misconception(
            "minus-forgotten",
            minus_forgotten,
            "The sign is turned round: this is the mean logarithm of the probability. The loss has a minus before it.",
        ),
    ],
    hints=[
        "Do one row on paper: its probabilities, the one of the right class, minus its logarithm. Which step breaks "
        "when a score is 1000?",
        "Subtract from each row its largest score. Then -ln(p[label]) is ln(sum of exp of the row) minus the label's "
        "score, and nothing overflows.",
        "`shifted = logits - logits.max(axis=1, keepdims=True)`, then `np.log(np.exp(shifted).sum(axis=1))` minus "
        "`shifted[np.arange(len(labels)), labels]`; and the mean of that.",
    ],
    tolerance={
        "scores far from zero": Tolerance(rtol=1e-4, atol=1e-3),
        "sure and right": Tolerance(rtol=1e-5, atol=1e-3),
        "sure and wrong": Tolerance(rtol=1e-5, atol=1e-3),
        "ever more wrong": Tolerance(rtol=1e-4, atol=1e-2),
    },
    weights={"everyday scores": 2},
    explanation=(
        "This is what from_logits=True asks Keras for, and why it is worth asking: softmax and logarithm in one step "
        "can't overflow, and an example that is sure and wrong keeps its true loss and its gradient."
    ),
    level="core",
)
