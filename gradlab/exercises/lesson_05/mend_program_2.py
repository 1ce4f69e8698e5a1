"""mend_program_2: a memory that is assigned, which no gradient gets through."""

import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def mend_program_2(weight, state, signals, target):
    """Mend ``program_2``, which you see above: the same loss and the same memory, with a gradient for ``weight``.

    A small recurrent model. It starts from what ``state`` holds. For each signal, in order, its memory becomes
    ``tanh(weight * memory + signal)``. The loss is the mean of ``(memory - target) ** 2`` after the last signal.
    After the call, the variable ``state`` holds the memory after the last signal, so that the next call goes on there.

    The gradient of the loss with respect to ``weight`` must be the true one: ``weight`` acts in every step, and each
    step acts on all later ones. What ``state`` held before the call counts as given: no gradient goes further back.

    weight: ``tf.Variable`` of shape (n,). state: ``tf.Variable`` of shape (n,), not trainable.
    signals: float32 tensor of shape (steps, n). target: float32 tensor of shape (n,).
    Returns one number: a tensor of shape ().

    Example: for weight ``[1.0]``, state ``[0.0]``, signals ``[[0.5], [0.0]]`` and target ``[0.0]`` the memory becomes
    tanh(0.5) = 0.4621 and then tanh(0.4621) = 0.4318; the loss is 0.1865, its gradient 0.3247, and state is 0.4318
    afterwards.
    """
    memory = tf.convert_to_tensor(state)
    for step in range(signals.shape[0]):
        memory = tf.tanh(weight * memory + signals[step])
    state.assign(memory)
    return tf.reduce_mean((memory - target) ** 2)


def probe(answer, rng):
    """Two calls in a row on one state, then one of a single step and one with a weight of its own."""
    weight = tf.Variable(rng.uniform(0.6, 1.4, 3).astype("float32"))
    state = tf.Variable(rng.uniform(0.3, 0.8, 3).astype("float32"), trainable=False)
    signals = [tf.constant(rng.normal(0.0, 0.5, (steps, 3)), tf.float32) for steps in (4, 5)]
    targets = [tf.constant(rng.uniform(-1.0, 1.0, 3), tf.float32) for _ in range(2)]
    single_weight = tf.Variable(rng.uniform(-1.2, -0.8, 2).astype("float32"))
    single_state = tf.Variable(rng.uniform(-0.8, -0.4, 2).astype("float32"), trainable=False)
    single_signal = tf.constant(rng.normal(0.0, 0.5, (1, 2)), tf.float32)
    single_target = tf.constant(rng.uniform(0.5, 1.0, 2), tf.float32)

    def measured(weight, state, signals, target):
        with tf.GradientTape() as tape:
            loss = answer(weight, state, signals, target)
            number = _single_number(loss)
        return loss, tape.gradient(number, weight), state.numpy()

    first = measured(weight, state, signals[0], targets[0])
    second = measured(weight, state, signals[1], targets[1])
    single = measured(single_weight, single_state, single_signal, single_target)
    return {
        "loss": first[0],
        "slope": first[1],
        "state afterwards": first[2],
        "loss of the next call": second[0],
        "slope of the next call": second[1],
        "state after the next call": second[2],
        "a single signal": list(single),
    }


def _single_number(loss):
    """The loss as a tensor, if it can be one number; a slope of anything else is of no interest."""
    number = tf.convert_to_tensor(loss)
    if number.shape != () or not number.dtype.is_floating:
        raise TypeError("it is not a single number")
    return number


def still_assigned(weight, state, signals, target):
    """Goes through the variable in every step, as program_2 does."""
    for signal in tf.unstack(signals):
        state.assign(tf.tanh(weight * state + signal))
    return tf.reduce_mean((state - target) ** 2)


def last_step_only(weight, state, signals, target):
    """Takes the last memory as a tensor, and every earlier one from the variable."""
    memory = state
    for signal in tf.unstack(signals):
        memory = tf.tanh(weight * state + signal)
        state.assign(memory)
    return tf.reduce_mean((memory - target) ** 2)


