"""mend_program_1: an entropy whose unused branch makes NaN."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def mend_program_1(scores):
    """Mend ``program_1``, which you see above: the same loss, with a finite gradient for every score.

    Each row of ``scores`` becomes shares: negative scores count as 0, and a row is divided by its sum. The loss says
    how evenly the shares are spread: for each row the sum of ``-share * log(share)``, where a share of 0 contributes
    nothing, and then the mean over the rows.

    The loss must be that of ``program_1`` (to 0.00001), and its gradient the true one: for a share above 0 the slope
    of the formula, for a score below 0 exactly 0, because a small change of it changes nothing.

    scores: float32 tensor of shape (rows, columns). Each row holds at least one number above 0; no number is 0.
    Returns one number: a tensor of shape ().

    Example: for ``scores = [[2.0, 2.0, -1.0]]`` the shares are ``[0.5, 0.5, 0]``, the loss is log(2) = 0.6931, and all
    three slopes are 0 (an even row is already as even as it gets).
    """
    positive = tf.nn.relu(scores)
    shares = positive / tf.reduce_sum(positive, axis=1, keepdims=True)
    harmless = tf.where(shares > 0, shares, 1.0)  # log(1) is 0, and so is what it contributes
    return tf.reduce_mean(tf.reduce_sum(-shares * tf.math.log(harmless), axis=1))


def probe(answer, rng):
    """Loss and slope for rows without negative scores, for rows with some, and for rows with one share alone."""
    size, spread = (4, 5), (0.3, 2.0)
    all_positive = rng.uniform(*spread, size)
    some_negative = rng.uniform(*spread, size)
    for row in range(4):
        some_negative[row, rng.permutation(5)[: 1 + row % 3]] *= -1
    lonely = -rng.uniform(*spread, (3, 4))
    lonely[[0, 1, 2], rng.integers(0, 4, 3)] *= -1
    lonely[2] = rng.uniform(*spread, 4)
    small = 0.01 * some_negative[::-1]

    def measured(scores):
        scores = tf.constant(scores, tf.float32)
        with tf.GradientTape() as tape:
            tape.watch(scores)
            loss = answer(scores)
            number = _single_number(loss)
        slope = tape.gradient(number, scores)
        if slope is None:
            return [loss, None]
        slope = tf.convert_to_tensor(slope)
        return [loss, slope + 0.0 if np.isfinite(slope).all() else "not finite"]  # never "-0"

    kinds = {
        "no negative score": all_positive,
        "some negative scores": some_negative,
        "one share alone": lonely,
        "small scores": small,
    }
    return {name: measured(scores) for name, scores in kinds.items()}


def _single_number(loss):
    """The loss as a tensor, if it can be one number; a slope of anything else is of no interest."""
    number = tf.convert_to_tensor(loss)
    if number.shape != () or not number.dtype.is_floating:
        raise TypeError("it is not a single number")
    return number


def _shares(scores):
    positive = tf.nn.relu(scores)
    return positive / tf.reduce_sum(positive, axis=1, keepdims=True)


def _mean_of_rows(surprise):
    return tf.reduce_mean(tf.reduce_sum(surprise, axis=1))


def guarded_afterwards(scores):
    """Chooses when the logarithm has already been taken, as program_1 does."""
    shares = _shares(scores)
    return _mean_of_rows(tf.where(shares > 0, -shares * tf.math.log(shares), 0.0))


def unguarded(scores):
    """Has no guard at all: the loss itself is NaN."""
    shares = _shares(scores)
    return _mean_of_rows(-shares * tf.math.log(shares))


def coarse_epsilon(scores):
    """Adds so much inside the logarithm that the loss is another."""
    shares = _shares(scores)
    return _mean_of_rows(-shares * tf.math.log(shares + 0.01))


def clipped_shares(scores):
    """Raises the zeros to a hundredth, so that they contribute."""
    shares = tf.maximum(_shares(scores), 0.01)
    return _mean_of_rows(-shares * tf.math.log(shares))


def floor_under_the_scores(scores):
    """Raises the negative scores to a millionth, which is much where the others are small."""
    positive = tf.maximum(scores, 1e-6)
    shares = positive / tf.reduce_sum(positive, axis=1, keepdims=True)
    return _mean_of_rows(-shares * tf.math.log(shares))


def softmax_shares(scores):
    """Takes shares that are never zero."""
    shares = tf.nn.softmax(scores, axis=1)
    return _mean_of_rows(-shares * tf.math.log(shares))


def nan_slopes_replaced(scores):
    """Lets the NaN arise and puts zeros in its place at the very end: whole rows lose their slope."""

    @tf.custom_gradient
    def without_nan(x):
        return tf.identity(x), lambda upstream: tf.where(tf.math.is_finite(upstream), upstream, 0.0)

    return guarded_afterwards(without_nan(scores))


def stopped(scores):
    """Stops the gradient of the whole term."""
    shares = _shares(scores)
    harmless = tf.where(shares > 0, shares, 1.0)
    return _mean_of_rows(tf.stop_gradient(-shares * tf.math.log(harmless)))


def shares_held_still(scores):
    """Lets only the row's sum go without a gradient."""
    positive = tf.nn.relu(scores)
    shares = positive / tf.stop_gradient(tf.reduce_sum(positive, axis=1, keepdims=True))
    return _mean_of_rows(-shares * tf.math.log(tf.where(shares > 0, shares, 1.0)))


