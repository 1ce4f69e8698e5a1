"""warmup_cosine: a learning rate that rises for a while, and then falls along half a cosine."""

import math

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def warmup_cosine(step, warmup, total, peak):
    """Return the learning rate of a step: a straight rise from 0 to the peak, then half a cosine down to 0.

    The rise goes from 0 at step 0 to ``peak`` at step ``warmup``. From there the rate falls to 0 at step ``total``:
    with t the share of that way that is behind, from 0 to 1, it is ``peak * (1 + cos(pi * t)) / 2``. After ``total`` it
    stays 0. If ``warmup`` is 0 there is no rise, and step 0 has the peak.

    step: a whole number, 0 or more. warmup, total: whole numbers, 0 <= warmup < total. peak: a positive number.
    Returns one number. Five values for ``warmup=10, total=110, peak=0.8``: step 0 has 0.0, step 5 has 0.4, step 10 has
    0.8, step 60 has 0.4, step 110 has 0.0.
    """
    if step < warmup:
        return peak * step / warmup
    behind = min((step - warmup) / (total - warmup), 1)
    return peak * (1 + np.cos(np.pi * behind)) / 2


def probe(answer, rng):
    """The rise, the seam, the fall, the end and after it; and a schedule without warm-up."""
    warmup, total = int(rng.integers(20, 40)), int(rng.integers(150, 250))
    peak = float(rng.uniform(0.1, 0.9))

    def rates(steps, first=warmup):
        return [answer(int(step), first, total, peak) for step in steps]

    return {
        "the rise": rates([0, 1, warmup // 3, warmup // 2]),
        "around the peak": rates([warmup - 1, warmup, warmup + 1]),
        "the fall": rates(np.linspace(warmup + 5, total - 5, 6).astype(int)),
        "the end": rates([total - 1, total]),
        "after the end": rates([total + 1, total + 60, 3 * total]),
        "no warm-up": rates([0, 1, total // 2, total], first=0),
    }


def _fall(peak, behind):
    return peak * (1 + math.cos(math.pi * min(max(behind, 0.0), 1.0))) / 2


def one_step_early(step, warmup, total, peak):
    """Counts steps from 1."""
    return warmup_cosine(step + 1, warmup, total, peak)


def jump_at_the_seam(step, warmup, total, peak):
    """Lets the cosine start at step 0, so that the rate jumps at the seam."""
    return peak * step / warmup if step < warmup else _fall(peak, step / total)


def never_quite_down(step, warmup, total, peak):
    """Divides by all steps instead of those after the warm-up."""
    return peak * step / warmup if step < warmup else _fall(peak, (step - warmup) / total)


def whole_cosine(step, warmup, total, peak):
    """Takes the cosine itself, which ends at minus the peak."""
    if step < warmup:
        return peak * step / warmup
    return peak * math.cos(math.pi * min((step - warmup) / (total - warmup), 1))


def quarter_cosine(step, warmup, total, peak):
    """Takes a quarter of a cosine."""
    if step < warmup:
        return peak * step / warmup
    return peak * math.cos(math.pi / 2 * min((step - warmup) / (total - warmup), 1))


def rises_again(step, warmup, total, peak):
    """Doesn't stop at the end, where the cosine rises again."""
    if step < warmup:
        return peak * step / warmup
    return peak * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2


def straight_fall(step, warmup, total, peak):
    """Falls along a straight line."""
    if step < warmup:
        return peak * step / warmup
    return peak * max(0.0, 1 - (step - warmup) / (total - warmup))


def no_half(step, warmup, total, peak):
    """Forgets to halve, so that the rate jumps to twice the peak."""
    return peak * step / warmup if step < warmup else 2 * warmup_cosine(step, warmup, total, peak)


def degrees(step, warmup, total, peak):
    """Gives the cosine degrees."""
    if step < warmup:
        return peak * step / warmup
    return peak * (1 + math.cos(180 * min((step - warmup) / (total - warmup), 1))) / 2


def no_rise(step, warmup, total, peak):
    """Holds the peak during the warm-up."""
    return warmup_cosine(max(step, warmup), warmup, total, peak)


exercise = Exercise(
    answer=warmup_cosine,
    probe=probe,
    misconceptions=[
        Misconception(
            "one-step-early",
            one_step_early,
            "Everything comes one step early: step 0 has a rate of 0, and the peak is at step warmup itself.",
        ),
        Misconception(
            "jump-at-the-seam",
            jump_at_the_seam,
            "The rate jumps at the end of the warm-up: your cosine has been falling since step 0. Let it start at step "
            "warmup, with t = 0 there.",
        ),
        Misconception(
            "never-quite-down",
            never_quite_down,
            "Your rate isn't 0 at step total. The warm-up is part of the total, so the fall takes total - warmup "
            "steps: divide by that.",
        ),
        Misconception(
            "negative-at-the-end",
            whole_cosine,
            "The cosine itself goes down to -1, so your rate becomes negative and the steps go uphill. Lift it by 1 "
            "and halve it.",
        ),
        Misconception(
            "quarter-cosine",
            quarter_cosine,
            "You take a quarter of a cosine: it ends at 0, at its steepest. Half a cosine levels off at both ends.",
        ),
        Misconception(
            "rises-again",
            rises_again,
            "After the last step the cosine rises again, and the rate with it. Let t be 1 at most.",
        ),
        Misconception(
            "straight-fall",
            straight_fall,
            "Your rate falls along a straight line. The task asks for half a cosine.",
        ),
        Misconception(
            "no-half",
            no_half,
            "1 + cos goes from 2 to 0: your rate is twice as large as it should be after the warm-up. Halve it.",
        ),
        Misconception("degrees", degrees, "NumPy's cosine takes radians: half a turn is pi, not 180."),
        Misconception(
            "no-rise",
            no_rise,
            "There is no warm-up: the rate has its peak from step 0. It should rise from 0 along a straight line.",
        ),
    ],
    hints=[
        "Draw it: where is the rate at step 0, at step warmup, and at step total? Two pieces meet at the peak.",
        "Before warmup: a share of the peak, step / warmup. After it: t = (step - warmup) / (total - warmup), "
        "at most 1.",
        "`if step < warmup: return peak * step / warmup`, and then the formula with `t = min(..., 1)`.",
    ],
    explanation=(
        "The rise gives an optimizer time to learn the scale of the gradients before it takes large steps; the fall "
        "lets it settle. In Keras: `keras.optimizers.schedules.CosineDecay` with `warmup_target` and `warmup_steps`."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=1e-6),
    level="stretch",
)
