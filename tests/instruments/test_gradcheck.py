"""The verdicts of gradcheck on programs whose gradients are known, and what its report says."""

import random

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.instruments.gradcheck import gradcheck
from tests.instruments import gradcheck_bank as bank

RIGHT = [pytest.param(case, dtype, id=f"{case.name}-{dtype}") for case in bank.RIGHT for dtype in case.dtypes]
WRONG = [pytest.param(case, dtype, id=f"{case.name}-{dtype}") for case in bank.WRONG for dtype in case.dtypes]
SPECIAL = [pytest.param(case, dtype, id=f"{case.name}-{dtype}") for case in bank.SPECIAL for dtype in case.dtypes]


@pytest.mark.parametrize(("case", "dtype"), RIGHT)
def test_a_right_gradient_agrees(case, dtype):
    fn, inputs, more = case.build(dtype)
    result = gradcheck(fn, *inputs, **more)
    assert result.verdict == "agrees", str(result)
    assert result.ok


@pytest.mark.parametrize(("case", "dtype"), WRONG)
def test_a_wrong_gradient_disagrees(case, dtype):
    fn, inputs, more = case.build(dtype)
    result = gradcheck(fn, *inputs, **more)
    assert result.verdict == "disagrees", str(result)
    assert not result.ok


@pytest.mark.parametrize(("case", "dtype"), SPECIAL)
def test_a_special_point_gets_its_word(case, dtype):
    fn, inputs, more = case.build(dtype)
    result = gradcheck(fn, *inputs, **more)
    assert result.verdict in case.expected, str(result)


def _squares_off_at(places, size=500, factor=0.0):
    factors = np.ones(size, "float32")
    factors[list(places)] = factor

    @tf.custom_gradient
    def squares(x):
        return x**2, lambda upstream: 2 * x * upstream * factors

    return lambda x: tf.reduce_sum(squares(x))


def test_the_worst_element_is_named_with_both_slopes():
    x = np.linspace(1, 2, 500, dtype="float32").reshape(5, 100)
    fn = _squares_off_at([237])
    result = gradcheck(lambda x: fn(tf.reshape(x, [-1])), x)
    assert result.worst.name == "x[2, 37]"
    assert result.worst.analytic == 0
    assert result.worst.numerical == pytest.approx(2 * x[2, 37], rel=1e-3)
    assert result.kind == "element"
    assert "x[2, 37]" in str(result)


def test_names_come_from_the_signature_and_from_the_variables():
    w = tf.Variable([2.0, 3.0], name="weights")

    @tf.custom_gradient
    def off(x, w):
        return tf.reduce_sum(x * w), lambda upstream: (upstream * w, 3 * upstream * x)

    result = gradcheck(lambda signal, w: off(signal, w), [1.0, 2.0], w)
    assert result.worst.name.startswith("weights[")


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (lambda u, x: -2 * x * u, "sign"),
        (lambda u, x: 6 * x * u, "factor"),
        (lambda u, x: 2 * x, "upstream"),
        (lambda u, x: 0 * x, "zero"),
        (lambda u, x: 16 * 2 * x * u, "count"),
        (lambda u, x: tf.transpose(2 * x * u), "transposed"),
    ],
)
def test_the_likely_mistake_is_named(rule, kind):
    @tf.custom_gradient
    def squares(x):
        return x**2, lambda upstream: rule(upstream, x)

    x = np.arange(1, 17, dtype="float32").reshape(4, 4) / 7
    result = gradcheck(squares, x)
    assert (result.verdict, result.kind) == ("disagrees", kind), str(result)


def test_a_gradient_of_another_shape_disagrees():
    @tf.custom_gradient
    def column(x):
        return x**2, lambda upstream: tf.reshape(2 * x * upstream, [-1, 1])

    result = gradcheck(lambda x: tf.reduce_sum(column(x)), [1.0, 2.0])
    assert (result.verdict, result.kind) == ("disagrees", "shape")


