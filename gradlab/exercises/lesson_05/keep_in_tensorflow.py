"""keep_in_tensorflow: a loss made of statistics, none of which may leave TensorFlow."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def keep_in_tensorflow(predictions, targets):
    """Return how badly predictions agree with targets, as a loss whose whole gradient reaches the predictions.

    The loss is a fraction. Above stands the mean of the squared errors. Below stands the sum of three numbers: the
    variance of the predictions, the variance of the targets, and the square of (mean of the predictions minus mean of
    the targets). A variance is the mean of the squared distances from the mean. So the loss is 0 where both agree
    everywhere, and 1 where one has nothing to do with the other, as when the predictions, or the targets, are the same
    for everybody (it is 1 minus Lin's *concordance*, if you know it).

    The predictions stand above and below, and the gradient has to come through all of these places. Nothing that is
    computed from the predictions may leave TensorFlow: no ``np.``, no ``float``, no ``.numpy()``.

    predictions: float32 tensor, shape (n,) or (n, 1). targets: float32 array of the same shape.
    Returns one number: a tensor of shape ().

    Example: for predictions ``[0.0, 2.0]`` and targets ``[1.0, 1.0]`` the squared errors have the mean 1; below stands
    1 + 0 + 0: the loss is 1.0. For predictions ``[1.0, 3.0]`` and targets ``[0.0, 4.0]`` it is 1 / (1 + 4 + 0) = 0.2.
    """
    error = tf.reduce_mean((predictions - targets) ** 2)
    shift = tf.reduce_mean(predictions) - tf.reduce_mean(targets)
    variances = tf.math.reduce_variance(predictions) + tf.math.reduce_variance(targets)
    return error / (variances + shift**2)


def probe(answer, rng):
    """Losses and slopes for a flat and a column of predictions, related to the targets and not."""
    targets = rng.normal(1.0, 2.0, 9).astype(np.float32)
    related = tf.constant(0.5 * targets + rng.normal(0.4, 0.6, 9), tf.float32)
    column_targets = rng.uniform(-3.0, 0.0, (5, 1)).astype(np.float32)
    unrelated = tf.constant(rng.normal(2.0, 1.5, (5, 1)), tf.float32)

    def measured(predictions, targets):
        with tf.GradientTape() as tape:
            tape.watch(predictions)
            loss = answer(predictions, targets)
            number = _single_number(loss)
        return loss, tape.gradient(number, predictions)

    flat, column = measured(related, targets), measured(unrelated, column_targets)
    return {
        "loss": flat[0],
        "slope": flat[1],
        "loss of a column": column[0],
        "slope of a column": column[1],
    }


def _single_number(loss):
    """The loss as a tensor, if it can be one number; a slope of anything else is of no interest."""
    number = tf.convert_to_tensor(loss)
    if number.shape != () or not number.dtype.is_floating:
        raise TypeError("it is not a single number")
    return number


def _fraction(predictions, targets, above=None, mean=None, variance=None):
    """The reference, with a mean or a variance of the predictions of one's own."""
    above = tf.reduce_mean((predictions - targets) ** 2) if above is None else above
    mean = tf.reduce_mean(predictions) if mean is None else mean
    variance = tf.math.reduce_variance(predictions) if variance is None else variance
    return above / (variance + np.var(targets) + (mean - np.mean(targets)) ** 2)


def all_in_numpy(predictions, targets):
    """Computes everything with NumPy."""
    numbers = predictions.numpy()
    return np.mean((numbers - targets) ** 2) / (
        np.var(numbers) + np.var(targets) + (np.mean(numbers) - np.mean(targets)) ** 2
    )


def float_below(predictions, targets):
    """Makes a Python number of what stands below."""
    error = tf.reduce_mean((predictions - targets) ** 2)
    return error / float(error / _fraction(predictions, targets))


def variance_in_numpy(predictions, targets):
    """Takes the variance of the predictions with NumPy."""
    return _fraction(predictions, targets, variance=np.var(predictions.numpy()))


def mean_in_numpy(predictions, targets):
    """Takes the mean of the predictions with NumPy."""
    return _fraction(predictions, targets, mean=np.mean(predictions.numpy()))


def float_above(predictions, targets):
    """Makes a Python number of the mean squared error."""
    return _fraction(predictions, targets, above=float(tf.reduce_mean((predictions - targets) ** 2)))


def one_less(predictions, targets):
    """Divides the variances by n − 1."""
    factor = targets.size / (targets.size - 1)
    below = factor * (tf.math.reduce_variance(predictions) + np.var(targets))
    shift = tf.reduce_mean(predictions) - np.mean(targets)
    return tf.reduce_mean((predictions - targets) ** 2) / (below + shift**2)


def deviations_for_variances(predictions, targets):
    """Takes standard deviations where variances should stand."""
    below = tf.math.reduce_std(predictions) + np.std(targets)
    shift = tf.reduce_mean(predictions) - np.mean(targets)
    return tf.reduce_mean((predictions - targets) ** 2) / (below + shift**2)


def without_the_means(predictions, targets):
    """Leaves the difference of the means out."""
    below = tf.math.reduce_variance(predictions) + np.var(targets)
    return tf.reduce_mean((predictions - targets) ** 2) / below


def means_not_squared(predictions, targets):
    """Forgets to square the difference of the means."""
    below = tf.math.reduce_variance(predictions) + np.var(targets)
    return tf.reduce_mean((predictions - targets) ** 2) / (below + tf.reduce_mean(predictions) - np.mean(targets))


def sum_above(predictions, targets):
    """Adds the squared errors up."""
    return _fraction(predictions, targets, above=tf.reduce_sum((predictions - targets) ** 2))


def all_pairs(predictions, targets):
    """Subtracts a row from a column: every prediction meets every target."""
    table = tf.reshape(predictions, (-1, 1)) - np.reshape(targets, (1, -1))
    return _fraction(predictions, targets, above=tf.reduce_mean(table**2))


def the_concordance(predictions, targets):
    """Returns the agreement, which is best at 1."""
    return 1.0 - _fraction(predictions, targets)


exercise = Exercise(
    answer=keep_in_tensorflow,
    probe=probe,
    misconceptions=[
        Misconception(
            "all-in-numpy",
            all_in_numpy,
            "The value is right, and the predictions get None: all of it was computed outside TensorFlow. Use "
            "tf.reduce_mean and tf.math.reduce_variance on the predictions.",
        ),
        Misconception(
            "number-below",
            float_below,
            "The value is right, and half of the gradient is missing: what stands below became a plain number, which "
            "the tape takes for a constant. Keep it a tensor.",
        ),
        Misconception(
            "variance-in-numpy",
            variance_in_numpy,
            "The value is right, and part of the gradient is missing: the variance of the predictions was taken "
            "outside TensorFlow, so the tape holds it for a constant.",
        ),
        Misconception(
            "mean-in-numpy",
            mean_in_numpy,
            "The value is right, and part of the gradient is missing: the mean of the predictions was taken outside "
            "TensorFlow, so the tape holds it for a constant.",
        ),
        Misconception(
            "number-above",
            float_above,
            "The value is right, and the gradient isn't: what stands above became a plain number, which the tape takes "
            "for a constant. Keep it a tensor.",
        ),
        Misconception(
            "one-less",
            one_less,
            "Your variances divide by n − 1. Here a variance is the plain mean of the squared distances.",
        ),
        Misconception(
            "deviations-for-variances",
            deviations_for_variances,
            "Below stand variances, the squares of standard deviations.",
        ),
        Misconception(
            "means-left-out",
            without_the_means,
            "Below stand three numbers. Yours lacks the squared difference of the two means.",
        ),
        Misconception("means-not-squared", means_not_squared, "The difference of the two means has to be squared."),
        Misconception(
            "sum-for-mean",
            sum_above,
            "Above stands the mean of the squared errors; you have their sum.",
        ),
        Misconception(
            "all-pairs",
            all_pairs,
            "Your loss is 1 whatever the predictions are. A column of shape (n, 1) minus a row of shape (n,) is a "
            "table of all pairs, and its mean square is just what stands below. Keep the shapes of both as they are, "
            "or give both the same.",
        ),
        Misconception(
            "agreement-for-loss",
            the_concordance,
            "You return 1 minus the fraction: the agreement, which is best at 1. A loss is best at 0: return the "
            "fraction itself.",
        ),
    ],
    hints=[
        "For each number in the fraction: does it hang on the predictions? If so, which function of TensorFlow gives "
        "it?",
        "tf.reduce_mean for means, tf.math.reduce_variance for variances. The targets are data: what is computed from "
        "them alone may be done with NumPy.",
        "`below = tf.math.reduce_variance(predictions) + tf.math.reduce_variance(targets) + shift**2`, where shift is "
        "the difference of the two means, by tf.reduce_mean.",
    ],
    explanation=(
        "A number that left TensorFlow is a constant for the tape. Where all ways are cut you get None and notice it; "
        "where one of several is cut you get the gradient of another function. gradcheck tells the difference."
    ),
    tolerance=Tolerance(rtol=2e-4, atol=1e-5),
    weights={"slope": 2, "slope of a column": 2},
    level="stretch",
)
