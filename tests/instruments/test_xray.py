"""`xray`: its figures are a tape's, the cut is marked, and nothing is left changed."""

import linecache
import math
import sys
import textwrap

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab import XRay, doctor, xray
from tests.instruments.xray_programs import PROGRAMS, Scaled, noise


def rms(tensor):
    return float(np.sqrt(np.mean(np.square(np.asarray(tensor, np.float64)))))


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_figure_is_what_a_tape_says_of_that_lines_value(name):
    program = PROGRAMS[name]()
    picture = xray(program.loss, program.variables)
    for code, asked in program.by_hand().items():
        line = picture.line(code)
        np.testing.assert_allclose([v.forward for v in line.values], [rms(t) for t, _ in asked], 1e-5, err_msg=code)
        assert [v.gradient is None for v in line.values] == [g is None for _, g in asked], code
        found = [v.gradient for v in line.values if v.gradient is not None]
        np.testing.assert_allclose(found, [rms(g) for _, g in asked if g is not None], 1e-4, 1e-44, err_msg=code)


def test_a_line_that_runs_fifty_times_is_one_line():
    program = PROGRAMS["deep"]()
    line = xray(program.loss, program.variables).line("state = self.layer")
    assert (line.runs, len(line.values)) == (50, 50)
    sizes = [value.gradient for value in line.values]
    assert line.gradient == (min(sizes), max(sizes))
    assert line.gradient[0] < 1e-3 * line.gradient[1]


def test_the_cut_is_marked_and_the_gradient_arrives_below_it_only():
    program = PROGRAMS["cut"]()
    picture = xray(program.loss, program.variables)
    assert not picture.ok
    assert [(line.code.strip(), [f.cause for f in line.cuts]) for line in picture.lines if line.cuts] == [
        ("corner = tf.cast(moved, tf.int32)", ["int-cast"])
    ]
    statuses = {line.code.split("=")[0].strip(): line.statuses for line in picture.lines if line.values}
    assert statuses["moved"] == statuses["corner"] == statuses["rows"] == ("none",)
    assert statuses["weights"] == statuses["canvas"] == ("ok",)


def test_zero_and_not_finite_are_told_apart_from_none():
    w = tf.Variable([-1.0, -2.0], name="w")
    v = tf.Variable([0.0, 1.0], name="v")

    def loss():
        flat = w * 3.0
        dead = tf.nn.relu(flat)
        root = v * 1.0
        steep = tf.sqrt(root)
        return tf.reduce_sum(dead) + tf.reduce_sum(steep)

    picture = xray(loss, [w, v])
    assert picture.line("flat =").statuses == ("zero",)
    assert picture.line("dead =").statuses == ("ok",)
    assert picture.line("root =").statuses == ("nonfinite",)
    assert [line.code.strip() for line in picture.lines if line.cuts] == [
        "dead = tf.nn.relu(flat)",
        "steep = tf.sqrt(root)",
    ]
    assert [weight.value.status for weight in picture.variables] == ["zero", "nonfinite"]


def test_values_that_need_no_gradient_are_not_called_lost():
    x, w = noise(4, 3), tf.Variable(noise(3, 1), name="w")

    def loss():
        data = x / 2.0
        out = data @ w
        aside = tf.reduce_max(out)
        positive = out > 0
        if aside > 1e9:
            out = out * 0.0
        return tf.reduce_sum(tf.where(positive, out, 0.1 * out))

    picture = xray(loss, w)
    assert picture.ok
    assert picture.line("data =").statuses == ("data",)
    assert picture.line("aside =").statuses == ("aside",)
    assert picture.line("positive =").statuses == ()
    assert picture.line("out = out * 0.0").runs == 0
    assert "✗" not in str(picture)


def test_behind_stop_gradient_the_gradient_arrives_and_before_it_not():
    w = tf.Variable([1.0, 2.0], name="w")

    def loss():
        guess = w * 3.0
        aim = tf.stop_gradient(guess + 1.0)
        return tf.reduce_sum((w - aim) ** 2)

    picture = xray(loss, [w])
    assert picture.ok
    assert picture.line("guess =").statuses == ("none",)
    assert picture.line("aim =").gradient == (pytest.approx(rms(2 * (np.array([4.0, 7.0]) - [1.0, 2.0]))),) * 2


def test_lines_inside_a_hand_written_gradient_are_not_called_lost():
    w = tf.Variable([0.3, 1.6], name="w")

    @tf.custom_gradient
    def rounded(x):
        doubled = x * 2.0
        return tf.round(doubled), lambda upstream: upstream * 2.0

    def loss():
        steps = rounded(w)
        return tf.reduce_sum(steps * steps)

    picture = xray(loss, [w])
    assert picture.ok
    assert picture.line("doubled =").statuses == ("unrecorded",)
    assert picture.line("steps =").gradient == (pytest.approx(rms(2 * tf.round(w * 2.0))),) * 2


