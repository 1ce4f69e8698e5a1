"""Gradient statistics during training, from the gradients that the optimizer gets: no second backward pass.

monitor = GradientMonitor()
model.fit(x, y, callbacks=[monitor])
print(monitor)
monitor.plot()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from gradlab.instruments.monitor_alarms import Alarm, alarms_in
from gradlab.instruments.monitor_buffer import Buffer, details, norms, update_ratios
from gradlab.instruments.monitor_history import History, joined

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAN = np.float32(np.nan)


class GradientMonitor(keras.callbacks.Callback):
    """Watches gradients in `fit` (as a callback), in `train_on_batch`, and in a loop of one's own.

    Args:
        every: keep each such step. The history never grows beyond 1,024 steps: when it is full, every second
            step is let go, and only every second is kept from then on (20 bytes for each variable and kept step).
        log_dir: a folder to which norms and update ratios are also written for TensorBoard, at the end of each epoch.

    For each trainable variable and kept step: the gradient's norm; and at each 32nd step (at each kept one, where
    `every` is 32 or more) its largest entry, the shares of exact zeros and of values that are not finite, and the
    norm of the update over that of the weights. Gradients are taken as they come to the optimizer: before clipping,
    divided by the loss scale under mixed precision, one micro-batch each under accumulation. A step that a loss
    scale skips is a row too.

    In a loop of one's own, either

        with monitor.watch(optimizer):        # a model, an optimizer, or several of them
            ...                               # train as ever

    or `monitor.record(gradients, variables)` after `tape.gradient`, eagerly or inside a `tf.function`.

    Attributes:
        history: a `History`: `names`, `steps`, `norm`, `largest`, `zeros`, `nonfinite`, `update_ratio`.
        alarms: what the history warns of, each kind once: vanishing, exploding, dead, not finite, stalled.
    """

    def __init__(self, every: int = 1, log_dir: Any = None) -> None:
        super().__init__()
        if not isinstance(every, int) or isinstance(every, bool) or every < 1:
            raise ValueError(f"every is a whole number of steps from 1 upwards, not {every!r}")
        self.every = every
        self.log_dir = log_dir
        self._buffers: dict[Any, Buffer] = {}
        # By model: its own compiled training step, and the one that is heard; to trace again takes a second.
        self._functions: dict[int, tuple[Any, Any]] = {}
        self._scaled = False
        self._undo: list[Callable[[], None]] = []
        self._writer: Any = None
        self._written = 0

    @property
    def history(self) -> History:
        """Everything kept so far, of all optimizers side by side.

        Raises:
            ValueError: nothing has been recorded yet.
        """
        if not self._buffers:
            raise ValueError(
                "nothing has been recorded yet: give the monitor to fit as a callback, train inside "
                "`with monitor.watch(model):`, or call monitor.record(gradients, variables)"
            )
        return joined([buffer.history() for buffer in self._buffers.values()])

    @property
    def alarms(self) -> list[Alarm]:
        """What the history warns of so far, in the order of the steps; each kind once."""
        return alarms_in(self.history, self._scaled) if self._buffers else []

    def __str__(self) -> str:
        if not self._buffers:
            return "GradientMonitor: nothing recorded yet"
        history = self.history
        steps = f"steps {history.steps[0]} to {history.steps[-1]}" if len(history) else "no steps"
        head = f"GradientMonitor: {len(history.names)} variables, {len(history)} steps kept ({steps})"
        alarms = self.alarms
        return "\n".join([head, *(str(alarm) for alarm in alarms)] if alarms else [head, "No alarms."])

    __repr__ = __str__

    def plot(self) -> Figure:
        """A heat map of the gradients' scale over layers and steps, and the norms over time."""
        from gradlab.instruments.monitor_plot import draw

        return draw(self.history, self.alarms)

    def record(self, gradients: Sequence[Any], variables: Sequence[Any], before: Sequence[Any] | None = None) -> None:
        """Keep one step of a loop of one's own; call it once a step, eagerly or inside a `tf.function`.

        Args:
            gradients: what `tape.gradient` gave: tensors, sparse gradients or None.
            variables: the variables, in the same order.
            before: the weights before the update, where `record` is called after it; else no update ratio is kept.

        Raises:
            ValueError: the lists differ in length, or there are no variables.
        """
        gradients, variables = list(gradients), list(variables)
        if len(gradients) != len(variables) or not variables:
            raise ValueError(f"record takes one gradient for each variable, not {len(gradients)} for {len(variables)}")
        key = tuple(id(getattr(v, "value", v)) if isinstance(v, keras.Variable) else id(v) for v in variables)
        buffer = self._buffer(key, variables)
        ratios = (
            None
            if before is None
            else lambda: update_ratios(list(before), [tf.convert_to_tensor(v) for v in variables])
        )
        _keep(buffer, gradients, None, ratios)
        buffer.step.assign_add(1)

    @contextmanager
    def watch(self, *watched: Any) -> Iterator[GradientMonitor]:
        """Record every step of these models or optimizers inside a `with` block; afterwards they are as before.

        Raises:
            TypeError: something is neither a Keras optimizer nor a compiled model.
        """
        if not watched:
            raise TypeError("watch takes the models or optimizers to watch: with monitor.watch(model): ...")
        with ExitStack() as stack:
            for one in watched:
                stack.enter_context(self._watching(one))
            yield self

    @contextmanager
    def _watching(self, one: Any) -> Iterator[None]:
        undo = self._attach(one)
        try:
            yield
        finally:
            undo()

    def _attach(self, one: Any) -> Callable[[], None]:
        """Begin to hear an optimizer, alone or through its model; returns what ends it."""
        model = one if isinstance(one, keras.Model) else None
        optimizer = getattr(model, "optimizer", None) if model is not None else one
        if not isinstance(optimizer, keras.optimizers.Optimizer):
            what = "a model that is not compiled" if model is not None else type(one).__name__
            raise TypeError(f"the monitor watches compiled models and Keras optimizers, not {what}")
        if "apply" in vars(optimizer):
            raise RuntimeError("this optimizer is being watched already; one monitor at a time")
        original = optimizer.apply
        optimizer.apply = self._hearing(optimizer, original)
        plain = getattr(model, "train_function", None)
        if model is not None:
            self._buffer(optimizer, list(model.trainable_variables))
            before, heard = self._functions.get(id(model), (None, None))
            if heard is not None and before is plain:
                model.train_function = heard
            else:
                model.make_train_function(force=True)
                self._functions[id(model)] = (plain, model.train_function)

        def undo() -> None:
            if "apply" in vars(optimizer):
                del optimizer.apply
            if model is not None:
                model.train_function = plain

        return undo

    def _hearing(self, optimizer: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        """The optimizer's `apply`, and beside it a row of the history."""

        def apply(grads: Any, trainable_variables: Any = None) -> Any:
            grads = list(grads)
            known = trainable_variables is not None
            variables = list(trainable_variables) if known else [_Unnamed(i, g) for i, g in enumerate(grads)]
            buffer = self._buffer(optimizer, variables)
            scale = getattr(optimizer, "dynamic_scale", None)
            scale = None if scale is None else tf.identity(tf.convert_to_tensor(scale))
            self._scaled = self._scaled or scale is not None
            due = tf.equal(buffer.step % buffer.detailed, 0) if known else None
            before = _copies_if(due, variables)
            answer = original(grads, trainable_variables)
            ratios = None if before is None else lambda: update_ratios(before, _tensors(variables))
            _keep(buffer, grads, scale, ratios)
            buffer.step.assign_add(1)
            return answer

        return apply

    def _buffer(self, key: Any, variables: list[Any]) -> Buffer:
        buffer = self._buffers.get(key)
        if buffer is None:
            with tf.init_scope():
                buffer = self._buffers[key] = Buffer(variables, self.every)
        if len(buffer.names) != len(variables):
            raise ValueError(
                f"this optimizer now gets {len(variables)} gradients; the history began with {len(buffer.names)}. "
                "Use a new monitor"
            )
        return buffer

    def on_train_begin(self, logs: Any = None) -> None:
        """Keras calls this at the start of `fit`; what an interrupted run left behind is cleared first."""
        self._end()
        self._undo.append(self._attach(self.model))

    def on_train_end(self, logs: Any = None) -> None:
        """Keras calls this at the end of `fit`."""
        self._end()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Keras calls this after each epoch: write to TensorBoard what is new."""
        if self.log_dir is not None:
            self._write()

    def _end(self) -> None:
        while self._undo:
            self._undo.pop()()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _write(self) -> None:
        if self._writer is None:
            self._writer = tf.summary.create_file_writer(str(self.log_dir))
        history = self.history
        with self._writer.as_default():
            for row in np.flatnonzero(history.steps >= self._written):
                for column, name in enumerate(history.names):
                    for kind, values in (("gradient norm", history.norm), ("update ratio", history.update_ratio)):
                        if np.isfinite(values[row, column]):
                            tf.summary.scalar(f"{kind}/{name}", values[row, column], step=int(history.steps[row]))
        self._writer.flush()
        if len(history):
            self._written = int(history.steps[-1]) + 1


class _Unnamed:
    """Stands for a variable of which the optimizer was not told: only its gradient is known."""

    def __init__(self, place: int, gradient: Any) -> None:
        self.name = f"variable {place}"
        self.shape = () if gradient is None else tuple(gradient.shape)


def _tensors(variables: list[Any]) -> list[Any]:
    return [tf.convert_to_tensor(variable) for variable in variables]


def _copies_if(due: Any, variables: list[Any]) -> list[Any] | None:
    """The weights as they are now, at steps at which they are needed; else as many empty tensors."""
    if due is None:
        return None
    copies = tf.cond(
        due,
        lambda: [tf.identity(tensor) for tensor in _tensors(variables)],
        lambda: [tf.zeros([0] * len(v.shape), v.dtype) for v in variables],
    )
    return list(copies) if isinstance(copies, list | tuple) else [copies]


def _keep(buffer: Buffer, gradients: list[Any], scale: Any, ratios: Callable[[], Any] | None) -> None:
    """Add a row to a buffer, if this step is one to keep."""
    count = len(gradients)

    def detailed() -> Any:
        first = details(gradients, scale)
        last = tf.fill([count], _NAN) if ratios is None else ratios()
        return tf.concat([first, last[:, None]], 1)

    def keep() -> bool:
        norm = norms(gradients, scale)
        more = tf.cond(tf.equal(buffer.step % buffer.detailed, 0), detailed, lambda: tf.fill([count, 4], _NAN))
        buffer.add(tf.concat([norm[:, None], more], 1))
        return True

    tf.cond(tf.equal(buffer.step % buffer.stride, 0), keep, lambda: False)
