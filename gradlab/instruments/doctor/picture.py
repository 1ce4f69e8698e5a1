"""The doctor's report for a notebook: the same as the text, the way to each cut as a small picture.

The picture is HTML without scripts. It takes its letters and grounds from the page, and its red and its green lie
between black and white, so it reads in light and in dark. JupyterLab cleans notebooks that it doesn't trust: nothing
here depends on what it takes away. A label says the same in words.
"""

import html
import re

from gradlab.instruments.doctor.story import Group, Row, Story, shown_file
from gradlab.instruments.doctor.text import (
    advice_of,
    blocks,
    error_of,
    folded_advice,
    heading,
    healthy,
    left_out,
    place,
    reaches,
    seen,
    shown_groups,
    verdict,
)
from gradlab.instruments.doctor.wording import listed, say

# At least 3:1 against white and against JupyterLab's dark grey, both; white letters on them are 4.5:1 and more.
_BAD, _GOOD = "#c4461f", "#0a7d5a"
_MUTED = "opacity: 0.75"
_BOX = "background: rgba(127, 127, 127, 0.12); color: inherit; border-radius: 4px; padding: 2px 8px"
_BREAK = "white-space: pre-wrap; overflow-wrap: anywhere"
_PILL = (
    "display: inline-block; background: none; color: inherit; border-radius: 14px; padding: 1px 12px; border: 2px solid"
)
_RAIL = "flex: none; width: 32px; display: flex; flex-direction: column; align-items: center"
_INDENT = "padding-left: 14px"


def as_html(story: Story, eagerly: bool = False) -> str:
    """The whole report."""
    colour = _BAD if story.groups else _GOOD
    parts = [_div(f"<strong>{_prose(verdict(story))}</strong>", f"border-left: 4px solid {colour}; padding: 2px 10px")]
    parts += [_group(group) for group in shown_groups(story)]
    if left_out(story):
        parts.append(_div(_prose(left_out(story)), _INDENT))
    if story.groups and story.healthy:
        parts.append(
            _div(_prose(healthy(story)), f"border-left: 4px solid {_GOOD}; padding: 2px 10px; margin-top: 1em")
        )
    if eagerly:
        parts.append(_div(_prose(say("eagerly")), f"{_MUTED}; margin-top: 0.6em; font-size: 0.92em"))
    return _div("".join(parts), "max-width: 54em; line-height: 1.45; margin: 0.3em 0")


def _group(group: Group) -> str:
    finding = group.finding
    names, what, why = heading(group)
    badge = f"background: {_BAD}; color: #fff; padding: 0.1em 0.5em; border-radius: 3px; white-space: nowrap"
    title = f'<strong style="{badge}">{_prose(what)}</strong>&nbsp; <strong>{_prose(names)}</strong>'
    parts = [_div(title, "")]
    reason = [_prose(say("because", why=why))] if why else []
    where = place(finding.file, finding.line)
    reason += [_small(where)] if where else []
    parts.append(_div(" &nbsp;".join(reason), "margin-top: 0.35em"))
    if finding.status == "raises" and error_of(finding)[1]:
        parts.append(_div(_prose(say("error", error=error_of(finding)[1])), "margin-top: 0.35em"))
    parts.append(_way(group))
    advice = list(blocks(advice_of(group)))
    if advice:
        label = say("write instead" if any(code for code, _ in advice) else "what to do")
        parts.append(_div(f"<strong>{_prose(label)}</strong>", "margin-top: 0.6em"))
        parts += [_pre(folded_advice(text)) if code else _div(_prose(text), "") for code, text in advice]
    if group.differing:
        parts.append(_div(_prose(say("same for", names=listed(group.differing))), ""))
    return _div("".join(parts), f"{_INDENT}; margin-top: 1em")


