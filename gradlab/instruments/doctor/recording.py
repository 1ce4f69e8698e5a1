"""What a program did: every operation with the line that called it, every tape, every way out of TensorFlow.

Nothing is computed and nothing is changed here; `Recorder` only listens, to the thread that started it.
"""

import logging
import re
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from functools import partial, wraps
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.instruments.doctor import ground
from gradlab.instruments.doctor.frames import Stack, is_users, user_stack
from gradlab.instruments.doctor.records import GradientCall, Node, TapeRecord, WayOut, names_in

# Operations outside every tape are remembered without their tensors, the latest of them only.
REMEMBERED = 50_000


class Recorder:
    """Listens to TensorFlow in the thread that calls `start`, until `stop`."""

    def __init__(
        self, on_gradient: Callable[[GradientCall], None] | None = None, base: FrameType | None = None
    ) -> None:
        self.nodes: list[Node] = []
        self.ways_out: list[WayOut] = []
        self.calls: int = 0
        self.on_gradient = on_gradient
        self.base = base
        self.active: tuple[TapeRecord, ...] = ()
        self.tapes: list[TapeRecord] = []
        self.newest = 0
        self.count = 0
        self.owners: dict[int, list[Any]] = {}
        self.creation: dict[int, Stack] = {}
        self.variables: dict[int, Any] = {}
        self.handles: dict[int, tuple[Any, tf.DType]] = {}
        self.gradient_results: dict[int, GradientCall] = {}
        self.own_tape = False
        self.saw_compiled = False
        self.unrepeatable: str | None = None
        self.faults: list[str] = []
        self._heavy: list[Node] = []
        self._answers: list[GradientCall] = []
        self._records: weakref.WeakKeyDictionary[Any, TapeRecord] = weakref.WeakKeyDictionary()
        self._in_gradient = 0
        self._deaf = 0
        self._rule_of: Node | None = None
        self._last_backward: Stack = ()
        self._handles_fetched: list[Any] = []
        self._undo: list[Callable[[], None]] = []
        self._thread = 0

    def start(self) -> None:
        """Begin to listen. Every hook is undone by `stop`, also where starting fails midway."""
        ground.require()
        self._thread = threading.get_ident()
        self.newest = ground.newest_tensor()
        self.started_at = self.newest
        try:
            self._listen()
        except BaseException:
            self.stop()
            raise

    def _listen(self) -> None:
        was_eager = tf.config.functions_run_eagerly()
        tf.config.run_functions_eagerly(True)
        self._undo.append(lambda: tf.config.run_functions_eagerly(was_eager))
        self._undo.append(_quiet())
        ground.add_callback(self._operation)
        self._undo.append(lambda: ground.remove_callback(self._operation))
        self._undo.append(ground.listen_to_handles(self._fetched))
        self._replace(ground.record_module, "record_operation", self._wrap_record)
        for name in ("_push_tape", "_pop_tape", "watch"):
            self._replace(ground.GradientTape, name, getattr(self, f"_wrap{'' if name[0] == '_' else '_'}{name}"))
        for name in ("gradient", "jacobian", "batch_jacobian"):
            self._replace(ground.GradientTape, name, partial(self._wrap_gradient, kind=name))
        for name in ("numpy", "__array__", "__float__", "__int__", "__bool__", "__index__", "__complex__"):
            home = next((c for c in ground.EagerTensor.__mro__ if name in vars(c)), None)
            if home is not None:
                self._replace(home, name, partial(self._wrap_way_out, kind=name))
        for name in ("asarray", "array", "ascontiguousarray"):
            self._replace(np, name, self._wrap_to_array)
        ground.register_gradient_function(self._gradient_function)
        self._undo.append(lambda: ground.register_gradient_function(ground.gradient_function))

    def _replace(self, home: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        original = vars(home)[name]
        setattr(home, name, wrap(original))

        def put_back() -> None:
            setattr(home, name, original)

        self._undo.append(put_back)

    def stop(self) -> None:
        """Put everything back as it was."""
        while self._undo:
            self._undo.pop()()

    def _mine(self) -> bool:
        return threading.get_ident() == self._thread and not self._deaf

    def deaf(self) -> "_Deaf":
        """A context in which nothing is listened to: the doctor's own computations."""
        return _Deaf(self)

    def _operation(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        if graph is not None or self._deaf or threading.get_ident() != self._thread:
            return
        try:
            self._heard(op_type, inputs, attrs, outputs)
        except Exception as error:
            self.faults.append(f"{op_type}: {type(error).__name__}: {error}")

    def _heard(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any) -> None:
        op = op_type.decode() if isinstance(op_type, bytes) else op_type
        fetched, self._handles_fetched = self._handles_fetched, []
        taped = self.active and not ground.recording_is_stopped()
        stack = user_stack(self.base, 1)
        if self._in_gradient:
            self._last_backward = stack
            if not self.active:
                return
        if fetched:
            self._unseen_reads(fetched, inputs, stack, self.active if taped else ())
        self._note(op, attrs, inputs, outputs, stack, self.active if taped else (), None)

    def _fetched(self, variable: Any) -> None:
        if not self._deaf and threading.get_ident() == self._thread:
            self._handles_fetched.append(variable)

    def _unseen_reads(self, fetched: list[Any], inputs: Any, stack: Stack, tapes: tuple[TapeRecord, ...]) -> None:
        """Variables that were read inside TensorFlow's C code because an operation was given the variable itself."""
        for tensor in inputs:
            if tensor._id <= self.newest or tensor.dtype == tf.resource:
                continue
            variable = self._read_from(tensor, fetched, bool(tapes))
            if variable is not None:
                handle = variable.__dict__["_handle"]
                self.variables.setdefault(handle._id, variable)
                self._note("ReadVariableOp", ("dtype", variable.dtype), (handle,), (tensor,), stack, tapes, None)

    def _read_from(self, tensor: Any, fetched: list[Any], taped: bool) -> Any:
        """The variable whose value a tensor is that no operation made; None for a constant."""
        alike = {
            id(variable): variable
            for variable in fetched
            if variable.dtype == tensor.dtype and variable.shape.is_compatible_with(tensor.shape)
        }
        if not alike:
            return None
        if taped and all(variable.trainable and variable.dtype.is_floating for variable in alike.values()):
            if not ground.would_be_recorded(tensor):
                return None
            if len(alike) == 1:
                return next(iter(alike.values()))
        return next((variable for variable in reversed(alike.values()) if self._holds(variable, tensor)), None)

    def _note(
        self, op: str, attrs: Any, inputs: Any, outputs: Any, stack: Stack, tapes: tuple[TapeRecord, ...], rule: Any
    ) -> Node:
        ids_in = tuple(tensor._id for tensor in inputs)
        outputs = outputs if isinstance(outputs, list | tuple) else (outputs,)
        ids_out = tuple(tensor._id for tensor in outputs)
        handles = tuple(tensor._id for tensor in inputs if tensor.dtype is tf.resource or tensor.dtype == tf.resource)
        node = Node(
            self.count,
            "PartitionedCall" if op.startswith(_COMPILED) else op,
            attrs or (),
            ids_in,
            ids_out,
            stack,
            tapes,
            tuple(inputs) if tapes else None,
            tuple(outputs) if tapes else None,
            rule,
            self._rule_of if self._in_gradient else None,
            bool(self._in_gradient),
            handles,
            tuple(o.dtype.is_floating or o.dtype.is_complex for o in outputs),
        )
        self.count += 1
        self.saw_compiled = self.saw_compiled or "function" in stack
        self.nodes.append(node)
        if tapes:
            self._heavy.append(node)
        elif len(self.nodes) > 2 * REMEMBERED:
            self._forget()
        if ids_out and ids_out[-1] > self.newest:
            self.newest = ids_out[-1]
        if op == "VarHandleOp":
            self.creation[ids_out[0]] = stack
        elif handles and ids_out:
            self._owners_of(handles[0])
        if self.unrepeatable is None and rule is None:
            self._repeatable(op, node, inputs)
        return node

    def _repeatable(self, op: str, node: Node, inputs: Any) -> None:
        """Remember the variables, which can be put back, and the first operation whose state can't."""
        if not node.handles:
            if op != "VarHandleOp" and ground.cant_be_repeated(op):
                self.unrepeatable = op
        elif not _ON_VARIABLES.search(op):
            self.unrepeatable = op
        elif node.handles[0] not in self.handles:
            handle = next(tensor for tensor in inputs if tensor._id == node.handles[0])
            dtype = ground.variable_dtype(handle)
            if dtype is None:
                self.unrepeatable = op
            else:
                self.handles[node.handles[0]] = (handle, dtype)

    def _holds(self, variable: Any, tensor: Any) -> bool:
        """Whether a variable's value is this tensor's."""
        with self.deaf(), ground.unrecorded():
            value = tf.raw_ops.ReadVariableOp(resource=variable.__dict__["_handle"], dtype=variable.dtype)
            return bool(np.array_equal(np.asarray(value), np.asarray(tensor)))

    def _owners_of(self, handle: int) -> None:
        """Remember which layers and modules of the stack were at work when a variable was first read."""
        if handle in self.owners:
            return
        found: list[Any] = []
        frame: FrameType | None = sys._getframe(3)
        while frame is not None:
            code = frame.f_code
            if code.co_argcount and code.co_varnames[0] == "self":
                owner = frame.f_locals.get("self")
                if isinstance(owner, tf.keras.layers.Layer | tf.Module) and all(owner is not o() for o in found):
                    found.append(weakref.ref(owner))
            if frame is self.base:
                break
            frame = frame.f_back
        self.owners[handle] = found

    def _forget(self) -> None:
        kept = [node for node in self.nodes[:-REMEMBERED] if node.input_tensors is not None]
        self.nodes[:-REMEMBERED] = kept

    def release(self) -> None:
        """Let go of the tensors of finished tapes."""
        for node in self._heavy:
            node.input_tensors = node.output_tensors = None
            node.rule = None
        self._heavy = []
        for call in self._answers:
            call.let_go()
        self._answers = []
        for number in list(self.gradient_results)[:-REMEMBERED]:
            del self.gradient_results[number]

    def _wrap_record(self, original: Any) -> Any:
        def record_operation(
            op_type: Any, output_tensors: Any, input_tensors: Any, backward_function: Any, forward_function: Any = None
        ) -> Any:
            answer = original(op_type, output_tensors, input_tensors, backward_function, forward_function)
            outputs, inputs, backward = output_tensors, input_tensors, backward_function
            eager = all(ground.is_eager(tensor) for tensor in (*outputs, *inputs))
            if eager and self._mine() and self.active and not ground.recording_is_stopped():
                op = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
                node = self._note(op, (), inputs, outputs, user_stack(self.base, 1), self.active, backward)
                node.keywords = _has_tensor_keywords(sys._getframe(1))
            return answer

        return record_operation

    def _gradient_function(
        self, op: Any, attrs: Any, count: Any, inputs: Any, outputs: Any, upstream: Any, skip: Any, scope: Any
    ) -> Any:
        """TensorFlow's own, and while it runs, which operation it is for."""
        if not self.active or not self._mine():
            return ground.gradient_function(op, attrs, count, inputs, outputs, upstream, skip, scope)
        before, self._rule_of = self._rule_of, self._find(op, attrs, inputs, outputs)
        try:
            return ground.gradient_function(op, attrs, count, inputs, outputs, upstream, skip, scope)
        finally:
            self._rule_of = before

    def _find(self, op: Any, attrs: Any, inputs: Any, outputs: Any) -> Node | None:
        """The operation whose rule is asked: the latest of this type with these very tensors."""
        name = op.decode() if isinstance(op, bytes) else op
        ids_in = [ground.tensor_id(tensor) for tensor in inputs or ()]
        ids_out = [ground.tensor_id(tensor) for tensor in outputs or ()]
        fallback = None
        for node in reversed(self._heavy):
            if node.op != name or node.rule is not None:
                continue
            if any(a is not None and a != b for a, b in zip(ids_in, node.inputs, strict=False)):
                continue
            if any(a is not None and a != b for a, b in zip(ids_out, node.outputs, strict=False)):
                continue
            if node.attrs is attrs or any(a is not None for a in (*ids_in, *ids_out)):
                return node
            fallback = fallback or node
        return fallback

    def _wrap_push_tape(self, original: Any) -> Any:
        def _push_tape(tape: Any) -> Any:
            answer = original(tape)
            if self._mine():
                known = self._records.get(tape)
                if known is None:
                    known = TapeRecord(
                        len(self.tapes),
                        ground.is_persistent(tape),
                        ground.watches_variables(tape),
                        self.count,
                        user_stack(self.base, 1),
                    )
                    self._records[tape] = known
                    self.tapes.append(known)
                    if not self.active and not any(t is not tape for t in self._records):
                        self.release()
                self.active = (*self.active, known)
            return answer

        return _push_tape

    def _wrap_pop_tape(self, original: Any) -> Any:
        def _pop_tape(tape: Any) -> Any:
            answer = original(tape)
            if threading.get_ident() == self._thread:
                known = self._records.get(tape)
                if known is not None:
                    known.closed = self.count
                self.active = tuple(t for t in self.active if t is not known)
            return answer

        return _pop_tape

    def _wrap_watch(self, original: Any) -> Any:
        def watch(tape: Any, tensor: Any) -> Any:
            answer = original(tape, tensor)
            known = self._records.get(tape) if self._mine() else None
            if known is not None:
                for one in tf.nest.flatten(tensor, expand_composites=True):
                    one = getattr(one, "value", one) if isinstance(one, tf.keras.Variable) else one
                    number = ground.tensor_id(getattr(one, "handle", one))
                    if number is not None:
                        known.watched.setdefault(number, (self.count, user_stack(self.base, 1)))
            return answer

        return watch

    def _wrap_gradient(self, original: Any, kind: str) -> Any:
        def ask(tape: Any, target: Any, sources: Any, *more: Any, **named: Any) -> Any:
            known = self._records.get(tape) if self._mine() and not self._in_gradient else None
            if known is None:
                return original(tape, target, sources, *more, **named)
            call = GradientCall(
                known,
                kind,
                _flat(target),
                _flat_sources(sources),
                None,
                _flat(more[0] if more else named.get("output_gradients")) if kind == "gradient" else None,
                user_stack(self.base, 1),
                self.count,
            )
            call.target_numbers = tuple(n for n in map(ground.tensor_id, call.targets) if n is not None)
            call.frame_names = names_in(sys._getframe(1), call.sources)
            for variable in tape.watched_variables():
                self.variables[variable.handle._id] = variable
            call.repeated = known.asked > 0 and not known.persistent
            known.asked += 1
            known.first_asked = known.first_asked or call.stack
            self._in_gradient += 1
            self._last_backward = ()
            try:
                answer = original(tape, target, sources, *more, **named)
                call.results = _flat_sources(answer, keep_none=True)
                return answer
            except BaseException as error:
                call.error = error
                raise
            finally:
                self._in_gradient -= 1
                call.last_user_stack = self._last_backward
                if call.error is None or isinstance(call.error, Exception):
                    self._answered(call)

        return ask

    def _answered(self, call: GradientCall) -> None:
        self.calls += 1
        self._answers.append(call)
        for result in call.results or ():
            number = ground.tensor_id(getattr(result, "values", result))
            if number is not None:
                self.gradient_results[number] = call
        if self.on_gradient is not None:
            with self.deaf():
                self.on_gradient(call)
        if call.tape is not None and not call.tape.persistent and not self.active:
            self.release()

    def _wrap_to_array(self, original: Any) -> Any:
        """NumPy's makers of arrays: they take a tensor's values through the buffer protocol, past every method."""

        @wraps(original)
        def to_array(*given: Any, **named: Any) -> Any:
            if given and ground.is_eager(given[0]) and self._mine() and not self._in_gradient:
                self._left(given[0], f"np.{original.__name__}")
            return original(*given, **named)

        return to_array

    def _left(self, tensor: Any, kind: str) -> None:
        number = ground.tensor_id(tensor)
        if number is not None:
            self.ways_out.append(WayOut(self.count, number, self.newest, kind, user_stack(self.base, 2)))
            if len(self.ways_out) > REMEMBERED:
                del self.ways_out[: REMEMBERED // 2]

    def _wrap_way_out(self, original: Any, kind: str) -> Any:
        def leave(tensor: Any, *more: Any, **named: Any) -> Any:
            if self._mine() and not self._in_gradient and (kind not in _ASIDE or is_users(sys._getframe(1))):
                self._left(tensor, _KINDS.get(kind, kind))
            self._deaf += 1
            try:
                return original(tensor, *more, **named)
            finally:
                self._deaf -= 1

        leave.__name__ = kind
        leave.__doc__ = getattr(original, "__doc__", None)
        return leave


def _quiet() -> Callable[[], None]:
    """Silence what TensorFlow says of eager running in tf.data and jacobians; nothing else. Returns what undoes it."""
    warnings.filterwarnings("ignore", message="Even though the `tf.config.experimental_run_functions_eagerly`")
    entry = warnings.filters[0]
    logger, heard = tf.get_logger(), _EagerJacobian()
    logger.addFilter(heard)

    def undo() -> None:
        logger.removeFilter(heard)
        if isinstance(warnings.filters, list) and entry in warnings.filters:
            warnings.filters.remove(entry)

    return undo


class _EagerJacobian(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return "Vectorized primitives" not in str(record.msg)


class _Deaf:
    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def __enter__(self) -> None:
        self.recorder._deaf += 1

    def __exit__(self, *_: object) -> None:
        self.recorder._deaf -= 1


# Compiled functions run as one operation, under a name with a number that differs from run to run.
_COMPILED = ("__forward_", "__inference_", "__backward_")
_ON_VARIABLES = re.compile(r"Variable|^Resource(Gather|Scatter|Apply|SparseApply|StridedSlice)|DisableCopyOnRead")
# Libraries ask these of tensors for their own ends.
_ASIDE = {"__bool__", "__index__"}
_KINDS = {
    "numpy": "numpy()",
    "__array__": "np.asarray",
    "__float__": "float()",
    "__int__": "int()",
    "__bool__": "bool()",
}


def _has_tensor_keywords(frame: FrameType) -> bool:
    """Whether a function with a hand-written rule was called with tensors as keywords."""
    if not frame.f_code.co_filename.replace("\\", "/").endswith("tensorflow/python/ops/custom_gradient.py"):
        return False
    named = frame.f_locals.get("kwargs")
    if not isinstance(named, dict):
        return False
    return any(tf.is_tensor(v) or isinstance(v, tf.Variable) for v in tf.nest.flatten(list(named.values())))


def _flat(structure: Any) -> list[Any]:
    if structure is None:
        return []
    return list(tf.nest.flatten(structure, expand_composites=True))


def _flat_sources(structure: Any, keep_none: bool = False) -> list[Any]:
    """The sources one by one; a sparse gradient (IndexedSlices) stays one."""
    return list(tf.nest.flatten(structure))
