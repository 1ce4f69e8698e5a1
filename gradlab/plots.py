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
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib import colors as mcolors
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

PAPER = "#fbfaf7"
INK = "#1f2933"
MUTED = "#66707c"
GRID = "#e4e2dc"

# Chosen by search: at least 3:1 against PAPER, and the pairs, INK and MUTED included, stay apart in normal vision and
# under simulated protanopia, deuteranopia and tritanopia (Machado, Oliveira and Fernandes 2009). A test holds both.
FORWARD = "#0a3f92"
GRADIENT = "#f16003"
GOOD = "#2fa36c"
BAD = "#a42428"
LEARNER = "#bf4dcb"
MEASURED = INK
THEORY = MUTED

COLORS = [FORWARD, GRADIENT, GOOD, LEARNER, BAD, INK]
MARKERS = ["o", "s", "^", "D", "v", "P"]
LINES: list[Any] = ["-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1.2)), (0, (8, 2))]

ROLES = {
    "forward": FORWARD,
    "gradient": GRADIENT,
    "theory": THEORY,
    "measured": MEASURED,
    "bad": BAD,
    "good": GOOD,
    "learner": LEARNER,
    "ink": INK,
    "muted": MUTED,
}
_ROLE_LINES: dict[str, dict[str, Any]] = {
    "forward": {"linestyle": "-", "marker": "o"},
    "gradient": {"linestyle": LINES[1], "marker": "s"},
    "theory": {"linestyle": (0, (4, 2)), "marker": "", "linewidth": 1.8},
    "measured": {"linestyle": "-", "marker": "o"},
    "bad": {"linestyle": LINES[3], "marker": "X"},
    "good": {"linestyle": "-", "marker": "^"},
    "learner": {"linestyle": LINES[2], "marker": "D"},
}

CSS_PIXELS_PER_INCH = 96
PIXELS_PER_INCH = 192
SMALLEST_FONT = 11.0
MIN_ALT = 20
_WIDTHS = {"half": 5.0, "normal": 7.5, "wide": 10.0}
_FONT, _TITLE_FONT = 12.0, 14.0

_STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": _FONT,
    "mathtext.fontset": "dejavusans",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": _FONT,
    "axes.titlesize": _TITLE_FONT,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 11.0,
    "axes.labelpad": 6.0,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 1.0,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.use_mathtext": False,
    "axes.formatter.useoffset": False,
    "axes.unicode_minus": True,
    "axes.xmargin": 0.03,
    "axes.ymargin": 0.06,
    "grid.color": GRID,
    "grid.linewidth": 0.9,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": SMALLEST_FONT,
    "ytick.labelsize": SMALLEST_FONT,
    "xtick.major.size": 4.0,
    "ytick.major.size": 4.0,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "lines.linewidth": 2.4,
    "lines.markersize": 6.5,
    "lines.markeredgewidth": 0.0,
    "lines.solid_capstyle": "round",
    "patch.linewidth": 0.0,
    "legend.frameon": False,
    "legend.fontsize": SMALLEST_FONT,
    "legend.title_fontsize": SMALLEST_FONT,
    "figure.facecolor": "none",
    "figure.edgecolor": "none",
    "figure.titlesize": _TITLE_FONT,
    "figure.titleweight": "bold",
    "figure.constrained_layout.w_pad": 0.16,
    "figure.constrained_layout.h_pad": 0.14,
    "figure.constrained_layout.wspace": 0.05,
    "figure.constrained_layout.hspace": 0.05,
    "savefig.facecolor": "none",
    "savefig.edgecolor": "none",
    "image.cmap": "cividis",
    "image.interpolation": "nearest",
    "path.simplify": True,
    "axes.prop_cycle": cycler(color=COLORS) + cycler(linestyle=LINES),
}


def _look() -> Any:
    """Matplotlib's settings become the course's inside a ``with`` block, and only there."""
    return matplotlib.rc_context(_STYLE)  # type: ignore[arg-type]


