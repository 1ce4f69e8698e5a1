"""The doctor's report as text: what it says first, what it folds together, how it shows the way to the cut."""

import dataclasses
from pathlib import Path

import pytest

from gradlab.instruments.doctor.finding import Finding, Step
from gradlab.instruments.doctor.report import Report

FILE = str(Path.cwd() / "train.py")
ROUND = "hard = tf.round(p)"


def report(*findings, eagerly=False):
    told = Report()
    told.findings = list(findings)
    told.eagerly = eagerly
    return told


def lost(name="w", **changes):
    """A variable whose gradient ends at a rounding on line 23."""
    path = (
        Step("ReadVariableOp", FILE, 22, "p = unit(x)"),
        Step("MatMul", FILE, 22, "p = unit(x)"),
        Step("Sigmoid", FILE, 22, "p = unit(x)"),
        Step("Round", FILE, 23, ROUND),
    )
    finding = Finding(
        name, "none", "nondiff-op", "Round", FILE, 23, ROUND, path, "Do this:\n    y = x\nThen that.", note="no slope"
    )
    return dataclasses.replace(finding, **changes)


def fine(name):
    return Finding(name, "ok")


def first_line(*findings):
    return str(report(*findings)).splitlines()[0]


def test_first_line_is_the_verdict():
    assert first_line(fine("a")) == "The gradient is there, finite and not zero."
    assert first_line(fine("a"), fine("b")) == "Both gradients are there, finite and not zero."
    assert first_line(*map(fine, "abc")) == "All 3 gradients are there, finite and not zero."
    assert first_line(lost("a"), fine("b"), fine("c")) == "1 of 3 variables has no gradient."
    assert first_line(lost("a"), lost("b"), fine("c")) == "2 of 3 variables have no gradient."
    assert first_line(lost("a"), lost("b")) == "Neither variable has a gradient."
    assert first_line(lost("a", status="zero"), *map(fine, "bc")) == "1 of 3 gradients is exactly zero."
    assert first_line(*(lost(n, status="nonfinite") for n in "abc")) == "None of the 3 gradients is finite."
    assert first_line() == "No gradient was asked for."


def test_untracked_variables_and_exceptions_do_not_count_among_those_asked_for():
    stray = lost("s", status="untracked", cause="untracked-variable", path=())
    raised = lost("", status="raises", cause="custom-gradient", path=(), advice="ValueError: 1 expected\nDo this.")
    verdict = first_line(fine("a"), fine("b"), lost("c"), stray, raised)
    assert verdict == ("ValueError was raised. 1 of 3 variables has no gradient. 1 variable that the"), (
        "the worst comes first, and the line is wrapped at 80 columns"
    )


def test_worst_group_comes_first():
    told = str(report(lost("z", status="zero", line=30), lost("n"), lost("i", status="nonfinite", line=40)))
    assert told.index("i: the gradient is not finite") < told.index("n: no gradient") < told.index("z: the gradient")


def test_equal_findings_of_a_layer_are_told_once():
    told = str(report(lost("unit/kernel"), lost("unit/bias", path=lost().path[2:])))
    assert "unit/kernel and unit/bias: no gradient, because Round has no derivative" in told
    assert told.count(ROUND) == 1


def test_findings_on_different_lines_are_told_apart():
    told = str(report(lost("a"), lost("b", line=24, code="soft = tf.round(q)")))
    assert "a: no gradient" in told
    assert "b: no gradient" in told


def test_many_variables_are_named_by_the_first_and_the_last():
    told = str(report(*(lost(f"dense_{i}/kernel") for i in range(30))))
    assert "30 variables (dense_0/kernel to dense_29/kernel): no" in told


def test_two_hundred_healthy_variables_take_one_line():
    assert len(str(report(*(fine(f"v{i}") for i in range(200)))).splitlines()) == 1
    told = str(report(lost("w"), *(fine(f"v{i}") for i in range(200))))
    assert "The gradients of 200 variables (v0 to v199) are there, finite and not zero." in told


def test_way_to_the_cut_is_lines_of_code_with_the_cut_marked_and_its_call_underlined():
    told = str(report(lost("w")))
    shown = told[told.index("  w\n") : told.index("  the loss")].splitlines()
    assert shown == [
        "  w",
        "  ┊ 22  p = unit(x)",
        "  ✗ 23  hard = tf.round(p)",
        "  │            ^^^^^^^^^^^",
        "  │     Round: no slope",
    ]


def test_operations_of_the_line_at_the_cut_are_named_in_order():
    path = (Step("Mul", FILE, 23, ROUND), Step("Identity", FILE, 23, ROUND), Step("Round", FILE, 23, ROUND))
    assert "Mul → Round: no slope" in str(report(lost("w", path=path)))


def test_a_call_that_goes_on_in_the_next_line_is_underlined_as_far_as_it_is_shown():
    told = str(report(lost("w", code="hard = tf.round(", path=(Step("Round", FILE, 23, "hard = tf.round("),))))
    assert "  ✗ 23  hard = tf.round(\n  │            ^^^^^^^^^\n" in told


