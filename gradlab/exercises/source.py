"""The source of an answer, cut out of its exercise file."""

import ast
from pathlib import Path


def answer_source(path: Path, name: str) -> str:
    """The lines of the top-level function or class ``name`` in a file, decorators included, as they are written.

    Raises ``LookupError`` if the file has none.
    """
    text = path.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    raise LookupError(f"{path.name} holds no function or class {name}")
