"""What the doctor says to write instead: Python, in the user's own names, that brings the gradient back."""

import ast
import importlib.util
import textwrap

import pytest

import gradlab
from gradlab.instruments.doctor.advice import advise, as_code, filled
from gradlab.instruments.doctor.advice_texts import TEXTS
from gradlab.instruments.doctor.finding import Cut, Step
from gradlab.instruments.doctor.frames import Place
from gradlab.instruments.doctor.text import blocks
from gradlab.instruments.doctor.wording import BECAUSE

# the words that `Finding.cause` is drawn from
CAUSES = [
    "left-tensorflow",
    "captured-outside",
    "outside-tape",
    "not-watched",
    "unconnected-target",
    "unused-variable",
    "untracked-variable",
    "non-trainable",
    "assign-state",
    "stop-gradient",
    "nondiff-op",
    "hard-threshold",
    "metric-as-loss",
    "sampling",
    "int-cast",
    "integer-source",
    "partial-gradient-op",
    "no-registered-gradient",
    "custom-gradient",
    "zero-gradient-op",
    "zero-clip",
    "zero-saturation",
    "zero-cancellation",
    "nan-singular-point",
    "nan-where",
    "degenerate-linalg",
    "mixed-precision",
    "second-order-tape",
    "second-order-op",
    "second-order-vanishes",
    "tape-reuse",
    "recompute-grad",
    "saved-model",
]


def code_of(advice):
    return [text for is_code, text in blocks(advice) if is_code]


def advice_for(tmp_path, line, cause, op="", name="w", **changes):
    file = tmp_path / "program.py"
    file.write_text(f"def loss():\n{textwrap.indent(line, '    ')}\n")
    return advise(Cut(cause, op, Place(str(file), 2, "loss"), **changes), name)


@pytest.mark.parametrize("cause", CAUSES)
def test_every_cause_has_its_words_and_its_advice(cause):
    assert len(TEXTS[cause]) > 60
    assert cause in BECAUSE or cause == "untracked-variable", "of which its heading says all"
    assert advise(Cut(cause, "Round"), "unit/kernel"), "without a line, too"


@pytest.mark.parametrize("key", [key for key, text in TEXTS.items() if "\n    " in text])
def test_code_in_the_templates_is_python(key):
    fields = dict.fromkeys(_fields(TEXTS[key]), "x")
    for code in code_of(filled(TEXTS[key], fields)):
        ast.parse(code)


