"""Every exercise of the course: blanks, right answers, known mistakes and wild input get the verdict they deserve."""

import functools
import importlib.util
import inspect
from pathlib import Path

import numpy as np
import pytest

from gradlab.exercises.evidence import UNCHANGED, collect
from gradlab.exercises.exercise import index, load
from gradlab.exercises.notebook import evaluate
from gradlab.exercises.verdict import Rival, judge

HERE = Path(__file__).parent

# a group is run by one worker, which then probes each known mistake once per seed
NAMES = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in sorted(index())]
SEEDS = range(100, 103)


def mistakes_of(name):
    """The names of an exercise's misconceptions; one that can't be imported fails in its own tests, not all of them."""
    try:
        return [mistake.name for mistake in load(name).misconceptions]
    except Exception:
        return ["it does not load"]


PAIRS = [
    pytest.param(name, mistake, marks=pytest.mark.xdist_group(name))
    for name in sorted(index())
    for mistake in mistakes_of(name)
]


def right_answers(name):
    """``RIGHT`` of the exercise's own test file."""
    path = HERE / f"lesson_{index()[name].lesson}" / f"test_{name}.py"
    spec = importlib.util.spec_from_file_location(f"right_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.RIGHT


@functools.cache
def evidence(name, who, seed):
    """The evidence of the reference ("reference") or of a misconception, by its name."""
    exercise = load(name)
    if who == "reference":
        return collect(exercise, exercise.answer, seed, quiet=True)
    return collect(exercise, next(m.answer for m in exercise.misconceptions if m.name == who), seed, quiet=True)


def rivals(name, seed):
    return [Rival(m.name, m.message, evidence(name, m.name, seed)) for m in load(name).misconceptions]


def verdict_on(name, answer, seed):
    learner = collect(load(name), answer, seed)
    return judge(load(name), learner, evidence(name, "reference", seed), rivals(name, seed))


def blank_of(exercise):
    """What a learner has before writing anything: every method raises, under the answer's own name."""

    def blank(*args, **kwargs):
        raise NotImplementedError(exercise.name)

    def blank_method(self, *args, **kwargs):  # Keras reads the first name of `__init__`
        blank()

    if not isinstance(exercise.answer, type):
        return blank
    own = {key: blank_method for key, value in vars(exercise.answer).items() if inspect.isfunction(value)}
    return type(exercise.name, exercise.answer.__bases__, own)


class AlwaysEqual:
    """Something whose every comparison is true."""

    def __eq__(self, other):
        return True

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = None

    def __array__(self, *args, **kwargs):
        raise TypeError("no array")

    def __bool__(self):
        return True


def raises(*args, **kwargs):
    raise ValueError("something is odd")


def leaves(*args, **kwargs):
    raise SystemExit(3)


def keras_tensor(*args, **kwargs):
    import keras

    return keras.Input((3,))


def keras_layer(*args, **kwargs):
    import keras

    return keras.layers.Dense(3)


WILD = {
    "None": lambda *a, **k: None,
    "a wrong shape": lambda *a, **k: np.zeros((3, 1, 7)),
    "text": lambda *a, **k: "0.5",
    "complex numbers": lambda *a, **k: np.array([1j, 2.0]),
    "objects": lambda *a, **k: np.array([None, object()], dtype=object),
    "NaN": lambda *a, **k: np.nan,
    "a function": lambda *a, **k: raises,
    "a generator": lambda *a, **k: (i for i in range(3)),
    "a list that holds itself": lambda *a, **k: (lambda x: x.append(x) or x)([]),
    "always equal": lambda *a, **k: AlwaysEqual(),
    "a list of always equal": lambda *a, **k: [AlwaysEqual(), AlwaysEqual()],
    "an exception": raises,
    "the end of the process": leaves,
    "a Keras tensor": keras_tensor,
    "a Keras layer": keras_layer,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_is_not_attempted(name):
    exercise = load(name)
    assert evaluate(exercise, blank_of(exercise)).outcome == "not attempted"


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_is_found_inside_a_tf_function(name):
    import tensorflow as tf

    exercise = load(name)
    if isinstance(exercise.answer, type):
        return
    assert evaluate(exercise, tf.function(blank_of(exercise))).outcome == "not attempted"


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_is_correct(name):
    exercise = load(name)
    for seed in SEEDS:
        verdict = verdict_on(name, exercise.answer, seed)
        assert verdict.outcome == "correct", verdict.message
        assert verdict.points == verdict.total > 0
        assert all(verdict.parts.values())


@pytest.mark.parametrize("name", NAMES)
def test_differently_written_right_answers_are_correct(name):
    answers = right_answers(name)
    assert len(answers) >= 2
    for answer in answers:
        for seed in SEEDS:
            verdict = verdict_on(name, answer, seed)
            assert verdict.outcome == "correct", f"{answer.__name__}: {verdict.message}"


@pytest.mark.parametrize(("name", "mistake"), PAIRS)
def test_a_misconception_is_refused_with_its_own_message(name, mistake):
    message = next(m.message for m in load(name).misconceptions if m.name == mistake)
    for seed in SEEDS:
        learner = evidence(name, mistake, seed)
        verdict = judge(load(name), learner, evidence(name, "reference", seed), rivals(name, seed))
        assert verdict.outcome == "wrong"
        assert verdict.misconceptions == (mistake,)
        assert message in verdict.message


@pytest.mark.parametrize("name", NAMES)
def test_no_two_mistakes_leave_the_same_evidence(name):
    exercise = load(name)
    for seed in SEEDS:
        found = [rival.evidence for rival in rivals(name, seed)]
        assert [rival.end for rival in found] == ["finished"] * len(exercise.misconceptions)
        for i, first in enumerate(found):
            for second in found[i + 1 :]:
                assert judge(exercise, first, second).outcome == "wrong"


@pytest.mark.parametrize("wild", WILD)
@pytest.mark.parametrize("name", NAMES)
def test_wild_input_gets_a_clear_message(name, wild):
    exercise = load(name)
    answer = WILD[wild]
    if isinstance(exercise.answer, type):
        answer = type(name, (), {"__new__": lambda cls, *a, **k: WILD[wild](*a, **k)})
    verdict = verdict_on(name, answer, SEEDS[0])
    assert verdict.outcome in ("wrong", "error")
    assert len(verdict.message) > 20
    assert verdict.misconceptions == () or wild in ("None", "NaN")


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_that_changes_its_input_is_refused(name):
    exercise = load(name)
    if isinstance(exercise.answer, type):
        return
    changed = []

    @functools.wraps(exercise.answer)
    def changes(*args, **kwargs):
        result = exercise.answer(*args, **kwargs)
        for value in (*args, *kwargs.values()):
            if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "fi":
                value += 1
                changed.append(True)
            elif isinstance(value, list) and value:
                value.append(value[0])
                changed.append(True)
        return result

    verdict = verdict_on(name, changes, SEEDS[0])
    if changed:
        assert verdict.outcome == "wrong"
        assert verdict.parts[UNCHANGED] is False
        assert "in place" in verdict.message
    else:
        assert verdict.outcome == "correct"


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_is_complete(name):
    exercise = load(name)
    assert len(inspect.getdoc(exercise.answer) or "") > 100, "the docstring is the whole task"
    assert len(exercise.hints) == 3
    assert len(exercise.misconceptions) >= 3
    assert len({m.name for m in exercise.misconceptions}) == len(exercise.misconceptions)
    assert all(m.message.endswith(".") or m.message.endswith("?") for m in exercise.misconceptions)
    assert exercise.explanation.endswith(".")
    assert exercise.level in ("core", "stretch")
    parts = collect(exercise, exercise.answer, 0, quiet=True).parts
    assert set(exercise.weights) <= set(parts), "weights name parts that the probe has"
    assert all(leaf.kind != "refused" for leaves in parts.values() for leaf in leaves.values())


@pytest.mark.parametrize("lesson", sorted({entry.lesson for entry in index().values()}))
def test_a_lesson_has_two_core_exercises(lesson):
    levels = [load(entry.name).level for entry in index().values() if entry.lesson == lesson]
    assert levels.count("core") == 2
