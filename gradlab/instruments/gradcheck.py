"""Is the gradient right? Analytic against numerical slopes, with an error estimate that decides.

`gradcheck` is the public function. `probing` calls the user's function, `slopes` holds the numerics,
`gradcheck_measure` the directions, `gradcheck_nearby` tells corners from mistakes, `gradcheck_explain` finds the
culprit, and `gradcheck_report` holds every text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradlab.instruments import gradcheck_report
from gradlab.instruments.gradcheck_explain import explain, locate
from gradlab.instruments.gradcheck_measure import BEYOND_DOUBT, REFUSALS, Measured, Meter, Row, Verdict
from gradlab.instruments.gradcheck_nearby import doubted
from gradlab.instruments.gradcheck_report import say
from gradlab.instruments.probing import Array, Program, Slot

Note = tuple[str, tuple[tuple[str, Any], ...]]
"""A word of `gradcheck_report.TEXT` and the fields that its sentence needs."""


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
    notes: tuple[Note, ...] = ()
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


class _Check:
    """One run of the check."""

    def __init__(self, program: Program, rtol: float | None, directions: int | str, seed: int) -> None:
        self.program = program
        self.rtol = rtol
        self.directions = directions
        self.rng = np.random.default_rng(seed)
        self.notes: list[Note] = []
        self.unused: list[Slot] = []

    def run(self) -> GradCheck:
        """From the first call to the verdict."""
        self.outputs, noticed = self.program.settle()
        self.notes += [(word, ()) for word in noticed]
        values = self.outputs.values
        if not len(values):
            return self._stop("no gradient", "output")
        if not np.isfinite(values).all():
            return self._stop("not finite", "value", value=float(values[~np.isfinite(values)][0]))
        upstreams = self._draw_upstreams()
        gradients = self._analytic(upstreams)
        if isinstance(gradients, GradCheck):
            return gradients
        used = np.ones(len(self.program.start), bool)
        for slot in self.unused:
            used[slot.span] = False
        meter = Meter(self.program, self.outputs, upstreams, gradients, used, self.rtol, self.rng)
        return self._conclude(meter, meter.measure_all(self.directions))

    def _stop(self, verdict: Verdict, kind: str, **fields: Any) -> GradCheck:
        """A verdict that needs no measurement."""
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

    def _analytic(self, upstreams: list[Array]) -> list[Array] | GradCheck:
        """The gradients to check, one for each upstream gradient, or the verdict if there are none."""
        found = []
        for upstream in upstreams:
            try:
                parts = self.program.gradient(self.program.start, upstream)
            except LookupError as error:
                return self._stop("no gradient", "unregistered", error=str(error).splitlines()[0])
            early = self._missing(parts) or self._misshapen(parts) or self._infinite(parts)
            if early is not None:
                return early
            found.append(self.program.joined(parts))
        return found

    def _draw_upstreams(self) -> list[Array]:
        """Two upstream gradients, exact in every dtype, and never 1."""
        if len(self.outputs.values) == 1:
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
            try:
                if not self.program.evaluate(moved).same(self.outputs):
                    return True
            except REFUSALS:
                continue
        return False

    def _misshapen(self, parts: list[NDArray | None]) -> GradCheck | None:
        for slot, part in zip(self.program.slots, parts, strict=True):
            if part is not None and part.shape != slot.array.shape:
                return self._stop("disagrees", "shape", name=slot.name, got=part.shape, wanted=slot.array.shape)
        return None

    def _infinite(self, parts: list[NDArray | None]) -> GradCheck | None:
        flat = self.program.joined(parts)
        broken = ~np.isfinite(flat)
        if not broken.any():
            return None
        place = int(np.argmax(broken))
        name = self.program.slot_of(place).element(place)
        return self._stop("not finite", "gradient", name=name, value=float(flat[place]), count=int(np.sum(broken)))

    def _conclude(self, meter: Meter, measured: list[Measured]) -> GradCheck:
        verdict, culprit, measured = self._overall(meter, measured)
        kind: str = ""
        fields: dict[str, Any] = {}
        if verdict == "disagrees" and culprit is not None:
            kind, fields = explain(meter, culprit, random=any(word == "random" for word, _ in self.notes))
        size = max((m.size for m in measured if np.isfinite(m.size)), default=0.0)
        errors = [abs(m.slope.excess) for m in measured if np.isfinite(m.slope.estimate)]
        return GradCheck(
            verdict=verdict,
            max_error=_ratio(max(errors, default=np.nan), size),
            error_estimate=_ratio(max(m.estimate for m in measured), size),
            rows=tuple(m.row for m in measured),
            worst=None if culprit is None else _worst(meter, culprit),
            kind=kind,
            kind_fields=tuple(fields.items()),
            notes=tuple(self.notes),
            dtype=self.program.dtype,
        )

    def _overall(self, meter: Meter, measured: list[Measured]) -> tuple[Verdict, Measured | None, list[Measured]]:
        """The verdict, the direction that decided it, and all directions as they stand after closer looks."""
        if not any(m.row.verdict == "disagrees" and m.significance > BEYOND_DOUBT for m in measured):
            measured = [doubted(meter, m) for m in measured]

        def of(verdict: Verdict) -> list[Measured]:
            found = [m for m in measured if m.row.verdict == verdict]
            return sorted(found, key=lambda m: (m.direction.place is None, -m.significance))

        if of("not finite"):
            return "not finite", of("not finite")[0], measured
        if of("disagrees"):
            located = locate(meter, of("disagrees"), measured)
            if located is not None:
                return (*located, measured)
            measured = [
                meter.reworded(m, estimate=abs(m.slope.excess)) if m.row.verdict == "disagrees" else m for m in measured
            ]
        if of("kink"):
            return "kink", of("kink")[0], measured
        limit = meter.tolerance * max((m.size for m in measured if np.isfinite(m.size)), default=0.0)
        wide = [m for m in measured if not m.estimate <= limit]
        elements = [m for m in measured if m.direction.place is not None]
        if wide and len(elements) == int(np.sum(meter.used)) and not any(m in wide for m in elements):
            wide = []
        if wide:
            return "too noisy", max(wide, key=lambda m: m.estimate), measured
        return "agrees", None, measured


def _worst(meter: Meter, measured: Measured) -> Worst:
    row = measured.row
    corner = abs(measured.slope.corner / meter.per(measured.direction))
    return Worst(row.direction, row.analytic, row.numerical, row.error_estimate, corner, measured.slope.jump)


def _ratio(value: float, size: float) -> float:
    if value == 0:
        return 0.0
    return value / size if size > 0 else np.inf


__all__ = ["GradCheck", "Row", "Verdict", "Worst", "gradcheck"]
