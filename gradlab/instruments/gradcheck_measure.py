"""Slopes of a program along directions: drawing directions, sampling them, judging each on its own."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from gradlab.instruments.probing import Array, Outputs, Program
from gradlab.instruments.slopes import WINDOW, Samples, Slope, ladder, slope_at_zero

Verdict = Literal["agrees", "disagrees", "kink", "no gradient", "not finite", "too noisy"]

MOST_ELEMENTS = 64
"""Up to this many input elements, each is checked on its own; beyond, in random groups."""

GROUPS = 8
MOST_PARTS = 12
"""At most this many inputs get a direction of their own; more are taken in groups."""

REFUSALS = (ValueError, ArithmeticError, AssertionError, tf.errors.OpError)
"""What a function may raise at a step that leaves its domain."""

BEYOND_DOUBT = 10.0
"""A difference of this many error estimates isn't measured again over all steps."""

RETRIES = 8
"""Measurements spent, in all, on directions that settled nothing at first."""

DENSE = 3
"""Random directions through all inputs at once."""


@dataclass(frozen=True)
class Row:
    """One direction (or one element, a direction along one axis).

    ``analytic`` and ``numerical`` are slopes along the direction, ``error_estimate`` bounds what the numerical one can
    be off, ``step`` is the step used, as a multiple of the input's scale. ``steps`` and ``errors`` are the whole sweep:
    the central difference at each step less the analytic slope; at a kink, half the difference between the slopes to
    the right and to the left.
    """

    direction: str
    analytic: float
    numerical: float
    error_estimate: float
    step: float
    verdict: Verdict
    steps: tuple[float, ...] = ()
    errors: tuple[float, ...] = ()


@dataclass(frozen=True)
class Direction:
    """A direction in the long vector, in the inputs' own units; `upstream` is the number of the upstream gradient.

    ``place`` is the element's place, where the direction runs along a single one.
    """

    name: str
    vector: Array
    upstream: int
    place: int | None = None


@dataclass(frozen=True)
class Measured:
    """A direction with its samples, what they say, and how that reads.

    ``analytic`` is the slope under test and ``estimate`` bounds the error of the difference from it: the numerical
    slope's error and the rounding error of the analytic gradient itself.
    """

    direction: Direction
    samples: Samples
    slope: Slope
    analytic: float
    estimate: float
    row: Row

    @property
    def numerical(self) -> float:
        """The slope that was measured."""
        return self.analytic + self.slope.excess

    @property
    def size(self) -> float:
        """The largest slope seen along this direction, near the inputs."""
        return max(abs(self.analytic), abs(self.numerical), self.slope.nearby)

    @property
    def significance(self) -> float:
        """The difference in units of its error estimate, what a corner at the inputs explains left out."""
        left = max(abs(self.slope.excess) - (abs(self.slope.corner) if self.row.verdict == "kink" else 0.0), 0.0)
        return left / self.estimate if self.estimate > 0 else (np.inf if left else 0.0)