def clean_rows_only(scores):
    """Leaves out every row that holds a share of zero."""
    shares = _shares(scores)
    clean = tf.reduce_all(shares > 0, axis=1, keepdims=True)
    return _mean_of_rows(tf.where(clean, -shares * tf.math.log(tf.where(clean, shares, 1.0)), 0.0))


def sum_of_rows(scores):
    """Adds the rows up where it should average."""
    shares = _shares(scores)
    return tf.reduce_sum(-shares * tf.math.log(tf.where(shares > 0, shares, 1.0)))


exercise = Exercise(
    answer=mend_program_1,
    probe=probe,
    misconceptions=[
        Misconception(
            "guarded-afterwards",
            guarded_afterwards,
            "The loss is right, and the slopes are NaN wherever a row holds a share of 0. The guard comes too late: "
            "the logarithm has seen the 0, and its slope there is infinite. What must go into the logarithm?",
        ),
        Misconception(
            "unguarded",
            unguarded,
            "Without any guard the loss itself is NaN: 0 times log(0). A share of 0 has to contribute nothing.",
        ),
        Misconception(
            "coarse-epsilon",
            coarse_epsilon,
            "Finite, but another loss: what you add inside the logarithm is large enough to be seen where nothing was "
            "wrong. Either add much less, or put something in the place of the zeros alone.",
        ),
        Misconception(
            "clipped-shares",
            clipped_shares,
            "You raise the shares of 0, and now they contribute. Only the logarithm must not see the 0; the factor in "
            "front of it may stay 0.",
        ),
        Misconception(
            "floor-under-the-scores",
            floor_under_the_scores,
            "You put a floor of a millionth under the scores. Beside scores of 1 nobody sees it; beside scores of 0.01 "
            "the raised ones get shares that count. A share is only small beside the others: guard the logarithm, and "
            "leave the scores alone.",
        ),
        Misconception(
            "softmax",
            softmax_shares,
            "The softmax is never 0, so nothing breaks, but these are other shares: the program's negative scores "
            "count as 0. Mend the loss; don't take its hard part away.",
        ),
        Misconception(
            "nan-slopes-replaced",
            nan_slopes_replaced,
            "By then the NaN has spread: the division by the row's sum carried it to every score of the row, so the "
            "whole row loses its slope. Keep it from arising.",
        ),
        Misconception(
            "stopped",
            stopped,
            "No NaN, and no gradient either: you stopped it. The scores should be moved by this loss.",
        ),
        Misconception(
            "sum-held-still",
            shares_held_still,
            "The loss is right, and the slopes aren't: the sum of a row changes with its scores, too.",
        ),
        Misconception(
            "clean-rows-only",
            clean_rows_only,
            "You leave out every row that holds a share of 0. Its other shares contribute: guard the single share, not "
            "the row.",
        ),
        Misconception(
            "sum-for-mean",
            sum_of_rows,
            "The loss is the mean over the rows; you have their sum.",
        ),
    ],
    hints=[
        "Which operation has an infinite slope, and at which value? In which line does it meet that value?",
        "Put a harmless number in the place of each 0 before the logarithm is taken. Which number contributes nothing "
        "afterwards?",
        "`harmless = tf.where(shares > 0, shares, 1.0)`, and then `-shares * tf.math.log(harmless)`.",
    ],
    explanation=(
        "The logarithm never meets a 0, so there is nothing infinite that a 0 could be multiplied with. tf.math.xlogy, "
        "which knows that 0 times log(0) is meant as 0, mends it as well."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=2e-5),
    weights={"some negative scores": 2},
    level="core",
)
