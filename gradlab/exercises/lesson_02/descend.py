"""descend: gradient descent that moves the variable itself."""

import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def descend(loss, w, rate, steps):
    """Take ``steps`` steps of gradient descent on the variable ``w`` and return the losses on the way.

    In each step, w becomes w minus ``rate`` times the gradient of ``loss(w)`` at the present w. The variable itself
    moves: after the call, the ``tf.Variable`` that was handed in holds the new values.

    loss: a function of the variable that is written with TensorFlow operations and returns one number (shape ()).
    w: a ``tf.Variable`` of float32, any shape. rate: a positive float. steps: how many steps, at least 1.
    Returns a list of ``steps`` numbers: in each step, the loss before w moves.

    Example: with ``w = tf.Variable(1.0)`` and ``def square(w): return w ** 2``, the call
    ``descend(square, w, 0.25, 3)`` returns ``[1.0, 0.25, 0.0625]``, and w is 0.125 afterwards.
    """
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        w.assign_sub(rate * tape.gradient(value, w))
        losses.append(float(value))
    return losses


def probe(answer, rng):
    """One step, then several, on a number and on a matrix: where the variable stands, and the losses.

    The last descent runs away, because its rate is too large: no task says that it may stop early.
    """
    first = tf.Variable(rng.uniform(1.0, 2.0), dtype=tf.float32)
    number = tf.Variable(rng.uniform(-2.0, -1.0), dtype=tf.float32)
    matrix = tf.Variable(rng.normal(size=(2, 3)).astype("float32"))
    target = tf.constant(rng.normal(size=(2, 3)), tf.float32)
    runaway = tf.Variable(rng.uniform(1.0, 2.0), dtype=tf.float32)
    rates = rng.uniform(0.05, 0.1, 3)

    asked = []

    def parabola(w):
        asked.append(True)
        return 1.5 * w**2 + w

    def root_plus_cosine(w):
        return tf.sqrt(1.0 + w**2) + 0.3 * tf.cos(w)

    def squared_distance_plus_fourth_powers(w):
        return tf.reduce_sum((w - target) ** 2) + 0.1 * tf.reduce_sum(w**4)

    parabola.__name__ = "1.5 * w ** 2 + w"
    root_plus_cosine.__name__ = "sqrt(1 + w ** 2) + 0.3 * cos(w)"
    answer(parabola, first, float(rates[0]), 1)

    def now(variable):
        return variable.numpy() if asked else "untouched: loss was never called"

    found = {"w after one step": now(first)}
    try:
        found["losses"] = answer(root_plus_cosine, number, float(rates[1]), 6)
        found["w after six steps"] = now(number)
        answer(squared_distance_plus_fourth_powers, matrix, float(rates[2]), 3)
        found["a matrix"] = now(matrix)
        found["losses at a rate that is too large"] = answer(parabola, runaway, 0.8, 4)
        found["w at a rate that is too large"] = now(runaway)
    except TypeError as error:  # what None * rate raises, in the second step of a rebound w
        found |= dict.fromkeys([part for part in PARTS if part not in found], error)
    return found


PARTS = (
    "w after one step",
    "losses",
    "w after six steps",
    "a matrix",
    "losses at a rate that is too large",
    "w at a rate that is too large",
)


def rebound(loss, w, rate, steps):
    """Binds the name w to a new tensor: the variable stays, and the next gradient is None."""
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        w = w - rate * tape.gradient(value, w)
        losses.append(float(value))
    return losses


def copy_moves(loss, w, rate, steps):
    """Moves a tensor of its own and makes the tape watch it: the losses are right, the variable stays."""
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(w)
            value = loss(w)
        w = w - rate * tape.gradient(value, w)
        losses.append(float(value))
    return losses


def never_moves(loss, w, rate, steps):
    """Measures the loss and leaves w alone."""
    return [float(loss(w)) for _ in range(steps)]


def returns_in_the_loop(loss, w, rate, steps):
    """Returns from inside the loop, after the first step."""
    return descend(loss, w, rate, 1)


def stops_when_it_rises(loss, w, rate, steps):
    """Ends as soon as the loss is larger than before."""
    losses: list[float] = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        if losses and float(value) > losses[-1]:
            break
        w.assign_sub(rate * tape.gradient(value, w))
        losses.append(float(value))
    return losses