def test_variables_are_put_back_to_the_last_bit():
    w = tf.Variable(np.random.default_rng(0).normal(size=(4, 3)).astype("float32"))
    before = w.numpy().copy()
    assert gradcheck(lambda: tf.reduce_sum(w**3), variables=[w]).ok
    np.testing.assert_array_equal(w.numpy(), before)


def test_variables_are_put_back_after_an_exception():
    w = tf.Variable([1.0, 2.0])
    calls = []

    def fails_later():
        calls.append(1)
        if len(calls) > 20:
            raise RuntimeError("out of luck")
        return tf.reduce_sum(w**2)

    with pytest.raises(RuntimeError, match="out of luck") as caught:
        gradcheck(fails_later, variables=[w])
    assert any("gradcheck" in note for note in caught.value.__notes__)
    np.testing.assert_array_equal(w.numpy(), [1.0, 2.0])


def test_a_keras_model_is_checked_and_left_alone():
    keras.utils.set_random_seed(3)
    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(5, "tanh"),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(0.5),
            keras.layers.Dense(1),
        ]
    )
    x = np.random.default_rng(1).normal(size=(12, 4)).astype("float32")
    before = [v.numpy().copy() for v in model.variables]
    result = gradcheck(
        lambda: tf.reduce_mean(model(x, training=True) ** 2), variables=model.trainable_variables, directions=2
    )
    assert result.ok, str(result)
    assert [word for word, _ in result.notes] == ["state"]
    for variable, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_global_generators_of_python_and_numpy_are_put_back():
    def noisy(x):
        return tf.reduce_sum(x**2) * (1 + random.random()) * (1 + np.random.rand())  # noqa: NPY002

    random.seed(4)
    np.random.seed(4)  # noqa: NPY002
    expected = (random.random(), np.random.rand())  # noqa: NPY002
    random.seed(4)
    np.random.seed(4)  # noqa: NPY002
    result = gradcheck(noisy, [1.0, 2.0])
    assert result.ok
    assert "random" in [word for word, _ in result.notes]
    assert (random.random(), np.random.rand()) == expected  # noqa: NPY002


def test_randomness_that_seeds_cant_repeat_is_never_ok():
    generator = np.random.default_rng(0)
    result = gradcheck(lambda x: tf.reduce_sum(x**2) * (1 + 0.1 * generator.random()), [1.0, 2.0], directions=1)
    assert not result.ok
    assert "unrepeatable" in [word for word, _ in result.notes]


def test_an_unused_input_is_a_note_and_no_failure():
    result = gradcheck(lambda x, y: tf.reduce_sum(x**2), [1.0, 2.0], [3.0])
    assert result.ok
    assert ("unused", (("name", "y"),)) in result.notes


def test_integers_are_held_constant():
    labels = np.array([0, 2, 1])
    logits = np.random.default_rng(2).normal(size=(3, 4)).astype("float32")
    assert gradcheck(lambda z, y: tf.nn.sparse_softmax_cross_entropy_with_logits(y, z), logits, labels).ok


def test_structures_of_inputs_reach_the_function_as_they_were():
    def fn(parameters, scale):
        return tf.reduce_sum(parameters["w"] * parameters["b"][0]) * scale

    result = gradcheck(fn, {"w": np.ones((2, 2), "float32"), "b": [tf.constant([3.0, 4.0])]}, 2.0)
    assert result.ok
    assert any(row.direction.startswith("parameters['w']") for row in result.rows)


def test_a_function_compiled_by_tf_function_is_checked():
    assert gradcheck(tf.function(lambda x: tf.reduce_sum(tf.sin(x))), [1.0, 2.0]).ok


