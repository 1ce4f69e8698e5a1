"""What a lesson calls: predict, check, hint, solution, progress."""

import functools
import math
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from gradlab.exercises import show
from gradlab.exercises.evidence import collect
from gradlab.exercises.exercise import Exercise, NoAnswer, index, load
from gradlab.exercises.progress import find_workbook, journal
from gradlab.exercises.source import answer_source
from gradlab.exercises.standin import stand_in, stands_in_for
from gradlab.exercises.texts import look_up, say
from gradlab.exercises.verdict import Rival, Verdict, judge

SECONDS_FOR_RIVALS = 2.0
_last: dict[str, Verdict] = {}


def check(answer: Callable[..., Any]) -> Any:
    """Judge an answer, show the verdict, and return the function to go on with.

    ``answer`` is the learner's function or class; its name finds the exercise. Returned is the same object if it is
    correct, else a stand-in for the course's own, so that the lesson runs on. Given a stand-in, nothing is judged:
    the last verdict is repeated.

    Raises ``NoAnswer`` (a ``TypeError``) for something that is no function or class, and ``UnknownExercise`` for a
    name that the course doesn't have.
    """
    if stands_in_for(answer) is not None:
        return _repeat(answer)
    exercise = _exercise_of(answer, "check")
    found = evaluate(exercise, answer)
    book = journal()
    failures = book.summary().of(exercise.name).failures
    trouble = _note(event="check", exercise=exercise.name, outcome=found.outcome, misconceptions=found.misconceptions)
    _last[exercise.name] = found
    show.put(show.verdict(found, with_example=failures > 0 or found.is_vague, note=trouble))
    return answer if found.outcome == "correct" else stand_in(exercise.answer)


def evaluate(exercise: Exercise, answer: Callable[..., Any], seed: int | None = None) -> Verdict:
    """The verdict on an answer: both probes from one seed, and the known mistakes only if a part differs.

    Raises ``RuntimeError`` if the exercise's own reference fails its probe.
    """
    seed = zlib.crc32(exercise.name.encode()) if seed is None else seed
    learner = collect(exercise, answer, seed)
    reference = collect(exercise, exercise.answer, seed, quiet=True)
    if reference.end != "finished":
        raise RuntimeError(f"the reference answer of {exercise.name} fails its own probe: {reference.trouble}")
    return judge(exercise, learner, reference, _rivals(exercise, seed))


def _rivals(exercise: Exercise, seed: int) -> Iterator[Rival]:
    start = time.process_time()  # not the clock: on a busy machine a mistake must not go unnamed
    for mistake in exercise.misconceptions:
        if time.process_time() - start > SECONDS_FOR_RIVALS:
            return
        yield Rival(mistake.name, mistake.message, collect(exercise, mistake.answer, seed, quiet=True))


def _repeat(thing: Any) -> Any:
    name = stands_in_for(thing)
    assert name is not None
    last = _last.get(name)
    outcome = last.outcome if last else journal().summary().of(name).last
    told = say("stand_in_last", outcome=say(outcome)) if last else say("stand_in_no_last")
    data = {**(last.as_data() if last else {"exercise": name, "outcome": outcome}), "stand_in": True}
    show.put(show.stand_in(outcome, name, say("stand_in_given", name=name, last=told), data))
    return thing


def hint(answer: Callable[..., Any] | str) -> None:
    """Show the next hint for an exercise, given its function or its name. Hints cost nothing."""
    exercise = _exercise_of(answer, "hint")
    texts = list(look_up(f"{exercise.name}.hints", exercise.hints))
    given = journal().summary().of(exercise.name).hints
    if given < len(texts):
        told = say("hint", number=given + 1, total=len(texts), text=texts[given])
        _note(event="hint", exercise=exercise.name, number=given + 1)
    else:
        told = say("hint_again", name=exercise.name, text=texts[-1])
    show.put(show.note(told))


