"""untrained_cross_entropy: the loss of a classifier that knows nothing."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception


def untrained_cross_entropy(classes):
    """Return the cross-entropy of a model that finds every class equally likely.

    For every example, whatever it shows, the model gives one and the same probability to each of the ``classes``
    classes. The cross-entropy of an example is minus the natural logarithm of the probability that the model gives to
    the right class. It is the same for every example here, so it is also the mean.

    classes: a whole number, 2 or more.
    Returns one number. Example: ``untrained_cross_entropy(4)`` is ``1.386...``.
    """
    probability = 1 / classes
    return -np.log(probability)


def probe(answer, rng):
    """Two classes, ten, a number of classes at random, a thousand, and the words of a language."""
    some = int(rng.integers(20, 90))
    return {
        "2 classes": answer(2),
        "10 classes": answer(10),
        "some classes": answer(some),
        "1,000 classes": answer(1_000),
        "50,000 classes": answer(50_000),
    }


def in_bits(classes):
    """Takes the logarithm to base 2."""
    return np.log2(classes)


def in_tens(classes):
    """Takes the logarithm to base 10."""
    return np.log10(classes)


def the_probability(classes):
    """Stops at the probability."""
    return 1 / classes


def nothing(classes):
    """Takes a model that hasn't learned for one that makes no error."""
    return 0.0


def sign_forgotten(classes):
    """Forgets the minus."""
    return -np.log(classes)


def share_of_misses(classes):
    """Gives the share of wrong answers."""
    return 1 - 1 / classes


def summed_over_classes(classes):
    """Adds up -ln(p) for every class, the wrong ones included."""
    return classes * np.log(classes)


def weighted_by_the_probability(classes):
    """Multiplies -ln(p) by p."""
    return np.log(classes) / classes


def of_the_wrong_classes(classes):
    """Takes the probability that the model gives to all the wrong classes."""
    return -np.log(1 - 1 / classes)


def copied_from_the_example(classes):
    """Gives the example's number for every number of classes."""
    return 1.386


exercise = Exercise(
    answer=untrained_cross_entropy,
    probe=probe,
    misconceptions=[
        Misconception(
            "log-to-base-2",
            in_bits,
            "This is the same quantity in bits. Keras and the task use the natural logarithm, ln: np.log or math.log.",
        ),
        Misconception(
            "log-to-base-10",
            in_tens,
            "This logarithm has base 10. The task asks for the natural one, ln, which NumPy calls np.log.",
        ),
        Misconception(
            "the-probability-itself",
            the_probability,
            "This is the probability of the right class. The loss is minus its natural logarithm.",
        ),
        Misconception(
            "zero",
            nothing,
            "A loss of 0 belongs to a model that is sure and right every time. This one only guesses.",
        ),
        Misconception(
            "minus-forgotten",
            sign_forgotten,
            "The sign is turned round. The logarithm of a probability is negative, and the minus makes a loss of it.",
        ),
        Misconception(
            "error-rate",
            share_of_misses,
            "This is the share of wrong answers. Cross-entropy looks at the probability of the right class, not at "
            "how often it comes first.",
        ),
        Misconception(
            "summed-over-classes",
            summed_over_classes,
            "You added -ln(p) over all classes. Only the right class counts: one -ln(p) for each example.",
        ),
        Misconception(
            "weighted-by-the-probability",
            weighted_by_the_probability,
            "You multiplied -ln(p) by p. The right class is known, so its -ln(p) counts in full.",
        ),
        Misconception(
            "of-the-wrong-classes",
            of_the_wrong_classes,
            "This is -ln of the probability that the answer is wrong. Take the probability of the right class.",
        ),
        Misconception(
            "copied-from-the-example",
            copied_from_the_example,
            "You return the example's 1.386 for every number of classes. Which probability has each of ten classes?",
        ),
    ],
    hints=[
        "Which probability does this model give to the right class, if there are ten classes?",
        "Each class gets 1 / classes. The loss of an example is minus the natural logarithm of that.",
        "`np.log` is the natural logarithm. Take it of 1 / classes, and put a minus in front.",
    ],
    explanation=(
        "-ln(1/n) is ln(n). Compare it with the first loss that your training prints: far above means that the "
        "start is confidently wrong, far below that something about the labels leaks in, or that the loss isn't what "
        "you think."
    ),
    level="core",
)
