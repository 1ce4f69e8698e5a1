"""Tensors that were computed before the recorded function ran, and where the user's code made them."""

import ast
import gc
import linecache
from typing import Any

from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.frames import Place, innermost
from gradlab.instruments.doctor.graph import Graph
from gradlab.instruments.doctor.lost import first_returns
from gradlab.instruments.doctor.recording import Node, Recorder

_MODULES = {"tf", "tensorflow", "np", "numpy", "keras", "math", "tfp"}


def captured(recorder: Recorder, graph: Graph, number: int) -> Cut | None:
    """A tensor of before that the target uses and that may hold the variable's old value.

    A tensor older than the variable can't depend on it; neither can one whose defining line names nothing but modules.
    """
    for name, node in first_returns(graph).items():
        if not number < name <= recorder.started_at or node.input_tensors is None or name not in node.inputs:
            continue
        tensor = node.input_tensors[node.inputs.index(name)]
        if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
            continue
        called, place = _defined(tensor, node)
        if place is not None and _names_only_modules(place):
            continue
        note = f"the target uses {called or 'a tensor'}, which was computed before the function ran"
        cut = Cut("captured-outside", "captured EagerTensor", place or innermost(node.stack), note, also=("unused-variable",))
        cut.details["captured"] = called
        return cut
    return None


def _defined(tensor: Any, node: Node) -> tuple[str, Place | None]:
    """What a tensor is called in the user's code, and the line that assigned it."""
    used = innermost(node.stack)
    if used is None:
        return "", None
    names: list[tuple[str, bool]] = []
    for holder in gc.get_referrers(tensor):
        if isinstance(holder, dict):
            names += [(key, True) for key, value in holder.items() if value is tensor and isinstance(key, str)]
        elif type(holder).__name__ == "cell":
            for function in gc.get_referrers(holder):
                if isinstance(function, tuple):
                    for owner in gc.get_referrers(function):
                        if getattr(owner, "__closure__", None) is function:
                            place = next((i for i, cell in enumerate(function) if cell is holder), None)
                            if place is not None:
                                names.append((owner.__code__.co_freevars[place], False))
    text = "".join(linecache.getlines(used.file))
    for name, attribute in names:
        place = _assignment(text, name, attribute, used)
        if place is not None:
            return (f"self.{name}" if attribute and f".{name}" in place.code else name), place
    return (names[0][0] if names else ""), None


def _assignment(text: str, name: str, attribute: bool, used: Place) -> Place | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    found = []
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in (t for given in targets for t in ast.walk(given)):
            if (isinstance(target, ast.Name) and target.id == name) or (
                attribute and isinstance(target, ast.Attribute) and target.attr == name
            ):
                found.append(node.lineno)
    before = [line for line in found if line < used.line]
    line = max(before) if before else max(found, default=None)
    return None if line is None else Place(used.file, line, used.function)


def _names_only_modules(place: Place) -> bool:
    try:
        tree = ast.parse(place.code)
    except SyntaxError:
        return False
    value = getattr(tree.body[0], "value", None) if tree.body else None
    if value is None:
        return False
    names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    return names <= _MODULES
