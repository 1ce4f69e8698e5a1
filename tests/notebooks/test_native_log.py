"""TensorFlow's own log lines, with their times and process numbers, don't reach the outputs that nbval compares."""

from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from gradlab.course.execute import tidy
from gradlab.course.files import write_notebook
from gradlab.course.kernel import config_path, is_quiet
from tests.notebooks.nbval import nbval

pytestmark = pytest.mark.notebooks

# TensorFlow logs when it is imported; nothing that Python prints may be lost
CELLS = ["import sys\nimport tensorflow as tf\nprint('imported')", "print('a warning of ours', file=sys.stderr)"]
TENSORFLOW_LINE = "I0000 00:00:"


def executed(folder: Path, monkeypatch) -> Path:
    """A notebook of the cells, executed with the kernels of this environment as they are.

    They start as under JupyterLab: where pytest's variable is set, ipykernel never catches native output.
    """
    for name in ("PYTEST_CURRENT_TEST", "TF_CPP_MIN_LOG_LEVEL", "TF_ENABLE_ONEDNN_OPTS"):
        monkeypatch.delenv(name, raising=False)
    cells = [new_code_cell(source, id=f"cell{number}") for number, source in enumerate(CELLS)]
    notebook = NotebookClient(new_notebook(cells=cells), kernel_name="python3", coalesce_streams=True).execute()
    write_notebook(folder / "native.ipynb", tidy(notebook))
    return folder / "native.ipynb"


def test_this_environment_keeps_native_output_out_of_cells():
    assert is_quiet(), f"{config_path()} lacks its line; mend: python -m gradlab.course.kernel"


def test_a_notebook_that_logs_is_green_twice(tmp_path, monkeypatch):
    notebook = executed(tmp_path, monkeypatch)
    assert TENSORFLOW_LINE not in notebook.read_text()
    assert "a warning of ours" in notebook.read_text()
    for _ in range(2):
        run = nbval(notebook, tmp_path)
        assert (run.status, run.passed, run.others) == (0, len(CELLS), 0), run.text


def test_without_the_line_in_the_configuration_the_same_notebook_is_red(tmp_path, monkeypatch):
    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.capture_fd_output = True\n")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = executed(tmp_path, monkeypatch)
    assert TENSORFLOW_LINE in notebook.read_text(), "TensorFlow logs nothing any more: this file tests nothing"
    run = nbval(notebook, tmp_path)
    assert run.status == 1
    assert (run.passed, run.others) == (len(CELLS) - 1, 1), run.text
