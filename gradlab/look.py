"""Colours, sizes, and a figure that settles its own layout: what `gradlab.plots` draws with."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib import colors as mcolors
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Annotation, Text
from matplotlib.ticker import AutoLocator, MaxNLocator
from matplotlib.transforms import Bbox

PAPER = "#fbfaf7"
INK = "#1f2933"
MUTED = "#66707c"
GRID = "#e4e2dc"

# Found by search: at least 3:1 against PAPER, and all pairs, INK and MUTED included, apart in normal vision and under
# simulated protanopia, deuteranopia and tritanopia (Machado, Oliveira and Fernandes 2009). A test holds both.
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
ROLE_LINES: dict[str, dict[str, Any]] = {
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
SMALL, FONT, TITLE = 11.0, 12.0, 13.5

STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": FONT,
    "mathtext.fontset": "dejavusans",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": FONT,
    "axes.titlesize": TITLE,
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
    "axes.prop_cycle": cycler(color=COLORS) + cycler(linestyle=LINES),
    "grid.color": GRID,
    "grid.linewidth": 0.9,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.size": 4.0,
    "ytick.major.size": 4.0,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "lines.linewidth": 2.4,
    "lines.markersize": 6.5,
    "lines.markeredgewidth": 0.0,
    "lines.solid_capstyle": "round",
    "patch.linewidth": 0.0,
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "legend.title_fontsize": SMALL,
    "figure.facecolor": "none",
    "figure.edgecolor": "none",
    "figure.titlesize": TITLE,
    "figure.titleweight": "bold",
    "figure.constrained_layout.w_pad": 0.16,
    "figure.constrained_layout.h_pad": 0.14,
    "figure.constrained_layout.wspace": 0.05,
    "figure.constrained_layout.hspace": 0.05,
    "savefig.facecolor": "none",
    "savefig.edgecolor": "none",
    "image.cmap": "cividis",
    "image.interpolation": "nearest",
}


def look() -> Any:
    """Matplotlib's settings become the course's inside a ``with`` block, and only there."""
    return matplotlib.rc_context(STYLE)  # type: ignore[arg-type]


def contrast(one: Any, other: Any) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2, definitions of contrast ratio and relative luminance)."""

    def luminance(value: Any) -> float:
        channels = np.array(mcolors.to_rgb(value))
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


class CourseFigure(Figure):
    """A Matplotlib figure that knows its text alternative, and places words once the size of its axes is known.

    ``alt`` is the text alternative, empty until ``plots.show`` or ``plots.save`` sets it.
    """

    alt: str = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._titles: dict[Axes | None, tuple[Text, str]] = {}
        self._labels: list[tuple[Axes, Annotation, float]] = []
        self._later: list[Callable[[], None]] = []
        self._card: FancyBboxPatch | None = None

    def add_title(self, text: Text, over: Axes | None, finding: str) -> None:
        """Wrap ``text`` to the width of ``over``, or of the whole figure, when the layout is known."""
        self._titles[over] = (text, finding)

    def add_label(self, ax: Axes, label: Annotation) -> None:
        """Keep ``label`` off the other labels of the figure; it moves up and down only."""
        self._labels.append((ax, label, float(label.xyann[1])))

    def add_later(self, place: Callable[[], None]) -> None:
        """Call ``place`` each time the layout is settled, to put something where there is room."""
        self._later.append(place)

    def settle(self) -> None:
        """Wrap titles, choose whole-number ticks, part the labels and lay the card; any number of times."""
        for ax in self.axes:
            _whole_ticks(ax)
        self.draw_without_rendering()
        for over, (text, finding) in self._titles.items():
            _wrap(text, finding, over.get_window_extent().width if over is not None else 0.96 * self.bbox.width)
        self.draw_without_rendering()
        _part(self._labels, self.dpi)
        self.draw_without_rendering()
        for place in self._later:
            place()
        self._lay_card()

    def _lay_card(self) -> None:
        """Put a soft-white card with round corners behind: ink needs a known ground, in light and dark Jupyter both."""
        if self._card is not None:
            self._card.remove()
        width, height = self.get_size_inches()
        radius = 0.09
        self._card = FancyBboxPatch(
            (radius, radius),
            width - 2 * radius,
            height - 2 * radius,
            boxstyle=f"round,pad={radius},rounding_size={radius}",
            transform=self.dpi_scale_trans,
            facecolor=PAPER,
            edgecolor="none",
            zorder=-10,
        )
        self.add_artist(self._card)
        self._card.set_in_layout(False)