def test_what_could_not_be_asked_for_plainly_is_still_shown():
    """Beyond an operation without a rule the tape raises; the lines after it have their gradients all the same."""
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")

    def loss():
        before = w * 2.0
        odd = tf.raw_ops.Betainc(a=before, b=tf.ones([2, 2]), x=tf.fill([2, 2], 0.5))
        stuck = tf.raw_ops.MatrixLogarithm(input=tf.cast(odd, tf.complex64))
        after = tf.math.real(stuck)
        return tf.reduce_sum(after)

    picture = xray(loss, [w])
    assert picture.line("after =").gradient == (1.0, 1.0)
    assert picture.line("before =").gradient is None


def test_a_py_function_whose_rule_can_be_asked_only_once_has_its_gradient():
    depth = tf.Variable(1.1, name="depth")

    def loss():
        root = tf.py_function(lambda d: tf.sqrt(1.0 + d * d), [depth], tf.float32)
        return root * 2.0

    picture = xray(loss, [depth])
    assert picture.ok
    assert picture.line("root =").gradient == (2.0, 2.0)
    assert picture.variables[0].value.gradient == pytest.approx(2 * 1.1 / math.sqrt(1 + 1.1**2))


def test_a_value_whose_own_gradient_is_taken_inside_is_not_called_unused():
    w = tf.Variable([1.0, 2.0], name="w")

    def loss():
        with tf.GradientTape() as inner:
            energy = tf.reduce_sum(w**3)
        slope = inner.gradient(energy, w)
        return tf.reduce_sum(slope)

    picture = xray(loss, [w])
    assert picture.line("energy =").statuses == ("inner",)
    assert picture.line("slope =").gradient == (1.0, 1.0)


def test_a_variable_that_is_not_in_the_list_is_marked_but_nothing_is_called_lost():
    listed = tf.Variable(2.0, name="listed")

    def loss():
        fresh = tf.Variable(3.0, name="fresh")
        return listed * fresh

    picture = xray(loss, [listed])
    assert [(line.code.strip(), line.cuts[0].status) for line in picture.lines if line.cuts] == [
        ('fresh = tf.Variable(3.0, name="fresh")', "untracked")
    ]
    assert "fresh: not in the list" in str(picture)
    assert "✂" not in str(picture)


def test_what_was_lost_outside_of_the_function_is_told_below():
    w = tf.Variable(2.0, name="w")
    early = w * 3.0

    def loss():
        return early * 1.0

    text = str(xray(loss, [w]))
    assert "on no line that is shown:" in text
    assert "early = w * 3.0" in " ".join(text.split())


def test_an_exception_in_the_function_is_shown_where_it_was_raised():
    w = tf.Variable(noise(3), name="w")

    def loss():
        good = tf.square(w)
        bad = tf.reshape(good, [2, 5])
        return tf.reduce_sum(bad)

    picture = xray(loss, [w])
    assert isinstance(picture.error, tf.errors.InvalidArgumentError)
    assert picture.line("good =").forward == (pytest.approx(rms(w**2)),) * 2
    assert picture.line("good =").statuses == ("unknown",)
    assert [line.code.strip() for line in picture.lines if line.cuts] == ["bad = tf.reshape(good, [2, 5])"]
    assert "✂ raises InvalidArgumentError\n" in str(picture)


def test_plain_tensors_are_sources_with_the_name_they_have():
    point = tf.constant([1.0, 2.0])

    def loss():
        return tf.reduce_sum(point**2)

    picture = xray(loss, [point])
    (weight,) = picture.variables
    assert (weight.name, weight.value.gradient) == ("point", pytest.approx(rms([2.0, 4.0])))


def test_functions_are_shown_once_in_the_order_of_their_calls():
    w = tf.Variable(2.0, name="w")

    def inner(x):
        return x * w

    def outer(x):
        def nested(y):
            return y + 1.0

        return nested(inner(x)) + inner(x)

    picture = xray(lambda: outer(w), [w])
    assert [block.title.split(".")[-1] for block in picture.blocks] == ["<lambda>", "outer", "inner"]
    assert picture.line("return x * w").runs == 2
    assert len([line for line in picture.lines if "return y + 1.0" in line.code]) == 1


def test_functions_without_figures_are_left_out():
    layer, x = Scaled(3), noise(4, 5)
    layer(x)
    again = Scaled(3)

    def shape_of(tensor):
        return tuple(tensor.shape)

    def loss():
        assert shape_of(x) == (4, 5)
        again.build((4, 5))
        return tf.reduce_sum(layer(x))

    picture = xray(loss, layer.trainable_variables)
    assert [block.title.split(".")[-1] for block in picture.blocks] == ["loss", "call"]


def test_a_layer_that_a_model_calls_twice_has_one_row():
    shared = keras.layers.Dense(4, name="shared")
    inputs = keras.Input((4,))
    model = keras.Model(inputs, shared(keras.layers.ReLU(name="bend")(shared(inputs))))
    x = noise(3, 4)
    picture = xray(lambda: tf.reduce_sum(model(x)), model.trainable_variables)
    rows = {line.layer: line for line in picture.lines if line.layer}
    assert list(rows) == ["shared (Dense)", "bend (ReLU)"]
    first = shared(x)
    second = shared(tf.nn.relu(first))
    sizes = [value.forward for value in rows["shared (Dense)"].values]
    assert sizes == pytest.approx([rms(first), rms(second)])
    assert rows["shared (Dense)"].runs == 2


