"""What an X-ray's text and HTML share: words, figures in short, places on a log scale, what is folded together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradlab.instruments.doctor.finding import Finding
from gradlab.instruments.xray_lines import Line, Value
from gradlab.instruments.xray_source import name_of_file

if TYPE_CHECKING:
    from gradlab.instruments.xray import XRay

TEXT: dict[str, str] = {
    "all": "a gradient reaches {name}",
    "all many": "a gradient reaches all {many} variables",
    "some": "a gradient reaches {some} of {many} variables",
    "none": "no gradient reaches {name}",
    "none many": "no gradient reaches any of the {many} variables",
    "raised": "{error} was raised: {message}",
    "line": "line",
    "forward": "forward",
    "gradient": "gradient",
    "scale": "Scale (rms) of each line's value and of the gradient that comes back to it. Bars are logarithmic: "
    "{forward} forward, {gradient} gradient.",
    "range": "{low} to {high}",
    "variables": "variables",
    "more": "… {count} more",
    "runs": "×{count}",
    "list": "({count})",
    "elsewhere": "on no line that is shown:",
    "where": "{file}, line {number}: {code}",
    "fault": "The doctor failed to say why ({fault}).",
    "next": "diagnose(fn, variables) says what to write instead.",
    "status ok": "ok",
    "status zero": "0",
    "status nonfinite": "nan",
    "status none": "none",
    "status aside": "unused",
    "status inner": "inner",
    "status data": "–",
    "status unrecorded": "~",
    "status unknown": "?",
    "what zero": "gradient exactly 0",
    "what nonfinite": "gradient not finite",
    "what none": "gradient None",
    "what raises": "raises",
    "what untracked": "not in the list",
    "legend runs": "×3: ran 3 times. Smallest figure, below it the largest, and all in order",
    "legend list": "(3): has 3 values. Smallest figure, below it the largest, and all in order",
    "legend cut": "✂: where the gradient is lost",
    "legend raised": "✂: where something was raised",
    "legend untracked": "!: a variable that is not in the list",
    "legend sick": "✗: no gradient passes (none: no way back, 0: exactly zero, nan or inf: not finite)",
    "legend aside": "unused: doesn't lead to the result",
    "legend inner": "inner: leads to a gradient that is taken inside",
    "legend data": "–: made from none of the variables",
    "legend unrecorded": "~: inside a hand-written gradient, not on the tape",
    "legend unknown": "?: not known, because something was raised",
    "nothing": "No line of your own source computed a floating-point tensor.",
    "alt runs": "the smallest figure above, the largest below; all in order",
    "source": "source",
}

SICK = ("none", "zero", "nonfinite")
# How little a figure says: the lowest first.
_RANK = {"unknown": 0, "unrecorded": 1, "data": 2, "aside": 3, "inner": 4, "none": 5, "zero": 6}
MOST_WEIGHTS = 10


def say(key: str, **fields: object) -> str:
    """The sentence `key`, with its fields filled in."""
    return TEXT[key].format(**fields)


@dataclass(frozen=True)
class Figure:
    """One figure as it is shown: its words, and its size where it has one."""

    words: str
    size: float | None = None


def number(value: float) -> str:
    """Two digits of a number in at most seven characters."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "nan" if math.isnan(value) else "inf"
    mantissa, exponent = f"{value:.1e}".split("e")
    power = int(exponent)
    if power in (0, 1):
        return f"{float(mantissa) * 10**power:.{1 - power}f}"
    if power in (2, 3):
        return f"{float(mantissa) * 10**power:.0f}"
    return f"{value:.{1 - power}f}" if -4 < power < 0 else f"{mantissa}e{power}"


def forward_of(value: Value) -> Figure:
    """The scale of a value."""
    return Figure(number(value.forward), value.forward)


def gradient_of(value: Value) -> Figure:
    """The scale of the gradient at a value, or a word for why there is none."""
    if value.status in ("ok", "nonfinite") and value.gradient is not None:
        return Figure(number(value.gradient), value.gradient)
    return Figure(say(f"status {value.status}"), 0.0 if value.status == "zero" else None)


def ends(values: Sequence[Value], gradient: bool) -> tuple[Figure, Figure]:
    """The smallest and the largest figure of several values."""

    def order(value: Value) -> tuple[int, float]:
        if not gradient:
            return 9, math.inf if math.isnan(value.forward) else value.forward
        size = value.gradient if value.gradient is not None else 0.0
        return _RANK.get(value.status, 9), math.inf if math.isnan(size) else size

    show = gradient_of if gradient else forward_of
    return show(min(values, key=order)), show(max(values, key=order))


@dataclass(frozen=True)
class Scale:
    """A logarithmic scale between two powers of ten."""

    low: int
    high: int

    def share(self, size: float | None) -> float:
        """How far along the scale a figure lies: 0 for none and zero, 1 for infinite."""
        if size is None or size == 0:
            return 0.0
        if not math.isfinite(size):
            return 1.0
        return min(1.0, max(0.0, (math.log10(size) - self.low) / (self.high - self.low)))

    def __str__(self) -> str:
        return say("range", low=_power(self.low), high=_power(self.high))


def scale_over(sizes: Iterable[float | None], least: int = 2) -> Scale:
    """The decades that hold all figures, with one to spare below, `least` of them at least."""
    logs = [math.log10(size) for size in sizes if size and math.isfinite(size)]
    if not logs:
        return Scale(-least, 0)
    high = math.ceil(max(logs) - 1e-9)
    low = math.floor(min(logs) + 1e-9)
    if min(logs) - low < 0.1 * (high - low + 1):
        low -= 1
    return Scale(min(low, high - least), high)


