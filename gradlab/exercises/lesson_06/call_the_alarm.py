"""call_the_alarm: one word on a training run, from the gradient norms of its layers."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception


def call_the_alarm(history):
    """Return the word for a training run: what do the gradient norms of its layers say?

    history: a dict from the name of each layer to a list of its gradient norms, one float for each step, so all lists
    have the same length, at least 40. The layers are in the order of the model: the first one gets the input, the last
    one makes the output. There are at least two.

    Return the first of these words that fits:

    * ``"not finite"``: some norm of some layer is NaN or infinite.
    * ``"dead"``: some layer has norms of exactly 0 in all of the last 10 steps.
    * ``"exploding"``: take each layer's median over its first 10 norms, and the largest of these. For some layer, the
      median of its last 10 norms is more than 100 times as large.
    * ``"vanishing"``: the median of the last 10 norms of the *first* layer is less than a thousandth of the median of
      the last 10 norms of the *last* layer.
    * ``"healthy"``: none of them fits.

    Examples, with two layers and 40 steps: ``{"in": [0.5] * 40, "out": [0.9] * 40}`` is healthy, and so is
    ``{"in": [1e-6] * 40, "out": [1e-5] * 40}``: these norms are small because the run has arrived, and both layers are
    alike. ``{"in": [1e-6] * 40, "out": [0.9] * 40}`` is vanishing.
    """
    norms = np.array(list(history.values()))
    if not np.isfinite(norms).all():
        return "not finite"
    if np.any(np.all(norms[:, -10:] == 0, axis=1)):
        return "dead"
    start, end = np.median(norms[:, :10], axis=1), np.median(norms[:, -10:], axis=1)
    if end.max() > 100 * start.max():
        return "exploding"
    return "vanishing" if end[0] < end[-1] / 1000 else "healthy"


def _run(rng, levels, steps=None, ends=None):
    """A run whose layers have norms near ``levels`` at first and near ``ends`` at last, with the noise of batches."""
    levels = np.array(levels, dtype=float)
    ends = levels if ends is None else np.array(ends, dtype=float)
    steps = steps or int(rng.integers(60, 120))
    way = np.linspace(0, 1, steps) ** 2
    noise = np.exp(rng.uniform(-0.35, 0.35, size=(len(levels), steps)))
    return np.exp(np.log(levels)[:, None] * (1 - way) + np.log(ends)[:, None] * way) * noise


def _history(norms):
    """The dict of lists that the answer gets; names that sort in another order than the layers stand."""
    names = ["stem", *(f"block_{i}" for i in range(len(norms) - 2, 0, -1)), "head"]
    return {name: row.tolist() for name, row in zip(names, norms, strict=True)}


def probe(answer, rng):
    """Labelled runs: the five words, each also where a hasty look says something else."""
    alike = rng.uniform(0.3, 0.9, size=6)
    runs = {}
    runs["healthy"] = [_run(rng, alike), _run(rng, alike[:2], steps=40)]
    runs["healthy with large norms"] = [_run(rng, 4000 * alike[:3])]
    runs["healthy and nearly done"] = [_run(rng, alike[:4], ends=1e-6 * alike[:4])]

    spike, gap, first_only = _run(rng, alike), _run(rng, alike), _run(rng, alike)
    spike[:, -1] *= 5000
    gap[0, -1], gap[3, -3:] = 0, 0
    first_only[0, -1] *= 1e-5
    runs["healthy but for one step"] = [spike, gap, first_only]

    slow = _run(rng, [1e-6, 1e-4, 0.03, 0.5], ends=[0.06, 0.08, 0.2, 0.4])
    slow[0, 25:33] = 0
    runs["healthy after a bad start"] = [slow]

    runs["vanishing"] = [_run(rng, [3e-6, 1e-4, 5e-3, 0.1, 0.5]), _run(rng, [1e-13, 1e-8, 0.4])]
    runs["vanishing with large norms"] = [_run(rng, [0.2, 30.0, 5000.0])]
    runs["vanishing at the end only"] = [_run(rng, [0.4, 0.5, 0.6], ends=[1e-5, 1e-2, 0.5])]

    hidden, everything, late = _run(rng, alike), _run(rng, alike), _run(rng, alike)
    hidden[2, 20:] = 0
    everything[:, 5:] = 0
    late[4, -14:] = 0
    runs["dead"] = [everything]
    runs["one layer is dead"] = [hidden, late]
    first_dead = _run(rng, alike[:3])
    first_dead[0, 30:] = 0
    runs["the first layer is dead"] = [first_dead]

    one = np.array(alike[:4])
    one[1] *= 3e4
    falling = _run(rng, [0.5, 0.4, 0.9], ends=[400.0, 300.0, 900.0])
    runs["exploding"] = [falling, _run(rng, [0.002, 0.003], ends=[2.0, 3.0])]
    runs["one layer is exploding"] = [_run(rng, alike[:4], ends=one)]

    nan, infinite, once = _run(rng, alike), _run(rng, [0.5, 0.4], ends=[5e3, 4e3]), _run(rng, alike)
    nan[:, -20:] = np.nan
    infinite[1, -4:] = np.inf
    once[3, 15] = np.nan
    runs["NaN"] = [nan]
    runs["infinite"] = [infinite]
    runs["NaN at one step in one layer"] = [once]
    histories = {part: [_history(norms) for norms in several] for part, several in runs.items()}
    found = {}
    for part, several in histories.items():
        words = [answer(history) for history in several]
        found[part] = words if len(words) > 1 else words[0]
    return found


def _judge(norms, start, end, silent):
    """The rules of the task on other summaries of a run."""
    if not np.isfinite(norms).all():
        return "not finite"
    if np.any(silent):
        return "dead"
    if end.max() > 100 * start.max():
        return "exploding"
    return "vanishing" if end[0] < end[-1] / 1000 else "healthy"


def _medians(norms):
    return np.median(norms[:, :10], axis=1), np.median(norms[:, -10:], axis=1), np.all(norms[:, -10:] == 0, axis=1)


def _table(history):
    return np.array(list(history.values()))


def last_step_only(history):
    """Looks at the last step alone."""
    norms = _table(history)
    return _judge(norms, norms[:, 0], norms[:, -1], norms[:, -1] == 0)


def mean_over_layers(history):
    """Takes the mean of all layers before it asks whether they are dead or explode."""
    norms = _table(history)
    mean = norms.mean(axis=0, keepdims=True)
    start, end, silent = _medians(mean)
    if not np.isfinite(norms).all():
        return "not finite"
    if silent.any():
        return "dead"
    if end[0] > 100 * start[0]:
        return "exploding"
    _, end, _ = _medians(norms)
    return "vanishing" if end[0] < end[-1] / 1000 else "healthy"


def means(history):
    """Takes means of ten steps in place of medians."""
    norms = _table(history)
    start, end = norms[:, :10].mean(axis=1), norms[:, -10:].mean(axis=1)
    return _judge(norms, start, end, np.all(norms[:, -10:] == 0, axis=1))


def each_with_its_own_start(history):
    """Compares each layer with its own start, so that one that wakes up seems to explode."""
    norms = _table(history)
    start, end, silent = _medians(norms)
    if np.isfinite(norms).all() and not silent.any() and np.any(end > 100 * start):
        return "exploding"
    return call_the_alarm(history)


def whole_run(history):
    """Takes the median over all steps for the end."""
    norms = _table(history)
    start, _, _ = _medians(norms)
    return _judge(norms, start, np.median(norms, axis=1), np.all(norms == 0, axis=1))


def absolute_size(history):
    """Calls a norm large or small by itself, without comparing it with anything."""
    norms = _table(history)
    _, end, silent = _medians(norms)
    if not np.isfinite(norms).all():
        return "not finite"
    if silent.any():
        return "dead"
    if np.any(end > 100):
        return "exploding"
    return "vanishing" if np.any(end < 1e-3) else "healthy"


def any_zero(history):
    """Calls a layer dead at the first zero."""
    norms = _table(history)
    start, end, _ = _medians(norms)
    return _judge(norms, start, end, np.any(norms == 0, axis=1))


def no_alarm_for_infinity(history):
    """Looks for NaN and lets infinity pass."""
    norms = _table(history)
    if np.isnan(norms).any():
        return "not finite"
    start, end, silent = _medians(norms)
    if silent.any():
        return "dead"
    if end.max() > 100 * start.max():
        return "exploding"
    return "vanishing" if end[0] < end[-1] / 1000 else "healthy"


def only_the_end_is_finite(history):
    """Looks for NaN in the last ten steps only."""
    norms = _table(history)
    if not np.isfinite(norms[:, -10:]).all():
        return "not finite"
    start, end, silent = _medians(norms)
    return _judge(np.zeros(1), start, end, silent)


def vanishing_before_dead(history):
    """Asks for vanishing before dead."""
    norms = _table(history)
    start, end, silent = _medians(norms)
    if np.isfinite(norms).all() and end[0] < end[-1] / 1000:
        return "vanishing"
    return _judge(norms, start, end, silent)


def nearly_zero_is_dead(history):
    """Calls a small norm zero."""
    norms = _table(history)
    start, end, _ = _medians(norms)
    return _judge(norms, start, end, np.all(norms[:, -10:] < 1e-8, axis=1))


def upside_down(history):
    """Compares the last layer with the first, the wrong way round."""
    norms = _table(history)
    start, end, silent = _medians(norms)
    return _judge(norms, start, end[::-1], silent)


exercise = Exercise(
    answer=call_the_alarm,
    probe=probe,
    misconceptions=[
        Misconception(
            "last-step-only",
            last_step_only,
            "You judge by single steps. One odd batch at the end then raises an alarm, and every run has odd batches: "
            "use all of the last ten steps.",
        ),
        Misconception(
            "mean-hides-a-layer",
            mean_over_layers,
            "You take the mean over the layers before you look. One layer that is dead or explodes is hidden among "
            "the healthy ones, or hides them: ask each layer for itself.",
        ),
        Misconception(
            "means",
            means,
            "You take means of ten steps. One batch with a huge gradient lifts a mean as far as it likes, and a median "
            "not at all.",
        ),
        Misconception(
            "own-start",
            each_with_its_own_start,
            "You compare each layer with its own start. A layer that begins with hardly any gradient and then wakes up "
            "grows by a large factor, and nothing explodes: compare with the largest start of all layers.",
        ),
        Misconception(
            "whole-run",
            whole_run,
            "You take all steps together. What happened at the start then covers what is the case now: judge by the "
            "last ten steps.",
        ),
        Misconception(
            "absolute-size",
            absolute_size,
            "You call a norm small or large by itself. A sum instead of a mean in the loss makes all norms large, and "
            "a run that has arrived makes all of them small; both are healthy. Compare: the end with the start, the "
            "first layer with the last.",
        ),
        Misconception(
            "one-zero-is-dead",
            any_zero,
            "You call a layer dead at its first zero. A layer may have no gradient for one batch, or for a while, and "
            "come back: it is dead if all of the last ten are zero.",
        ),
        Misconception(
            "infinity-passes",
            no_alarm_for_infinity,
            "You look for NaN only. An infinite norm is not finite either, whatever else the run does.",
        ),
        Misconception(
            "only-the-end-is-finite",
            only_the_end_is_finite,
            "You look for NaN in the last steps only. One NaN anywhere means that a step was skipped or a weight was "
            "ruined: look at all steps.",
        ),
        Misconception(
            "order-of-the-words",
            vanishing_before_dead,
            "Several words may fit, and you don't return the first of them: a first layer with a norm of exactly 0 is "
            "dead, and so is not only vanishing. Ask in the order of the list.",
        ),
        Misconception(
            "small-is-dead",
            nearly_zero_is_dead,
            "You call a layer dead because its norms are tiny. Dead means exactly 0: nothing comes through. A norm of "
            "1e-13 comes through, and is vanishing.",
        ),
        Misconception(
            "first-and-last-swapped",
            upside_down,
            "You compare the wrong way round, or put the layers into another order: they come in the order of the "
            "model. Gradients come from the loss, so they vanish on the way to the first layer. Is it that one that "
            "is small against the last?",
        ),
    ],
    hints=[
        "Make a table first: one row for each layer, one column for each step. Which columns does each word look at?",
        "`norms = np.array(list(history.values()))`. Then `norms[:, -10:]` are the last ten steps, and `axis=1` takes "
        "a median, or `np.all`, for each layer. Ask in the order of the list, and return at once.",
        "`np.isfinite(norms).all()`; `np.all(norms[:, -10:] == 0, axis=1).any()`; with the medians `start` and `end`: "
        "`end.max() > 100 * start.max()`; `end[0] < end[-1] / 1000`.",
    ],
    explanation=(
        "Every rule compares: with the start of the same layer, with another layer, with exactly zero. And each "
        "waits for ten steps, because single batches are noisy. GradientMonitor has rules of this kind too."
    ),
    weights={"one layer is dead": 2, "healthy but for one step": 2, "vanishing": 2},
    level="stretch",
)
