"""Which element is wrong, and how: a disagreement is traced to its element and compared with the usual mistakes."""

from dataclasses import replace
from typing import Any

import numpy as np

from gradlab.instruments.gradcheck_measure import Direction, Measured, Meter, Verdict
from gradlab.instruments.gradcheck_nearby import doubted
from gradlab.instruments.probing import Array, Slot

UNCONFIRMED = 4.0
"""Error estimates by which a direction has to be off if neither of its halves shows it."""

FRESH = 3
"""Directions within the suspected input that a hypothesis has to fit."""


def locate(meter: Meter, suspects: list[Measured], measured: list[Measured]) -> tuple[Verdict, Measured] | None:
    """Trace a disagreement to one element, by halving; None if it dissolves when measured again.

    The slope along a direction is the sum of the slopes along its parts, for a function that has a derivative. A
    disagreement that no part shares, known precisely enough to have shown it, comes from a point without one: a kink.

    Args:
        meter: measures further directions.
        suspects: the directions that disagree, single elements first, the most significant first.
        measured: all directions.
    """
    if suspects[0].direction.place is not None:
        return "disagrees", suspects[0]
    elements = [m for m in measured if m.direction.place is not None]
    if len(elements) == int(np.sum(meter.used)):
        return _undivided(meter, suspects[0], elements)
    for suspect in suspects[:2]:
        current = suspect
        while current.direction.place is None:
            parts = _halves(meter, current)
            wrong = [m for m in parts if m.row.verdict == "disagrees"]
            if not wrong:
                break
            current = max(wrong, key=lambda m: m.significance)
        if current is not suspect:
            return "disagrees", current
        found = _undivided(meter, suspect, parts)
        if found is not None:
            return found
    return None


def _halves(meter: Meter, whole: Measured) -> list[Measured]:
    """Both halves of a direction, divided at random, measured over the steps that served the whole, or over all."""
    vector = whole.direction.vector
    places = meter.rng.permutation(np.flatnonzero(vector))
    found = []
    for half in np.array_split(places, 2):
        if len(half) == 1:
            part = meter.along(int(half[0]), whole.direction.upstream)
        else:
            kept = np.zeros_like(vector)
            kept[half] = vector[half]
            part = Direction(whole.direction.name, kept, whole.direction.upstream)
        found.append(meter.measure_near(part, whole.slope.step))
    return found


def _undivided(meter: Meter, whole: Measured, parts: list[Measured]) -> tuple[Verdict, Measured] | None:
    """What a disagreement of the whole means when none of its parts disagrees."""
    kinks = [m for m in (doubted(meter, part) for part in parts) if m.row.verdict == "kink"]
    if kinks:
        return "kink", kinks[0]
    again = meter.measure(replace(whole.direction))
    better = min(whole, again, key=lambda m: m.estimate)
    if better.row.verdict != "disagrees" or better.significance < UNCONFIRMED:
        return None
    shares = [(_share(whole, m), m) for m in parts]
    doubt = float(sum(abs(share) * m.estimate for share, m in shares))
    of_parts = float(sum(share * m.slope.excess for share, m in shares))
    if abs(of_parts - better.slope.excess) <= better.estimate + doubt:
        return "disagrees", better
    return "kink", better


def _share(whole: Measured, part: Measured) -> float:
    """How much of a part's direction the whole contains: parts along single elements have lengths of their own."""
    place = part.direction.place
    return 1.0 if place is None else float(whole.direction.vector[place] / part.direction.vector[place])


def explain(meter: Meter, culprit: Measured, random: bool) -> tuple[str, dict[str, Any]]:
    """The likely mistake, as a word of `gradcheck_report` and its fields.

    Hypotheses about the gradient of one input (a factor, transposed axes, one element) are tested along fresh
    directions within it; a hypothesis is named if the gradient that it implies agrees along all of them.
    """
    slot = meter.program.slot_of(int(np.flatnonzero(culprit.direction.vector)[0]))
    places = np.arange(slot.start, slot.stop)
    fresh = [meter.measure(meter.within(slot.name, places, i % 2)) for i in range(FRESH)]
    fresh = [m for m in fresh if np.isfinite(m.estimate)]
    pair = [gradient[slot.span] for gradient in meter.gradients]
    if not fresh:
        return "", {}
    if not any(gradient.any() for gradient in pair):
        return "zero", {"name": slot.name}
    if np.array_equal(pair[0], pair[1]):
        return "upstream", {}
    if culprit.slope.flat and all(abs(m.numerical) <= m.estimate for m in fresh):
        return "stairs", {}
    analytic, numerical = (np.array([getattr(m, which) for m in fresh]) for which in ("analytic", "numerical"))
    factor = float(numerical @ analytic / (analytic @ analytic)) if analytic.any() else 0.0
    if (
        abs(factor - 1) > 1e-5
        and factor
        and len(places) > 1
        and _fits(fresh, slot, [factor * gradient for gradient in pair])
    ):
        return _name_factor(1 / factor, slot)
    shape = slot.array.shape
    if len(shape) > 1 and shape[-1] == shape[-2]:
        flipped = [np.swapaxes(gradient.reshape(shape), -1, -2).ravel() for gradient in pair]
        if _fits(fresh, slot, flipped):
            return "transposed", {"name": slot.name}
    if culprit.direction.place is not None and len(places) > 1:
        mended = _with_one_mended(meter, culprit, slot, pair)
        if _fits(fresh, slot, mended):
            return "element", {"name": culprit.direction.name}
    return ("random", {}) if random else ("", {})


def _fits(fresh: list[Measured], slot: Slot, gradients: list[Array]) -> bool:
    """True if these gradients of one input, one for each upstream, agree with all measured slopes."""
    for m in fresh:
        said = float(gradients[m.direction.upstream] @ m.direction.vector[slot.span])
        if abs(said - m.numerical) > 2 * m.estimate + 1e-9 * abs(m.numerical):
            return False
    return True


def _with_one_mended(meter: Meter, culprit: Measured, slot: Slot, pair: list[Array]) -> list[Array]:
    """The gradients with one element's numerical value in place."""
    place = culprit.direction.place
    assert place is not None
    mended = []
    for upstream, gradient in enumerate(pair):
        same = upstream == culprit.direction.upstream
        one = culprit if same else meter.measure(replace(culprit.direction, upstream=upstream))
        changed = gradient.copy()
        changed[place - slot.start] = one.numerical / one.direction.vector[place]
        mended.append(changed)
    return mended


def _name_factor(factor: float, slot: Slot) -> tuple[str, dict[str, Any]]:
    """A constant factor, with what it may come from: a sign, or a size of the input."""
    if abs(factor + 1) < 1e-3:
        return "sign", {}
    for size in (slot.array.size, *slot.array.shape):
        if size > 1 and (abs(factor / size - 1) < 1e-3 or abs(factor * size - 1) < 1e-3):
            shown = f"{size}" if factor > 1 else f"1/{size}"
            return "count", {"factor": shown, "name": slot.name, "shape": slot.array.shape}
    return "factor", {"factor": f"{factor:.4g}", "name": slot.name}
