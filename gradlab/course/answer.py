"""An exercise's answer as text: cut whole for the solution, emptied to a stub for the lesson."""

import ast
import io
import re
import tokenize
from dataclasses import dataclass, replace
from pathlib import Path

from gradlab.course.errors import CourseError
from gradlab.course.names import Binding, Home, bindings, free_names, is_builtin

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef
_KEPT_DECORATORS = {"staticmethod", "classmethod", "property"}
_STUB_NEEDS = ("NotImplementedError",)
_INDENT = "    "


@dataclass(frozen=True)
class Answer:
    """The answer of one exercise.

    ``source`` is its text with decorators and comments; ``stub`` what the learner starts from. ``needs`` gives for each
    global name that it uses the way its file binds it (None where the file doesn't), ``builtins`` which of them are
    Python's own, ``lines`` a line of the file that uses the name.
    """

    name: str
    path: Path
    source: str
    stub: str
    needs: dict[str, Binding | None]
    builtins: frozenset[str]
    lines: dict[str, int]


def read_answer(path: Path, home: Home, *, stub_comment: str) -> Answer:
    """Cut the answer out of an exercise's file; file and answer have the same name.

    Raises `CourseError` when the file can't be parsed, doesn't hold exactly one such definition, or its docstring is
    missing.
    """
    name = path.stem
    text = path.read_text(encoding="utf-8")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise CourseError(f"{path}, line {error.lineno}: {error.msg}", f"repair the syntax of {path.name}") from None
    node = _definition(tree, name, path)
    first, source = _cut(text, node)
    if len(ast.parse(source).body) != 1:
        raise CourseError(
            f"{path}, line {node.lineno}: {name} shares a line with other code", f"give {name} lines of its own"
        )
    if not ast.get_docstring(node):
        raise CourseError(
            f"{path}, line {node.lineno}: {name} has no docstring, and a learner sees nothing else of it",
            f"write the task as the docstring of {name}",
        )
    known = _module_bindings(tree, text, home)
    used = free_names(source)
    return Answer(
        name=name,
        path=path,
        source=source,
        stub=make_stub(text, node, stub_comment),
        needs={name: known.get(name) for name in [*used, *_STUB_NEEDS]},
        builtins=frozenset(name for name in [*used, *_STUB_NEEDS] if is_builtin(name) and name not in known),
        lines={name: line + first - 1 for name, line in used.items()},
    )


def _module_bindings(tree: ast.Module, text: str, home: Home) -> dict[str, Binding]:
    """What the names of an exercise's file stand for; its own definitions are importable, so they have a path too."""
    known: dict[str, Binding] = {}
    for binding in bindings(tree, text, home, before={}):
        key = binding.key or f"{home.module}.{binding.name}"
        differs = binding.name in known and known[binding.name].key != key
        known[binding.name] = replace(binding, key=None if differs else key)
    return known


def _definition(tree: ast.Module, name: str, path: Path) -> Definition:
    """The one statement at the top level of the file that defines the answer."""
    found = [node for node in tree.body if isinstance(node, Definition) and node.name == name]
    if len(found) != 1:
        raise CourseError(
            f"{path} defines {name} {len(found)} times; it should hold one function or class of its own name",
            f"define {name} once, with def or class at the top level (not indented, not assigned)",
        )
    return found[0]


def _cut(text: str, node: Definition) -> tuple[int, str]:
    """The first line of a definition and its source, as it stands: decorators before it, comments that end its body."""
    lines = text.splitlines()
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    last = node.end_lineno or node.lineno
    for number in range(last + 1, len(lines) + 1):
        line = lines[number - 1]
        if re.match(r"\s+#", line):
            last = number
        elif line.strip():
            break
    return first, "\n".join(lines[first - 1 : last]) + "\n"


def make_stub(text: str, node: Definition, comment: str) -> str:
    """A definition without what the learner is to find.

    Kept are the line that defines it, its docstring, and of a class the same for each method; decorators are dropped
    but for those that say how a method is called. What is left raises ``NotImplementedError`` with the exercise's name.
    """
    blank = f'raise NotImplementedError("{node.name}")  # {comment}'
    if not isinstance(node, ast.ClassDef):
        return _emptied(text, node, blank)
    methods = [child for child in node.body if isinstance(child, Function)]
    parts = [_head(text, node) + _docstring(text, node)]
    parts += [_emptied(text, method, blank) for method in methods]
    if not methods:
        parts.append(f"{_INDENT}def __init__(self, *args, **kwargs):\n{_INDENT * 2}{blank}\n")
    return "\n".join(parts)


def _emptied(text: str, node: Function, blank: str) -> str:
    indent = " " * node.col_offset
    kept = [f"{indent}@{ast.unparse(d)}\n" for d in node.decorator_list if _says_how_it_is_called(d)]
    return "".join([*kept, _head(text, node), _docstring(text, node), f"{indent}{_INDENT}{blank}\n"])


def _says_how_it_is_called(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Attribute):
        return isinstance(decorator.value, ast.Name) and decorator.attr in {"setter", "getter", "deleter"}
    return isinstance(decorator, ast.Name) and decorator.id in _KEPT_DECORATORS


def _head(text: str, node: Definition) -> str:
    """The text from ``def`` or ``class`` to its colon, over as many lines as it takes."""
    lines = text.splitlines(keepends=True)[node.lineno - 1 :]
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO("".join(lines)).readline):
        if token.type == tokenize.OP and token.string in "([{":
            depth += 1
        elif token.type == tokenize.OP and token.string in ")]}":
            depth -= 1
        elif token.type == tokenize.OP and token.string == ":" and depth == 0:
            row, column = token.end
            return "".join(lines[: row - 1]) + lines[row - 1][:column] + "\n"
    raise ValueError(f"{node.name} has no colon")


def _docstring(text: str, node: Definition) -> str:
    """The docstring as it is written, with its indentation; nothing where there is none."""
    if ast.get_docstring(node) is None:
        return ""
    string = node.body[0]
    lines = text.splitlines()[string.lineno - 1 : string.end_lineno]
    written = (ast.get_source_segment(text, string) or "").splitlines()
    return " " * (node.col_offset + len(_INDENT)) + "\n".join([written[0], *lines[1:]]).rstrip() + "\n"
