"""The user's line, taken apart: the statement it belongs to, and the call on it that stands for an operation."""

import ast
import linecache
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

# What operations are called in user code, where the name isn't the operation's own.
_SPELLINGS = {
    "TopKV2": ("argsort", "sort", "top_k"),
    "Cast": ("cast", "to_int32", "to_int64", "to_float"),
    "SelectV2": ("where",),
    "Select": ("where",),
    "GatherV2": ("gather",),
    "ResourceGather": ("gather", "embedding_lookup"),
    "Minimum": ("minimum", "clip_by_value"),
    "Maximum": ("maximum", "clip_by_value"),
    "Sqrt": ("sqrt", "norm", "reduce_std"),
    "StatelessMultinomial": ("stateless_categorical",),
    "Multinomial": ("categorical",),
    "CropAndResize": ("crop_and_resize",),
    "ResizeBilinearGrad": ("resize",),
    "PyFunc": ("numpy_function", "py_func"),
    "EagerPyFunc": ("py_function",),
    "AssignVariableOp": ("assign",),
    "AssignAddVariableOp": ("assign_add",),
    "AssignSubVariableOp": ("assign_sub",),
    "Bincount": ("bincount", "histogram_fixed_width"),
    "RandomStandardNormal": ("normal",),
    "MatrixInverse": ("inv",),
    "MatrixSolve": ("solve",),
    "MatrixTriangularSolve": ("triangular_solve",),
    "Sum": ("reduce_sum",),
    "Mean": ("reduce_mean",),
    "Prod": ("reduce_prod",),
    "Max": ("reduce_max",),
    "Min": ("reduce_min",),
    "Pow": ("pow", "ssim_multiscale"),
}
_OPERATORS = {
    "Greater": ast.Gt,
    "Less": ast.Lt,
    "GreaterEqual": ast.GtE,
    "LessEqual": ast.LtE,
    "Equal": ast.Eq,
    "NotEqual": ast.NotEq,
    "Pow": ast.Pow,
    "RealDiv": ast.Div,
    "FloorDiv": ast.FloorDiv,
    "FloorMod": ast.Mod,
    "MatMul": ast.MatMult,
    "BatchMatMulV2": ast.MatMult,
    "Mul": ast.Mult,
    "Sub": ast.Sub,
}
_NUMPY = {"np", "numpy"}


class Call(NamedTuple):
    """A call, or an operator between two values, in a piece of code.

    Attributes:
        start, end: where it stands in the code.
        text: the call.
        function: what is called, such as `tf.round`, or the operator's name, such as `LtE`.
        arguments: the texts of the positional arguments, or of the two sides.
    """

    start: int
    end: int
    text: str
    function: str
    arguments: tuple[str, ...]


def statement(file: str | None, line: int | None, code: str) -> str:
    """The whole statement that a line belongs to, without its indentation; for a block only its first line."""
    if file is None or line is None:
        return code
    lines = linecache.getlines(file)
    if not 0 < line <= len(lines) or lines[line - 1].strip() != code:
        return code
    return _statement("".join(lines), line) or code


@lru_cache(maxsize=256)
def _statement(text: str, line: int) -> str:
    try:
        tree = _parsed(text)
    except (SyntaxError, ValueError):
        return ""
    best = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            best = node
    if best is None or isinstance(getattr(best, "body", None), list):
        return ""
    first, *rest = "".join(ast.get_source_segment(text, best) or "").splitlines()
    margin = " " * best.col_offset
    return "\n".join([first, *(one.removeprefix(margin) for one in rest)])


@lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def tree_of(code: str) -> ast.AST | None:
    """A statement, or the first line of a block, as Python reads it; None where it is not whole."""
    for text in (code, code + " pass", re.sub(r"^el(?=if\b)", "", code) + " pass"):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):
            continue
    return None


