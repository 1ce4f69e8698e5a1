"""The learner's own copy of the lessons: handed out, brought up to date, started again. Nothing of theirs is lost."""

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gradlab.course.errors import BadArgument, CourseError
from gradlab.course.locking import Held, locked
from gradlab.course.refusals import FULL, refuse_file, refuse_place, telling
from gradlab.course.texts import Note, note, say, shown
from gradlab.exercises.progress import WORKBOOK_MARK

if TYPE_CHECKING:
    from nbformat import NotebookNode

_LEFTOVER = re.compile(r"\..+\.\d+\.tmp")
_TRIES = 3
_PATIENCE = 10.0


class UnknownLesson(BadArgument):
    """A lesson was asked for that the course doesn't have."""


@dataclass(frozen=True)
class Lesson:
    """One lesson of the course; ``path`` is its blank notebook."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the notebook without its ending, such as ``04_is_the_gradient_right``."""
        return self.path.stem

    @property
    def number(self) -> str:
        """Its two digits."""
        return self.name[:2]


@dataclass(frozen=True)
class Workbook:
    """A learner's folder. ``.gradlab`` in it marks it and holds what was handed out."""

    root: Path

    @property
    def mark(self) -> Path:
        """The folder that makes it a workbook."""
        return self.root / WORKBOOK_MARK

    @property
    def backups(self) -> Path:
        """Where a notebook goes before it is replaced."""
        return self.root / "backups"

    def notebook(self, lesson: Lesson) -> Path:
        """The learner's notebook of a lesson."""
        return self.root / lesson.path.name

    def handed_out(self, lesson: Lesson) -> Path:
        """The lesson as the learner was given it."""
        return self.mark / "handed-out" / lesson.path.name


@dataclass(frozen=True)
class Change:
    """What was done to one lesson: a sentence, and notes on what came along."""

    lesson: Lesson
    sentence: Note
    notes: tuple[Note, ...] = ()


def checkout() -> Path:
    """The folder of the course that this gradlab belongs to."""
    return Path(__file__).resolve().parents[2]


