"""An X-ray for notebooks: a table that takes the theme's colours, so it reads in light and dark.

Only what JupyterLab leaves in place in a notebook that isn't trusted yet is used: no SVG, no style sheet.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradlab.instruments.xray_lines import Line, Value
from gradlab.instruments.xray_look import (
    SICK,
    Figure,
    Scale,
    closing,
    count_of,
    cuts_of,
    elsewhere,
    ends,
    forward_of,
    gradient_of,
    headline,
    is_sick,
    mark_of,
    rows_of_weights,
    say,
    scales_of,
)
from gradlab.instruments.xray_source import name_of_file

if TYPE_CHECKING:
    from gradlab.instruments.xray import XRay

# Middle tones: at least 3:1 on the white and on the near-black of JupyterLab's themes.
FORWARD, GRADIENT, BAD = "#3a7bd5", "#e0661b", "#d64545"
BAR = 64

_CELL = "padding:0 .5em;border:0;vertical-align:top;line-height:1.5;background:none;"
_CODE = "white-space:pre-wrap;overflow-wrap:anywhere;background:none;padding:0;color:inherit;font-size:inherit"
_FAINT = "opacity:.6;"
_RED = "rgba(214,69,69,.{:02})"


def as_html(picture: XRay) -> str:
    """The whole X-ray."""
    scales = scales_of(picture)
    parts = [_head()]
    for block in picture.blocks:
        parts.append(_title(block.title, name_of_file(block.file)))
        parts += [_line(line, scales) for line in block.lines]
    parts.append(_title(say("variables"), ""))
    for name, values in rows_of_weights(picture):
        count = say("list", count=len(values)) if len(values) > 1 else ""
        parts.append(_row("", count, html.escape(name), values, scales, "✗" if is_sick(values) else ""))
    below = [html.escape(words) for words in _below(picture, scales)]
    return (
        "<div style='color:var(--jp-content-font-color1,inherit);max-width:64em;overflow-x:auto'>"
        "<table style='table-layout:auto;border-collapse:collapse;border:0;width:100%;margin:0;"
        "font-size:var(--jp-code-font-size,13px)'>"
        f"<caption style='caption-side:top;text-align:left;padding:.3em .5em;color:inherit;font-size:1.1em'>"
        f"<strong>xray:</strong> {html.escape(headline(picture))}</caption>"
        f"{''.join(parts)}</tbody></table>"
        f"<p style='{_FAINT}opacity:.75;font-size:.9em;margin:.5em'>{'<br>'.join(below)}</p></div>"
    )


def _below(picture: XRay, scales: tuple[Scale, Scale]) -> list[str]:
    found = [f"✂ {say('elsewhere')} {words}" for words in elsewhere(picture)]
    found += [] if any(line.values for line in picture.lines) else [say("nothing")]
    return found + closing(picture, scales)


def _head() -> str:
    cells = (
        ("line", "right", "inherit"),
        ("forward", "left", FORWARD),
        ("gradient", "left", GRADIENT),
        ("", "left", "inherit"),
        ("source", "left", "inherit"),
    )
    row = "".join(
        f"<th scope='col' style='{_CELL}text-align:{side};color:{colour};font-weight:600'>"
        f"{html.escape(say(key)) if key else ''}</th>"
        for key, side, colour in cells
    )
    return f"<thead><tr style='background:none;border-bottom:1px solid rgba(128,128,128,.5)'>{row}</tr></thead><tbody>"


def _title(title: str, file: str) -> str:
    faint = f"<span style='{_FAINT}font-weight:400'>{html.escape(file)}</span>"
    return (
        f"<tr style='background:none'><th style='{_CELL}' colspan='4'></th><th scope='rowgroup' "
        f"style='{_CELL}text-align:left;padding-top:.9em'>{html.escape(title)} &nbsp;{faint}</th></tr>"
    )


def _line(line: Line, scales: tuple[Scale, Scale]) -> str:
    code = html.escape(line.code) or "&nbsp;"
    if line.layer:
        code = f"<em>{code}</em>"
    elif not line.runs:
        code = f"<span style='{_FAINT}'>{code}</span>"
    row = _row("" if line.layer else str(line.number), count_of(line), code, line.values, scales, mark_of(line))
    for words in cuts_of(line.cuts):
        row += (
            f"<tr style='background:{_RED.format(16 if mark_of(line) == '✂' else 6)};border-left:3px solid {BAD}'>"
            f"<td style='{_CELL}' colspan='4'></td>"
            f"<td style='{_CELL}text-align:left;white-space:normal'><span aria-hidden='true'>✂ </span>"
            f"{html.escape(words)}</td></tr>"
        )
    return row


def _row(number: str, count: str, code: str, values: Sequence[Value], scales: tuple[Scale, Scale], mark: str) -> str:
    ground = {"✂": _RED.format(16), "✗": _RED.format(9)}.get(mark, "none")
    edge = f"border-left:3px solid {BAD if mark == '✂' else 'transparent'}"
    many = f"<br><span title='{html.escape(say('alt runs'))}'>{html.escape(count)}</span>" if count else ""
    return (
        f"<tr style='background:{ground};{edge}'>"
        f"<td style='{_CELL}text-align:right;white-space:nowrap'><span style='{_FAINT}'>{number}</span>{many}</td>"
        f"<td style='{_CELL}white-space:nowrap'>{_figures(values, False, bool(count), scales[0])}</td>"
        f"<td style='{_CELL}white-space:nowrap'>{_figures(values, True, bool(count), scales[1])}</td>"
        f"<td style='{_CELL}padding:0;color:{BAD};text-align:center'>{mark}</td>"
        f"<td style='{_CELL}width:100%;text-align:left'><code style='{_CODE}'>{code}</code></td></tr>"
    )


def _figures(values: Sequence[Value], gradient: bool, many: bool, scale: Scale) -> str:
    if not values:
        return ""
    low, high = ends(values, gradient)
    colour = GRADIENT if gradient else FORWARD
    first = _pair(low, _bar(low, high, scale, colour), gradient)
    if not many:
        return first
    show = gradient_of if gradient else forward_of
    return first + _pair(high, _spark([show(value) for value in values], scale, colour), gradient)


def _pair(figure: Figure, picture: str, gradient: bool) -> str:
    bad = gradient and figure.words in {say(f"status {word}") for word in SICK} | {"inf"}
    style = f"font-weight:700;color:{BAD};" if bad else _FAINT if figure.size is None else ""
    return (
        "<div style='display:flex;align-items:center;gap:.4em'>"
        "<span style='display:inline-block;min-width:4.4em;text-align:right;font-variant-numeric:tabular-nums;"
        f"{style}'>"
        f"{html.escape(figure.words)}</span>{picture}</div>"
    )


def _bar(low: Figure, high: Figure, scale: Scale, colour: str) -> str:
    """A bar up to the smallest figure, lighter from there to the largest, on a track as long as the scale."""
    start, end = scale.share(low.size), scale.share(high.size)
    start = max(start, 0.03) if low.size else start
    light = f"<span style='flex:0 0 {100 * max(0.0, end - start):.1f}%;background:{colour};opacity:.4'></span>"
    return (
        f"<span aria-hidden='true' style='display:inline-flex;width:{BAR}px;height:.6em;"
        "background:rgba(128,128,128,.16)'>"
        f"<span style='flex:0 0 {100 * start:.1f}%;background:{colour}'></span>{light if end > start else ''}</span>"
    )


def _spark(figures: Sequence[Figure], scale: Scale, colour: str) -> str:
    """All figures in order, as columns; of many, evenly spaced ones."""
    most = BAR // 2
    if len(figures) > most:
        figures = [figures[round(i * (len(figures) - 1) / (most - 1))] for i in range(most)]
    wide = BAR / len(figures)
    bars = "".join(
        f"<span style='display:inline-block;width:{0.75 * wide:.1f}px;margin-right:{0.25 * wide:.1f}px;"
        f"height:{high:.1f}px;background:{colour}'></span>"
        for high in (max(1.0, 14 * scale.share(figure.size)) if figure.size else 0.0 for figure in figures)
    )
    return (
        f"<span aria-hidden='true' style='display:inline-flex;align-items:flex-end;width:{BAR}px;height:14px'>"
        f"{bars}</span>"
    )
