import errno
import json
import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from gradlab.course.files import DamagedNotebook, notebook_text, read_notebook, write_atomically, write_notebook


@pytest.fixture
def notebook():
    return new_notebook(
        cells=[new_markdown_cell("# Title é", id="a"), new_code_cell("x = 1\nx", id="b")],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )


def test_what_is_written_is_read_again(tmp_path, notebook):
    path = tmp_path / "n.ipynb"
    write_notebook(path, notebook)
    assert read_notebook(path) == notebook
    assert notebook_text(read_notebook(path)) == path.read_text(encoding="utf-8")


def test_the_text_has_sorted_keys_split_lines_and_a_newline_at_the_end(notebook):
    text = notebook_text(notebook)
    content = json.loads(text)
    assert content["cells"][1]["source"] == ["x = 1\n", "x"]
    assert list(content) == sorted(content)
    assert text.endswith("}\n")
    assert "é" in text
    assert notebook.cells[1].source == "x = 1\nx", "the notebook itself is left alone"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"  \n", "it is empty"),
        (b'{"cells": [', "not JSON at line 1"),
        (b"\xff\xfe{", "not UTF-8"),
        (b"[1, 2]", "not a notebook"),
        (b'{"nbformat": "4"}', "not a notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 3}', ""),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code"}]}', ""),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', ""),
        (b'{"nbformat": 99, "nbformat_minor": 5, "metadata": {}, "cells": []}', ""),
        (b"[" * 100_000, ""),
        (b"<<<<<<< HEAD\n{}", "not JSON at line 1"),
    ],
)
def test_damage_is_named_with_its_path_and_what_to_do(tmp_path, content, reason):
    path = tmp_path / "n.ipynb"
    path.write_bytes(content)
    with pytest.raises(DamagedNotebook) as caught:
        read_notebook(path, mend="gradlab reset 04")
    assert str(path) in str(caught.value)
    assert reason in str(caught.value)
    assert str(caught.value).endswith("gradlab reset 04")


def test_a_notebook_whose_cells_lack_ids_or_share_one_is_read(tmp_path, notebook):
    content = json.loads(notebook_text(notebook))
    del content["cells"][0]["id"]
    content["cells"].append(dict(content["cells"][1]))
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps(content))
    read = read_notebook(path)
    nbformat.validate(read)
    assert [cell.source for cell in read.cells] == ["# Title é", "x = 1\nx", "x = 1\nx"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "n.ipynb"
    path.write_text("old")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["n.ipynb"]


def test_control_c_just_before_the_replacement_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "n.ipynb"
    path.write_text("old")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["n.ipynb"]


def test_the_mode_of_the_old_file_and_a_link_are_kept(tmp_path):
    path, link = tmp_path / "n.ipynb", tmp_path / "link.ipynb"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomically(link, "new\r\n")
    assert link.is_symlink()
    assert path.read_bytes() == b"new\r\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_gets_the_usual_mode(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("")
    write_atomically(tmp_path / "new", "text")
    assert (tmp_path / "new").stat().st_mode == plain.stat().st_mode
