"""`doctor()` and `diagnose()`: watching a program's gradients, and saying what is wrong with them."""

import sys
from collections.abc import Callable, Iterable
from types import FrameType, TracebackType
from typing import Any

import tensorflow as tf

from gradlab.instruments.doctor import ground
from gradlab.instruments.doctor.examine import Diagnosis, Examiner, Visit, status_of
from gradlab.instruments.doctor.frames import user_stack
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import GradientCall, names_in
from gradlab.instruments.doctor.rerun import compiled_results, moves
from gradlab.instruments.doctor.sources import sources_of

at_work: list[Any] = []


class doctor:
    """Examine every `tf.GradientTape` inside a `with` block, a training loop or `model.fit` included.

    The program runs as it would run eagerly (compiled functions are run operation by operation), with the
    same losses, gradients and random draws; afterwards everything is as before. Only the thread that entered
    the block is watched. Exceptions are noted and passed on.

    Example:
        with doctor() as visit:
            train_step(x, y)
        print(visit)

    Raises:
        RuntimeError: a doctor is already at work.
        UnsupportedTensorFlow: this TensorFlow lacks what the doctor stands on.
    """

    def __init__(self) -> None:
        self.visit = Visit()
        self._base: FrameType | None = None
        self._recorder: Recorder | None = None

    def __enter__(self) -> Visit:
        if at_work:
            raise RuntimeError(
                "a doctor is already at work here: take the inner doctor() or diagnose() away; "
                "the outer one sees all tapes inside"
            )
        recorder = Recorder(base=self._base or sys._getframe(1))
        self._examiner = Examiner(self.visit, recorder)
        recorder.on_gradient = self._examiner.gradient
        recorder.start()
        at_work.append(recorder)
        self._recorder = recorder
        return self.visit

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        recorder = self._recorder
        if recorder is None:
            return
        recorder.stop()
        at_work.remove(recorder)
        if error is not None:
            self._examiner.raised(error)
        self.visit.faults += recorder.faults
        recorder.release()
        recorder.base = None


def diagnose(
    fn: Callable[[], Any] | tf.keras.Model,
    variables: Iterable[Any] | Any | None = None,
    *,
    x: Any = None,
    y: Any = None,
    sample_weight: Any = None,
) -> Diagnosis:
    """Say for each variable whether its gradient is there, and if not, why, and which line to change.

    Args:
        fn: a function without arguments that computes the loss (a tensor, or several), or a compiled Keras model.
        variables: the variables, or plain tensors, whose gradients are in question; for a model, all its trainable
            variables by default.
        x, y, sample_weight: for a model: one batch.

    Returns:
        A `Diagnosis`; print it, or look at its `findings` and `ok`.

    The function runs once, eagerly and under a tape. Where the target turns out not to depend on a variable at
    all, it runs up to three times more with the variable moved, to tell a value that left TensorFlow from one
    that was never used; variables and the generators of Python, NumPy and TensorFlow are put back afterwards. A
    function that draws from stateful random operations, iterators or compiled functions isn't run again.

    Raises:
        RuntimeError: a doctor is already at work.
        TypeError, ValueError: `fn` is not a function, there are no variables, or a model is not compiled.
    """
    if at_work:
        raise RuntimeError("a doctor is already at work here: call diagnose outside of `with doctor()`")
    ground.require()
    base = sys._getframe(1)
    restore = None
    if isinstance(fn, tf.keras.Model):
        fn, variables, restore = _of_model(fn, variables, x, y, sample_weight)
    if not callable(fn):
        raise TypeError(
            "diagnose needs a function without arguments that computes the loss, or a Keras model; "
            f"it got {type(fn).__name__}"
        )
    sources = sources_of(variables, "diagnose")
    plain = [s for s in sources if not hasattr(s, "handle") and (s.dtype.is_floating or s.dtype.is_complex)]
    diagnosis = Diagnosis()
    recorder = Recorder(base=base)
    recorder.own_tape = True

    def again(source: Any, number: int) -> Any:
        if recorder.unrepeatable is not None or number not in recorder.handles:
            return None
        recorder.stop()
        return moves(fn, base, source, number, recorder.handles)

    def compiled() -> list[str] | None:
        if recorder.unrepeatable is not None:
            return None
        recorder.stop()
        results = compiled_results(fn, sources, recorder.handles)
        return None if results is None else [status_of(result) for result in results]

    examiner = Examiner(diagnosis, recorder, again, compiled)

    def ours(call: GradientCall) -> None:
        if len(call.sources) == len(sources) and all(a is b for a, b in zip(call.sources, sources, strict=True)):
            call.frame_names = _names(base, sources)
            examiner.gradient(call)

    recorder.on_gradient = ours
    at_work.append(recorder)
    try:
        recorder.start()
        _once(fn, sources, plain, examiner, recorder)
    finally:
        recorder.stop()
        at_work.remove(recorder)
        recorder.on_gradient = None
        diagnosis.faults += recorder.faults
        recorder.release()
        recorder.base = None
        if restore is not None:
            restore()
    return diagnosis


def _once(fn: Callable[[], Any], sources: list[Any], plain: list[Any], examiner: Examiner, recorder: Recorder) -> None:
    """Run the function under a tape and ask for the gradients."""
    try:
        with tf.GradientTape() as tape:
            tape.watch(plain)
            target = fn()
    except Exception as error:
        examiner.raised(error)
        return
    tensors = [t for t in tf.nest.flatten(target, expand_composites=True) if tf.is_tensor(t)]
    if not tensors:
        call = GradientCall(
            recorder.tapes[0],
            "gradient",
            [],
            sources,
            [None] * len(sources),
            None,
            user_stack(recorder.base),
            recorder.count,
        )
        call.frame_names = _names(recorder.base, sources)
        with recorder.deaf():
            examiner.gradient(call)
        return
    try:
        tape.gradient(tensors if len(tensors) > 1 else tensors[0], sources)
    except Exception as error:
        examiner.raised(error)


def _names(base: FrameType | None, sources: list[Any]) -> dict[int, str]:
    return names_in(base, sources) if base is not None else {}


def _of_model(
    model: tf.keras.Model, variables: Any, x: Any, y: Any, weight: Any
) -> tuple[Callable[[], Any], Any, Callable[[], None]]:
    """A training step of a compiled model, up to the loss, and what puts its state back."""
    if x is None:
        raise ValueError("diagnose(model) needs a batch: diagnose(model, x=..., y=...)")
    if not getattr(model, "compiled", False):
        raise ValueError(
            "the model is not compiled, so it has no loss: call model.compile(loss=...) first, "
            "or diagnose(fn, variables)"
        )
    x, y, weight = (
        tf.nest.map_structure(tf.convert_to_tensor, part) if part is not None else None for part in (x, y, weight)
    )
    if not model.built:
        model(x)
    kept = [(variable, tf.identity(variable.value)) for variable in model.non_trainable_variables]

    def loss() -> Any:
        prediction = model(x, training=True)
        value = model.compute_loss(x=x, y=y, y_pred=prediction, sample_weight=weight, training=True)
        optimizer = getattr(model, "optimizer", None)
        return optimizer.scale_loss(value) if optimizer is not None else value

    def put_back() -> None:
        for variable, value in kept:
            variable.assign(value)

    return loss, variables if variables is not None else model.trainable_variables, put_back
