"""What to write instead: the code for each cause, with the user's own names and lines where they are known.

An advice is text; lines that begin with four spaces are code to copy.
"""

import re

from gradlab.instruments.doctor import mend_lost, mend_sick, mend_tape
from gradlab.instruments.doctor.advice_texts import TEXTS
from gradlab.instruments.doctor.calls import call_in, statement
from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.lines import Line, Written

_BY_CAUSE = {**mend_tape.BY_CAUSE, **mend_lost.BY_CAUSE, **mend_sick.BY_CAUSE}


def advise(cut: Cut, name: str) -> str:
    """The advice for a cut; where an exception was raised, its class and message are the first line."""
    place = cut.place
    code = statement(place.file, place.line, place.code) if place else ""
    raised_in = re.search(r"\[Op:(\w+)\]", cut.details.get("error", ""))
    line = Line(cut, name, code, call_in(code, raised_in[1] if raised_in else cut.op))
    key, fields = _rewritten(line) or (cut.cause, {})
    known = {"name": name, "var": as_code(name), "last": name.rpartition("/")[2], "op": cut.op, "line": code or "..."}
    text = filled(TEXTS.get(key, ""), {**known, **fields})
    back = cut.details.get("back", "")
    if key.startswith("left-tensorflow") and back and back not in code:
        text += f" It comes back in `{back}`."
    for other in cut.also:
        if other in TEXTS:
            text += "\n" + TEXTS["also"].format(text=filled(TEXTS[other], known))
    return f"{cut.details['error']}\n{text}".strip("\n") if cut.details.get("error") else text


def _rewritten(line: Line) -> Written:
    """The first template that fits the line, by its cause."""
    for write in _BY_CAUSE.get(line.cut.cause, ()):
        written = write(line)
        if written is not None:
            return written
    return None


def as_code(name: str) -> str:
    """A variable's name if it can stand in code, else a word for it."""
    return name if re.fullmatch(r"[A-Za-z_][\w.]*(\[\d+\])?", name) else "variable"


def filled(template: str, fields: dict[str, str]) -> str:
    """A template with its fields: each paragraph one line, code of several lines indented as its first one."""
    lines: list[str] = []
    prose = False
    for line in template.strip("\n").splitlines():
        margin = " " * (len(line) - len(line.lstrip()))
        indented = {key: value.replace("\n", "\n" + margin) for key, value in fields.items()}
        if prose and not margin:
            lines[-1] += " " + line.format_map(_Known(fields))
        else:
            lines.append(line.format_map(_Known(indented)))
        prose = not margin
    return "\n".join(lines)


class _Known(dict[str, str]):
    """Fields of a template; what isn't known is left open."""

    def __missing__(self, key: str) -> str:
        return "..."
