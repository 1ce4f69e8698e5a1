"""l2_penalty: a price on large weights."""

import keras
import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def l2_penalty(model, strength):
    """Return ``strength`` times the sum of the squares of all entries of all kernels of the model.

    A kernel is the array of weights that a Dense or a convolution layer multiplies with: its variable named "kernel",
    with two axes or more. Biases, which are vectors, don't count.

    model: a Keras model of Dense, convolution and shape-changing layers, none of them frozen; some have no bias.
    strength: a number >= 0.

    Returns a scalar tensor. It must be computed with TensorFlow from the model's variables, so that a tape that is
    open when you are called can differentiate it: the gradient for a kernel entry ``w`` is ``2 * strength * w``.

    Example: one Dense layer with kernel ``[[1.0, -2.0]]`` and bias ``[5.0, 5.0]``, strength 0.1: the penalty is
    0.1 * (1 + 4) = 0.5.
    """
    kernels = [variable for variable in model.trainable_variables if variable.name == "kernel"]
    return strength * tf.add_n([tf.reduce_sum(tf.square(kernel)) for kernel in kernels])


def probe(answer, rng):
    """Value and gradient for Dense layers with and without bias, and for a convolution; several strengths."""
    dense = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(5, use_bias=False), keras.layers.Dense(2)]
    )
    convolution = keras.Sequential(
        [keras.Input((6, 2)), keras.layers.Conv1D(3, 2), keras.layers.Flatten(), keras.layers.Dense(2)]
    )
    for model in (dense, convolution):
        model.set_weights([rng.normal(size=w.shape).astype(np.float32) for w in model.get_weights()])
    small, large = rng.uniform(0.001, 0.01), rng.uniform(2.0, 4.0)
    found = {"value at a small strength": answer(dense, float(small)), "value at strength 0": answer(dense, 0.0)}
    found["value"], found["gradient"] = _value_and_gradient(answer, dense, float(large))
    found["value with a convolution"], found["gradient with a convolution"] = _value_and_gradient(
        answer, convolution, float(large)
    )
    return found


def _value_and_gradient(answer, model, strength):
    """The penalty, and its gradient for every trainable variable: zeros where it doesn't depend on one."""
    with tf.GradientTape() as tape:
        value = answer(model, strength)
    if isinstance(value, float | np.floating | np.ndarray) and np.ndim(value) == 0:
        return value, "the tape has nothing to differentiate"
    if not isinstance(value, tf.Tensor) or not value.dtype.is_floating:
        return value, value
    variables = model.trainable_variables
    gradients = tape.gradient(value, variables)
    if all(gradient is None for gradient in gradients):
        return value, "the tape has nothing to differentiate"
    return value, [
        tf.zeros(v.shape) if g is None else g for v, g in zip(model.trainable_variables, gradients, strict=True)
    ]


def _kernels(model):
    return [variable for variable in model.trainable_variables if variable.name == "kernel"]


def biases_included(model, strength):
    """Takes everything that is trained."""
    return strength * tf.add_n([tf.reduce_sum(tf.square(variable)) for variable in model.trainable_variables])


def half_of_it(model, strength):
    """Uses ``tf.nn.l2_loss``, which has a half in it."""
    return strength * tf.add_n([tf.nn.l2_loss(kernel) for kernel in _kernels(model)])


def norm_not_squared(model, strength):
    """Takes the root: the length of all kernels together."""
    return strength * tf.linalg.global_norm([kernel.value for kernel in _kernels(model)])


def norms_added(model, strength):
    """Takes the root of each kernel's sum of squares."""
    return strength * tf.add_n([tf.norm(kernel) for kernel in _kernels(model)])


def mean_of_squares(model, strength):
    """Takes the mean over each kernel, so that large layers cost no more than small ones."""
    return strength * tf.add_n([tf.reduce_mean(tf.square(kernel)) for kernel in _kernels(model)])


def absolute_values(model, strength):
    """Is an L1 penalty."""
    return strength * tf.add_n([tf.reduce_sum(tf.abs(kernel)) for kernel in _kernels(model)])


