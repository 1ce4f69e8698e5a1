"""Every cause: the status, the word for why, the line to blame, the code that is given back, and the same again."""

import contextlib

import keras
import pytest
import tensorflow as tf

from gradlab import diagnose, doctor
from tests.instruments.doctor.broken import CASES

WORDS = """
left-tensorflow captured-outside outside-tape not-watched unconnected-target unused-variable untracked-variable
non-trainable assign-state stop-gradient nondiff-op hard-threshold metric-as-loss sampling int-cast integer-source
partial-gradient-op no-registered-gradient custom-gradient zero-gradient-op zero-clip zero-saturation
zero-cancellation nan-singular-point nan-where degenerate-linalg mixed-precision second-order-tape second-order-op
second-order-vanishes tape-reuse saved-model
"""


def examine(case):
    """What the doctor finds in one run of a program."""
    keras.utils.clear_session(free_memory=False)
    if not case.whole:
        return diagnose(*case.make())
    with contextlib.suppress(Exception), doctor() as visit:
        case.make()
    return visit


def test_there_is_a_program_for_every_cause():
    assert {case.cause for case in CASES.values()} - {""} == set(WORDS.split())


@pytest.mark.parametrize("name", CASES)
def test_the_cause_and_the_line_are_named_and_the_rest_is_healthy(name):
    case = CASES[name]
    found = examine(case)
    sick = [f for f in found.findings if f.status == case.status]
    assert [(f.variable, f.status, f.cause) for f in found.findings if f.status not in ("ok", case.status)] == []
    assert sick, str(found)
    assert {f.cause for f in sick} == {case.cause}, str(found)
    if case.status != "raises":
        assert {f.variable for f in sick} == set(case.lost)
    for finding in sick:
        if case.lines:
            assert finding.line in case.lines, str(found)
            assert finding.code
            assert finding.file.endswith("broken.py")
        assert finding.advice
        assert finding.op or finding.cause in ("unused-variable", "captured-outside")


@pytest.mark.parametrize("name", CASES)
def test_a_second_visit_reports_the_same(name):
    case = CASES[name]
    first, second = examine(case), examine(case)
    assert str(first) == str(second)
    assert [f.as_dict() for f in first.findings] == [f.as_dict() for f in second.findings]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.whole and case.status != "raises"])
def test_a_tape_of_ones_own_under_the_doctor_finds_the_same_status_and_computes_the_same(name):
    case = CASES[name]

    def gradients():
        keras.utils.set_random_seed(1)
        function, variables = case.make()
        with tf.GradientTape() as tape:
            loss = function()
        found = tape.gradient(loss, variables)
        return [None if g is None else tf.convert_to_tensor(g).numpy().tobytes() for g in (loss, *found)]

    before = gradients()
    with doctor() as visit:
        under = gradients()
    assert under == before
    assert gradients() == before
    sick = {f.variable: f.status for f in visit.findings if not f.ok}
    assert sick == dict.fromkeys(case.lost, case.status)
