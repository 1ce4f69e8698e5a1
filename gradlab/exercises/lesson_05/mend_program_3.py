"""mend_program_3: a tensor that was computed once, before any tape, and never again."""

import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def mend_program_3(width, height, x, y, rate, steps):
    """Mend ``program_3``, which you see above: fit a bump by gradient descent, its width and its height.

    The bump is ``height * exp(-(x / width) ** 2)``, the loss the mean of ``(bump - y) ** 2``. In each step both
    variables move at once: each by minus ``rate`` times the gradient of the loss with respect to it, with both
    gradients taken at the values that the step started with. The variables themselves move.

    width, height: ``tf.Variable`` of shape (). x, y: float32 tensors of shape (n,). rate: a float. steps: at least 1.
    Returns a list of ``steps`` numbers: in each step, the loss before the variables move.

    Example: for width 1, height 1, ``x = [0.0, 1.0]``, ``y = [0.0, 0.0]``, rate 0.1 and one step the loss is 0.5677;
    width becomes 0.9729 and height 0.8865.
    """
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            bump = height * tf.exp(-((x / width) ** 2))
            loss = tf.reduce_mean((bump - y) ** 2)
        in_width, in_height = tape.gradient(loss, [width, height])
        width.assign_sub(rate * in_width)
        height.assign_sub(rate * in_height)
        losses.append(float(loss))
    return losses


def probe(answer, rng):
    """Fits of one and of several steps, from below and from above: the losses and where the variables stand."""
    found = {}
    for name, steps, start in (("one step", 1, 0.6), ("six steps", 6, 0.7), ("from a wide bump", 4, 2.2)):
        x = tf.constant(rng.uniform(-2.0, 2.0, 7), tf.float32)
        y = tf.constant(rng.uniform(1.5, 2.0) * tf.exp(-((x / rng.uniform(1.2, 1.5)) ** 2)) + rng.normal(0, 0.1, 7))
        width = tf.Variable(start + rng.uniform(0.0, 0.1), dtype=tf.float32)
        height = tf.Variable(rng.uniform(0.8, 1.0), dtype=tf.float32)
        losses = answer(width, height, x, tf.cast(y, tf.float32), float(rng.uniform(0.15, 0.2)), steps)
        found[name] = {"losses": losses, "variables": [width.numpy(), height.numpy()]}
    return found


def _fit(width, height, x, y, rate, steps, step_of):
    """Runs ``steps`` times a step of one's own and collects the losses that it returns."""
    return [float(step_of(width, height, x, y, rate)) for _ in range(steps)]


