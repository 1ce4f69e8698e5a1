"""soft_choice: one of several images, chosen by scores that can be learned."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def soft_choice(images, scores):
    """Choose one of several images softly, so that the choice can be learned.

    Turn the scores into shares with the softmax: share k is ``exp(scores[k])`` divided by the sum of all
    ``exp(scores)``. Return the sum of all images, each times its share. With one score far above the others that is
    practically its image. Scores of any size, as 500 or -1000, must give finite results: subtracting the largest
    score from all of them changes no share, and ``tf.nn.softmax`` does that for you.

    images: float32 tensor or array of shape (n, height, width). scores: float32 tensor of shape (n,).
    Returns a float32 tensor of shape (height, width), through which a gradient reaches ``scores`` and ``images``.

    Example: with ``images = [[[4.0]], [[8.0]]]`` (two images of one pixel) and scores ``[0.0, 0.0]`` the result is
    ``[[6.0]]``; with scores ``[0.0, log(3)]`` it is ``[[7.0]]``.
    """
    shares = tf.nn.softmax(scores)
    return tf.tensordot(shares, tf.convert_to_tensor(images, tf.float32), axes=1)


def probe(answer, rng):
    """Choices among three and five images, slopes in scores and images, and scores of hundreds."""
    three = tf.constant(rng.uniform(-1.0, 1.0, (3, 4, 2)), tf.float32)
    five = tf.constant(rng.uniform(-1.0, 1.0, (5, 2, 3)), tf.float32)
    scores = tf.constant(rng.permutation([-1.1, 0.4, 1.3]) + rng.uniform(-0.2, 0.2, 3), tf.float32)
    five_scores = tf.constant(rng.permutation([-2.0, -1.0, 0.3, 1.2, 2.2]), tf.float32)
    far_apart = tf.constant(rng.permutation([500.0, 498.5, -1000.0]), tf.float32)
    weights = tf.constant(rng.uniform(1.0, 2.0, 12), tf.float32)

    def chosen(images, scores):
        with tf.GradientTape() as tape:
            tape.watch([images, scores])
            image = answer(images, scores)
            canvas = tf.convert_to_tensor(image)
            if not canvas.dtype.is_floating:
                raise TypeError("it is not an image of floats")
            flat = tf.reshape(tf.cast(canvas, tf.float32), [-1])
            total = tf.reduce_sum(weights[: len(flat)] * flat)
        slopes = tape.gradient(total, [images, scores])
        return image, *(None if slope is None else tf.convert_to_tensor(slope) + 0.0 for slope in slopes)  # never "-0"

    first, in_images, in_scores = chosen(three, scores)
    second, _, in_five = chosen(five, five_scores)
    large, _, in_large = chosen(three, far_apart)
    return {
        "the image": [first, second],
        "slope in the scores": [in_scores, in_five],
        "slope in the images": in_images,
        "large scores": [large, in_large],
    }


def _mix(shares, images):
    return tf.tensordot(shares, images, axes=1)


def the_best(images, scores):
    """Takes the image with the largest score."""
    return tf.gather(images, tf.argmax(scores))


def by_rounded_index(images, scores):
    """Computes the mean index, rounds it, and takes that image."""
    shares = tf.nn.softmax(scores)
    index = tf.reduce_sum(shares * tf.range(scores.shape[0], dtype=tf.float32))
    return tf.gather(images, tf.cast(tf.round(index), tf.int32))


def between_two_neighbours(images, scores):
    """Computes the mean index and blends the two images beside it."""
    shares = tf.nn.softmax(scores)
    index = tf.reduce_sum(shares * tf.range(scores.shape[0], dtype=tf.float32))
    tents = tf.maximum(0.0, 1.0 - tf.abs(tf.range(scores.shape[0], dtype=tf.float32) - index))
    return _mix(tents, images)


def raw_scores(images, scores):
    """Uses the scores themselves as shares."""
    return _mix(tf.convert_to_tensor(scores), images)


def scores_by_their_sum(images, scores):
    """Divides the scores by their sum."""
    return _mix(scores / tf.reduce_sum(scores), images)


def exp_without_a_care(images, scores):
    """Writes the softmax as it stands in the formula."""
    powers = tf.exp(scores)
    return _mix(powers / tf.reduce_sum(powers), images)


def not_divided(images, scores):
    """Forgets to divide by the sum."""
    return _mix(tf.exp(scores - tf.reduce_max(scores)), images)


def one_by_one(images, scores):
    """Squashes each score by itself: the shares don't add up to 1."""
    return _mix(tf.sigmoid(scores), images)


def log_shares(images, scores):
    """Takes the logarithm of the shares."""
    return _mix(tf.nn.log_softmax(scores), images)


