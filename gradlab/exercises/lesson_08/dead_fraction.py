"""dead_fraction: the share of units that are silent for every example."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception


def dead_fraction(activations):
    """Return the share of dead units in a layer: of those whose activation is exactly 0 for every example.

    A ReLU unit outputs 0 for some examples and something positive for others; that is its job. It counts as dead only
    if not a single example gets anything but 0 out of it. One example with a tiny activation is enough to be alive.

    activations: array of shape (examples, units), the outputs of a ReLU layer, none of them negative.
    Returns one number from 0.0 to 1.0: dead units divided by all units.

    Example: for ``[[0.0, 2.0, 0.0, 0.5], [0.0, 0.0, 0.0, 0.5], [0.0, 0.3, 0.1, 0.5]]``, three examples and four units,
    only the first unit is dead: 0.25.
    """
    return np.mean(np.all(np.asarray(activations) == 0, axis=0))


def probe(answer, rng):
    """Layers with dead units, silent examples, constant units, and units that hardly fire."""

    def layer(examples, units, dead, silent_examples):
        """Half the activations are 0; each living unit fires at least once, and not always."""
        fires = rng.random((examples, units)) < 0.5
        talking = examples - silent_examples
        fires[talking:] = False
        fires[0] = np.arange(units) % 2 == 0
        fires[1] = ~fires[0]
        fires[:, :dead] = False
        return rng.permuted(fires * rng.uniform(0.1, 3.0, (examples, units)), axis=0)[:, rng.permutation(units)]

    some = layer(examples=24, units=10, dead=int(rng.integers(3, 5)), silent_examples=5)
    none_dead = layer(examples=15, units=7, dead=0, silent_examples=0)
    constant = layer(examples=9, units=8, dead=1, silent_examples=0)
    constant[:, np.flatnonzero(constant.any(axis=0))[:3]] = 0.75
    faint = layer(examples=20, units=16, dead=2, silent_examples=0)
    rare = np.flatnonzero(faint.any(axis=0))[:5]
    faint[:, rare] = 0.0
    faint[rng.integers(2, 20, 5), rare] = 1e-12
    return {
        "some dead units": answer(some.astype(np.float32)),
        "no dead unit": answer(none_dead),
        "units that never change": answer(constant),
        "units that hardly fire": answer(faint),
        "all units dead": answer(np.zeros((6, 3), np.float32)),
    }


def zeros(activations):
    """Counts zeros instead of units."""
    return np.mean(activations == 0)


def silent_once(activations):
    """Calls a unit dead if a single example gets 0."""
    return np.mean(np.any(activations == 0, axis=0))


def silent_examples(activations):
    """Counts examples that get only zeros: the wrong axis."""
    return np.mean(np.all(activations == 0, axis=1))


def first_example(activations):
    """Looks at one example only."""
    return np.mean(activations[0] == 0)


def count(activations):
    """Returns how many units are dead."""
    return int(np.sum(np.all(activations == 0, axis=0)))


def alive(activations):
    """Returns the share of units that are alive."""
    return np.mean(np.any(activations > 0, axis=0))


def nearly_zero(activations):
    """Takes small activations for zeros."""
    return np.mean(np.all(activations < 1e-6, axis=0))


def mostly_silent(activations):
    """Calls a unit dead if it is silent for most of the examples."""
    return np.mean(np.mean(activations == 0, axis=0) > 0.5)


def never_changes(activations):
    """Takes a unit that never changes for a dead one."""
    return np.mean(np.ptp(activations, axis=0) == 0)


def by_the_examples(activations):
    """Divides the dead units by the number of examples."""
    return np.sum(np.all(activations == 0, axis=0)) / len(activations)


exercise = Exercise(
    answer=dead_fraction,
    probe=probe,
    misconceptions=[
        Misconception(
            "zeros-for-units",
            zeros,
            "You count zeros. A healthy ReLU unit has many of them, about one for every second example: ask for each "
            "unit whether all of its activations are 0, and count units.",
        ),
        Misconception(
            "one-zero-is-enough",
            silent_once,
            "You call a unit dead as soon as one example gets 0 from it. It is dead only if all of them do.",
        ),
        Misconception(
            "wrong-axis",
            silent_examples,
            "You ask for each example whether all units are silent. Ask for each unit whether it is silent for all "
            "examples: the examples are axis 0.",
        ),
        Misconception(
            "one-example",
            first_example,
            "One example doesn't tell: a unit that gives 0 for it may fire for the next one. Look at all of them.",
        ),
        Misconception(
            "count-for-share",
            count,
            "That is how many units are dead. The share is that number divided by the number of units.",
        ),
        Misconception(
            "alive-for-dead",
            alive,
            "That is the share of units that are alive: 1 minus what was asked for.",
        ),
        Misconception(
            "small-for-zero",
            nearly_zero,
            "You take small activations for 0. A unit that gives 0.000000000001 to one example lets the gradient of "
            "that example through, so it is alive: compare with 0 itself.",
        ),
        Misconception(
            "mostly-silent",
            mostly_silent,
            "You call a unit dead if it is silent for most examples. It can still learn from the few others.",
        ),
        Misconception(
            "never-changes",
            never_changes,
            "A unit that gives 0.75 to every example never changes, and is alive all the same: its slope is 1. Dead "
            "means 0 for every example.",
        ),
        Misconception(
            "divided-by-examples",
            by_the_examples,
            "You divide by the number of examples. It is a share of the units, so divide by their number.",
        ),
    ],
    hints=[
        "For one unit, that is one column: how do you see that it is dead? And then: how many columns are like that?",
        "Compare with 0, ask for each unit whether that is true for all examples (axis 0), and average over the units.",
        "`silent = np.all(activations == 0, axis=0)` holds one True or False for each unit.",
    ],
    explanation=(
        "A unit that is 0 for an example has slope 0 there, and passes no gradient. Where that holds for every "
        "example, neither its weights nor its bias get any gradient at all: it can't come back by itself."
    ),
    level="core",
)
