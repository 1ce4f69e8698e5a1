"""The slope of a noisy function of one number, against closed forms."""

import numpy as np
import pytest

from gradlab.instruments.slopes import Samples, ladder, slope_at_zero


def _sampled(f, predicted, dtype, smallest=1e-6, largest=8.0, seed=0):
    """Samples of `f`, evaluated in `dtype`, beside a predicted slope."""
    steps = ladder(smallest, largest, 1.7, np.random.default_rng(seed))
    right, left, here = (np.float64(f(t.astype(dtype))) for t in (steps, -steps, np.zeros(1)))
    exact = (steps.astype(dtype)).astype(np.float64)
    epsilon = float(np.finfo(dtype).eps)
    rounding = 0.3 * epsilon * np.maximum(np.abs(right), np.abs(left))
    return Samples(
        steps=exact,
        odd=(right - left) / 2 - predicted * exact,
        even=(right + left) / 2 - here,
        rise=np.maximum(np.abs(right - here), np.abs(left - here)),
        rounding=rounding,
        full_rounding=rounding,
        moved=right != left,
        unit=epsilon,
    )


SMOOTH = [
    ("sine", lambda t: np.sin(t + 1), np.cos(1)),
    ("fast sine", lambda t: np.sin(200 * t + 1), 200 * np.cos(1)),
    ("exponential", lambda t: np.exp(3 * t), 3.0),
    ("logarithm", lambda t: np.log(np.maximum(t + 9, 1e-3)), 1 / 9),
    ("offset", lambda t: np.sin(t) + t.dtype.type(1e4), 1.0),
    ("offset inside", lambda t: (np.sin(t) + t.dtype.type(1e4)) - t.dtype.type(1e4), 1.0),
    ("parabola", lambda t: t**2, 0.0),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("f", "slope"), [row[1:] for row in SMOOTH], ids=[row[0] for row in SMOOTH])
def test_the_estimate_bounds_the_error_of_a_smooth_slope(f, slope, dtype):
    for seed in range(20):
        measured = slope_at_zero(_sampled(f, slope, dtype, seed=seed))
        assert abs(measured.excess) <= measured.estimate
        assert not measured.jump
        assert abs(measured.corner) <= measured.corner_estimate


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("f", "slope"), [row[1:] for row in SMOOTH[:4]], ids=[row[0] for row in SMOOTH[:4]])
def test_one_percent_off_is_seen(f, slope, dtype):
    for seed in range(20):
        measured = slope_at_zero(_sampled(f, 1.01 * slope, dtype, seed=seed))
        assert abs(measured.excess) > measured.estimate
        assert measured.excess == pytest.approx(-0.01 * slope, rel=0.2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_corner_is_measured(dtype):
    for seed in range(20):
        measured = slope_at_zero(_sampled(lambda t: np.exp(t) + 0.5 * np.abs(t), 1.0, dtype, seed=seed))
        assert measured.corner == pytest.approx(0.5, rel=1e-2)
        assert abs(measured.corner) > measured.corner_estimate


def test_a_jump_is_told_from_a_slope():
    assert slope_at_zero(_sampled(lambda t: np.sign(t) + t, 1.0, np.float64)).jump


def test_too_few_steps_know_nothing():
    samples = _sampled(np.sin, 1.0, np.float64)
    few = Samples(*(getattr(samples, name)[:5] for name in list(samples.__dataclass_fields__)[:7]), unit=samples.unit)
    assert slope_at_zero(few).estimate == np.inf
