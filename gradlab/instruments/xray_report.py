"""An X-ray as text, at most 80 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradlab.instruments.xray_lines import Line, Value
from gradlab.instruments.xray_look import (
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

COLUMNS = 80
BAR = 5
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def as_text(picture: XRay) -> str:
    """The whole X-ray: what it says, the source with its figures, the variables, the signs."""
    scales = scales_of(picture)
    lines = textwrap.wrap(f"xray: {headline(picture)}", COLUMNS)
    for block in picture.blocks:
        lines += ["", _title(f"{block.title}  {name_of_file(block.file)}", block is picture.blocks[0])]
        for line in block.lines:
            lines += _rows(line, scales)
    if not any(line.values for line in picture.lines):
        lines += ["", say("nothing")]
    lines += ["", _title(say("variables"))]
    for name, values in rows_of_weights(picture):
        count = say("list", count=len(values)) if len(values) > 1 else ""
        lines += _figures("", count, name, values, "✗" if is_sick(values) else " ", scales)
    found = elsewhere(picture)
    if found:
        lines += ["", say("elsewhere")]
        lines += [row for words in found for row in _wrapped(words, "  ✂ ")]
    lines.append("")
    for words in closing(picture, scales):
        lines += textwrap.wrap(words, COLUMNS, subsequent_indent="  " if ":" in words[:9] else "")
    return "\n".join(line.rstrip() for line in lines)


def _title(words: str, names: bool = False) -> str:
    head = f"{say('line'):>5} {say('forward'):>7} {'':{BAR}}  {say('gradient'):>8} {'':{BAR}}   "
    room = COLUMNS - len(head)
    return (head if names else " " * len(head)) + (words if len(words) <= room else words[: room - 1] + "…")


def _rows(line: Line, scales: tuple[Scale, Scale]) -> list[str]:
    number = "" if line.layer else str(line.number)
    rows = _figures(number, count_of(line), line.code, line.values, mark_of(line), scales)
    start = f"      {mark_of(line)} "
    return rows + [row for words in cuts_of(line.cuts) for row in _wrapped(words, start)]


def _figures(
    number: str, count: str, code: str, values: Sequence[Value], mark: str, scales: tuple[Scale, Scale]
) -> list[str]:
    """The rows of one line: smallest figures with bars, below them the largest, with all of them in order."""
    upper, lower = ["", ""], ["", ""]
    if values:
        for place, gradient in enumerate((False, True)):
            low, high = ends(values, gradient)
            upper[place] = _cell(low, _bar(low, high, scales[place]), 7 + place)
            if count:
                show = gradient_of if gradient else forward_of
                lower[place] = _cell(high, _spark([show(v) for v in values], scales[place]), 7 + place)
    width = 7 + 1 + BAR
    start = f"{number:>5} {upper[0]:{width}}  {upper[1]:{width + 1}} {mark:1} "
    below = f"{count:>5} {lower[0]:{width}}  {lower[1]:{width + 1}}   "
    room = COLUMNS - len(start)
    indent = " " * (len(code) - len(code.lstrip()) + 4)
    pieces = _broken(code, room, indent)
    rows = [start + pieces[0]]
    rest = pieces[1:]
    if count:
        rows.append(below + (rest.pop(0) if rest else ""))
    return rows + [" " * len(start) + piece for piece in rest]


def _broken(code: str, room: int, indent: str) -> list[str]:
    if len(code) <= room:
        return [code]
    start = code[: len(code) - len(code.lstrip())]
    return textwrap.wrap(
        code.strip(),
        room,
        initial_indent=start,
        subsequent_indent=indent if len(indent) < room // 2 else "    ",
        break_on_hyphens=False,
    )


def _cell(figure: Figure, bar: str, width: int) -> str:
    return f"{figure.words:>{width}} {bar}"


def _bar(low: Figure, high: Figure, scale: Scale) -> str:
    """A bar up to the smallest figure, shaded from there to the largest."""
    whole = round(scale.share(low.size) * BAR * 8)
    solid, part = divmod(whole, 8)
    if low.size and not whole:
        part = 1
    bar = "█" * solid + (_EIGHTHS[part] if part else "")
    shaded = round(scale.share(high.size) * BAR) - len(bar)
    return bar + "░" * max(0, shaded)


def _spark(figures: Sequence[Figure], scale: Scale) -> str:
    """All figures in order, as columns; of many, evenly spaced ones, the first and the last among them."""
    if len(figures) > BAR:
        figures = [figures[round(i * (len(figures) - 1) / (BAR - 1))] for i in range(BAR)]
    return "".join(_HEIGHTS[min(7, int(scale.share(figure.size) * 8))] if figure.size else "·" for figure in figures)


def _wrapped(words: str, start: str) -> list[str]:
    return textwrap.wrap(words, COLUMNS, initial_indent=start, subsequent_indent=" " * len(start))