class CourseFigure(Figure):
    """A Matplotlib figure that knows its text alternative and what has to be settled once its layout is known.

    ``alt`` is the text alternative, empty until :func:`show` or :func:`save` sets it.
    """

    alt: str = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.wrapped: list[tuple[Text, Axes | None, str]] = []
        self.labels: list[tuple[Axes, Annotation]] = []
        self.card: FancyBboxPatch | None = None


def figure(
    width: str = "normal", height: float | None = None, rows: int = 1, cols: int = 1, **subplots_kw: Any
) -> tuple[CourseFigure, Any]:
    """Make a figure in the course's look.

    Args:
        width: ``"half"``, ``"normal"`` or ``"wide"``: 5, 7.5 or 10 inches (480, 720 or 960 pixels in a browser).
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
    inches = _WIDTHS[width]
    if height is None:
        height = rows * (3.6 if cols > 1 or width == "half" else 4.2) + 0.2
    with _look():
        fig = CourseFigure(figsize=(inches, height), dpi=CSS_PIXELS_PER_INCH, layout="constrained")
        FigureCanvasAgg(fig)
        axes = fig.subplots(rows, cols, **subplots_kw)
        for ax in fig.axes:
            ax.tick_params(labelsize=SMALLEST_FONT, color=MUTED, labelcolor=INK)
    return fig, axes


def color(name: str | int) -> str:
    """The colour of a role (``"gradient"``), of a place in the palette (``2``), or any colour as it is."""
    if isinstance(name, int):
        return COLORS[name % len(COLORS)]
    return ROLES.get(name, name)


def line(role: str | int, **changes: Any) -> dict[str, Any]:
    """Keyword arguments for ``ax.plot``: colour, line style and marker of a role or of a place in the palette.

    Colour is never the only difference between two lines: ``ax.plot(x, y, **plots.line("theory"))``.
    """
    if isinstance(role, int):
        style = {"linestyle": LINES[role % len(LINES)], "marker": MARKERS[role % len(MARKERS)]}
    else:
        if role not in _ROLE_LINES:
            raise ValueError(f"no such role: {role!r}; there are {', '.join(_ROLE_LINES)}")
        style = dict(_ROLE_LINES[role])
    return {"color": color(role), "linewidth": 2.4, "markersize": 6.5, "markeredgewidth": 0.0, **style, **changes}


def readable(name: str | int) -> str:
    """The colour of ``name`` darkened towards INK until text in it has 4.5:1 against the paper (WCAG 2.2, 1.4.3)."""
    wanted = np.array(mcolors.to_rgb(color(name)))
    for share in np.linspace(0, 1, 21):
        mixed = (1 - share) * wanted + share * np.array(mcolors.to_rgb(INK))
        if contrast(mixed, PAPER) >= 4.5:
            return mcolors.to_hex(mixed)
    return INK


def contrast(one: Any, other: Any) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2, definitions of contrast ratio and relative luminance)."""

    def luminance(value: Any) -> float:
        channels = np.array(mcolors.to_rgb(value))
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def number(value: float | str, digits: int = 3) -> str:
    """A number as the figures write it: ``1e-3``, ``0.25``, ``1200``; text is returned as it is."""
    if isinstance(value, str):
        return value
    value = float(value)
    if not np.isfinite(value):
        return {True: "NaN"}.get(bool(np.isnan(value)), "∞" if value > 0 else "−∞")
    if value == 0 or 1e-3 < abs(value) < 1e5:
        return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent)}"


