"""Running the user's function again, with one variable moved: does the target move, and where does it come back?

Only `diagnose` does this, and only where everything that the function touched can be put back.
"""

import ast
import contextlib
import linecache
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.instruments.doctor import ground
from gradlab.instruments.doctor.exits import first_returns, name_of_exit
from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.frames import Place, innermost
from gradlab.instruments.doctor.graph import Graph
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import GradientCall, Node
from gradlab.instruments.doctor.way import steps


@contextlib.contextmanager
def kept(handles: dict[int, tuple[Any, tf.DType]]) -> Iterator[Callable[[], None]]:
    """Variables and the generators of Python, NumPy and TensorFlow are afterwards as they were before.

    Yields:
        A function that puts them back at once.
    """
    values = [
        (handle, tf.constant(tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype).numpy()))
        for handle, dtype in handles.values()
    ]
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    tensorflow = ground.eager_generator_state()

    def put_back() -> None:
        for handle, value in values:
            tf.raw_ops.AssignVariableOp(resource=handle, value=value)
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        ground.restore_eager_generator(tensorflow)

    try:
        yield put_back
    finally:
        put_back()


@dataclass
class Run:
    """One repetition: the target's value, and every tensor that came into it from outside TensorFlow."""

    value: Any
    graph: Graph
    recorder: Recorder
    returns: list[tuple[int, Any, Node]]


def _run(fn: Callable[[], Any], base: Any, number: int) -> Run:
    recorder = Recorder(base=base)
    recorder.start()
    try:
        with tf.GradientTape():
            target = fn()
    finally:
        recorder.stop()
    flat = [t for t in tf.nest.flatten(target) if t is not None]
    call = GradientCall(
        recorder.tapes[0] if recorder.tapes else None, "gradient", flat, [], None, None, (), recorder.count
    )
    graph = Graph(recorder.nodes, call)
    returns = []
    for name, node in first_returns(graph).items():
        if name > recorder.started_at and node.input_tensors is not None and name in node.inputs:
            returns.append((name, node.input_tensors[node.inputs.index(name)], node))
    return Run([np.asarray(t) for t in flat], graph, recorder, returns)


def compiled_results(
    fn: Callable[[], Any], sources: list[Any], handles: dict[int, tuple[Any, tf.DType]]
) -> list[Any] | None:
    """The gradients of the program as it is, with its compiled functions compiled; None where that raises."""
    with kept(handles):
        try:
            with tf.GradientTape() as tape:
                for source in sources:
                    if not hasattr(source, "handle") and source.dtype.is_floating:
                        tape.watch(source)
                target = fn()
            return list(tape.gradient(target, sources))
        except Exception:
            return None


def _differ(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return True
    if a.dtype.kind in "fc":
        return not bool(np.array_equal(a, b, equal_nan=True))
    return not bool(np.array_equal(a, b))


def moves(
    fn: Callable[[], Any], base: Any, source: Any, number: int, handles: dict[int, tuple[Any, tf.DType]]
) -> Cut | bool | None:
    """Whether the target's value depends on a variable although no recorded way leads there.

    Args:
        number: the number of the variable's handle.
        handles: every variable that the function touches.

    Returns:
        The cut, where the value leaves TensorFlow and comes back; False where the target stays as it is; None where
        the function doesn't even repeat itself.
    """
    with kept(handles) as put_back:
        try:
            plain = _run(fn, base, number)
            put_back()
            again = _run(fn, base, number)
            put_back()
            if any(_differ(a, b) for a, b in zip(plain.value, again.value, strict=False)):
                return None
            handle, dtype = handles[number]
            value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)
            nudge = np.random.default_rng(5).uniform(0.3, 0.9, value.shape)
            moved = value * tf.cast(1.0 + nudge, dtype) + tf.cast(nudge, dtype)
            tf.raw_ops.AssignVariableOp(resource=handle, value=moved)
            nudged = _run(fn, base, number)
        except Exception:
            return None
    if len(plain.value) == len(nudged.value) and not any(
        _differ(a, b) for a, b in zip(plain.value, nudged.value, strict=True)
    ):
        return False
    return _where(plain, nudged, number)


def _where(plain: Run, nudged: Run, number: int) -> Cut:
    back: Node | None = None
    newest = None
    for (name, a, node), (_, b, _) in zip(plain.returns, nudged.returns, strict=False):
        if _differ(a, b):
            back, newest = node, name
            break
    depending = plain.graph.depending([number])
    limit = back.index if back is not None else len(plain.recorder.nodes)
    left = [
        w for w in plain.recorder.ways_out
        if w.tensor in depending and w.index <= limit and (newest is None or w.newest < newest)
    ]  # fmt: skip
    details = {"proved": "yes"}
    if back is not None and (place := innermost(back.stack)) is not None:
        details["back"] = place.code
    if left:
        way_out = left[-1]
        producer = plain.graph.producers.get(way_out.tensor)
        path = steps(plain.graph.way(number, producer)) if producer is not None else ()
        return Cut(
            "left-tensorflow",
            name_of_exit(way_out),
            innermost(way_out.stack),
            "here the value leaves TensorFlow",
            path=path,
            details=details,
        )
    end = None
    for node in plain.graph.nodes:
        mine = [n for n in node.outputs if n in depending]
        used = any(n in plain.graph.consumers for n in mine)
        if mine and not used and node.index < limit and any(node.floating) and (newest is None or mine[-1] < newest):
            end = node
    if end is not None:
        path = steps(plain.graph.way(number, end))
        place = exit_line(innermost(end.stack), innermost(back.stack) if back is not None else None)
        called = re.search(r"\b(?:np|numpy)\.[\w.]+", place.code) if place is not None else None
        return Cut(
            "left-tensorflow",
            called[0] if called else "outside TensorFlow",
            place,
            "here the value leaves TensorFlow",
            path=path,
            details=details,
        )
    return Cut(
        "left-tensorflow",
        "outside TensorFlow",
        innermost(back.stack) if back else None,
        "the value comes back here as a constant",
        details=details,
    )


_ELSEWHERE = re.compile(
    r"\b(np|numpy|scipy|math|cv2|Image|pd|torch|jax|skimage)\.|\.(numpy|item|tolist)\(|\b(float|int|list)\("
)


def exit_line(last: Place | None, back: Place | None) -> Place | None:
    """Where a value left TensorFlow unseen: the line itself if it names NumPy, else the next that uses its result.

    `np.asarray(tensor)` takes the values through Python's buffer protocol, which can't be observed.
    """
    if last is None or _ELSEWHERE.search(last.code):
        return last
    try:
        statement = ast.parse(last.code).body[0]
    except (SyntaxError, IndexError):
        return last
    if not isinstance(statement, ast.Assign):
        return last
    names = {n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    end = back.line if back is not None and back.file == last.file and back.line > last.line else last.line + 30
    for number in range(last.line + 1, end + 1):
        text = linecache.getline(last.file, number)
        if any(re.search(rf"\b{re.escape(name)}\b", text) for name in names):
            return Place(last.file, number, last.function)
    return last