def mean_for_sum(images, scores):
    """Averages where it should add up."""
    return tf.reduce_mean(tf.nn.softmax(scores)[:, None, None] * images, axis=0)


def softmax_through_numpy(images, scores):
    """Takes the scores out of TensorFlow."""
    return _mix(tf.nn.softmax(scores.numpy()), images)


def images_through_numpy(images, scores):
    """Takes the images out of TensorFlow."""
    return _mix(tf.nn.softmax(scores), np.array(images))


def all_in_numpy(images, scores):
    """Computes the blend from numbers alone."""
    return np.tensordot(tf.nn.softmax(scores).numpy(), np.array(images), axes=1)


def with_a_temperature(images, scores):
    """Multiplies the scores by ten, so that the best one wins more clearly."""
    return _mix(tf.nn.softmax(scores / 0.1), images)


def hard_with_a_soft_slope(images, scores):
    """Shows the best image, and pretends in the gradient that it was the blend."""
    soft = _mix(tf.nn.softmax(scores), images)
    return soft + tf.stop_gradient(the_best(images, scores) - soft)


exercise = Exercise(
    answer=soft_choice,
    probe=probe,
    misconceptions=[
        Misconception(
            "the-best",
            the_best,
            "argmax gives the number of the best image, an integer, and the scores get None. Don't take one image: "
            "blend all of them, each by its share.",
        ),
        Misconception(
            "rounded-index",
            by_rounded_index,
            "A rounded index is an integer again, and no gradient comes back through it. And images 1 and 3 don't make "
            "image 2: blend the images, not their numbers.",
        ),
        Misconception(
            "blended-index",
            between_two_neighbours,
            "You average the numbers of the images. Half of image 1 and half of image 3 isn't image 2: blend the "
            "images themselves, each by its share.",
        ),
        Misconception(
            "raw-scores",
            raw_scores,
            "The scores are no shares yet: they may be negative, and they don't add up to 1. The softmax makes shares "
            "of them.",
        ),
        Misconception(
            "divided-by-the-sum",
            scores_by_their_sum,
            "Scores divided by their sum add up to 1, but some may be negative. The softmax takes exp first.",
        ),
        Misconception(
            "exp-overflows",
            exp_without_a_care,
            "Right for small scores. exp(500) is infinite in float32, and infinite divided by infinite is NaN: "
            "subtract the largest score first, or let TensorFlow do it.",
        ),
        Misconception(
            "not-divided",
            not_divided,
            "Your shares don't add up to 1: divide each exp by the sum of all of them.",
        ),
        Misconception(
            "one-by-one",
            one_by_one,
            "You squash each score by itself, so the shares don't add up to 1. In a softmax they compete.",
        ),
        Misconception(
            "log-of-the-shares",
            log_shares,
            "You use the logarithms of the shares, which are negative. Which function gives the shares themselves?",
        ),
        Misconception(
            "mean-for-sum",
            mean_for_sum,
            "Your result is too small by the number of images. The shares add up to 1 already: add up, don't average.",
        ),
        Misconception(
            "through-numpy",
            softmax_through_numpy,
            "The image is right, and the scores get None: their numbers left TensorFlow on the way. Use the tensor "
            "itself.",
        ),
        Misconception(
            "images-through-numpy",
            images_through_numpy,
            "The image is right, and so is the slope in the scores, but nothing comes back to the images: they became "
            "a NumPy array on the way. Use the tensor itself.",
        ),
        Misconception(
            "all-in-numpy",
            all_in_numpy,
            "The image is right, and nothing comes back, to the scores or to the images: the product was computed with "
            "NumPy. Multiply and add up in TensorFlow.",
        ),
        Misconception(
            "temperature",
            with_a_temperature,
            "You divide the scores by a temperature of 0.1. That makes other shares and another blend; asked for is "
            "the softmax of the scores as they are.",
        ),
        Misconception(
            "hard-image-soft-slope",
            hard_with_a_soft_slope,
            "The slope in the scores is right, but you show the best image alone. Asked for is the blend that the "
            "slope belongs to.",
        ),
    ],
    hints=[
        "Picking one image is a jump. Which mixture of all images hardly differs from one of them when its score is "
        "far above the others?",
        "Make shares with tf.nn.softmax, shape (n,). Multiply each image by its share and add up over the images: the "
        "shares have to meet the first axis.",
        "`shares = tf.nn.softmax(scores)`, then `tf.reduce_sum(shares[:, None, None] * images, axis=0)`.",
    ],
    explanation=(
        "Every score moves every share a little, so every score has a slope. Attention chooses in this way. When you "
        "need one image in the end, train with the blend and take the best one afterwards."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=1e-5),
    level="stretch",
)
