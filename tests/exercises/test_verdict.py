"""What a verdict says of an answer: outcome, parts, named mistakes, reasons and counterexample."""

import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.evidence import UNCHANGED, Evidence, Leaf, collect, flatten
from gradlab.exercises.exercise import Exercise, Misconception, Tolerance
from gradlab.exercises.notebook import evaluate
from gradlab.exercises.verdict import compare, judge, same
from tests.exercises.samples import DOUBLE, PAIR, double, half_right, square, unchanged

EXACT = Tolerance(rtol=1e-5, atol=1e-7)


def named(function, name="double"):
    function.__name__ = name
    return function


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: x + x,
        lambda x: (x * 2).tolist(),
        lambda x: tf.constant(x) * 2,
        lambda x: tf.Variable(tf.constant(x, tf.float32) * 2),
        lambda x: np.float32(x) * np.float32(2),
        lambda x: [v for v in 2 * x],  # noqa: C416
        lambda x: [tf.constant(v) * 2 for v in x],
        lambda x: tuple((2 * x).tolist()),
    ],
)
def test_lists_numpy_and_tensors_of_both_precisions_are_accepted(answer):
    assert evaluate(DOUBLE, answer, 1).outcome == "correct"


def test_partial_credit_follows_the_weights():
    verdict = evaluate(DOUBLE, half_right, 1)
    assert verdict.outcome == "wrong"
    assert verdict.parts == {"row": True, "column": False, UNCHANGED: True}
    assert (verdict.points, verdict.total) == (2, 3)
    assert verdict.misconceptions == ("triples-columns",)


def test_two_mistakes_at_once_are_both_named():
    def two_mistakes(x):
        return square(x) if np.ndim(x) == 1 else half_right(x)

    verdict = evaluate(DOUBLE, two_mistakes, 1)
    assert set(verdict.misconceptions) == {"squares", "triples-columns"}
    assert "You square x." in verdict.message
    assert "Columns are tripled." in verdict.message


def test_misconceptions_are_not_run_for_a_right_answer():
    def rivals():
        raise AssertionError("read")
        yield

    reference = collect(DOUBLE, double, 3)
    assert judge(DOUBLE, reference, reference, rivals()).outcome == "correct"


def test_an_unknown_mistake_gets_the_likely_cause():
    assert "yours are 5 times" in evaluate(DOUBLE, lambda x: 10.0 * x, 1).message
    assert "opposite sign" in evaluate(DOUBLE, lambda x: -2.0 * x, 1).message


def test_a_column_for_a_flat_array_has_a_message_of_its_own():
    verdict = evaluate(DOUBLE, lambda x: (2 * x)[:, None] if x.ndim == 1 else 2 * x, 1)
    assert "one is a column" in verdict.message


def test_a_square_from_broadcasting_has_a_message_of_its_own():
    verdict = evaluate(DOUBLE, lambda x: x + x[:, None] if x.ndim == 1 else 2 * x, 1)
    assert "every pair" in verdict.message


@pytest.mark.parametrize(
    ("theirs", "word"),
    [
        (None, "None"),
        (np.full(5, np.nan), "not finite"),
        (np.zeros((2, 3)), "shape"),
        (np.zeros(5, bool), "bool"),
        (np.zeros(5, complex), "complex"),
        ("0.5", "'0.5'"),
        (object(), "object"),
        (np.array([object()] * 5), "objects"),
        (double, "function"),
        ({"a": 1, "b": 2}, "of 2"),
        ([None, 1.0], "of 2"),
        ({"n": 1.0}, "of 1"),
    ],
)
def test_every_kind_of_difference_is_told(theirs, word):
    verdict = evaluate(DOUBLE, lambda x: theirs, 1)
    assert verdict.outcome == "wrong"
    assert word in verdict.message


def test_the_counterexample_is_the_call_with_the_smallest_input():
    example = str(evaluate(DOUBLE, lambda x: x + 1.0, 1).example)
    assert "x = [[" in example, "the column has four numbers, the row five"
    assert "Yours" in example
    assert "Expected" in example


def test_data_for_programs_hold_no_expected_value():
    verdict = evaluate(DOUBLE, lambda x: x + 1.0, 1)
    assert set(verdict.as_data()) == {"exercise", "outcome", "parts", "misconceptions", "points", "total", "message"}
    assert "Expected" not in verdict.as_data()["message"]


def test_an_answer_that_changes_its_input_is_wrong_and_told_so():
    def in_place(x):
        x *= 2
        return x

    verdict = evaluate(DOUBLE, in_place, 1)
    assert verdict.outcome == "wrong"
    assert verdict.parts[UNCHANGED] is False
    assert "in place: x" in verdict.message


def test_an_exception_is_an_error_with_the_learners_line():
    def broken(x):
        return x.no_such_thing

    verdict = evaluate(DOUBLE, broken, 1)
    assert verdict.outcome == "error"
    assert "AttributeError" in verdict.message
    assert "return x.no_such_thing" in verdict.message


def test_a_list_of_arrays_is_compared_with_a_stacked_array_both_ways():
    assert evaluate(PAIR, lambda x: np.stack([x, x**2]), 1).outcome == "correct"
    assert evaluate(PAIR, lambda x: [x, x**2], 1).outcome == "correct"
    assert evaluate(PAIR, lambda x: [x, x**2, x], 1).outcome == "wrong"
    assert evaluate(PAIR, lambda x: {"0": x, "1": x**2}, 1).outcome == "correct"


def test_a_list_of_one_array_is_read_as_an_array_with_one_row():
    assert "the shape is (1, 4, 1), expected (4, 1)" in evaluate(DOUBLE, lambda x: [2 * x], 1).message


