"""Every solution still says what it said, and every lesson runs with all of its exercises blank."""

from pathlib import Path

import pytest

from gradlab.course.layout import Course
from tests.notebooks.nbval import code_cells, nbval

pytestmark = pytest.mark.notebooks

COURSE = Course.at(Path(__file__).parents[2])
SOLUTIONS = sorted(COURSE.solutions.glob("*.ipynb"))
LESSONS = sorted(COURSE.lessons.glob("*.ipynb"))


def stem(path):
    return path.stem


def test_every_source_has_its_lesson_and_its_solution():
    sources = list(COURSE.source_paths())
    assert sources, "there are no lessons to test"
    assert [path.stem for path in SOLUTIONS] == sources
    assert [path.stem for path in LESSONS] == sources


@pytest.mark.parametrize("notebook", SOLUTIONS, ids=stem)
def test_a_solution_still_says_what_it_said(notebook, tmp_path):
    run = nbval(notebook, tmp_path)
    assert (run.status, run.passed, run.others) == (0, code_cells(notebook), 0), run.text


@pytest.mark.parametrize("notebook", LESSONS, ids=stem)
def test_a_lesson_runs_blank_from_top_to_bottom(notebook, tmp_path):
    run = nbval(notebook, tmp_path, lax=True)
    assert (run.status, run.passed, run.others) == (0, code_cells(notebook), 0), run.text
