"""Is the gradient right? Analytic against numerical slopes, with an error estimate that decides.

`gradcheck` is the public function; `slopes` holds the numerics, `probing` calls the user's function and
`gradcheck_report` holds every text.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from gradlab.instruments import gradcheck_report
from gradlab.instruments.gradcheck_report import say
from gradlab.instruments.probing import Outputs, Program, Slot
from gradlab.instruments.slopes import Samples, Slope, ladder, slope_at_zero

Array = NDArray[np.float64]
Verdict = Literal["agrees", "disagrees", "kink", "no gradient", "not finite", "too noisy"]

MOST_ELEMENTS = 64
"""Up to this many input elements, each is checked on its own; beyond, in random groups."""

GROUPS = 8
MOST_PARTS = 12
"""At most this many inputs get a direction of their own; more are taken in groups."""


@dataclass(frozen=True)
class Row:
    """One direction (or one element, a direction along one axis).

    ``analytic`` and ``numerical`` are slopes along the direction, ``error_estimate`` bounds what the numerical one can
    be off, ``step`` is the step used, as a multiple of the input's scale. ``steps`` and ``errors`` are the whole sweep:
    the central difference at each step less the analytic slope.
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
class Worst:
    """The element (or direction, where no single element can be told) that is furthest off."""

    name: str
    analytic: float
    numerical: float
    error_estimate: float
    corner: float = 0.0
    jump: bool = False


@dataclass(frozen=True)
class GradCheck:
    """How a check went; print it for a report.

    ``max_error`` is the largest difference between the analytic and the numerical slope and ``error_estimate`` the
    largest bound on the numerical slope's own error, both as a fraction of the largest slope found.
    ``kind`` is a word for the likely mistake, ``notes`` are words for what else was noticed.
    """

    verdict: Verdict
    max_error: float
    error_estimate: float
    rows: tuple[Row, ...]
    worst: Worst | None = None
    kind: str = ""
    kind_fields: tuple[tuple[str, Any], ...] = ()
    notes: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()
    dtype: str = "float32"

    @property
    def ok(self) -> bool:
        """True only if the verdict is ``agrees``."""
        return self.verdict == "agrees"

    def __str__(self) -> str:
        return gradcheck_report.as_text(self)

    def _repr_html_(self) -> str:
        return gradcheck_report.as_html(self)

    def plot(self) -> Any:
        """Error against step for each direction: the V of truncation and rounding. Returns the figure."""
        return gradcheck_report.as_figure(self)


def gradcheck(
    fn: Callable[..., Any],
    *inputs: Any,
    rtol: float | None = None,
    directions: int | Literal["auto", "elements"] = "auto",
    variables: Sequence[Any] | None = None,
    seed: int = 0,
) -> GradCheck:
    """Check the gradient that TensorFlow gives for `fn` against slopes measured from its values.

    ``gradcheck(fn, x, w)`` checks ``fn(x, w)``, and a model's weights are checked through a closure:
    ``gradcheck(lambda: loss(y, model(x)), variables=model.trainable_variables)``. Slopes are measured along random
    directions, so the cost doesn't depend on the number of inputs; up to 64 elements are also checked one by one, and
    a disagreement is traced to the element. Outputs that aren't scalars are weighted with random numbers and added,
    and a scalar is multiplied by a number other than 1, so that a rule which ignores its upstream gradient is found.

    Args:
        fn: returns a tensor or a structure of tensors, of any shapes. It is called some hundred times.
        inputs: tensors, arrays, lists or floats, of any shapes; variables, which `fn` gets as they are; and
            structures of these. Integers, booleans and text are held constant.
        rtol: differences up to this fraction of the largest slope count as agreement. None: none does, beyond the
            estimated error of the measurement.
        directions: number of random directions; ``"elements"`` checks every element on its own.
        variables: further variables to differentiate by, such as a model's weights.
        seed: for the random directions. The same seed gives the same result.

    Returns:
        The verdict: ``agrees`` (differences within the measured error, and that error at most 0.5 % of the largest
        slope, 0.05 % in float64), ``disagrees``, ``kink`` (the slopes to the left and the right differ),
        ``no gradient`` (None), ``not finite`` or ``too noisy`` (the dtype can't resolve the slope).

    Raises:
        ValueError: no floating-point input.
        TypeError: complex inputs or outputs, or a function that returns None.
        Exception: whatever `fn` raises, with a note.

    Variables are put back, also after an exception, and so are Python's and NumPy's global generators. A function
    that is random is called with the same seeds each time; then TensorFlow's global seed is set, and stays set,
    because it can't be read.
    """
    if directions not in ("auto", "elements") and not (isinstance(directions, int) and directions > 0):
        raise ValueError(say("bad directions", directions=directions))
    if rtol is not None and not rtol >= 0:
        raise ValueError(say("bad rtol", rtol=rtol))
    program = Program(fn, inputs, variables)
    try:
        return _Check(program, rtol, directions, seed).run()
    except Exception as error:
        if not str(error).startswith("gradcheck"):
            error.add_note(say("raised"))
        raise
    finally:
        program.restore()