class Meter:
    """Measures slopes of a program; holds what all measurements share.

    `upstreams` are upstream gradients and `gradients` the analytic gradients for them, in the long vector's order;
    elements that aren't in `used` don't take part.
    """

    def __init__(
        self,
        program: Program,
        outputs: Outputs,
        upstreams: list[Array],
        gradients: list[Array],
        used: NDArray[np.bool_],
        rtol: float | None,
        rng: np.random.Generator,
    ) -> None:
        self.program = program
        self.outputs = outputs
        self.upstreams = upstreams
        self.gradients = gradients
        self.used = used
        self.rtol = rtol
        self.rng = rng
        self.epsilon = max([program.epsilon, *outputs.epsilon])
        self.tolerance = rtol if rtol is not None else (5e-4 if self.epsilon < 1e-12 else 5e-3)
        self.scales = self._scales()
        self.gradient_noise: list[list[Array]] = [[], []]
        self.reference = 0.0

    def measure_all(self, directions: int | str) -> list[Measured]:
        """Measure along `directions` random directions, or along the usual set of them."""
        first = [
            self._closer(self.measure(d)) for d in self.dense(directions if isinstance(directions, int) else DENSE)
        ]
        self.gradient_noise = self._measure_gradient_noise(first)
        # one slope of the random directions sets the scale for what counts as resolved
        self.reference = max((m.size for m in first if np.isfinite(m.size)), default=0.0)
        measured = [self._judged(m.direction, m.samples) for m in first]
        if isinstance(directions, int):
            return self._retried(measured)
        steps = [m.slope.step for m in measured if np.isfinite(m.slope.step)]
        focus = float(np.exp(np.mean(np.log(steps)))) if steps else None
        return self._retried(
            measured + [self.measure_near(d, focus) for d in self._structured(directions == "elements")]
        )

    def _retried(self, measured: list[Measured]) -> list[Measured]:
        """Directions that settled nothing, drawn anew: how many corners lie close by is a matter of the direction."""
        left = RETRIES
        kept = []
        for old in measured:
            best = old
            while best.row.verdict == "too noisy" and left:
                left -= 1
                signs = self._random(len(old.direction.vector)) if old.direction.place is None else 1.0
                fresh = self.measure(replace(old.direction, vector=old.direction.vector * signs))
                best = min(best, fresh, key=lambda m: m.estimate if m.row.verdict != "disagrees" else 0.0)
            kept.append(best)
        return kept

    @property
    def scalar(self) -> bool:
        """True if the outputs are a single number."""
        return len(self.outputs.values) == 1

    def _scales(self) -> Array:
        """The typical size of each input element: its tensor's, or its own where the sizes spread widely."""
        scales = np.empty_like(self.program.start)
        for slot in self.program.slots:
            sizes = np.abs(self.program.start[slot.span])
            present = sizes[sizes > 0]
            typical = float(np.sqrt(np.mean(present**2))) if len(present) else 1.0
            wide = len(present) > 1 and np.quantile(present, 0.1) < 1e-3 * np.quantile(present, 0.9)
            scales[slot.span] = np.where(sizes > 0, sizes, np.median(present)) if wide else typical
        return scales

    def _random(self, size: int) -> Array:
        """Random signs with sizes between .5 and 1: no element is drowned, and no two cancel exactly."""
        return self.rng.choice([-1.0, 1.0], size) * self.rng.uniform(0.5, 1.0, size)

    def dense(self, number: int) -> Iterator[Direction]:
        """Random directions through all elements, by typical sizes and, every third, by each element's own."""
        size = len(self.program.start)
        own = np.abs(self.program.start)
        own = np.where(own > 0, own, self.scales)
        for i in range(number):
            scales = own if i % 3 == 1 else self.scales
            yield Direction(f"random {i + 1}", scales * self._random(size) * self.used, i % 2)

    def _structured(self, every: bool) -> list[Direction]:
        """Along the gradient, along each input, along groups of elements or each element."""
        found = []
        steep = self.gradients[0] * self.scales
        if np.any(steep):
            found.append(Direction("gradient", self.scales * steep / np.max(np.abs(steep)), 0))
        slots = [slot for slot in self.program.slots if self.used[slot.start]]
        places = np.flatnonzero(self.used)
        if every or len(places) <= MOST_ELEMENTS:
            found += [self.along(int(place), i % 2) for i, place in enumerate(places)]
            return found
        if len(slots) > 1:
            for i, group in enumerate(np.array_split(np.arange(len(slots)), min(len(slots), MOST_PARTS))):
                members = [slots[int(j)] for j in group]
                places = np.concatenate([np.arange(s.start, s.stop) for s in members])
                found.append(self.within(", ".join(s.name for s in members), places, i % 2))
        groups = np.array_split(self.rng.permutation(np.flatnonzero(self.used)), GROUPS)
        return found + [self.within(f"group {i + 1}", places, i % 2) for i, places in enumerate(groups)]

    def within(self, name: str, places: NDArray[np.int_], upstream: int) -> Direction:
        """A random direction through some elements only."""
        if len(places) == 1:
            return self.along(int(places[0]), upstream)
        vector = np.zeros_like(self.program.start)
        vector[places] = self.scales[places] * self._random(len(places))
        return Direction(name, vector, upstream)

    def along(self, place: int, upstream: int) -> Direction:
        """The direction along one element's axis."""
        vector = np.zeros_like(self.program.start)
        own = abs(self.program.start[place])
        vector[place] = own if own > 1e-3 * self.scales[place] else self.scales[place]
        return Direction(self.program.slot_of(place).element(place), vector, upstream, place)

    def measure(self, direction: Direction, focus: float | None = None) -> Measured:
        """Measure along a direction over all steps that make sense, or over those around `focus`."""
        vector = direction.vector
        unit = float(np.max(np.abs(vector)))
        epsilon = self.program.epsilon
        smallest = max(4 * epsilon, 1e-11)
        if np.any((vector != 0) & (self.program.start == 0)):
            smallest = min(smallest, 1e-10)
        largest = 8 * max(1.0, 1 / unit) if unit > 0 else 8.0
        ratio = 2.0 if epsilon < 1e-12 else 1.7
        if focus is not None:
            smallest, largest = max(smallest, focus / ratio**10), min(largest, focus * ratio**3)
        samples = self._sample(direction, ladder(smallest, largest, ratio, self.rng))
        return self._judged(direction, samples)

    def measure_near(self, direction: Direction, focus: float | None) -> Measured:
        """Measure over the steps that served before; over all steps if that leaves a doubt."""
        near = self.measure(direction, focus)
        plain = near.row.verdict == "agrees" or (near.row.verdict == "disagrees" and near.significance > BEYOND_DOUBT)
        return self._closer(near if plain else self.measure(direction))

    def _closer(self, measured: Measured) -> Measured:
        """A kink, or a vague disagreement, once more: no element moves further than its own size.

        |x| next to 0 has its kink at 0, not at x, and steps that suit other elements jump across it.
        """
        vague = measured.estimate > self.tolerance * measured.size and measured.significance < BEYOND_DOUBT
        if measured.row.verdict != "kink" and not (measured.row.verdict == "disagrees" and vague):
            return measured
        direction = measured.direction
        own = np.abs(self.program.start)
        limit = np.where(own > 0, own, np.inf)
        shorter = np.sign(direction.vector) * np.minimum(np.abs(direction.vector), limit)
        if np.array_equal(shorter, direction.vector):
            return measured
        return self.measure(replace(direction, vector=shorter))

    def reworded(self, measured: Measured, **changes: Any) -> Measured:
        """The same measurement with parts of its slope replaced, and judged by that."""
        return self._worded(measured.direction, measured.samples, replace(measured.slope, **changes))

    def _judged(self, direction: Direction, samples: Samples) -> Measured:
        return self._worded(direction, samples, slope_at_zero(samples))

    def _worded(self, direction: Direction, samples: Samples, slope: Slope) -> Measured:
        analytic = float(self.gradients[direction.upstream] @ direction.vector)
        estimate = slope.estimate + self._analytic_error(direction)
        row = self._row(direction, samples, slope, analytic, estimate)
        return Measured(direction, samples, slope, analytic, estimate, row)

    def _sample(self, direction: Direction, steps: Array) -> Samples:
        upstream, gradient = self.upstreams[direction.upstream], self.gradients[direction.upstream]
        start, base = self.program.start, self.outputs
        size = np.abs(upstream) * base.epsilon
        columns: list[tuple] = []
        failures = 0
        for step in steps:
            right, left = (self.program.rounded(start + sign * step * direction.vector) for sign in (1, -1))
            plus, minus = self.values_at(right), self.values_at(left)
            if not (np.isfinite(plus).all() and np.isfinite(minus).all()):
                failures += 1
                if failures >= 3:
                    break
                continue
            changed = (plus != minus) | (plus != base.values)
            rounding = size * np.maximum(np.abs(plus), np.abs(minus))
            up, down = upstream @ (plus - base.values), upstream @ (minus - base.values)
            columns.append(
                (
                    step,
                    (upstream @ (plus - minus) - gradient @ (right - left)) / 2,
                    (up + down - gradient @ (right + left - 2 * start)) / 2,
                    max(abs(up), abs(down)),
                    0.3 * float(np.linalg.norm(rounding * changed)),
                    0.3 * float(np.linalg.norm(rounding)),
                    float(changed.any()),
                )
            )
        table = np.array(columns).reshape(-1, 7).T
        return Samples(
            steps=table[0],
            odd=table[1],
            even=table[2],
            rise=table[3],
            rounding=table[4],
            full_rounding=table[5],
            moved=table[6] > 0,
            unit=self.epsilon * max(1.0, 1e-3 * float(np.sum(np.abs(upstream * base.values)))),
            broken_at_zero=len(columns) < WINDOW,
        )

    def values_at(self, place: Array) -> Array:
        """Outputs at a place near the inputs; a refusal to compute there, or another shape, reads as NaN."""
        try:
            values = self.program.evaluate(place).values
        except REFUSALS:
            return np.full_like(self.outputs.values, np.nan)
        return values if values.shape == self.outputs.values.shape else np.full_like(self.outputs.values, np.nan)

    def _measure_gradient_noise(self, measured: list[Measured]) -> list[list[Array]]:
        """How much rounding scatters the analytic gradient: second differences over tiny moves of the inputs."""
        # the move of the inputs that changes the function as much as its own noise does
        moves = [m.slope.noise / m.size for m in measured if np.isfinite(m.slope.noise) and m.size > 0]
        move = float(np.clip(min(moves, default=0.0), 2 * self.epsilon, 1e-3))
        found: list[list[Array]] = [[], []]
        for i, upstream in enumerate(self.upstreams):
            for _ in range(2):
                shake = move * np.abs(self.program.start) * self.rng.choice([-1.0, 1.0], len(self.program.start))
                both = [self.program.flat_gradient(self.program.start + sign * shake, upstream) for sign in (1, -1)]
                second = (both[0] + both[1] - 2 * self.gradients[i]) / np.sqrt(6.0)
                if np.isfinite(second).all():
                    found[i].append(second)
        return found

    def _analytic_error(self, direction: Direction) -> float:
        terms = self.gradients[direction.upstream] * direction.vector
        scatter = [float(noise @ direction.vector) for noise in self.gradient_noise[direction.upstream]]
        shaken = float(np.sqrt(np.mean(np.square(scatter)))) if scatter else 0.0
        return 4 * shaken + 16 * self.epsilon * float(np.linalg.norm(terms)) + 4e-16 * float(np.sum(np.abs(terms)))

    def _row(self, direction: Direction, samples: Samples, slope: Slope, analytic: float, estimate: float) -> Row:
        per = self.per(direction)
        if slope.jump:
            verdict: Verdict = "kink"
        elif samples.broken_at_zero:
            verdict = "not finite"
        else:
            verdict = self._compare(analytic, estimate, slope)
        return Row(
            direction=direction.name,
            analytic=analytic / per,
            numerical=(analytic + slope.excess) / per if np.isfinite(slope.estimate) else np.nan,
            error_estimate=estimate / abs(per),
            step=slope.step,
            verdict=verdict,
            steps=tuple(samples.steps.tolist()),
            errors=tuple(((samples.even if verdict == "kink" else samples.odd) / samples.steps / per).tolist()),
        )

    def per(self, direction: Direction) -> float:
        """Divides measured slopes into what a reader expects: upstream 1 for scalars, per unit for single elements."""
        unit = float(self.upstreams[direction.upstream][0]) if self.scalar else 1.0
        return unit * (float(direction.vector[direction.place]) if direction.place is not None else 1.0)

    def _compare(self, analytic: float, estimate: float, slope: Slope) -> Verdict:
        size = max(abs(analytic), abs(analytic + slope.excess), slope.nearby)
        corner = abs(slope.corner)
        if corner > slope.corner_estimate and corner > self.tolerance * size:
            between = abs(slope.excess) <= corner * 1.01 + estimate
            return "kink" if between else "disagrees"
        allowed = estimate if self.rtol is None else max(estimate, self.rtol * size)
        if abs(slope.excess) > allowed:
            return "disagrees"
        return "agrees" if estimate <= self.tolerance * max(size, self.reference) else "too noisy"