def call_in(code: str, op: str) -> Call | None:
    """The call on a line that stands for an operation, or for a way out of TensorFlow; of several the first to run."""
    tree = tree_of(code)
    if tree is None or not op:
        return None
    names = {_plain(name) for name in (op, re.sub(r"V\d+$", "", op), *_SPELLINGS.get(op, ()))}
    outside = re.match(r"(\w+)\(\)$", op)
    operator = _OPERATORS.get(op)
    numpy = re.sub(r"^np[. ]|\(\)$", "", op) if re.match(r"np[. ]", op) else ""
    for node in _inner_first(tree):
        if isinstance(node, ast.Call):
            last = _last_name(node.func)
            if numpy and _root(node.func) in _NUMPY and (numpy == last or not numpy[0].isalpha()):
                return _of_call(code, node)
            if outside and last == outside[1]:
                return _of_call(code, node)
            if not outside and last and _plain(last) in names:
                return _of_call(code, node)
        elif operator and isinstance(node, ast.Compare) and isinstance(node.ops[0], operator):
            return _between(code, node, node.left, node.comparators[0], operator)
        elif operator and isinstance(node, ast.BinOp) and isinstance(node.op, operator) and op not in ("Mul", "Sub"):
            return _between(code, node, node.left, node.right, operator)
    return None


def calls_of(code: str, *names: str) -> list[Call]:
    """The calls in some code of functions or methods with these names, outer ones first; of all functions for ""."""
    tree = tree_of(code)
    if tree is None:
        return []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [_of_call(code, node) for node in calls if names == ("",) or _last_name(node.func) in names]


def closed(code: str) -> str:
    """The first line of a statement of several lines, with the brackets closed that it leaves open."""
    open_ones, quote = "", ""
    for letter in code:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            open_ones += ")]}"["([{".index(letter)]
        elif letter in ")]}":
            open_ones = open_ones[:-1]
    return code + open_ones[::-1]


def source_of(code: str, node: ast.expr) -> str:
    """The text of an expression, as it was written."""
    return ast.get_source_segment(code, node) or ast.unparse(node)


def place_of(code: str, node: ast.expr) -> tuple[int, int]:
    """Where an expression begins and ends in the code, in characters."""
    lines = code.splitlines(keepends=True)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines))]

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode(errors="ignore"))

    return at(node.lineno, node.col_offset), at(node.end_lineno or node.lineno, node.end_col_offset or 0)


def replaced(code: str, call: Call, new: str) -> str:
    """The code with a call replaced."""
    return code[: call.start] + new + code[call.end :]


def with_argument(call: Call, new: str) -> str | None:
    """The call with another first argument; None where it has none of its own."""
    first = call.arguments[0] if call.arguments else ""
    at = call.text.find(first, len(call.function)) if first and call.text.startswith(call.function) else -1
    return call.text[:at] + new + call.text[at + len(first) :] if at >= 0 else None


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _inner_first(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        yield from _inner_first(child)
    yield tree


def _last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _root(function: ast.expr) -> str:
    while isinstance(function, ast.Attribute):
        function = function.value
    return getattr(function, "id", "")


def _of_call(code: str, node: ast.Call) -> Call:
    arguments = tuple(source_of(code, argument) for argument in node.args)
    if not arguments and isinstance(node.func, ast.Attribute):
        arguments = (source_of(code, node.func.value),)
    return Call(*place_of(code, node), source_of(code, node), source_of(code, node.func), arguments)


def _between(code: str, node: ast.expr, left: ast.expr, right: ast.expr, operator: type) -> Call:
    sides = (source_of(code, left), source_of(code, right))
    return Call(*place_of(code, node), source_of(code, node), operator.__name__, sides)


def folded(code: str, room: int) -> str:
    """Code whose long lines are broken inside their brackets, so that it stays what it was."""
    return "\n".join(piece for line in code.splitlines() for piece in _broken(line, room))


def _broken(line: str, room: int) -> list[str]:
    pieces, margin = [], " " * (len(line) - len(line.lstrip()) + 4)
    while len(line) > room:
        place = _break(line, room)
        if place is None:
            break
        pieces.append(line[:place].rstrip())
        line = margin + line[place:].lstrip()
    return [*pieces, line]


def _break(line: str, room: int) -> int | None:
    """The last place before the margin at which a line may be broken: inside brackets, outside quotes."""
    depth, quote, best = 0, "", None
    start = len(line) - len(line.lstrip()) + 8
    for place, letter in enumerate(line[:room], 1):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#":
            break
        elif letter in "([{":
            depth += 1
            best = place if place > start else best
        elif letter in ")]}":
            depth -= 1
        elif letter == " " and depth > 0 and place > start:
            best = place
    return best
