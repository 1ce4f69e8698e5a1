"""``gradlab build``: makes lessons and solutions from their sources, and says what is stale."""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nbformat import NotebookNode

from gradlab.course.assemble import Lesson, assemble
from gradlab.course.drift import holds, lesson_drift, solution_drift, stored_verdict_errors, strays, verdict_errors
from gradlab.course.errors import CourseError
from gradlab.course.execute import execute, refuse_unstable, tidy
from gradlab.course.files import notebook_text, write_atomically
from gradlab.course.layout import Course
from gradlab.course.record import current, record_path, solution_path, to_text
from gradlab.course.source import LessonRefused, missing_sections, read_source
from gradlab.course.style import style_remarks

TIMEOUT = 120.0
_LONGEST_CELL = 30


@dataclass(frozen=True)
class Event:
    """Something to show while the builder works.

    ``kind`` is ``lesson`` (work on it begins), ``cell`` (``done`` of ``total`` cells were executed), ``built`` or
    ``fresh`` (a lesson is done, with or without work), ``warning`` or ``problem``. ``message`` is text for people, and
    ``mend`` what to do about a problem.
    """

    kind: Literal["lesson", "cell", "built", "fresh", "warning", "problem"]
    lesson: str
    message: str = ""
    mend: str = ""
    done: int = 0
    total: int = 0


Report = Callable[[Event], None]


@dataclass(frozen=True)
class Result:
    """How it went: lessons that were written, lessons that were up to date, and what is wrong."""

    built: tuple[str, ...]
    fresh: tuple[str, ...]
    problems: tuple[Event, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def build(
    numbers: Sequence[str] | None = None,
    *,
    course: Course,
    force: bool = False,
    timeout: float = TIMEOUT,
    report: Report = lambda event: None,
) -> Result:
    """Build the lessons with these numbers (all if none are given): each is written whole or left as it was.

    A solution is executed only if something that it depends on changed, or with ``force``. A lesson that fails is
    reported as a problem, and the others are built all the same. ``timeout`` is in seconds for each cell.
    Raises `CourseError` for a number that no source has.
    """
    run = _Run(report)
    for stem in _chosen(course, numbers):
        run.report(Event("lesson", stem, f"{stem}"))
        try:
            lesson = assemble(course, read_source(course.source_paths()[stem]))
            run.warn(stem, _remarks(course, lesson))
            if _build_lesson(course, lesson, force, timeout, run):
                run.built.append(stem)
                run.report(Event("built", stem, f"{stem}: built"))
            else:
                run.fresh.append(stem)
                run.report(Event("fresh", stem, f"{stem}: up to date"))
        except (CourseError, OSError) as error:
            run.fail(stem, error)
    return run.result()


def check(numbers: Sequence[str] | None = None, *, course: Course, report: Report = lambda event: None) -> Result:
    """Say what is stale, missing, stray or wrong, without writing or executing anything.

    Lessons are made again in memory and compared byte for byte; solutions are held to their records and verdicts.
    """
    run = _Run(report)
    for stem in _chosen(course, numbers):
        run.report(Event("lesson", stem, f"{stem}"))
        before = len(run.problems)
        try:
            lesson = assemble(course, read_source(course.source_paths()[stem]))
            run.warn(stem, _remarks(course, lesson))
            for problem in lesson_drift(course, lesson):
                run.fail(stem, problem)
        except (CourseError, OSError) as error:
            run.fail(stem, error)
        if len(run.problems) == before:
            run.fresh.append(stem)
            run.report(Event("fresh", stem, f"{stem}: up to date"))
    for problem in strays(course, numbers):
        run.fail("", problem)
    return run.result()


class _Run:
    """What one run has found so far."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.built: list[str] = []
        self.fresh: list[str] = []
        self.problems: list[Event] = []

    def fail(self, stem: str, error: Exception) -> None:
        parts = error.errors if isinstance(error, LessonRefused) else [error]
        for part in parts:
            mend = part.mend if isinstance(part, CourseError) else f"put that right, then: gradlab build {stem[:2]}"
            event = Event("problem", stem, part.what if isinstance(part, CourseError) else str(part), mend)
            self.problems.append(event)
            self.report(event)

    def warn(self, stem: str, remarks: Iterable[str]) -> None:
        for remark in remarks:
            self.report(Event("warning", stem, remark))

    def result(self) -> Result:
        return Result(tuple(self.built), tuple(self.fresh), tuple(self.problems))


def _chosen(course: Course, numbers: Sequence[str] | None) -> list[str]:
    """The stems of the lessons to work on."""
    stems = list(course.source_paths())
    if not numbers:
        return stems
    wanted = [number.zfill(2) for number in numbers]
    known = {stem[:2] for stem in stems}
    for number in wanted:
        if number not in known:
            raise CourseError(
                f"no lesson has the number {number}; there are {', '.join(sorted(known)) or 'none'}",
                f"write {course.shown(course.sources)}/{number}_topic.md",
            )
    return [stem for stem in stems if stem[:2] in wanted]


def _remarks(course: Course, lesson: Lesson) -> list[str]:
    """What should be better in a lesson and doesn't keep it from being built."""
    source = lesson.source
    missing = [f"`## {section}`" for section in missing_sections(source, course.texts.sections)]
    remarks = [f"{source.path.name} lacks {', '.join(missing)}"] if missing else []
    remarks += [
        f"{source.where(cell)} has {len(cell.source.splitlines())} lines; a code cell should fit a screen"
        for cell in source.cells
        if cell.is_code and len(cell.source.splitlines()) > _LONGEST_CELL
    ]
    return remarks + style_remarks(course, lesson)


def _build_lesson(course: Course, lesson: Lesson, force: bool, timeout: float, run: _Run) -> bool:
    """Write what is not as it should be; whether anything was written."""
    stem = lesson.source.stem
    stale = force or bool(solution_drift(course, lesson) or stored_verdict_errors(course, lesson))
    files: dict[Path, str] = {}
    if stale:
        course.solutions.mkdir(parents=True, exist_ok=True)
        solution = notebook_text(_solve(course, lesson, timeout, run))
        files[solution_path(course, stem)] = solution
        files[record_path(course, stem)] = to_text(current(course, lesson, solution.encode()))
    files[course.lessons / f"{stem}.ipynb"] = notebook_text(lesson.blank)
    changed = {path: text for path, text in files.items() if not holds(path, text)}
    for path, text in changed.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    return stale or bool(changed)


def _solve(course: Course, lesson: Lesson, timeout: float, run: _Run) -> NotebookNode:
    """The executed solution, refused unless its outputs are stable and every check says correct."""
    source = lesson.source

    def on_cell(done: int, total: int) -> None:
        run.report(Event("cell", source.stem, f"{source.stem}: cell {done} of {total}", done=done, total=total))

    executed = execute(source, deepcopy(lesson.solved), course.solutions, timeout=timeout, on_cell=on_cell)
    solution = tidy(executed)
    refuse_unstable(source, solution, course.root)
    errors = verdict_errors(source, solution)
    if errors:
        raise LessonRefused(errors)
    return solution
