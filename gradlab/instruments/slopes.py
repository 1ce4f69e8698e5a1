"""The slope of a noisy function of one number at zero, with an error bar that can be believed.

The function is sampled in pairs ``f(t), f(-t)`` over a geometric ladder of steps. Odd polynomials are fitted to the
differences in a window that moves up the ladder: the slope is the first coefficient, and the scatter around the fit is
the noise, whatever it comes from (rounding of the result, of the intermediates, a truncated series). Small windows
are unbiased and noisy, large ones precise and biased; Lepski's rule takes the most precise window that contradicts no
smaller one. No tolerance enters.

Sources: Press et al., Numerical Recipes (3rd ed.), section 5.7; Ridders (1982), Advances in Engineering Software 4,
75-76 (steps compared among each other); Moré and Wild (2011), SIAM J. Sci. Comput. 33, 1292-1314 (noise is measured
from the function's own values); Lepski (1990), Theory Probab. Appl. 35, 454-466 (choice of the window).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

WINDOW = 8
"""Steps in one window: enough for three coefficients and five degrees of freedom for the noise."""

CERTAINTY = 8.0
"""Standard errors that make an error estimate: with the pooled noise of several windows, practical certainty."""

AGREEMENT = 5.0
"""Two windows contradict each other if they differ by more than this many standard errors of both."""

LASTING = 4
"""Noise stays level over this many windows, a truncated series doesn't."""

NEAR = 100.0
"""Hidden noise shows at steps up to this many times the step at which a slope seems to be known."""

ODD = [(1, 3), (1, 3, 5)]
EVEN = [(0, 1, 2), (0, 1, 2, 4), (0, 1, 2, 4, 6)]
"""Powers of the step in the models for the odd and the even part; |t| in the even one is the corner."""

LARGEST_HIDDEN_OFFSET = 3e4
"""Intermediates of at most this size (or 30 times the result) explain a staircase as rounding.

An offset of 1e4 inside a float32 function makes it a staircase, and so does quantising to 8 bits. The first is
rounding, the second is what the function is; the height of the stairs is all that tells them apart.
"""


@dataclass(frozen=True)
class Samples:
    """One direction's measurements; every array has one entry per step, smallest step first.

    ``odd`` is (f(t) - f(-t)) / 2 less what the slope under test predicts, ``even`` is (f(t) + f(-t)) / 2 - f(0),
    ``rise`` the larger of the two one-sided changes. ``rounding`` is the rounding error (one sigma) of those results
    that changed, ``full_rounding`` of all results, ``unit`` the machine epsilon times the larger of 1
    and a thousandth of the result.
    """

    steps: Array
    odd: Array
    even: Array
    rise: Array
    rounding: Array
    full_rounding: Array
    moved: NDArray[np.bool_]
    unit: float
    broken_at_zero: bool = False

    def joined(self, other: "Samples") -> "Samples":
        """The measurements of both, in order of the step."""
        order = np.argsort(np.concatenate([self.steps, other.steps]), kind="stable")

        def merge(mine: NDArray, theirs: NDArray) -> NDArray:
            return np.concatenate([mine, theirs])[order]

        return Samples(
            steps=merge(self.steps, other.steps),
            odd=merge(self.odd, other.odd),
            even=merge(self.even, other.even),
            rise=merge(self.rise, other.rise),
            rounding=merge(self.rounding, other.rounding),
            full_rounding=merge(self.full_rounding, other.full_rounding),
            moved=merge(self.moved, other.moved),
            unit=self.unit,
            broken_at_zero=self.broken_at_zero or other.broken_at_zero,
        )


@dataclass(frozen=True)
class Slope:
    """What the samples say about the slope.

    ``excess`` is the slope less the one under test, known to within ``estimate``. ``corner`` is half the difference
    between the slopes to the right and to the left, known to within ``corner_estimate``. ``step`` is the largest step
    of the window that was used, ``nearby`` the steepest secant in it, ``noise`` the scatter of one value.
    ``jump`` is true where the function is discontinuous at zero.
    """

    excess: float
    estimate: float
    corner: float
    corner_estimate: float
    step: float
    nearby: float
    noise: float
    jump: bool = False
    flat: bool = False


