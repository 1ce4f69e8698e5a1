"""mend_program_4: variables that a list comprehension replaces by tensors."""

import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def mend_program_4(variables, x, y, rate, steps):
    """Mend ``program_4``, which you see above: fit an S-shaped curve by gradient descent.

    ``variables`` is a list of two: slope and offset. The curve is ``tanh(slope * x + offset)``, the loss the mean of
    ``(curve - y) ** 2``. In each step both move at once: each by minus ``rate`` times the gradient of the loss with
    respect to it, with both gradients taken at the values that the step started with. After the call, the two
    ``tf.Variable`` that were handed in hold the new values.

    variables: a list of two ``tf.Variable`` of shape (). x, y: float32 tensors of shape (n,). rate: a float.
    steps: at least 1. Returns a list of ``steps`` numbers: in each step, the loss before the variables move.

    Example: for slope 1 and offset 0, ``x = [0.0, 1.0]``, ``y = [0.0, 0.0]``, rate 0.1 and one step the loss is
    0.2900; the slope becomes 0.9680 and the offset -0.0320.
    """
    slope, offset = variables
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(slope * x + offset) - y) ** 2)
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(rate * gradient)
        losses.append(float(loss))
    return losses


def probe(answer, rng):
    """Fits of one and of several steps, from three kinds of start: the losses and where the variables stand."""
    found = {}
    for name, steps, start in (("one step", 1, 0.5), ("six steps", 6, 0.3), ("a falling curve", 4, -0.6)):
        x = tf.constant(rng.uniform(-2.0, 2.0, 8), tf.float32)
        noise = rng.normal(0.0, 0.1, 8)
        y = tf.constant(tf.tanh(rng.uniform(1.2, 1.8) * x + rng.uniform(0.3, 0.6)) + noise.astype("float32"))
        variables = [
            tf.Variable(start + rng.uniform(0.0, 0.1), dtype=tf.float32),
            tf.Variable(rng.uniform(-0.6, -0.4), dtype=tf.float32),
        ]
        losses = answer(variables, x, y, float(rng.uniform(0.2, 0.3)), steps)
        found[name] = {"losses": losses, "variables": [variable.numpy() for variable in variables]}
    return found


def _gradients(variables, x, y):
    slope, offset = variables
    with tf.GradientTape() as tape:
        tape.watch([tf.convert_to_tensor(one) if isinstance(one, tf.Variable) else one for one in variables])
        loss = tf.reduce_mean((tf.tanh(slope * x + offset) - y) ** 2)
    return loss, tape.gradient(loss, [slope, offset])


def rebound(variables, x, y, rate, steps):
    """Puts tensors in the place of the variables; from the second step on their gradients are zeros."""
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            slope, offset = variables
            loss = tf.reduce_mean((tf.tanh(slope * x + offset) - y) ** 2)
        gradients = tape.gradient(loss, variables, unconnected_gradients="zero")
        variables = [v - rate * g for v, g in zip(variables, gradients, strict=True)]
        losses.append(float(loss))
    return losses


def name_rebound(variables, x, y, rate, steps):
    """Binds the loop's own name to a tensor; nothing moves."""
    losses = []
    for _ in range(steps):
        loss, gradients = _gradients(variables, x, y)
        for variable, gradient in zip(variables, gradients, strict=True):
            variable = variable - rate * gradient
        losses.append(float(loss))
    return losses


def written_back_at_the_end(variables, x, y, rate, steps):
    """Puts tensors in the place of the variables, and writes the last ones back."""
    values, losses = list(variables), []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(values[0] * x + values[1]) - y) ** 2)
        gradients = tape.gradient(loss, values, unconnected_gradients="zero")
        values = [v - rate * g for v, g in zip(values, gradients, strict=True)]
        losses.append(float(loss))
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)
    return losses


def copies_move(variables, x, y, rate, steps):
    """Moves new variables, or tensors that the tape is told to watch."""
    return mend_program_4([tf.Variable(variable) for variable in variables], x, y, rate, steps)


