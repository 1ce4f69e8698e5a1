"""safe_log_loss: a cross-entropy of probabilities that is finite at 0 and 1, and still has a gradient there."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def safe_log_loss(labels, probabilities):
    """Return the mean cross-entropy of probabilities for two classes, finite even where a probability is 0 or 1.

    For a label of 1 the loss of an example is ``-log(p)``, for a label of 0 it is ``-log(1 - p)``; the result is the
    mean over the examples. Where p is exactly 0 or 1 that may be the logarithm of 0. Take it for the logarithm of about
    0.0000001 (1e-7): a loss of about 16.1 for an example that is that wrong, and about 0 for one that is right.

    Somebody will train with it, so the gradient with respect to the probabilities has to be finite everywhere, too. And
    it mustn't be 0 for an example that is wrong: where p is 0 and the label 1, it has to say that p should grow, and
    where p is 1 and the label 0, that it should shrink.

    labels, probabilities: float32 tensors of shape (n,). Labels are 0.0 or 1.0, probabilities from 0.0 to 1.0.
    Returns a float32 tensor with one number; use TensorFlow's functions, so that a tape can follow.

    Example: labels ``[1.0, 0.0]`` and probabilities ``[0.5, 0.25]`` give ``(0.6931 + 0.2877) / 2 = 0.4904``.
    """
    tiny = 1e-7
    of_ones = labels * tf.math.log(probabilities + tiny)
    of_zeros = (1 - labels) * tf.math.log(1 - probabilities + tiny)
    return -tf.reduce_mean(of_ones + of_zeros)


def probe(answer, rng):
    """Loss and gradient for ordinary probabilities, and for those that are exactly 0 or 1, right and wrong."""
    labels = tf.constant(rng.permutation([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]), tf.float32)
    ordinary = tf.constant(rng.uniform(0.05, 0.95, 7), tf.float32)
    middle = rng.uniform(0.2, 0.8, 2)
    zero_for_one = (tf.constant([1.0, 1.0, 0.0]), tf.constant([0.0, middle[0], middle[1]], tf.float32))
    one_for_zero = (tf.constant([0.0, 1.0, 0.0]), tf.constant([1.0, middle[0], middle[1]], tf.float32))
    both_right = (tf.constant([1.0, 0.0, 1.0]), tf.constant([1.0, 0.0, middle[0]], tf.float32))

    def measured(labels, probabilities):
        with tf.GradientTape() as tape:
            tape.watch(probabilities)
            loss = answer(labels, probabilities)
            total = tf.reduce_sum(tf.cast(tf.convert_to_tensor(loss), tf.float32))
        return loss, tape.gradient(total, probabilities)

    loss, slope = measured(labels, ordinary)
    loss_zero, slope_zero = measured(*zero_for_one)
    loss_one, slope_one = measured(*one_for_zero)
    loss_right, slope_right = measured(*both_right)
    return {
        "ordinary probabilities": loss,
        "their gradient": slope,
        "0 for a label of 1": loss_zero,
        "1 for a label of 0": loss_one,
        "0 and 1 where they are right": loss_right,
        "gradient at a wrong 0": _push(slope_zero),
        "gradient at a wrong 1": _push(slope_one),
        "gradient where they are right": _finite(slope_right),
    }


def _finite(slope):
    if slope is None:
        return "no gradient"
    return "finite" if np.isfinite(slope).all() else "not finite"


def _push(slope):
    """In words, where the gradient wants the first probability to go."""
    if _finite(slope) != "finite":
        return _finite(slope)
    first = float(slope[0])
    return "it should stay" if first == 0 else "it should grow" if first < 0 else "it should shrink"


def unguarded(labels, probabilities):
    """Takes the logarithm of 0."""
    return -tf.reduce_mean(labels * tf.math.log(probabilities) + (1 - labels) * tf.math.log(1 - probabilities))


def one_side(labels, probabilities):
    """Guards log(p) and forgets log(1 - p)."""
    return -tf.reduce_mean(labels * tf.math.log(probabilities + 1e-7) + (1 - labels) * tf.math.log(1 - probabilities))


def other_side(labels, probabilities):
    """Guards log(1 - p) and forgets log(p)."""
    return -tf.reduce_mean(labels * tf.math.log(probabilities) + (1 - labels) * tf.math.log(1 - probabilities + 1e-7))


def clipped(labels, probabilities):
    """Clips the probabilities, which takes the gradient away exactly where it is needed."""
    return safe_log_loss(labels, tf.clip_by_value(probabilities, 1e-7, 1 - 1e-7))


def chosen_afterwards(labels, probabilities):
    """Chooses after the logarithm has been taken."""
    log_p, log_q = tf.math.log(probabilities), tf.math.log(1 - probabilities)
    log_p = tf.where(probabilities > 0, log_p, -16.118)
    log_q = tf.where(probabilities < 1, log_q, -16.118)
    return -tf.reduce_mean(labels * log_p + (1 - labels) * log_q)


def summed(labels, probabilities):
    """Adds up instead of averaging."""
    return safe_log_loss(labels, probabilities) * tf.cast(tf.size(labels), tf.float32)


def only_the_ones(labels, probabilities):
    """Forgets the examples with a label of 0."""
    return -tf.reduce_mean(labels * tf.math.log(probabilities + 1e-7))


def sign_turned(labels, probabilities):
    """Forgets the minus sign."""
    return -safe_log_loss(labels, probabilities)


def labels_swapped(labels, probabilities):
    """Takes log(p) for a label of 0."""
    return safe_log_loss(1 - labels, probabilities)


def coarse(labels, probabilities):
    """Adds so much that ordinary losses change."""
    log_p, log_q = tf.math.log(probabilities + 1e-2), tf.math.log(1 - probabilities + 1e-2)
    return -tf.reduce_mean(labels * log_p + (1 - labels) * log_q)


exercise = Exercise(
    answer=safe_log_loss,
    probe=probe,
    misconceptions=[
        Misconception(
            "unguarded",
            unguarded,
            "At 0 and 1 you take the logarithm of 0: the loss is infinite, or NaN where 0 is multiplied by it. What "
            "you add outside of the logarithm comes too late.",
        ),
        Misconception(
            "one-side-only",
            one_side,
            "You guard log(p), and log(1 - p) still meets a 0 where p is 1. A label of 1 doesn't save it: 0 times "
            "infinity is NaN.",
        ),
        Misconception(
            "other-side-only",
            other_side,
            "You guard log(1 - p), and log(p) still meets a 0 where p is 0. A label of 0 doesn't save it: 0 times "
            "infinity is NaN.",
        ),
        Misconception(
            "clipping-kills-the-gradient",
            clipped,
            "The loss is finite, and its gradient is 0 exactly where an example is wrong: outside its range clipping "
            "is flat. Such an example is never learned. Move the probability away from 0 without a flat piece.",
        ),
        Misconception(
            "chosen-afterwards",
            chosen_afterwards,
            "You choose after the logarithm has been taken. The loss is right, and the gradient NaN: 0 times infinity "
            "on the way back through the branch that wasn't chosen.",
        ),
        Misconception("sum-for-mean", summed, "You add up the losses of the examples. The mean is asked for."),
        Misconception(
            "zeros-forgotten",
            only_the_ones,
            "Examples with a label of 0 cost nothing in your loss. For them it is -log(1 - p).",
        ),
        Misconception("sign-turned", sign_turned, "Your loss is negative: there is a minus sign missing."),
        Misconception(
            "labels-swapped",
            labels_swapped,
            "You take log(p) for a label of 0 and log(1 - p) for a label of 1. p is the probability of 1.",
        ),
        Misconception(
            "coarse",
            coarse,
            "The number that you add is so large that ordinary losses change too, and a wrong 0 costs too little. Take "
            "1e-7.",
        ),
    ],
    hints=[
        "Which two logarithms can meet a 0? And what is the slope of a clipped number outside its range?",
        "Adding a small number inside each logarithm keeps both finite, and has no flat piece.",
        "`tf.math.log(probabilities + 1e-7)` is one of the two.",
    ],
    explanation=(
        "`keras.losses.BinaryCrossentropy()` clips probabilities, so its gradient is 0 at an exact 0 or 1. Better "
        "still: don't form the probability at all, and give the loss logits, with `from_logits=True`."
    ),
    tolerance={
        "ordinary probabilities": Tolerance(rtol=1e-4, atol=1e-5),
        "their gradient": Tolerance(rtol=1e-3, atol=1e-5),
        "0 for a label of 1": Tolerance(rtol=0.03, atol=0.01),
        "1 for a label of 0": Tolerance(rtol=0.03, atol=0.01),
        "0 and 1 where they are right": Tolerance(rtol=1e-3, atol=1e-4),
    },
    weights={"gradient at a wrong 0": 2, "gradient at a wrong 1": 2},
    level="core",
)