def never_kept(weight, state, signals, target):
    """Keeps the memory in a tensor and never writes it back."""
    memory = tf.convert_to_tensor(state)
    for signal in tf.unstack(signals):
        memory = tf.tanh(weight * memory + signal)
    return tf.reduce_mean((memory - target) ** 2)


def made_anew(weight, state, signals, target):
    """Makes a new variable in each step."""
    for signal in tf.unstack(signals):
        state = tf.Variable(tf.tanh(weight * state + signal))
    return tf.reduce_mean((state - target) ** 2)


def from_zero(weight, state, signals, target):
    """Starts from zeros in each call."""
    memory = tf.zeros_like(state)
    for signal in tf.unstack(signals):
        memory = tf.tanh(weight * memory + signal)
    state.assign(memory)
    return tf.reduce_mean((memory - target) ** 2)


def first_memory_throughout(weight, state, signals, target):
    """Uses the memory of the start in every step."""
    memory = start = tf.convert_to_tensor(state)
    for signal in tf.unstack(signals):
        memory = tf.tanh(weight * start + signal)
    state.assign(memory)
    return tf.reduce_mean((memory - target) ** 2)


def one_signal_behind(weight, state, signals, target):
    """Writes back the memory before the last signal."""
    memory = before = tf.convert_to_tensor(state)
    for signal in tf.unstack(signals):
        before, memory = memory, tf.tanh(weight * memory + signal)
    state.assign(before)
    return tf.reduce_mean((memory - target) ** 2)


def loss_of_every_step(weight, state, signals, target):
    """Adds up the losses of all steps."""
    memory, losses = tf.convert_to_tensor(state), []
    for signal in tf.unstack(signals):
        memory = tf.tanh(weight * memory + signal)
        losses.append(tf.reduce_mean((memory - target) ** 2))
    state.assign(memory)
    return tf.reduce_mean(losses)


exercise = Exercise(
    answer=mend_program_2,
    probe=probe,
    misconceptions=[
        Misconception(
            "still-assigned",
            still_assigned,
            "The loss still reads the variable state. assign writes numbers into it, and the tape doesn't record where "
            "they came from: weight gets None. Carry the memory in a tensor from step to step.",
        ),
        Misconception(
            "last-step-only",
            last_step_only,
            "A gradient comes, but only that of the last step: the earlier ones still go through the variable. With a "
            "single signal nobody would notice. What has to be carried from step to step?",
        ),
        Misconception(
            "never-kept",
            never_kept,
            "Loss and gradient are right, and the variable state still holds what it held before. The next call should "
            "go on where this one ended.",
        ),
        Misconception(
            "made-anew",
            made_anew,
            "A new variable in each step knows its numbers and not where they came from, as after assign; and the "
            "variable that you were given never changes. Use a plain tensor.",
        ),
        Misconception(
            "from-zero",
            from_zero,
            "You start from zeros. The memory starts from what state holds.",
        ),
        Misconception(
            "first-memory-throughout",
            first_memory_throughout,
            "Each of your steps starts from the memory that state held at first. It should start from the memory of "
            "the step before.",
        ),
        Misconception(
            "one-signal-behind",
            one_signal_behind,
            "Loss and gradient are right, and state is one signal behind: it should hold the memory after the last "
            "one.",
        ),
        Misconception(
            "loss-of-every-step",
            loss_of_every_step,
            "You average the losses of all steps. Asked for is the loss after the last signal alone.",
        ),
    ],
    hints=[
        "Which object carries the memory from one signal to the next, and what does the tape know about where its "
        "numbers come from?",
        "Read state once, at the start. Let a plain tensor carry the memory through the loop; write it back once, at "
        "the end, for the next call.",
        "`memory = tf.convert_to_tensor(state)`; in the loop `memory = tf.tanh(weight * memory + signal)`; after it "
        "`state.assign(memory)`, and the loss from memory.",
    ],
    explanation=(
        "A tensor remembers how it was computed, a variable only what it holds. Keras's recurrent layers do the same: "
        "tensors within a call, a variable from call to call (`stateful=True`)."
    ),
    tolerance=Tolerance(rtol=2e-4, atol=1e-5),
    weights={"slope": 2, "slope of the next call": 2},
    level="stretch",
)
