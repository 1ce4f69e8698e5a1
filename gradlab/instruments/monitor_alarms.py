"""What a history of gradients warns of, in words: each kind of trouble once, with step, layer and what to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradlab.instruments.monitor_history import History

# Below this share of the largest layer's root mean square a layer learns next to nothing.
VANISHED = 1e-3
# A global norm this many times its median so far, or this large at once, has exploded.
EXPLODED = 100.0
HUGE = 1e4
# Weights that move by less than this share of themselves a step stand still; 1e-3 is usual.
STALLED = 3e-6
# So many kept steps in a row must show it.
PATIENCE = 10

TEXTS = {
    "not finite": "step {step}: the gradient of {layer} is NaN or infinite. Look at the line before with "
    "gradlab.diagnose, lower the rate, or clip by the global norm.",
    "dead": "step {step}: the gradient of {layer} is exactly zero, step after step: its units are dead or cut off. "
    "Smaller rate or biases, He's start, LeakyReLU; or ask gradlab.diagnose for the cut.",
    "vanishing": "step {step}: the gradient of {layer} is {ratio:.0e} of the largest layer's: it vanishes on its "
    "way back. Use ReLU with He's start, normalisation or residual connections.",
    "exploding": "step {step}: the gradients' norm is {ratio:.0e}, far above what it was or should be. Clip by the "
    "global norm, lower the rate, or begin with smaller weights.",
    "stalled": "step {step}: the weights of {layer} move by {ratio:.0e} of their size a step: training stands still. "
    "Raise the rate.",
}


@dataclass(frozen=True)
class Alarm:
    """One kind of trouble, at the step at which it was sure.

    Attributes:
        kind: `not finite`, `dead`, `vanishing`, `exploding` or `stalled`.
        step: the step.
        layer: the variable where it is worst.
        message: the sentence for people, with advice.
    """

    kind: str
    step: int
    layer: str
    message: str

    def __str__(self) -> str:
        return self.message


def alarms_in(history: History, scaled: bool = False) -> list[Alarm]:
    """Every alarm that a history gives, in the order of the steps; each kind once.

    Args:
        scaled: whether a loss scale was at work: then single steps that are not finite are part of its search.
    """
    if not len(history):
        return []
    found = [rule(history) for rule in (_dead, _vanishing, _exploding, _stalled)]
    found.append(_not_finite(history, PATIENCE if scaled else 1))
    return sorted((alarm for alarm in found if alarm is not None), key=lambda alarm: alarm.step)


def _alarm(kind: str, history: History, row: int, column: int, ratio: float = 0.0) -> Alarm:
    step, layer = int(history.steps[row]), history.names[column]
    return Alarm(kind, step, layer, TEXTS[kind].format(step=step, layer=layer, ratio=ratio))


def _first_run(flags: np.ndarray, length: int) -> int | None:
    """The place at which `length` true values in a row are complete."""
    run = 0
    for place, flag in enumerate(flags):
        run = run + 1 if flag else 0
        if run >= length:
            return place
    return None


def _not_finite(history: History, patience: int) -> Alarm | None:
    absent = np.isnan(history.norm).all(axis=0)
    bad = ~np.isfinite(history.norm) & ~absent
    bad |= np.nan_to_num(history.nonfinite) > 0
    row = _first_run(bad.any(axis=1), patience)
    if row is None:
        whole = ~np.isfinite(history.norm).any(axis=1) & (np.nan_to_num(history.nonfinite) > 0).any(axis=1)
        row = _first_run(whole, patience)
    return None if row is None else _alarm("not finite", history, row, int(np.argmax(bad[row])))


def _dead(history: History) -> Alarm | None:
    need = min(PATIENCE, len(history))
    if need < 3:
        return None
    for column in history.kernels or range(len(history.names)):
        row = _first_run(history.norm[:, column] == 0, need)
        if row is not None:
            return _alarm("dead", history, row, column)
    return None


def _vanishing(history: History) -> Alarm | None:
    kernels = history.kernels
    if len(kernels) < 3 or len(history) < 3:
        return None
    rms = history.rms[:, kernels]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = rms / np.max(np.nan_to_num(rms), axis=1, keepdims=True)
    for place in range(len(kernels)):
        small = (share[:, place] < VANISHED) & (rms[:, place] > 0)
        row = _first_run(small, min(PATIENCE, len(history)))
        if row is not None:
            return _alarm("vanishing", history, row, kernels[place], float(share[row, place]))
    return None


def _exploding(history: History) -> Alarm | None:
    total = np.sqrt(np.nansum(np.where(np.isfinite(history.norm), history.norm, 0.0).astype(float) ** 2, axis=1))
    infinite = np.isinf(history.norm).any(axis=1)
    ratios = np.nan_to_num(history.update_ratio[:, history.kernels]) if history.kernels else np.zeros((len(total), 1))
    for row, norm in enumerate(total):
        usual = float(np.median(total[: row + 1]))
        moved = ratios[row].max(initial=0.0) if row > 0 else 0.0
        grown = row >= 3 and usual > 0 and norm > EXPLODED * max(usual, 1e-3)
        if infinite[row] or norm > HUGE or grown or moved > 2.0:
            column = int(np.nanargmax(np.where(np.isnan(history.norm[row]), -1.0, history.norm[row])))
            return _alarm("exploding", history, row, column, float(norm))
    return None


def _stalled(history: History) -> Alarm | None:
    kernels = history.kernels
    ratios = history.update_ratio[:, kernels] if kernels else history.update_ratio
    measured = np.isfinite(ratios).any(axis=1)
    rows = np.flatnonzero(measured)
    if len(rows) < 3:
        return None
    largest = np.nanmax(ratios[rows], axis=1)
    norms = history.norm[rows][:, kernels] if kernels else history.norm[rows]
    alive = np.nanmax(np.nan_to_num(norms), axis=1) > 0
    place = _first_run((largest < STALLED) & alive, min(PATIENCE, len(rows)))
    if place is None:
        return None
    row = int(rows[place])
    column = kernels[int(np.nanargmax(ratios[row]))] if kernels else int(np.nanargmax(ratios[row]))
    return _alarm("stalled", history, row, column, float(largest[place]))
