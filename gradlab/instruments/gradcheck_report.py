"""How a gradient check looks: text, HTML, figure. Every sentence that a reader sees stands in `TEXT`."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gradlab.instruments.gradcheck import GradCheck, Row

COLUMNS = 80
MOST_ROWS = 8
MOST_LINES = 5

TEXT: dict[str, str] = {
    "raised": "gradcheck called this function at the inputs that you gave, or next to them.",
    "no float input": "gradcheck needs at least one floating-point input with at least one element. Integers, booleans "
    "and text are held constant: they have no gradient. Write 3.0 for 3, or pass variables=[...].",
    "complex": "gradcheck: {name} is complex. Pass its real and imaginary parts as two real inputs and join "
    "them inside.",
    "complex output": "gradcheck: the function returned a complex tensor. Return its real part or its absolute value.",
    "returned none": "gradcheck: the function returned None. End it with a return statement.",
    "not a variable": "gradcheck: variables= takes variables, not {type}. Pass it as an input instead.",
    "bad directions": 'gradcheck: directions is "auto", "elements" or a positive number, not {directions!r}.',
    "bad rtol": "gradcheck: rtol is None or a number from 0 upwards, not {rtol!r}.",
    # the first sentence of each verdict
    "agrees": "The gradient is the slope of the function, as far as {dtype} can tell.",
    "disagrees": "The gradient is not the slope of the function.",
    "kink": "The slopes to the left and to the right differ here: there is no derivative to check.",
    "no gradient": "TensorFlow gives None: nothing differentiable leads from this input to the output.",
    "not finite": "There are NaN or infinite numbers, so there is nothing to compare.",
    "too noisy": "The slope can't be measured well enough in {dtype} to say whether the gradient is right.",
    # labels
    "worst": "worst",
    "likely": "likely",
    "next": "next",
    "note": "note",
    "error": "error",
    "where": "where",
    "error line": "{error} of the largest slope; the measurement is good to {estimate}",
    "worst line": "{name}: analytic {analytic}, numerical {numerical} ± {estimate}",
    "kink line": "{name}: analytic {analytic}, between the slopes {left} and {right}",
    "jump line": "{name}: the function jumps here",
    "direction": "direction",
    "analytic": "analytic",
    "numerical": "numerical",
    "plus minus": "±",
    "step": "step",
    "verdict": "verdict",
    "more rows": "... and {count} more in .rows",
    # the likely mistake
    "kind zero": "The analytic gradient is 0 throughout {name}. A part of the function is computed outside TensorFlow "
    "(NumPy inside tf.py_function), or its gradient rule returns zeros.",
    "kind sign": "The sign is wrong: the analytic gradient is the negative of the numerical one.",
    "kind factor": "The analytic gradient is {factor} times the numerical one in every direction of {name}.",
    "kind count": "The analytic gradient is {factor} times the numerical one in every direction of {name}, and "
    "{factor} is a size in its shape {shape}: a sum where a mean belongs, or the reverse.",
    "kind transposed": "The gradient of {name} is transposed: swapping its last two axes makes it agree.",
    "kind upstream": "The gradient doesn't change with the upstream gradient: a rule forgets to multiply by it.",
    "kind element": "Only {name} is wrong: with its numerical value in place, everything agrees.",
    "kind shape": "The gradient of {name} has shape {got}; the input has shape {wanted}.",
    "kind stairs": "The function doesn't change at all near this point: it is a staircase (rounded, quantised), "
    "and the gradient is not that of the stairs.",
    "kind random": "The function is random. Its backward pass seems to draw other numbers than its forward pass.",
    "kind output": "The function returned no floating-point tensor: a cast to int, argmax or a comparison has no "
    "gradient.",
    "kind none": "No gradient for: {names}.",
    "kind unregistered": "An operation has no gradient: {error}",
    "kind value": "The function returned {value} at the inputs themselves.",
    "kind gradient": "The analytic gradient is {value} at {name} ({count} such elements).",
    "kind edge": "The function isn't finite next to the inputs, along {name}.",
    # what to do next
    "next agrees": "",
    "next disagrees": "Check the gradient rule of the operation that this input goes through first, alone, "
    "with gradcheck.",
    "next kink": "Move the inputs a little (x + 1e-2 * noise) and check there. Any value between the two slopes is a "
    "valid subgradient.",
    "next no gradient": "Look for round, floor, cast, argmax, .numpy() or np. functions between the input and the "
    "output, and replace them by differentiable ones.",
    "next not finite": "Look for a division by 0, log or sqrt of 0, or the norm of a zero vector; guard its input "
    "with a double tf.where.",
    "next too noisy": "Pass float64 inputs, remove large constants from the output, or check a smaller piece.",
    # what else was noticed
    "note random": "The function is random: it was given the same seeds for every call.",
    "note unrepeatable": "The function gives different values for the same inputs, even with the same seeds.",
    "note state": "The function changes variables (state); they were put back after every call.",
    "note unused": "The output doesn't depend on {name}: its gradient is None, and rightly so.",
    # the figure
    "figure agrees": "The numerical slope comes within {error} of the analytic one",
    "figure disagrees": "The numerical slope settles {error} away from the analytic one",
    "figure kink": "The slopes to the left and right stay apart as the step shrinks",
    "figure too noisy": "At no step is the numerical slope good enough: {estimate} at best",
    "figure not finite": "The function isn't finite close to the inputs",
    "figure x": "step (input's typical size = 1)",
    "figure y": "|numerical - analytic slope|",
    "figure y kink": "half the gap between the slopes",
    "figure alt": "Size of the error against the step, for {count} directions, both axes logarithmic. {finding}. "
    "Verdict: {verdict}.",
    "figure empty": "Numerical and analytic slope are equal to the last digit",
    "figure none": "Nothing was measured: {verdict}",
}


def say(key: str, **fields: Any) -> str:
    """The sentence `key`, with its fields filled in."""
    return TEXT[key].format(**fields)


def as_text(check: GradCheck) -> str:
    """The report, at most 80 columns wide, verdict first."""
    lines = [f"gradcheck: {check.verdict}", *_wrapped(_headline(check))]
    for label, words in _facts(check):
        lines += _wrapped(words, label)
    if check.rows:
        lines += ["", *_table(check)]
    return "\n".join(lines)


def as_html(check: GradCheck) -> str:
    """The report for a notebook: inherits the theme's colours, so it reads in light and dark."""
    facts = "".join(
        f"<tr><td style='text-align:left;opacity:.75'>{html.escape(label)}</td>"
        f"<td style='text-align:left'>{html.escape(words)}</td></tr>"
        for label, words in _facts(check)
    )
    shown, left = _shown(check.rows)
    head = "".join(f"<th>{html.escape(say(key))}</th>" for key in _HEAD)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(row)) + "</tr>" for row in shown)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if shown else ""
    more = f"<p>{html.escape(say('more rows', count=left))}</p>" if left else ""
    return (
        "<div style='color:inherit'>"
        f"<p><strong style='border:1px solid currentColor;padding:0 .4em'>{html.escape(check.verdict)}</strong> "
        f"{html.escape(_headline(check))}</p>"
        f"<table style='color:inherit'><tbody>{facts}</tbody></table>{table}{more}</div>"
    )


