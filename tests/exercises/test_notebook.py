"""What a lesson calls: check hands on the right function, hints and solutions wait their turn, progress is kept."""

import functools
import json

import pytest

import gradlab
from gradlab.exercises import notebook
from gradlab.exercises import progress as journal_module
from gradlab.exercises.exercise import UnknownExercise, load
from gradlab.exercises.notebook import check, hint, predict, progress, solution
from gradlab.exercises.progress import JOURNAL, journal
from gradlab.exercises.standin import stands_in_for

STUB = "slope_between"


def make(body):
    """A learner's ``slope_between`` with the given body."""
    space = {}
    exec(f"def slope_between(f, a, b):\n    {body}\n", space)
    return space["slope_between"]


RIGHT = "return (f(b) - f(a)) / (b - a)"
WRONG = "return f(b) - f(a)"
BLANK = 'raise NotImplementedError("slope_between")'


def first_word(capsys):
    return capsys.readouterr().out.split()[0]


def test_a_right_answer_is_handed_back_as_it_is(capsys):
    mine = make(RIGHT)
    assert check(mine) is mine
    assert first_word(capsys) == "correct"


@pytest.mark.parametrize(("body", "outcome"), [(WRONG, "wrong"), (BLANK, "not"), ("return x", "error")])
def test_anything_else_gives_a_stand_in_that_works_and_says_what_it_is(capsys, body, outcome):
    go_on_with = check(make(body))
    assert first_word(capsys) == outcome
    assert stands_in_for(go_on_with) == STUB
    assert "standing in for yours" in repr(go_on_with)
    assert go_on_with(lambda x: x * x, 1.0, 3.0) == 4.0


@pytest.mark.parametrize("body", [WRONG, BLANK, "return x"])
def test_pressed_twice_the_verdict_stays_and_nothing_is_counted(capsys, body):
    stand_in = check(make(body))
    first = capsys.readouterr().out.split("  ")[0]
    attempts = journal().summary().of(STUB)
    assert check(stand_in) is stand_in
    again = capsys.readouterr().out
    assert again.split("  ")[0] == first
    assert "course's function" in again
    assert journal().summary().of(STUB) == attempts


def test_a_right_answer_pressed_twice_stays_right(capsys):
    mine = make(RIGHT)
    assert check(check(mine)) is mine
    assert capsys.readouterr().out.count("correct  slope_between") == 2


def test_a_stand_in_inside_an_answer_is_not_the_learners(capsys):
    stand_in = check(make(BLANK))

    def slope_between(f, a, b):
        return stand_in(f, a, b)

    def slope_hidden(f, a, b):
        try:
            return stand_in(f, a, b)
        except Exception:
            return 0.0

    slope_hidden.__name__ = STUB
    for answer, told in ((slope_between, "course's own"), (slope_hidden, "values differ")):
        capsys.readouterr()
        assert stands_in_for(check(answer)) == STUB
        out = capsys.readouterr().out
        assert out.startswith("wrong")
        assert told in out


def test_a_partial_of_a_stand_in_is_a_stand_in():
    assert stands_in_for(functools.partial(check(make(BLANK)))) == STUB


def test_the_counterexample_comes_with_the_second_failure(capsys):
    check(make(WRONG))
    assert "smallest example" not in capsys.readouterr().out
    check(make(WRONG))
    assert "smallest example" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("thing", [3, None, "slope_between", [], 2.5])
def test_what_is_no_function_is_refused_clearly(thing):
    with pytest.raises(TypeError, match="needs the function itself"):
        check(thing)


def test_a_class_for_a_function_is_refused_clearly():
    with pytest.raises(TypeError, match="is a function in this exercise"):
        check(type(STUB, (), {}))


def test_an_unknown_name_is_refused_with_names_like_it():
    def slope_betwen(f, a, b):
        return 0

    with pytest.raises(UnknownExercise, match="Names like it: slope_between"):
        check(slope_betwen)
    with pytest.raises(UnknownExercise, match="keep the name"):
        check(lambda f, a, b: 0)


def test_an_interrupted_answer_counts_as_nothing():
    with pytest.raises(KeyboardInterrupt):
        check(make("raise KeyboardInterrupt"))
    assert journal().summary().standings == {}


def test_hints_come_one_by_one_and_the_last_again(capsys):
    for number in (1, 2, 3):
        hint(make(BLANK))
        assert f"Hint {number} of 3" in capsys.readouterr().out
    hint(STUB)
    assert "last hint" in capsys.readouterr().out
    assert journal().summary().of(STUB).hints == 3


def test_hints_are_for_stand_ins_too(capsys):
    hint(check(make(BLANK)))
    assert "Hint 1 of 3" in capsys.readouterr().out


