"""The doctor's report as plain text, 80 columns wide: the verdict, then the worst first."""

import re
import textwrap
from collections.abc import Iterable
from itertools import groupby

from gradlab.instruments.doctor.calls import folded
from gradlab.instruments.doctor.finding import STATUSES, Finding
from gradlab.instruments.doctor.story import Group, Row, Story, shown_file
from gradlab.instruments.doctor.wording import because, listed, say

WIDTH = 80
MOST_GROUPS = 10
_JOINED = "\0"
_LOOP = {"first": " ┐", "inner": " │", "last": " ┘", "only": ""}
_LOOP_ROOM = 14
# Causes whose way ends before the loss.
_NOWHERE = {"unused-variable", "unconnected-target", "untracked-variable"}


def as_text(story: Story, eagerly: bool = False) -> str:
    """The whole report."""
    parts = [_wrapped(verdict(story))]
    parts += ["\n".join(_group(group)) for group in shown_groups(story)]
    if left_out(story):
        parts.append(_wrapped(left_out(story)))
    if story.groups and story.healthy:
        parts.append(_wrapped(healthy(story)))
    if eagerly:
        parts.append(_wrapped(say("eagerly")))
    return "\n\n".join(parts)


def shown_groups(story: Story) -> tuple[Group, ...]:
    """The groups worth reading at once: the worst."""
    return story.groups[:MOST_GROUPS]


def left_out(story: Story) -> str:
    """That there is more, if there is."""
    count = len(story.groups) - MOST_GROUPS
    return say("left out", count=count) if count > 0 else ""


def verdict(story: Story) -> str:
    """What was found, in a sentence or a few."""
    sick = [status for status in STATUSES if status != "ok" and story.counts.get(status)]
    if not sick:
        if not story.total:
            return say("nothing asked")
        return say({1: "one ok", 2: "both ok"}.get(story.total, "all ok"), total=story.total)
    said = []
    for status in sick:
        count = story.counts[status]
        which = "one" if count == 1 else "some"
        if count == story.total and status not in ("raises", "untracked"):
            which = {1: "only", 2: "both"}.get(count, "all")
        errors = listed([error_of(g.finding)[0] for g in story.groups if g.finding.status == "raises"])
        said.append(say(f"{which} {status}", count=count, total=story.total, errors=errors))
    return " ".join(said)


def healthy(story: Story) -> str:
    """The healthy variables in a line."""
    names = listed(story.healthy)
    return say("healthy one" if len(story.healthy) == 1 else "healthy some", names=names)


def error_of(finding: Finding) -> tuple[str, str]:
    """The class of the exception that was raised, and what it said."""
    name, _, message = finding.advice.partition("\n")[0].partition(": ")
    message = re.sub(r"^\{\{.*?\}\}\s*|\s*\[Op:.*$", "", message)
    return name, re.sub(r"(?<=\.) [^.]*(?<![.!?)\]'\"])$", "", message)


def advice_of(group: Group) -> str:
    """What to write instead, without the exception's own words."""
    return group.advice.partition("\n")[2] if group.finding.status == "raises" else group.advice


def heading(group: Group) -> tuple[str, str, str]:
    """Whom a group is about, what their gradients are, and why."""
    finding = group.finding
    names = listed(group.names) or say("the program")
    what = say(finding.status, error=error_of(finding)[0])
    if finding.out_of > 1:
        what = say("times", what=what, times=finding.times, out_of=finding.out_of)
    why = because(finding.cause, finding.op, len(group.names))
    others = [because(cause, finding.op, len(group.names)) for cause in finding.also]
    for other in filter(None, others):
        why = say("or", why=why, other=other) if why else other
    return names, what, why


def place(file: str | None, line: int | None) -> str:
    """A file and a line, as editors and terminals understand them."""
    if line is None:
        return ""
    name = shown_file(file)
    return say("place", file=name, line=line) if name else say("cell", line=line)


def reaches(finding: Finding) -> bool:
    """Whether there is a way from the variable through the cut to the loss."""
    return bool(finding.path) and finding.cause not in _NOWHERE


def seen(finding: Finding, row: Row) -> str:
    """The operations of the line at the cut, and what was seen there."""
    if not finding.path:
        return finding.note
    ops = list(row.ops) if finding.op in row.ops else []
    if len(ops) > 5:
        chain = say("many steps", first=" → ".join(ops[:2]), last=" → ".join(ops[-2:]), count=len(ops))
    else:
        chain = " → ".join(ops) or (
            finding.op if re.match(r"[A-Z]|\S+$", finding.op) and finding.op != "unused" else ""
        )
    return say("seen", ops=chain, note=finding.note) if finding.note and chain else chain or finding.note