def as_figure(check: GradCheck) -> Any:
    """The V of truncation and rounding: the size of the error against the step, one line per direction."""
    from gradlab import plots

    fig, axes = plots.figure(width="normal")
    measured = [row for row in check.rows if any(error != 0 for error in row.errors)]
    drawn = sorted(measured, key=lambda row: row.verdict != check.verdict)[:MOST_LINES]
    for number, row in enumerate(drawn):
        steps, errors = np.array(row.steps), np.abs(np.array(row.errors))
        axes.plot(steps[errors > 0], errors[errors > 0], label=row.direction, **plots.line(number))
    axes.set(xlabel=say("figure x"), ylabel=say("figure y kink" if check.verdict == "kink" else "figure y"))
    if drawn:
        plots.log_ticks(axes, "xy")
        plots.label_lines(axes)
        key = f"figure {check.verdict}"
    else:
        key = "figure empty" if check.rows else "figure none"
    error, estimate = _percent(check.max_error), _percent(check.error_estimate)
    finding = say(key, error=error, estimate=estimate, verdict=check.verdict)
    plots.title(axes, finding)
    fig.alt = say("figure alt", count=len(drawn), finding=finding, verdict=check.verdict)
    return fig


_HEAD = ("direction", "analytic", "numerical", "plus minus", "step", "verdict")


