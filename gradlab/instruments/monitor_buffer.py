"""A history of bounded size that is written inside compiled functions and can be read at any time."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.instruments.monitor_history import History

# What is kept for each variable and step, in this order.
STATISTICS = ("norm", "largest", "zeros", "nonfinite", "update_ratio")
ROWS = 1024


# With `every=1` all but the norms are measured at each thirty-second step only: they cost as much as the step itself.
DETAILED = 32


class Buffer:
    """At most `ROWS` steps; when it is full, every second one is let go and from then on only every second is kept.

    So a run of any length leaves `ROWS / 2` to `ROWS` evenly spaced steps: 20 bytes for each variable and step.

    Args:
        variables: the variables whose gradients are recorded.
        every: keep each such step.
    """

    def __init__(self, variables: list[Any], every: int) -> None:
        self.names = tuple(str(getattr(v, "path", None) or v.name).removesuffix(":0") for v in variables)
        self.shapes = tuple(tuple(int(side) for side in v.shape) for v in variables)
        self.detailed = every * max(1, 2 ** int(np.log2(max(DETAILED // every, 1))))
        width = len(STATISTICS)
        self.rows = tf.Variable(tf.fill([ROWS, len(variables), width], np.float32(np.nan)), trainable=False)
        self.steps = tf.Variable(tf.zeros([ROWS], tf.int64), trainable=False)
        self.step = tf.Variable(0, trainable=False, dtype=tf.int64)
        self.count = tf.Variable(0, trainable=False, dtype=tf.int64)
        self.stride = tf.Variable(every, trainable=False, dtype=tf.int64)

    def add(self, row: Any) -> None:
        """Keep the step that is running: one line of statistics for each variable, (variables, 5)."""
        place = tf.reshape(self.count, [1, 1])
        self.rows.scatter_nd_update(place, row[None])
        self.steps.scatter_nd_update(place, tf.reshape(self.step, [1]))
        self.count.assign_add(1)
        tf.cond(self.count >= ROWS, self._thin, lambda: False)

    def _thin(self) -> bool:
        half = ROWS // 2
        self.rows.assign(tf.concat([self.rows[::2], self.rows[:half]], 0))
        self.steps.assign(tf.concat([self.steps[::2], self.steps[:half]], 0))
        self.count.assign(half)
        self.stride.assign(2 * self.stride)
        return True

    def history(self) -> History:
        """The kept steps, oldest first."""
        count = int(self.count.numpy())
        rows = self.rows.numpy()[:count].astype(float)
        return History(self.names, self.shapes, self.steps.numpy()[:count], *np.moveaxis(rows, 2, 0))


def norms(gradients: list[Any], scale: Any = None) -> Any:
    """The norm of each gradient: (variables,), float32; NaN where there is no gradient.

    Args:
        gradients: tensors, sparse gradients (IndexedSlices, repeated rows added up) or None.
        scale: what the gradients were multiplied by (a loss scale), or None.
    """
    return tf.stack([tf.constant(np.nan, tf.float32) if g is None else _norm(_dense(g), scale) for g in gradients])


def details(gradients: list[Any], scale: Any = None) -> Any:
    """Largest entry, share of exact zeros and share of values that are not finite: (variables, 3), float32."""
    return tf.stack([tf.fill([3], np.float32(np.nan)) if g is None else _details(g, scale) for g in gradients])


def update_ratios(before: list[Any], after: list[Any]) -> Any:
    """The norm of each update over that of the weights before: (variables,), float32; NaN for weights of zero."""
    ratios = []
    for old, new in zip(before, after, strict=True):
        old, new = tf.cast(old, tf.float32), tf.cast(new, tf.float32)
        ratios.append(tf.sqrt(tf.nn.l2_loss(new - old) / tf.nn.l2_loss(old)))
    return tf.stack([tf.where(tf.math.is_finite(ratio), ratio, np.float32(np.nan)) for ratio in ratios])


def _dense(gradient: Any) -> Any:
    """The values of a gradient; of a sparse one the rows that it has, each once."""
    if isinstance(gradient, tf.IndexedSlices):
        rows, places = tf.unique(gradient.indices)
        return tf.math.unsorted_segment_sum(gradient.values, places, tf.size(rows))
    return gradient


def _norm(values: Any, scale: Any) -> Any:
    norm = tf.sqrt(2.0 * tf.nn.l2_loss(tf.cast(values, tf.float32)))
    return norm if scale is None else norm / tf.cast(scale, tf.float32)


def _details(gradient: Any, scale: Any) -> Any:
    whole = gradient.dense_shape if isinstance(gradient, tf.IndexedSlices) else tf.shape(gradient)
    total = tf.cast(tf.reduce_prod(whole), tf.float32)
    values = tf.cast(_dense(gradient), tf.float32)
    largest = tf.reduce_max(tf.abs(values))
    if scale is not None:
        largest /= tf.cast(scale, tf.float32)
    present = tf.cast(tf.math.count_nonzero(values, dtype=tf.int32), tf.float32)
    finite = tf.reduce_sum(tf.cast(tf.math.is_finite(values), tf.float32))
    missing = tf.cast(tf.size(values), tf.float32) - finite
    return tf.stack([largest, 1.0 - present / total, missing / total])