def _way(group: Group) -> str:
    """From the variable through the lines of code to the cut, and from the loss back to it."""
    finding = group.finding
    if not group.rows:
        return _div(_prose(finding.note), "margin-top: 0.35em") if finding.note else ""
    whole = reaches(finding)
    parts = []
    if whole or len(group.rows) > 1:
        pill = f'<code style="{_PILL} {_BAD}">{html.escape(finding.variable)}</code>'
        got = _small(say(f"got {finding.status}")) if whole else ""
        parts.append(_div(f"{pill} {got}", ""))
    file = finding.file
    for row in group.rows[:-1]:
        parts.append(_row(_code(row, row.file != file), f"2px dashed {_BAD}"))
        file = row.file if not row.gap else file
    cut = group.rows[-1]
    body = _code(cut, cut.file != file, cut=True) + _div(_small(seen(finding, cut)), "padding: 2px 0 2px 8px")
    mark = _sign("✗" if whole else "▸", _BAD)
    parts.append(_row(body, f"2px solid {_GOOD}" if whole else "2px solid transparent", mark))
    if whole:
        parts.append(_row(_small(say("sent")), f"2px solid {_GOOD}", _sign("▲", _GOOD)))
        parts.append(_div(f'<code style="{_PILL} {_GOOD}">{html.escape(say("loss"))}</code>', ""))
    label = html.escape(_label(group), quote=True)
    return f'<div role="img" aria-label="{label}" style="margin: 0.6em 0">{"".join(parts)}</div>'


def _row(body: str, line: str, mark: str = "") -> str:
    """One line of code beside the rail, with a mark on the rail where it begins."""
    rail = f'<div style="{_RAIL}">{mark}<div style="flex: 1; width: 0; border-left: {line}"></div></div>'
    return f'<div style="display: flex">{rail}<div style="padding: 3px 0; min-width: 0">{body}</div></div>'


def _sign(letter: str, colour: str) -> str:
    return f'<span style="color: {colour}; font-weight: bold; line-height: 1.6">{letter}</span>'


def _code(row: Row, other_file: bool, cut: bool = False) -> str:
    if row.gap:
        return _small(say("gap", count=row.gap))
    name = shown_file(row.file)
    head = _div(_small(say("in file", file=name) if name else say("in cell")), "") if other_file else ""
    text = html.escape(row.code)
    if cut and row.span is not None:
        left, right = row.span
        before, call, after = map(html.escape, (row.code[:left], row.code[left:right], row.code[right:]))
        text = f'{before}<strong style="border-bottom: 2px solid {_BAD}">{call}</strong>{after}'
    number = f'<span style="{_MUTED}">{row.line}&nbsp; </span>'
    loop = f" {_small(_over(row))}" if row.edge in ("last", "only") else ""
    edge = f"border: 2px solid {_BAD}" if cut else "border: 2px solid transparent"
    return f'{head}<code style="{_BOX}; {_BREAK}; display: inline-block; {edge}">{number}{text}</code>{loop}'


def _over(row: Row) -> str:
    """How often a loop ran, at its last line."""
    return say("times over" if row.edge == "only" else "lines over", times=row.loop, count=row.length)


def _label(group: Group) -> str:
    """The picture in words."""
    finding = group.finding
    steps = [say("picture step", line=r.line, code=r.code) for r in group.rows[:-1] if not r.gap]
    cut = group.rows[-1]
    at = say("picture step", line=cut.line, code=cut.code)
    if not reaches(finding):
        return say("picture place", start=finding.variable or say("the program"), at=at, note=finding.note)
    way = say("picture way", steps="; ".join(steps)) if steps else ""
    return say("picture", start=finding.variable, way=way, at=at, note=seen(finding, cut))


def _small(text: str) -> str:
    return f'<span style="{_MUTED}; font-size: 0.92em">{_prose(text)}</span>' if text else ""


def _pre(code: str) -> str:
    style = f"{_BOX}; {_BREAK}; margin: 0.35em 0; padding: 5px 10px"
    return f'<pre style="{style}">{html.escape(code)}</pre>'


def _prose(text: str) -> str:
    """Text with what stands in backquotes as code."""
    code = '<code style="background: rgba(127, 127, 127, 0.12); color: inherit; padding: 0 3px">'
    return re.sub(r"`([^`]+)`", rf"{code}\1</code>", html.escape(text))


def _div(body: str, style: str) -> str:
    return f'<div style="{style}">{body}</div>' if style else f"<div>{body}</div>"