def _fields(template):
    import string

    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@pytest.mark.parametrize(
    ("cause", "op", "line", "written"),
    [
        ("nondiff-op", "Round", "y = tf.round(p)", "y = p + tf.stop_gradient(tf.round(p) - p)"),
        ("nondiff-op", "Floor", "return tf.floor(a + b)", "return a + b + tf.stop_gradient(tf.floor(a + b) - (a + b))"),
        ("nondiff-op", "Round", "y = 2 * tf.round(p)", "y = 2 * (p + tf.stop_gradient(tf.round(p) - p))"),
        ("hard-threshold", "Greater", "y = tf.cast(p > 0.5, p.dtype)", "soft = tf.sigmoid((p - 0.5) / 0.1)\ny = soft"),
        ("hard-threshold", "LessEqual", "y = tf.where(a <= b, c, d)", "soft = tf.sigmoid((b - a) / 0.1)\n"
         "y = (soft * c + (1.0 - soft) * d)"),
        ("stop-gradient", "StopGradient", "y = 2 * tf.stop_gradient(a + b)", "y = 2 * (a + b)"),
        ("stop-gradient", "StopGradient", "y = f(tf.stop_gradient(a + b))", "y = f(a + b)"),
        ("left-tensorflow", "np.abs", "y = np.abs(p - t)", "y = tf.abs(p - t)"),
        ("left-tensorflow", "numpy()", "y = (gain * out).numpy()", "y = gain * out"),
        ("left-tensorflow", "float()", "y.append(float(one))", "y.append(one)"),
        ("left-tensorflow", "np.mean", "y = np.mean([a, b]).astype('float32')", "y = tf.reduce_mean([a, b])"),
        ("left-tensorflow", "PyFunc", "y = tf.numpy_function(f, [a, b], tf.float32)", "y = f(a, b)"),
        ("assign-state", "AssignVariableOp", "s.v.assign(a + b)", "new = a + b\ns.v.assign(new)"),
        ("assign-state", "AssignSubVariableOp", "v.assign_sub(a + b)", "new = v - (a + b)\nv.assign(new)"),
        ("integer-source", "int32 variable", "v = tf.Variable(3)", "v = tf.Variable(3.0)"),
        ("integer-source", "int32", "v = tf.Variable(n, dtype='int32')", "v = tf.Variable(n, dtype=tf.float32)"),
        ("zero-gradient-op", "Sign", "y = tf.sign(w)", "y = w + tf.stop_gradient(tf.sign(w) - w)"),
        ("zero-saturation", "Relu", "y = tf.nn.relu(x @ w)", "y = tf.nn.leaky_relu(x @ w)"),
        ("nan-singular-point", "Sqrt", "y = tf.sqrt(a * b)", "y = tf.sqrt(a * b + 1e-12)"),
        ("nan-singular-point", "Sqrt", "y = tf.norm(r, axis=1)",
         "y = tf.sqrt(tf.reduce_sum(tf.square(r), axis=1) + 1e-12)"),
        ("nan-singular-point", "Log", "y = tf.math.log(p)", "y = tf.math.log(tf.maximum(p, 1e-12))"),
        ("nan-singular-point", "RealDiv", "y = a / b", "y = tf.math.divide_no_nan(a, b)"),
        ("nan-singular-point", "Pow", "y = x ** 0.5", "y = tf.maximum(x, 1e-12) ** 0.5"),
        ("nan-where", "Log", "y = tf.where(x > 0, tf.math.log(x), 0.0)",
         "safe = tf.where(x > 0, x, 1.0)\ny = tf.where(x > 0, tf.math.log(safe), 0.0)"),
        ("degenerate-linalg", "Cholesky", "y = tf.linalg.cholesky(m)",
         "y = tf.linalg.cholesky(m + 1e-6 * tf.eye(tf.shape(m)[-1]))"),
        ("mixed-precision", "Square", "y = tf.square(a)", "y = tf.square(tf.cast(a, tf.float32))"),
        ("nan-singular-point", "Log", "y = tf.math.log(o)", "y = tf.math.log(tf.maximum(o, 1e-12))"),
        ("mixed-precision", "Square", "y = tf.square(a - b)", "y = tf.square(tf.cast(a - b, tf.float32))"),
        ("mixed-precision", "get_scaled_loss", "s = opt.get_scaled_loss(l)", "s = opt.scale_loss(l)"),
        ("tape-reuse", "tape asked twice", "g = tape.gradient(loss, a)", "tape.gradient(loss, [a, b])"),
        ("not-watched", "tape.watch missing", "with tf.GradientTape() as t:\n    pass",
         "with tf.GradientTape() as t:\n    t.watch(w)\n    ..."),
    ],
)  # fmt: skip
def test_the_users_own_line_is_written_again(tmp_path, cause, op, line, written):
    assert code_of(advice_for(tmp_path, line, cause, op))[0] == written


def test_a_default_value_is_moved_into_the_function(tmp_path):
    line = "def loss(x, table=tf.exp(w)):\n    return x * table"
    advice = advice_for(tmp_path, line, "captured-outside", details={"captured": "table"})
    assert code_of(advice) == ["table = tf.exp(w)"]


def test_what_a_constructor_computed_is_computed_in_each_call(tmp_path):
    advice = advice_for(tmp_path, "self.table = tf.exp(w)", "captured-outside", details={"captured": "self.table"})
    assert code_of(advice) == ["table = tf.exp(w)"]


def test_a_statement_of_several_lines_is_written_whole(tmp_path):
    line = "y = tf.reduce_sum(\n    tf.round(p),\n    axis=1)"
    written = "y = tf.reduce_sum(\n    p + tf.stop_gradient(tf.round(p) - p),\n    axis=1)"
    file = tmp_path / "program.py"
    file.write_text(f"def loss():\n{textwrap.indent(line, '    ')}\n")
    cut = Cut("nondiff-op", "Round", Place(str(file), 3, "loss"))
    assert code_of(advise(cut, "w")) == [written]