def lessons(course: Path | None = None) -> tuple[Lesson, ...]:
    """The lessons of the course, in order. Raises `CourseError` where gradlab was installed without them."""
    folder = (course or checkout()) / "lessons"
    found = tuple(Lesson(path) for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")))
    if not found:
        raise CourseError(say("no_lessons", folder=folder), say("no_lessons_mend"))
    return found


def find_lesson(given: str, among: Sequence[Lesson]) -> Lesson:
    """The lesson with that number (``4``, ``04``) or name. Raises `UnknownLesson`, which lists what there is."""
    wanted = Path(given).name.removesuffix(".ipynb")
    for lesson in among:
        if wanted == lesson.name or (wanted.isdecimal() and int(wanted) == int(lesson.number)):
            return lesson
    numbers = ", ".join(lesson.number for lesson in among)
    raise UnknownLesson(
        say("unknown_lesson", given=repr(given), numbers=numbers), say("unknown_lesson_mend", example=among[0].number)
    )


def choose(given: Path | None, course: Path | None = None) -> Workbook:
    """The workbook asked for, or the one that the current folder lies in, or the one in the course's folder."""
    if given is not None:
        return Workbook(Path(os.path.abspath(given.expanduser())))
    here = Path.cwd()
    inside = next((folder for folder in (here, *here.parents) if (folder / WORKBOOK_MARK).is_dir()), None)
    return Workbook(inside or (course or checkout()) / "workbook")


def existing(given: Path | None, course: Path | None = None) -> Workbook:
    """As `choose`, for commands that need a workbook. Raises `CourseError` where there is none."""
    book = choose(given, course)
    if not book.mark.is_dir():
        raise CourseError(say("no_workbook", folder=shown(book.root)), say("no_workbook_mend"))
    return book


def prepare(book: Workbook, among: Sequence[Lesson]) -> list[Lesson]:
    """Make the workbook, and hand out the lessons that it lacks; those that were new. Nothing is overwritten.

    Raises `CourseError` where the workbook can't be.
    """
    refuse_place(book.root, among[0].path.parent.parent)
    with telling(book.root, "gradlab lab"):
        for folder in (book.root, book.mark, book.mark / "handed-out", book.backups):
            folder.mkdir(parents=True, exist_ok=True)
    with _alone(book, "gradlab lab"):
        new = [lesson for lesson in among if not os.path.lexists(book.notebook(lesson))]
        for lesson in new:
            _hand_out(book, lesson, "gradlab lab")
    return new


def outdated(book: Workbook, among: Sequence[Lesson]) -> list[Lesson]:
    """The lessons of the workbook whose version in the course is another than the one handed out."""
    return [lesson for lesson in among if _bytes(book.handed_out(lesson)) != lesson.path.read_bytes()]


def damaged(book: Workbook, among: Sequence[Lesson]) -> list[CourseError]:
    """What keeps notebooks of the workbook from being read, each with what to type next."""
    return [problem for lesson in among if (problem := _damage(book, lesson, "gradlab lab"))]


def latest(book: Workbook, among: Sequence[Lesson]) -> Lesson:
    """The lesson that the learner worked on last: the newest notebook that they changed, else the first lesson."""
    changed = [
        lesson
        for lesson in among
        if book.notebook(lesson).is_file() and _bytes(book.notebook(lesson)) != _bytes(book.handed_out(lesson))
    ]
    return max(changed, key=lambda lesson: book.notebook(lesson).stat().st_mtime_ns, default=among[0])


def update(book: Workbook, among: Sequence[Lesson]) -> tuple[list[Change], list[CourseError]]:
    """Bring new versions of lessons into the workbook, with the learner's work in them.

    A backup comes first; each notebook is replaced in one step. A lesson that can't be brought up to date is left as
    it is and told of in the second list. After an interruption, or with more room on the disk, update again: it
    finishes. Notebooks are replaced in the order in which they were worked on, so the last one stays the last one.
    """
    changes: list[Change] = []
    problems: list[CourseError] = []
    with _alone(book, "gradlab update"):
        _clear_leftovers(book)
        for lesson in sorted(among, key=lambda one: _modified(book.notebook(one))):
            try:
                change = _update(book, lesson)
            except CourseError as problem:
                problems.append(problem)
                if isinstance(problem.__cause__, OSError) and problem.__cause__.errno in FULL:
                    break
            else:
                changes += [change] if change else []
    gone = [Lesson(path) for path in sorted((book.mark / "handed-out").glob("[0-9][0-9]_*.ipynb"))]
    names = {lesson.name for lesson in among}
    changes += [
        Change(lesson, note("left_behind", name=lesson.name))
        for lesson in gone
        if changes and lesson.name not in names and book.notebook(lesson).exists()
    ]
    return changes, problems


def _update(book: Workbook, lesson: Lesson) -> Change | None:
    from gradlab.course.carry import carry_over
    from gradlab.course.files import notebook_text, read_notebook

    target, handed_out, current = book.notebook(lesson), book.handed_out(lesson), lesson.path.read_bytes()
    if not os.path.lexists(target):
        _hand_out(book, lesson, "gradlab update")
        return Change(lesson, note("updated_new", name=lesson.name))
    for _ in range(_TRIES):
        if problem := _damage(book, lesson, "gradlab update"):
            raise problem
        before, mine = _bytes(handed_out), target.read_bytes()
        if before == current:
            return None
        if mine in (before, current):
            if mine != current:
                _write(target, current, "gradlab update")
            _write(handed_out, current, "gradlab update")
            return Change(lesson, note("updated_replaced", name=lesson.name)) if mine != current else None
        base = _readable(handed_out)
        carried = carry_over(base, read_notebook(target), read_notebook(lesson.path))
        text = notebook_text(carried.notebook).encode()
        if text == mine:
            _write(handed_out, current, "gradlab update")
            return None
        backup = _back_up(book, lesson, mine, "gradlab update")
        if target.read_bytes() != mine:
            continue  # JupyterLab saved it just now: begin again with what is there
        _write(target, text, "gradlab update")
        _write(handed_out, current, "gradlab update")
        notes = carried.notes if base is not None else (note("no_base"), *carried.notes)
        return Change(lesson, note("updated_carried", name=lesson.name, backup=shown(backup)), notes)
    raise CourseError(say("kept_changing", path=shown(target)), say("kept_changing_mend"))


def reset(book: Workbook, lesson: Lesson) -> Change:
    """Start a lesson again: the learner's notebook, in whatever state, goes to the backups first."""
    command = f"gradlab reset {lesson.number}"
    target, current = book.notebook(lesson), lesson.path.read_bytes()
    with _alone(book, command):
        _clear_leftovers(book)
        if not os.path.lexists(target):
            _hand_out(book, lesson, command)
            return Change(lesson, note("reset_new", name=lesson.name))
        refuse_file(target, command)
        with telling(target, command):
            mine = target.read_bytes()
        if mine == current:
            _write(book.handed_out(lesson), current, command)
            return Change(lesson, note("reset_same", name=lesson.name))
        backup = _back_up(book, lesson, mine, command)
        _write(target, current, command)
        _write(book.handed_out(lesson), current, command)
    undo = note("reset_undo", backup=shown(backup), path=shown(target))
    return Change(lesson, note("reset_done", name=lesson.name, backup=shown(backup)), (undo,))


def _hand_out(book: Workbook, lesson: Lesson, command: str) -> None:
    """The pristine copy first: were it the other way round, an interruption would leave a notebook without one."""
    content = lesson.path.read_bytes()
    _write(book.handed_out(lesson), content, command)
    _write(book.notebook(lesson), content, command)


def _back_up(book: Workbook, lesson: Lesson, content: bytes, command: str) -> Path:
    """Write ``content`` to a name in the backups that nothing has yet; it has reached the disk on return."""
    stamp = datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    with telling(book.backups, command):
        book.backups.mkdir(exist_ok=True)
    path = book.backups / f"{lesson.name}.{stamp}.ipynb"
    count = 1
    while os.path.lexists(path):
        count += 1
        path = book.backups / f"{lesson.name}.{stamp}-{count}.ipynb"
    _write(path, content, command)
    return path


def _write(path: Path, content: bytes, command: str) -> None:
    from gradlab.course.files import write_atomically

    with telling(path, command):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)


