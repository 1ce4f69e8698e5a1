"""What lies next to the inputs: corners that the steps jumped across are told from wrong gradients.

The integral of a right gradient along a line is the change of the function (fundamental theorem of calculus), corners
or not. Where that holds next to the inputs, a difference at the inputs comes from the steps having crossed corners;
with a wrong rule it holds nowhere.
"""

from dataclasses import dataclass

import numpy as np

from gradlab.instruments.gradcheck_measure import BEYOND_DOUBT, Measured, Meter
from gradlab.instruments.slopes import CERTAINTY

QUADRATURE = 24
"""Points of Gauss and Legendre's rule on each side of the inputs."""

CLOSE = 8
"""Machine epsilons, relative to the inputs, at which a corner counts as being at the inputs."""


@dataclass(frozen=True)
class _Balance:
    """Secants less the mean of the analytic slope along them: half the sum, and half the difference, of both sides."""

    odd: float
    even: float


def doubted(meter: Meter, measured: Measured) -> Measured:
    """Put a kink, a disagreement that isn't plain, or an unsettled direction to the test of what lies next to it.

    Returns the measurement as it was, or with estimates that cover what didn't stand the test. The test alone never
    makes a disagreement.
    """
    slope, verdict = measured.slope, measured.row.verdict
    plain = verdict in ("agrees", "not finite") or (verdict == "disagrees" and measured.significance > BEYOND_DOUBT)
    if plain or slope.jump or slope.flat or not np.isfinite(slope.step) or not np.isfinite(slope.excess):
        return measured
    if verdict == "kink" and _corner_is_here(meter, measured):
        return measured
    whole = _balance(meter, measured, slope.step)
    if not (np.isfinite(whole.odd) and np.isfinite(whole.even)):
        return measured
    if verdict == "kink" and abs(whole.even) > 0.5 * abs(slope.corner):
        return measured
    if verdict == "disagrees" and abs(whole.odd) > 0.5 * abs(slope.excess):
        return measured
    half = _balance(meter, measured, slope.step / 2)
    # what is left over at two steps bounds the difference, and noise bounds what can be left over by chance
    left = max(abs(whole.odd), abs(half.odd)) + CERTAINTY * slope.noise / slope.step
    settled = meter.reworded(
        measured, excess=whole.odd, estimate=left, corner_estimate=max(slope.corner_estimate, abs(slope.corner))
    )
    covered = max(slope.estimate, abs(slope.excess))
    if left < covered and settled.row.verdict == "agrees":
        return settled
    return meter.reworded(measured, estimate=covered, corner_estimate=max(slope.corner_estimate, abs(slope.corner)))


def _along(meter: Meter, measured: Measured, step: float) -> float:
    """The analytic slope along the direction, a step away from the inputs."""
    direction = measured.direction
    place = meter.program.start + step * direction.vector
    return float(meter.program.flat_gradient(place, meter.upstreams[direction.upstream]) @ direction.vector)


def _corner_is_here(meter: Meter, measured: Measured) -> bool:
    """True if the analytic slope changes right at the inputs by what the corner says."""
    close = CLOSE * meter.program.epsilon
    change = (_along(meter, measured, close) - _along(meter, measured, -close)) / 2
    return bool(abs(change) > 0.3 * abs(measured.slope.corner))


def _balance(meter: Meter, measured: Measured, step: float) -> _Balance:
    direction, start = measured.direction, meter.program.start
    upstream = meter.upstreams[direction.upstream]
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE)
    sides = []
    for sign in (1.0, -1.0):
        mean = sum(
            float(weight) / 2 * _along(meter, measured, sign * step * (float(node) + 1) / 2)
            for node, weight in zip(nodes, weights, strict=True)
        )
        place = meter.program.rounded(start + sign * step * direction.vector)
        change = float(upstream @ (meter.values_at(place) - meter.outputs.values))
        sides.append(sign * change / step - mean)
    return _Balance((sides[0] + sides[1]) / 2, (sides[0] - sides[1]) / 2)
