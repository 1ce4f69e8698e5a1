"""A lesson's source, as its author writes it: front matter, title and cells, checked at the door."""

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from gradlab.course.errors import CourseError

TAGS = frozenset({"exercise", "slide", "skip", "raises-exception", "hide-input", "hide-output"})
MOST_CELLS = 60
_MINUTES = ("reading", "core", "stretch")
_TITLE = re.compile(r"# (\d\d) · \S.*")
_FENCE = re.compile(r"(`{3,})\{code-cell\}.*")
_HIDES_OUTPUT = re.compile(r"^\s*#+\s*(NBVAL_|PYTEST_VALIDATE)", re.MULTILINE)
_MAGIC = re.compile(r"^[ \t]*[%!].*|.*\?$", re.MULTILINE)
_CELL_MAGIC = re.compile(r"%%doctor[^\n]*\n")
_EXTENSION = re.compile(r"^%load_ext gradlab[ \t]*$", re.MULTILINE)

_EXAMPLE = """lesson:
  question: A gradient exists, but is it the right one?
  needs: ["02", "03"]
  minutes: {reading: 25, core: 20, stretch: 15}
  objectives:
    - check a gradient against central differences
    - ...
    - ..."""


class LessonError(CourseError):
    """One thing that keeps a lesson from being built."""


class LessonRefused(CourseError):
    """A lesson that can't be built, with everything that was found."""

    def __init__(self, errors: list[CourseError]) -> None:
        super().__init__("\n".join(error.what for error in errors), "\n".join(error.mend for error in errors))
        self.errors = errors

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)


@dataclass(frozen=True)
class Head:
    """The ``lesson`` table of the front matter; ``minutes`` has the keys reading, core and stretch."""

    question: str
    needs: tuple[str, ...]
    minutes: Mapping[str, int]
    objectives: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """A cell of a source. ``number`` counts cells from 1, ``line`` is the line of the file (0: unknown)."""

    kind: str
    source: str
    tags: tuple[str, ...]
    number: int
    line: int

    @property
    def is_code(self) -> bool:
        """Whether the cell is run."""
        return self.kind == "code"

    @property
    def exercise(self) -> str | None:
        """The name of the exercise that the cell stands for, if it stands for one."""
        return self.source.strip() if "exercise" in self.tags else None


@dataclass(frozen=True)
class Source:
    """A lesson as its author wrote it."""

    path: Path
    head: Head
    cells: tuple[Cell, ...]

    @property
    def stem(self) -> str:
        """The name that the lesson's files share, ``04_is_the_gradient_right``."""
        return self.path.stem

    @property
    def number(self) -> str:
        """The lesson's number, two digits."""
        return self.stem[:2]

    @property
    def exercises(self) -> tuple[str, ...]:
        """The names of the lesson's exercises, in order."""
        return tuple(cell.exercise for cell in self.cells if cell.exercise)

    def where(self, cell: Cell) -> str:
        """A cell as messages name it: file and line, position, and its first line of text."""
        line = f", line {cell.line}" if cell.line else ""
        return f"{self.path.name}{line} (cell {cell.number}: {first_line(cell.source)})"


def first_line(source: str) -> str:
    """The first line of a cell that says something, shortened."""
    line = next((line.strip() for line in source.splitlines() if line.strip()), "empty")
    return line if len(line) <= 60 else line[:57] + "..."


def read_source(path: Path) -> Source:
    """Read and check one source. Raises `LessonRefused` with everything that is wrong with it."""
    import jupytext

    text = path.read_text(encoding="utf-8")
    try:
        with warnings.catch_warnings(action="ignore"):  # jupytext warns of cell ids, which are ours to give
            notebook = jupytext.reads(text, fmt="md:myst")
    except Exception as error:  # jupytext hands on whatever YAML and MyST raise
        reason = " ".join(str(error).split())
        raise LessonRefused([LessonError(f"{path.name} can't be read: {reason}", f"repair {path}")]) from None
    lines = _code_lines(text, notebook.cells)
    cells = tuple(
        Cell(cell.cell_type, cell.source, tuple(cell.metadata.get("tags", ())), number, line)
        for number, (cell, line) in enumerate(zip(notebook.cells, lines, strict=True), start=1)
    )
    head, errors = _read_head(path, notebook.metadata.get("lesson"))
    source = Source(path, head, cells)
    errors += [*_title_errors(source), *_cell_errors(source)]
    if errors:
        raise LessonRefused(errors)
    return source


