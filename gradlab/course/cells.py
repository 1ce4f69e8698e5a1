"""What stands in a notebook's cells: which names they define, check and predict."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

_DEFINITION = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_CHECK = re.compile(r"\bcheck[ \t]*\([ \t]*(\w+)[ \t]*\)")
_MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)

_SYNTAX = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def parse(source: str) -> ast.Module | None:
    """The syntax tree of a cell, its magics taken for ``pass``; None where it isn't Python."""
    try:
        return compile(_MAGIC.sub(r"\1pass", source), "<cell>", "exec", _SYNTAX)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def first_line(source: str, width: int = 40) -> str:
    """The first line of a cell that isn't empty, cut to ``width`` characters: what a reader knows the cell by."""
    line = next((line.strip() for line in source.splitlines() if line.strip()), "")
    return line if len(line) <= width else line[: width - 1] + "…"


def tags(cell: NotebookNode) -> list[str]:
    """The tags of a cell."""
    return list(cell.metadata.get("tags", []))


def exercise_cells(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """The exercise cells of one of the course's own lessons, by the exercise's name, in order."""
    return {cell.id: cell for cell in notebook.cells if cell.cell_type == "code" and "exercise" in tags(cell)}


def definitions(source: str) -> tuple[str, ...]:
    """The functions and classes that a cell defines at its outermost level, lambdas with a name among them.

    A cell that isn't Python (an answer that isn't finished) is read line by line.
    """
    tree = parse(source)
    if tree is None:
        return tuple(dict.fromkeys(_DEFINITION.findall(source)))
    return tuple(dict.fromkeys(name for statement in tree.body for name in _names(statement)))


def _names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, Definition):
        yield statement.name
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def definition(source: str, name: str) -> Definition | None:
    """The last function or class ``name`` that a cell defines at its outermost level."""
    tree = parse(source)
    found = [node for node in tree.body if isinstance(node, Definition) and node.name == name] if tree else []
    return found[-1] if found else None


def is_blank(source: str, name: str) -> bool:
    """Whether a cell leaves the exercise ``name`` open: every body in it only raises ``NotImplementedError``."""
    node = definition(source, name)
    if isinstance(node, ast.ClassDef):
        methods = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
        return bool(methods) and all(_only_raises(method) for method in methods)
    return node is not None and _only_raises(node)


def _only_raises(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = [part for part in function.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return False
    raised = body[0].exc.func if isinstance(body[0].exc, ast.Call) else body[0].exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def checks(source: str) -> tuple[str, ...]:
    """The names that a cell hands to ``check``."""
    tree = parse(source)
    if tree is None:
        return tuple(dict.fromkeys(_CHECK.findall(source)))
    names = (
        call.args[0].id
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _called(call) == "check" and call.args and isinstance(call.args[0], ast.Name)
    )
    return tuple(dict.fromkeys(names))


def _called(call: ast.Call) -> str | None:
    match call.func:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
    return None


@dataclass(frozen=True)
class Prediction:
    """A ``predict("name", value)`` in a cell; ``start`` and ``end`` are where the value stands, in bytes."""

    name: str
    value: str
    start: int
    end: int

    @property
    def blank(self) -> bool:
        """Whether the learner has not committed to a value yet."""
        return self.value in ("None", "...")


def predictions(source: str) -> tuple[Prediction, ...]:
    """The predictions that a cell makes, in the order they stand in it."""
    tree = parse(source)
    calls = (
        [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == "predict"] if tree else []
    )
    found = [_prediction(source, call) for call in calls]
    return tuple(sorted((one for one in found if one), key=lambda one: one.start))


def _prediction(source: str, call: ast.Call) -> Prediction | None:
    values = [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg == "value")]
    if not call.args or not isinstance(call.args[0], ast.Constant) or len(values) != 1:
        return None
    start, end = span(source, values[0])
    return Prediction(str(call.args[0].value), source.encode()[start:end].decode(), start, end)


def with_predictions(source: str, values: dict[str, str]) -> str:
    """The cell with other values in its predictions; a name that ``values`` lacks keeps its own."""
    data = source.encode()
    for one in reversed(predictions(source)):
        data = data[: one.start] + values.get(one.name, one.value).encode() + data[one.end :]
    return data.decode()


def span(source: str, node: ast.expr) -> tuple[int, int]:
    """Where a node stands in a cell: first byte, and the one after its last."""
    lines = source.encode().split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset


def docstring(source: str, name: str) -> tuple[int, int] | None:
    """Where the docstring of ``name`` stands in a cell, in bytes; None where it has none."""
    node = definition(source, name)
    match node.body[0] if node else None:
        case ast.Expr(value=ast.Constant(value=str()) as text):
            return span(source, text)
    return None
