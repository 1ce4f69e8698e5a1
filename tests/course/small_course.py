"""A course of one lesson in a folder of its own, for tests of the builder: no TensorFlow, a check of its own."""

from pathlib import Path
from textwrap import dedent

from gradlab.course.layout import Course

HEAD = """\
---
kernelspec:
  name: python3
  display_name: Python 3
lesson:
  question: How steep?
  needs: []
  minutes: {reading: 5, core: 3, stretch: 0}
  objectives:
    - draw
    - measure
    - tell
---

# 00 · Start

Hello.
"""

TOOLS = """\
import math


def check(answer):
    try:
        outcome = "correct" if answer(1.0) == math.sqrt(2.0) else "wrong"
    except NotImplementedError:
        outcome = "not attempted"
    verdict = {"exercise": answer.__name__, "outcome": outcome}
    bundle = {"application/vnd.gradlab.verdict+json": verdict, "text/plain": outcome}
    display(bundle, raw=True)
    return answer
"""

ANSWER = '''\
"""hypotenuse: the long side."""

import math


def hypotenuse(side):
    """The length of the long side.

    side: a number.
    """
    return math.sqrt(side * side + 1.0)  # Pythagoras


exercise = None
'''


def code(source: str, *tags: str) -> str:
    """A code cell as a source holds it."""
    options = f":tags: [{', '.join(tags)}]\n\n" if tags else ""
    return f"\n```{{code-cell}} ipython3\n{options}{source.strip(chr(10))}\n```\n"


def exercise(name: str) -> str:
    """An exercise cell and its check."""
    return code(name, "exercise") + code(f"{name} = check({name})")


BODY = code(TOOLS) + "\nThe task.\n" + exercise("hypotenuse") + code("print(hypotenuse(0.0))")


def course_at(root: Path) -> Course:
    """Where the parts of the small course lie."""
    return Course(
        root=root,
        sources=root / "lessons" / "source",
        lessons=root / "lessons",
        solutions=root / "solutions",
        exercises=root / "exercises",
        lock=root / "requirements.lock",
        package="exercises",
    )


def make(root: Path, *, body: str = BODY, head: str = HEAD, answers: dict[str, str] | None = None) -> Course:
    """Write a course of one lesson, ``00_start``, and say where it lies."""
    course = course_at(root)
    course.sources.mkdir(parents=True)
    course.lock.write_text("numpy==2\n")
    write_source(course, body=body, head=head)
    for name, text in (answers or {"hypotenuse": ANSWER}).items():
        write_answer(course, name, text)
    return course


def write_source(course: Course, *, body: str = BODY, head: str = HEAD, stem: str = "00_start") -> Path:
    """Write the source of a lesson."""
    path = course.sources / f"{stem}.md"
    path.write_text(head + body, encoding="utf-8")
    return path


def write_answer(course: Course, name: str, text: str, number: str = "00") -> Path:
    """Write the file of an exercise."""
    path = course.exercises / f"lesson_{number}" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), encoding="utf-8")
    return path