def blocks(advice: str) -> Iterable[tuple[bool, str]]:
    """Advice in parts: whether the part is code, and its text."""
    for code, lines in groupby(advice.splitlines(), key=lambda line: line.startswith("    ")):
        if code:
            yield True, "\n".join(line[4:] for line in lines)
        else:
            yield from ((False, line) for line in lines if line.strip())


def folded_advice(code: str) -> str:
    """Code of an advice, no wider than the report."""
    return folded(code, WIDTH - 6)


def _group(group: Group) -> list[str]:
    finding = group.finding
    names, what, why = heading(group)
    title = say("what", names=names, what=what)
    lines = [_wrapped(say("why", what=title, why=why) if why else title, hanging=2)]
    where = place(finding.file, finding.line)
    if where:
        lines.append(f"  {where}")
    if finding.status == "raises" and error_of(finding)[1]:
        lines.append(_wrapped(say("error", error=error_of(finding)[1]), indent=2, hanging=2))
    lines += _way(group)
    advice = list(blocks(advice_of(group)))
    if advice:
        lines += ["", "  " + say("write instead" if any(code for code, _ in advice) else "what to do")]
        lines += [
            textwrap.indent(folded_advice(text), " " * 6) if code else _wrapped(text, indent=4) for code, text in advice
        ]
    if group.differing:
        lines.append(_wrapped(say("same for", names=listed(group.differing)), indent=4))
    return lines


def _way(group: Group) -> list[str]:
    """The lines of code from the variable to the cut, the cut marked."""
    finding = group.finding
    if not group.rows:
        return [_wrapped(finding.note, indent=2)] if finding.note else []
    digits = max(len(str(row.line)) for row in group.rows)
    above, below = f"  ┊ {' ' * digits}  ", f"  │ {' ' * digits}  "
    whole = reaches(finding)
    margin = below if whole else " " * len(below)
    lines = [""]
    if len(group.rows) > 1:
        lines.append(_wrapped(finding.variable, indent=2))
    wide = max((len(row.code) for row in group.rows if row.edge), default=0)
    file = finding.file
    for row in group.rows:
        if row.gap:
            lines.append(f"{above}{say('gap', count=row.gap)}")
            continue
        if row.file != file:
            name = shown_file(row.file)
            lines.append(f"{above}{say('in file', file=name) if name else say('in cell')}:")
            file = row.file
        cut = row is group.rows[-1]
        mark = ("✗" if whole else ">") if cut else "┊"
        start = f"  {mark} {row.line:>{digits}}  "
        lines += _code(start, margin, row) if cut else [start + _short(row, WIDTH - len(start), wide)]
    said = seen(finding, group.rows[-1])
    if said:
        lines.append(_wrapped(said, start=margin, hanging=0))
    if whole:
        lines.append(f"  {say('loss')}")
    return lines


def _short(row: Row, room: int, wide: int) -> str:
    """A line of code in what room there is, and how often it ran; `wide` is where the brackets of loops stand."""
    after = _LOOP.get(row.edge, "")
    if row.edge in ("last", "only"):
        after += " " + say("loop", times=row.loop)
    room -= _LOOP_ROOM if row.edge else 0
    code = row.code if len(row.code) <= room else row.code[: room - 1] + "…"
    return code.ljust(min(wide, room)) + after if row.edge else code


def _code(start: str, margin: str, row: Row) -> list[str]:
    """The line at the cut in full, over several lines if need be, the operation underlined."""
    room = WIDTH - len(start)
    lines = []
    for begin, piece in _pieces(row.code, room):
        lines.append(((start if begin == 0 else margin) + piece).rstrip())
        if row.span is not None:
            left, right = max(row.span[0] - begin, 0), min(row.span[1] - begin, len(piece))
            if left < right:
                lines.append(margin + " " * left + "^" * (right - left))
    return lines


def _pieces(code: str, room: int) -> Iterable[tuple[int, str]]:
    """A line of code cut to fit, at a space or a bracket if there is one; where each piece begins, and the piece."""
    begin = 0
    while len(code) - begin > room:
        end = (
            max(code.rfind(" ", begin + room // 2, begin + room), code.rfind("(", begin + room // 2, begin + room)) + 1
        )
        end = end or begin + room
        yield begin, code[begin:end]
        begin = end
    yield begin, code[begin:]


def _wrapped(text: str, indent: int = 0, hanging: int = 0, start: str = "") -> str:
    """Text filled to the width; short code in backquotes stays on one line."""
    first = start or " " * indent
    whole = re.sub(r"`[^`]{1,40}`", lambda found: found[0].replace(" ", _JOINED), text)
    filled = textwrap.fill(
        whole,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first + " " * hanging,
        break_on_hyphens=False,
        break_long_words=True,
    )
    return filled.replace(_JOINED, " ")
