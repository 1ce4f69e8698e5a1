"""``gradlab check``: runs a copy of a learner's notebook and reports every exercise, whatever state it is in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from gradlab.course import cells
from gradlab.course.errors import BadArgument, CourseError
from gradlab.course.files import DamagedNotebook, read_notebook
from gradlab.course.report import CellReport, ExerciseReport, Report
from gradlab.course.session import Ran, Step, run_steps
from gradlab.course.texts import say, shown
from gradlab.course.workbook import Lesson, Workbook, lessons
from gradlab.exercises.progress import WORKBOOK_MARK
from gradlab.exercises.show import VERDICT_TYPE

TIME_LIMIT = 60.0

Watch = Callable[[int, int], None]


class NoNotebook(BadArgument):
    """What was to be checked is no file."""


def check_notebook(
    path: Path, *, time_limit: float = TIME_LIMIT, course: Path | None = None, watch: Watch = lambda done, total: None
) -> Report:
    """Run a copy of the notebook in its own folder, and report every exercise of its lesson.

    Neither the notebook nor the learner's progress is changed. ``time_limit`` is in seconds for each cell;
    ``watch(done, total)`` is called after each. Raises `NoNotebook` or `DamagedNotebook`.
    """
    notebook, lesson = _read(path, course), _lesson(path, course)
    given = _handed_out(path, lesson)
    stubs = {name: cell.source for name, cell in cells.exercise_cells(given).items()} if given else {}
    own = _numbered(notebook)
    if not stubs:
        stubs = {name: _stub(name) for cell in own for name in (*cell.checks, *_tagged(cell))}
    plan = _plan(own, stubs)
    total = len(plan)
    results = run_steps(
        [_step(cell, stubs) for cell in plan], path.resolve().parent, limit=time_limit, watch=lambda d: watch(d, total)
    )
    found = _Found(plan, results, stubs, time_limit, lesson, path)
    return Report(path.name, lesson.name if lesson else None, found.exercises(), found.cells())


def _read(path: Path, course: Path | None) -> NotebookNode:
    if not path.is_file():
        raise NoNotebook(say("no_notebook" if not path.exists() else "no_file", path=shown(path)), say("no_file_mend"))
    lesson, book = _lesson(path, course), _workbook(path)
    mend = say("damaged_nowhere_mend")
    if lesson and book:
        mend = say("damaged_mend", backups=shown(book.backups), number=lesson.number)
    try:
        return read_notebook(path, mend=mend)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise NoNotebook(say("unreadable", path=shown(path), reason=reason), say("no_file_mend")) from error


def _workbook(path: Path) -> Workbook | None:
    folders = path.resolve().parents
    return next((Workbook(folder) for folder in folders if (folder / WORKBOOK_MARK).is_dir()), None)


def _lesson(path: Path, course: Path | None) -> Lesson | None:
    """The lesson whose name the notebook bears, or begins with (``04_topic-Copy1``)."""
    try:
        known = lessons(course)
    except CourseError:
        return None
    return next((lesson for lesson in reversed(known) if path.stem.startswith(lesson.name)), None)


def _handed_out(path: Path, lesson: Lesson | None) -> NotebookNode | None:
    """The lesson as this learner was given it, or as the course has it now."""
    book = _workbook(path)
    if lesson is None:
        return None
    for candidate in ([book.handed_out(lesson)] if book else []) + [lesson.path]:
        try:
            return read_notebook(candidate)
        except (DamagedNotebook, OSError):
            continue
    return None


@dataclass(frozen=True)
class _Cell:
    """A code cell of the run. ``number`` is 0 for one that the run adds, which checks or leaves blank ``extra``."""

    source: str
    number: int = 0
    id: str = ""
    tags: tuple[str, ...] = ()
    extra: str = ""

    @property
    def defines(self) -> tuple[str, ...]:
        return cells.definitions(self.source)

    @property
    def checks(self) -> tuple[str, ...]:
        return cells.checks(self.source)


def _numbered(notebook: NotebookNode) -> list[_Cell]:
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    return [_Cell(cell.source, n, cell.get("id", ""), tuple(cells.tags(cell))) for n, cell in enumerate(code, 1)]


def _tagged(cell: _Cell) -> tuple[str, ...]:
    return cell.defines[-1:] if "exercise" in cell.tags else ()


def _stub(name: str) -> str:
    return f'def {name}(*arguments, **options):\n    raise NotImplementedError("{name}")'


def _plan(own: Sequence[_Cell], stubs: Mapping[str, str]) -> list[_Cell]:
    """The cells to run: the learner's, a stub above a check that has nothing to check, a check where none is."""
    plan: list[_Cell] = []
    bound: set[str] = set()
    for place, cell in enumerate(own):
        defines = set(cell.defines) if cells.parse(cell.source) else set()
        missing = [name for name in cell.checks if name in stubs and name not in bound | defines]
        plan += [_Cell(stubs[name], extra=name) for name in missing]
        plan.append(cell)
        bound |= defines
        for name in defines & stubs.keys():
            if not _checked_later(own, place, name):
                plan.append(_Cell(f'{name} = __import__("gradlab").check({name})', extra=name))
    return plan


def _checked_later(own: Sequence[_Cell], place: int, name: str) -> bool:
    """Whether this isn't the last definition of ``name``, or a check stands behind any definition of it."""
    definitions = [index for index, cell in enumerate(own) if name in cell.defines]
    return place != definitions[-1] or any(name in cell.checks for cell in own[definitions[0] :])