def _damage(book: Workbook, lesson: Lesson, command: str) -> CourseError | None:
    """Why the learner's notebook of a lesson can't be used, if so."""
    from gradlab.course.files import read_notebook

    path = book.notebook(lesson)
    if not os.path.lexists(path):
        return None
    mend = say("damaged_mend", backups=shown(book.backups), number=lesson.number)
    try:
        refuse_file(path, command)
        with telling(path, command):
            read_notebook(path, mend=mend)
    except CourseError as problem:
        return problem
    return None


@contextlib.contextmanager
def _alone(book: Workbook, command: str) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            with telling(book.mark, command):
                stack.enter_context(locked(book.mark / "workbook.lock", _PATIENCE))
        except Held as held:
            raise CourseError(
                say("busy", holder=held.holder, folder=shown(book.root)), say("busy_mend", command=command)
            ) from None
        yield


def _clear_leftovers(book: Workbook) -> None:
    """Remove what writes that were cut off have left; nobody else is writing while the lock is held."""
    for folder in (book.root, book.backups, book.mark / "handed-out"):
        for path in folder.glob(".*.tmp"):
            if _LEFTOVER.fullmatch(path.name):
                with contextlib.suppress(OSError):
                    path.unlink()


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _readable(path: Path) -> "NotebookNode | None":
    from gradlab.course.files import DamagedNotebook, read_notebook

    try:
        return read_notebook(path)
    except (DamagedNotebook, OSError):
        return None