def first_gradients_throughout(variables, x, y, rate, steps):
    """Asks for the gradients once, before the loop."""
    _, gradients = _gradients(variables, x, y)
    losses = []
    for _ in range(steps):
        losses.append(float(_gradients(variables, x, y)[0]))
        for variable, gradient in zip(variables, gradients, strict=True):
            variable.assign_sub(rate * gradient)
    return losses


def slope_alone(variables, x, y, rate, steps):
    """Moves the first of the two variables alone."""
    losses = []
    for _ in range(steps):
        loss, gradients = _gradients(variables, x, y)
        variables[0].assign_sub(rate * gradients[0])
        losses.append(float(loss))
    return losses


def one_after_the_other(variables, x, y, rate, steps):
    """Asks anew for each variable, when the one before has moved."""
    losses = []
    for _ in range(steps):
        losses.append(float(_gradients(variables, x, y)[0]))
        for i, variable in enumerate(variables):
            variable.assign_sub(rate * _gradients(variables, x, y)[1][i])
    return losses


def step_for_value(variables, x, y, rate, steps):
    """Assigns the step instead of subtracting it."""
    losses = []
    for _ in range(steps):
        loss, gradients = _gradients(variables, x, y)
        for variable, gradient in zip(variables, gradients, strict=True):
            variable.assign(-rate * gradient)
        losses.append(float(loss))
    return losses


def losses_after(variables, x, y, rate, steps):
    """Measures the loss after the step."""
    losses = []
    for _ in range(steps):
        mend_program_4(variables, x, y, rate, 1)
        losses.append(float(_gradients(variables, x, y)[0]))
    return losses


def uphill(variables, x, y, rate, steps):
    """Adds the gradients."""
    return mend_program_4(variables, x, y, -rate, steps)


exercise = Exercise(
    answer=mend_program_4,
    probe=probe,
    misconceptions=[
        Misconception(
            "rebound",
            rebound,
            "The variables that you were given never move, and after one step your losses stand still. Variable minus "
            "number is a tensor; no tape watches it, and unconnected_gradients says zero instead of None. What changes "
            "a variable in place?",
        ),
        Misconception(
            "name-rebound",
            name_rebound,
            "Nothing moves, and every loss is the first. v = v - ... binds the name v to a new tensor; the variable "
            "that it stood for stays as it is. What changes a variable in place?",
        ),
        Misconception(
            "written-back-at-the-end",
            written_back_at_the_end,
            "One step was taken, and the rest repeats its loss: within the loop there are still tensors in the place "
            "of the variables, and no tape watches those. Move the variables in each step.",
        ),
        Misconception(
            "copies-move",
            copies_move,
            "The losses are right, but the two variables that you were given stand where they stood. You move "
            "something else under their names: use assign_sub on the variables themselves.",
        ),
        Misconception(
            "one-gradient",
            first_gradients_throughout,
            "The first step is right, the next ones repeat its gradients. Record and ask again in each step.",
        ),
        Misconception("slope-alone", slope_alone, "The slope moves, and the offset doesn't. Move both."),
        Misconception(
            "one-after-the-other",
            one_after_the_other,
            "You move one variable and ask anew for the other. Both gradients belong to the values that the step "
            "started with: ask once for both.",
        ),
        Misconception(
            "step-for-value",
            step_for_value,
            "Each variable became its step alone: what it held is lost. Subtract the step.",
        ),
        Misconception(
            "losses-after",
            losses_after,
            "The variables move as they should, but your losses are those after each step. Asked for is the loss "
            "before they move.",
        ),
        Misconception("uphill", uphill, "Your steps go uphill: the gradient has to be subtracted."),
    ],
    hints=[
        "Look at what stands in the list after the first step: variables, or something else?",
        "Keep the two variables that you were given for the whole loop, and change what they hold: each has a method "
        "that subtracts in place.",
        "In place of the line `variables = [...]`: `for v, g in zip(variables, gradients): v.assign_sub(rate * g)`.",
    ],
    explanation=(
        "It is the first classic of lesson 02 in its disguise of real code: a list comprehension, and zeros that hide "
        "the None. An optimizer's `apply(gradients, variables)` changes variables in place for you."
    ),
    tolerance=Tolerance(rtol=2e-4, atol=1e-5),
    weights={"six steps": 2},
    level="stretch",
)