@pytest.mark.parametrize("line", ["y = (", "y = lambda: '", "else:", "", "y = f({})", "y = '{name}' + tf.round(p)"])
def test_lines_that_are_not_whole_or_hold_braces_still_get_advice(tmp_path, line):
    for cause in CAUSES:
        assert advice_for(tmp_path, line or "pass", cause, "Round")


def test_a_name_that_is_not_python_does_not_stand_in_code():
    assert as_code("bn/moving_mean") == "variable"
    assert as_code("variables[0]") == "variables[0]"
    assert as_code("image") == "image"


def test_a_second_open_cause_gets_its_advice():
    advice = advise(Cut("captured-outside", also=("unused-variable",)), "w")
    assert "If that isn't it:" in advice
    assert "Nothing that ran reads it." in advice


def test_an_exception_comes_first():
    advice = advise(Cut("custom-gradient", details={"error": "ValueError: expected 1"}), "w")
    assert advice.splitlines()[0] == "ValueError: expected 1"
    assert advise(Cut("", details={"error": "KeyError: 'a'"}), "") == "KeyError: 'a'"


PROGRAM = """
import numpy as np
import tensorflow as tf

w = tf.Variable({start}, name="w")
x = tf.constant([[1.0, 2.0, -0.5], [0.3, -1.0, 2.0]])


def loss():
    {line}
    return tf.reduce_sum(tf.cast(y, tf.float32) * [0.7, -0.4, 0.9])
"""


@pytest.mark.parametrize(
    ("start", "line"),
    [
        ("[0.3, 0.7, 1.6]", "y = tf.round(w * 3.0)"),
        ("[0.3, 0.7, 1.6]", "y = 2.0 * tf.floor(w)"),
        ("[0.3, 0.7, 1.6]", "y = tf.cast(w > 0.5, tf.float32)"),
        ("[0.3, 0.7, 1.6]", "y = tf.where(w > 0.5, x, 0.0)"),
        ("[0.3, 0.7, 1.6]", "y = tf.sign(w)"),
        ("[0.3, 0.7, 1.6]", "y = tf.stop_gradient(w * 2.0)"),
        ("[0.3, 0.7, 1.6]", "y = (w * 2.0).numpy()"),
        ("[0.3, 0.7, 1.6]", "y = np.exp(w)"),
        ("[3.0, 7.0, 6.0]", "y = tf.clip_by_value(w, -1.0, 1.0)"),
        ("[-3.0, -7.0, -6.0]", "y = tf.nn.relu(w)"),
        ("[0.0, 0.7, 1.6]", "y = tf.sqrt(w)"),
        ("[0.0, 0.7, 1.6]", "y = tf.math.log(w)"),
        ("[1.0, 0.7, 1.6]", "y = tf.acos(w)"),
        ("[0.0, 0.7, 1.6]", "y = w ** 0.5"),
        ("[0.0, 0.7, 1.6]", "y = tf.where(w > 0.1, tf.math.log(w), 0.0)"),
        ("[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [0.5, -1.0, 2.0]]", "y = tf.norm(w, axis=1)"),
    ],
)
def test_what_is_advised_brings_the_gradient_back(tmp_path, start, line):
    broken = _diagnosis(tmp_path / "broken.py", start, line)
    assert [f.ok for f in broken.findings] == [False]
    assert broken.findings[0].code == line
    written = code_of(broken.findings[0].advice)[0]
    mended = _diagnosis(tmp_path / "mended.py", start, written.replace("\n", "\n    "))
    assert [f.status for f in mended.findings] == ["ok"], written


def _diagnosis(file, start, line):
    file.write_text(PROGRAM.format(start=start, line=line))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return gradlab.diagnose(program.loss, [program.w])


def test_steps_of_the_way_choose_the_loss_for_a_metric(tmp_path):
    path = (Step("SparseSoftmaxCrossEntropyWithLogits", None, None, ""),)
    advice = advice_for(tmp_path, "return measure(y, p)", "metric-as-loss", "AssignAddVariableOp", path=path)
    assert code_of(advice) == [
        "measure.update_state(y, p)\nreturn keras.losses.SparseCategoricalCrossentropy()(y, p)",
    ]
