"""train_step: forward, loss, backward, update, for one batch."""

import keras
import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance

NO_GRADIENTS = "no gradient arrives at any variable"
NOT_TRAINABLE = "a variable that is not trainable is to be updated"
SWAPPED = "the optimizer gets variables where it expects gradients"
NEEDS_VALUES = "it needs a number that a tf.function does not have yet"


def train_step(model, loss_fn, optimizer, x, y):
    """Train a model on one batch, as `fit` does for each batch, and return the loss of that batch.

    In this order: call the model once on ``x``, in training mode (``training=True``); compute the loss; get the
    gradients of the loss with respect to the trainable variables; let the optimizer apply them, with
    ``optimizer.apply(gradients, variables)``. Nothing else of the model changes, except what its layers change
    themselves when they are called in training mode.

    model: a Keras model, without penalties of its own (``model.losses`` is empty).
    loss_fn: called as ``loss_fn(y, predictions)``, as Keras losses are; returns a scalar tensor.
    optimizer: a Keras optimizer that belongs to this model and keeps its state from step to step.
    x, y: inputs and targets of one batch, of any size.

    Returns the loss as ``loss_fn`` gave it, computed before the update: a scalar tensor. Don't turn it into a number
    (no ``.numpy()``, no ``float``): the step must also work as a ``tf.function``.

    Example: the model is ``w * x`` with ``w = 3``, the loss the mean squared error, the optimizer SGD with rate 0.1.
    For ``x = [[1.0]]``, ``y = [[1.0]]`` the loss is 4.0, its gradient 2 * (3 - 1) = 4.0; the call returns 4.0 and
    leaves ``w = 2.6``.
    """
    with tf.GradientTape() as tape:
        predictions = model(x, training=True)
        loss = loss_fn(y, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


class CarefulSGD(keras.optimizers.SGD):
    """SGD that says so when it is handed variables in the place of gradients."""

    def apply(self, grads, trainable_variables=None):
        """Refuse swapped arguments with ``ValueError``; otherwise as Keras does it."""
        grads = list(grads)
        if any(isinstance(gradient, keras.Variable | tf.Variable) for gradient in grads):
            raise ValueError(SWAPPED)
        return super().apply(grads, trainable_variables)


class DoubledInTraining(keras.layers.Layer):
    """Doubles its input in training mode and hands it on otherwise: Dropout's two modes, without the chance."""

    def call(self, inputs, training=False):
        """Inputs of any shape; the same shape comes out."""
        return 2.0 * inputs if training else inputs


def squared_error_fourfold_above_target(y_true, y_pred):
    """Mean squared error in which predictions above the target cost four times those below it."""
    error = y_pred - tf.cast(y_true, y_pred.dtype)
    return tf.reduce_mean(tf.where(error > 0, 4.0, 1.0) * tf.square(error))


def probe(answer, rng):
    """Steps of a plain model with a momentum optimizer, one of them traced, and a step of a model with two modes."""
    batches = [(_normal(rng, rows, 3), _normal(rng, rows, 2)) for rows in (4, 7)]
    plain = [_normal(rng, 3, 2), _normal(rng, 2)]
    moded = [_normal(rng, 3, 4), _normal(rng, 4, 2)]
    try:
        return {**_plain_model(answer, batches, plain), **_model_with_modes(answer, batches, moded)}
    except ValueError as error:
        trouble = _known_trouble(error)
        if trouble is None:
            raise
        return dict.fromkeys([*PLAIN_PARTS, *MODE_PARTS], trouble)


PLAIN_PARTS = ("loss", "weights after one step", "weights after two steps", "optimizer's steps", "as a tf.function")
MODE_PARTS = ("loss in training mode", "weights in training mode", "frozen layer", "moving statistics")


def _normal(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def _known_trouble(error):
    """What is meant when an optimizer refuses; None for any other error."""
    text = str(error)
    if "No gradients provided" in text:
        return NO_GRADIENTS
    if text == SWAPPED:
        return SWAPPED
    return NOT_TRAINABLE if "Unknown variable" in text else None


def _plain_model(answer, batches, weights):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.set_weights(weights)
    optimizer = CarefulSGD(0.05, momentum=0.9)
    optimizer.build(model.trainable_variables)
    losses, snapshots = [], []
    for x, y in batches:
        losses.append(_single_number(answer(model, squared_error_fourfold_above_target, optimizer, x, y)))
        snapshots.append(model.get_weights())
    steps = optimizer.iterations.numpy()
    compiled = _in_a_graph(answer, model, optimizer, *batches[0])
    return dict(zip(PLAIN_PARTS, [losses, snapshots[0], snapshots[-1], steps, compiled], strict=True))


def _single_number(loss):
    """The loss as it came, if it can be one; what a step did is of no interest where it returned something else."""
    value = np.asarray(loss)
    if value.shape != () or value.dtype.kind not in "fiu":
        raise TypeError("it is not a single number")
    return loss


def _in_a_graph(answer, model, optimizer, x, y):
    """Whether a tf.function can trace the step, in words."""
    step = tf.function(
        lambda x, y: answer(model, squared_error_fourfold_above_target, optimizer, x, y), autograph=False
    )
    try:
        step.get_concrete_function(tf.TensorSpec(x.shape), tf.TensorSpec(y.shape))
    except (AttributeError, TypeError, NotImplementedError):
        return NEEDS_VALUES
    except ValueError as error:
        if "singleton tf.Variables" not in str(error):
            raise
        return "it makes new variables in each call"
    return "works"


def _model_with_modes(answer, batches, weights):
    frozen = keras.layers.Dense(4, use_bias=False, trainable=False)
    normalize, head = keras.layers.BatchNormalization(momentum=0.5), keras.layers.Dense(2, use_bias=False)
    model = keras.Sequential([keras.Input((3,)), frozen, normalize, DoubledInTraining(), head])
    frozen.set_weights(weights[:1])
    head.set_weights(weights[1:])
    optimizer = CarefulSGD(0.05)
    optimizer.build(model.trainable_variables)
    loss = _single_number(answer(model, squared_error_fourfold_above_target, optimizer, *batches[0]))
    learned = [variable.numpy() for variable in model.trainable_variables]
    moving = [normalize.moving_mean.numpy(), normalize.moving_variance.numpy()]
    return dict(zip(MODE_PARTS, [loss, learned, frozen.get_weights(), moving], strict=True))


def forward_outside(model, loss_fn, optimizer, x, y):
    """Opens the tape after the model was called."""
    predictions = model(x, training=True)
    with tf.GradientTape() as tape:
        loss = loss_fn(y, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


def inference_mode(model, loss_fn, optimizer, x, y):
    """Leaves out ``training=True``."""
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


def all_variables(model, loss_fn, optimizer, x, y):
    """Asks for the gradients of everything the model holds."""
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.variables)
    optimizer.apply(gradients, model.variables)
    return loss


def loss_afterwards(model, loss_fn, optimizer, x, y):
    """Computes the loss again after the update, with a second forward pass."""
    train_step(model, loss_fn, optimizer, x, y)
    return loss_fn(y, model(x, training=True))


def forward_twice(model, loss_fn, optimizer, x, y):
    """Calls the model once more, say to print the shape of its output."""
    model(x, training=True)
    return train_step(model, loss_fn, optimizer, x, y)


def pairs_swapped(model, loss_fn, optimizer, x, y):
    """Zips variables and gradients in the wrong order."""
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(model.trainable_variables, gradients, strict=True))
    return loss


def divided_again(model, loss_fn, optimizer, x, y):
    """Divides the gradients of a mean by the number of examples."""
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = [gradient / x.shape[0] for gradient in tape.gradient(loss, model.trainable_variables)]
    optimizer.apply(gradients, model.trainable_variables)
    return loss


def arguments_swapped(model, loss_fn, optimizer, x, y):
    """Gives the loss the predictions first."""
    return train_step(model, lambda y_true, y_pred: loss_fn(y_pred, y_true), optimizer, x, y)


def own_update(model, loss_fn, optimizer, x, y):
    """Takes the rate from the optimizer and subtracts by hand."""
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    for variable, gradient in zip(
        model.trainable_variables, tape.gradient(loss, model.trainable_variables), strict=True
    ):
        variable.assign_sub(optimizer.learning_rate * gradient)
    return loss


def new_optimizer(model, loss_fn, optimizer, x, y):
    """Makes an optimizer of the same settings in each step, which remembers nothing."""
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    fresh = type(optimizer).from_config(optimizer.get_config())
    fresh.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss


def no_update(model, loss_fn, optimizer, x, y):
    """Computes the gradients and forgets to apply them."""
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    tape.gradient(loss, model.trainable_variables)
    return loss


def plain_number(model, loss_fn, optimizer, x, y):
    """Turns the loss into a Python number."""
    return float(train_step(model, loss_fn, optimizer, x, y))


exercise = Exercise(
    answer=train_step,
    probe=probe,
    misconceptions=[
        Misconception(
            "forward-outside-the-tape",
            forward_outside,
            "No gradient arrives at any variable. The tape records only TensorFlow operations that run inside its "
            "`with` block: which of your lines use the variables, and do they stand inside? model.predict and "
            ".numpy() leave TensorFlow: what is computed from their result has no gradient, inside the block either.",
        ),
        Misconception(
            "inference-mode",
            inference_mode,
            "Your step calls the model as if it were predicting: Dropout does nothing and BatchNormalization uses its "
            "stored statistics. How do you tell a Keras model that this call is for training?",
        ),
        Misconception(
            "never-applied",
            no_update,
            "The weights stay where they were. You have the gradients; who changes the variables with them?",
        ),
        Misconception(
            "python-number",
            plain_number,
            "Eagerly your step is right, but as a tf.function, which TensorFlow runs without Python, there is no "
            "number yet: only a tensor that will have one. Return the loss as loss_fn gave it.",
        ),
        Misconception(
            "all-variables",
            all_variables,
            "You hand the optimizer variables that are not for training: frozen ones, moving statistics. Which list of "
            "the model leaves those out?",
        ),
        Misconception(
            "loss-after-the-update",
            loss_afterwards,
            "The loss you return is computed after the update, with another forward pass. Return the one that the "
            "tape saw; the other pass also moves the statistics of BatchNormalization once more.",
        ),
        Misconception(
            "extra-forward-pass",
            forward_twice,
            "Beside the forward pass that the tape records there is another one in training mode, before or after it, "
            "perhaps to look at an output. It uses up a Dropout mask and moves the statistics of BatchNormalization "
            "once more. Call the model once.",
        ),
        Misconception(
            "gradients-and-variables-swapped",
            pairs_swapped,
            "The optimizer gets the variables where it expects the gradients. Which of the two comes first?",
        ),
        Misconception(
            "divided-by-batch-size",
            divided_again,
            "You divide the gradients by the number of examples. loss_fn has done that already: its result is a mean, "
            "and so is the gradient. Hand it to the optimizer as it comes.",
        ),
        Misconception(
            "arguments-swapped",
            arguments_swapped,
            "The loss gets its arguments in the wrong order. Keras losses take the targets first: which of yours are "
            "the targets?",
        ),
        Misconception(
            "new-optimizer",
            new_optimizer,
            "You make an optimizer in each step. It starts with empty memory every time: its momentum and its count of "
            "steps are gone. Use the one that you were given.",
        ),
        Misconception(
            "update-by-hand",
            own_update,
            "You subtract rate times gradient yourself. That ignores what the optimizer remembers, here its momentum, "
            "and its count of steps stays at zero. Let the optimizer apply the gradients.",
        ),
    ],
    hints=[
        "Four moves: forward, loss, backward, update. The first two have to be recorded.",
        "Put the call of the model and the call of loss_fn inside `with tf.GradientTape() as tape:`. After the block, "
        "ask the tape for the gradients with respect to model.trainable_variables.",
        "`gradients = tape.gradient(loss, model.trainable_variables)`, then "
        "`optimizer.apply(gradients, model.trainable_variables)`, then return the loss. "
        "Did the model get `training=True`?",
    ],
    explanation=(
        "This is what fit runs for every batch, give or take its metrics. From here on you can change any of the four "
        "moves: another loss, other gradients, another update."
    ),
    tolerance=Tolerance(rtol=2e-4, atol=2e-6),
    weights={"weights after one step": 2, "weights in training mode": 2},
)
