"""count_parameters: how many numbers a stack of Dense layers learns."""

from itertools import pairwise

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def count_parameters(layer_sizes):
    """Return how many numbers a stack of Dense layers learns.

    A unit of a Dense layer has one weight for every number that comes into its layer, and one bias. Nothing else
    learns: activations and Dropout have no numbers of their own.

    layer_sizes: a list of two or more whole numbers. The first says how many numbers come in; each of the others is a
    Dense layer and says how many units it has. ``[64, 48, 10]`` is 64 inputs and two layers, of 48 and of 10 units.
    What comes out of one layer is what comes into the next: one number per unit.
    Returns one whole number. Example: ``count_parameters([3, 2])`` is ``8``: two units, each with three weights and
    one bias.
    """
    total = 0
    incoming = layer_sizes[0]
    for units in layer_sizes[1:]:
        total += incoming * units + units
        incoming = units
    return total


def probe(answer, rng):
    """One layer, two layers, several layers, and layers of one size; all sizes differ where they can."""
    sizes = [int(size) for size in 2 + rng.permutation(90)[:10]]
    same = int(rng.integers(5, 40))
    return {
        "one layer": answer(sizes[:2]),
        "two layers": answer(sizes[2:5]),
        "four layers": answer(sizes[5:]),
        "equal sizes": answer([same, same, same]),
    }


def biases_forgotten(layer_sizes):
    """Counts the weights only."""
    return sum(a * b for a, b in pairwise(layer_sizes))


def input_is_a_layer(layer_sizes):
    """Gives the inputs biases too."""
    return biases_forgotten(layer_sizes) + sum(layer_sizes)


def bias_per_incoming(layer_sizes):
    """Gives each layer as many biases as it has incoming numbers."""
    return biases_forgotten(layer_sizes) + sum(layer_sizes[:-1])


def bias_per_layer(layer_sizes):
    """Gives each layer a single bias."""
    return biases_forgotten(layer_sizes) + len(layer_sizes) - 1


def last_layer_forgotten(layer_sizes):
    """Stops one layer too early."""
    return biases_forgotten(layer_sizes[:-1]) + sum(layer_sizes[1:-1])


def last_layer_only(layer_sizes):
    """Writes each layer's number over the one before."""
    return (layer_sizes[-2] + 1) * layer_sizes[-1]


def first_layer_only(layer_sizes):
    """Returns inside the loop."""
    return (layer_sizes[0] + 1) * layer_sizes[1]


def same_inputs_for_all(layer_sizes):
    """Lets the inputs come into every layer."""
    return sum((layer_sizes[0] + 1) * units for units in layer_sizes[1:])


def all_multiplied(layer_sizes):
    """Multiplies all the sizes together."""
    product = 1
    for size in layer_sizes:
        product *= size
    return product


exercise = Exercise(
    answer=count_parameters,
    probe=probe,
    misconceptions=[
        Misconception(
            "biases-forgotten",
            biases_forgotten,
            "You have all the weights. Each unit also learns a bias: one number that is added whatever comes in.",
        ),
        Misconception(
            "input-counted-as-a-layer",
            input_is_a_layer,
            "You gave the inputs biases of their own. The first number is no layer: it only says how much comes in.",
        ),
        Misconception(
            "bias-per-input",
            bias_per_incoming,
            "Your number of biases follows what comes into a layer. A bias belongs to a unit: count what goes out.",
        ),
        Misconception(
            "one-bias-per-layer",
            bias_per_layer,
            "You gave each layer one bias. Every unit has a bias of its own, as it has weights of its own.",
        ),
        Misconception(
            "last-layer-forgotten",
            last_layer_forgotten,
            "The last layer is missing: your loop ends one pair of sizes too early. The outputs are units as well.",
        ),
        Misconception(
            "only-the-last-layer",
            last_layer_only,
            "Only the last layer is left in your result: what the others had is overwritten. Add the layers up.",
        ),
        Misconception(
            "only-the-first-layer",
            first_layer_only,
            "Only the first layer is in your result. Does your function return before the loop is over?",
        ),
        Misconception(
            "same-inputs-for-every-layer",
            same_inputs_for_all,
            "In your count the inputs come into every layer. What comes into the second layer is what the first one "
            "puts out.",
        ),
        Misconception(
            "all-sizes-multiplied",
            all_multiplied,
            "You multiplied all the sizes together. Only neighbours multiply, and the layers are added up. Where are "
            "the biases?",
        ),
    ],
    hints=[
        "Take one layer first. How many numbers does a single unit learn if 64 numbers come into it?",
        "A layer of `units` units with `incoming` numbers coming in learns incoming * units weights and units biases. "
        "The units of one layer are the incoming numbers of the next.",
        "Start with `incoming = layer_sizes[0]` and a total of 0. For each `units` in `layer_sizes[1:]`, add "
        "`incoming * units + units` to the total; then `incoming = units`.",
    ],
    tolerance=Tolerance(rtol=0.0, atol=0.01),
    explanation=(
        "Neighbouring sizes multiply, so two wide layers in a row hold most of a model. Each of these numbers gets a "
        "gradient in every update, and Adam keeps two more numbers beside each."
    ),
    level="stretch",
)