@dataclass(frozen=True)
class _Direction:
    """A direction in the long vector, in the inputs' own units; `upstream` is the number of the upstream gradient."""

    name: str
    vector: Array
    upstream: int
    place: int | None = None


@dataclass(frozen=True)
class _Measured:
    direction: _Direction
    samples: Samples
    slope: Slope
    row: Row


class _Check:
    """One run of the check; holds what its steps share."""

    def __init__(self, program: Program, rtol: float | None, directions: int | str, seed: int) -> None:
        self.program = program
        self.rtol = rtol
        self.directions = directions
        self.rng = np.random.default_rng(seed)
        self.notes: list[tuple[str, tuple[tuple[str, Any], ...]]] = []
        self.unused: list[Slot] = []

    def run(self) -> GradCheck:
        self.outputs, noticed = self.program.settle()
        self.notes += [(word, ()) for word in noticed]
        self.epsilon = max([self.program.epsilon, *self.outputs.epsilon])
        self.tolerance = self.rtol if self.rtol is not None else (5e-4 if self.epsilon < 1e-12 else 5e-3)
        early = self._before_measuring()
        if early is not None:
            return early
        measured = self._measure_all()
        return self._conclude(measured)

    def _stop(self, verdict: Verdict, kind: str, **fields: Any) -> GradCheck:
        return GradCheck(
            verdict,
            np.nan,
            np.nan,
            (),
            kind=kind,
            kind_fields=tuple(fields.items()),
            notes=tuple(self.notes),
            dtype=self.program.dtype,
        )

    def _before_measuring(self) -> GradCheck | None:
        """The verdicts that need no measurement, or None; sets the upstream gradients and the gradients."""
        values = self.outputs.values
        if not len(values):
            return self._stop("no gradient", "output")
        if not np.isfinite(values).all():
            return self._stop("not finite", "value", value=float(values[~np.isfinite(values)][0]))
        self.scalar = len(values) == 1
        self.upstreams = self._draw_upstreams()
        self.gradients: list[Array] = []
        for upstream in self.upstreams:
            try:
                parts = self.program.gradient(self.program.start, upstream)
            except LookupError as error:
                return self._stop("no gradient", "unregistered", error=str(error).splitlines()[0])
            early = self._missing(parts) or self._misshapen(parts)
            if early is not None:
                return early
            flat = self._joined(parts)
            if not np.isfinite(flat).all():
                place = int(np.argmin(np.isfinite(flat)))
                name, count = self._slot(place).element(place), int(np.sum(~np.isfinite(flat)))
                return self._stop("not finite", "gradient", name=name, value=float(flat[place]), count=count)
            self.gradients.append(flat)
        self.scales = self._scales()
        return None

    def _draw_upstreams(self) -> list[Array]:
        """Two upstream gradients, exact in every dtype, and never 1."""
        if self.scalar:
            return [np.array([1.625]), np.array([-0.75])]
        sizes = [int(np.prod(shape)) for shape in self.outputs.shapes]
        units: list[Array] = []
        at = 0
        for size in sizes:
            part = self.outputs.values[at : at + size]
            typical = float(np.sqrt(np.mean(part**2))) if size else 0.0
            unit = 2.0 ** float(-np.round(np.log2(typical))) if typical > 0 and len(sizes) > 1 else 1.0
            units.append(np.full(size, min(max(unit, 2.0**-100), 2.0**100)))
            at += size
        unit = np.concatenate(units)
        count = len(self.outputs.values)
        return [unit * self.rng.choice([-1, 1], count) * self.rng.integers(4, 13, count) / 8 for _ in range(2)]

    def _missing(self, parts: list[NDArray | None]) -> GradCheck | None:
        if all(part is None for part in parts):
            return self._stop("no gradient", "none", names=", ".join(slot.name for slot in self.program.slots))
        missing = [slot for slot, part in zip(self.program.slots, parts, strict=True) if part is None]
        moving = [slot.name for slot in missing if slot not in self.unused and self._moves(slot)]
        if moving:
            return self._stop("no gradient", "none", names=", ".join(moving))
        for slot in missing:
            if slot not in self.unused:
                self.unused.append(slot)
                self.notes.append(("unused", (("name", slot.name),)))
        return None

    def _moves(self, slot: Slot) -> bool:
        """True if the outputs change when this input does, be it by much."""
        scale = float(np.max(np.abs(slot.array), initial=0.0)) or 1.0
        for step in (1e-3, 0.1, 1.0, 10.0, 10.0 / scale):
            moved = self.program.start.copy()
            moved[slot.span] += step * scale * self.rng.uniform(-1, 1, slot.array.size)
            if not self._at(moved, anything=True).same(self.outputs):
                return True
        return False

    def _misshapen(self, parts: list[NDArray | None]) -> GradCheck | None:
        for slot, part in zip(self.program.slots, parts, strict=True):
            if part is not None and part.shape != slot.array.shape:
                return self._stop("disagrees", "shape", name=slot.name, got=part.shape, wanted=slot.array.shape)
        return None

    def _slot(self, place: int) -> Slot:
        return next(slot for slot in self.program.slots if place < slot.stop)

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

    def _at(self, place: Array, anything: bool = False) -> Outputs:
        """Outputs at a place near the inputs; a refusal to compute there reads as NaN."""
        try:
            return self.program.evaluate(place)
        except (ValueError, ArithmeticError, AssertionError, tf.errors.OpError):
            if anything:
                return self.outputs
            return replace(self.outputs, values=np.full_like(self.outputs.values, np.nan))

    # measuring

    def _measure_all(self) -> list[_Measured]:
        self.gradient_noise: list[list[Array]] = [[], []]
        number = self.directions if isinstance(self.directions, int) else 3
        first = [self._measure(d) for d in self._dense(number)]
        self.gradient_noise = self._measure_gradient_noise(first)
        measured = [self._again(m) for m in first]
        steps = [m.slope.step for m in measured if np.isfinite(m.slope.step)]
        focus = float(np.exp(np.mean(np.log(steps)))) if steps else None
        if isinstance(self.directions, int):
            return measured
        measured += [self._measure_near(d, focus) for d in self._structured()]
        return measured

    def _used(self) -> NDArray[np.bool_]:
        used = np.ones(len(self.program.start), bool)
        for slot in self.unused:
            used[slot.span] = False
        return used

    def _random(self, size: int) -> Array:
        """Random signs with sizes between .5 and 1: no element is drowned, and no two cancel exactly."""
        return self.rng.choice([-1.0, 1.0], size) * self.rng.uniform(0.5, 1.0, size)

    def _dense(self, number: int) -> Iterable[_Direction]:
        size = len(self.program.start)
        own = np.abs(self.program.start)
        own = np.where(own > 0, own, self.scales)
        for i in range(number):
            scales = own if i % 3 == 1 else self.scales
            yield _Direction(f"random {i + 1}", scales * self._random(size) * self._used(), i % 2)

    def _structured(self) -> list[_Direction]:
        """Along the gradient, along each input, along groups of elements or each element."""
        found = []
        used = self._used()
        steep = self.gradients[0] * self.scales
        if np.any(steep):
            found.append(_Direction("gradient", self.scales * steep / np.max(np.abs(steep)), 0))
        slots = [slot for slot in self.program.slots if slot not in self.unused]
        every = int(np.sum(used)) <= MOST_ELEMENTS or self.directions == "elements"
        if every:
            places = np.flatnonzero(used)
            found += [self._along(int(place), i % 2) for i, place in enumerate(places)]
            return found
        if len(slots) > 1:
            for i, group in enumerate(np.array_split(np.arange(len(slots)), min(len(slots), MOST_PARTS))):
                members = [slots[int(j)] for j in group]
                places = np.concatenate([np.arange(s.start, s.stop) for s in members])
                found.append(self._within(", ".join(s.name for s in members), places, i % 2))
        groups = np.array_split(self.rng.permutation(np.flatnonzero(used)), GROUPS)
        return found + [self._within(f"group {i + 1}", places, i % 2) for i, places in enumerate(groups)]

    def _within(self, name: str, places: NDArray[np.int_], upstream: int) -> _Direction:
        if len(places) == 1:
            return self._along(int(places[0]), upstream)
        vector = np.zeros_like(self.program.start)
        vector[places] = self.scales[places] * self._random(len(places))
        return _Direction(name, vector, upstream)

    def _along(self, place: int, upstream: int) -> _Direction:
        vector = np.zeros_like(self.program.start)
        own = abs(self.program.start[place])
        vector[place] = own if own > 1e-3 * self.scales[place] else self.scales[place]
        return _Direction(self._slot(place).element(place), vector, upstream, place)

    def _measure(self, direction: _Direction, focus: float | None = None) -> _Measured:
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

    def _measure_near(self, direction: _Direction, focus: float | None) -> _Measured:
        """Measure over the steps that served before; over all steps if that settles nothing."""
        near = self._measure(direction, focus)
        return near if near.row.verdict == "agrees" else self._measure(direction)

    def _again(self, measured: _Measured) -> _Measured:
        return self._judged(measured.direction, measured.samples)

    def _judged(self, direction: _Direction, samples: Samples) -> _Measured:
        slope = slope_at_zero(samples)
        return _Measured(direction, samples, slope, self._row(direction, samples, slope))

    def _sample(self, direction: _Direction, steps: Array) -> Samples:
        upstream, gradient = self.upstreams[direction.upstream], self.gradients[direction.upstream]
        start, base = self.program.start, self.outputs
        size = np.abs(upstream) * base.epsilon
        columns: list[tuple[Any, ...]] = []
        failures = 0
        for step in steps:
            right, left = (self.program.rounded(start + sign * step * direction.vector) for sign in (1, -1))
            plus, minus = self._at(right).values, self._at(left).values
            if plus.shape != base.values.shape or not (np.isfinite(plus).all() and np.isfinite(minus).all()):
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
            unit=self.epsilon * max(1.0, float(np.sum(np.abs(upstream * base.values)))),
            broken_at_zero=len(columns) < 8,
        )

    def _measure_gradient_noise(self, measured: list[_Measured]) -> list[list[Array]]:
        """How much rounding scatters the analytic gradient: second differences over tiny moves of the inputs."""
        size = float(np.sum(np.abs(self.upstreams[0] * self.outputs.values)))
        noise = min((m.slope.noise for m in measured if np.isfinite(m.slope.noise)), default=0.0)
        move = float(np.clip(noise / size if size > 0 else 0.0, 2 * self.epsilon, 1e-3))
        found: list[list[Array]] = [[], []]
        for i, upstream in enumerate(self.upstreams):
            for _ in range(2):
                shake = move * np.abs(self.program.start) * self.rng.choice([-1.0, 1.0], len(self.program.start))
                both = [self._gradient_at(self.program.start + sign * shake, upstream) for sign in (1, -1)]
                second = (both[0] + both[1] - 2 * self.gradients[i]) / np.sqrt(6.0)
                if np.isfinite(second).all():
                    found[i].append(second)
        return found

    def _gradient_at(self, place: Array, upstream: Array) -> Array:
        return self._joined(self.program.gradient(place, upstream))

    def _joined(self, parts: list[NDArray | None]) -> Array:
        """The gradients of the slots end to end; None reads as zeros."""
        slots = self.program.slots
        return np.concatenate(
            [np.zeros(s.array.size) if p is None else p.ravel() for s, p in zip(slots, parts, strict=True)]
        )

    def _analytic_error(self, direction: _Direction) -> float:
        terms = self.gradients[direction.upstream] * direction.vector
        scatter = [float(noise @ direction.vector) for noise in self.gradient_noise[direction.upstream]]
        shaken = float(np.sqrt(np.mean(np.square(scatter)))) if scatter else 0.0
        return 4 * shaken + 16 * self.epsilon * float(np.linalg.norm(terms)) + 4e-16 * float(np.sum(np.abs(terms)))

    def _row(self, direction: _Direction, samples: Samples, slope: Slope) -> Row:
        per = self._per(direction)
        analytic = self._analytic(direction)
        estimate = slope.estimate + self._analytic_error(direction)
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
            errors=tuple((samples.odd / samples.steps / per).tolist()),
        )

    def _per(self, direction: _Direction) -> float:
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
        return "agrees" if estimate <= self.tolerance * size else "too noisy"

    # concluding

    def _conclude(self, measured: list[_Measured]) -> GradCheck:
        verdict = self._overall(measured)
        worst, kind = None, ""
        fields: dict[str, Any] = {}
        if verdict == "disagrees":
            suspects = [m for m in measured if m.row.verdict == "disagrees"]
            suspects.sort(key=lambda m: (m.direction.place is None, -abs(m.slope.excess) / m.row.error_estimate))
            suspect, verdict = self._locate(suspects, measured)
            worst = self._worst(suspect)
            if verdict == "disagrees":
                kind, fields = self._explain(suspect)
        elif verdict in ("kink", "too noisy", "not finite"):
            chosen = [m for m in measured if m.row.verdict == verdict] or measured
            elements = [m for m in chosen if m.direction.place is not None]
            worst = self._worst((elements or chosen)[0])
        rows = tuple(m.row for m in measured)
        size = self._largest_slope(measured)
        errors = [abs(m.slope.excess) for m in measured if np.isfinite(m.slope.estimate)]
        estimates = [self._estimate(m) for m in measured]
        return GradCheck(
            verdict=verdict,
            max_error=_ratio(max(errors, default=np.nan), size),
            error_estimate=_ratio(max(estimates), size),
            rows=rows,
            worst=worst,
            kind=kind,
            kind_fields=tuple(fields.items()),
            notes=tuple(self.notes),
            dtype=self.program.dtype,
        )

    def _estimate(self, measured: _Measured) -> float:
        return measured.slope.estimate + self._analytic_error(measured.direction)

    def _largest_slope(self, measured: list[_Measured]) -> float:
        sizes = [0.0]
        for m in measured:
            analytic = self._analytic(m.direction)
            sizes += [abs(analytic), abs(analytic + m.slope.excess), m.slope.nearby]
        return max(size for size in sizes if np.isfinite(size))

    def _overall(self, measured: list[_Measured]) -> Verdict:
        found = {m.row.verdict for m in measured}
        graver: tuple[Verdict, ...] = ("not finite", "disagrees", "kink")
        for verdict in graver:
            if verdict in found:
                return verdict
        limit = self.tolerance * self._largest_slope(measured)
        return "agrees" if all(self._estimate(m) <= limit for m in measured) else "too noisy"

    def _locate(self, suspects: list[_Measured], measured: list[_Measured]) -> tuple[_Measured, Verdict]:
        """Halve a direction that disagrees until one element is left; a disagreement that dissolves was a kink."""
        suspect = suspects[0]
        while suspect.direction.place is None:
            places = self.rng.permutation(np.flatnonzero(suspect.direction.vector))
            halves = [
                self._measure(self._within(suspect.direction.name, half, suspect.direction.upstream))
                for half in np.array_split(places, 2)
            ]
            halves.sort(key=lambda m: -(abs(m.slope.excess) / m.row.error_estimate if m.row.error_estimate else 0))
            wrong = [m for m in halves if m.row.verdict == "disagrees"]
            if not wrong:
                break
            suspect = wrong[0]
        return suspect, "disagrees"

    def _worst(self, measured: _Measured) -> Worst:
        row = measured.row
        corner = abs(measured.slope.corner / self._per(measured.direction))
        return Worst(row.direction, row.analytic, row.numerical, row.error_estimate, corner, measured.slope.jump)

    def _analytic(self, direction: _Direction) -> float:
        return float(self.gradients[direction.upstream] @ direction.vector)

    def _explain(self, suspect: _Measured) -> tuple[str, dict[str, Any]]:
        """The likely mistake: hypotheses about the gradient of one input, tested along fresh directions in it."""
        slot = self._slot(int(np.flatnonzero(suspect.direction.vector)[0]))
        places = np.arange(slot.start, slot.stop)
        rows = [self._measure(self._within(slot.name, places, i % 2)) for i in range(3)]
        rows = [m for m in rows if np.isfinite(m.slope.estimate)]
        first, second = (gradient[slot.span] for gradient in self.gradients)
        numerical = np.array([self._analytic(m.direction) + m.slope.excess for m in rows])
        allowed = np.array([self._estimate(m) for m in rows]) + 1e-9 * np.abs(numerical)
        analytic = np.array([self._analytic(m.direction) for m in rows])

        def fits(corrected: list[Array]) -> bool:
            said = [corrected[m.direction.upstream] @ m.direction.vector[slot.span] for m in rows]
            return bool(np.all(np.abs(np.array(said) - numerical) <= 2 * allowed))

        if not rows:
            return "", {}
        if not first.any() and not second.any():
            return "zero", {"name": slot.name}
        if np.array_equal(first, second):
            return "upstream", {}
        if suspect.slope.flat and np.all(np.abs(numerical) <= allowed):
            return "stairs", {}
        factor = float(numerical @ analytic / (analytic @ analytic))
        if factor and fits([factor * first, factor * second]) and len(places) > 1:
            return self._factor(1 / factor, slot)
        shape = slot.array.shape
        if len(shape) > 1 and shape[-1] == shape[-2]:
            flipped = [np.swapaxes(g.reshape(shape), -1, -2).ravel() for g in (first, second)]
            if fits(flipped):
                return "transposed", {"name": slot.name}
        if suspect.direction.place is not None and len(places) > 1:
            at = suspect.direction.place - slot.start
            ratio = (self._analytic(suspect.direction) + suspect.slope.excess) / suspect.direction.vector[
                suspect.direction.place
            ]
            if fits([self._with(g, at, ratio, i, suspect) for i, g in enumerate((first, second))]):
                return "element", {"name": suspect.direction.name}
        if any(word == "random" for word, _ in self.notes):
            return "random", {}
        return "", {}

    def _with(self, gradient: Array, at: int, value: float, upstream: int, suspect: _Measured) -> Array:
        """The gradient with one element's numerical value in place (measured anew for the other upstream gradient)."""
        if upstream != suspect.direction.upstream:
            other = self._measure(replace(suspect.direction, upstream=upstream))
            value = (self._analytic(other.direction) + other.slope.excess) / other.direction.vector[
                other.direction.place or 0
            ]
        changed = gradient.copy()
        changed[at] = value
        return changed

    def _factor(self, factor: float, slot: Slot) -> tuple[str, dict[str, Any]]:
        if abs(factor + 1) < 1e-3:
            return "sign", {}
        for size in [slot.array.size, *slot.array.shape]:
            if size > 1 and (abs(factor - size) < 1e-3 * size or abs(factor * size - 1) < 1e-3):
                shown = f"{size}" if factor > 1 else f"1/{size}"
                return "count", {"factor": shown, "name": slot.name, "shape": slot.array.shape}
        return "factor", {"factor": f"{factor:.4g}", "name": slot.name}


def _ratio(value: float, size: float) -> float:
    if value == 0:
        return 0.0
    return value / size if size > 0 else np.inf


__all__ = ["GradCheck", "Row", "Worst", "gradcheck"]
