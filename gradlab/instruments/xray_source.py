"""What the lines of somebody's source are: which belong together, what they bind, and which block they stand in."""

import ast
import linecache
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType


@dataclass(frozen=True)
class Statement:
    """Lines that are one thing to do: a simple statement, or the head of a compound one.

    Attributes:
        first, last: its lines; statements that share a line count as one.
        names: what it binds.
        returns: whether it returns a value.
        loops: whether a loop's body stands on the loop's own line.
    """

    first: int
    last: int
    names: tuple[str, ...] = ()
    returns: bool = False
    loops: bool = False


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file: a function, or the statement in which a lambda stands."""

    file: str
    first: int
    last: int
    title: str

    def holds(self, other: "Block") -> bool:
        """Whether the other block lies within this one."""
        return self.file == other.file and self.first <= other.first and other.last <= self.last


def statement_at(file: str, line: int) -> Statement:
    """The statement that a line belongs to; the line by itself where the source can't be read."""
    return _statements(file, _size(file)).get(line) or Statement(line, line)


def block_of(code: CodeType) -> Block:
    """The lines to show for a function: all of it, decorators included; for a lambda its statement."""
    file, line = code.co_filename, code.co_firstlineno
    lines = [found for _, _, found in code.co_lines() if found]
    first, last = min(lines, default=line), max(lines, default=line)
    title = code.co_qualname.rpartition("<locals>.")[2]
    tree = _tree(file, _size(file))
    if tree is None:
        return Block(file, min(first, line), last, title)
    holder = _innermost(tree, line, code.co_name)
    if holder is None:
        return Block(file, min(first, line), last, title)
    title = holder.name if title.startswith("<") and isinstance(holder, _DEFS) else title
    return Block(file, _first(holder), max(_last(holder), last), title)


def name_of_file(file: str) -> str:
    """`cell` for a notebook cell, whose temporary name tells nothing; else the file's own name."""
    name = Path(file).name
    return "cell" if "ipykernel_" in file or name.startswith(("<ipython", "<stdin", "<string")) else name


_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _size(file: str) -> int:
    """Tells a cell or file that has changed from what was read before."""
    return hash(tuple(linecache.getlines(file)))


@lru_cache(maxsize=64)
def _tree(file: str, _: int) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


def _first(node: ast.stmt) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _innermost(tree: ast.Module, line: int, name: str) -> ast.stmt | None:
    """The smallest function around a line; for a lambda the smallest statement, if no function named so is there."""
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and _first(n) <= line <= _last(n)]
    wanted = [n for n in around if isinstance(n, _DEFS) and n.name == name] if not name.startswith("<") else []
    choice = wanted or ([n for n in around if isinstance(n, _DEFS)] if name != "<lambda>" else []) or around
    return min(choice, key=lambda n: _last(n) - _first(n), default=None)


@lru_cache(maxsize=64)
def _statements(file: str, size: int) -> dict[int, Statement]:
    found: dict[int, Statement] = {}
    tree = _tree(file, size)
    if tree is None:
        return found
    statements = sorted((n for n in ast.walk(tree) if isinstance(n, ast.stmt)), key=lambda n: (n.lineno, -_last(n)))
    for node in statements:
        body = list(getattr(node, "body", []))
        last = max(node.lineno, min(body[0].lineno - 1, _last(node))) if body else _last(node)
        names, returns = tuple(_bound(node)), isinstance(node, ast.Return)
        loops = isinstance(node, ast.For | ast.While) and body[0].lineno == node.lineno
        before = found.get(node.lineno)
        if before is not None and before.first == node.lineno:
            last, names = max(last, before.last), before.names + names
            returns, loops = returns or before.returns, loops or before.loops
        one = Statement(node.lineno, last, names, returns, loops)
        for line in range(one.first, one.last + 1):
            found[line] = one
    return found


def _bound(node: ast.stmt) -> list[str]:
    """The names that a statement binds to values of its own."""
    if isinstance(node, ast.Assign):
        targets: list[ast.expr] = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    else:
        targets = []
    inner = [part for target in targets for part in ast.walk(target)]
    return [part.id for part in inner if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
