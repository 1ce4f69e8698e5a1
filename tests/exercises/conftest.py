"""A journal and a working folder of its own for every test."""

import pytest

from gradlab.exercises import notebook
from gradlab.exercises import progress as journal_module


@pytest.fixture(autouse=True)
def fresh_journal(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(journal_module, "_open", {})
    monkeypatch.setattr(notebook, "_last", {})


@pytest.fixture
def workbook(tmp_path):
    (tmp_path / journal_module.WORKBOOK_MARK).mkdir()
    return tmp_path
