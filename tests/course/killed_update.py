"""Runs one update again and again, each time killed before another of its writes; prints what was left, as JSON.

    python -m tests.course.killed_update COURSE WORKBOOK SCRATCH

A fresh copy of WORKBOOK is brought up to COURSE in a child process of its own each time. Imports nothing that
starts threads, so that it can fork.
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

from gradlab.course import workbook
from gradlab.course.carry import carry_over  # noqa: F401  (imported before the fork, so that a child only writes)
from gradlab.course.files import read_notebook

WRITES = ("os.rename", "os.remove", "os.mkdir", "os.chmod", "os.link", "os.truncate")


def killed_before(number: int) -> None:
    """From here on, kill this process before its write with that number."""
    count = 0
    fsync = os.fsync

    def tick() -> None:
        nonlocal count
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1

    def hook(event: str, arguments: tuple) -> None:
        if event in WRITES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
            tick()

    def synced(handle: int) -> None:
        tick()
        fsync(handle)
        tick()

    os.fsync = synced
    sys.addaudithook(hook)


def update_in_child(book: workbook.Workbook, course: Path, number: int | None) -> int:
    """The status of a child that updates; negative if it was killed."""
    child = os.fork()
    if child == 0:
        if number is not None:
            killed_before(number)
        try:
            _, problems = workbook.update(book, workbook.lessons(course))
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(2)
        os._exit(1 if problems else 0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def state(book: workbook.Workbook, lesson: workbook.Lesson) -> dict:
    read_notebook(book.notebook(lesson))
    return {
        "notebook": book.notebook(lesson).read_text(),
        "backups": [path.read_text() for path in sorted(book.backups.glob("*.ipynb"))],
        "handed_out": book.handed_out(lesson).read_text(),
        "hidden": sorted(path.name for path in book.root.rglob(".*.tmp")),
    }


def main(course: Path, given: Path, scratch: Path) -> None:
    lesson = workbook.lessons(course)[0]
    number, status, found = 0, -signal.SIGKILL, []
    while status == -signal.SIGKILL:
        book = workbook.Workbook(scratch / str(number))
        shutil.copytree(given, book.root)
        status = update_in_child(book, course, number)
        left = state(book, lesson)
        again = update_in_child(book, course, None)
        found.append({"killed": status == -signal.SIGKILL, "left": left, "again": again, "then": state(book, lesson)})
        number += 1
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