UNKNOWN = Slope(0.0, np.inf, 0.0, np.inf, np.nan, 0.0, np.inf)


@dataclass(frozen=True)
class _Fits:
    """Best fit of each window: the coefficient sought, its standard error, the scatter."""

    value: Array
    error: Array
    scatter: Array


def ladder(smallest: float, largest: float, ratio: float, rng: np.random.Generator) -> Array:
    """Steps from `smallest` to `largest` in geometric order, shaken by 10 % so that they resonate with nothing."""
    count = max(WINDOW + 2, int(np.ceil(np.log(largest / smallest) / np.log(ratio))) + 1)
    steps = np.geomspace(smallest, largest, count) * rng.uniform(0.9, 1.1, count)
    return np.sort(steps)


def slope_at_zero(samples: Samples) -> Slope:
    """The slope with its error estimate; see the module's text.

    Args:
        samples: measurements along one direction, at least `WINDOW` steps (fewer give an infinite estimate).
    """
    if len(samples.steps) < WINDOW:
        return UNKNOWN
    if _jumps(samples):
        return Slope(0.0, np.inf, np.inf, 0.0, float(samples.steps[0]), float(np.max(samples.rise)), 0.0, jump=True)
    plain, full = _estimate(samples, samples.rounding), _estimate(samples, samples.full_rounding)
    base = full if plain.flat and not (_agrees(plain) and _agrees(full) and not _cornered(full)) else plain
    # steps too small to change any digit see no corner
    readings = [full] if plain.corner_estimate == 0 else [plain, full]
    noise = _hidden_noise(samples, base.step)
    if noise > 0:
        hidden = _estimate(samples, np.maximum(samples.full_rounding, noise))
        base = _weigh(base, hidden, noise)
        readings.append(hidden)
    doubtful = max(readings, key=lambda slope: _ratio(slope.corner_estimate, abs(slope.corner)))
    return replace(base, corner=doubtful.corner, corner_estimate=doubtful.corner_estimate)


def _weigh(base: Slope, hidden: Slope, noise: float) -> Slope:
    """Decide between the function as computed and the same with low digits lost in intermediates.

    A function that loses digits is flat over small steps, and its true slope shows over larger ones only. So the
    noise that larger steps show is granted to small ones too, as far as rounding can explain it.
    """
    if _agrees(base) and _agrees(hidden):
        return min(base, hidden, key=lambda slope: slope.estimate)
    if _agrees(base):
        return hidden if base.flat else base
    explained = abs(base.excess) * base.step <= 8 * noise
    telling = base.flat or 2 * hidden.estimate < abs(base.excess)
    return hidden if explained and telling and _agrees(hidden) else base


def _agrees(slope: Slope) -> bool:
    return abs(slope.excess) <= slope.estimate


def _cornered(slope: Slope) -> bool:
    return abs(slope.corner) > slope.corner_estimate


def _ratio(doubt: float, size: float) -> float:
    return doubt / size if size > 0 else np.inf


def _hidden_noise(samples: Samples, step: float) -> float:
    """Height of the stairs that the function climbs near a step, if rounding of intermediates explains them; else 0."""
    limit = LARGEST_HIDDEN_OFFSET * samples.unit
    first = int(np.argmax(samples.moved))
    if not samples.moved.any() or (first and samples.rise[first] > limit):
        return 0.0
    # where small steps change nothing, the first change is a stair
    stair = 0.4 * float(samples.rise[first]) if first else 0.0
    scatter = _fit_windows(samples.steps, samples.odd, ODD, 0).scatter
    if len(scatter) <= LASTING:
        return stair
    known = np.max(np.lib.stride_tricks.sliding_window_view(samples.full_rounding, WINDOW), axis=1)
    # scatter that grows with the step is a truncated series, not noise
    low, high = scatter[:-LASTING], scatter[LASTING:]
    level = np.minimum(low, high)
    near = samples.steps[WINDOW - 1 : -LASTING] <= max(NEAR * step, samples.steps[min(first + WINDOW, len(scatter))])
    stairs = near & (high <= 4 * low) & (level <= limit) & (level > 3 * known[LASTING:])
    return float(np.max(level[stairs], initial=stair))