def test_a_loop_is_told_once_with_how_often_it_ran():
    body = [Step("Tanh", FILE, 10, "h = tf.tanh(h)"), Step("AddV2", FILE, 11, "h = h + 0.1")]
    told = str(report(lost("w", path=(*body * 400, lost().path[-1]))))
    assert "┊ 10  h = tf.tanh(h) ┐\n" in told
    assert "┊ 11  h = h + 0.1    ┘ 400 times\n" in told


def test_of_a_long_way_the_middle_is_left_out():
    path = tuple(Step("Mul", FILE, i, f"x{i} = x{i - 1} * 2") for i in range(100, 5100))
    told = str(report(lost("w", path=(*path, lost().path[-1]))))
    assert "x100 = x99 * 2" in told
    assert "x5099 = x5098 * 2" in told
    assert "more lines)" in told
    assert len(told.splitlines()) < 40


def test_other_files_on_the_way_are_named():
    elsewhere = Step("MatMul", str(Path.cwd() / "net.py"), 7, "return x @ self.w")
    told = str(report(lost("w", path=(elsewhere, lost().path[-1]))))
    assert "in net.py:" in told
    assert "in train.py:" in told


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        (FILE, "train.py:23"),
        (str(Path.cwd() / "nets" / "unit.py"), "nets/unit.py:23"),
        ("/some/where/else/model.py", "model.py:23"),
        (str(Path.cwd() / ("deep/" * 20) / "nets" / "unit.py"), ".../nets/unit.py:23"),
        ("/tmp/ipykernel_4711/1234567.py", "cell, line 23"),
        ("<ipython-input-3-abc>", "cell, line 23"),
    ],
)
def test_places_are_shown_without_what_differs_between_machines(file, shown):
    step = Step("Round", file, 23, ROUND)
    told = str(report(lost("w", file=file, path=(step,))))
    assert f"  {shown}\n" in told
    assert "/tmp" not in told
    assert "4711" not in told


def test_no_line_is_longer_than_80_columns():
    code = "return tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(inputs, weights) + biases) - goal)), (weights, inputs)"
    path = tuple(Step("MatMul", FILE, i, f"value_{i} = {code}") for i in range(1000, 1004))
    advice = f"Write this:\n    {code.replace('relu', 'leaky_relu')}\n" + "and so on " * 30
    told = str(report(lost("a_very_long_name/" * 6, code=code, path=path, advice=advice, op="Relu")))
    assert max(map(len, told.splitlines())) <= 80


def test_code_to_copy_stays_code_when_it_is_broken_over_lines():
    code = "return tf.reduce_mean(tf.square(tf.nn.softplus(tf.matmul(inputs, weights) + offsets) - targets)), weights"
    told = str(report(lost("w", advice=f"Write this:\n    {code}")))
    shown = [line for line in told[told.index("Write this:") :].splitlines()[1:] if line.startswith("      ")]
    assert len(shown) > 1
    assert "".join("".join(shown).split()) == "".join(code.split())


def test_a_second_open_cause_is_said():
    told = str(report(lost("w", cause="captured-outside", also=("unused-variable",), path=())))
    assert "the loss uses a tensor that was computed before (or the loss is computed without it)" in unwrapped(told)


def unwrapped(told):
    return " ".join(told.split())


def test_how_often_is_said_where_the_gradient_was_asked_for_more_than_once():
    assert "w: no gradient in 3 of 40 calls" in str(report(lost("w", times=3, out_of=40)))
    assert "calls" not in str(report(lost("w")))


def test_an_exception_is_told_with_its_class_its_words_and_its_line():
    advice = (
        "InvalidArgumentError: {{function_node __wrapped__X_device_/job:0}} Input is not invertible. [Op:X] name\nDo."
    )
    told = str(report(lost("", status="raises", cause="degenerate-linalg", path=(), advice=advice)))
    assert "the program: InvalidArgumentError" in told
    assert "It said: Input is not invertible.\n" in told
    assert "train.py:23" in told
    assert "function_node" not in told


def test_advice_that_differs_between_the_variables_names_the_others():
    one, other = (lost(n, advice=f"Watch it:\n    tape.watch({n})") for n in ("image", "kernel"))
    told = str(report(one, other))
    assert "tape.watch(image)" in told
    assert "The same goes for kernel." in told


def test_advice_that_differs_only_in_the_name_is_said_for_all():
    told = str(report(*(lost(n, advice=f"Use `{n}` in the loss.") for n in ("a", "b"))))
    assert "Use `a` and `b` in the loss." in told


def test_eager_examination_is_said():
    assert "Compiled functions were run operation by operation" in str(report(fine("a"), eagerly=True))
    assert "Compiled" not in str(report(fine("a")))


def test_the_same_findings_read_the_same():
    findings = [lost("a"), lost("b", line=24), fine("c")]
    assert str(report(*findings)) == str(report(*findings)) == repr(report(*findings))


def test_a_finding_without_line_or_path_is_told_too():
    told = str(report(lost("w", file=None, line=None, code="", path=(), op="", cause="", advice="")))
    assert "w: no gradient\n" in told
    assert "no slope" in told
