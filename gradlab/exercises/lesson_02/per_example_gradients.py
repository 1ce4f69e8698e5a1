"""per_example_gradients: one gradient for each example, where a tape gives their sum."""

import keras
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def per_example_gradients(model, x, y):
    """Return, for each trainable variable of ``model``, the gradients of the single examples' losses.

    The loss of one example is the mean, over the model's outputs for it, of the squared differences between output
    and target. No example's loss depends on the others.

    model: a built Keras model; ``model(x)`` has shape (n, outputs). x: n inputs, shape (n, features), float32.
    y: n targets, shape (n, outputs), float32. n may be 1.
    Returns a list with one tensor or array for each variable in ``model.trainable_variables``, in that order. Each has
    the variable's shape with an axis of examples in front: a kernel of shape (3, 2) gives (n, 3, 2), and row i is the
    gradient of the loss of example i.

    Example: a single Dense(1), ``w * x + b`` with w = 1 and b = 0, for the two examples x = [[1.5], [2.0]] and
    y = [[4.5], [2.0]]. The result is ``[[[-9.0]], [[0.0]]]`` for its kernel and ``[[-6.0], [0.0]]`` for its bias.
    """
    rows = []
    for i in range(len(x)):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x[i : i + 1]) - y[i : i + 1]) ** 2)
        rows.append(tape.gradient(loss, model.trainable_variables))
    return [tf.stack(gradients) for gradients in zip(*rows, strict=True)]


def _model(rng, sizes, frozen=()):
    """A Keras model of Dense layers with weights from ``rng``; layers in the places ``frozen`` aren't trained."""
    layers = [keras.layers.Dense(size, activation="tanh") for size in sizes[1:-1]]
    model = keras.Sequential([keras.Input((sizes[0],)), *layers, keras.layers.Dense(sizes[-1])])
    model.set_weights([rng.normal(0, 0.7, weight.shape) for weight in model.get_weights()])
    for place in frozen:
        model.layers[place].trainable = False
    return model


def probe(answer, rng):
    """Gradients for a model of one layer, for one of four of which one is frozen, and for a batch of one."""
    shallow = _model(rng, [3, 2])
    deep = _model(rng, [2, 4, 5, 3, 2], frozen=[1])
    cases = {"one layer": (shallow, 4), "several layers": (deep, 3), "a batch of one": (deep, 1)}
    given = {}
    for part, (model, n) in cases.items():
        x = rng.normal(size=(n, model.input_shape[1])).astype("float32")
        y = rng.normal(size=(n, model.output_shape[1])).astype("float32")
        given[part] = model, x, y
    return {part: _gradients(answer, *inputs) for part, inputs in given.items()}


def _gradients(answer, model, x, y):
    """What the answer returns; in words, what it raises where raising is the mistake."""
    try:
        return answer(model, x, y)
    except ValueError as error:
        text = str(error)
        if "NoneType" in text:  # what tf.stack raises
            return "a gradient is None"
        if "shape" in text and any(words in text for words in ("Invalid input", "incompatible with the layer")):
            return "the model refused its input"
        raise


def _losses(model, x, y):
    return tf.reduce_mean((model(x) - y) ** 2, axis=1)


def _by_rows(model, x, y, loss_of, variables=None):
    variables = model.trainable_variables if variables is None else variables
    rows = []
    for i in range(len(x)):
        with tf.GradientTape() as tape:
            loss = loss_of(model, x[i : i + 1], y[i : i + 1])
        rows.append(tape.gradient(loss, variables))
    return rows


def added_by_the_tape(model, x, y):
    """Hands the vector of losses to tape.gradient, which differentiates their sum."""
    with tf.GradientTape() as tape:
        losses = _losses(model, x, y)
    return tape.gradient(losses, model.trainable_variables)


def squeezed(model, x, y):
    """Removes every axis of length 1, also the one of examples."""
    rows = _by_rows(model, x, y, lambda model, x, y: tf.reduce_mean(_losses(model, x, y)))
    return [tf.squeeze(tf.stack(gradients)) for gradients in zip(*rows, strict=True)]


def mean_repeated(model, x, y):
    """Takes the gradient of the mean loss and repeats it for each example."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(_losses(model, x, y))
    return [tf.stack([gradient] * len(x)) for gradient in tape.gradient(loss, model.trainable_variables)]


def list_per_example(model, x, y):
    """Returns a list of examples that holds lists of variables: the axes the other way round."""
    return _by_rows(model, x, y, lambda model, x, y: tf.reduce_mean(_losses(model, x, y)))


def summed_over_outputs(model, x, y):
    """Adds the squared differences of an example's outputs instead of taking their mean."""
    rows = _by_rows(model, x, y, lambda model, x, y: tf.reduce_sum((model(x) - y) ** 2))
    return [tf.stack(gradients) for gradients in zip(*rows, strict=True)]