def _whole_ticks(ax: Axes) -> None:
    """No ticks at 2.5 where the data are whole numbers: layers, epochs, digits."""
    for which, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        if not isinstance(axis.get_major_locator(), AutoLocator):
            continue
        data = [np.asarray(getattr(one, f"get_{which}data")(), dtype=float) for one in ax.get_lines()]
        values = np.concatenate(data) if data else np.array([])
        values = values[np.isfinite(values)]
        whole = values.size > 2 and np.ptp(values) >= 2 and bool((values == np.round(values)).all())
        axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=whole))


def _wrap(text: Text, words: str, room: float) -> None:
    """Break ``words`` into the fewest lines that fit ``room`` pixels, and make those about equally long."""
    columns = len(words)
    text.set_text(words)
    while columns > 12 and text.get_window_extent().width > room:
        columns -= 1
        text.set_text(textwrap.fill(words, columns))
    lines = text.get_text().count("\n")
    while columns > 12 and textwrap.fill(words, columns - 1).count("\n") == lines:
        columns -= 1
    text.set_text(textwrap.fill(words, columns))


def _part(labels: Sequence[tuple[Axes, Annotation, float]], dpi: float) -> None:
    """Move labels whose boxes overlap apart, up and down, as little as possible, and keep them beside their axes.

    Each label comes with the height, in points, at which it stands when nothing is in its way.
    """
    for _, label, home in labels:
        label.xyann = (label.xyann[0], home)
    boxes = [extent(label) for _, label, _ in labels]
    for cluster in _clusters(boxes):
        order = sorted(cluster, key=lambda one: (round(boxes[one].y0 + boxes[one].y1), -one))
        heights = [boxes[one].height * 1.12 for one in order]
        centres = spread([(boxes[one].y0 + boxes[one].y1) / 2 for one in order], heights)
        frames = [labels[one][0].get_window_extent() for one in order]
        top, bottom = max(frame.y1 for frame in frames), min(frame.y0 for frame in frames)
        over = max(0.0, centres[-1] + heights[-1] / 2 - top) if len(order) > 1 else 0.0
        under = max(0.0, bottom - (centres[0] - heights[0] / 2)) if len(order) > 1 else 0.0
        shift = under - over if not (under and over) else 0.0
        for one, centre, height in zip(order, centres, heights, strict=True):
            label = labels[one][1]
            moved = centre + shift - (boxes[one].y0 + boxes[one].y1) / 2
            label.xyann = (label.xyann[0], label.xyann[1] + moved * 72 / dpi)
            if label.arrow_patch is not None:
                label.arrow_patch.set_visible(abs(moved) > 0.7 * height)


def extent(label: Annotation) -> Bbox:
    """The box, in pixels, of the words of an annotation, without its arrow."""
    label.get_window_extent()  # brings the position up to date
    return Text.get_window_extent(label)


def _clusters(boxes: Sequence[Bbox]) -> list[list[int]]:
    """Groups of boxes that share some of their horizontal range, directly or through another."""
    groups: list[tuple[float, float, list[int]]] = []
    for place, box in enumerate(boxes):
        low, high, members = box.x0, box.x1, [place]
        apart = []
        for group in groups:
            if group[0] < high and low < group[1]:
                low, high, members = min(low, group[0]), max(high, group[1]), members + group[2]
            else:
                apart.append(group)
        groups = [*apart, (low, high, members)]
    return [members for _, _, members in groups]


def spread(centres: Sequence[float], heights: Sequence[float]) -> list[float]:
    """The nearest positions, in least squares, at which boxes of these heights don't overlap; ``centres`` ascend.

    Least squares under an order is isotonic regression; solved by pooling neighbours that violate it (Barlow et al.
    1972, "Statistical inference under order restrictions").
    """
    offsets = np.cumsum([0.0, *((low + high) / 2 for low, high in pairwise(heights))])[: len(heights)]
    pools: list[tuple[float, int]] = []
    for value in np.asarray(centres) - offsets:
        pools.append((float(value), 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (upper, many), (lower, few) = pools.pop(), pools.pop()
            pools.append(((lower * few + upper * many) / (few + many), few + many))
    flat = [value for value, count in pools for _ in range(count)]
    return [float(value + offset) for value, offset in zip(flat, offsets, strict=True)]