def test_a_misconception_that_raised_is_never_matched():
    ended = Evidence("raised")
    from gradlab.exercises.verdict import Rival

    learner, reference = collect(DOUBLE, unchanged, 1), collect(DOUBLE, double, 1)
    assert judge(DOUBLE, learner, reference, [Rival("raised", "no", ended)]).misconceptions == ()


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_expected_infinities_and_nans_must_come_at_the_same_places(value):
    expected = Leaf("array", np.array([1.0, value]))
    assert compare("x", Leaf("array", np.array([1.0, value])), expected, EXACT) is None
    assert compare("x", Leaf("array", np.array([1.0, 2.0])), expected, EXACT) is not None
    assert compare("x", Leaf("array", np.array([value, value])), expected, EXACT) is not None


def test_infinities_of_the_other_sign_differ():
    assert compare("x", Leaf("array", np.array([np.inf])), Leaf("array", np.array([-np.inf])), EXACT) is not None


def test_whole_numbers_are_accepted_where_floats_are_expected_and_truths_are_not():
    expected = flatten(3.0)
    assert same(flatten(3), expected, EXACT)
    assert same(flatten(np.int8(3)), expected, EXACT)
    assert not same(flatten(True), flatten(1.0), EXACT)
    assert not same(flatten(1), flatten(True), EXACT)


def test_a_tolerance_is_relative_to_what_is_expected():
    assert same(flatten(1e8 + 500), flatten(1e8), EXACT)
    assert not same(flatten(1e8 + 5000), flatten(1e8), EXACT)
    assert not same(flatten(0.0), flatten(1e-6), EXACT)


def test_every_outcome_is_reproduced_when_judged_again():
    for answer in (double, unchanged, half_right, lambda x: None):
        assert evaluate(DOUBLE, answer, 7) == evaluate(DOUBLE, answer, 7)


def test_names_that_differ_are_told():
    assert "[a], [b]" in evaluate(PAIR, lambda x: {"a": x, "b": x**2}, 1).message


def test_a_none_inside_a_list_is_no_missing_return():
    message = evaluate(PAIR, lambda x: [x, None], 1).message
    assert "both[1]: it is None." in message
    assert "return" not in message


def test_a_counterexample_of_many_arrays_shows_the_one_that_differs():
    many = Exercise(
        answer=lambda x: [x[:9], x[9:]],
        probe=lambda answer, rng: {"rows": answer(rng.normal(size=20))},
        misconceptions=[],
        hints=[],
        explanation="",
    )
    example = str(evaluate(many, lambda x: [x[:9], 2 * x[9:]], 1).example)
    assert "Yours: [1]:" in example
    assert len(example) < 400


def test_colours_in_an_exception_are_left_out():
    def coloured(x):
        raise ValueError("\x1b[1mbold\x1b[0m words")

    assert "bold words" in evaluate(DOUBLE, coloured, 1).message
    assert "\x1b" not in evaluate(DOUBLE, coloured, 1).message


def probe_four(answer, rng):
    x = rng.uniform(1.0, 2.0, size=4)
    return {name: answer(float(value)) for name, value in zip("abcd", x, strict=True)}


def four(mistakes):
    return Exercise(double, probe_four, mistakes, [], "")


def test_a_mistake_that_looks_alike_in_one_part_only_is_not_named():
    calls = []

    def alike_once(x):
        calls.append(x)
        return square(x) if len(calls) == 1 else -1.0

    verdict = evaluate(four([Misconception("squares", square, "You square x.")]), alike_once, 1)
    assert verdict.misconceptions == ()


def test_what_a_known_mistake_leaves_open_is_told_besides():
    calls = []

    def mostly_squares(x):
        calls.append(x)
        return square(x) if len(calls) < 4 else None

    verdict = evaluate(four([Misconception("squares", square, "You square x.")]), mostly_squares, 1)
    assert verdict.misconceptions == ("squares",)
    assert "You square x. d: it is None." in verdict.message


def test_nans_alone_name_no_mistake():
    exercise = four([Misconception("overflows", lambda x: np.nan, "exp is infinite.")])
    calls = []

    def partly_nan(x):
        calls.append(x)
        return np.nan if len(calls) > 1 else 7.0

    assert evaluate(exercise, partly_nan, 1).misconceptions == ()
    assert evaluate(exercise, lambda x: np.nan, 1).misconceptions == ("overflows",)


def probe_pairs(answer, rng):
    return {name: list(answer(float(value))) for name, value in zip("ab", rng.normal(size=2), strict=True)}


@pytest.mark.parametrize("constants", [(4.4, 4.4), [np.float32(1.0), 2.0], (np.array(3.0), tf.constant(4.0))])
def test_two_parts_of_plain_numbers_where_a_list_is_expected_are_compared(constants):
    exercise = Exercise(lambda x: (np.float64(x), np.float64(x**2)), probe_pairs, [], [], "")
    verdict = evaluate(exercise, lambda x: constants, 1)
    assert verdict.outcome == "wrong"
    assert "differ" in verdict.message


def test_a_list_inside_a_list_is_read_as_the_array_that_is_expected_there():
    exercise = Exercise(
        lambda x: [np.stack([x, 2 * x]), x], lambda answer, rng: {"p": answer(rng.normal(size=3))}, [], [], ""
    )
    assert evaluate(exercise, lambda x: [[x, 2 * x], x], 1).outcome == "correct"
    assert evaluate(exercise, lambda x: ([tf.constant(x), 2 * x], [v for v in x]), 1).outcome == "correct"  # noqa: C416
    assert evaluate(exercise, lambda x: [[x, 3 * x], x], 1).outcome == "wrong"
    assert evaluate(exercise, lambda x: [[x, 2 * x], x, []], 1).outcome == "wrong"
    assert evaluate(exercise, lambda x: [[x, [2 * x]], x], 1).outcome == "wrong"