def solution(answer: Callable[..., Any] | str, give_up: bool = False) -> None:
    """Show the reference answer of an exercise, after one attempt, or at once with ``give_up=True``."""
    exercise = _exercise_of(answer, "solution")
    if not give_up and not journal().summary().of(exercise.name).attempts:
        show.put(show.note(say("solution_locked", name=exercise.name)))
        return
    _note(event="solution", exercise=exercise.name)
    code = answer_source(index()[exercise.name].path, exercise.name)
    show.put(show.source(exercise.name, code, look_up(f"{exercise.name}.explanation", exercise.explanation)))


def progress(lesson: str | int | None = None) -> None:
    """Show the table of the course, or of one lesson ("04"): states, attempts, hints and predictions."""
    note = "" if find_workbook() else say("progress_unkept")
    show.put(progress_table(lesson, note))


def progress_table(lesson: str | int | None = None, note: str = "") -> show.Shown:
    """The progress of the workbook that the current folder lies in, to be shown or printed."""
    wanted = None if lesson is None else f"{int(lesson):02d}"
    summary = journal().summary()
    rows = []
    for entry in sorted(index().values(), key=lambda e: (e.lesson, e.level, e.name)):
        if wanted in (None, entry.lesson):
            of = summary.of(entry.name)
            rows.append(show.Row(entry.lesson, entry.name, entry.level, of.outcome, of.attempts, of.hints))
    return show.progress(rows, summary, note)


class Prediction:
    """A number that the learner committed to, or a blank. A blank draws and says nothing."""

    def __init__(self, name: str, value: float | None) -> None:
        self.name = name
        self.value = value

    def mark(self, ax: Any, truth: float, axis: str = "y") -> None:
        """Draw "you: ..." into a figure, at the predicted value on ``axis`` ("x" or "y"), and keep the truth."""
        if self.value is None:
            return
        from gradlab import plots

        plots.mark(ax, self.value, say("prediction_mark", value=self.value), axis=axis)
        self._keep(truth)

    def reveal(self, truth: float) -> None:
        """Say the prediction and the truth in one line, where no figure shows them."""
        if self.value is not None:
            self._keep(truth)
            show.put(show.note(say("prediction_reveal", value=self.value, truth=float(truth))))

    def _keep(self, truth: float) -> None:
        if math.isfinite(truth):
            _note(event="reveal", name=self.name, truth=float(truth))

    def __repr__(self) -> str:
        return f"Prediction({self.name!r}, {self.value})"


def predict(name: str, value: float | None = None) -> Prediction:
    """Commit to a number before an experiment; ``None`` (or ``...``) leaves it blank.

    Raises ``TypeError`` if the value is no finite number.
    """
    if value is None or value is Ellipsis:
        return Prediction(name, None)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, str):
        raise TypeError(say("prediction_bad", name=name, what=repr(value)[:60]))
    _note(event="predict", name=name, value=number)
    show.put(show.note(say("predicted", name=name, value=number)))
    return Prediction(name, number)


def _note(**event: Any) -> str:
    """Write an event into the journal; what went wrong, in words, if it couldn't be written."""
    try:
        journal().add(**event)
    except OSError as error:
        return say("progress_failed", reason=error.strerror or str(error))
    return ""


def _exercise_of(thing: Any, verb: str) -> Exercise:
    """The exercise that a function, a class, a stand-in or a name belongs to."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    if verb != "check" and isinstance(thing, str):
        return load(thing)
    name = stands_in_for(thing) or getattr(thing, "__name__", None)
    if not callable(thing) or not isinstance(name, str):
        raise NoAnswer(say("not_a_function", verb=verb, what=type(thing).__name__))
    exercise = load(name)
    if isinstance(exercise.answer, type) != isinstance(thing, type):
        wanted = "class" if isinstance(exercise.answer, type) else "function"
        raise NoAnswer(say(f"needs_a_{wanted}", name=name, what=type(thing).__name__))
    return exercise