def leaves_tensorflow(model, strength):
    """Computes with NumPy copies of the weights."""
    return tf.constant(strength * sum(np.sum(kernel.numpy() ** 2) for kernel in _kernels(model)))


def strength_squared(model, strength):
    """Squares the strength together with the weights."""
    return tf.add_n([tf.reduce_sum(tf.square(strength * kernel)) for kernel in _kernels(model)])


def first_kernel_only(model, strength):
    """Stops after the first layer."""
    return strength * tf.reduce_sum(tf.square(_kernels(model)[0]))


def one_for_each_kernel(model, strength):
    """Returns a list and leaves the adding to the caller."""
    return [strength * tf.reduce_sum(tf.square(kernel)) for kernel in _kernels(model)]


def matrices_only(model, strength):
    """Recognises a kernel by its two axes, and misses those of convolutions."""
    return strength * tf.add_n([tf.reduce_sum(tf.square(k)) for k in _kernels(model) if len(k.shape) == 2])


exercise = Exercise(
    answer=l2_penalty,
    probe=probe,
    misconceptions=[
        Misconception(
            "biases-included",
            biases_included,
            "Your penalty counts the biases too. A bias moves a layer's output up or down and makes nothing steeper, "
            "so it goes free; only kernels count.",
        ),
        Misconception(
            "half-of-it",
            half_of_it,
            "Yours is half of what is asked. tf.nn.l2_loss is the sum of squares divided by two: read the first line "
            "of its documentation.",
        ),
        Misconception(
            "length-instead-of-square",
            norm_not_squared,
            "You take a square root: that is the length of the kernels. The penalty is the sum of the squares itself.",
        ),
        Misconception(
            "lengths-added",
            norms_added,
            "You take the square root for each kernel and add those. tf.norm has a root in it; the penalty is the sum "
            "of the squares, without one.",
        ),
        Misconception(
            "mean-for-sum",
            mean_of_squares,
            "You take the mean of the squares of each kernel. Then an entry in a large layer costs less than one in a "
            "small layer; take the sum.",
        ),
        Misconception(
            "absolute-values",
            absolute_values,
            "You add absolute values: that is an L1 penalty, which pulls equally hard at small and large weights. "
            "L2 adds squares.",
        ),
        Misconception(
            "leaves-tensorflow",
            leaves_tensorflow,
            "The tape finds nothing to differentiate: what you return doesn't depend on the variables any more. NumPy "
            "copies of the weights are plain numbers to it. Compute with the variables themselves and with TensorFlow.",
        ),
        Misconception(
            "strength-squared",
            strength_squared,
            "You square the strength together with the weights. Square the weights alone, add up, and multiply by the "
            "strength at the end.",
        ),
        Misconception(
            "first-kernel-only",
            first_kernel_only,
            "Only the first kernel counts in yours. The penalty is on all kernels of the model: do you return from "
            "inside the loop, or take the first variable alone?",
        ),
        Misconception(
            "one-for-each-kernel",
            one_for_each_kernel,
            "You return a list with a penalty for each kernel. The loss needs one number: add them up.",
        ),
        Misconception(
            "matrices-only",
            matrices_only,
            "You count kernels with exactly two axes. The kernel of a convolution has more. How else can you recognise "
            "a kernel, or leave out a bias?",
        ),
    ],
    hints=[
        "Which of model.trainable_variables are kernels? Print the name and the shape of each.",
        "Pick the variables whose name is 'kernel' (or that have two axes or more), square their entries, add up "
        "everything, and multiply by strength once.",
        "For one kernel: `tf.reduce_sum(tf.square(kernel))`. Add these up over all kernels with `tf.add_n([...])` or "
        "`sum(...)`.",
    ],
    explanation=(
        "Its gradient, 2 * strength * w, pulls every weight towards zero, large ones harder. keras.regularizers.L2 "
        "computes the same number, and fit adds it to the loss; in a loop of your own you add it yourself."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=1e-7),
    level="stretch",
)
