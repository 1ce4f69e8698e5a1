"""The one place that touches private parts of TensorFlow: what the doctor stands on.

Everything here was found in TensorFlow 2.21. `missing()` names what a release has moved; the doctor
then says that it can't work on that version instead of working wrongly.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

import tensorflow as tf

TRIED = "2.21"


def _private(name: str) -> ModuleType:
    """A private module of TensorFlow; an empty one where this release has none of that name."""
    try:
        return import_module(name)
    except ImportError:
        return ModuleType(name)


backprop = _private("tensorflow.python.eager.backprop")
context = _private("tensorflow.python.eager.context")
record = _private("tensorflow.python.eager.record")
op_callbacks = _private("tensorflow.python.framework.op_callbacks")
op_def_registry = _private("tensorflow.python.framework.op_def_registry")
ops = _private("tensorflow.python.framework.ops")
resource_variable_ops = _private("tensorflow.python.ops.resource_variable_ops")

_NEEDED = (
    (op_callbacks, "add_op_callback"),
    (op_callbacks, "remove_op_callback"),
    (record, "record_operation"),
    (record, "stop_recording"),
    (record, "should_record_backprop"),
    (context, "context"),
    (backprop, "_gradient_function"),
    (backprop, "GradientTape._push_tape"),
    (backprop, "GradientTape._pop_tape"),
    (backprop, "GradientTape.watch"),
    (backprop, "GradientTape.gradient"),
    (backprop, "GradientTape.jacobian"),
    (backprop, "GradientTape.batch_jacobian"),
    (backprop, "pywrap_tfe.TFE_Py_TapeSetIsStopped"),
    (backprop, "pywrap_tfe.TFE_Py_RegisterGradientFunction"),
    (ops, "gradient_registry.lookup"),
    (ops, "uid"),
    (ops, "EagerTensor._id"),
    (ops, "EagerTensor.numpy"),
    (op_def_registry, "get"),
    (resource_variable_ops, "BaseResourceVariable"),
)

GradientTape = tf.GradientTape
EagerTensor = getattr(ops, "EagerTensor", tf.Tensor)
record_module = record
gradient_function: Any = getattr(backprop, "_gradient_function", None)


class UnsupportedTensorFlow(RuntimeError):
    """This release of TensorFlow has moved what the doctor stands on."""


def missing() -> list[str]:
    """The private names that this TensorFlow lacks; empty where the doctor can work."""
    return [f"{home.__name__}.{name}" for home, name in _NEEDED if not _has(home, name)]


def _has(home: Any, dotted: str) -> bool:
    for name in dotted.split("."):
        if not hasattr(home, name):
            return False
        home = getattr(home, name)
    return True


def require() -> None:
    """Refuse to work on a TensorFlow that lacks what is needed.

    Raises:
        UnsupportedTensorFlow: naming what is missing, and the versions that are known to work.
    """
    lacking = missing()
    if lacking:
        raise UnsupportedTensorFlow(
            f"the gradient doctor can't work with TensorFlow {tf.__version__}: it lacks {', '.join(lacking)}. "
            f"It works with TensorFlow {TRIED}: pip install 'tensorflow=={TRIED}.*'"
        )


def add_callback(callback: Callable[..., None]) -> None:
    """Have `callback(op_type, inputs, attrs, outputs, op_name, graph)` called for this thread's operations."""
    op_callbacks.add_op_callback(callback)


def remove_callback(callback: Callable[..., None]) -> None:
    """Undo `add_callback`."""
    op_callbacks.remove_op_callback(callback)


def tensor_id(tensor: Any) -> int | None:
    """The number that TensorFlow gives an eager tensor when it is made; later tensors have larger ones."""
    return getattr(tensor, "_id", None)


def newest_tensor() -> int:
    """A number between those of the tensors that there are and those to come.

    No operation runs for it: devices and threads can still be configured afterwards, and the process be forked.
    """
    return int(ops.uid())


def is_eager(tensor: Any) -> bool:
    """Whether this is a tensor with a value (not a symbol of a graph)."""
    return isinstance(tensor, EagerTensor)


