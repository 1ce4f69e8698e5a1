"""What a probe brings back: plain leaves only, and an answer that can't disturb the next inputs."""

import random

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradlab.exercises.evidence import MOST_ELEMENTS, UNCHANGED, collect, flatten, is_blank
from gradlab.exercises.exercise import Exercise
from tests.exercises.samples import DOUBLE


def exercise(answer, probe):
    return Exercise(answer=answer, probe=probe, misconceptions=[], hints=[], explanation="")


def test_leaves_are_named_by_their_place():
    leaves = flatten({"w": np.zeros((2, 3)), "rest": [np.float32(1), (None, "text")]})
    assert {path: leaf.kind for path, leaf in leaves.items()} == {
        "w": "array",
        "rest.0": "array",
        "rest.1.0": "none",
        "rest.1.1": "text",
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (tf.constant([1.0, 2.0]), [1, 2]),
        (tf.Variable([1.0, 2.0]), [1, 2]),
        (keras.Variable([1.0, 2.0]), [1, 2]),
        (tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 0]), tf.constant([2, 1])), [[3], [0]]),
        (tf.constant([1.0, 2.0], tf.bfloat16), [1, 2]),
        (np.ma.masked_array([1.0, 2.0], [True, False]), [1, 2]),
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        (3, 3),
    ],
)
def test_what_holds_numbers_becomes_a_plain_array(value, expected):
    leaf = flatten(value)[""]
    assert type(leaf.array) is np.ndarray
    np.testing.assert_array_equal(leaf.array, expected)


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1, 2},
        (i for i in range(3)),
        keras.Input((3,)),
        keras.layers.Dense(1),
        keras.Sequential([]),
        tf.constant("text"),
        np.array(["a"]),
        np.array([None]),
        np.broadcast_to(0.0, (MOST_ELEMENTS + 1,)),
        tf.ragged.constant([[1], [1, 2]]),
        flatten,
        type,
    ],
)
def test_what_holds_no_numbers_is_refused_by_its_kind(value):
    leaf = flatten(value)[""]
    assert leaf.kind == "refused"
    assert leaf.text


def test_a_subclass_can_not_speak_for_its_content():
    class Liar(list):
        def __iter__(self):
            while True:
                yield 1.0

    np.testing.assert_array_equal(flatten(Liar([5, 6]))[""].array, [5, 6])

    class Number(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

    assert flatten(Number(2.0))[""].array == 2.0
    assert type(flatten(Number(2.0))[""].array) is np.ndarray


def test_a_list_that_holds_itself_ends():
    endless, wide = [], []
    endless.append(endless)
    wide += [wide] * 20
    assert {leaf.kind for leaf in flatten(endless).values()} == {"refused"}
    assert {leaf.kind for leaf in flatten(wide).values()} == {"refused"}


def test_an_exception_is_evidence_by_its_type():
    assert flatten(ValueError("some text"))[""].text == "ValueError"


def test_an_answer_gets_copies_and_later_inputs_are_as_they_were():
    seen = []

    def probe(answer, rng):
        x = rng.normal(size=3)
        first = answer(x)
        seen.append(x.copy())
        return {"first": first, "second": answer(x)}

    def spoil(x):
        x[:] = 0
        return x.sum()

    found = collect(exercise(spoil, probe), spoil, 5)
    assert np.all(seen[0] != 0)
    assert found.parts[UNCHANGED][""].text == "x"


def test_an_answer_gets_a_generator_of_its_own():
    def probe(answer, rng):
        return {"a": answer(rng), "next": rng.normal()}

    def greedy(rng):
        return rng.normal(size=100).mean()

    def idle(rng):
        return 0.0

    one, other = (collect(exercise(f, probe), f, 5).parts["next"][""].array for f in (greedy, idle))
    assert one == other


def test_global_generators_are_put_back():
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    collect(DOUBLE, lambda x: x + random.random() + np.random.rand(), 5)  # noqa: NPY002
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


def test_an_answer_that_draws_gives_the_same_evidence_twice():
    def draws(x):
        return x + random.random() + np.random.rand() + tf.random.normal(()).numpy()  # noqa: NPY002

    one, other = collect(DOUBLE, draws, 5), collect(DOUBLE, draws, 5)
    np.testing.assert_array_equal(one.parts["row"][""].array, other.parts["row"][""].array)


def test_inputs_do_not_depend_on_the_answer():
    one, other = collect(DOUBLE, lambda x: None, 9), collect(DOUBLE, DOUBLE.answer, 9)
    assert [call.inputs for call in one.calls] == [call.inputs for call in other.calls]


def blank(x):
    raise NotImplementedError("double")


def wrapped_in_another(x):
    try:
        return blank(x)
    except NotImplementedError as error:
        raise RuntimeError("something else") from error


def inside_a_layer(x):
    class Layer(keras.layers.Layer):
        def call(self, inputs):
            return blank(inputs)

    return Layer()(tf.constant(x))


@pytest.mark.parametrize(
    "answer",
    [
        blank,
        wrapped_in_another,
        inside_a_layer,
        tf.function(blank),
        lambda x: tf.py_function(blank, [x], tf.float64),
        lambda x: tf.map_fn(blank, tf.constant(x)),
    ],
)
def test_the_stub_is_found_through_wrappers(answer):
    assert collect(DOUBLE, answer, 1).end == "not attempted"


def test_the_stub_is_found_where_the_probe_catches_it():
    def probe(answer, rng):
        try:
            return {"value": answer(1.0)}
        except Exception as error:
            return {"value": error}

    assert collect(exercise(blank, probe), blank, 1).end == "not attempted"


def test_another_not_implemented_error_is_not_the_stub():
    assert not is_blank(NotImplementedError("no gradient for this operation"), "double")
    assert is_blank(NotImplementedError(), "double")


def test_a_probe_that_can_not_go_on_says_what_came_back():
    from gradlab.exercises.notebook import evaluate

    def answer(x):
        return np.asarray(x) * 2.0

    def probe(answer, rng):
        return {"mean": float(np.mean(answer(rng.normal(size=3))))}

    verdict = evaluate(exercise(answer, probe), lambda x: "two", 1)
    assert verdict.outcome == "wrong"
    assert "'two'" in verdict.message