def test_a_function_that_calls_itself_counts_each_call():
    w = tf.Variable(2.0, name="w")

    def power(n):
        if n == 0:
            return tf.ones([])
        below = power(n - 1)
        return below * w

    picture = xray(lambda: power(3), [w])
    assert picture.line("return below * w").runs == 3
    assert sorted(v.forward for v in picture.line("return below * w").values) == [2.0, 4.0, 8.0]


def test_a_notebook_cell_is_called_a_cell():
    source = textwrap.dedent("""
        def loss():
            doubled = w * 2.0
            return tf.reduce_sum(doubled)
    """)
    name = "/tmp/ipykernel_123/987654.py"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"tf": tf, "w": tf.Variable([1.0, 2.0], name="w")}
    try:
        exec(compile(source, name, "exec"), space)
        picture = xray(space["loss"], space["w"])
    finally:
        del linecache.cache[name]
    assert picture.line("doubled =").gradient == (1.0, 1.0)
    assert "loss  cell" in str(picture)
    assert "ipykernel" not in str(picture) + picture._repr_html_()


def test_a_second_xray_says_the_same():
    program = PROGRAMS["keras"]()
    first, second = (xray(program.loss, program.variables) for _ in range(2))
    assert first == second
    assert str(first) == str(second)
    assert first._repr_html_() == second._repr_html_()


def test_nothing_is_left_changed():
    def state():
        return sys.gettrace(), tf.config.functions_run_eagerly(), tf.GradientTape.gradient, tf.GradientTape.watch

    def plain():
        with tf.GradientTape() as tape:
            loss = program.loss()
        return [loss, *tape.gradient(loss, program.variables)]

    def trace(frame, event, arg):
        return None

    program = PROGRAMS["keras"]()
    before, values = plain(), [v.numpy() for v in program.model.weights]
    sys.settrace(trace)
    try:
        hooks = state()
        xray(program.loss, program.variables)
        assert state() == hooks
        with pytest.raises(KeyboardInterrupt):
            xray(_interrupted, program.variables)
        assert state() == hooks
    finally:
        sys.settrace(None)
    for one, other in zip(values, program.model.weights, strict=True):
        np.testing.assert_array_equal(one, other.numpy())
    for one, other in zip(before, plain(), strict=True):
        np.testing.assert_array_equal(one, other)
    with doctor() as visit:
        plain()
    assert visit.ok


def _interrupted():
    raise KeyboardInterrupt


def test_random_draws_are_those_of_the_program_itself():
    layer, x = keras.layers.Dropout(0.5, seed=1), tf.ones([4, 8])
    w = tf.Variable(noise(8), name="w")
    drawn = []

    def loss():
        drawn.append(layer(x * w, training=True))
        return tf.reduce_sum(drawn[-1])

    seed = layer.seed_generator.state.numpy()
    xray(loss, [w])
    layer.seed_generator.state.assign(seed)
    loss()
    np.testing.assert_array_equal(*drawn)


@pytest.mark.parametrize(
    ("fn", "variables", "error", "words"),
    [
        (3.0, [tf.Variable(1.0)], TypeError, "it got float"),
        (lambda x: x, [tf.Variable(1.0)], TypeError, "without arguments"),
        (lambda: 1.0, [], ValueError, r"xray\(fn, \[w, b\]\)"),
        (lambda: 1.0, None, ValueError, r"xray\(fn, \[w, b\]\)"),
        (lambda: 1.0, ["w"], TypeError, r"variables\[0\] is a str"),
    ],
)
def test_bad_input_is_refused_with_what_to_type(fn, variables, error, words):
    with pytest.raises(error, match=words):
        xray(fn, variables)


def test_a_model_is_refused_with_what_to_type():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    with pytest.raises(TypeError, match=r"xray\(lambda: loss_fn"):
        xray(model, model.trainable_variables)


def test_no_xray_inside_a_doctor_or_an_xray():
    w = tf.Variable(1.0, name="w")
    with doctor(), pytest.raises(RuntimeError, match="outside"):
        xray(lambda: w * w, [w])
    assert isinstance(xray(lambda: w * w, [w]).error, type(None))
    nested = xray(lambda: xray(lambda: w * w, [w]), [w])
    assert isinstance(nested.error, RuntimeError)


def test_a_line_is_found_by_its_text():
    w = tf.Variable(1.0, name="w")

    def loss():
        double = w * 2.0
        return double + 1.0

    picture = xray(loss, [w])
    assert isinstance(picture, XRay)
    assert picture.line("double").code == "    double = w * 2.0"
    with pytest.raises(LookupError, match="print the xray"):
        picture.line("treble")
