"""identity_at_start: make a residual block do nothing at first, and leave it able to learn."""

import keras
import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def identity_at_start(block):
    """Set weights of a residual block so that its branch gives exactly 0, and return the block.

    The block computes ``skip(x) + branch(x)``. Afterwards it hands on ``skip(x)`` alone, whatever x is, in training
    mode and out of it. And it must be able to leave this state: the next gradient step changes weights of the branch.
    So set to 0 the trainable weights, all of them, of the *last* layer of the branch, and change nothing else.

    block: a Keras layer that has been built. ``block.branch`` is a ``keras.Sequential``, its layers are in the list
    ``block.branch.layers``. The last of them is a Dense layer (kernel and bias) or a BatchNormalization (gamma and
    beta; its moving mean and variance aren't trainable and stay as they are).
    Returns the same block.

    Example: the block's input is 3.0, and its branch is a Dense layer with ReLU and a Dense layer. Before, the block
    gives some number that depends on the weights it drew; afterwards it gives 3.0.
    """
    for variable in block.branch.layers[-1].trainable_variables:
        variable.assign(tf.zeros_like(variable))
    return block


class _Residual(keras.layers.Layer):
    """Skip plus branch, with both given; the branch is tracked first, so its weights come first."""

    def __init__(self, branch, skip=None):
        super().__init__()
        self.branch = branch
        self.projection = skip

    def call(self, x, training=False):
        """x: (batch, width)."""
        skip = x if self.projection is None else self.projection(x)
        return skip + self.branch(x, training=training)


def probe(answer, rng):
    """A block with a projection and a branch that ends in Dense, and one without that ends in BatchNormalization."""

    def dense(units, activation=None):
        return keras.layers.Dense(units, activation=activation)

    blocks = {
        "a Dense layer at the end": _Residual(
            keras.Sequential([dense(3, "relu"), dense(4, "tanh"), dense(6)]), dense(6)
        ),
        "BatchNormalization at the end": _Residual(
            keras.Sequential([dense(4, "relu"), dense(3), keras.layers.BatchNormalization()])
        ),
    }
    x, upstream = (rng.normal(size=(7, width)).astype(np.float32) for width in (3, 6))
    for block in blocks.values():
        block(x)
        for variable in block.weights:
            drawn = rng.normal(size=variable.shape)
            variable.assign(np.abs(drawn) + 0.5 if variable.path.endswith("variance") else drawn)
    found, returned = {}, []
    for name, block in blocks.items():
        before = [variable.numpy() for variable in block.weights]
        result = answer(block)
        returned.append("the block" if result is block else result)
        found[name] = _facts(block, x, upstream, before)
    return {**found, "what is returned": returned}


def _facts(block, x, upstream, before):
    """What the block gives now, how far each of its weights was moved, and where the next gradient arrives."""
    moved = [np.max(np.abs(new.numpy() - old)) for new, old in zip(block.weights, before, strict=True)]
    with tf.GradientTape() as tape:
        out = block(x)
        pushed = tf.reduce_sum(upstream[:, : out.shape[-1]] * out)
    gradients = tape.gradient(pushed, block.trainable_variables)
    sizes = [0.0 if gradient is None else np.max(np.abs(gradient)) for gradient in gradients]
    return {"output": out, "moved": np.array(moved), "gradients": np.array(sizes)}


def _zero(variables):
    for variable in variables:
        variable.assign(tf.zeros_like(variable))


def zeroes_the_first(block):
    """Zeroes the layer of the branch that comes first."""
    _zero(block.branch.layers[0].trainable_variables)
    return block


def zeroes_the_branch(block):
    """Zeroes every layer of the branch."""
    _zero(block.branch.trainable_variables)
    return block


def kernel_alone(block):
    """Forgets the bias."""
    _zero(block.branch.layers[-1].trainable_variables[:1])
    return block


def statistics_too(block):
    """Zeroes everything that the last layer holds."""
    _zero(block.branch.layers[-1].variables)
    return block


def last_of_the_block(block):
    """Takes the last two variables of the whole block for those of the branch."""
    _zero(block.trainable_variables[-2:])
    return block


def everything(block):
    """Zeroes all that the block can learn."""
    _zero(block.trainable_variables)
    return block


def small_numbers(block):
    """Makes the last layer small."""
    for variable in block.branch.layers[-1].trainable_variables:
        variable.assign(1e-3 * variable)
    return block


def freezes(block):
    """Zeroes the last layer and keeps it from learning."""
    identity_at_start(block).branch.layers[-1].trainable = False
    return block


exercise = Exercise(
    answer=identity_at_start,
    probe=probe,
    misconceptions=[
        Misconception(
            "first-layer-zeroed",
            zeroes_the_first,
            "You zero the first layer of the branch. What comes after it still adds its biases, so the branch doesn't "
            "give 0. And behind a ReLU that only ever gets 0, no gradient comes back to the first layer.",
        ),
        Misconception(
            "branch-zeroed",
            zeroes_the_branch,
            "Every layer of the branch is 0 now, and that is a dead end: a kernel's gradient is a product with what "
            "comes in (0) and, for the layers before, with the kernels behind (0). Leave all layers but the last as "
            "they were drawn.",
        ),
        Misconception(
            "kernel-alone",
            kernel_alone,
            "You set only the first array of the last layer to 0, its kernel or gamma. The other one, the bias or "
            "beta, is still added to every x.",
        ),
        Misconception(
            "statistics-zeroed",
            statistics_too,
            "You zero the moving mean and variance of BatchNormalization too. They are measurements, not weights: "
            "which list of a layer leaves them out?",
        ),
        Misconception(
            "last-of-the-block",
            last_of_the_block,
            "You zero the last two arrays of the whole block. Where the block has a projection, they may belong to "
            "that. Go through `block.branch`.",
        ),
        Misconception(
            "everything-zeroed",
            everything,
            "You zero every weight of the block, the projection too: then nothing of x comes through at all.",
        ),
        Misconception(
            "small-not-zero",
            small_numbers,
            "You make the last layer small. The task asks for a branch that gives exactly 0.",
        ),
        Misconception(
            "frozen",
            freezes,
            "The branch gives 0, and its last layer is frozen: it would do so for ever. Leave it trainable.",
        ),
    ],
    hints=[
        "The last layer multiplies by its kernel and adds its bias. For which kernel and bias is the result 0, "
        "whatever comes in?",
        "`block.branch.layers[-1]` is the last layer, its `trainable_variables` are the arrays to set. A variable "
        "takes a new value by `variable.assign(...)`.",
        "`for variable in block.branch.layers[-1].trainable_variables: variable.assign(tf.zeros_like(variable))`, and "
        "return the block.",
    ],
    explanation=(
        "With the last layer at 0, a net of fifty layers starts as if it had two, and grows as it learns. The last "
        "layer's gradient isn't 0, because what comes into it isn't; after one step the layers before it get theirs "
        "too."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=1e-5),
    level="stretch",
)
