"""A learner in a real browser: blank, right and wrong answers, a restart, and a check of the course's own function."""

import ast
from pathlib import Path

import pytest

from gradlab.exercises.exercise import index, load
from gradlab.exercises.source import answer_source
from tests.browser.jupyterlab import Notebook, browser, gradlab_lab, page_of

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

LESSON = "02_gradient_tape.ipynb"
RIGHT, WRONG, MISTAKE = "second_derivative", "line_gradients", "sum-for-mean"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    if browser() is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium, or .ci/run does it")
    with gradlab_lab(tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture(scope="module")
def page(lab):
    with page_of(browser()) as opened:
        yield opened


def places(notebook: Notebook) -> dict[str, int]:
    """Where each exercise of a notebook stands; its check is the next code cell."""
    return {cell["id"]: place for place, cell in enumerate(notebook.sources()) if "exercise" in cell_tags(cell)}


def cell_tags(cell: dict) -> list[str]:
    return cell["metadata"].get("tags", [])


def check_of(notebook: Notebook, name: str) -> int:
    cells = notebook.sources()
    return next(
        place
        for place, cell in enumerate(cells)
        if cell["cell_type"] == "code" and "".join(cell["source"]).startswith(f"{name} = check(")
    )


def mistake_source(exercise: str, word: str) -> tuple[str, str]:
    """A misconception as a learner would write it, under the exercise's name and with its helpers; and its message."""
    mistake = next(one for one in load(exercise).misconceptions if one.name == word)
    tree = ast.parse(Path(index()[exercise].path).read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    wanted = [mistake.answer.__name__]
    for name in wanted:
        used = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)}
        wanted += [other for other in functions if other in used and other not in wanted]
    functions[wanted[0]].name = exercise
    return "\n\n\n".join(ast.unparse(functions[name]) for name in reversed(wanted)), mistake.message


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_first_thing_a_learner_sees_is_lesson_00(lab, page, tmp_path):
    page.goto(lab.address)
    page.locator(".jp-NotebookPanel h1").first.wait_for()
    page.screenshot(path=tmp_path / "first.png")
    assert "00_start.ipynb" in page.locator(".lm-DockPanel-tabBar").first.inner_text()
    assert page.locator(".jp-NotebookPanel h1").first.inner_text().startswith("00")
    assert page.locator(".jp-Dialog").count() == 0


def test_a_learner_works_through_a_lesson(lab, page, tmp_path):
    notebook = Notebook(page, lab, LESSON)
    where = places(notebook)
    checks = {name: check_of(notebook, name) for name in where}

    notebook.run_all()
    for name, place in checks.items():
        assert flat(notebook.output(place)).startswith(f"not attempted {name}")
    assert notebook.errors().count() == 0
    notebook.look(checks[WRONG], tmp_path / "blank.png")

    notebook.paste(where[RIGHT], answer_source(index()[RIGHT].path, RIGHT))
    notebook.run(where[RIGHT])
    assert flat(notebook.run(checks[RIGHT])).startswith(f"correct {RIGHT}")
    notebook.look(checks[RIGHT], tmp_path / "right.png")

    code, message = mistake_source(WRONG, MISTAKE)
    notebook.paste(where[WRONG], code)
    notebook.run(where[WRONG])
    verdict = flat(notebook.run(checks[WRONG]))
    assert verdict.startswith(f"wrong {WRONG}")
    assert flat(message) in verdict
    notebook.look(checks[WRONG], tmp_path / "wrong.png")
    notebook.save()

    notebook.restart_and_run_all()
    assert flat(notebook.output(checks[RIGHT])).startswith(f"correct {RIGHT}")
    assert flat(notebook.output(checks[WRONG])).startswith(f"wrong {WRONG}")
    again = flat(notebook.run(checks[WRONG]))
    assert again.startswith(f"wrong {WRONG}")
    assert "the course's function" in again
    notebook.look(checks[WRONG], tmp_path / "stand-in.png")

    notebook.restart()
    notebook.paste(where[WRONG], "from gradlab import progress\n\nprogress('02')")
    table = flat(notebook.run(where[WRONG]))
    notebook.look(where[WRONG], tmp_path / "progress.png")
    assert f"{RIGHT} core ✓ correct" in table or f"{RIGHT} stretch ✓ correct" in table
    assert "✗ wrong" in table
    assert f"1 of {len(where)} exercises correct" in table
