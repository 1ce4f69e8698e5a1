"""What is stale, stray or wrong in a course's built files, told without writing or executing anything."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from gradlab.course.assemble import Lesson
from gradlab.course.errors import CourseError
from gradlab.course.files import DamagedNotebook, notebook_text, read_notebook
from gradlab.course.layout import Course
from gradlab.course.record import changes, current, from_text, record_path, solution_path
from gradlab.course.source import Source, first_line

VERDICT_TYPE = "application/vnd.gradlab.verdict+json"


def verdict_errors(source: Source, solution: NotebookNode) -> list[CourseError]:
    """Every check of a solution whose outcome isn't ``correct``, and every exercise without a verdict."""
    found = [
        (cell, verdict)
        for cell, built in zip(source.cells, solution.cells, strict=True)
        for verdict in _verdicts(built)
    ]
    mend = f"correct the answer or its probe, then: gradlab build {source.number}"
    errors = [
        CourseError(
            f"{source.where(cell)}: the verdict on {v.get('exercise')} is `{v.get('outcome')}` in the solution", mend
        )
        for cell, v in found
        if v.get("outcome") != "correct"
    ]
    judged = {verdict.get("exercise") for _, verdict in found}
    missing = [name for name in source.exercises if name not in judged]
    return errors + [
        CourseError(
            f"{source.path.name}: check({name}) gives no verdict in the solution",
            f"import check from gradlab in the lesson's first code cell, then: gradlab build {source.number}",
        )
        for name in missing
    ]


def _verdicts(cell: NotebookNode) -> list[dict[str, Any]]:
    datas = [output.get("data", {}).get(VERDICT_TYPE) for output in cell.get("outputs", [])]
    return [data for data in datas if isinstance(data, dict)]


def lesson_drift(course: Course, lesson: Lesson) -> list[CourseError]:
    """How the built files of a lesson differ from what would be built now."""
    stem, mend = lesson.source.stem, f"gradlab build {lesson.source.number}"
    path = course.lessons / f"{stem}.ipynb"
    problems: list[CourseError] = []
    if not path.is_file():
        problems.append(CourseError(f"{course.shown(path)} is missing", mend))
    elif not holds(path, notebook_text(lesson.blank)):
        problems.append(CourseError(f"{course.shown(path)} is stale: {_difference(path, lesson.blank)}", mend))
    reasons = solution_drift(course, lesson)
    solution = solution_path(course, stem)
    if not solution.is_file():
        return [*problems, CourseError(f"{course.shown(solution)} is missing", mend)]
    if reasons:
        return [*problems, CourseError(f"{course.shown(solution)} is stale: {'; '.join(reasons)}", mend)]
    return problems + stored_verdict_errors(course, lesson)


def solution_drift(course: Course, lesson: Lesson) -> list[str]:
    """Why a solution has to be executed again, in words; empty if it hasn't."""
    stem = lesson.source.stem
    path, record = solution_path(course, stem), record_path(course, stem)
    if not path.is_file() or not record.is_file():
        return [f"{course.shown(record if path.is_file() else path)} is missing"]
    stored = from_text(record.read_text(encoding="utf-8", errors="replace"))
    reasons = changes(stored, current(course, lesson, path.read_bytes()))
    if reasons:
        return reasons
    try:
        bare = read_notebook(path)
    except DamagedNotebook as error:
        return [error.reason]
    for cell in bare.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    same = notebook_text(bare) == notebook_text(lesson.solved)
    return [] if same else ["its cells are not those that the builder makes now"]


def stored_verdict_errors(course: Course, lesson: Lesson) -> list[CourseError]:
    """What the verdicts in the solution on disk say against it; the solution isn't stale."""
    return verdict_errors(lesson.source, read_notebook(solution_path(course, lesson.source.stem)))


def _difference(path: Path, wanted: NotebookNode) -> str:
    """The first cell in which a built file differs from what would be built now, in words."""
    try:
        present = read_notebook(path).cells
    except CourseError as error:
        return error.what
    for position, cell in enumerate(wanted.cells):
        if position >= len(present) or present[position] != cell:
            return f"cell {position + 1} should be `{first_line(cell.source)}`"
    return "it has more cells than its source" if len(present) > len(wanted.cells) else "its metadata or format differ"


def holds(path: Path, text: str) -> bool:
    """Whether a file has exactly this content."""
    return path.is_file() and path.read_bytes() == text.encode()


def strays(course: Course, numbers: Sequence[str] | None) -> list[CourseError]:
    """Files without a source, sources and exercises without a lesson, numbers and names used twice."""
    stems = course.source_paths()
    problems = _misnamed_sources(course) + _unused_exercises(course, numbers)
    if numbers:
        return problems
    kept = {course.lessons: {".ipynb"}, course.solutions: {".ipynb", ".sha256"}}
    for folder, endings in kept.items():
        wanted = {stem + ending for stem in stems for ending in endings}
        files = [path for path in sorted(folder.glob("*")) if path.is_file() and path.name != ".gitignore"]
        problems += [
            CourseError(f"{course.shown(path)} has no source", f"rm {course.shown(path)}")
            for path in files
            if path.name not in wanted
        ]
    return problems


def _misnamed_sources(course: Course) -> list[CourseError]:
    """Files that look like a lesson and aren't named like one, and numbers that two lessons share."""
    stems = course.source_paths()
    problems = [
        CourseError(
            f"{course.shown(path)} starts with a digit but isn't named like a lesson",
            f"name it NN_topic.md, in small letters and underscores: mv {course.shown(path)} ...",
        )
        for path in sorted(course.sources.glob("*.md"))
        if path.stem[0].isdigit() and path.stem not in stems
    ]
    numbers = [stem[:2] for stem in stems]
    twice = sorted({number for number in numbers if numbers.count(number) > 1})
    return problems + [
        CourseError(
            f"two lessons have the number {number}: {', '.join(stem for stem in stems if stem.startswith(number))}",
            "give one of them another number",
        )
        for number in twice
    ]


def _unused_exercises(course: Course, numbers: Sequence[str] | None) -> list[CourseError]:
    """Exercises that no lesson uses, and names that two lessons share."""
    cells: dict[str, set[str]] = {}
    for stem, path in course.source_paths().items():
        words = set(path.read_text(encoding="utf-8").split("\n"))
        cells.setdefault(stem[:2], set()).update(words)
    problems: list[CourseError] = []
    for name, homes in course.all_exercises().items():
        if len(homes) > 1:
            what = (
                f"the exercise name {name} is used in lessons {' and '.join(homes)}; names are unique over the course"
            )
            problems.append(CourseError(what, "rename one of the two, its file and its function"))
        for number in homes:
            wanted = not numbers or number in {given.zfill(2) for given in numbers}
            if wanted and name not in cells.get(number, set()):
                file = course.shown(course.exercise_paths(number)[name])
                lesson = "no lesson has this number" if number not in cells else f"lesson {number} has no cell for it"
                problems.append(
                    CourseError(f"{file} is used nowhere: {lesson}", f"add a cell tagged exercise that holds {name}")
                )
    return problems