def _gradients(width, height, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((height * tf.exp(-((x / width) ** 2)) - y) ** 2)
    return loss, *tape.gradient(loss, [width, height])


def computed_before(width, height, x, y, rate, steps):
    """Computes the bump's shape where no tape sees it; the width never moves."""
    losses = []
    for _ in range(steps):
        shape = tf.exp(-((x / width) ** 2))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((height * shape - y) ** 2)
        height.assign_sub(rate * tape.gradient(loss, height))
        losses.append(float(loss))
    return losses


def slope_of_the_shape(width, height, x, y, rate, steps):
    """Watches the shape, and moves the width by the slope in the shape."""
    losses = []
    for _ in range(steps):
        shape = tf.exp(-((x / width) ** 2))
        with tf.GradientTape() as tape:
            tape.watch(shape)
            loss = tf.reduce_mean((height * shape - y) ** 2)
        in_shape, in_height = tape.gradient(loss, [shape, height])
        width.assign_sub(rate * tf.reduce_sum(in_shape))
        height.assign_sub(rate * in_height)
        losses.append(float(loss))
    return losses


def width_alone(width, height, x, y, rate, steps):
    """Mends the width and forgets the height."""

    def step(width, height, x, y, rate):
        loss, in_width, _ = _gradients(width, height, x, y)
        width.assign_sub(rate * in_width)
        return loss

    return _fit(width, height, x, y, rate, steps, step)


def one_after_the_other(width, height, x, y, rate, steps):
    """Moves the width first and asks for the slope in the height afterwards."""

    def step(width, height, x, y, rate):
        loss, in_width, _ = _gradients(width, height, x, y)
        width.assign_sub(rate * in_width)
        height.assign_sub(rate * _gradients(width, height, x, y)[2])
        return loss

    return _fit(width, height, x, y, rate, steps, step)


def copies_move(width, height, x, y, rate, steps):
    """Moves variables of its own."""
    return mend_program_3(tf.Variable(width), tf.Variable(height), x, y, rate, steps)


def width_rebound(width, height, x, y, rate, steps):
    """Puts a tensor in the place of the width; from the second step on its gradient is zero."""
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((height * tf.exp(-((x / width) ** 2)) - y) ** 2)
        in_width, in_height = tape.gradient(loss, [width, height], unconnected_gradients="zero")
        width = width - rate * in_width
        height.assign_sub(rate * in_height)
        losses.append(float(loss))
    return losses


def both_rebound(width, height, x, y, rate, steps):
    """Puts tensors in the place of both; from the second step on nothing moves."""
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((height * tf.exp(-((x / width) ** 2)) - y) ** 2)
        in_width, in_height = tape.gradient(loss, [width, height], unconnected_gradients="zero")
        width, height = width - rate * in_width, height - rate * in_height
        losses.append(float(loss))
    return losses


def losses_after(width, height, x, y, rate, steps):
    """Measures the loss after the step."""

    def step(width, height, x, y, rate):
        mend_program_3(width, height, x, y, rate, 1)
        return _gradients(width, height, x, y)[0]

    return _fit(width, height, x, y, rate, steps, step)


def first_gradients_throughout(width, height, x, y, rate, steps):
    """Asks for the gradients once, before the loop."""
    _, in_width, in_height = _gradients(width, height, x, y)

    def step(width, height, x, y, rate):
        loss = _gradients(width, height, x, y)[0]
        width.assign_sub(rate * in_width)
        height.assign_sub(rate * in_height)
        return loss

    return _fit(width, height, x, y, rate, steps, step)


def uphill(width, height, x, y, rate, steps):
    """Adds the gradients."""
    return mend_program_3(width, height, x, y, -rate, steps)


exercise = Exercise(
    answer=mend_program_3,
    probe=probe,
    misconceptions=[
        Misconception(
            "computed-before",
            computed_before,
            "The width still stands where it stood. What hangs on it is computed where no tape is open, before the "
            "loop or before the with block: for the tape that is a constant. Compute it inside.",
        ),
        Misconception(
            "slope-of-the-shape",
            slope_of_the_shape,
            "You watch what was computed from the width, and move the width by the slope in that. The last link of "
            "the chain is missing: how that changes with the width. Let the tape see the whole chain.",
        ),
        Misconception("width-alone", width_alone, "The width moves now, and the height no longer does. Move both."),
        Misconception(
            "one-after-the-other",
            one_after_the_other,
            "You move the width first and ask for the slope in the height afterwards. Both gradients belong to the "
            "values that the step started with.",
        ),
        Misconception(
            "copies-move",
            copies_move,
            "The losses are right, but the variables that you were given stand where they stood. You move copies: use "
            "assign_sub on the variables themselves.",
        ),
        Misconception(
            "width-rebound",
            width_rebound,
            "The bump is computed in the right place now. But width = width - ... puts a tensor under the name of the "
            "variable: no tape watches that, so it moves once and never again. What changes a variable in place?",
        ),
        Misconception(
            "both-rebound",
            both_rebound,
            "The bump is computed in the right place now. But an = puts tensors under the names of both variables: no "
            "tape watches those, so they move once and never again. What changes a variable in place?",
        ),
        Misconception(
            "losses-after",
            losses_after,
            "The variables move as they should, but your losses are those after each step. Asked for is the loss "
            "before they move.",
        ),
        Misconception(
            "one-gradient",
            first_gradients_throughout,
            "The first step is right, the next ones repeat its gradients. Record and ask again in each step.",
        ),
        Misconception("uphill", uphill, "Your steps go uphill: the gradient has to be subtracted."),
    ],
    hints=[
        "Which tensor hangs on the width? When is it computed, and is a tape open then?",
        "Move the line that computes the bump's shape into the with block: then every step records it anew, with the "
        "width as it is now.",
        "Inside the with block: `shape = tf.exp(-((x / width) ** 2))`, then the loss as before; nothing of it before "
        "the loop. With that, `unconnected_gradients` has nothing to hide and can go.",
    ],
    explanation=(
        "What is computed once is recorded once, or never. Everything that hangs on a variable has to be computed "
        "again in each step, while the tape is open. And zeros in the place of None hide just this fault."
    ),
    tolerance=Tolerance(rtol=2e-4, atol=1e-5),
    weights={"six steps": 2},
    level="stretch",
)
