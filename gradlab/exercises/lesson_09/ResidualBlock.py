"""ResidualBlock: a layer that adds to its input instead of replacing it."""

import keras
import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance

NO_BRANCH = "the block has no layer under the name branch"
DO_NOT_FIT = "x and the result of the branch have different widths and can't be added"


class ResidualBlock(keras.layers.Layer):
    """A layer that computes ``skip(x) + scale * branch(x)``, and nothing after the addition.

    The branch is a ``keras.Sequential`` of two Dense layers of width ``units``, both with biases and with
    ``kernel_initializer="he_normal"``. The first has the activation ReLU, the second none. It is kept as
    ``self.branch``.

    The skip is x itself where x is ``units`` wide already. Where it isn't, a projection brings it to that width: one
    more Dense layer, without bias (``use_bias=False``) and without activation. A block makes this layer only if it
    needs it.

    Use: ``ResidualBlock(64)`` is a layer like any other, in a model or called as ``block(x)``. Example: at x = 2 the
    branch of a block of width 1 gives 3. Then the block gives 2 + 3 = 5, and with ``scale=0.5`` it gives 3.5.
    """

    def __init__(self, units, scale=1.0):
        """Make the branch, and keep what the other two methods need.

        units: width of what comes out. scale: the factor before the branch.
        """
        super().__init__()
        self.units = units
        self.scale = scale
        self.branch = keras.Sequential(
            [
                keras.layers.Dense(units, activation="relu", kernel_initializer="he_normal"),
                keras.layers.Dense(units, kernel_initializer="he_normal"),
            ]
        )
        self.projection = None

    def build(self, input_shape):
        """Make the projection if it is needed. Keras calls this once, before the first ``call``.

        input_shape: the shape of x, the batch first, such as (None, 64): ``input_shape[-1]`` is the width of x.
        """
        if input_shape[-1] != self.units:
            self.projection = keras.layers.Dense(self.units, use_bias=False)

    def call(self, x):
        """Return what the block makes of x: an array (batch, width) in, an array (batch, units) out."""
        skip = x if self.projection is None else self.projection(x)
        return skip + self.scale * self.branch(x)


def probe(answer, rng):
    """What is left when the scaled branch is taken away; the branch by itself; gradients; a change of width.

    The large block has 90,000 weights a kernel, to measure their spread; it has the default scale.
    """
    x, z = rng.normal(size=(2, 6, 4)).astype(np.float32)
    long = rng.normal(size=(1, 300)).astype(np.float32)
    drawn = {key: rng.normal(size=300).astype(np.float32) for key in ("branch", "projection")}
    large, scaled, wider = answer(300), answer(4, scale=0.3), answer(7, scale=0.3)
    if not isinstance(large, answer):
        raise TypeError("it makes no layer")
    given = large(long)
    if not callable(getattr(large, "branch", None)):
        return dict.fromkeys(PARTS, NO_BRANCH)
    kept = [given - large.branch(long), _skip(scaled, x, drawn)]
    with tf.GradientTape() as tape:
        tape.watch(inputs := tf.constant(x))
        pushed = tf.reduce_sum(scaled(inputs) * z)
    try:
        model = str(keras.Sequential([keras.Input((4,)), wider]).output_shape)
        projected = _skip(wider, x, drawn)
    except (ValueError, tf.errors.InvalidArgumentError):
        model = projected = DO_NOT_FIT
    evidence = [
        *kept,
        scaled.branch(x),
        [list(variable.shape) for variable in scaled.branch.trainable_variables],
        _first_weights(large),
        tape.gradient(pushed, inputs),
        projected,
        [_shapes(scaled), _shapes(wider)],
        model,
    ]
    return dict(zip(PARTS, evidence, strict=True))


PARTS = (
    "block minus branch",
    "block minus scaled branch",
    "the branch alone",
    "shapes in the branch",
    "first weights",
    "gradient at x",
    "another width",
    "trainable weights",
    "in a model",
)


def _skip(block, x, drawn):
    """What the block adds to 0.3 of its branch, with weights that don't depend on the order in which they were made."""
    block(x)
    inside = {id(variable) for variable in block.branch.trainable_variables}
    counters = {"branch": 0, "projection": 0}
    for variable in block.trainable_variables:
        key = "branch" if id(variable) in inside else "projection"
        size = int(np.prod(variable.shape))
        variable.assign(np.resize(np.roll(drawn[key], -counters[key]), size).reshape(variable.shape))
        counters[key] += size
    return block(x) - 0.3 * block.branch(x)


def _shapes(block):
    """The shapes of what a block can learn, in an order that doesn't depend on who was made first."""
    return ", ".join(sorted(str(tuple(variable.shape)) for variable in block.trainable_variables))