def share_of_the_mean(model, x, y):
    """Gives each example its share of the mean loss: everything is divided by n."""
    rows = _by_rows(model, x, y, lambda model, xi, yi: tf.reduce_mean(_losses(model, xi, yi)) / len(x))
    return [tf.stack(gradients) for gradients in zip(*rows, strict=True)]


def gradients_of_outputs(model, x, y):
    """Differentiates the outputs; the targets play no part."""
    rows = _by_rows(model, x, y, lambda model, x, y: tf.reduce_mean(model(x)))
    return [tf.stack(gradients) for gradients in zip(*rows, strict=True)]


def chosen_outside(model, x, y):
    """Picks the single losses after the tape has closed."""
    with tf.GradientTape(persistent=True) as tape:
        losses = _losses(model, x, y)
    rows = [tape.gradient(losses[i], model.trainable_variables) for i in range(len(x))]
    return [tf.stack(gradients) for gradients in zip(*rows, strict=True)]


def axis_dropped(model, x, y):
    """Hands the model one example without an axis of examples."""
    rows = []
    for xi, yi in zip(x, y, strict=True):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(xi) - yi) ** 2)
        rows.append(tape.gradient(loss, model.trainable_variables))
    return [tf.stack(gradients) for gradients in zip(*rows, strict=True)]


def jacobian_of_the_mean(model, x, y):
    """Takes the mean over the examples first: its Jacobian is the gradient of the batch."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(_losses(model, x, y))
    return tape.gradient(loss, model.trainable_variables)


def frozen_as_well(model, x, y):
    """Asks about all variables, those that aren't trained included."""
    rows = _by_rows(model, x, y, lambda model, x, y: tf.reduce_mean(_losses(model, x, y)), model.variables)
    return [tf.stack(gradients) for gradients in zip(*rows, strict=True)]


exercise = Exercise(
    answer=per_example_gradients,
    probe=probe,
    misconceptions=[
        Misconception(
            "added-by-the-tape",
            added_by_the_tape,
            "The axis of examples is missing. tape.gradient of a vector of losses is the gradient of their sum: the "
            "examples are already added together. Ask for one loss at a time, or for a Jacobian.",
        ),
        Misconception(
            "chosen-outside",
            chosen_outside,
            "tape.gradient gives you None, and None can't be stacked. losses[i] is an operation like any other: if it "
            "runs after the block, no tape has seen it, and neither a model that ran before. Call the model and pick "
            "the single losses inside the `with`.",
        ),
        Misconception(
            "axis-dropped",
            axis_dropped,
            "The model refuses a single example: it takes batches. x[i] has lost the axis of examples, x[i:i + 1] "
            "keeps it, as a batch of one.",
        ),
        Misconception(
            "jacobian-of-the-mean",
            jacobian_of_the_mean,
            "The axis of examples is missing: you took the mean over the batch first. The mean of an example's loss "
            "runs over its outputs (axis=1); then there is one loss for each example.",
        ),
        Misconception(
            "frozen-as-well",
            frozen_as_well,
            "Your list is longer than it should be: one of the models has a layer that isn't trained. Asked for are "
            "the variables in model.trainable_variables.",
        ),
        Misconception(
            "squeezed",
            squeezed,
            "Right for several examples. With a single one the axis of examples has length 1 and is gone: squeeze "
            "takes every such axis away. A batch of one keeps its axis.",
        ),
        Misconception(
            "mean-repeated",
            mean_repeated,
            "Your rows are all alike: each is the gradient of the whole batch. Row i belongs to example i alone.",
        ),
        Misconception(
            "list-per-example",
            list_per_example,
            "The gradients are right, but your list runs over examples. It should run over variables, with the "
            "examples as the first axis of each array: collect, then stack.",
        ),
        Misconception(
            "summed-over-outputs",
            summed_over_outputs,
            "You added the squared differences of an example's outputs. The loss of an example is their mean.",
        ),
        Misconception(
            "share-of-the-mean",
            share_of_the_mean,
            "Your gradients get smaller as the batch grows: each is divided by n. The loss of one example doesn't "
            "know how many others there are.",
        ),
        Misconception(
            "outputs-only",
            gradients_of_outputs,
            "You differentiated the model's outputs. The targets have to come in: differentiate each example's loss.",
        ),
    ],
    hints=[
        "What does tape.gradient do with a loss that is a vector? How could you keep the examples apart?",
        "The plain way is a loop: for each example, hand the model a batch of one (x[i:i + 1] keeps the axis), record "
        "its loss, ask for the gradients. Then stack, for each variable, what the examples gave. `tape.jacobian` of "
        "the vector of losses does the same without a loop.",
        "After the loop `rows[i]` holds example i's gradients, one for each variable. "
        "`[tf.stack(gradients) for gradients in zip(*rows)]` turns the two around.",
    ],
    explanation=(
        "Their mean over the examples is the gradient that fit uses. One by one they show which examples pull hardest; "
        "differentially private training clips each of them before it adds them up."
    ),
    tolerance=Tolerance(rtol=1e-3, atol=1e-5),
    level="stretch",
)
