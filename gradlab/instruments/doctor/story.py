"""What the findings come to: equal ones folded together, the way to each cut as lines of code, healthy ones apart."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from gradlab.instruments.doctor.calls import call_in, closed
from gradlab.instruments.doctor.finding import STATUSES, Finding, Step
from gradlab.instruments.doctor.wording import listed

# Operations that only hand a value on; they say nothing to a reader.
_SILENT = {"ReadVariableOp", "Identity", "NoOp", "VarHandleOp"}
LONGEST_LOOP = 12
MOST_ROWS = 9
LONGEST_PATH = 60


@dataclass(frozen=True)
class Row:
    """A line of the user's code on the way from a variable to the cut, with the operations that it ran in one go.

    Attributes:
        loop: 0, or how many times in a row this line and its neighbours in the loop were passed.
        length: how many lines that loop has.
        edge: `first`, `last`, `only` or `inner`, where the line stands in its loop.
        span: the part of the code that is the operation at the cut.
        gap: how many lines were left out here; such a row has nothing else.
    """

    file: str | None = None
    line: int | None = None
    code: str = ""
    ops: tuple[str, ...] = ()
    loop: int = 0
    length: int = 0
    edge: str = ""
    span: tuple[int, int] | None = None
    gap: int = 0


@dataclass(frozen=True)
class Group:
    """Variables whose findings are equal in everything but the name, told by the one with the longest way.

    Attributes:
        differing: the variables whose advice has other code in it than the one that is shown.
    """

    names: tuple[str, ...]
    finding: Finding
    rows: tuple[Row, ...]
    advice: str
    differing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Story:
    """Everything a report says, before it has words.

    Attributes:
        counts: how many variables have each status, `raises` counted by exception.
        total: how many variables a gradient was asked for.
    """

    groups: tuple[Group, ...]
    healthy: tuple[str, ...]
    counts: dict[str, int]
    total: int


def told(findings: Sequence[Finding]) -> Story:
    """The story of some findings, the worst first."""
    sick = [f for f in findings if not f.ok]
    sick.sort(key=lambda f: STATUSES.index(f.status))
    together: dict[tuple[object, ...], list[Finding]] = {}
    for finding in sick:
        together.setdefault(_kind(finding), []).append(finding)
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.status] = counts.get(finding.status, 0) + 1
    asked = sum(count for status, count in counts.items() if status not in ("untracked", "raises"))
    return Story(
        tuple(_group(members) for members in together.values()),
        tuple(f.variable for f in findings if f.ok),
        counts,
        asked,
    )


def _kind(f: Finding) -> tuple[object, ...]:
    alike = (f.status, f.cause, f.op, f.file, f.line, f.also, f.note, f.times, f.out_of)
    return (*alike, f.variable, f.advice) if f.status == "raises" else alike


def _group(members: list[Finding]) -> Group:
    shown = max(members, key=lambda f: len(f.path))
    names = tuple(dict.fromkeys(f.variable for f in members))
    advice = _nameless(shown)
    differing = tuple(f.variable for f in members if _nameless(f) != advice)
    joined = listed(names if not differing else (shown.variable,), "`")
    return Group(names, shown, rows(shown), advice.replace(_NAME, joined), differing)


_NAME = "\0"


def _nameless(finding: Finding) -> str:
    return finding.advice.replace(f"`{finding.variable}`", _NAME) if finding.variable else finding.advice


def rows(finding: Finding) -> tuple[Row, ...]:
    """The way from the variable to the cut; the last row is the cut."""
    found = _lines(finding.path)
    last = found[-1] if found else None
    if finding.line is not None and (last is None or (last.file, last.line) != (finding.file, finding.line)):
        found.append(Row(finding.file, finding.line, finding.code))
    if not found:
        return ()
    cut = found.pop()
    call = call_in(closed(cut.code), finding.op)
    cut = replace(cut, span=(call.start, min(call.end, len(cut.code))) if call is not None else None)
    return (*_elided(_loops(found)), cut)


def _lines(path: Iterable[Step]) -> list[Row]:
    """Consecutive operations of one line as one row."""
    found = []
    for (file, line, code), steps in groupby(path, key=lambda s: (s.file, s.line, s.code)):
        ops = tuple(step.op for step in steps if step.op not in _SILENT)
        if line is not None:
            found.append(Row(file, line, code, ops))
    return found


def _loops(lines: list[Row]) -> list[Row]:
    """Lines that are passed again and again in the same order are told once."""
    found: list[Row] = []
    place = 0
    while place < len(lines):
        length, times = _repeats(lines, place)
        if times < 2:
            found.append(lines[place])
            place += 1
            continue
        for i, row in enumerate(lines[place : place + length]):
            edge = "only" if length == 1 else "first" if i == 0 else "last" if i == length - 1 else "inner"
            found.append(replace(row, loop=times, length=length, edge=edge))
        place += length * times
    return found


def _repeats(lines: list[Row], start: int) -> tuple[int, int]:
    """The length of the loop that begins here, and how many times it was passed."""
    keys = [(row.file, row.line) for row in lines[start : start + 2 * LONGEST_LOOP]]
    for length in range(1, min(LONGEST_LOOP, len(keys) // 2) + 1):
        if keys[:length] == keys[length : 2 * length]:
            times = 2
            loop = keys[:length]
            while [(r.file, r.line) for r in lines[start + times * length : start + (times + 1) * length]] == loop:
                times += 1
            return length, times
    return 1, 1


def _elided(lines: list[Row]) -> list[Row]:
    """Of a long way, the beginning and the end."""
    if len(lines) <= MOST_ROWS:
        return lines
    head, tail = 3, MOST_ROWS - 4
    return [*lines[:head], Row(gap=len(lines) - head - tail), *lines[-tail:]]


def shown_file(file: str | None) -> str:
    """A file as a reader knows it: relative to the working folder, else its name; empty for a notebook's cell."""
    if not file:
        return ""
    path = Path(file)
    if re.search(r"\bipykernel_\d+\b", file) or file.startswith("<ipython-input"):
        return ""
    if not path.is_absolute():
        return file
    inside = path.is_relative_to(Path.cwd())
    shown = str(path.relative_to(Path.cwd())) if inside else path.name
    return shown if len(shown) <= LONGEST_PATH else ".../" + "/".join(path.parts[-2:])[-LONGEST_PATH:]
