"""clip_gradients: all gradients together are made shorter, and keep their direction."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def clip_gradients(gradients, max_norm):
    """Return the gradients, scaled down by one common factor if they are too long together.

    The global norm is the length of all gradients as one long vector: the square root of the sum of the squares of
    every element of every gradient. If it is larger than ``max_norm``, multiply all of them by ``max_norm`` divided by
    the global norm. If it isn't, return them as they are.

    gradients: a list as ``tape.gradient`` returns it: float32 tensors of any shapes; ``None`` for a variable without a
        gradient; ``tf.IndexedSlices`` for rows of a large table (``tf.convert_to_tensor`` makes an ordinary tensor of
        it; no row occurs twice). At least one isn't None. max_norm: a positive number.
    Returns a list of the same length, with ``None`` where there was ``None``. What was an IndexedSlices may be one
    again, or an ordinary tensor.

    If any element is NaN or infinite, no part of the result may look healthy. Either let all elements of all gradients
    be NaN, as TensorFlow's own function does, or raise a ValueError.

    Example: ``[tf.constant([3.0, 0.0]), None, tf.constant([[4.0]])]`` has the global norm 5. With ``max_norm=1.0`` the
    result is ``[[0.6, 0.0], None, [[0.8]]]``; with ``max_norm=10.0`` nothing changes.
    """
    tensors = [None if gradient is None else tf.convert_to_tensor(gradient) for gradient in gradients]
    norm = tf.sqrt(sum(tf.reduce_sum(tensor**2) for tensor in tensors if tensor is not None))
    factor = max_norm / tf.maximum(norm, max_norm)
    factor = tf.where(tf.math.is_finite(norm), factor, np.nan)
    return [None if tensor is None else factor * tensor for tensor in tensors]


def probe(answer, rng):
    """Lists that are too long and short enough, with None, with IndexedSlices, with NaN and with infinity."""

    def draw(*shapes):
        return [tf.constant(rng.normal(size=shape), tf.float32) for shape in shapes]

    def norm(gradients):
        return float(np.sqrt(sum(np.sum(np.square(gradient)) for gradient in gradients)))

    long, short, with_none = draw((4, 3), (3,), (2, 2, 2)), draw((5,), (2, 3)), draw((3, 2), (4,), ())
    one_long = [0.1 * gradient for gradient in draw((3,), (2, 4), (5,))]
    one_long[1] *= 100.0
    rows = tf.constant(rng.normal(size=(3, 2)), tf.float32)
    indices = rng.choice(7, 3, replace=False)
    sparse, beside = tf.IndexedSlices(rows, tf.constant(indices), tf.constant([7, 2])), draw((4,))[0]
    sick = draw((3,), (2, 2))
    with_nan = [sick[0], tf.tensor_scatter_nd_update(sick[1], [[0, 1]], [np.nan])]
    with_infinity = [tf.tensor_scatter_nd_update(sick[0], [[2]], [np.inf]), sick[1]]
    share = float(rng.uniform(0.3, 0.7))
    return {
        "too long": [answer(long, share * norm(long)), answer(one_long, share * norm(one_long))],
        "much too long": answer([1e3 * gradient for gradient in long], 1.0),
        "short enough": answer(short, 1.5 * norm(short)),
        "with None": answer([None, *with_none[:2], None, with_none[2]], share * norm(with_none)),
        "with IndexedSlices": answer([sparse, beside], share * norm([rows, beside])),
        "with NaN": _looks_healthy(answer, with_nan),
        "with infinity": _looks_healthy(answer, with_infinity),
    }


def _looks_healthy(answer, gradients):
    """In words, how much of the result looks healthy although a gradient is sick."""
    try:
        result = answer(gradients, 1.0)
    except (ValueError, ArithmeticError, AssertionError, tf.errors.OpError):
        return "nothing looks healthy"
    try:
        elements = np.concatenate([np.ravel(tf.convert_to_tensor(part)) for part in result])
        sick = np.isnan(elements)
        whole = len(result) == len(gradients)
    except Exception:
        return "the result is no list of gradients"
    if whole and sick.all():
        return "nothing looks healthy"
    return "part of it looks healthy" if sick.any() else "all of it looks healthy"


def _dense(gradients):
    return [None if gradient is None else tf.convert_to_tensor(gradient) for gradient in gradients]


def _norm(gradients):
    return tf.sqrt(sum(tf.reduce_sum(tensor**2) for tensor in _dense(gradients) if tensor is not None))


def _scaled(gradients, factor):
    return [None if tensor is None else factor * tensor for tensor in _dense(gradients)]


def _factor(norm, max_norm):
    """The right factor from a norm, with NaN where the norm isn't finite."""
    return tf.where(tf.math.is_finite(norm), max_norm / tf.maximum(norm, max_norm), np.nan)


def per_tensor(gradients, max_norm):
    """Clips each gradient by its own norm."""
    return [
        None if tensor is None else _factor(_norm(gradients), 1.0) * 0 + _factor(tf.norm(tensor), max_norm) * tensor
        for tensor in _dense(gradients)
    ]


def always_scaled(gradients, max_norm):
    """Scales short gradients up."""
    norm = _norm(gradients)
    return _scaled(gradients, tf.where(tf.math.is_finite(norm), max_norm / norm, np.nan))


def by_value(gradients, max_norm):
    """Clips each element."""
    healthy = _factor(_norm(gradients), 1.0) * 0
    return [
        None if tensor is None else healthy + tf.clip_by_value(tensor, -max_norm, max_norm)
        for tensor in _dense(gradients)
    ]


