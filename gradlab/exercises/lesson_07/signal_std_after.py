"""signal_std_after: how large a signal is after many ReLU layers."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def signal_std_after(depth, fan_in, weight_std):
    """Return the size of the signal after ``depth`` layers, as theory has it for very wide layers.

    The signal starts with size 1. Each layer has ``fan_in`` inputs and as many units, no bias, random weights with
    mean 0 and standard deviation ``weight_std``, and ReLU. *Size* is the root of the mean square, that is, the
    standard deviation about zero: the mean isn't subtracted first. In every layer, two things happen to the mean
    square:

    * each unit adds up ``fan_in`` products, which multiplies it by ``fan_in * weight_std ** 2``;
    * ReLU sets the negative half of the sums to 0, which halves it.

    The size after a layer is measured behind its ReLU.

    depth: a whole number >= 0 (after 0 layers the size is 1). fan_in: a whole number >= 1. weight_std: a number > 0.
    Returns a positive number, which may be very small or very large.

    Example: with 200 inputs and weights of 0.1, the mean square is multiplied by 200 · 0.01 / 2 = 1 in each layer, and
    ``signal_std_after(50, 200, 0.1)`` is 1. With weights of 0.2 it is multiplied by 4, and
    ``signal_std_after(3, 200, 0.2)`` is √(4 · 4 · 4) = 8.
    """
    return np.sqrt(fan_in * weight_std**2 / 2) ** depth


def probe(answer, rng):
    """Signals that grow, shrink and stay; one layer, many, and none."""
    fan_in = int(rng.integers(150, 400))
    kept = float(np.sqrt(2 / fan_in))
    more, less = float(rng.uniform(1.2, 1.5)) * kept, float(rng.uniform(0.6, 0.8)) * kept
    return {
        "one layer": [answer(1, fan_in, more), answer(1, 3 * fan_in, less)],
        "growing": [answer(7, fan_in, more), answer(int(rng.integers(30, 50)), fan_in, more)],
        "shrinking": [answer(6, fan_in, less), answer(int(rng.integers(30, 50)), fan_in, less)],
        "kept by He's weights": answer(50, fan_in, kept),
        "no layer at all": answer(0, fan_in, more),
    }


def half_forgotten(depth, fan_in, weight_std):
    """Has no ReLU in it."""
    return np.sqrt(fan_in * weight_std**2) ** depth


def one_layer_less(depth, fan_in, weight_std):
    """Counts the gaps between the layers."""
    return np.sqrt(fan_in * weight_std**2 / 2) ** (depth - 1)


def one_layer_more(depth, fan_in, weight_std):
    """Counts the input as a layer."""
    return np.sqrt(fan_in * weight_std**2 / 2) ** (depth + 1)


def variance_returned(depth, fan_in, weight_std):
    """Returns the mean square."""
    return (fan_in * weight_std**2 / 2) ** depth


def std_halved(depth, fan_in, weight_std):
    """Halves the size in place of its square."""
    return (np.sqrt(fan_in) * weight_std / 2) ** depth


def before_the_last_relu(depth, fan_in, weight_std):
    """Measures the sums of the last layer."""
    step = fan_in * weight_std**2
    return np.sqrt(step * (step / 2) ** (depth - 1)) if depth else 1.0


def about_the_mean(depth, fan_in, weight_std):
    """Subtracts the mean behind each ReLU."""
    return np.sqrt(fan_in * weight_std**2 * (0.5 - 0.5 / np.pi)) ** depth


def about_the_mean_at_the_end(depth, fan_in, weight_std):
    """Subtracts the mean behind the last ReLU."""
    step = fan_in * weight_std**2
    return np.sqrt((step / 2) ** depth * (1 - 1 / np.pi)) if depth else 1.0


def times_depth(depth, fan_in, weight_std):
    """Multiplies by the number of layers."""
    return depth * np.sqrt(fan_in * weight_std**2 / 2)


def one_layer_only(depth, fan_in, weight_std):
    """Stops after the first layer."""
    return np.sqrt(fan_in * weight_std**2 / 2) if depth else 1.0


def fan_in_not_rooted(depth, fan_in, weight_std):
    """Adds the products as if all had one sign."""
    return (fan_in * weight_std / np.sqrt(2)) ** depth


def weight_not_squared(depth, fan_in, weight_std):
    """Takes the standard deviation for a variance."""
    return np.sqrt(fan_in * weight_std / 2) ** depth


def fan_in_forgotten(depth, fan_in, weight_std):
    """Multiplies one weight after the other."""
    return np.sqrt(weight_std**2 / 2) ** depth


def halved_once(depth, fan_in, weight_std):
    """Halves at the end, once for all layers."""
    return np.sqrt((fan_in * weight_std**2) ** depth / 2) if depth else 1.0


exercise = Exercise(
    answer=signal_std_after,
    probe=probe,
    misconceptions=[
        Misconception(
            "half-forgotten",
            half_forgotten,
            "Your signal goes through without loss. ReLU sets the negative half of the sums to 0: what does that do to "
            "the mean square, in every layer?",
        ),
        Misconception(
            "halved-once",
            halved_once,
            "You halve once for the whole network. Each layer has a ReLU of its own.",
        ),
        Misconception(
            "one-layer-too-few",
            one_layer_less,
            "You count one layer too few. After one layer the signal has been multiplied once.",
        ),
        Misconception(
            "one-layer-too-many",
            one_layer_more,
            "You count one layer too many. After 0 layers the signal still has size 1.",
        ),
        Misconception(
            "mean-square-returned",
            variance_returned,
            "That is the mean square. The size is its root.",
        ),
        Misconception(
            "size-halved",
            std_halved,
            "You halve the size. ReLU halves the mean square, and so divides the size by the root of 2.",
        ),
        Misconception(
            "before-the-last-relu",
            before_the_last_relu,
            "You measure the sums of the last layer. The size is asked behind its ReLU.",
        ),
        Misconception(
            "mean-subtracted",
            about_the_mean,
            "You subtract the mean behind each ReLU. The next layer doesn't: it multiplies the whole value with its "
            "weights. Use the mean of the squares as they are.",
        ),
        Misconception(
            "mean-subtracted-at-the-end",
            about_the_mean_at_the_end,
            "You subtract the mean behind the last ReLU. Use the root of the mean square, without subtracting.",
        ),
        Misconception(
            "times-depth",
            times_depth,
            "You multiply by the number of layers. Each layer multiplies what the one before it left: that is a power.",
        ),
        Misconception(
            "one-layer-only",
            one_layer_only,
            "Right for one layer. The next layer multiplies by the same factor again, and so on: where is depth in "
            "your formula?",
        ),
        Misconception(
            "sum-without-cancelling",
            fan_in_not_rooted,
            "Your sum grows like fan_in. The products have both signs and mostly cancel: the mean square grows like "
            "fan_in, so the size like its root.",
        ),
        Misconception(
            "std-for-variance",
            weight_not_squared,
            "Under your root the weights count by their standard deviation. The mean square goes with its square.",
        ),
        Misconception(
            "fan-in-forgotten",
            fan_in_forgotten,
            "fan_in isn't in your formula. Each unit adds up fan_in products; the more, the larger the sum.",
        ),
    ],
    hints=[
        "Follow the mean square through one layer: it is multiplied by one number for the sum and by one for ReLU.",
        "After depth layers it has been multiplied by that number depth times: a power. The size is the root.",
        "One layer multiplies the mean square by `fan_in * weight_std**2 / 2`. Call that `step` and use `step ** "
        "depth`.",
    ],
    explanation=(
        "A factor that isn't 1 is raised to the power of the depth. That is all there is to vanishing and exploding "
        "signals, and in a network that is wide enough this line predicts them."
    ),
    tolerance=Tolerance(rtol=2e-3, atol=0.0),
)
