"""What an exercise is, and where the exercises of the course are found."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from gradlab.exercises.texts import say

Probe = Callable[[Callable[..., Any], Any], Mapping[str, Any]]
HERE = Path(__file__).parent


class ForLearners(Exception):
    """An error whose message says all that a learner needs; in a notebook it is shown without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class UnknownExercise(ForLearners, LookupError):
    """No exercise of the course has this name; the message says which names are near."""


class NoAnswer(ForLearners, TypeError):
    """What was given is no function or class, or not of the kind that the exercise asks for."""


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be from the reference's: ``|theirs - expected| <= atol + rtol * |expected|``."""

    rtol: float = 1e-5
    atol: float = 1e-7


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that learners really give, as code, and the sentence that helps.

    ``name`` is a word for the mistake ("uses-fan-out"), the same in every language; ``answer`` is called as the
    exercise's own answer is; ``message`` says what the answer did and what to think about.
    """

    name: str
    answer: Callable[..., Any]
    message: str


@dataclass(frozen=True)
class Exercise:
    """A function or class that the learner writes, and all that is needed to judge it.

    ``probe(answer, rng)`` calls an answer on inputs drawn from ``rng`` (a ``numpy.random.Generator``) and returns the
    evidence: named parts, each a number, array, text, None, exception, or a list or dict of those. ``weights`` are the
    points of the parts, 1 each unless said. ``tolerance`` is one for all parts, or a dict from part to ``Tolerance``.
    ``examples`` is False where right answers may return different values, so that single calls can't be compared.
    """

    answer: Callable[..., Any]
    probe: Probe
    misconceptions: Sequence[Misconception]
    hints: Sequence[str]
    explanation: str
    tolerance: Tolerance | Mapping[str, Tolerance] = Tolerance()
    weights: Mapping[str, float] = field(default_factory=dict)
    level: Literal["core", "stretch"] = "core"
    examples: bool = True

    @property
    def name(self) -> str:
        """The name of the answer, which is the key of the exercise over the whole course."""
        return self.answer.__name__

    def tolerance_of(self, part: str) -> Tolerance:
        """The tolerance for the numbers of one part."""
        if isinstance(self.tolerance, Tolerance):
            return self.tolerance
        return self.tolerance.get(part, Tolerance())

    def weight_of(self, part: str) -> float:
        """The points of one part."""
        return self.weights.get(part, 1)


@dataclass(frozen=True)
class Entry:
    """An exercise as the directory tells it, without importing it."""

    name: str
    lesson: str
    path: Path

    @property
    def level(self) -> str:
        """``core`` or ``stretch``, read from the source."""
        for node in ast.walk(ast.parse(self.path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "level" and isinstance(node.value, ast.Constant):
                return str(node.value.value)
        return "core"


@cache
def index() -> Mapping[str, Entry]:
    """Every exercise of the course by name, from the names of the files alone."""
    entries = {}
    for folder in sorted(HERE.glob("lesson_[0-9][0-9]")):
        for path in sorted(folder.glob("*.py")):
            if path.stem != "__init__":
                entries[path.stem] = Entry(path.stem, folder.name.removeprefix("lesson_"), path)
    return entries


def locate(name: str) -> Path:
    """The file that holds an exercise.

    Raises ``UnknownExercise`` if the course has none of this name.
    """
    return _entry(name).path


def load(name: str) -> Exercise:
    """Import one exercise by name, and no other.

    Raises ``UnknownExercise`` if the course has none of this name.
    """
    entry = _entry(name)
    exercise = import_module(f"gradlab.exercises.lesson_{entry.lesson}.{entry.name}").exercise
    if exercise.name != name:
        raise ValueError(f"{entry.path.name} holds an exercise named {exercise.name!r}; file and answer share one name")
    return exercise


def _entry(name: str) -> Entry:
    if name not in index():
        raise UnknownExercise(say("unknown_exercise", name=name, near=_nearest(name)))
    return index()[name]


def _nearest(name: str) -> str:
    """The names most like this one, as an end for a message; nothing if none is like it."""
    import difflib

    plain = re.sub(r"[^a-z0-9_]", "", name.lower())
    near = difflib.get_close_matches(plain, [n.lower() for n in index()], n=3, cutoff=0.6)
    found = [n for n in index() if n.lower() in near]
    return say("near", names=", ".join(found)) if found else ""
