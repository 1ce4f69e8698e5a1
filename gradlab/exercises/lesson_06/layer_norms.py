"""layer_norms: one number for each gradient that a tape returned."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def layer_norms(gradients):
    """Return the norm of each gradient: the square root of the sum of its squared elements.

    gradients: a list as ``tape.gradient(loss, variables)`` returns it. Each item is one of these three:

    * a float32 tensor of any shape, also of shape (), with a single number in it;
    * ``None``, where no way leads from the variable to the loss. A gradient that is not there is not a gradient of
      zero, so its norm is ``None``;
    * a ``tf.IndexedSlices``, which is what a tape gives for a table of which only some rows were read, as an Embedding
      does. It holds ``values``, one row for each reading, and ``indices``, the rows of the table that they belong to.
      A row that was read twice is in there twice, and its two parts have to be added before anything is squared.
      ``tf.convert_to_tensor(gradient)`` gives the whole gradient as an ordinary tensor, with the parts added.

    Returns a list as long as ``gradients``, in the same order, with a number or ``None`` in each place. A gradient with
    a NaN in it has the norm NaN.

    Example: ``layer_norms([tf.constant([[3.0, 0.0], [0.0, -4.0]]), None, tf.constant(-2.0)])`` is
    ``[5.0, None, 2.0]``.
    """

    def norm(gradient):
        return None if gradient is None else float(tf.norm(tf.convert_to_tensor(gradient)))

    return [norm(gradient) for gradient in gradients]


def _slices(rng, indices, rows=6, columns=3):
    values = rng.normal(size=(len(indices), columns)).astype(np.float32)
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant([rows, columns]))


def probe(answer, rng):
    """Shapes from a single number to a convolution's kernel; None, rows of a table, zeros, and a NaN."""

    def normal(shape, scale=1.0):
        return tf.constant((scale * rng.normal(size=shape)).astype(np.float32))

    dense = [normal((5, 3)), normal((3,)), normal((3, 4), 20.0), normal((4,), 1e-3)]
    others = [normal((3, 2, 2, 4)), tf.constant(np.float32(-rng.uniform(2, 3))), normal((1, 7))]
    missing = [None, normal((4, 2)), None, normal((2,))]
    once, twice = _slices(rng, [4, 1]), _slices(rng, [2, 5, 2, 0, 2])
    table = normal((2, 3))
    broken = normal((2, 2)).numpy()
    broken[0, 1] = np.nan
    return {
        "kernels and biases": answer(dense),
        "other shapes": answer(others),
        "some are None": answer(missing),
        "rows of a table": answer([once, table]),
        "a row that was read again": answer([table, twice]),
        "all zero": answer([tf.zeros((3, 2)), tf.zeros((2,))]),
        "a NaN in one": answer([normal((2,)), tf.constant(broken)]),
    }


def _each(norm, none=None):
    """An answer that takes ``norm`` of each whole gradient, and ``none`` where there isn't one."""

    def answer(gradients):
        return [none if g is None else float(norm(tf.convert_to_tensor(g).numpy())) for g in gradients]

    return answer


def _length(gradient):
    return np.sqrt(np.sum(np.square(gradient)))


def none_is_skipped(gradients):
    """Leaves out what is None, so that later places move up."""
    return [norm for norm in layer_norms(gradients) if norm is not None]


def parts_not_added(gradients):
    """Takes the values of IndexedSlices as they are."""
    return layer_norms([g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients])


def nan_left_out(gradients):
    """Sums what is not NaN."""
    return _each(lambda g: np.sqrt(np.nansum(np.square(g))))(gradients)


def global_norm(gradients):
    """Gives one norm for all of them together."""
    return float(tf.linalg.global_norm(gradients))


def spectral(gradient):
    """The largest singular value, for a matrix."""
    return np.linalg.norm(gradient, 2) if gradient.ndim == 2 and np.isfinite(gradient).all() else _length(gradient)


exercise = Exercise(
    answer=layer_norms,
    probe=probe,
    misconceptions=[
        Misconception(
            "no-root",
            _each(lambda g: np.sum(np.square(g))),
            "You return the sum of the squares. A gradient ten times as large would get a number a hundred times as "
            "large: take the square root at the end.",
        ),
        Misconception(
            "none-is-zero",
            _each(_length, none=0.0),
            "You give None the norm 0. The two mean different things: with 0 the way to the loss is there and flat, "
            "with None there is no way. Return None for it.",
        ),
        Misconception(
            "none-is-left-out",
            none_is_skipped,
            "You leave out the gradients that are None. All later norms then stand in the wrong place, and a layer "
            "gets the number of another: put None into the list instead.",
        ),
        Misconception(
            "parts-not-added",
            parts_not_added,
            "You square the values of an IndexedSlices one by one. A row that was read twice is in there twice, and "
            "its gradient is the sum of the two. Make a whole tensor of it first.",
        ),
        Misconception(
            "mean-square",
            _each(lambda g: np.sqrt(np.mean(np.square(g)))),
            "You take the mean of the squares where their sum is asked for. Your number is the size of a typical "
            "element, not the length of the whole gradient.",
        ),
        Misconception(
            "absolute-values",
            _each(lambda g: np.sum(np.abs(g))),
            "You add absolute values. That is another norm; here each element is squared, and the root of the sum is "
            "taken.",
        ),
        Misconception(
            "mean-absolute-value",
            _each(lambda g: np.mean(np.abs(g))),
            "You return the mean of the absolute values: a typical element, not the length of the whole gradient. "
            "Square, add, and take the root.",
        ),
        Misconception(
            "largest-element",
            _each(lambda g: np.max(np.abs(g))),
            "You return the largest element. It is worth watching too, but the norm counts every element: square, "
            "add, and take the root.",
        ),
        Misconception(
            "spectral",
            _each(spectral),
            "For a matrix you return its largest singular value, which is what `np.linalg.norm(matrix, 2)` gives. "
            "Leave out the 2, or make the matrix flat first.",
        ),
        Misconception(
            "nan-left-out",
            nan_left_out,
            "You leave out the NaN and give the rest a norm. A gradient with a NaN in it ruins its variable: the norm "
            "has to say so.",
        ),
        Misconception(
            "all-together",
            global_norm,
            "You return one number for all gradients together. It can't show which layer is in trouble: one norm for "
            "each is asked for.",
        ),
    ],
    hints=[
        "One loop over the list, three kinds of items. What do you do with each kind?",
        "`None` stays None. For anything else make an ordinary tensor with `tf.convert_to_tensor`, then square, add, "
        "and take the root. `tf.norm` does the last three.",
        "In the loop: `norms.append(None if gradient is None else float(tf.norm(tf.convert_to_tensor(gradient))))`.",
    ],
    explanation=(
        "One number for each variable is little enough to keep for every step, and enough to see a layer fall silent. "
        "Lesson 10 clips with the norm of all gradients together: the root of the sum of these, squared."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=1e-7),
    weights={"kernels and biases": 2, "some are None": 2},
    level="core",
)
