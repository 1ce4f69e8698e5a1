"""accumulated_gradients: the gradient of a large batch from small ones."""

import gc
import weakref
from contextlib import contextmanager

import keras
import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance

MOST_ROWS = 5
WEIGHTS_MOVED = "the weights of the model are changed"


def accumulated_gradients(model, loss_fn, batches):
    """Return the gradients of the mean loss over all examples of all batches, with only one batch in memory at a time.

    The result is what one big batch would give, all examples in it, each with the same weight. The model must never be
    called on more examples than one of the batches holds, so joining the batches is not allowed. A tape counts as
    memory too: it keeps what every layer gave until its gradient is taken, so take it batch by batch.

    model: a Keras model whose layers do the same in training and in use (no Dropout, no BatchNormalization), so
    ``training`` makes no difference here; ``training=True`` is the habit to keep.
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


class MemoryMeter(keras.layers.Layer):
    """Hands its input on, and remembers the most rows of one call and of all calls whose values are still in memory.

    The layer before has to keep its result for the gradient, as tanh does, so that an open tape holds it.
    """

    def __init__(self):
        super().__init__()
        self.reset()

    def reset(self):
        """Forget all calls."""
        self.rows = self.rows_held = 0
        self.held = []

    def call(self, inputs):
        """Inputs of shape (rows, features); the same comes out."""
        rows = inputs.shape[0] or 0
        self.rows = max(self.rows, rows)
        if tf.executing_eagerly() and self.rows_held <= MOST_ROWS:
            self._forget_released(rows)
            self.rows_held = max(self.rows_held, sum((held for _, held in self.held), rows if self.held else 0))
            self.held.append((weakref.ref(inputs), rows))
        return inputs

    def _forget_released(self, rows):
        """Drop the calls whose values are gone; what only waits to be collected is gone too."""
        self.held = [(result, held) for result, held in self.held if result() is not None]
        if sum((held for _, held in self.held), rows) > MOST_ROWS:
            gc.collect()
            self.held = [(result, held) for result, held in self.held if result() is not None]


@contextmanager
def cheap_collections():
    """Keep what exists already out of garbage collections, which then take no time."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def squared_error_fourfold_above_target(y_true, y_pred):
    """Mean squared error in which predictions above the target cost four times those below it."""
    error = y_pred - tf.cast(y_true, y_pred.dtype)
    return tf.reduce_mean(tf.where(error > 0, 4.0, 1.0) * tf.square(error))


PARTS = ("batches of one size", "batches of different sizes", "a single batch")
MEMORY_PARTS = ("one batch for each call of the model", "one batch in memory")


def probe(answer, rng):
    """Batches of equal size, of different sizes, and a single one; what was in memory, and that the model stayed."""
    sets = [[_batch(rng, rows) for rows in sizes] for sizes in ((3, 3), (MOST_ROWS, 2, 4, 1), (6,))]
    start = [rng.normal(size=shape).astype(np.float32) for shape in ((3, 4), (4,), (4, 5), (5,), (5, 2), (2,))]
    meter = MemoryMeter()
    model = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4, activation="tanh"),
            meter,
            keras.layers.Dense(5, activation="tanh", trainable=False),
            keras.layers.Dense(2),
        ]
    )
    model.set_weights(start)
    found, fits = {}, []
    with cheap_collections():
        for part, batches in zip(PARTS, sets, strict=True):
            meter.reset()
            found[part] = answer(model, squared_error_fourfold_above_target, batches)
            fits.append((meter.rows <= MOST_ROWS, meter.rows_held <= MOST_ROWS))
    if any(np.any(now != before) for now, before in zip(model.get_weights(), start, strict=True)):
        return dict.fromkeys([*PARTS, *MEMORY_PARTS], WEIGHTS_MOVED)
    for part, several in zip(MEMORY_PARTS, zip(*fits[:2], strict=True), strict=True):
        found[part] = "yes" if all(several) else "no"
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


def one_tape(model, loss_fn, batches):
    """Records all batches on one tape before it asks for a gradient."""
    examples = sum(len(x) for x, _ in batches)
    with tf.GradientTape() as tape:
        loss = sum(loss_fn(y, model(x, training=True)) * (len(x) / examples) for x, y in batches)
    return tape.gradient(loss, model.trainable_variables)


def first_size_for_all(model, loss_fn, batches):
    """Weighs every batch with the size of the first."""
    examples = sum(len(x) for x, _ in batches)
    return [total * (len(batches[0][0]) / examples) for total in summed(model, loss_fn, batches)]


def trains(model, loss_fn, batches):
    """Updates the model after each batch."""
    sums = [0.0] * len(model.trainable_variables)
    for x, y in batches:
        gradients = _gradients(model, loss_fn, x, y)
        sums = [total + len(x) * gradient for total, gradient in zip(sums, gradients, strict=True)]
        for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
            variable.assign_sub(0.01 * gradient)
    return [total / sum(len(x) for x, _ in batches) for total in sums]


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
        Misconception(
            "one-tape-for-all",
            one_tape,
            "The numbers are right, but the tape is open around all batches: it keeps what every layer gave for every "
            "one of them until the gradient is taken, and that is what there is no memory for. Open a tape for each "
            "batch and take its gradient before the next.",
        ),
        Misconception(
            "size-of-the-first-batch",
            first_size_for_all,
            "You weigh every batch with the size of the first one. The batches differ in size: count the rows of each "
            "x.",
        ),
        Misconception(
            "trains-on-the-way",
            trains,
            "The weights of the model change while you go through the batches. Then later gradients belong to another "
            "model: only add up, and leave the update to whoever calls you.",
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