def _headline(check: GradCheck) -> str:
    return say(check.verdict, dtype=check.dtype)


def _facts(check: GradCheck) -> Iterable[tuple[str, str]]:
    """The labelled lines below the headline: where, the likely mistake, the size of the error, notes, what to do."""
    fields = dict(check.kind_fields)
    if check.worst is not None:
        yield say("worst" if check.verdict == "disagrees" else "where"), _where(check)
    if check.kind:
        yield say("likely" if check.verdict == "disagrees" else "where"), say(f"kind {check.kind}", **fields)
    if check.verdict in ("agrees", "disagrees", "too noisy") and np.isfinite(check.max_error):
        error, estimate = _percent(check.max_error), _percent(check.error_estimate)
        yield say("error"), say("error line", error=error, estimate=estimate)
    for word, more in check.notes:
        yield say("note"), say(f"note {word}", **dict(more))
    if TEXT[f"next {check.verdict}"]:
        yield say("next"), say(f"next {check.verdict}")


def _where(check: GradCheck) -> str:
    worst = check.worst
    assert worst is not None
    if worst.jump:
        return say("jump line", name=worst.name)
    if check.verdict == "kink" and np.isfinite(worst.numerical):
        left, right = worst.numerical - abs(worst.corner), worst.numerical + abs(worst.corner)
        return say("kink line", name=worst.name, analytic=_long(worst.analytic), left=_long(left), right=_long(right))
    return say(
        "worst line",
        name=worst.name,
        analytic=_long(worst.analytic),
        numerical=_long(worst.numerical),
        estimate=_short(worst.error_estimate),
    )


def _wrapped(words: str, label: str = "") -> list[str]:
    start = f"  {label:8}" if label else "  "
    return textwrap.wrap(
        words, COLUMNS, initial_indent=start, subsequent_indent=" " * len(start), break_long_words=True
    )


def _shown(rows: tuple[Row, ...]) -> tuple[list[Row], int]:
    """The rows worth showing, those that don't agree first, and how many are left out."""
    order = sorted(range(len(rows)), key=lambda i: (rows[i].verdict == "agrees", i))[:MOST_ROWS]
    return [rows[i] for i in sorted(order)], len(rows) - len(order)


def _table(check: GradCheck) -> list[str]:
    shown, left = _shown(check.rows)
    cells = [[say(key) for key in _HEAD], *[list(_cells(row)) for row in shown]]
    lines = [f"  {_cut(c[0], 18):18} {c[1]:>13} {c[2]:>13} {c[3]:>8} {c[4]:>8}  {c[5]}" for c in cells]
    return lines + ([f"  {say('more rows', count=left)}"] if left else [])


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.direction,
        _long(row.analytic),
        _long(row.numerical),
        _short(row.error_estimate),
        _short(row.step),
        row.verdict,
    )


def _cut(words: str, room: int) -> str:
    return words if len(words) <= room else words[: room - 3] + "..."


def _long(value: float) -> str:
    return f"{value:.6g}"


def _short(value: float) -> str:
    return f"{value:.1e}" if value and np.isfinite(value) else f"{value:g}"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %" if 1e-5 < fraction < 10 else _short(fraction)