def title(where: Axes | Figure, finding: str) -> Text:
    """Put the finding above axes (or, given a figure, above all its panels), left-aligned and wrapped to the width."""
    fig: Figure | None
    ax: Axes | None
    with _look():
        if isinstance(where, Figure):
            text = where.suptitle(finding, x=0.02, ha="left", fontsize=_TITLE_FONT, fontweight="bold", color=INK)
            fig, ax = where, None
        else:
            ax = where
            fig = ax.get_figure(root=True)
            panels = sum(1 for one in fig.axes if one.axison and not hasattr(one, "_colorbar")) if fig else 1
            size = _TITLE_FONT if panels <= 1 else _FONT
            text = ax.set_title(finding, loc="left", fontsize=size, fontweight="bold", color=INK)
    if isinstance(fig, CourseFigure):
        fig.wrapped = [entry for entry in fig.wrapped if entry[0] is not text] + [(text, ax, finding)]
    return text


def log_ticks(ax: Axes, axis: str = "y", most: int = 9) -> None:
    """Make an axis (``"x"``, ``"y"`` or ``"xy"``) logarithmic, with decades written as one types them: 1e-3."""
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


class _Decades(FixedLocator):
    """Powers of ten inside the view, every second or third of them where there are many."""

    def __init__(self, most: int) -> None:
        super().__init__([])
        self.most = most

    def __call__(self) -> list[float]:
        """Positions of the ticks."""
        low, high = sorted(self.axis.get_view_interval())  # type: ignore[union-attr]
        if not (np.isfinite(low) and np.isfinite(high) and low > 0):
            return []
        first, last = int(np.ceil(np.log10(low) - 1e-9)), int(np.floor(np.log10(high) + 1e-9))
        if last <= first:
            steps = [m * 10.0**e for e in range(first - 1, last + 1) for m in (1, 2, 5)]
            return [step for step in steps if low <= step <= high]
        every = next(step for step in (1, 2, 3, 5, 10, 20, 50, 100) if (last - first) // step < self.most)
        return [10.0**e for e in range(first, last + 1) if e % every == 0]


def label_line(
    ax: Axes, x: float, y: float, text: str, color: str | int = "ink", ha: str = "left", **text_kw: Any
) -> Annotation:
    """Write ``text`` beside the data point (x, y), in its line's colour, darkened so that it can be read.

    ``ha`` is the side of the text that touches the point: ``"left"`` puts the text to the right of it. Labels of one
    figure move apart, up and down, until none covers another.
    """
    side = {"left": 7, "right": -7, "center": 0}[ha]
    with _look():
        label = ax.annotate(
            text,
            (x, y),
            xytext=(side, 9 if ha == "center" else 0),
            textcoords="offset points",
            ha=ha,
            va="center",
            color=readable(color),
            **{"fontsize": _FONT, "fontweight": "bold", "annotation_clip": False, "path_effects": _halo(), **text_kw},
        )
    fig = ax.get_figure(root=True)
    if isinstance(fig, CourseFigure):
        fig.labels.append((ax, label))
    return label


def label_lines(ax: Axes) -> list[Annotation]:
    """Label each line that has a ``label`` at its last visible point, instead of a legend. Call it after plotting."""
    made = []
    for one in ax.get_lines():
        name = str(one.get_label())
        if name.startswith("_"):
            continue
        x, y = np.asarray(one.get_xdata(), float), np.asarray(one.get_ydata(), float)
        seen = np.isfinite(x) & np.isfinite(y)
        for values, limits, scale in ((x, ax.get_xlim(), ax.get_xscale()), (y, ax.get_ylim(), ax.get_yscale())):
            low, high = sorted(limits)
            seen &= (values >= low) & (values <= high) & ((values > 0) | (scale != "log"))
        if not seen.any():
            continue
        last = np.flatnonzero(seen)[-1]
        made.append(label_line(ax, x[last], y[last], name, mcolors.to_hex(one.get_color())))
    return made


def note(
    ax: Axes,
    text: str,
    xy: tuple[float, float],
    offset: tuple[float, float] = (28, 28),
    color: str | int = "ink",
    **text_kw: Any,
) -> Annotation:
    """Point at (x, y) in data coordinates with a thin arrow and say what is there; ``offset`` is in points."""
    horizontal = "left" if offset[0] > 0 else "right" if offset[0] < 0 else "center"
    with _look():
        return ax.annotate(
            textwrap.fill(text, 30) if "\n" not in text else text,
            xy,
            xytext=offset,
            textcoords="offset points",
            va="center",
            color=readable(color),
            arrowprops={"arrowstyle": "-|>", "color": MUTED, "linewidth": 1.2, "shrinkB": 4, "mutation_scale": 11},
            **{"ha": horizontal, "fontsize": SMALLEST_FONT, "path_effects": _halo(), **text_kw},
        )


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
        return None
    try:
        place = float(np.asarray(value, dtype=float).reshape(()))
    except (TypeError, ValueError):
        raise TypeError(f"mark draws one number, not {value!r}") from None
    log = (ax.get_yscale() if axis == "y" else ax.get_xscale()) == "log"
    if not np.isfinite(place):
        return _edge_note(ax, f"{label} (not a number to draw)", axis, 0.5, color)
    if log and place <= 0:
        return _edge_note(ax, f"{label} (no place on a log axis)", axis, 0.0, color)
    side = _make_room(ax, place, axis, log)
    if side is not None:
        arrow = {("y", 1.0): "↑", ("y", 0.0): "↓", ("x", 1.0): "→", ("x", 0.0): "←"}[axis, side]
        return _edge_note(ax, f"{label} {arrow} off the scale", axis, side, color)
    style: dict[str, Any] = {
        "color": globals()["color"](color),
        "linestyle": (0, (3, 2)),
        "linewidth": 2.0,
        "zorder": 2.5,
    }
    if axis == "y":
        ax.axhline(place, **style)
        _mark_label(ax, label, (1.0, place), axis, color)
    else:
        ax.axvline(place, **style)
        _mark_label(ax, label, (place, 1.0), axis, color)
    return None


def _make_room(ax: Axes, place: float, axis: str, log: bool) -> float | None:
    """Extend the axis to hold ``place``; or say at which edge (0.0 or 1.0) it lies, if it is too far for that."""
    limits = ax.get_ylim() if axis == "y" else ax.get_xlim()
    forward: Callable[[float], float] = np.log10 if log else float
    low, high = sorted(forward(limit) for limit in limits)
    at = float(forward(place))
    if low <= at <= high:
        return None
    span, new = high - low, max(high, at) - min(low, at)
    if ax.has_data() and new > max(4 * span, 6 if log else 0):
        return 1.0 if (at > high) == (limits[1] > limits[0]) else 0.0
    pad = 0.06 * new
    low, high = (at - pad, high) if at < low else (low, at + pad)
    ends = [10.0**low, 10.0**high] if log else [low, high]
    if limits[0] > limits[1]:
        ends.reverse()
    (ax.set_ylim if axis == "y" else ax.set_xlim)(ends[0], ends[1])
    return None


def _mark_label(ax: Axes, label: str, at: tuple[float, float], axis: str, shade: str | int) -> None:
    """The words beside a reference line: right of the axes for y, inside at the top for x."""
    frame = ax.get_yaxis_transform() if axis == "y" else ax.get_xaxis_transform()
    with _look():
        words = ax.annotate(
            label,
            at,
            xycoords=frame,
            xytext=(6, 0 if axis == "y" else -8),
            textcoords="offset points",
            ha="left",
            va="center",
            color=readable(shade),
            fontsize=_FONT,
            fontweight="bold",
            annotation_clip=False,
            path_effects=_halo(),
        )
    fig = ax.get_figure(root=True)
    if isinstance(fig, CourseFigure):
        fig.labels.append((ax, words))


def _edge_note(ax: Axes, text: str, axis: str, side: float, shade: str | int) -> None:
    """Words inside the axes near the edge where a value would be, if it could be drawn."""
    at = (0.985, 0.04 + 0.92 * side) if axis == "y" else (0.02 + 0.96 * side, 0.96)
    with _look():
        words = ax.annotate(
            text,
            at,
            xycoords="axes fraction",
            xytext=(0, 0),
            textcoords="offset points",
            ha="right" if at[0] > 0.5 else "left",
            va="center",
            color=readable(shade),
            fontsize=_FONT,
            fontweight="bold",
            path_effects=_halo(),
        )
    fig = ax.get_figure(root=True)
    if isinstance(fig, CourseFigure):
        fig.labels.append((ax, words))


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
    with _look():
        ax.set_facecolor("#efece4")
        ax.patch.set(hatch="///", edgecolor="#b9b4a8", linewidth=0.0)
        ax.grid(False)
        image = ax.imshow(shown, norm=norm, cmap="RdBu_r" if signed else "cividis", aspect="auto")
        if rows is not None:
            ax.set_yticks(range(len(rows)), rows)
        if cols is not None:
            ax.set_xticks(range(len(cols)), cols)
        for spine in ax.spines.values():
            spine.set_visible(False)
        fig = ax.get_figure(root=True)
        if label and fig is not None:
            bar = fig.colorbar(image, ax=ax, pad=0.02, fraction=0.06)
            bar.set_label(label)
            bar.outline.set_visible(False)  # type: ignore[operator]
            bar.ax.tick_params(labelsize=SMALLEST_FONT, labelcolor=INK, color=MUTED)
            if log:
                log_ticks(bar.ax, "y")
        if values:
            _write_values(ax, image, numbers)
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
    for (row, col), value in np.ndenumerate(numbers):
        shade = mcolors.to_rgb(tuple(image.cmap(image.norm(value)))) if np.isfinite(value) else mcolors.to_rgb(PAPER)
        ink = INK if contrast(shade, INK) >= contrast(shade, PAPER) else PAPER
        ax.text(col, row, number(float(value), 2), ha="center", va="center", color=ink, fontsize=SMALLEST_FONT)


@dataclass(frozen=True)
class Node:
    """A box of a computation graph.

    ``at`` is its centre in a grid of your own units (one unit apart is close, two are comfortable). ``value`` is what
    the forward pass computed, ``gradient`` what came back. ``kind`` is ``"variable"`` (drawn bold), ``"operation"``
    (round), ``"tensor"``, or ``"lost"`` (dashed: the tape doesn't know it).
    """

    at: tuple[float, float]
    text: str
    value: float | str | None = None
    gradient: float | str | None = None
    kind: str = "tensor"


@dataclass(frozen=True)
class Edge:
    """An arrow from one node to another; ``slope`` is the local derivative, written at the arrow that comes back."""

    start: str
    end: str
    slope: float | str | None = None
    kind: str = "kept"


def graph(
    ax: Axes,
    nodes: Mapping[str, Node],
    edges: Iterable[Edge | tuple[str, ...]],
    backward: bool | None = None,
) -> None:
    """Draw a small computation graph: boxes with forward values and gradients, arrows forward and, dashed, back.

    Args:
        ax: where; its axes are switched off and its limits set.
        nodes: from a key of your own to a :class:`Node`.
        edges: :class:`Edge`, or plain ``(start, end)`` and ``(start, end, slope)`` tuples.
        backward: draw the arrows that the gradient takes; by default where an edge has a slope.

    Raises:
        ValueError: an edge names a node that isn't there.
    """
    arrows = [edge if isinstance(edge, Edge) else Edge(*edge) for edge in edges]
    for edge in arrows:
        for end in (edge.start, edge.end):
            if end not in nodes:
                raise ValueError(f"the edge {edge.start} -> {edge.end} names {end!r}; the nodes are {', '.join(nodes)}")
    with _look():
        ax.set_axis_off()
        places = np.array([node.at for node in nodes.values()], dtype=float)
        ax.set_xlim(places[:, 0].min() - 0.75, places[:, 0].max() + 0.75)
        ax.set_ylim(places[:, 1].min() - 0.6, places[:, 1].max() + 0.6)
        boxes = {key: _draw_node(ax, node) for key, node in nodes.items()}
        for edge in arrows:
            back = edge.slope is not None if backward is None else backward
            _draw_edge(ax, boxes[edge.start], boxes[edge.end], edge, back)


_BOXES: dict[str, dict[str, Any]] = {
    "variable": {"boxstyle": "round,pad=0.5,rounding_size=0.2", "fc": "#e6edf7", "ec": FORWARD, "lw": 2.4},
    "operation": {"boxstyle": "round,pad=0.5,rounding_size=0.9", "fc": "#ffffff", "ec": MUTED, "lw": 1.4},
    "tensor": {"boxstyle": "round,pad=0.5,rounding_size=0.2", "fc": "#ffffff", "ec": MUTED, "lw": 1.4},
    "lost": {"boxstyle": "round,pad=0.5,rounding_size=0.2", "fc": PAPER, "ec": BAD, "lw": 2.0, "ls": (0, (3, 2))},
}


def _draw_node(ax: Axes, node: Node) -> Annotation:
    if node.kind not in _BOXES:
        raise ValueError(f"a node is one of {', '.join(_BOXES)}, not {node.kind!r}")
    box = ax.annotate(
        node.text,
        node.at,
        xytext=(0, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=_FONT + 1,
        fontweight="bold" if node.kind in ("variable", "lost") else "normal",
        bbox=_BOXES[node.kind],
        zorder=4,
        linespacing=1.3,
    )
    for words, shade, below in ((node.value, FORWARD, False), (node.gradient, GRADIENT, True)):
        if words is not None:
            ax.annotate(
                f"gradient {number(words)}" if below else number(words),
                node.at,
                xytext=(0, -25 if below else 25),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=_FONT,
                fontweight="bold",
                color=readable(shade),
                zorder=5,
                path_effects=_halo(),
            )
    return box


def _draw_edge(ax: Axes, start: Annotation, end: Annotation, edge: Edge, backward: bool) -> None:
    lost = edge.kind == "lost"
    here, there = np.array(start.xy), np.array(end.xy)
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 16, "shrinkA": 3, "shrinkB": 3, "zorder": 2}
    bend = 0.12 if backward else 0.0
    for on, (source, target), look in (
        (True, (start, end), {"color": BAD if lost else FORWARD, "linestyle": (0, (2, 2)) if lost else "-"}),
        (backward, (end, start), {"color": GRADIENT, "linestyle": (0, (4, 2))}),
    ):
        if on:
            ax.add_patch(
                FancyArrowPatch(
                    source.xy,
                    target.xy,
                    patchA=source.get_bbox_patch(),
                    patchB=target.get_bbox_patch(),
                    connectionstyle=f"arc3,rad={-bend}",
                    linewidth=1.9,
                    **look,
                    **style,
                )
            )
    if edge.slope is not None:
        middle = (here + there) / 2
        ax.annotate(
            f"× {number(edge.slope)}" if not isinstance(edge.slope, str) else edge.slope,
            middle,
            xytext=(0, -16),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=SMALLEST_FONT,
            color=readable(GRADIENT),
            zorder=5,
            path_effects=_halo(),
        )


def show(fig: Figure, alt: str) -> Figure | None:
    """Show a finished figure, with its text alternative, in the notebook; elsewhere return it.

    In a notebook the output holds the PNG and, as its plain text, ``Figure: `` and the alternative: that is what screen
    readers, exports without pictures and nbval get. The bytes depend only on the figure.

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
        data={"image/png": _base64(png(fig)), "text/plain": f"Figure: {alt.strip()}"},
        metadata={"image/png": {"width": width, "height": height}},
    )
    return None


def save(fig: Figure, path: Any, alt: str) -> None:
    """Write a finished figure to ``path`` as PNG, under the same rules as :func:`show`."""
    _set_alt(fig, alt)
    check_figure(fig)
    with open(path, "wb") as file:
        file.write(png(fig))


def png(fig: Figure) -> bytes:
    """The figure as PNG, two pixels per CSS pixel, on a card of soft white with round corners."""
    with _look():
        _settle(fig)
        buffer = io.BytesIO()
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
    with _look():
        _settle(fig)
    missing = []
    if not getattr(fig, "alt", ""):
        missing.append('a text alternative: plots.show(fig, alt="...")')
    bars = [ax for ax in fig.axes if _is_colorbar(ax)]
    panels = [ax for ax in fig.axes if ax not in bars and ax.get_visible()]
    headed = bool(_figure_title(fig))
    if not headed and not any(_axes_title(ax) for ax in panels):
        missing.append('a title that states the finding: plots.title(ax, "...")')
    for place, ax in enumerate(panels):
        name = f"panel {place + 1}" if len(panels) > 1 else "the axes"
        if ax.axison:
            missing += [f"a label with a unit on {name}, {which}" for which in _unlabelled(ax)]
    missing += [f"a label on the colour bar {place + 1}" for place, bar in enumerate(bars) if _bare_bar(bar)]
    small = [text for text in fig.findobj(Text) if _is_small(text)]
    missing += [f'letters of at least 11 points: "{text.get_text()}" has {text.get_fontsize():g}' for text in small]
    if missing:
        raise ValueError("this figure still needs:\n  " + "\n  ".join(missing))


def _set_alt(fig: Figure, alt: str) -> None:
    """Keep the text alternative with the figure, or refuse one that says nothing."""
    said = " ".join(str(alt).split())
    if len(said) < MIN_ALT:
        raise ValueError(f"alt states the finding in words, at least {MIN_ALT} characters; this is {said!r}")
    titles = [_figure_title(fig), *(_axes_title(ax) for ax in fig.axes)]
    if any(said.casefold() == " ".join(one.split()).casefold() for one in titles):
        raise ValueError("alt repeats the title; say what is drawn, and what it shows")
    fig.alt = said  # type: ignore[attr-defined]


def _figure_title(fig: Figure) -> str:
    return fig.get_suptitle()


def _axes_title(ax: Axes) -> str:
    return next((text for text in (ax.get_title(loc) for loc in ("left", "center", "right")) if text), "")


def _is_colorbar(ax: Axes) -> bool:
    return ax.get_label() == "<colorbar>"


def _bare_bar(ax: Axes) -> bool:
    return not (ax.get_ylabel() or ax.get_xlabel() or _axes_title(ax))


def _unlabelled(ax: Axes) -> list[str]:
    """The axes, x or y, that show tick labels and have no label of their own nor of a shared neighbour."""
    found = []
    for which, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        named = any(not _is_number(tick.get_text()) for tick in axis.get_ticklabels() if tick.get_text())
        ticks = any(tick.get_text() and tick.get_visible() for tick in axis.get_ticklabels())
        if ticks and not named and not axis.get_label_text():
            found.append(which)
    return found


def _is_number(text: str) -> bool:
    try:
        float(text.replace("−", "-"))
    except ValueError:
        return False
    return True


def _is_small(text: Text) -> bool:
    return bool(text.get_text().strip()) and text.get_visible() and float(text.get_fontsize()) < SMALLEST_FONT - 1e-9


def _settle(fig: Figure) -> None:
    """Wrap titles, part the labels, and put the card behind, now that the layout is known."""
    for ax in fig.axes:
        for axis in (ax.xaxis, ax.yaxis):
            axis.get_offset_text().set_fontsize(SMALLEST_FONT)
    fig.draw_without_rendering()
    if not isinstance(fig, CourseFigure):
        return
    for text, over, finding in fig.wrapped:
        _wrap(fig, text, over, finding)
    fig.draw_without_rendering()
    _part_labels(fig)
    fig.draw_without_rendering()
    _lay_card(fig)


def _wrap(fig: Figure, text: Text, ax: Axes | None, finding: str) -> None:
    """Break a title into as few lines as fit the width of its axes, or of the figure."""
    room = ax.get_window_extent().width if ax is not None else 0.96 * fig.bbox.width
    for columns in range(max(len(finding), 1), 11, -1):
        text.set_text(textwrap.fill(finding, columns))
        if text.get_window_extent().width <= room:
            return


def _part_labels(fig: CourseFigure) -> None:
    """Move labels whose boxes overlap apart, up and down, each as little as possible."""
    for _, label in fig.labels:
        label.xyann = (label.xyann[0], 0.0) if label.get_verticalalignment() == "center" else label.xyann
    boxes = [label.get_window_extent() for _, label in fig.labels]
    for cluster in _clusters(boxes):
        if len(cluster) < 2:
            continue
        order = sorted(cluster, key=lambda one: (boxes[one].y0 + boxes[one].y1, -one))
        centres = _spread(
            [(boxes[one].y0 + boxes[one].y1) / 2 for one in order], [boxes[one].height * 1.02 for one in order]
        )
        for one, centre in zip(order, centres, strict=True):
            label = fig.labels[one][1]
            moved = centre - (boxes[one].y0 + boxes[one].y1) / 2
            label.xyann = (label.xyann[0], label.xyann[1] + moved * 72 / fig.dpi)


def _clusters(boxes: Sequence[Any]) -> list[list[int]]:
    """Groups of boxes that share some of their horizontal range, directly or through another."""
    groups: list[tuple[float, float, list[int]]] = []
    for place, box in enumerate(boxes):
        low, high, members = box.x0, box.x1, [place]
        kept = []
        for group in groups:
            if group[0] < high and low < group[1]:
                low, high, members = min(low, group[0]), max(high, group[1]), members + group[2]
            else:
                kept.append(group)
        groups = [*kept, (low, high, members)]
    return [members for _, _, members in groups]


def _spread(centres: Sequence[float], heights: Sequence[float]) -> list[float]:
    """The nearest positions, in least squares, at which boxes of these heights don't overlap; ``centres`` ascend.

    Least squares under an order is isotonic regression; solved by pooling neighbours that violate it.
    """
    offsets = np.concatenate([[0.0], np.cumsum([(a + b) / 2 for a, b in pairwise(heights)])])
    pools: list[tuple[float, int]] = []
    for value in np.asarray(centres) - offsets:
        pools.append((float(value), 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (right, many), (left, few) = pools.pop(), pools.pop()
            pools.append(((left * few + right * many) / (few + many), few + many))
    flat = [value for value, count in pools for _ in range(count)]
    return [float(value + offset) for value, offset in zip(flat, offsets, strict=True)]


def _lay_card(fig: CourseFigure) -> None:
    """A soft-white card with round corners: ink needs a known ground, in light and dark JupyterLab both."""
    if fig.card is not None:
        fig.card.remove()
    width, height = fig.get_size_inches()
    radius = 0.09
    fig.card = FancyBboxPatch(
        (radius, radius),
        width - 2 * radius,
        height - 2 * radius,
        boxstyle=f"round,pad={radius},rounding_size={radius}",
        transform=fig.dpi_scale_trans,
        facecolor=PAPER,
        edgecolor="none",
        zorder=-10,
    )
    fig.add_artist(fig.card).set_in_layout(False)


def _halo() -> list[Any]:
    return [patheffects.withStroke(linewidth=3.5, foreground=PAPER)]


def _notebook_shell() -> Any:
    """IPython's shell if this runs in a Jupyter kernel, else None; never imports IPython by itself."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if shell is not None and hasattr(shell, "kernel") else None


def _base64(data: bytes) -> str:
    from base64 import b64encode

    return b64encode(data).decode("ascii")