def recording_is_stopped() -> bool:
    """Whether tapes are told not to record at this moment (`stop_recording`)."""
    return bool(backprop.pywrap_tfe.TFE_Py_TapeSetIsStopped())


def would_be_recorded(tensor: Any) -> bool:
    """Whether some tape follows this tensor at this moment."""
    return bool(record.should_record_backprop([tensor]))


@contextmanager
def unrecorded() -> Iterator[None]:
    """No tape of anybody's sees what happens inside."""
    with record.stop_recording():
        yield


class _Handle:
    """Stands in for the attribute `_handle` of variables while a recorder listens."""

    def __init__(self, listener: Callable[[Any], None]) -> None:
        self.listener = listener

    def __get__(self, variable: Any, kind: Any = None) -> Any:
        if variable is None:
            return self
        try:
            handle = variable.__dict__["_handle"]
        except KeyError:
            raise AttributeError("_handle") from None
        self.listener(variable)
        return handle

    def __set__(self, variable: Any, handle: Any) -> None:
        variable.__dict__["_handle"] = handle

    def __delete__(self, variable: Any) -> None:
        del variable.__dict__["_handle"]


def listen_to_handles(listener: Callable[[Any], None]) -> Callable[[], None]:
    """Have `listener(variable)` called when a variable's handle is fetched; returns what undoes it.

    An operation that is given a variable reads it inside TensorFlow's C code, which no callback reports; but the
    handle has to be fetched for it.
    """
    home = resource_variable_ops.BaseResourceVariable
    had = vars(home).get("_handle")
    home._handle = _Handle(listener)

    def undo() -> None:
        if had is None:
            del home._handle
        else:
            home._handle = had

    return undo


def is_persistent(tape: Any) -> bool:
    """Whether this tape may be asked more than once."""
    return bool(getattr(tape, "_persistent", False))


def variable_dtype(handle: Any) -> tf.DType | None:
    """The dtype of the variable behind a handle; None where TensorFlow doesn't say."""
    data = getattr(handle, "_handle_data", None)
    if data is None or not data.is_set or not data.shape_and_type:
        return None
    return tf.as_dtype(data.shape_and_type[0].dtype)


def watches_variables(tape: Any) -> bool:
    """Whether this tape watches every trainable variable that is read."""
    return bool(getattr(tape, "_watch_accessed_variables", True))


def has_rule(op: str) -> bool | None:
    """Whether an operation has a backward rule: None if TensorFlow knows nothing of it and would raise."""
    try:
        return ops.gradient_registry.lookup(op) is not None
    except LookupError:
        return None


def is_stateful(op: str) -> bool:
    """Whether TensorFlow says that an operation keeps or reads state."""
    definition = op_def_registry.get(op)
    return bool(definition is not None and definition.is_stateful)


def cant_be_repeated(op: str) -> bool:
    """Whether an operation may give something else when it runs again: a draw, a compiled function."""
    definition = op_def_registry.get(op)
    return bool(definition is None or definition.is_stateful)


def backward_of(
    op: str, attrs: tuple[Any, ...], inputs: Sequence[Any], outputs: Sequence[Any], upstream: Sequence[Any]
) -> list[Any]:
    """An operation's own backward rule: one gradient (or None) for each input.

    Raises:
        LookupError: the operation has no rule at all.
    """
    with unrecorded():
        answer = backprop._gradient_function(
            op, attrs, len(inputs), list(inputs), list(outputs), list(upstream), (), ""
        )
    return list(answer) if isinstance(answer, list | tuple) else [answer]


def register_gradient_function(function: Callable[..., Any]) -> None:
    """Have TensorFlow ask `function` for every backward rule (the original is `gradient_function`)."""
    backprop.pywrap_tfe.TFE_Py_RegisterGradientFunction(function)


def eager_generator_state() -> Any:
    """The state of TensorFlow's own draw of operation seeds, or None."""
    generator = getattr(context.context(), "_rng", None)
    return None if generator is None else generator.getstate()


def restore_eager_generator(state: Any) -> None:
    """Put back what `eager_generator_state` gave."""
    generator = getattr(context.context(), "_rng", None)
    if generator is not None and state is not None:
        generator.setstate(state)