def _step(cell: _Cell, stubs: Mapping[str, str]) -> Step:
    """A check that hung or killed the kernel is run again on a stub, so that the course's function stands in."""
    blank = [stubs[name] for name in cell.checks if name in stubs]
    return Step(cell.source, "\n".join([*blank, cell.source]) if blank else None, cell.tags)


@dataclass(frozen=True)
class _Found:
    """What a run left, and what can be said about it."""

    plan: Sequence[_Cell]
    results: Sequence[Ran]
    stubs: Mapping[str, str]
    limit: float
    lesson: Lesson | None
    path: Path

    def cells(self) -> tuple[CellReport, ...]:
        """The learner's cells that did not run to their end."""
        runs = zip(self.plan, self.results, strict=True)
        return tuple(
            CellReport(cell.number, cells.first_line(cell.source), ran.raised.line if ran.raised else None, text)
            for cell, ran in runs
            if cell.number and (text := self._trouble(ran))
        )

    def exercises(self) -> tuple[ExerciseReport, ...]:
        """Every exercise of the lesson in its order, then others that the notebook checks."""
        verdicts = self._verdicts()
        return tuple(self._exercise(name, verdicts.get(name)) for name in dict.fromkeys([*self.stubs, *verdicts]))

    def _trouble(self, ran: Ran) -> str:
        if ran.fate == "slow":
            return say("cell_slow", limit=f"{self.limit:g}")
        if ran.fate == "died":
            return say("cell_died")
        if ran.raised is None:
            return ""
        if ran.raised.kind == "StdinNotImplementedError":
            return say("cell_input")
        return f"{ran.raised.kind}: {cells.first_line(ran.raised.text, 200)}".removesuffix(": ")

    def _verdicts(self) -> dict[str, Mapping[str, Any]]:
        """The last verdict on each exercise."""
        shown_ = (output.get("data", {}).get(VERDICT_TYPE) for ran in self.results for output in ran.outputs)
        return {str(data["exercise"]): data for data in shown_ if isinstance(data, Mapping) and "exercise" in data}

    def _exercise(self, name: str, verdict: Mapping[str, Any] | None) -> ExerciseReport:
        remarks = self._remarks(name)
        runs = list(zip(self.plan, self.results, strict=True))
        lost = next((ran for cell, ran in runs if name in cell.checks and ran.fate != "ran"), None)
        if lost:
            return ExerciseReport(name, "error", say(f"exercise_{lost.fate}", limit=f"{self.limit:g}"), remarks=remarks)
        own = [(cell, ran) for cell, ran in runs if cell.number and name in cell.defines]
        broken = [(cell, text) for cell, ran in own if (text := self._trouble(ran))]
        unjudged = verdict is None or verdict["outcome"] == "not attempted"
        if broken and (unjudged or not any(cells.parse(cell.source) for cell, _ in own)):
            cell, text = broken[-1]
            return ExerciseReport(name, "error", say("exercise_broken", cell=cell.number, text=text), remarks=remarks)
        if not own and name in self.stubs:
            return ExerciseReport(name, "not attempted", self._gone(name), remarks=remarks)
        if verdict is None:
            texts = [self._trouble(ran) for cell, ran in runs if name in cell.checks]
            message = say("exercise_silent", text=next((text for text in texts if text), say("exercise_no_output")))
            return ExerciseReport(name, "error", message, remarks=remarks)
        return ExerciseReport(
            name,
            str(verdict["outcome"]),
            "" if verdict["outcome"] == "not attempted" else str(verdict.get("message", "")),
            dict(verdict.get("parts") or {}),
            tuple(verdict.get("misconceptions") or ()),
            remarks,
        )

    def _gone(self, name: str) -> str:
        """What to say when no cell defines an exercise: its cell bears another name now, or is not there."""
        renamed = [cell for cell in self.plan if cell.id == name and cell.defines]
        if renamed:
            return say("exercise_renamed", cell=renamed[0].number, other=renamed[0].defines[-1], name=name)
        number = self.lesson.number if self.lesson else "NN"
        book = _workbook(self.path)
        source = (book.handed_out(self.lesson) if book else self.lesson.path) if self.lesson else None
        if source is None or not source.exists():
            return say("exercise_gone_nowhere", name=name)
        return say("exercise_gone", name=name, source=shown(source), number=number)

    def _remarks(self, name: str) -> tuple[str, ...]:
        """What is odd about the cells of an exercise, though it could be checked."""
        own = [cell for cell in self.plan if cell.number]
        definitions = [cell.number for cell in own if name in cell.defines]
        checks = [cell.number for cell in own if name in cell.checks]
        remarks = []
        if len(definitions) > 1:
            before = [number for number in definitions if not checks or number <= max(checks)]
            counts = before[-1] if before else definitions[-1]
            numbers = ", ".join(map(str, definitions))
            remarks.append(say("remark_twice", numbers=numbers, counts=counts))
        if definitions and not checks:
            remarks.append(say("remark_no_check", name=name, cell=definitions[-1]))
        elif definitions and max(checks) < definitions[0]:
            remarks.append(say("remark_early_check", check=max(checks), cell=definitions[0]))
        return tuple(remarks)