def _jumps(samples: Samples) -> bool:
    """True if the values next to zero differ from the value at zero by an amount that doesn't shrink with the step."""
    few = slice(0, 10)
    right = samples.even[few] + samples.odd[few]
    left = samples.even[few] - samples.odd[few]
    height = 0.0
    for side in (right, left):
        middle = float(np.median(side))
        if abs(middle) > 20 * (float(np.ptp(side)) + float(np.max(samples.full_rounding[few]))):
            height = max(height, abs(middle))
    moderate = samples.rise[samples.steps <= 1.0]
    return height > 0 and height > 1e-2 * float(np.max(moderate, initial=0.0))


def _estimate(samples: Samples, floor: Array) -> Slope:
    """The slope and the corner, by Lepski's rule over the windows."""
    odd = _fit_windows(samples.steps, samples.odd, ODD, 0, floor)
    even = _fit_windows(samples.steps, samples.even, EVEN, 1, floor)
    # a corner close to zero bends the slope by as much as it bends the even part
    bend = np.where(np.abs(even.value) > 4 * even.error, np.abs(even.value), 0.0)
    chosen, estimate = _choose(odd, bend)
    corner_at, corner_error = _choose(even, np.zeros_like(bend))
    here = slice(chosen, chosen + WINDOW)
    return Slope(
        excess=float(odd.value[chosen]),
        estimate=estimate,
        corner=float(even.value[corner_at]),
        corner_estimate=corner_error,
        step=float(samples.steps[chosen + WINDOW - 1]),
        nearby=float(np.max((samples.rise / samples.steps)[here][samples.steps[here] <= 1.2], initial=0.0)),
        noise=float(odd.scatter[chosen]),
        flat=not samples.moved[here].all(),
    )


def _fit_windows(
    steps: Array, values: Array, models: list[tuple[int, ...]], wanted: int, floor: Array | None = None
) -> _Fits:
    """Fit each model (a tuple of powers) in each window; keep the model with the smallest standard error."""
    windows = np.lib.stride_tricks.sliding_window_view(steps, WINDOW)
    data = np.lib.stride_tricks.sliding_window_view(values, WINDOW)
    largest = windows[:, -1:]
    scaled = windows / largest
    found, errors, scatters = [], [], []
    for powers in models:
        design = scaled[..., None] ** np.array(powers, float)
        inverse = np.linalg.pinv(design)
        coefficients = np.einsum("wpm,wm->wp", inverse, data)
        residual = data - np.einsum("wmp,wp->wm", design, coefficients)
        scatters.append(np.sqrt(np.sum(residual**2, axis=1) / (WINDOW - len(powers))))
        errors.append(np.sqrt(np.sum(inverse[:, wanted] ** 2, axis=1)) / largest[:, 0])
        found.append(coefficients[:, wanted] / largest[:, 0])
    scatter, gain, value = np.array(scatters), np.array(errors), np.array(found)
    # noise doesn't vanish with the step: what smaller windows showed is there in larger ones too
    lasting = np.maximum.accumulate(np.min(scatter, axis=0))
    noise = np.maximum(scatter, lasting)
    if floor is not None:
        noise = np.maximum(noise, np.max(np.lib.stride_tricks.sliding_window_view(floor, WINDOW), axis=1))
    error = noise * gain
    best = np.argmin(error, axis=0)
    column = np.arange(len(best))
    return _Fits(value[best, column], error[best, column], np.min(scatter, axis=0))


def _choose(fits: _Fits, bend: Array) -> tuple[int, float]:
    """Lepski's rule: the most precise window among those that contradict no smaller one, and its error estimate."""
    value, error = fits.value, fits.error
    best, best_estimate = 0, CERTAINTY * float(error[0]) + float(bend[0])
    for at in range(1, len(value)):
        apart = np.abs(value[at] - value[:at])
        if np.any(apart > AGREEMENT * (error[at] + error[:at])):
            break
        # a bias that smaller windows are too noisy to contradict still shows as a drift between neighbours
        estimate = CERTAINTY * float(error[at]) + float(np.max(apart[-2:])) + float(bend[at])
        if estimate < best_estimate:
            best, best_estimate = at, estimate
    return best, best_estimate