def _first_weights(block):
    """The spread of both kernels as drawn, in units of He's, and the largest first bias."""
    arrays = [variable.numpy() for variable in block.branch.trainable_variables]
    spreads = [np.std(array) * np.sqrt(300 / 2) for array in arrays if array.ndim == 2]
    biases = [np.max(np.abs(array)) for array in arrays if array.ndim == 1]
    return np.array([*spreads, *biases])


def _make(answer_call=None, last=None, first="relu", always=False, never=False, projected="linear", init="he_normal"):
    """A variation of the reference, with one thing done in another way."""

    class Variation(ResidualBlock):
        def __init__(self, units, scale=1.0):
            super().__init__(units, scale)
            self.branch = keras.Sequential(
                [
                    keras.layers.Dense(units, activation=first, kernel_initializer=init),
                    keras.layers.Dense(units, activation=last, kernel_initializer=init),
                ]
            )

        def build(self, input_shape):
            if not never and (always or input_shape[-1] != self.units):
                self.projection = keras.layers.Dense(self.units, use_bias=False, activation=projected)

        def call(self, x):
            if answer_call is None:
                return super().call(x)
            skip = x if self.projection is None else self.projection(x)
            return answer_call(skip, self.branch(x), self.scale)

    return Variation


class HiddenBranch(ResidualBlock):
    """Keeps its two layers apart, and nothing as ``branch``."""

    def __init__(self, units, scale=1.0):
        super().__init__(units, scale)
        self.inner = self.branch
        self.branch = None

    def call(self, x):
        """x: (batch, width)."""
        return x + self.scale * self.inner(x)


exercise = Exercise(
    answer=ResidualBlock,
    probe=probe,
    misconceptions=[
        Misconception(
            "no-skip",
            _make(lambda skip, branch, scale: scale * branch),
            "Your block returns its branch alone, so x is replaced. Where is x added?",
        ),
        Misconception(
            "activation-after-the-addition",
            _make(lambda skip, branch, scale: tf.nn.relu(skip + scale * branch)),
            "There is a ReLU after the addition. It stands on the skip too: negative numbers of x are lost in every "
            "block, and so is their gradient. Nothing comes after the addition.",
        ),
        Misconception(
            "another-initializer",
            _make(init="glorot_uniform"),
            "The first weights aren't drawn as asked. Keras takes Glorot's unless you say "
            '`kernel_initializer="he_normal"`, for both layers of the branch.',
        ),
        Misconception(
            "no-projection",
            _make(never=True),
            "Where x isn't `units` wide, x and the branch can't be added. Make a projection in `build` for that case: "
            "a Dense layer for the skip.",
        ),
        Misconception(
            "scale-ignored",
            _make(lambda skip, branch, scale: skip + branch),
            "The factor `scale` has no effect in your block. Put it before the branch.",
        ),
        Misconception(
            "scale-on-everything",
            _make(lambda skip, branch, scale: scale * (skip + branch)),
            "You scale the sum, the skip with it. Then x shrinks by this factor in every block. Scale the branch "
            "alone.",
        ),
        Misconception(
            "activation-ends-the-branch",
            _make(last="relu"),
            "The second layer of the branch has a ReLU. Such a branch can only add, never take away: x would grow from "
            "block to block. Leave the second layer without activation.",
        ),
        Misconception(
            "branch-under-another-name",
            HiddenBranch,
            "The block has no `self.branch`. Put both Dense layers into one `keras.Sequential` and keep it under that "
            "name: later cells look for it.",
        ),
        Misconception(
            "always-projects",
            _make(always=True),
            "Your skip passes through a Dense layer also where the widths agree. Then it is no identity, and fifty "
            "such layers multiply again. Use the projection only where the widths differ.",
        ),
        Misconception(
            "no-activation",
            _make(first=None),
            "There is no ReLU between the two layers. Two linear layers in a row are one linear layer.",
        ),
        Misconception(
            "activation-on-the-projection",
            _make(projected="relu"),
            "The projection has an activation. It is to change the width and nothing else: no activation, no bias.",
        ),
    ],
    hints=[
        "Three methods, three moments: `__init__` makes what doesn't depend on x, `build` what depends on the width "
        "of x, and `call` computes. Begin `__init__` with `super().__init__()`.",
        "In `__init__`: keep units and scale, make `self.branch`, and set `self.projection = None`. In `build`: "
        "compare `input_shape[-1]` with units, and replace None by a Dense layer if they differ.",
        "`call` in two lines: `skip = x if self.projection is None else self.projection(x)`, and "
        "`return skip + self.scale * self.branch(x)`.",
    ],
    explanation=(
        "Nothing stands between x and the output but an addition, and an addition hands a gradient on unchanged to "
        "both sides. So what arrives behind the block arrives before it too, whatever the branch does."
    ),
    tolerance={
        **dict.fromkeys(PARTS, Tolerance(rtol=1e-4, atol=2e-5)),
        "first weights": Tolerance(rtol=0.0, atol=0.04),
    },
    weights={"block minus branch": 2, "another width": 2},
)
