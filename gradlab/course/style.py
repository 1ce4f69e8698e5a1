"""Holds the code of lessons to ruff, at the source: ``python -m gradlab.course.style NN`` formats a lesson's cells.

`make test` lints and formats the built notebooks; what it finds has to be mended in the source, where lines and cells
have other numbers. Nothing is said where ruff isn't installed.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import nbformat

from gradlab.course.assemble import Lesson, assemble
from gradlab.course.files import notebook_text, write_atomically
from gradlab.course.layout import Course
from gradlab.course.source import Cell, read_source


def style_remarks(course: Course, lesson: Lesson) -> list[str]:
    """What ruff would change or complain of in a lesson's cells, by their place in the source."""
    if importlib.util.find_spec("ruff") is None:
        return []
    number = lesson.source.number
    unformatted = [
        f"{lesson.source.where(cell)} isn't formatted; `python -m gradlab.course.style {number}` does it"
        for cell, _ in _unformatted(course, lesson)
    ]
    return unformatted or _complaints(course, lesson)


def format_source(course: Course, stem: str) -> list[str]:
    """Format the cells of a source in place; the first lines of those that changed."""
    lesson = assemble(course, read_source(course.source_paths()[stem]))
    path = lesson.source.path
    lines = path.read_text(encoding="utf-8").splitlines()
    changed = [(cell, text) for cell, text in _unformatted(course, lesson) if cell.line]
    for cell, text in reversed(changed):
        start = cell.line - 1
        lines[start : start + len(cell.source.splitlines())] = text.splitlines()
    if changed:
        write_atomically(path, "\n".join(lines) + "\n")
    return [lesson.source.where(cell) for cell, _ in changed]


def _unformatted(course: Course, lesson: Lesson) -> list[tuple[Cell, str]]:
    """The cells that ruff would format otherwise, with their formatted text; exercises are formatted in their files."""
    formatted = nbformat.reads(_ruff(course, lesson, "format"), as_version=4)
    return [
        (cell, built.source)
        for cell, built in zip(lesson.source.cells, formatted.cells, strict=True)
        if cell.is_code and not cell.exercise and built.source.rstrip() != cell.source.rstrip()
    ]


def _complaints(course: Course, lesson: Lesson) -> list[str]:
    """What the linter says, by its place in the source."""
    remarks = []
    for finding in json.loads(_ruff(course, lesson, "check", "--output-format=json", "--exit-zero")):
        cell = lesson.source.cells[finding["cell"] - 1]
        place = lesson.source.where(cell)
        if cell.line and not cell.exercise:
            place = f"{lesson.source.path.name}, line {cell.line + finding['location']['row'] - 1}"
        remarks.append(f"{place}: {finding['code']} {finding['message']}")
    return remarks


def _ruff(course: Course, lesson: Lesson, *command: str) -> str:
    """Give the blank notebook to ruff under the name that it will have, so that the checkout's settings apply."""
    name = course.lessons / f"{lesson.source.stem}.ipynb"
    return subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--quiet", f"--stdin-filename={name}", "-"],
        input=notebook_text(lesson.blank),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout


if __name__ == "__main__":
    here = Course.at(Path.cwd())
    for stem in here.source_paths():
        if stem[:2] in sys.argv[1:]:
            print("\n".join(format_source(here, stem)) or f"{stem}: nothing to format")