def test_a_solution_waits_for_an_attempt(capsys):
    solution(make(BLANK))
    assert "return (f(b)" not in capsys.readouterr().out
    check(make(BLANK))
    solution(STUB)
    assert "return (f(b)" not in capsys.readouterr().out
    check(make(WRONG))
    capsys.readouterr()
    solution(STUB)
    assert RIGHT in capsys.readouterr().out


def test_a_solution_comes_at_once_when_given_up(capsys):
    solution(STUB, give_up=True)
    assert RIGHT in capsys.readouterr().out


def test_progress_survives_a_new_kernel(workbook, capsys, monkeypatch):
    check(make(WRONG))
    check(make(RIGHT))
    hint(STUB)
    monkeypatch.setattr(journal_module, "_open", {})
    capsys.readouterr()
    progress("00")
    row = next(line for line in capsys.readouterr().out.splitlines() if STUB in line)
    assert "correct" in row
    assert row.split()[-2:] == ["2", "1"]


def test_once_correct_an_exercise_stays_correct(workbook, capsys):
    check(make(RIGHT))
    check(make(WRONG))
    assert journal().summary().of(STUB).outcome == "correct"
    assert journal().summary().of(STUB).last == "wrong"


def test_without_a_workbook_progress_says_so(capsys):
    progress()
    assert "this folder is no workbook" in " ".join(capsys.readouterr().out.split())


def test_a_verdict_comes_through_when_the_journal_can_not_be_written(workbook, capsys):
    (workbook / JOURNAL).mkdir()
    mine = make(RIGHT)
    assert check(mine) is mine
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("correct")
    assert "could not be written" in out
    assert journal().summary().of(STUB).outcome == "correct", "kept in memory"


def test_a_blank_prediction_says_and_keeps_nothing(workbook, capsys):
    for blank in (predict("a"), predict("a", None), predict("a", ...)):
        blank.reveal(3.0)
        blank.mark(None, 3.0)
    assert capsys.readouterr().out == ""
    assert not (workbook / JOURNAL).exists()


def test_a_prediction_is_kept_with_the_truth(workbook, capsys):
    predict("slope", 3).reveal(4.0)
    assert journal().summary().guesses["slope"].truth == 4.0
    progress("00")
    assert "1 made" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["three", float("nan"), float("inf"), [1, 2], "1"])
def test_a_prediction_that_is_no_number_is_refused(value):
    with pytest.raises(TypeError, match="takes a number"):
        predict("slope", value)


def test_the_journal_holds_no_sentences(workbook):
    check(make(WRONG))
    hint(STUB)
    events = [json.loads(line) for line in (workbook / JOURNAL).read_text().split("\n") if line]
    assert [e["event"] for e in events] == ["check", "hint"]
    assert events[0]["misconceptions"] == ["no-division"]
    assert "message" not in events[0]


def test_another_language_needs_only_a_catalogue(monkeypatch, capsys):
    from gradlab.exercises import texts

    german = {"wrong": "falsch", "slope_between.misconceptions.no-division": "Teilen fehlt."}
    monkeypatch.setattr(texts, "_catalogue", lambda language: german if language == "de" else {})
    monkeypatch.setenv("GRADLAB_LANGUAGE", "de")
    check(make(WRONG))
    out = capsys.readouterr().out
    assert out.startswith("falsch")
    assert "Teilen fehlt." in out
    assert journal().summary().of(STUB).outcome == "wrong"


def test_the_public_names_are_these():
    for name in ("predict", "check", "hint", "solution", "progress"):
        assert getattr(gradlab, name) is getattr(notebook, name)


def test_loading_one_exercise_imports_no_other():
    import subprocess
    import sys

    code = (
        "import sys; from gradlab.exercises.exercise import load; load('slope_between');"
        "print([m for m in sys.modules if m.startswith('gradlab.exercises.lesson_') and m.count('.') == 3],"
        "'tensorflow' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "['gradlab.exercises.lesson_00.slope_between'] False"


def test_file_and_answer_share_one_name():
    assert load(STUB).name == STUB


def test_an_error_for_learners_comes_without_a_traceback():
    for thing in (3, lambda f, a, b: 0):
        with pytest.raises((TypeError, UnknownExercise)) as caught:
            check(thing)
        assert caught.value._render_traceback_() == [f"{type(caught.value).__name__}: {caught.value}"]


def test_an_unexplained_difference_comes_with_its_example_at_once(capsys):
    check(make("return (f(b) - f(a)) / (b - a) + f(a)"))
    assert "smallest example" in " ".join(capsys.readouterr().out.split())


def test_calibration_is_the_factor_of_the_better_half(capsys):
    for number, (value, truth) in enumerate([(3, 4.0), (1, -1.0), (2, 2.0)]):
        predict(f"p{number}", value).reveal(truth)
    capsys.readouterr()
    progress("00")
    assert "a factor of at most 1.3" in " ".join(capsys.readouterr().out.split())