def _code_lines(text: str, cells: list[Any]) -> list[int]:
    """For each cell the line of the file where its text starts, 0 where that can't be told."""
    lines = text.splitlines()
    fences = [number for number, line in enumerate(lines, start=1) if _FENCE.fullmatch(line)]
    code = [cell for cell in cells if cell.cell_type == "code"]
    if len(fences) != len(code):
        return [0] * len(cells)
    starts = iter([_start_after(lines, fence, cell.source) for fence, cell in zip(fences, code, strict=True)])
    return [next(starts) if cell.cell_type == "code" else 0 for cell in cells]


def _start_after(lines: list[str], fence: int, source: str) -> int:
    """The first line behind a fence's options that equals the first line of the cell."""
    first = source.splitlines()[0] if source else ""
    return next((n for n in range(fence + 1, len(lines) + 1) if lines[n - 1] == first), fence)


def _read_head(path: Path, table: Any) -> tuple[Head, list[CourseError]]:
    """The front matter's table and what is wrong with it."""
    mend = f"in {path}, write the front matter like this:\n{_EXAMPLE}"
    if not isinstance(table, dict):
        problem = LessonError(f"{path.name}: the front matter has no `lesson` table", mend)
        return Head("", (), {}, ()), [problem]
    problems: list[str] = []
    unknown = set(table) - {"question", "needs", "minutes", "objectives"}
    if unknown:
        problems.append(f"`{', '.join(sorted(map(str, unknown)))}` is not one of question, needs, minutes, objectives")
    question: Any = table.get("question")
    needs: Any = table.get("needs")
    minutes: Any = table.get("minutes")
    objectives: Any = table.get("objectives")
    if not isinstance(question, str) or not question.strip():
        problems.append("`question` should be the one question of the lesson, as text")
    if not _are_texts(needs) or not all(re.fullmatch(r"\d\d", n) and n < path.stem[:2] for n in needs):
        problems.append('`needs` should list earlier lessons by two digits in quotes, such as ["02", "03"], or be []')
    if not isinstance(minutes, dict) or set(minutes) != set(_MINUTES) or not all(map(_is_count, minutes.values())):
        problems.append("`minutes` should give reading, core and stretch as whole numbers")
    if not _are_texts(objectives) or len(objectives) != 3:
        problems.append("`objectives` should be three lines of text (put a line with a colon in quotes)")
    if problems:
        return Head("", (), {}, ()), [LessonError(f"{path.name}: {problem}", mend) for problem in problems]
    return Head(question.strip(), tuple(needs), {k: minutes[k] for k in _MINUTES}, tuple(objectives)), []


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _title_errors(source: Source) -> list[CourseError]:
    first = source.cells[0] if source.cells else Cell("markdown", "", (), 1, 0)
    title = _TITLE.fullmatch(first.source.split("\n")[0]) if first.kind == "markdown" else None
    if title and title[1] == source.number:
        return []
    return [
        LessonError(
            f"{source.path.name} starts with `{first_line(first.source)}`, not with its title",
            f"begin the text of {source.path} with `# {source.number} · The title`",
        )
    ]