def sum_of_squares(gradients, max_norm):
    """Forgets the root."""
    return _scaled(gradients, _factor(_norm(gradients) ** 2, max_norm))


def sum_of_norms(gradients, max_norm):
    """Adds up the norms."""
    norms = [tf.norm(tensor) for tensor in _dense(gradients) if tensor is not None]
    return _scaled(gradients, _factor(sum(norms), max_norm))


def longest_norm(gradients, max_norm):
    """Takes the norm of the longest gradient for all."""
    norms = [float(tf.norm(tensor)) for tensor in _dense(gradients) if tensor is not None]
    return _scaled(gradients, _factor(tf.constant(np.max(norms), tf.float32), max_norm))


def none_dropped(gradients, max_norm):
    """Leaves out what is None, so that the list gets shorter."""
    return [tensor for tensor in clip_gradients(gradients, max_norm) if tensor is not None]


def none_made_zero(gradients, max_norm):
    """Puts a zero where None was."""
    return [tf.constant(0.0) if tensor is None else tensor for tensor in clip_gradients(gradients, max_norm)]


def nan_let_through(gradients, max_norm):
    """Compares NaN with the limit, which is False, and lets the rest of the list pass as if it were healthy."""
    norm = float(_norm(gradients))
    return _scaled(gradients, max_norm / norm if norm > max_norm else 1.0)


def nan_made_zero(gradients, max_norm):
    """Turns NaN and infinity into numbers first."""
    cleaned = [
        None if tensor is None else tf.where(tf.math.is_finite(tensor), tensor, 0.0) for tensor in _dense(gradients)
    ]
    return clip_gradients(cleaned, max_norm)


def with_the_norm(gradients, max_norm):
    """Hands on the pair that TensorFlow's function returns."""
    return tf.clip_by_global_norm(gradients, max_norm)


def slices_left_alone(gradients, max_norm):
    """Skips IndexedSlices as if they were None."""
    plain = [None if isinstance(gradient, tf.IndexedSlices) else gradient for gradient in gradients]
    clipped = clip_gradients(plain, max_norm)
    return [
        gradient if isinstance(gradient, tf.IndexedSlices) else tensor
        for gradient, tensor in zip(gradients, clipped, strict=True)
    ]


exercise = Exercise(
    answer=clip_gradients,
    probe=probe,
    misconceptions=[
        Misconception(
            "per-tensor",
            per_tensor,
            "You clip each gradient by its own norm. That changes their lengths against each other, and so the "
            "direction of the step: one norm over all of them, and one factor.",
        ),
        Misconception(
            "short-ones-scaled-up",
            always_scaled,
            "You always scale to max_norm, so gradients that are short enough get longer. They should stay as they "
            "are.",
        ),
        Misconception(
            "by-value",
            by_value,
            "You clip each element. That turns the direction: large elements are cut, small ones aren't. Scale all of "
            "them by one factor.",
        ),
        Misconception(
            "no-root",
            sum_of_squares,
            "You compare the sum of the squares with max_norm. The norm is its square root.",
        ),
        Misconception(
            "sum-of-norms",
            sum_of_norms,
            "You add up the norms of the gradients. Lengths in different directions don't add up like that: add the "
            "squares of all elements, and take the root once.",
        ),
        Misconception(
            "longest-for-all",
            longest_norm,
            "You take the norm of the longest gradient for the norm of all. Together they are longer than that.",
        ),
        Misconception(
            "none-dropped",
            none_dropped,
            "Where a gradient is None you leave it out, and all later gradients meet the wrong variable. Put None back "
            "in its place.",
        ),
        Misconception(
            "none-made-zero",
            none_made_zero,
            "You put 0 where there was None. None says that the variable has no gradient: hand it on.",
        ),
        Misconception(
            "nan-let-through",
            nan_let_through,
            "With a NaN in one gradient the others come out as if nothing had happened, or as zeros where it is "
            "infinite. A comparison with NaN is False, so your factor becomes 1. Ask whether the norm is finite.",
        ),
        Misconception(
            "nan-made-zero",
            nan_made_zero,
            "You turn NaN and infinity into 0, and train on as if nothing had happened. Then nobody looks for the "
            "cause: let the whole result be NaN, or raise a ValueError.",
        ),
        Misconception(
            "pair-returned",
            with_the_norm,
            "`tf.clip_by_global_norm` returns two things: the list of gradients, and the norm. Return the list.",
        ),
        Misconception(
            "slices-left-alone",
            slices_left_alone,
            "You leave IndexedSlices out of the norm and out of the scaling. They are gradients like the others: "
            "`tf.convert_to_tensor` makes ordinary tensors of them.",
        ),
    ],
    hints=[
        "What is the length of all gradients as one long vector? Which factor makes it max_norm, and when is it 1?",
        "Add up the squares of all elements of all gradients that aren't None, and take the root once. The factor is "
        "max_norm / norm, or 1 if that is less. What does your comparison say if the norm is NaN?",
        "`factor = max_norm / tf.maximum(norm, max_norm)` is 1 for short gradients; put NaN in its place where "
        "`tf.math.is_finite(norm)` is False. Return None for None.",
    ],
    explanation=(
        "One factor for all keeps the direction. It is `tf.clip_by_global_norm`, and `global_clipnorm=` of a Keras "
        "optimizer; `clipnorm=` clips each variable by itself, and `clipvalue=` each element."
    ),
    tolerance=Tolerance(rtol=1e-5, atol=1e-7),
    weights={"too long": 2},
    level="core",
)
