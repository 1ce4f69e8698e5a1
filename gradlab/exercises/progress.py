"""The learner's journal: attempts, hints and predictions, one line of JSON each, kept in the workbook.

Lines are only ever appended, each with one write, so two kernels can't lose each other's work and an interrupted
write costs at most its own line. A line that can't be read is passed over.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WORKBOOK_MARK = ".gradlab"
JOURNAL = "progress.jsonl"
SWITCH = "GRADLAB_PROGRESS"


@dataclass(frozen=True)
class Standing:
    """How far a learner is with one exercise.

    ``outcome`` is the best so far: once correct, it stays correct. ``last`` is the latest one.
    """

    outcome: str = "not attempted"
    last: str = "not attempted"
    attempts: int = 0
    failures: int = 0
    hints: int = 0
    seen_solution: bool = False


@dataclass(frozen=True)
class Guess:
    """A prediction and, once a figure has shown it, the truth beside it."""

    value: float
    truth: float | None = None


@dataclass(frozen=True)
class Summary:
    """All that the journal says: by exercise, and by the name of a prediction."""

    standings: Mapping[str, Standing] = field(default_factory=dict)
    guesses: Mapping[str, Guess] = field(default_factory=dict)

    def of(self, exercise: str) -> Standing:
        """The standing of one exercise."""
        return self.standings.get(exercise, Standing())


def find_workbook(start: Path | None = None) -> Path | None:
    """The workbook that a folder lies in, or None: the nearest folder upwards that holds the workbook's mark."""
    if os.environ.get(SWITCH) == "off":
        return None
    here = (start or Path.cwd()).resolve()
    return next((folder for folder in (here, *here.parents) if (folder / WORKBOOK_MARK).is_dir()), None)


class Journal:
    """Appends events and reads them back. Without a workbook it lives in memory, as long as the kernel does."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._memory: list[dict[str, Any]] = []

    def add(self, **event: Any) -> None:
        """Append one event.

        Raises ``OSError`` if the file can't be written; the event is kept in memory then.
        """
        if self.path is None:
            self._memory.append(event)
            return
        line = "\n" + json.dumps(event, ensure_ascii=False, allow_nan=False)
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                data = line.encode()
                written = os.write(descriptor, data)
                if written < len(data):
                    raise OSError(28, "No space left on device")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError:
            self._memory.append(event)
            raise

    def events(self) -> Iterator[dict[str, Any]]:
        """Every event that can be read, oldest first."""
        if self.path is not None and self.path.is_file():
            try:
                text = self.path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                text = ""
            for line in text.split("\n"):
                try:
                    event = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(event, dict):
                    yield event
        yield from self._memory

    def summary(self) -> Summary:
        """What all events add up to."""
        standings: dict[str, Standing] = {}
        guesses: dict[str, Guess] = {}
        for event in self.events():
            try:
                _take(event, standings, guesses)
            except (KeyError, TypeError, ValueError):
                continue
        return Summary(standings, guesses)


def _take(event: Mapping[str, Any], standings: dict[str, Standing], guesses: dict[str, Guess]) -> None:
    match event["event"]:
        case "check":
            name, outcome = str(event["exercise"]), str(event["outcome"])
            old = standings.get(name, Standing())
            tried = outcome != "not attempted"
            standings[name] = Standing(
                outcome="correct" if "correct" in (old.outcome, outcome) else outcome if tried else old.outcome,
                last=outcome,
                attempts=old.attempts + tried,
                failures=old.failures + (outcome in ("wrong", "error")),
                hints=old.hints,
                seen_solution=old.seen_solution,
            )
        case "hint" | "solution" as kind:
            name = str(event["exercise"])
            old = standings.get(name, Standing())
            hints = max(old.hints, int(event.get("number", 0)))
            standings[name] = Standing(
                old.outcome, old.last, old.attempts, old.failures, hints, old.seen_solution or kind == "solution"
            )
        case "predict":
            guesses[str(event["name"])] = Guess(float(event["value"]))
        case "reveal":
            name = str(event["name"])
            if name in guesses:
                guesses[name] = Guess(guesses[name].value, float(event["truth"]))


_open: dict[Path | None, Journal] = {}


def journal() -> Journal:
    """The journal of the workbook that the current folder lies in."""
    workbook = find_workbook()
    path = None if workbook is None else workbook / JOURNAL
    if path not in _open:
        _open[path] = Journal(path)
    return _open[path]
