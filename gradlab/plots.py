"""The look of every figure: one size system, one palette, titles that state findings, text alternatives.

Nothing here imports TensorFlow, touches pyplot, or changes Matplotlib's settings for anybody else.

    fig, ax = plots.figure()
    ax.plot(steps, error, **plots.line("measured"), label="float32")
    plots.log_ticks(ax, "xy")
    ax.set(xlabel="step", ylabel="relative error")
    plots.label_lines(ax)
    plots.title(ax, "The best step is near 5e-3")
    plots.show(fig, alt="The error of a central difference against its step: it falls, then rises again.")
"""

from __future__ import annotations

import io
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colors as mcolors
from matplotlib import patheffects
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.offsetbox import AnnotationBbox, TextArea, VPacker
from matplotlib.patches import FancyArrowPatch
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FuncFormatter, Locator, NullFormatter, NullLocator

from gradlab.look import (
    BAD,
    COLORS,
    CSS_PIXELS_PER_INCH,
    FONT,
    FORWARD,
    GOOD,
    GRADIENT,
    INK,
    LEARNER,
    LINES,
    MARKERS,
    MEASURED,
    MUTED,
    PAPER,
    PIXELS_PER_INCH,
    ROLE_LINES,
    ROLES,
    SMALL,
    THEORY,
    TITLE,
    CourseFigure,
    contrast,
    extent,
    look,
)

__all__ = [
    "BAD",
    "COLORS",
    "FORWARD",
    "GOOD",
    "GRADIENT",
    "INK",
    "LEARNER",
    "LINES",
    "MARKERS",
    "MEASURED",
    "MUTED",
    "PAPER",
    "ROLES",
    "THEORY",
    "CourseFigure",
    "Edge",
    "Node",
    "check_figure",
    "color",
    "figure",
    "graph",
    "heat",
    "label_line",
    "label_lines",
    "line",
    "log_ticks",
    "mark",
    "note",
    "number",
    "png",
    "readable",
    "save",
    "show",
    "title",
]

SHORTEST_ALT = 20
_WIDTHS = {"half": 5.0, "normal": 7.5, "wide": 8.8}


def figure(
    width: str = "normal", height: float | None = None, rows: int = 1, cols: int = 1, **subplots_kw: Any
) -> tuple[CourseFigure, Any]:
    """Make a figure in the course's look.

    Args:
        width: ``"half"``, ``"normal"`` or ``"wide"``: 5, 7.5 or 8.8 inches, which are 480, 720 or 845 pixels in a
            browser. The last fills a notebook in a window of 1280: wider, it would be shrunk, and its letters too.
        height: inches; by default what suits the number of rows.
        rows: number of rows of axes.
        cols: number of columns of axes.
        subplots_kw: handed to ``Figure.subplots`` (``sharex``, ``width_ratios``, ``squeeze``, ...).

    Returns:
        The figure, and one Axes, or an array of Axes as ``Figure.subplots`` gives it.

    Raises:
        ValueError: for another width.
    """
    if width not in _WIDTHS:
        raise ValueError(f"width is one of {', '.join(map(repr, _WIDTHS))}, not {width!r}")
    if height is None:
        height = rows * (3.6 if cols > 1 or width == "half" else 4.2) + 0.2
    with look():
        fig = CourseFigure(figsize=(_WIDTHS[width], height), dpi=CSS_PIXELS_PER_INCH, layout="constrained")
        FigureCanvasAgg(fig)
        axes = fig.subplots(rows, cols, **subplots_kw)
        for ax in fig.axes:
            # ticks are made when first drawn, with whatever settings hold then
            ax.tick_params(labelsize=SMALL, color=MUTED, labelcolor=INK)
    return fig, axes


def color(name: str | int) -> str:
    """The colour of a role (``"gradient"``), of a place in the palette (``2``), or any colour as it is."""
    if isinstance(name, int):
        return COLORS[name % len(COLORS)]
    return ROLES.get(name, name)


