"""What a solution was made from: ``solutions/NN_topic.sha256``, one line a file, as ``sha256sum -c`` reads it."""

import ast
import hashlib
from pathlib import Path

from gradlab.course.assemble import Lesson
from gradlab.course.layout import Course

Record = dict[str, str]


def digest(content: bytes) -> str:
    """The hash of a file's content, whatever its line ends."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def current(course: Course, lesson: Lesson, solution: bytes) -> Record:
    """The hashes of all that a solution depends on as it is now, and of the solution itself."""
    paths = [lesson.source.path, *_exercise_files(course, lesson), course.lock]
    record = {course.shown(path): digest(path.read_bytes()) for path in paths if path.is_file()}
    return record | {course.shown(solution_path(course, lesson.source.stem)): digest(solution)}


def solution_path(course: Course, stem: str) -> Path:
    """The solved notebook of a lesson."""
    return course.solutions / f"{stem}.ipynb"


def record_path(course: Course, stem: str) -> Path:
    """The file that says what the solved notebook was made from."""
    return course.solutions / f"{stem}.sha256"


def to_text(record: Record) -> str:
    """A record as its file holds it."""
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(record.items()))


def from_text(text: str) -> Record:
    """Read a record; lines of another form are left out, so that a damaged file counts as stale."""
    pairs = (line.split("  ", 1) for line in text.splitlines())
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2}


def changes(old: Record, new: Record) -> list[str]:
    """In words, what is different between two records; empty if nothing is."""
    return [
        f"{path} {'changed' if path in old and path in new else 'is new' if path in new else 'is no longer used'}"
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]


def _exercise_files(course: Course, lesson: Lesson) -> list[Path]:
    """The files of the lesson's exercises, and of those that its code or its answers' files import."""
    wanted = {answer.path for answer in lesson.answers}
    codes = [cell.source for cell in lesson.solved.cells if cell.cell_type == "code"]
    unread = [*wanted]
    while codes or unread:
        code = codes.pop() if codes else unread.pop().read_text(encoding="utf-8")
        fresh = _imported(course, code) - wanted
        wanted |= fresh
        unread += fresh
    return sorted(wanted)


def _imported(course: Course, code: str) -> set[Path]:
    """The exercise files that a piece of code imports."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError:  # a cell with a magic
        return set()
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    inside = [module.removeprefix(course.package + ".").split(".") for module in modules]
    paths = {
        course.exercises.joinpath(*parts[:-1], parts[-1] + ".py") for parts in inside if parts[0].startswith("lesson_")
    }
    return {path for path in paths if path.is_file()}
