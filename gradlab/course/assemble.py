"""From a source and its answers to two notebooks: blank for the learner, solved for execution."""

import ast
import hashlib
from collections import Counter
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from gradlab.course.answer import Answer, read_answer
from gradlab.course.errors import CourseError
from gradlab.course.layout import Course
from gradlab.course.lesson_texts import LessonTexts
from gradlab.course.names import Binding, Home, bindings
from gradlab.course.source import Cell, Head, LessonError, LessonRefused, Source, python_of

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class Lesson:
    """A source with its answers: ``blank`` is the learner's notebook, ``solved`` the one to be executed."""

    source: Source
    answers: tuple[Answer, ...]
    blank: NotebookNode
    solved: NotebookNode


def assemble(course: Course, source: Source) -> Lesson:
    """Fill the exercise cells. Raises `LessonRefused` with every exercise that can't stand in its lesson."""
    errors: list[CourseError] = []
    answers: dict[str, Answer] = {}
    for name in source.exercises:
        try:
            answers[name] = _answer(course, source, name)
        except CourseError as error:
            errors.append(error)
    errors += name_errors(course, source, answers)
    if errors:
        raise LessonRefused(errors)
    return Lesson(
        source=source,
        answers=tuple(answers.values()),
        blank=_notebook(source, course.texts, {name: answer.stub for name, answer in answers.items()}),
        solved=_notebook(source, course.texts, {name: answer.source for name, answer in answers.items()}),
    )


def _answer(course: Course, source: Source, name: str) -> Answer:
    cell = next(cell for cell in source.cells if cell.exercise == name)
    path = course.exercise_paths(source.number).get(name)
    if path is None:
        homes = course.all_exercises().get(name)
        place = f"is an exercise of lesson {homes[0]}" if homes else "is the name of no exercise"
        expected = course.shown(course.exercises / f"lesson_{source.number}" / f"{name}.py")
        raise LessonError(f"{source.where(cell)}: {name} {place}", f"write {expected}, or correct the name")
    home = Home(course.exercise_module(source.number, name), course.aliases)
    return read_answer(path, home, stub_comment=course.texts.stub_comment)


def _notebook(source: Source, texts: LessonTexts, filling: dict[str, str]) -> NotebookNode:
    seen: Counter[tuple[str, str]] = Counter()
    cells = []
    for position, cell in enumerate(source.cells):
        name = cell.exercise
        text = filling[name].rstrip("\n") if name else cell.source
        if position == 0:
            text = _with_head(text, source.head, texts)
        repeat = seen[cell.kind, text]
        seen[cell.kind, text] += 1
        identity = name or cell_id(source.number, cell.kind, text, repeat)
        new = new_code_cell if cell.is_code else new_markdown_cell
        cells.append(new(text, id=identity, metadata={"tags": list(cell.tags)} if cell.tags else {}))
    return new_notebook(cells=cells, metadata={"kernelspec": dict(KERNELSPEC)}, nbformat_minor=5)


def cell_id(number: str, kind: str, source: str, repeat: int) -> str:
    """The identity of a cell: its lesson, kind and text, and how often that text came before; never its position."""
    return hashlib.sha256(f"{number}\n{kind}\n{repeat}\n{source}".encode()).hexdigest()[:12]


def _with_head(text: str, head: Head, texts: LessonTexts) -> str:
    """The first cell, with the front matter's table under the title."""
    title, _, rest = text.partition("\n")
    lessons = texts.needs_joint.join(head.needs)
    table = texts.head.format(
        question=head.question,
        builds_on=texts.builds_on.format(lessons=lessons) if head.needs else texts.builds_on_nothing,
        objectives="\n".join(texts.objective.format(objective=objective) for objective in head.objectives),
        **head.minutes,
    )
    return "\n\n".join(part for part in (title, table, rest.strip()) if part)


def name_errors(course: Course, source: Source, answers: dict[str, Answer]) -> list[CourseError]:
    """Every global name of an answer that doesn't mean in the lesson what it means in the exercise's file."""
    history = _history(course, source)
    return [
        error
        for place, cell in enumerate(source.cells)
        if cell.exercise in answers
        for error in _answer_errors(source, cell, place, answers[cell.exercise], history)
    ]


def _history(course: Course, source: Source) -> list[Binding]:
    """Every binding of a name by the lesson's cells, in order."""
    known: dict[str, Binding] = {}
    history: list[Binding] = []
    checks = {ast.dump(ast.parse(f"{name} = check({name})")) for name in source.exercises}
    for place, cell in enumerate(source.cells):
        if not cell.is_code:
            continue
        name = cell.exercise
        if name:
            found = [
                Binding(name, f"{course.exercise_module(source.number, name)}.{name}", f"exercise {name}", 1, place)
            ]
        else:
            tree = ast.parse(python_of(cell.source))
            kept = [statement for statement in tree.body if ast.dump(ast.Module([statement], [])) not in checks]
            home = Home(aliases=course.aliases)
            found = bindings(ast.Module(kept, []), cell.source, home, place=place, before=known)
        known |= {binding.name: binding for binding in found}
        history += found
    return history


def _answer_errors(source: Source, cell: Cell, place: int, answer: Answer, history: list[Binding]) -> list[CourseError]:
    errors: list[CourseError] = []
    for name, wanted in answer.needs.items():
        before = [b for b in history if b.name == name and b.place < place]
        after = [b for b in history if b.name == name and b.place > place]
        problem = _problem(source, answer, wanted, before, after, name)
        if problem:
            what, mend = problem
            line = answer.lines.get(name)
            used = f"uses {name} ({answer.path.name}, line {line})" if line else f"needs {name}"
            errors.append(LessonError(f"{source.path.name}: the answer {answer.name} {used}, {what}", mend))
    return errors


def _problem(
    source: Source, answer: Answer, wanted: Binding | None, before: list[Binding], after: list[Binding], name: str
) -> tuple[str, str] | None:
    """Why a name isn't the same object in the lesson, and what to do about it."""
    others = [b for b in [*before[-1:], *after] if wanted is None or b.key is None or b.key != wanted.key]
    if wanted is None and name in answer.builtins:
        if not others:
            return None
        return (
            f"which is Python's own, but {_place(source, others[0])} gives it another meaning",
            "rename it in the lesson",
        )
    if wanted is None:
        return "which its own file never defines", f"import or define {name} inside {answer.name}"
    if wanted.key is None:
        return (
            f"which its own file binds in more than one way (`{wanted.how}`)",
            f"bind {name} by one import at the top of {answer.path.name}",
        )
    if not before:
        late = f" ({_place(source, after[0])} does so too late)" if after else ""
        return f"which no cell before it binds{late}", _how_to_bind(source, answer, wanted)
    if others:
        return (
            f"which is `{wanted.how}` there, but {_place(source, others[0])} makes it `{others[0].how}`",
            f"bind {name} in both by the same import, at the top level and only once; or nest it inside {answer.name}",
        )
    return None


def _how_to_bind(source: Source, answer: Answer, wanted: Binding) -> str:
    if wanted.how.startswith(("import ", "from ")):
        return f"add `{wanted.how}` to the first code cell of {source.path}, or do without it"
    return f"nest {wanted.name} inside {answer.name}, so that the lesson shows it"


def _place(source: Source, binding: Binding) -> str:
    cell = source.cells[binding.place]
    line = f"line {cell.line + binding.line - 1}" if cell.line else f"cell {cell.number}"
    return f"{line} of {source.path.name}"