def _power(exponent: int) -> str:
    return f"{10.0**exponent:g}" if -4 < exponent < 4 else f"1e{exponent}"


def scales_of(picture: XRay) -> tuple[Scale, Scale]:
    """The scales of the forward bars and of the gradient bars."""
    values = [value for line in picture.lines for value in line.values] + [w.value for w in picture.variables]
    return scale_over(v.forward for v in values), scale_over(v.gradient for v in values)


def is_sick(values: Iterable[Value]) -> bool:
    """Whether no gradient, or none that is any good, comes back to one of these."""
    return any(value.status in SICK for value in values)


def headline(picture: XRay) -> str:
    """What the X-ray says, in one line."""
    if picture.error is not None:
        words = re.sub(r"\{\{function_node[^}]*\}\}", "", str(picture.error)).strip()
        message = (words.splitlines() or [""])[0]
        return say("raised", error=type(picture.error).__name__, message=message)
    many = len(picture.variables)
    good = sum(w.value.status == "ok" for w in picture.variables)
    name = picture.variables[0].name
    if good == many:
        return say("all", name=name) if many == 1 else say("all many", many=many)
    if good == 0:
        return say("none", name=name) if many == 1 else say("none many", many=many)
    return say("some", some=good, many=many)


def cuts_of(findings: Iterable[Finding]) -> list[str]:
    """What was found, equal findings folded together."""
    together: dict[tuple[str, str, str, str], list[str]] = {}
    for f in findings:
        together.setdefault((f.status, f.cause, f.op, f.note), []).append(f.variable)
    return [_cut(*key, names) for key, names in together.items()]


def _cut(status: str, cause: str, op: str, note: str, names: list[str]) -> str:
    named = [name for name in names if name]
    some = ", ".join(named) if len(named) <= 3 else f"{', '.join(named[:2])} and {len(named) - 2} more"
    what = say(f"what {status}") if cause else f"{say(f'what {status}')} {op}".strip()
    operation = f" ({op})" if cause and op and op not in note else ""
    why = ": ".join(part for part in (f"{cause}{operation}", note) if part)
    return ". ".join(part for part in (f"{some}: {what}" if some else what, why) if part)


def mark_of(line: Line) -> str:
    """The sign beside a line: where the gradient is lost, where none passes, where something unlisted is read."""
    if any(finding.status != "untracked" for finding in line.cuts):
        return "✂"
    return "✗" if is_sick(line.values) else "!" if line.cuts else ""


def elsewhere(picture: XRay) -> list[str]:
    """What was found on no line that is shown."""
    shown = {(line.file, line.number) for line in picture.lines}
    away = [f for f in picture.findings if not f.ok and (f.file, f.line) not in shown]
    found = []
    for place in dict.fromkeys((f.file, f.line, f.code) for f in away):
        file, line, code = place
        where = say("where", file=name_of_file(file), number=line, code=code) if file else ""
        here = cuts_of(f for f in away if (f.file, f.line, f.code) == place)
        found += [f"{words} [{where}]" if where else words for words in here]
    return found


def rows_of_weights(picture: XRay) -> list[tuple[str, tuple[Value, ...]]]:
    """The variables' rows; of many only the first and the last, and the rest in one row."""
    weights = picture.variables
    if len(weights) <= MOST_WEIGHTS:
        return [(w.name, (w.value,)) for w in weights]
    first, rest, last = weights[:5], weights[5:-4], weights[-4:]
    folded = (say("more", count=len(rest)), tuple(w.value for w in rest))
    return [*((w.name, (w.value,)) for w in first), folded, *((w.name, (w.value,)) for w in last)]


def count_of(line: Line) -> str:
    """How often a line ran, or how many values it has; empty where that is one."""
    if line.runs > 1 and line.values:
        return say("runs", count=line.runs)
    return say("list", count=len(line.values)) if len(line.values) > 1 else ""


def legend(picture: XRay) -> list[str]:
    """The signs that occur in this X-ray, explained."""
    lines = picture.lines
    values = [value for line in lines for value in line.values] + [w.value for w in picture.variables]
    found = {value.status for value in values}
    counts = [count_of(line) for line in lines]
    cuts = [finding for line in lines for finding in line.cuts]
    keys = [
        ("legend runs", any(count.startswith("×") for count in counts)),
        ("legend list", any(count.startswith("(") for count in counts)),
        ("legend cut", any(f.status not in ("raises", "untracked") for f in cuts)),
        ("legend untracked", any(mark_of(line) == "!" for line in lines)),
        ("legend raised", any(f.status == "raises" for f in cuts)),
        ("legend sick", bool(found & set(SICK))),
        *((f"legend {status}", status in found) for status in ("aside", "inner", "data", "unrecorded", "unknown")),
    ]
    return [say(key) for key, there in keys if there]


def closing(picture: XRay, scales: tuple[Scale, Scale]) -> list[str]:
    """What stands below the lines: the scales, the signs, and where to read on."""
    found = [say("scale", forward=scales[0], gradient=scales[1]), *legend(picture)]
    found += [say("fault", fault=fault) for fault in picture.faults]
    return found + ([say("next")] if any(not finding.ok for finding in picture.findings) else [])
