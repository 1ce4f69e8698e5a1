"""The figure of a `Propagation`: forward and gradient scale over the layers, on a log axis, beside the theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradlab import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gradlab.instruments.propagation import Propagation

# From here on layers are numbers, not names.
_MANY_LAYERS = 14


def draw(result: Propagation) -> Figure:
    """Two lines over the layers, each with its theory; exact zeros are marked at the lower edge."""
    rows = result.rows
    places = np.arange(1, len(rows) + 1)
    forward = np.array([row.forward_rms for row in rows])
    gradient = np.array([row.gradient_rms for row in rows])
    fig, ax = plots.figure()
    for values, role in ((forward, "forward"), (gradient, "gradient")):
        good = np.where(np.isfinite(values) & (values > 0), values, np.nan)
        ax.plot(places, good, **plots.line(role), label=role)
    drawn = False
    for name in ("forward_theory", "gradient_theory"):
        theory = np.array([getattr(row, name) for row in rows])
        if np.isfinite(theory).any():
            drawn = True
            ax.plot(places, theory, color=plots.color("theory"), linestyle=":", linewidth=2)
    plots.log_ticks(ax, "y")
    for place, value in zip(places, gradient, strict=True):
        if value == 0:
            ax.plot([place], [0.02], marker="v", transform=ax.get_xaxis_transform(), color=plots.color("gradient"))
    if len(rows) <= _MANY_LAYERS:
        ax.set_xticks(places, [row.name.rpartition("/")[2] for row in rows], rotation=35, ha="right")
        ax.set_xlabel("layer, from the input to the output")
    else:
        ax.set_xlabel("layer, from the input (1) to the output")
    ax.set_ylabel("root mean square" + ("\n(dotted: theory)" if drawn else ""))
    plots.label_lines(ax)
    plots.title(ax, _finding(result))
    fig.alt = _words(result)
    return fig


def _finding(result: Propagation) -> str:
    gradient = result.factor("gradient")
    rows = result.rows
    if any(row.gradient_rms == 0 for row in rows):
        return "The gradient is exactly zero before it reaches the first layer"
    if np.isnan(gradient):
        return "Signal and gradient, layer by layer"
    if 0.8 < gradient < 1.25:
        return f"The gradient keeps its scale: x\u00a0{gradient:.2f} per layer on its way back"
    change = "shrinks" if gradient < 1 else "grows"
    return f"The gradient {change}: x\u00a0{plots.number(gradient, 2)} per layer on its way back"


def _words(result: Propagation) -> str:
    rows = result.rows
    first, last = rows[0], rows[-1]
    return (
        f"Over {len(rows)} layers the forward signal goes from {plots.number(first.forward_rms)} to "
        f"{plots.number(last.forward_rms)}; the gradient goes from {plots.number(last.gradient_rms)} at the last layer "
        f"to {plots.number(first.gradient_rms)} at the first. Dotted lines: what theory expects."
    )
