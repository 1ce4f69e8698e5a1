"""Variables that the forward pass reads and that nobody asked a gradient for: untracked ones."""

from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.instruments.doctor.advice import advise
from gradlab.instruments.doctor.finding import Cut, Finding
from gradlab.instruments.doctor.frames import innermost
from gradlab.instruments.doctor.graph import Graph, is_write
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import GradientCall


def strays(
    recorder: Recorder, graph: Graph | None, call: GradientCall, listed: set[int | None]
) -> list[tuple[int, Finding]]:
    """Variables that could learn, take part in the target, and are in no list where they seem to belong.

    A variable counts only with evidence that it was forgotten: it was made while the program ran, or it was read inside
    a layer or module whose own variables are in the list and which doesn't know of it, or it belongs to no layer at all
    while the list holds whole layers.
    """
    found = []
    for number, variable in list(recorder.variables.items()):
        if number in listed or not variable.trainable or not variable.dtype.is_floating:
            continue
        evidence = _evidence(recorder, call, number, variable, listed)
        if not evidence:
            continue
        graph = graph or Graph(recorder.nodes, call)
        if number not in graph.leading or not _has_gradient(graph, number):
            continue
        writes = [node for node in graph.nodes if is_write(node) and number in node.handles]
        if number in recorder.creation:  # the first gives it its initial value
            del writes[:1]
        if writes and not evidence.startswith("it is made"):
            continue
        found.append((number, _finding(recorder, call, graph, number, variable, evidence)))
    return found


def _has_gradient(graph: Graph, number: int) -> bool:
    reached, _ = graph.reached(number)
    return not graph.targets.isdisjoint(reached)


def _evidence(recorder: Recorder, call: GradientCall, number: int, variable: Any, listed: set[int | None]) -> str:
    if (
        call.tape is not None
        and number in recorder.creation
        and recorder.started_at < number
        and _made_in_tape(recorder, call, number)
    ):
        return "it is made anew each time the function runs"
    owners = [owner for reference in recorder.owners.get(number, ()) if (owner := reference()) is not None]
    for owner in owners:
        known = {number_of(v) for v in owner.trainable_variables}
        if not known & listed or number in {number_of(v) for v in owner.variables}:
            continue
        if holds(owner, number):
            return f"{type(owner).__name__} reads it, but doesn't list it among its trainable variables"
    if not owners and _whole_layers(call, listed) and not _known_to_keras(variable):
        return "the loss reads it, and the list holds only the variables of layers"
    return ""


def holds(owner: Any, number: int, most: int = 3000) -> bool:
    """Whether an object has a variable somewhere in its attributes, or in what its functions close over or name.

    A variable that a layer is merely given as an input is not held by it.
    """
    seen: set[int] = set()
    queue = [*_inside(owner), *_inside(type(owner).__dict__.get("call"))]
    for thing in queue:
        if id(thing) in seen or isinstance(thing, str | bytes | int | float | np.ndarray | ModuleType):
            continue
        seen.add(id(thing))
        if number_of(thing) == number:
            return True
        if len(seen) > most:
            return False
        queue += _inside(thing)
    return False


def _inside(thing: Any) -> list[Any]:
    if isinstance(thing, dict):
        return list(thing.values())
    if isinstance(thing, list | tuple | set | frozenset):
        return list(thing)
    if isinstance(thing, MethodType):
        return [thing.__func__]
    if isinstance(thing, FunctionType):
        cells = [cell.cell_contents for cell in thing.__closure__ or () if _filled(cell)]
        return cells + [thing.__globals__[name] for name in thing.__code__.co_names if name in thing.__globals__]
    if isinstance(thing, type) or tf.is_tensor(thing):
        return []
    slots = [getattr(thing, name, None) for name in getattr(type(thing), "__slots__", ()) if isinstance(name, str)]
    return list(getattr(thing, "__dict__", {}).values()) + slots


def _filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _made_in_tape(recorder: Recorder, call: GradientCall, number: int) -> bool:
    tape = call.tape
    for node in recorder.nodes:
        if node.op == "VarHandleOp" and number in node.outputs:
            return tape is not None and node.index >= tape.opened
    return False


def _whole_layers(call: GradientCall, listed: set[int | None]) -> bool:
    return bool(call.sources) and all(isinstance(s, tf.keras.Variable) for s in call.sources)


def _known_to_keras(variable: Any) -> bool:
    return "/" in variable.name


def number_of(variable: Any) -> int | None:
    """The number by which the recording knows a variable."""
    return getattr(getattr(variable, "handle", None), "_id", None)


def _finding(
    recorder: Recorder, call: GradientCall, graph: Graph, number: int, variable: Any, evidence: str
) -> Finding:
    name = _name(recorder, number, variable)
    stack = recorder.creation.get(number, ())
    place = innermost(stack) or next((innermost(n.stack) for n, _ in graph.consumers.get(number, ())), None)
    cut = Cut("untracked-variable", "untracked tf.Variable", place, evidence)
    return Finding(
        name,
        "untracked",
        cut.cause,
        cut.op,
        place.file if place else None,
        place.line if place else None,
        place.code if place else "",
        advice=advise(cut, name),
        shape=tuple(variable.shape),
        note=evidence,
    )


def _name(recorder: Recorder, number: int, variable: Any) -> str:
    for reference in recorder.owners.get(number, ()):
        owner = reference()
        for weight in getattr(owner, "weights", ()):
            if number_of(weight) == number:
                return str(weight.path)
    return str(variable.name).removesuffix(":0")