def line(role: str | int, **changes: Any) -> dict[str, Any]:
    """Keyword arguments for ``ax.plot``: colour, line style and marker of a role or of a place in the palette.

    Colour is never the only difference between two lines: ``ax.plot(x, y, **plots.line("theory"))``. Where markers
    would crowd a long line, ``plots.line("measured", marker="")``.

    Raises:
        ValueError: no such role.
    """
    if isinstance(role, int):
        style = {"linestyle": LINES[role % len(LINES)], "marker": MARKERS[role % len(MARKERS)]}
    elif role in ROLE_LINES:
        style = ROLE_LINES[role]
    else:
        raise ValueError(f"no such role: {role!r}; there are {', '.join(ROLE_LINES)}")
    return {"color": color(role), "linewidth": 2.4, "markersize": 6.5, "markeredgewidth": 0.0, **style, **changes}


def readable(name: str | int) -> str:
    """The colour of ``name`` darkened towards INK until text in it has 4.5:1 against the paper (WCAG 2.2, 1.4.3)."""
    wanted, ink = np.array(mcolors.to_rgb(color(name))), np.array(mcolors.to_rgb(INK))
    mixtures = ((1 - share) * wanted + share * ink for share in np.linspace(0, 1, 21))
    return next(mcolors.to_hex(mixed) for mixed in mixtures if contrast(mixed, PAPER) >= 4.5)


def number(value: float | str, digits: int = 3) -> str:
    """A number as the figures write it: ``1e-3``, ``0.25``, ``1200``; text is returned as it is."""
    if isinstance(value, str):
        return value
    value = float(value)
    if np.isnan(value):
        return "NaN"
    sign, size = "−" if value < 0 else "", abs(value)
    if np.isinf(size):
        return f"{sign}∞"
    if size == 0 or 1e-3 < size < 1e5:
        return sign + (f"{size:.{digits}g}" if size < 10**digits else f"{size:.0f}")
    mantissa, exponent = f"{size:.{digits - 1}e}".split("e")
    return f"{sign}{float(mantissa):g}e{int(exponent)}"


def title(where: Axes | Figure, finding: str) -> Text:
    """Put the finding above axes (or, given a figure, above all its panels), left-aligned and wrapped to the width."""
    fig = where if isinstance(where, Figure) else where.get_figure(root=True)
    with look():
        if isinstance(where, Figure):
            text = where.suptitle(finding, x=0.02, ha="left", fontsize=TITLE, fontweight="bold", color=INK)
        else:
            alone = fig is None or sum(not _is_colorbar(ax) for ax in fig.axes) == 1
            size = TITLE if alone else FONT
            text = where.set_title(finding, loc="left", fontsize=size, fontweight="bold", color=INK)
    if isinstance(fig, CourseFigure):
        fig.add_title(text, None if isinstance(where, Figure) else where, finding)
    return text


def log_ticks(ax: Axes, axis: str = "y", most: int = 8) -> None:
    """Make an axis (``"x"``, ``"y"`` or ``"xy"``) logarithmic, with decades written as one types them: 1e-3.

    ``most`` is the largest number of ticks. Values of zero and below are left out, as they have no place there.
    """
    for which in axis:
        if which == "x":
            ax.set_xscale("log", nonpositive="mask")
        else:
            ax.set_yscale("log", nonpositive="mask")
        one = ax.xaxis if which == "x" else ax.yaxis
        one.set_major_locator(_Decades(most))
        one.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        one.set_minor_locator(NullLocator())
        one.set_minor_formatter(NullFormatter())


