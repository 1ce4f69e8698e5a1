"""``gradlab check``: every exercise is reported, whatever became of its cells; nothing of the learner's is written."""

import json
from pathlib import Path

import pytest

from gradlab.course import run, workbook
from gradlab.course.files import DamagedNotebook
from gradlab.course.report import ExerciseReport, Report, to_text
from gradlab.course.run import NoNotebook, check_notebook
from gradlab.course.workbook import Workbook
from tests.course.small_notebooks import check, code, exercise, notebook, save, text

pytestmark = pytest.mark.notebooks

RIGHT = "def slope_between(f, a, b):\n    return (f(b) - f(a)) / (b - a)"
WRONG = "def slope_between(f, a, b):\n    return (f(b) - f(a)) / (a - b)"
SUMS = "def chain(outer_slope, inner_slope):\n    return outer_slope * inner_slope"
IMPORT = code("from gradlab import check, predict")
SLOPE, CHAIN = exercise("slope_between", "f, a, b"), exercise("chain", "outer_slope, inner_slope")
LESSON = notebook(text("# 00 · Start"), IMPORT, SLOPE, check("slope_between"), CHAIN, check("chain"))
ENDLESS = "def slope_between(f, a, b):\n    while True:\n        pass"
STUBBORN = (
    "def slope_between(f, a, b):\n    while True:\n        try:\n            while True: pass\n"
    "        except BaseException: pass"
)


@pytest.fixture
def book(tmp_path: Path) -> Workbook:
    save(tmp_path / "lessons" / "00_start.ipynb", LESSON)
    made = Workbook(tmp_path / "workbook")
    workbook.prepare(made, workbook.lessons(tmp_path))
    return made


def checked(book: Workbook, *cells, name: str = "00_start", limit: float = 60.0) -> Report:
    """The report on a notebook of these cells, after holding the run to leave no trace."""
    path = save(book.root / f"{name}.ipynb", notebook(*cells))
    before = {each: each.read_bytes() for each in book.root.rglob("*") if each.is_file()}
    report = check_notebook(path, time_limit=limit, course=book.root.parent)
    assert {each: each.read_bytes() for each in book.root.rglob("*") if each.is_file()} == before
    assert json.loads(json.dumps(report.as_data()))["ok"] == report.ok
    assert all(len(line) <= 80 for line in to_text(report).splitlines() if "/" not in line)
    return report


def of(report: Report, name: str = "slope_between") -> ExerciseReport:
    return next(exercise for exercise in report.exercises if exercise.name == name)


def test_a_right_a_wrong_and_a_blank_answer_are_told_apart(book):
    report = checked(book, IMPORT, code(WRONG), check("slope_between"), CHAIN, check("chain"))
    assert [(each.name, each.outcome) for each in report.exercises] == [
        ("slope_between", "wrong"),
        ("chain", "not attempted"),
    ]
    assert of(report).misconceptions
    assert not report.ok
    assert "0 of 2 exercises correct" in to_text(report)
    report = checked(book, IMPORT, code(RIGHT), check("slope_between"), code(SUMS), check("chain"))
    assert report.ok
    assert of(report).parts


def test_a_missing_answer_says_that_its_cell_is_gone_and_where_to_find_it(book):
    report = checked(book, IMPORT, check("slope_between"), code("slope_between(lambda x: x, 0.0, 1.0)"))
    found = of(report)
    assert found.outcome == "not attempted"
    assert "No cell defines it" in found.message
    assert "gradlab reset 00" in found.message
    assert "handed-out" in found.message
    assert of(report, "chain").outcome == "not attempted"
    assert report.cells == (), "the course's function stands in, so the cells below run"


def test_a_renamed_function_is_told_its_name(book):
    renamed = code(RIGHT.replace("slope_between", "slope"), id="slope_between")
    found = of(checked(book, IMPORT, renamed, check("slope_between")))
    assert found.outcome == "not attempted"
    assert "Cell [2] defines slope in its place. Call the function slope_between again." in found.message


def test_a_missing_check_cell_is_made_up_for(book):
    found = of(checked(book, IMPORT, code(RIGHT), code("1")))
    assert found.outcome == "correct"
    assert "Put slope_between = check(slope_between) below cell [2]" in found.remarks[0]


def test_a_check_above_its_function_is_made_up_for(book):
    found = of(checked(book, IMPORT, check("slope_between"), code(RIGHT)))
    assert found.outcome == "correct"
    assert "cell [2], stands above cell [3]" in found.remarks[0]


def test_two_definitions_are_told_and_the_one_that_was_checked_is_named(book):
    found = of(checked(book, IMPORT, code(WRONG), check("slope_between"), code(RIGHT)))
    assert found.outcome == "wrong"
    assert found.remarks == ("It is defined in cells 2, 4; [2] is the one that was checked.",)
    found = of(checked(book, IMPORT, code(WRONG), code(RIGHT), check("slope_between")))
    assert found.outcome == "correct"
    assert found.remarks == ("It is defined in cells 2, 3; [3] is the one that was checked.",)