def _cell_errors(source: Source) -> list[CourseError]:
    """What is wrong with single cells, and with their number."""
    errors: list[CourseError] = []
    if len(source.cells) > MOST_CELLS:
        what = f"{source.path.name} has {len(source.cells)} cells; a lesson has at most {MOST_CELLS}"
        errors.append(LessonError(what, f"join or cut cells in {source.path}"))
    for cell in source.cells:
        where = source.where(cell)
        unknown = sorted(set(cell.tags) - TAGS)
        if unknown:
            errors.append(
                LessonError(f"{where}: unknown tag {', '.join(unknown)}", f"use only {', '.join(sorted(TAGS))}")
            )
        if cell.kind not in ("code", "markdown"):
            errors.append(LessonError(f"{where} is a {cell.kind} cell", "make it Markdown or code"))
        if cell.is_code:
            errors += _code_errors(source, cell)
    return errors + _exercise_errors(source)


def _code_errors(source: Source, cell: Cell) -> list[CourseError]:
    where = source.where(cell)
    if not cell.source.strip():
        return [LessonError(f"{where} is empty", "write code into it, or delete it")]
    if _HIDES_OUTPUT.search(cell.source):
        return [LessonError(f"{where} tells nbval to look away", "delete the NBVAL comment and print what is stable")]
    magic = _MAGIC.search(python_of(cell.source)) if not _parses(python_of(cell.source)) else None
    if magic:
        mend = "write it in Python; only `%load_ext gradlab` and `%%doctor` are allowed"
        return [LessonError(f"{where} uses `{magic[0].strip()}`", mend)]
    try:
        tree = ast.parse(python_of(cell.source))
        compile(tree, "<cell>", "exec")
    except SyntaxError as error:
        line = (
            f"line {cell.line + (error.lineno or 1) - 1} of {source.path.name}" if cell.line else f"line {error.lineno}"
        )
        return [LessonError(f"{where}: {error.msg}, {line}", "repair the cell's syntax")]
    if any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in ast.walk(tree)):
        return [
            LessonError(
                f"{where} imports *", "import the names one by one, so that a reader sees where each comes from"
            )
        ]
    return []


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def python_of(source: str) -> str:
    """A cell as plain Python with the same lines: the two magics that lessons may use are replaced by comments."""
    body = _CELL_MAGIC.sub("# the doctor watches\n", source, count=1) if source.startswith("%%doctor") else source
    return _EXTENSION.sub("pass", body)


def _exercise_errors(source: Source) -> list[CourseError]:
    """An exercise cell holds one name, not used before, and the next code cell checks it."""
    errors: list[CourseError] = []
    seen: set[str] = set()
    code = [cell for cell in source.cells if cell.is_code]
    errors += [
        LessonError(f"{source.where(cell)} is tagged exercise but isn't code", "make it a code-cell")
        for cell in source.cells
        if cell.exercise is not None and not cell.is_code
    ]
    for cell, following in zip_longest(code, code[1:]):
        name = cell.exercise
        if name is None:
            continue
        where = source.where(cell)
        if not name.isidentifier():
            errors.append(
                LessonError(f"{where} is tagged exercise but holds more than a name", "write only the exercise's name")
            )
            continue
        if name in seen:
            errors.append(
                LessonError(f"{where}: the exercise {name} comes twice", "delete one of the two cells and its check")
            )
        seen.add(name)
        if following is None or not is_check_of(following.source, name):
            mend = f"let the next code cell be just\n{name} = check({name})"
            errors.append(LessonError(f"{where} is not followed by its check", mend))
    return errors


def is_check_of(source: str, name: str) -> bool:
    """Whether a cell is ``NAME = check(NAME)`` and nothing else (comments aside)."""
    try:
        return ast.dump(ast.parse(source)) == ast.dump(ast.parse(f"{name} = check({name})"))
    except SyntaxError:
        return False


def missing_sections(source: Source, sections: tuple[str, ...]) -> list[str]:
    """The sections that every lesson closes with and this one lacks."""
    text = "\n".join(cell.source for cell in source.cells if cell.kind == "markdown")
    return [s for s in sections if not re.search(rf"^#+ {re.escape(s)}\s*$", text, re.MULTILINE)]
