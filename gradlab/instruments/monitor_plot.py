"""The figure of a gradient history: a heat map over layers and steps, and the norms over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradlab import plots
from gradlab.instruments.monitor_alarms import Alarm
from gradlab.instruments.monitor_history import History

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# So many steps are told apart side by side.
COLUMNS = 60


def draw(history: History, alarms: list[Alarm]) -> Figure:
    """Above the scale of each layer's gradient over the steps, below the norm of all gradients together."""
    places = history.kernels or list(range(len(history.names)))
    fig, (above, below) = plots.figure("wide", height=7.4, rows=2, height_ratios=(3, 2))
    shown = np.unique(np.linspace(0, len(history) - 1, min(COLUMNS, len(history))).astype(int))
    steps = history.steps[shown]
    names = [_short(history.names[place]) for place in places]
    plots.heat(above, history.rms[shown][:, places].T, "gradient, root mean square", names, log=True)
    ticks = np.unique(np.linspace(0, len(steps) - 1, 6).astype(int))
    above.set_xticks(ticks, [f"{steps[tick]:,}" for tick in ticks])
    above.set(xlabel="step", ylabel="layer, first at the top")
    total = history.global_norm
    good = np.isfinite(total) & (total > 0)
    below.plot(history.steps[good], total[good], **plots.line("gradient", marker=""))
    plots.log_ticks(below, "y")
    below.set(xlabel="step", ylabel="norm of all\ngradients")
    for alarm in alarms:
        below.axvline(alarm.step, color=plots.color("bad"), linestyle="--", linewidth=1.5)
    plots.title(fig, _finding(history, alarms))
    fig.alt = _words(history, alarms)
    return fig


def _short(name: str) -> str:
    """A variable by its layer: `sequential/dense_1/kernel` is `dense_1`."""
    parts = name.split("/")
    return parts[-2] if len(parts) > 1 else name


def _finding(history: History, alarms: list[Alarm]) -> str:
    if alarms:
        first = alarms[0]
        return f"{first.kind.capitalize()} at step {first.step}: {first.layer}"
    return "The gradients keep their scale: no alarms"


def _words(history: History, alarms: list[Alarm]) -> str:
    said = " ".join(alarm.message for alarm in alarms) or "No alarms."
    norm = history.global_norm
    first, last = (plots.number(float(v)) if np.isfinite(v) else "not finite" for v in (norm[0], norm[-1]))
    return (
        f"Gradient scale of {len(history.names)} variables over {len(history)} kept steps; the norm of all goes from "
        f"{first} to {last}. {said}"
    )
