"""Notebooks of a few cells, in the form that the builder gives to lessons, for tests of the workbook."""

import hashlib
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4


def text(source: str) -> NotebookNode:
    return v4.new_markdown_cell(source, id=_id("markdown", source))


def code(source: str, id: str | None = None, printed: str | None = None) -> NotebookNode:
    outputs = [] if printed is None else [v4.new_output("stream", name="stdout", text=printed)]
    return v4.new_code_cell(source, id=id or _id("code", source), outputs=outputs)


def exercise(name: str, arguments: str = "x", task: str = "Give x back.") -> NotebookNode:
    return v4.new_code_cell(stub(name, arguments, task), id=name, metadata={"tags": ["exercise"]})


def stub(name: str, arguments: str = "x", task: str = "Give x back.") -> str:
    return f'def {name}({arguments}):\n    """{task}"""\n    raise NotImplementedError("{name}")'


def answered(name: str, body: str = "return x", task: str = "Give x back.") -> NotebookNode:
    cell = exercise(name)
    cell.source = f'def {name}(x):\n    """{task}"""\n    {body}'
    return cell


def check(name: str) -> NotebookNode:
    return code(f"{name} = check({name})")


def notebook(*cells: NotebookNode) -> NotebookNode:
    return v4.new_notebook(cells=list(cells), metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def save(path: Path, book: NotebookNode) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(book, path)
    return path


def sources(book: NotebookNode) -> list[str]:
    return [cell.source for cell in book.cells]


def _id(kind: str, source: str) -> str:
    return hashlib.sha256(f"{kind}\n{source}".encode()).hexdigest()[:12]


def lesson(prose: str = "It goes down.", name: str = "slope") -> NotebookNode:
    """A lesson with one exercise, which a change of prose makes new."""
    return notebook(text(f"# A lesson on {name}"), exercise(name), check(name), text(prose))


def make_course(root: Path, *names: str) -> Path:
    """A checkout's folder with a small lesson under each name."""
    for name in names or ("00_start", "04_slopes"):
        save(root / "lessons" / f"{name}.ipynb", lesson())
    return root
