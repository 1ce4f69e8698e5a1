"""How a verdict, a hint, a solution and the progress look: text in a terminal, HTML in JupyterLab."""

import html
import math
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradlab.exercises.evidence import UNCHANGED
from gradlab.exercises.progress import Summary
from gradlab.exercises.texts import say
from gradlab.exercises.verdict import Verdict

VERDICT_TYPE = "application/vnd.gradlab.verdict+json"
WIDTH = 80
COLOURS = {"correct": "#0a7d5a", "wrong": "#c4461f", "error": "#b3266b", "not attempted": "#6b7280"}
SIGNS = {"correct": "✓", "wrong": "✗", "error": "!", "not attempted": "○"}


@dataclass(frozen=True)
class Shown:
    """Something to look at: the same content as text, as HTML, and, for programs, as data."""

    text: str
    html: str
    data: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return self.text

    def bundle(self) -> dict[str, Any]:
        """The content by media type, as Jupyter wants it."""
        bundle: dict[str, Any] = {"text/plain": self.text, "text/html": self.html}
        return bundle if self.data is None else {**bundle, VERDICT_TYPE: dict(self.data)}


def put(shown: Shown) -> None:
    """Display in a notebook; print anywhere else."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None and hasattr(shell, "kernel"):
        from IPython.display import display

        display(shown.bundle(), raw=True)
    else:
        print(shown.text)


def verdict(found: Verdict, with_example: bool, note: str = "") -> Shown:
    """A verdict; its first word is the outcome. ``note`` is a last line about something else than the answer."""
    lines = [str(reason) for reason in found.reasons]
    parts = _parts(found)
    if any(parts.values()) and found.outcome == "wrong":
        told = [say("part_passed" if right else "part_failed", part=part) for part, right in parts.items()]
        lines.append(say("parts", parts=", ".join(told)))
    if with_example and found.example is not None:
        lines.append(str(found.example))
    if note:
        lines.append(note)
    return Shown(
        text=_text(say(found.outcome), found.exercise, lines),
        html=_box(found.outcome, found.exercise, lines),
        data=found.as_data(),
    )


def stand_in(outcome: str, exercise: str, message: str, data: Mapping[str, Any]) -> Shown:
    """The answer to a check of the course's own function: the last outcome again, and what to do."""
    return Shown(_text(say(outcome), exercise, [message]), _box(outcome, exercise, [message]), data)


def note(text: str) -> Shown:
    """A sentence: a hint, a prediction noted."""
    return Shown(textwrap.fill(text, WIDTH), f'<div style="{_style("#6b7280")}">{html.escape(text)}</div>')


def source(exercise: str, code: str, explanation: str) -> Shown:
    """A reference answer with its explanation."""
    body = f"<pre>{html.escape(code)}</pre>{html.escape(explanation)}"
    return Shown(f"{code}\n\n{textwrap.fill(explanation, WIDTH)}", f'<div style="{_style("#6b7280")}">{body}</div>')


def _parts(found: Verdict) -> dict[str, bool]:
    return {part: right for part, right in found.parts.items() if part != UNCHANGED} if len(found.parts) > 2 else {}


def _text(outcome: str, exercise: str, lines: list[str]) -> str:
    head = f"{outcome}  {exercise}"
    return "\n".join(
        [head, *(textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="  ") for line in lines)]
    )


def _style(colour: str) -> str:
    return (
        f"border-left: 4px solid {colour}; padding: 0.3em 0.9em; margin: 0.3em 0; max-width: 46em; line-height: 1.45; "
        "color: var(--jp-content-font-color1, inherit)"
    )


def _box(outcome: str, exercise: str, lines: list[str]) -> str:
    colour = COLOURS[outcome]
    head = (
        f'<strong style="background: {colour}; color: #fff; padding: 0.1em 0.5em; border-radius: 3px">'
        f"{html.escape(say(outcome))}</strong>&nbsp; <code>{html.escape(exercise)}</code>"
    )
    body = "".join(f'<div style="margin-top: 0.35em">{html.escape(line)}</div>' for line in lines)
    return f'<div style="{_style(colour)}">{head}{body}</div>'


@dataclass(frozen=True)
class Row:
    """A line of the progress table."""

    lesson: str
    exercise: str
    level: str
    state: str
    attempts: int
    hints: int


def progress(rows: list[Row], summary: Summary, note: str = "") -> Shown:
    """The table of exercises, how many are correct, and how good the predictions were."""
    done = sum(row.state == "correct" for row in rows)
    title = say("progress_title", done=done, total=len(rows))
    below = [calibration(summary), *([note] if note else [])]
    heads = [say(key) for key in ("lesson", "exercise", "level", "state", "attempts", "hints")]
    cells = [
        [row.lesson, row.exercise, row.level, f"{SIGNS[row.state]} {say(row.state)}", row.attempts, row.hints]
        for row in rows
    ]
    return Shown(_text_table(title, heads, cells, below), _html_table(title, heads, cells, below))


def calibration(summary: Summary) -> str:
    """How many predictions were made, and the factor within which the better half of them lies."""
    guesses = summary.guesses.values()
    if not guesses:
        return say("no_predictions")
    factors = sorted(_factor(g.value, g.truth) for g in guesses if g.truth is not None)
    if not factors:
        return say("calibration_open", count=len(guesses))
    return say("calibration", count=len(guesses), told=len(factors), factor=_round(factors[(len(factors) - 1) // 2]))


def _round(factor: float) -> str:
    return f"{factor:.2g}" if factor < 10 else f"{factor:.0f}"


def _factor(value: float, truth: float) -> float:
    """By what factor a guess is off, 1 or more; infinite where the sign is wrong or one of the two is zero."""
    if value == truth:
        return 1.0
    return max(value / truth, truth / value) if value * truth > 0 else math.inf


def _text_table(title: str, heads: list[str], cells: list[list[Any]], below: list[str]) -> str:
    table = [heads, *[[str(cell) for cell in row] for row in cells]]
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    lines.insert(1, "─" * sum(widths, 2 * (len(widths) - 1)))
    return "\n".join([title, "", *lines, "", *(textwrap.fill(line, WIDTH) for line in below)])


def _html_table(title: str, heads: list[str], cells: list[list[Any]], below: list[str]) -> str:
    def line(row: list[Any], tag: str) -> str:
        return "<tr>" + "".join(f'<{tag} style="text-align: left">{html.escape(str(c))}</{tag}>' for c in row) + "</tr>"

    body = "".join(line(row, "td") for row in cells)
    notes = "".join(f"<p>{html.escape(text)}</p>" for text in below)
    return f"<table><caption>{html.escape(title)}</caption>{line(heads, 'th')}{body}</table>{notes}"