class _Decades(Locator):
    """Powers of ten inside the view; every second, third, fifth of them where there are many."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self) -> list[float]:
        """Positions of the ticks in the present view."""
        return self.tick_values(*self.axis.get_view_interval())  # type: ignore[union-attr]

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """Positions of the ticks between two positive limits."""
        low, high = sorted((vmin, vmax))
        if not (np.isfinite(high) and low > 0):
            return []
        first, last = int(np.ceil(np.log10(low) - 1e-9)), int(np.floor(np.log10(high) + 1e-9))
        if last - first < 1:
            fine = [part * 10.0**decade for decade in range(first - 1, last + 1) for part in (1, 2, 5)]
            return [tick for tick in fine if low <= tick <= high]
        every = next(step for step in (1, 2, 3, 5, 10, 20, 50, 100, 200) if (last - first) // step < self.most)
        return [10.0**decade for decade in range(first, last + 1) if decade % every == 0]


def label_line(
    ax: Axes, x: float, y: float, text: str, color: str | int = "ink", ha: str = "left", **text_kw: Any
) -> Annotation:
    """Write ``text`` beside the data point (x, y), in its line's colour, darkened so that it can be read.

    ``ha`` is the side of the text that touches the point: ``"left"`` puts the text to the right of it, ``"center"``
    above it. Labels of one figure move apart, up and down, until none covers another.
    """
    across, up = {"left": (8, 0), "right": (-8, 0), "center": (0, 12)}[ha]
    return _words(ax, text, (x, y), (across, up), color, **{"ha": ha, "arrowprops": _leader(ha), **text_kw})


def label_lines(ax: Axes) -> list[Annotation]:
    """Label each line that has a ``label`` at its last visible point, instead of a legend. Call it after plotting."""
    made = []
    for one in ax.get_lines():
        name = str(one.get_label())
        if name.startswith("_"):
            continue
        x, y = np.asarray(one.get_xdata(), dtype=float), np.asarray(one.get_ydata(), dtype=float)
        seen = _visible(x, ax.get_xlim(), ax.get_xscale()) & _visible(y, ax.get_ylim(), ax.get_yscale())
        if seen.any():
            last = np.flatnonzero(seen)[-1]
            made.append(label_line(ax, x[last], y[last], name, mcolors.to_hex(one.get_color())))
    return made


def _visible(values: np.ndarray, limits: tuple[float, float], scale: str) -> np.ndarray:
    low, high = sorted(limits)
    return np.isfinite(values) & (values >= low) & (values <= high) & ((values > 0) | (scale != "log"))


def note(
    ax: Axes,
    text: str,
    xy: tuple[float, float],
    offset: tuple[float, float] | None = None,
    color: str | int = "ink",
    **text_kw: Any,
) -> Annotation:
    """Point at (x, y) in data coordinates with a thin arrow and say what is there.

    ``offset`` is where the middle of the text stands, in points from (x, y); without it a free place is looked for,
    where the text covers no line, point or other word.
    """
    arrow = {"arrowstyle": "-|>", "color": MUTED, "linewidth": 1.2, "shrinkB": 5, "mutation_scale": 12}
    kw: dict[str, Any] = {"fontsize": SMALL, "fontweight": "normal", "ha": "center", "arrowprops": arrow, **text_kw}
    said = _words(ax, text, xy, offset or (0, 30), color, parted=False, **kw)
    fig = ax.get_figure(root=True)
    if offset is None and isinstance(fig, CourseFigure):
        fig.add_later(lambda: _find_room(ax, said))
    return said


def _find_room(ax: Axes, words: Annotation) -> None:
    """Move ``words`` to the nearest of a few dozen places where it covers least."""
    fig = ax.get_figure(root=True)
    assert fig is not None
    frame, size = ax.get_window_extent(), extent(words)
    point = ax.transData.transform(words.xy)
    taken = np.concatenate([_ink(ax), point[None]])
    others = [
        extent(text) if isinstance(text, Annotation) else text.get_window_extent()
        for text in ax.texts
        if text is not words and text.get_visible()
    ]
    best = (np.inf, words.xyann)
    for far in (1.0, 1.6, 2.4, 3.4):
        for angle in np.radians([60, 120, -60, -120, 30, 150, -30, -150, 90, -90, 0, 180]):
            reach = np.array([size.width / 2 + 12 * far, size.height / 2 + 18 * far])
            centre = point + reach * np.array([np.cos(angle), np.sin(angle)]) * np.array([1.0, 1.3])
            box = size.translated(*(centre - [(size.x0 + size.x1) / 2, (size.y0 + size.y1) / 2]))
            roomy = box.padded(5)
            covered = ((taken > [roomy.x0, roomy.y0]) & (taken < [roomy.x1, roomy.y1])).all(axis=1).sum()
            outside = not (frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1)
            cost = 3.0 * covered + 400 * outside + 200 * sum(roomy.overlaps(other) for other in others) + far
            if cost < best[0]:
                best = (cost, tuple((centre - point) * 72 / fig.dpi))
    words.xyann = best[1]


def _ink(ax: Axes) -> np.ndarray:
    """Points, in pixels, along everything that is drawn in ``ax``: lines, scattered points, tops of bars."""
    found = [np.empty((0, 2))]
    for one in ax.get_lines():
        path = one.get_transform().transform(np.asarray(one.get_xydata(), dtype=float))
        path = path[np.isfinite(path).all(axis=1)]
        for start, end in pairwise(path):
            pieces = min(200, max(1, int(np.hypot(*(end - start)) / 4)))
            found.append(start + np.linspace(0, 1, pieces)[:, None] * (end - start))
        found.append(path)
    found.extend(
        points.get_offset_transform().transform(np.ma.filled(points.get_offsets(), np.nan)) for points in ax.collections
    )
    for bar in ax.patches:
        box = bar.get_window_extent()
        found.append(np.array([(x, y) for x in (box.x0, box.x1) for y in np.linspace(box.y0, box.y1, 30)]))
    ink = np.concatenate(found)
    return ink[np.isfinite(ink).all(axis=1)]


def mark(ax: Axes, value: Any, label: str, axis: str = "y", color: str | int = "learner") -> None:
    """Draw a dashed line at ``value`` on an axis and write ``label`` at it. Call it after plotting.

    ``None`` draws nothing. A value outside the view extends the axis; one so far away that the data would be squashed,
    one that isn't finite, and one that a log axis can't show, are said in words at the edge instead.

    Raises:
        ValueError: ``axis`` is neither ``"x"`` nor ``"y"``.
        TypeError: ``value`` is not a single number.
    """
    if axis not in ("x", "y"):
        raise ValueError(f'axis is "x" or "y", not {axis!r}')
    if value is None:
        return
    try:
        place = float(np.asarray(value, dtype=float).reshape(()))
    except (TypeError, ValueError):
        raise TypeError(f"mark draws one number, not {value!r}") from None
    log = (ax.get_yscale() if axis == "y" else ax.get_xscale()) == "log"
    if not np.isfinite(place):
        _edge_words(ax, f"{label}\n(can't be drawn)", axis, 0.5, color)
    elif log and place <= 0:
        _edge_words(ax, f"{label}\n(not on a log axis)", axis, 0.0, color)
    else:
        side = _make_room(ax, place, axis, log)
        if side is None:
            _rule(ax, place, label, axis, color)
        else:
            arrow = {("y", 1.0): "↑", ("y", 0.0): "↓", ("x", 1.0): "→", ("x", 0.0): "←"}[axis, side]
            _edge_words(ax, f"{label} {arrow}\n(off the scale)", axis, side, color)


def _rule(ax: Axes, place: float, label: str, axis: str, shade: str | int) -> None:
    """The dashed line with its words: right of the axes for y, inside at the top for x."""
    style: dict[str, Any] = {"color": color(shade), "linestyle": (0, (3, 2)), "linewidth": 2.0, "zorder": 2.5}
    if axis == "y":
        ax.axhline(place, **style)
        _words(ax, label, (1.0, place), (8, 0), shade, xycoords=ax.get_yaxis_transform(), arrowprops=_leader("left"))
        return
    ax.axvline(place, **style)
    across = ax.transAxes.inverted().transform(ax.transData.transform((place, ax.get_ylim()[0])))[0]
    left = across < 0.7
    kw: dict[str, Any] = {"ha": "left" if left else "right", "va": "top", "bbox": _plate()}
    _words(ax, label, (place, 1.0), (7 if left else -7, -3), shade, xycoords=ax.get_xaxis_transform(), **kw)


def _edge_words(ax: Axes, text: str, axis: str, side: float, shade: str | int) -> None:
    """Words at the edge where a value would be, if it could be drawn: ``side`` is 0 at the low end, 1 at the high."""
    if axis == "y":
        _words(ax, text, (1.0, 0.05 + 0.9 * side), (8, 0), shade, xycoords=ax.transAxes)
    else:
        ha = "left" if side < 0.3 else "right" if side > 0.7 else "center"
        at = (0.01 + 0.98 * side, 1.0)
        _words(ax, text, at, (0, -3), shade, xycoords=ax.transAxes, ha=ha, va="top", bbox=_plate())


def _make_room(ax: Axes, place: float, axis: str, log: bool) -> float | None:
    """Extend the axis to hold ``place``; or say at which end (0.0 or 1.0) it lies, if it is too far for that."""
    limits = ax.get_ylim() if axis == "y" else ax.get_xlim()
    forward: Callable[[float], float] = np.log10 if log else float
    low, high = sorted(float(forward(limit)) for limit in limits)
    at = float(forward(place))
    if low <= at <= high:
        return None
    wider = max(high, at) - min(low, at)
    if ax.has_data() and wider > max(4 * (high - low), 6 if log else 0):
        return float((at > high) == (limits[1] > limits[0]))
    low, high = min(low, at - 0.06 * wider), max(high, at + 0.06 * wider)
    ends = [10.0**low, 10.0**high] if log else [low, high]
    if limits[0] > limits[1]:
        ends.reverse()
    (ax.set_ylim if axis == "y" else ax.set_xlim)(ends[0], ends[1])
    return None


def _words(
    ax: Axes,
    text: str,
    at: tuple[float, float],
    offset: tuple[float, float],
    shade: str | int,
    parted: bool = True,
    **text_kw: Any,
) -> Annotation:
    """Words at a place, ``offset`` points away from it; ``parted`` ones keep off each other."""
    style = {
        "fontsize": FONT,
        "fontweight": "bold",
        "ha": "left",
        "va": "center",
        "annotation_clip": False,
        "zorder": 6,
    }
    with look():
        said = ax.annotate(
            text,
            at,
            xytext=offset,
            textcoords="offset points",
            color=readable(shade),
            **{"path_effects": [patheffects.withStroke(linewidth=3, foreground=PAPER)], **style, **text_kw},
        )
    fig = ax.get_figure(root=True)
    if parted and isinstance(fig, CourseFigure):
        fig.add_label(ax, said)
    return said


def _leader(ha: str) -> dict[str, Any]:
    """A thin line back to the point, which shows when words had to move away from it."""
    relpos = {"left": (0, 0.5), "right": (1, 0.5), "center": (0.5, 0)}[ha]
    style: dict[str, Any] = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 3}
    return style | {"relpos": relpos, "visible": False}


def _plate() -> dict[str, Any]:
    return {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.9}


def heat(
    ax: Axes,
    matrix: Any,
    label: str = "",
    rows: Sequence[str] | None = None,
    cols: Sequence[str] | None = None,
    log: bool = False,
    signed: bool = False,
    values: bool = False,
    limits: tuple[float, float] | None = None,
) -> AxesImage:
    """Draw a matrix as a heat map with a colour bar.

    Args:
        ax: where.
        matrix: shape (rows, columns), any real dtype. What isn't finite, and what a log scale can't show (0 and below),
            is hatched: it is not a colour.
        label: what the colour means, with its unit; it stands beside the colour bar. Empty: no bar.
        rows: names of the rows, top to bottom.
        cols: names of the columns.
        log: a logarithmic colour scale.
        signed: a diverging scale with white at 0.
        values: write each number into its cell.
        limits: smallest and largest value of the scale; from the data if not given.

    Returns:
        The image.

    Raises:
        ValueError: ``matrix`` isn't two-dimensional, or ``log`` and ``signed`` are both asked for.
    """
    numbers = np.asarray(matrix, dtype=float)
    if numbers.ndim != 2:
        raise ValueError(f"heat draws a matrix of shape (rows, columns), not shape {numbers.shape}")
    if log and signed:
        raise ValueError("a logarithmic scale has no negative numbers: ask for log or signed, not both")
    shown = np.ma.masked_where(~np.isfinite(numbers) | (log & (numbers <= 0)), numbers)
    low, high = limits or _heat_limits(shown, signed)
    norm = mcolors.LogNorm(low, high) if log else mcolors.Normalize(low, high)
    with look():
        ax.patch.set(facecolor="#f1eee6", hatch="///", edgecolor="#b9b4a8", linewidth=0.0)
        ax.grid(False)
        image = ax.imshow(shown, norm=norm, cmap="RdBu_r" if signed else "cividis", aspect="auto")
        ax.spines[:].set_visible(False)
        if rows is not None:
            ax.set_yticks(range(len(rows)), rows)
        if cols is not None:
            ax.set_xticks(range(len(cols)), cols)
        if values:
            _write_values(ax, image, numbers)
        fig = ax.get_figure(root=True)
        if label and fig is not None:
            bar = fig.colorbar(image, ax=ax, pad=0.02, fraction=0.06)
            bar.set_label(label, labelpad=9)
            bar.ax.spines[:].set_visible(False)
            bar.ax.tick_params(labelsize=SMALL, labelcolor=INK, color=MUTED)
            if log:
                log_ticks(bar.ax, "y")
    return image


def _heat_limits(shown: Any, signed: bool) -> tuple[float, float]:
    """Limits of a colour scale that holds all of ``shown``, never empty."""
    if not shown.count():
        return 0.1, 1.0
    low, high = float(shown.min()), float(shown.max())
    if signed:
        largest = max(abs(low), abs(high)) or 1.0
        return -largest, largest
    return (low, high) if high > low else (low - 0.5 * abs(low or 1), high + 0.5 * abs(high or 1))


def _write_values(ax: Axes, image: AxesImage, numbers: np.ndarray) -> None:
    """Each number in its cell, dark on light cells and light on dark ones."""
    for (row, col), value in np.ndenumerate(numbers):
        shade = tuple(image.cmap(image.norm(value))) if np.isfinite(value) else PAPER
        ink = INK if contrast(shade, INK) >= contrast(shade, PAPER) else PAPER
        ax.text(col, row, number(float(value), 2), ha="center", va="center", color=ink, fontsize=SMALL)


@dataclass(frozen=True)
class Node:
    """A box of a computation graph.

    ``at`` is its centre, in units of your own: one unit down is close, two units across are comfortable. ``value`` is
    what the forward pass computed, ``gradient`` what came back. ``kind`` is ``"variable"`` (bold, blue),
    ``"operation"`` (round), ``"tensor"``, or ``"lost"`` (dashed red: the tape doesn't know it).
    """

    at: tuple[float, float]
    text: str
    value: float | str | None = None
    gradient: float | str | None = None
    kind: str = "tensor"


@dataclass(frozen=True)
class Edge:
    """An arrow between the nodes with these keys.

    ``slope`` is the local derivative, written at the dashed arrow that comes back. ``kind`` is ``"kept"``, or
    ``"lost"`` (dotted red, nothing comes back).
    """

    start: str
    end: str
    slope: float | str | None = None
    kind: str = "kept"


_BOXES: dict[str, dict[str, Any]] = {
    "variable": {"boxstyle": "round,pad=0.35,rounding_size=0.35", "fc": "#e4ecf8", "ec": FORWARD, "lw": 2.2},
    "operation": {"boxstyle": "round,pad=0.35,rounding_size=1.1", "fc": "#ffffff", "ec": MUTED, "lw": 1.3},
    "tensor": {"boxstyle": "round,pad=0.35,rounding_size=0.35", "fc": "#ffffff", "ec": MUTED, "lw": 1.3},
    "lost": {"boxstyle": "round,pad=0.35,rounding_size=0.35", "fc": PAPER, "ec": BAD, "lw": 2.0, "ls": (0, (3, 2))},
}


def graph(ax: Axes, nodes: Mapping[str, Node], edges: Iterable[Edge | tuple[Any, ...]]) -> None:
    """Draw a small computation graph: boxes with value and gradient, arrows forward and, where a slope is known, back.

    Args:
        ax: where; its axes are switched off and its limits set.
        nodes: from a key of your own to a :class:`Node`.
        edges: :class:`Edge`, or plain ``(start, end)`` and ``(start, end, slope)``.

    Raises:
        ValueError: an edge names a node that isn't there, or a kind doesn't exist.
    """
    arrows = [edge if isinstance(edge, Edge) else Edge(*edge) for edge in edges]
    for edge in arrows:
        for end in (edge.start, edge.end):
            if end not in nodes:
                raise ValueError(f"the edge {edge.start} -> {edge.end} names {end!r}; the nodes are {', '.join(nodes)}")
    for node in nodes.values():
        if node.kind not in _BOXES:
            raise ValueError(f"a node is one of {', '.join(_BOXES)}, not {node.kind!r}")
    with look():
        ax.set_axis_off()
        places = np.array([node.at for node in nodes.values()], dtype=float)
        ax.set_xlim(places[:, 0].min() - 0.6, places[:, 0].max() + 0.6)
        ax.set_ylim(places[:, 1].min() - 0.6, places[:, 1].max() + 0.6)
        boxes = {key: _draw_node(ax, node) for key, node in nodes.items()}
        for edge in arrows:
            _draw_edge(ax, boxes[edge.start], boxes[edge.end], edge)
        if any(node.gradient is not None for node in nodes.values()):
            for words, shade, place in (("→ value, forward", FORWARD, 0.0), ("← gradient, back", GRADIENT, 0.27)):
                ax.text(place, 0.0, words, color=readable(shade), fontsize=SMALL, transform=ax.transAxes, va="top")


def _draw_node(ax: Axes, node: Node) -> AnnotationBbox:
    """A box with the name, under it the value that went forward and the gradient that came back."""

    def row(words: str, **style: Any) -> TextArea:
        return TextArea(words, textprops={"fontsize": FONT, "fontweight": "bold", **style})

    rows: list[Artist] = [row(node.text, fontsize=FONT + 1, color=INK)]
    if node.value is not None:
        rows.append(row(f"→ {number(node.value)}", color=readable(FORWARD)))
    if node.gradient is not None:
        rows.append(row(f"← {number(node.gradient)}", color=readable(GRADIENT)))
    box = AnnotationBbox(
        VPacker(children=rows, align="center", pad=2, sep=4),
        node.at,
        frameon=True,
        bboxprops=_BOXES[node.kind],
        annotation_clip=False,
        zorder=4,
    )
    ax.add_artist(box)
    return box


def _draw_edge(ax: Axes, start: AnnotationBbox, end: AnnotationBbox, edge: Edge) -> None:
    """The arrow forward and, bent to the other side, the one that comes back with the local derivative."""
    lost, back = edge.kind == "lost", edge.slope is not None
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 15, "shrinkA": 2, "shrinkB": 2, "zorder": 3}
    style |= {"linewidth": 1.9, "connectionstyle": f"arc3,rad={-0.14 if back else 0.0}"}
    looks: dict[str, Any] = {"color": BAD, "linestyle": (0, (1.5, 1.8))} if lost else {"color": FORWARD}
    ax.add_patch(FancyArrowPatch(start.xy, end.xy, patchA=start.patch, patchB=end.patch, **style, **looks))
    if edge.slope is None:
        return
    looks = {"color": GRADIENT, "linestyle": (0, (4, 2))}
    ax.add_patch(FancyArrowPatch(end.xy, start.xy, patchA=end.patch, patchB=start.patch, **style, **looks))
    slope = edge.slope if isinstance(edge.slope, str) else f"× {number(edge.slope)}"
    middle = ((start.xy[0] + end.xy[0]) / 2, (start.xy[1] + end.xy[1]) / 2)
    words = _words(ax, slope, middle, (0, -16), "gradient", parted=False, ha="center", fontsize=SMALL)

    def beside_the_arrow() -> None:
        here, there = ax.transData.transform([start.xy, end.xy])
        along = there - here
        right = np.array([along[1], -along[0]]) / np.hypot(*along)
        size = extent(words)
        clear = 0.07 * np.hypot(*along) + abs(right[0]) * size.width / 2 + abs(right[1]) * size.height / 2 + 2
        fig = ax.get_figure(root=True)
        assert fig is not None
        words.xyann = tuple(right * clear * 72 / fig.dpi)

    fig = ax.get_figure(root=True)
    if isinstance(fig, CourseFigure):
        fig.add_later(beside_the_arrow)


def show(fig: Figure, alt: str) -> Figure | None:
    """Show a finished figure, with its text alternative, in the notebook; elsewhere return it.

    In a notebook the output holds the PNG and, as its plain text, ``Figure: `` and the alternative: that is what
    exports without pictures, text-only readers and nbval get. The bytes depend only on the figure.

    Args:
        fig: a figure of :func:`figure`.
        alt: the finding in words, for a reader who can't see the picture.

    Returns:
        The figure, outside a notebook; ``None`` inside one, so that it isn't shown twice.

    Raises:
        ValueError: no text alternative, or one shorter than 20 characters or equal to a title; or :func:`check_figure`
            finds something.
    """
    _set_alt(fig, alt)
    check_figure(fig)
    shell = _notebook_shell()
    if shell is None:
        return fig
    width, height = (round(side * CSS_PIXELS_PER_INCH) for side in fig.get_size_inches())
    shell.display_pub.publish(
        data={"image/png": b64encode(png(fig)).decode("ascii"), "text/plain": f"Figure: {' '.join(alt.split())}"},
        metadata={"image/png": {"width": width, "height": height}},
    )
    return None


def save(fig: Figure, path: str | Path, alt: str) -> None:
    """Write a finished figure to ``path`` as PNG, under the same rules as :func:`show`."""
    _set_alt(fig, alt)
    check_figure(fig)
    Path(path).write_bytes(png(fig))


def png(fig: Figure) -> bytes:
    """The figure as PNG: two pixels per CSS pixel, on its card, without date or version."""
    buffer = io.BytesIO()
    with look():
        _settle(fig)
        fig.savefig(
            buffer, format="png", dpi=PIXELS_PER_INCH, metadata={"Software": None}, pil_kwargs={"optimize": True}
        )
    return buffer.getvalue()


def check_figure(fig: Figure) -> None:
    """Refuse a figure that a reader in the last row, or one who can't see it, would get nothing from.

    Raises:
        ValueError: naming everything that is missing: a text alternative, a title that states the finding, axis labels,
            letters of at least 11 points.
    """
    with look():
        _settle(fig)
    missing = []
    if not getattr(fig, "alt", ""):
        missing.append('a text alternative: plots.show(fig, alt="...")')
    bars = [ax for ax in fig.axes if _is_colorbar(ax)]
    panels = [ax for ax in fig.axes if ax not in bars and ax.get_visible()]
    if not any([fig.get_suptitle(), *map(_axes_title, panels)]):
        missing.append('a title that states the finding: plots.title(ax, "...")')
    for place, ax in enumerate(panels, start=1):
        where = f" of panel {place}" if len(panels) > 1 else ""
        missing += [f"a label, with its unit, on the {which} axis{where}" for which in _unlabelled(ax)]
    if any(not (bar.get_ylabel() or bar.get_xlabel()) for bar in bars):
        missing.append("a label on the colour bar")
    for text in fig.findobj(Text):
        assert isinstance(text, Text)
        if text.get_text().strip() and text.get_visible() and float(text.get_fontsize()) < SMALL - 1e-9:
            missing.append(f'letters of at least 11 points: "{text.get_text()}" has {text.get_fontsize():g}')
    if missing:
        raise ValueError("this figure still needs:\n  " + "\n  ".join(missing))


def _set_alt(fig: Figure, alt: str) -> None:
    """Keep the text alternative with the figure, or refuse one that says nothing."""
    said = " ".join(str(alt).split())
    if len(said) < SHORTEST_ALT:
        raise ValueError(f"alt states the finding in words, at least {SHORTEST_ALT} characters; this is {said!r}")
    if said.casefold() in (
        " ".join(one.split()).casefold() for one in [fig.get_suptitle(), *map(_axes_title, fig.axes)]
    ):
        raise ValueError("alt repeats the title; say what is drawn, and what it shows")
    fig.alt = said  # type: ignore[attr-defined]


def _axes_title(ax: Axes) -> str:
    return next(filter(None, (ax.get_title(loc) for loc in ("left", "center", "right"))), "")


def _is_colorbar(ax: Axes) -> bool:
    return ax.get_label() == "<colorbar>"


def _unlabelled(ax: Axes) -> list[str]:
    """The axes, x or y, that show numbers and don't say of what; names at the ticks speak for themselves."""
    found = []
    for which, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        shown = [tick.get_text() for tick in axis.get_ticklabels() if tick.get_visible() and tick.get_text()]
        if ax.axison and shown and all(map(_is_number, shown)) and not axis.get_label_text():
            found.append(which)
    return found


def _is_number(text: str) -> bool:
    try:
        float(text.replace("−", "-"))
    except ValueError:
        return False
    return True


def _settle(fig: Figure) -> None:
    """Bring a figure into its final layout."""
    for ax in fig.axes:
        for axis in (ax.xaxis, ax.yaxis):
            axis.get_offset_text().set_fontsize(SMALL)
    if isinstance(fig, CourseFigure):
        fig.settle()
    else:
        fig.draw_without_rendering()


def _notebook_shell() -> Any:
    """IPython's shell if this runs in a Jupyter kernel, else None; never imports IPython by itself."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if shell is not None and hasattr(shell, "kernel") else None
