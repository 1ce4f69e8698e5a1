"""Tensors that were computed before the recorded function ran, and where the user's code made them."""

import ast
import gc
import linecache
from types import CodeType, FunctionType
from typing import Any

from gradlab.instruments.doctor.exits import first_returns
from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.frames import Place, innermost
from gradlab.instruments.doctor.graph import Graph
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import Node

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
        cut = Cut(
            "captured-outside", "captured EagerTensor", place or innermost(node.stack), note, also=("unused-variable",)
        )
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
        elif isinstance(holder, tuple):
            for function in gc.get_referrers(holder):
                if isinstance(function, FunctionType) and function.__defaults__ is holder:
                    code = function.__code__
                    return _parameter(function), Place(code.co_filename, _def_line(code), code.co_name)
        elif type(holder).__name__ == "cell":
            for function in gc.get_referrers(holder):
                if isinstance(function, tuple):
                    for owner in gc.get_referrers(function):
                        if isinstance(owner, FunctionType) and owner.__closure__ is function:
                            cells = [id(cell) for cell in function]
                            names.append((owner.__code__.co_freevars[cells.index(id(holder))], False))
        elif isinstance(own := getattr(holder, "__dict__", None), dict):
            names += [(key, True) for key, value in own.items() if value is tensor]
    text = "".join(linecache.getlines(used.file))
    for name, attribute in names:
        place = _assignment(text, name, attribute, used)
        if place is not None:
            return (f"self.{name}" if attribute and f".{name}" in place.code else name), place
    return "", None


def _parameter(function: FunctionType) -> str:
    """The first parameter that has a default value."""
    code, defaults = function.__code__, function.__defaults__ or ()
    return code.co_varnames[code.co_argcount - len(defaults)]


def _def_line(code: CodeType) -> int:
    """The line of `def`, below any decorators."""
    line = code.co_firstlineno
    while linecache.getline(code.co_filename, line).lstrip().startswith("@"):
        line += 1
    return line


def _assignment(text: str, name: str, attribute: bool, used: Place) -> Place | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    found = [
        target.lineno
        for target in ast.walk(tree)
        if (isinstance(target, ast.Name) and target.id == name and isinstance(target.ctx, ast.Store))
        or (
            attribute
            and isinstance(target, ast.Attribute)
            and target.attr == name
            and isinstance(target.ctx, ast.Store)
        )
    ]
    before = [line for line in found if line < used.line]
    if not found:
        return None
    return Place(used.file, max(before or found), used.function)


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
