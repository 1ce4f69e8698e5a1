"""The doctor's report for a notebook: the same as the text, the way to each cut as a small picture.

The picture is HTML without scripts, in JupyterLab's own colours where it has them, so it reads in light and in dark;
its red and its green lie between the two. A label says the same in words.
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
_TEXT = "var(--jp-content-font-color1, inherit)"
_MUTED = "var(--jp-content-font-color2, #6b7280)"
_CODE = "font-family: var(--jp-code-font-family, ui-monospace, monospace); font-size: var(--jp-code-font-size, 13px)"
_BOX = "background: rgba(127, 127, 127, 0.12); border-radius: 4px; padding: 2px 8px"
_BREAK = "white-space: pre-wrap; overflow-wrap: anywhere"
_MARK = "background: var(--jp-layout-color0, transparent); font-weight: bold; font-size: 1.25em; line-height: 1.3"
_PILL = f"{_CODE}; display: inline-block; border-radius: 1em; padding: 1px 12px; border: 1.5px solid"


def as_html(story: Story, eagerly: bool = False) -> str:
    """The whole report."""
    colour = _BAD if story.groups else _GOOD
    parts = [
        _div(f"<strong>{_prose(verdict(story))}</strong>", f"border-left: 4px solid {colour}; padding: 0.1em 0.8em")
    ]
    parts += [_group(group) for group in shown_groups(story)]
    if left_out(story):
        parts.append(_div(_prose(left_out(story)), _INDENT))
    if story.groups and story.healthy:
        parts.append(
            _div(_prose(healthy(story)), f"border-left: 4px solid {_GOOD}; padding: 0.1em 0.8em; margin-top: 1em")
        )
    if eagerly:
        parts.append(_div(_prose(say("eagerly")), f"color: {_MUTED}; margin-top: 0.6em; font-size: 0.92em"))
    return _div("".join(parts), f"color: {_TEXT}; max-width: 54em; line-height: 1.45; margin: 0.3em 0")


_INDENT = "padding-left: calc(0.8em + 4px)"


def _group(group: Group) -> str:
    finding = group.finding
    names, what, why = heading(group)
    badge = f"background: {_BAD}; color: #fff; padding: 0.1em 0.5em; border-radius: 3px; white-space: nowrap"
    title = f'<strong style="{badge}">{_prose(what)}</strong>&nbsp; <strong>{_prose(names)}</strong>'
    parts = [_div(title, "")]
    reason = [_prose(say("because", why=why))] if why else []
    where = place(finding.file, finding.line)
    reason += [f'<span style="{_CODE}; color: {_MUTED}">{html.escape(where)}</span>'] if where else []
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
        pill = f'<span style="{_PILL} {_BAD}">{html.escape(finding.variable)}</span>'
        got = _small(say(f"got {finding.status}")) if whole else ""
        parts.append(_div(f"{pill} {got}", ""))
    file = finding.file
    for row in group.rows[:-1]:
        parts.append(_row(_code(row, row.file != file), f"2px dashed {_BAD}"))
        file = row.file if not row.gap else file
    cut = group.rows[-1]
    note = f'<span style="color: {_MUTED}">{_prose(seen(finding, cut))}</span>'
    body = _code(cut, cut.file != file, cut=True) + _div(note, "padding: 2px 0 2px 8px; font-size: 0.92em")
    mark = f'<span style="color: {_BAD}; {_MARK}">{"✗" if whole else "▸"}</span>'
    parts.append(_row(body, f"2px solid {_GOOD}" if whole else "2px solid transparent", mark))
    if whole:
        parts.append(_row(_small(say("sent")), f"2px solid {_GOOD}", f'<span style="color: {_GOOD}">▲</span>'))
        parts.append(_div(f'<span style="{_PILL} {_GOOD}">{_prose(say("loss"))}</span>', ""))
    label = html.escape(_label(group), quote=True)
    return f'<div role="img" aria-label="{label}" style="margin: 0.6em 0">{"".join(parts)}</div>'


def _row(body: str, line: str, mark: str = "") -> str:
    """One line of code beside the rail; the mark sits on the rail."""
    rail = f"flex: none; width: 0; border-left: {line}; margin-left: 15px"
    sign = f'<span style="position: relative; left: -0.62em">{mark}</span>' if mark else ""
    return (
        f'<div style="display: flex"><div style="{rail}">{sign}</div>'
        f'<div style="margin: 3px 0 3px 16px; min-width: 0">{body}</div></div>'
    )


def _code(row: Row, other_file: bool, cut: bool = False) -> str:
    if row.gap:
        return _small(say("gap", count=row.gap))
    name = shown_file(row.file)
    head = _div(_small(say("in file", file=name) if name else say("in cell")), "") if other_file else ""
    text = html.escape(row.code)
    if cut and row.span is not None:
        before, call, after = (
            html.escape(row.code[slice(*ends)]) for ends in ((0, row.span[0]), row.span, (row.span[1], None))
        )
        text = f'{before}<span style="text-decoration: underline wavy {_BAD}; font-weight: bold">{call}</span>{after}'
    number = f'<span style="color: {_MUTED}; user-select: none">{row.line}&nbsp; </span>'
    loop = f" {_small(say('times over', times=row.loop))}" if row.edge in ("last", "only") else ""
    edge = f"; outline: 1.5px solid {_BAD}" if cut else ""
    return f'{head}<div style="{_CODE}; {_BOX}; {_BREAK}; display: inline-block{edge}">{number}{text}</div>{loop}'


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
    return f'<span style="color: {_MUTED}; font-size: 0.92em">{_prose(text)}</span>' if text else ""


def _pre(code: str) -> str:
    style = f"{_CODE}; {_BOX}; {_BREAK}; margin: 0.35em 0; padding: 5px 10px; color: {_TEXT}"
    return f'<pre style="{style}">{html.escape(code)}</pre>'


def _prose(text: str) -> str:
    """Text with what stands in backquotes as code."""
    code = f'<code style="{_CODE}; color: {_TEXT}; background: rgba(127, 127, 127, 0.12); padding: 0 3px">'
    return re.sub(r"`([^`]+)`", rf"{code}\1</code>", html.escape(text))


def _div(body: str, style: str) -> str:
    return f'<div style="{style}">{body}</div>' if style else f"<div>{body}</div>"