def uphill(loss, w, rate, steps):
    """Adds the gradient."""
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        w.assign_add(rate * tape.gradient(value, w))
        losses.append(float(value))
    return losses


def one_gradient_for_all(loss, w, rate, steps):
    """Asks for the gradient once, before the loop, and uses it in every step."""
    with tf.GradientTape() as tape:
        value = loss(w)
    gradient = tape.gradient(value, w)
    losses = []
    for _ in range(steps):
        losses.append(float(loss(w)))
        w.assign_sub(rate * gradient)
    return losses


def without_the_rate(loss, w, rate, steps):
    """Subtracts the whole gradient."""
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        w.assign_sub(tape.gradient(value, w))
        losses.append(float(value))
    return losses


def step_for_w(loss, w, rate, steps):
    """Puts the step where w should be: assigns instead of subtracting."""
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        w.assign(-rate * tape.gradient(value, w))
        losses.append(float(value))
    return losses


def upward_step_for_w(loss, w, rate, steps):
    """Assigns rate times the gradient."""
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        w.assign(rate * tape.gradient(value, w))
        losses.append(float(value))
    return losses


def losses_after(loss, w, rate, steps):
    """Measures the loss after w has moved."""
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(w)
        w.assign_sub(rate * tape.gradient(value, w))
        losses.append(float(loss(w)))
    return losses


exercise = Exercise(
    answer=descend,
    probe=probe,
    misconceptions=[
        Misconception(
            "rebound",
            rebound,
            "The variable that you were given stands where it stood. `w = ...` only gives the name w to a new tensor, "
            "and a tensor isn't watched, so the next gradient is None. Which method changes a variable in place?",
        ),
        Misconception(
            "copy-moves",
            copy_moves,
            "Your losses are right, but the variable that you were given stands where it stood. `w = ...` makes the "
            "name w mean something new, a tensor or another variable. Which method changes a variable in place?",
        ),
        Misconception(
            "never-moves",
            never_moves,
            "The loss is the same in every step, because w never moves. Where does your loop change the variable that "
            "it measures?",
        ),
        Misconception(
            "one-step",
            returns_in_the_loop,
            "One step was taken, and then your function was over. Where does its return stand: inside the loop, or "
            "after it?",
        ),
        Misconception(
            "stops-early",
            stops_when_it_rises,
            "With a rate that is too large the loss grows, and you stop. Asked for are `steps` steps, whatever the "
            "loss does.",
        ),
        Misconception(
            "uphill",
            uphill,
            "Your steps go uphill. The gradient points to where the loss grows; descent goes the other way.",
        ),
        Misconception(
            "one-gradient",
            one_gradient_for_all,
            "The first step is right, the next ones repeat its gradient. Once w has moved the slope is another: "
            "record and ask again in each step.",
        ),
        Misconception(
            "no-rate",
            without_the_rate,
            "You subtract the whole gradient. A step is rate times the gradient.",
        ),
        Misconception(
            "step-for-w",
            step_for_w,
            "w became the step alone: its old value is lost. Subtract the step from w instead of assigning it.",
        ),
        Misconception(
            "gradient-for-w",
            upward_step_for_w,
            "w became rate times the gradient: its old value is lost. Subtract that from w instead of assigning it.",
        ),
        Misconception(
            "losses-after",
            losses_after,
            "w moves as it should, but your losses are those after each step. Asked for is the loss before w moves: "
            "the number that the tape recorded.",
        ),
    ],
    hints=[
        "Each step needs a fresh tape: record loss(w), ask for the gradient, move w. What is w after the step: the "
        "same variable, or something new under the same name?",
        "In a loop: open a tape, compute the loss inside, ask for the gradient after it, and subtract rate times the "
        "gradient with the variable's own method `assign_sub`. Keep the loss in a list.",
        "The step is `w.assign_sub(rate * tape.gradient(value, w))`; keep `float(value)` in your list.",
    ],
    explanation=(
        "A tape finds a variable by the object, not by its name. assign_sub changes the object's value, so the next "
        "tape finds it again. model.fit does the same through its optimizer."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=1e-5),
    level="core",
)