def test_an_answer_that_is_not_python_is_an_error_with_its_cell_and_the_rest_runs(book):
    broken = code("def slope_between(f, a, b:\n    return 1")
    report = checked(book, IMPORT, broken, check("slope_between"), code(SUMS), check("chain"))
    assert of(report).outcome == "error"
    assert "Cell [2], which defines it, doesn't run: SyntaxError" in of(report).message
    assert of(report, "chain").outcome == "correct"


def test_a_cell_that_raises_is_named_with_its_line_and_the_rest_runs(book):
    report = checked(book, IMPORT, code("def f():\n    return 1 / 0\n\nf()"), code(SUMS), check("chain"))
    assert [(each.cell, each.line, each.text) for each in report.cells] == [
        (2, 2, "ZeroDivisionError: division by zero")
    ]
    assert of(report, "chain").outcome == "correct"


def test_a_cell_that_is_meant_to_raise_may(book):
    meant = code("1 / 0")
    meant.metadata.tags = ["raises-exception"]
    report = checked(book, IMPORT, meant, code(RIGHT), check("slope_between"), code(SUMS), check("chain"))
    assert report.ok


@pytest.mark.parametrize("source", [ENDLESS, STUBBORN], ids=["can be interrupted", "can't"])
def test_a_function_that_loops_for_ever_costs_only_its_own_exercise(book, source):
    cells = (IMPORT, code("kept = 5"), code(source), check("slope_between"), code(SUMS), check("chain"))
    after = code("assert kept == 5 and slope_between(lambda x: x * x, 0.0, 2.0) == 2.0")
    report = checked(book, *cells, after, limit=4)
    assert of(report).outcome == "error"
    assert "Stopped after 4 s" in of(report).message
    assert of(report, "chain").outcome == "correct"
    assert [each.cell for each in report.cells] == [4]


@pytest.mark.parametrize("end", ["import os; os._exit(1)", "import os, signal; os.kill(os.getpid(), 11)"])
def test_a_function_that_kills_its_kernel_costs_only_its_own_exercise(book, end):
    cells = (IMPORT, code("kept = 5"), code(f"def slope_between(f, a, b):\n    {end}"), check("slope_between"))
    report = checked(book, *cells, code(SUMS), check("chain"), code("assert kept == 5"))
    assert of(report).outcome == "error"
    assert "ended the kernel" in of(report).message
    assert of(report, "chain").outcome == "correct"
    assert [each.cell for each in report.cells] == [4]


def test_every_cell_that_hangs_exits_or_waits_for_a_person_is_named_once(book):
    bad = [code("exit()"), code("while True: print('x' * 100)"), code("input('?')"), code("import sys; sys.exit()")]
    report = checked(book, IMPORT, *bad, code(RIGHT), check("slope_between"), code(SUMS), check("chain"), limit=4)
    assert [each.outcome for each in report.exercises] == ["correct", "correct"]
    assert [each.cell for each in report.cells] == [2, 3, 4, 5]
    assert "ended the kernel" in report.cells[0].text
    assert "stopped after 4 s" in report.cells[1].text
    assert "input()" in report.cells[2].text
    assert "SystemExit" in report.cells[3].text


def test_without_its_import_every_exercise_is_an_error_with_the_reason(book):
    found = of(checked(book, code(RIGHT), check("slope_between")))
    assert found.outcome == "error"
    assert "gave no verdict: NameError: name 'check' is not defined" in found.message


def test_a_notebook_without_a_cell_reports_every_exercise(book):
    report = checked(book)
    assert [each.outcome for each in report.exercises] == ["not attempted", "not attempted"]


def test_a_copy_of_a_lesson_is_known_by_its_name(book):
    report = checked(book, IMPORT, code(RIGHT), check("slope_between"), name="00_start-Copy1")
    assert report.lesson == "00_start"
    assert [each.name for each in report.exercises] == ["slope_between", "chain"]


def test_a_notebook_of_no_lesson_is_held_to_its_own_checks(book):
    report = checked(book, IMPORT, code(RIGHT), check("slope_between"), name="scratch")
    assert report.lesson is None
    assert [(each.name, each.outcome) for each in report.exercises] == [("slope_between", "correct")]


def test_the_notebook_runs_in_its_own_folder(book):
    (book.root / "numbers.txt").write_text("7")
    assert checked(book, code("assert open('numbers.txt').read() == '7'")).cells == ()


def test_a_damaged_notebook_is_refused_with_the_way_back(book):
    path = book.root / "00_start.ipynb"
    path.write_text('{"cells": [')
    with pytest.raises(DamagedNotebook, match=r"(?s)not JSON.*gradlab reset 00"):
        check_notebook(path, course=book.root.parent)
    assert path.read_text() == '{"cells": ['


@pytest.mark.parametrize("name", ["nothing.ipynb", "."])
def test_what_is_no_file_is_refused(book, name):
    with pytest.raises(NoNotebook, match="gradlab check NOTEBOOK"):
        check_notebook(book.root / name, course=book.root.parent)


def test_a_machine_without_a_kernel_says_so(book, monkeypatch):
    monkeypatch.setattr("gradlab.course.session._KERNEL", "no-such-kernel")
    with pytest.raises(run.CourseError, match="gradlab env"):
        check_notebook(book.root / "00_start.ipynb", course=book.root.parent)
