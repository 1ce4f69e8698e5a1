"""The journal survives torn lines, other kernels, damaged files and full disks."""

import json
import os
import subprocess
import sys

import pytest

from gradlab.exercises.progress import JOURNAL, SWITCH, WORKBOOK_MARK, Journal, find_workbook


def correct(name):
    return {"event": "check", "exercise": name, "outcome": "correct"}


def test_events_come_back_in_order(tmp_path):
    book = Journal(tmp_path / JOURNAL)
    for number in range(3):
        book.add(event="hint", exercise="x", number=number)
    assert [e["number"] for e in Journal(tmp_path / JOURNAL).events()] == [0, 1, 2]


@pytest.mark.parametrize(
    "damage",
    [
        b'\n{"event": "che',
        b"\n\xff\xfe\x00rubbish\n",
        b"\n[1, 2]\n",
        b'\n{"event": "check"}',
        b"\n{}",
        b"\nnull\n3",
        b"\n" + b"[" * 9999,
    ],
)
def test_a_damaged_line_costs_only_itself(tmp_path, damage):
    path = tmp_path / JOURNAL
    book = Journal(path)
    book.add(**correct("before"))
    with path.open("ab") as file:
        file.write(damage)
    book.add(**correct("after"))
    summary = Journal(path).summary()
    assert {name for name, s in summary.standings.items() if s.outcome == "correct"} == {"before", "after"}


def test_kernels_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / JOURNAL
    code = (
        "import sys; from pathlib import Path; from gradlab.exercises.progress import Journal\n"
        "for i in range(50): Journal(Path(sys.argv[1])).add(event='hint', exercise=sys.argv[2], number=i)"
    )
    kernels = [subprocess.Popen([sys.executable, "-c", code, str(path), str(k)]) for k in range(4)]
    assert [kernel.wait() for kernel in kernels] == [0] * 4
    events = list(Journal(path).events())
    assert len(events) == 200
    assert {e["exercise"] for e in events} == {"0", "1", "2", "3"}


def test_a_full_disk_is_told_and_the_event_is_kept_in_memory(tmp_path, monkeypatch):
    book = Journal(tmp_path / JOURNAL)
    book.add(**correct("before"))
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    with pytest.raises(OSError, match="No space left"):
        book.add(**correct("during"))
    monkeypatch.setattr(os, "write", real)
    book.add(**correct("after"))
    assert set(book.summary().standings) == {"before", "during", "after"}
    assert set(Journal(tmp_path / JOURNAL).summary().standings) == {"before", "after"}


def test_a_workbook_is_found_from_the_folders_in_it(tmp_path, monkeypatch):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_workbook(inner) is None
    (tmp_path / WORKBOOK_MARK).mkdir()
    assert find_workbook(inner) == tmp_path
    monkeypatch.setenv(SWITCH, "off")
    assert find_workbook(inner) is None


def test_the_file_is_small_plain_text(tmp_path):
    book = Journal(tmp_path / JOURNAL)
    book.add(event="predict", name="Steigung ≈", value=0.5)
    text = (tmp_path / JOURNAL).read_text(encoding="utf-8")
    assert json.loads(text)["name"] == "Steigung ≈"
    assert len(text) < 100