@pytest.mark.parametrize(
    ("inputs", "fn", "error", "words"),
    [
        ((3,), lambda x: x, ValueError, "3.0"),
        ((np.zeros((0, 2), "float32"),), tf.reduce_sum, ValueError, "at least one element"),
        ((1 + 2j,), tf.abs, TypeError, "complex"),
        ((np.ones(2, "complex64"),), tf.abs, TypeError, "complex"),
        ((1.0,), lambda x: None, TypeError, "return"),
        ((1.0,), lambda x: tf.complex(x, x), TypeError, "complex"),
    ],
)
def test_what_cant_be_checked_is_refused_with_advice(inputs, fn, error, words):
    with pytest.raises(error, match=words):
        gradcheck(fn, *inputs)


@pytest.mark.parametrize("options", [{"directions": "many"}, {"directions": 0}, {"rtol": -1.0}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError, match="gradcheck"):
        gradcheck(tf.reduce_sum, [1.0], **options)


def test_rtol_lets_small_differences_pass():
    fn = _squares_off_at(range(10), size=10, factor=1.01)
    x = np.linspace(1, 2, 10, dtype="float32")
    assert gradcheck(fn, x).verdict == "disagrees"
    assert gradcheck(fn, x, rtol=0.05).verdict == "agrees"


def test_the_same_seed_gives_the_same_rows():
    x = np.linspace(-1, 1, 7, dtype="float32")
    one, two = (gradcheck(lambda x: tf.reduce_sum(tf.exp(x)), x, seed=5) for _ in range(2))
    assert one == two


def test_every_element_is_a_row_when_there_are_few():
    result = gradcheck(lambda x: tf.reduce_sum(tf.exp(x)), [[0.0, 1.0], [2.0, 3.0]])
    elements = {row.direction: row for row in result.rows if row.direction.startswith("x[")}
    assert set(elements) == {"x[0, 0]", "x[0, 1]", "x[1, 0]", "x[1, 1]"}
    for name, value in zip(sorted(elements), np.exp([0.0, 1, 2, 3]), strict=True):
        assert elements[name].numerical == pytest.approx(value, abs=elements[name].error_estimate + 1e-6 * value)
        assert elements[name].analytic == pytest.approx(value, rel=1e-6)


def test_the_error_estimate_covers_the_error():
    """On sums of exponentials, whose slopes are known in closed form."""
    rng = np.random.default_rng(6)
    for seed in range(3):
        x = rng.normal(size=4).astype("float32")
        result = gradcheck(lambda x: tf.reduce_sum(tf.exp(x)), x, seed=seed)
        for row in result.rows:
            if row.direction.startswith("x["):
                truth = np.exp(np.float64(x[int(row.direction[2:-1])]))
                assert abs(row.numerical - truth) <= row.error_estimate


@pytest.mark.parametrize("case", [*bank.WRONG[8:12], *bank.SPECIAL[::3]], ids=lambda case: case.name)
def test_a_report_fits_80_columns_and_says_the_verdict_first(case):
    fn, inputs, more = case.build("float32")
    result = gradcheck(fn, *inputs, **more)
    lines = str(result).splitlines()
    assert lines[0] == f"gradcheck: {result.verdict}"
    assert max(map(len, lines)) <= 80
    assert result.verdict in result._repr_html_()


def test_html_is_escaped():
    @tf.custom_gradient
    def off(x):
        return tf.reduce_sum(x), lambda upstream: 2 * upstream * tf.ones_like(x)

    w = tf.Variable([1.0, 2.0], name="a")
    result = gradcheck(lambda parts: off(parts["<b>"]), {"<b>": w.numpy()})
    assert "<b>" not in result._repr_html_()
    assert "&lt;b&gt;" in result._repr_html_()


@pytest.mark.parametrize("point", [2.0, 0.0])
def test_the_plot_states_its_finding(point):
    figure = gradcheck(lambda x: tf.abs(x) ** 1.0 + x, point).plot()
    assert len(figure.alt) > 20
    assert figure.axes[0].get_xlabel()
    assert figure.axes[0].get_ylabel()
