"""accumulated_gradients: the gradient of a large batch from small ones."""

import keras
import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def accumulated_gradients(model, loss_fn, batches):
    """Return the gradients of the mean loss over all examples of all batches, with only one batch in memory at a time.

    The result is what one big batch would give, all examples in it, each with the same weight. The model must never be
    called on more examples than one of the batches holds, so joining the batches is not allowed.

    model: a Keras model whose layers do the same in training and in use (no Dropout, no BatchNormalization).
    loss_fn: called as ``loss_fn(y, predictions)``; returns a scalar, the mean over the examples it is given.
    batches: a list of pairs ``(x, y)``. The batches may differ in size: count the rows of each ``x``.

    Returns a list of gradients, one for each of ``model.trainable_variables``, in that order. No variable is changed.

    Example: for one weight, a batch of 3 examples gives the gradient 2.0 and a batch of 1 example gives 6.0. The result
    is (3 * 2.0 + 1 * 6.0) / 4 = 3.0.
    """
    variables = model.trainable_variables
    sums = [tf.zeros(variable.shape) for variable in variables]
    examples = 0
    for x, y in batches:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        gradients = tape.gradient(loss, variables)
        sums = [total + len(x) * gradient for total, gradient in zip(sums, gradients, strict=True)]
        examples += len(x)
    return [total / examples for total in sums]


class LargestBatch(keras.layers.Layer):
    """Hands its input on and remembers the most rows it has seen."""

    def __init__(self):
        super().__init__()
        self.rows = 0

    def call(self, inputs):
        """Inputs of shape (rows, features); the same comes out."""
        self.rows = max(self.rows, inputs.shape[0] or 0)
        return inputs


def overshoot_costs_more(y_true, y_pred):
    """A loss that is not symmetric: predictions above the target cost four times those below it."""
    error = y_pred - tf.cast(y_true, y_pred.dtype)
    return tf.reduce_mean(tf.where(error > 0, 4.0, 1.0) * tf.square(error))


def probe(answer, rng):
    """Batches of equal size, of different sizes, and a single one; what the model saw, and that it stayed as it was."""
    equal, unequal, single = ([_batch(rng, rows) for rows in sizes] for sizes in ((3, 3), (5, 2, 4, 1), (6,)))
    start = [rng.normal(size=shape).astype(np.float32) for shape in ((3, 4), (4,), (4, 5), (5,), (5, 2), (2,))]
    counter = LargestBatch()
    model = keras.Sequential(
        [
            keras.Input((3,)),
            counter,
            keras.layers.Dense(4, activation="tanh"),
            keras.layers.Dense(5, activation="tanh", trainable=False),
            keras.layers.Dense(2),
        ]
    )
    model.set_weights(start)
    counter.rows = 0
    found = {
        "batches of one size": answer(model, overshoot_costs_more, equal),
        "batches of different sizes": answer(model, overshoot_costs_more, unequal),
    }
    found["never more than one batch"] = "yes" if counter.rows <= 5 else "no"
    found["a single batch"] = answer(model, overshoot_costs_more, single)
    found["weights as before"] = model.get_weights()
    return found


def _batch(rng, rows):
    return rng.normal(size=(rows, 3)).astype(np.float32), rng.normal(size=(rows, 2)).astype(np.float32)


def _gradients(model, loss_fn, x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    return tape.gradient(loss, model.trainable_variables)


def _added(lists):
    return [tf.add_n(of_one_variable) for of_one_variable in zip(*lists, strict=True)]


def summed(model, loss_fn, batches):
    """Adds the batches' gradients and leaves it at that."""
    return _added([_gradients(model, loss_fn, x, y) for x, y in batches])


def weighted_alike(model, loss_fn, batches):
    """Takes the mean over batches instead of over examples."""
    return [total / len(batches) for total in summed(model, loss_fn, batches)]


def divided_by_examples(model, loss_fn, batches):
    """Divides the sum of the batches' mean gradients by the number of examples."""
    return [total / sum(len(x) for x, _ in batches) for total in summed(model, loss_fn, batches)]


def summed_over_examples(model, loss_fn, batches):
    """Weighs each batch with its size and forgets to divide by all of them."""
    return _added([[len(x) * g for g in _gradients(model, loss_fn, x, y)] for x, y in batches])


def last_batch(model, loss_fn, batches):
    """Overwrites the gradients in each round of the loop."""
    return [_gradients(model, loss_fn, x, y) for x, y in batches][-1]


def joined(model, loss_fn, batches):
    """Puts all batches together and computes one gradient."""
    x, y = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    return _gradients(model, loss_fn, x, y)


exercise = Exercise(
    answer=accumulated_gradients,
    probe=probe,
    misconceptions=[
        Misconception(
            "summed",
            summed,
            "You add the gradients of the batches. Each of them belongs to a mean over its batch; the result should "
            "belong to a mean too. With two batches, yours is twice as large.",
        ),
        Misconception(
            "batches-weighted-alike",
            weighted_alike,
            "You take the plain mean over the batches. An example in a small batch then counts for more than one in a "
            "large batch. How much should a batch of 5 weigh beside a batch of 1?",
        ),
        Misconception(
            "divided-by-examples",
            divided_by_examples,
            "You divide by the number of examples, but loss_fn has already divided by the size of each batch. What do "
            "you have to multiply by before you add?",
        ),
        Misconception(
            "not-divided",
            summed_over_examples,
            "Weighing each batch with its size is right. That gives the gradient of the sum over all examples; one "
            "division is missing to make it a mean.",
        ),
        Misconception(
            "last-batch-only",
            last_batch,
            "Your result is the gradient of the last batch alone: each round of the loop overwrites the one before. "
            "Where do you keep the sum?",
        ),
        Misconception(
            "batches-joined",
            joined,
            "The numbers are right, but the model is called on all examples at once, which is what there is no memory "
            "for. Go through the batches one by one.",
        ),
    ],
    hints=[
        "What does one batch give you, a mean or a sum over its examples? And what do you want in the end?",
        "The gradient of a batch, times its size, is the gradient of the sum over that batch. Add those over all "
        "batches, variable by variable, and count the examples.",
        "Start with `sums = [tf.zeros(v.shape) for v in model.trainable_variables]`; per batch add "
        "`len(x) * gradient` to each; at the end divide each by the number of examples.",
    ],
    explanation=(
        "Gradients are linear: the gradient of a sum is the sum of the gradients. So a batch too large for memory can "
        "be trained on in pieces, as long as every example keeps its weight. Layers that look across the batch, such "
        "as BatchNormalization, still see the small pieces."
    ),
    tolerance=Tolerance(rtol=2e-4, atol=2e-6),
    weights={"batches of different sizes": 2},
)
