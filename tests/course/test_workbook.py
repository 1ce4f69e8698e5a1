"""The learner's workbook: nothing of theirs is ever overwritten, lost or half-written."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest

from gradlab.course import workbook
from gradlab.course.errors import CourseError
from gradlab.course.workbook import Lesson, UnknownLesson, Workbook
from tests.course.small_notebooks import answered, code, lesson, make_course, save, sources

TOP = Path(__file__).parents[2]
ANSWER = answered("slope", "return 2 * x").source


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return make_course(tmp_path / "course")


@pytest.fixture
def book(course: Path) -> Workbook:
    made = Workbook(course / "workbook")
    workbook.prepare(made, workbook.lessons(course))
    return made


def start(course: Path) -> Lesson:
    return workbook.lessons(course)[0]


def answer(book: Workbook, course: Path, source: str = ANSWER, own: str = "mine = 1") -> bytes:
    """Do the first lesson's exercise and add a cell; what is in the file then."""
    path = book.notebook(start(course))
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = source
    notebook.cells.append(code(own))
    return save(path, notebook).read_bytes()


def new_version(course: Path, prose: str = "It goes up.") -> None:
    save(start(course).path, lesson(prose))


def update(book: Workbook, course: Path) -> tuple[str, str]:
    """What update says: of changes, and of problems."""
    changes, problems = workbook.update(book, workbook.lessons(course))
    told = [str(line) for change in changes for line in (change.sentence, *change.notes)]
    return "\n".join(told), "\n".join(map(str, problems))


def backups(book: Workbook) -> list[bytes]:
    return [path.read_bytes() for path in sorted(book.backups.iterdir())]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# handing out


def test_every_lesson_is_handed_out_byte_for_byte_and_kept_as_handed_out(book, course):
    for one in workbook.lessons(course):
        assert book.notebook(one).read_bytes() == one.path.read_bytes() == book.handed_out(one).read_bytes()


def test_handing_out_again_touches_nothing_that_is_there(book, course):
    mine = answer(book, course)
    new_version(course)
    before = files(book.root)
    assert workbook.prepare(book, workbook.lessons(course)) == []
    assert files(book.root) | {".gradlab/workbook.lock": b""} == before | {".gradlab/workbook.lock": b""}
    assert book.notebook(start(course)).read_bytes() == mine


def test_a_new_lesson_and_a_deleted_one_are_handed_out(book, course):
    book.notebook(start(course)).unlink()
    save(course / "lessons" / "05_more.ipynb", lesson(name="more"))
    assert [one.name for one in workbook.prepare(book, workbook.lessons(course))] == ["00_start", "05_more"]
    assert book.notebook(start(course)).read_bytes() == start(course).path.read_bytes()


@pytest.mark.parametrize("place", [".", "lessons", "lessons/source/x", "gradlab"])
def test_a_workbook_inside_the_course_itself_is_refused(course, place):
    before = files(course)
    with pytest.raises(CourseError, match="--workbook DIR"):
        workbook.prepare(Workbook(course / place), workbook.lessons(course))
    assert files(course) == before


def test_a_file_where_the_workbook_should_be_is_refused_and_kept(course):
    (course / "workbook").write_text("mine")
    with pytest.raises(CourseError, match="is a file"):
        workbook.prepare(Workbook(course / "workbook"), workbook.lessons(course))
    assert (course / "workbook").read_text() == "mine"


def test_a_gradlab_without_lessons_says_how_to_get_them(tmp_path):
    with pytest.raises(CourseError, match="git clone"):
        workbook.lessons(tmp_path)


def test_names_with_spaces_and_signs_work_and_are_quoted(tmp_path):
    course = make_course(tmp_path / "a course; $(rm) 'x'")
    book = Workbook(course / "my wörkbook")
    workbook.prepare(book, workbook.lessons(course))
    answer(book, course)
    new_version(course)
    told, problems = update(book, course)
    assert not problems
    assert len(backups(book)) == 1
    quoted = re.search(r"Backup: (.*)\n", told)[1]
    assert subprocess.run(["sh", "-c", f"cat {quoted}"], capture_output=True).stdout == backups(book)[0]


# which workbook


def test_the_workbook_one_stands_in_is_meant(book, course, monkeypatch):
    inside = book.root / "notes" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert workbook.choose(None, course).root == book.root.resolve()


def test_without_another_it_is_the_one_in_the_course(course, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert workbook.choose(None, course).root == course / "workbook"
    assert workbook.choose(Path("x"), course).root == tmp_path / "x"


def test_a_command_that_needs_a_workbook_says_how_to_get_one(course, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CourseError, match="gradlab lab makes one"):
        workbook.existing(None, course)


def test_the_lesson_worked_on_last_is_the_latest(book, course):
    one, two = workbook.lessons(course)
    assert workbook.latest(book, (one, two)) == one
    for place, each in enumerate((two, one)):
        save(book.notebook(each), lesson("mine"))
        os.utime(book.notebook(each), (1000 + place, 1000 + place))
    assert workbook.latest(book, (one, two)) == one
    os.utime(book.notebook(two), (2000, 2000))
    assert workbook.latest(book, (one, two)) == two


# update


def test_update_carries_the_learners_work_and_keeps_a_backup(book, course):
    mine = answer(book, course)
    new_version(course)
    told, problems = update(book, course)
    assert not problems
    assert "your answers: slope" in told
    assert "cells of your own kept: 1" in told
    result = sources(nbformat.read(book.notebook(start(course)), as_version=4))
    assert result == ["# A lesson on slope", ANSWER, "slope = check(slope)", "It goes up.", "mine = 1"]
    assert backups(book) == [mine]
    assert book.handed_out(start(course)).read_bytes() == start(course).path.read_bytes()


def test_update_twice_changes_nothing_more(book, course):
    answer(book, course)
    new_version(course)
    update(book, course)
    before = files(book.root)
    assert update(book, course) == ("", "")
    assert files(book.root) == before


def test_a_notebook_the_learner_left_alone_is_replaced_without_a_backup(book, course):
    new_version(course)
    told, _ = update(book, course)
    assert "you had changed nothing" in told
    assert book.notebook(start(course)).read_bytes() == start(course).path.read_bytes()
    assert backups(book) == []


def test_a_deleted_notebook_comes_back_with_update(book, course):
    book.notebook(start(course)).unlink()
    assert "00_start: new in your workbook" in update(book, course)[0]


def test_backups_of_one_second_don_t_replace_each_other(book, course, monkeypatch):
    class Clock(workbook.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2026, 1, 2, 3, 4, 5)

    monkeypatch.setattr(workbook, "datetime", Clock)
    written = []
    for turn in range(4):
        written.append(answer(book, course, own=f"turn = {turn}"))
        new_version(course, f"Version {turn}.")
        update(book, course)
    assert sorted(backups(book)) == sorted(written)


def test_a_lesson_that_the_course_gave_up_stays_with_the_learner(book, course):
    mine = answer(book, course)
    start(course).path.unlink()
    new_version(course)
    told, _ = update(book, course)
    assert "00_start is not part of the course any more" in told
    assert book.root.joinpath("00_start.ipynb").read_bytes() == mine


def test_without_the_handed_out_copy_the_work_is_carried_all_the_same(book, course):
    answer(book, course)
    book.handed_out(start(course)).write_text("{")
    new_version(course)
    told, _ = update(book, course)
    assert "missing" in told
    assert ANSWER in sources(nbformat.read(book.notebook(start(course)), as_version=4))


def test_a_save_by_jupyterlab_in_the_middle_of_an_update_is_carried_too(book, course, monkeypatch):
    answer(book, course)
    new_version(course)
    back_up, saves = workbook._back_up, []

    def saved_meanwhile(*arguments):
        done = back_up(*arguments)
        if not saves:
            saves.append(answer(book, course, own="saved = 'just now'"))
        return done

    monkeypatch.setattr(workbook, "_back_up", saved_meanwhile)
    update(book, course)
    assert "saved = 'just now'" in sources(nbformat.read(book.notebook(start(course)), as_version=4))
    assert saves[0] in backups(book)


# reset


@pytest.mark.parametrize("given", ["4", "04", "04_slopes", "04_slopes.ipynb", "workbook/04_slopes.ipynb", "004"])
def test_a_lesson_is_found_by_number_or_name(course, given):
    assert workbook.find_lesson(given, workbook.lessons(course)).name == "04_slopes"


@pytest.mark.parametrize("given", ["7", "", "-1", "slopes", "4.0", "٤x"])
def test_an_unknown_lesson_is_refused_with_the_list(course, given):
    with pytest.raises(UnknownLesson, match="00, 04"):
        workbook.find_lesson(given, workbook.lessons(course))


def test_reset_keeps_the_learners_notebook_in_the_backups(book, course):
    mine = answer(book, course)
    new_version(course)
    change = workbook.reset(book, start(course))
    assert backups(book) == [mine]
    assert book.notebook(start(course)).read_bytes() == start(course).path.read_bytes()
    assert "cp " in str(change.notes[0])
    assert update(book, course) == ("", "")


def test_resetting_what_is_fresh_writes_no_backup(book, course):
    assert "already" in str(workbook.reset(book, start(course)).sentence)
    assert backups(book) == []


def test_reset_brings_a_deleted_notebook_back(book, course):
    book.notebook(start(course)).unlink()
    workbook.reset(book, start(course))
    assert book.notebook(start(course)).read_bytes() == start(course).path.read_bytes()


# damage

DAMAGE = {
    "cut off": b'{"cells": [{"cell_type": "code", "sour',
    "empty": b"",
    "not text": b"\xff\xfe\x00\x80",
    "other JSON": b"[1, 2]",
    "no notebook": b'{"a": 1}',
    "a conflict": b'<<<<<<< HEAD\n{"cells": []}\n=======\n',
}


@pytest.mark.parametrize("content", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_notebook_is_told_of_never_touched_and_does_not_stop_the_others(book, course, content):
    path = book.notebook(start(course))
    path.write_bytes(content)
    for one in workbook.lessons(course):
        save(one.path, lesson("It goes up."))
    told, problems = update(book, course)
    assert "04_slopes: new version" in told
    assert "gradlab reset 00" in problems
    assert str(book.backups) in problems or "backups" in problems
    assert path.read_bytes() == content
    assert [str(problem) for problem in workbook.damaged(book, workbook.lessons(course))]
    workbook.reset(book, start(course))
    assert backups(book) == [content]
    assert path.read_bytes() == start(course).path.read_bytes()


def test_a_folder_in_the_way_is_told_of_and_kept(book, course):
    path = book.notebook(start(course))
    path.unlink()
    path.mkdir()
    (path / "mine.txt").write_text("mine")
    new_version(course)
    assert "is a folder" in update(book, course)[1]
    with pytest.raises(CourseError, match="mv "):
        workbook.reset(book, start(course))
    assert (path / "mine.txt").read_text() == "mine"


def test_a_linked_notebook_is_updated_where_it_is_and_stays_a_link(book, course, tmp_path):
    mine = answer(book, course)
    path, real = book.notebook(start(course)), tmp_path / "elsewhere.ipynb"
    path.rename(real)
    path.symlink_to(real)
    new_version(course)
    update(book, course)
    assert path.is_symlink()
    assert ANSWER in sources(nbformat.read(real, as_version=4))
    assert backups(book) == [mine]


def test_a_link_to_nothing_is_told_of_and_kept(book, course, tmp_path):
    path = book.notebook(start(course))
    path.unlink()
    path.symlink_to(tmp_path / "unplugged" / "00_start.ipynb")
    new_version(course)
    assert "is a link to" in update(book, course)[1]
    assert path.is_symlink()
    assert not (tmp_path / "unplugged").exists()


def as_someone_else(course: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run Python lines as a user whom file modes bind, with the workbook's modules imported before."""
    lines = f"""
        import os, resource, sys
        from pathlib import Path
        from gradlab.course import workbook, carry, files
        course = Path({str(course)!r})
        given = files.read_notebook(workbook.lessons(course)[0].path)
        files.notebook_text(carry.carry_over(given, given, given).notebook)  # whatever these import is imported now
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        book = workbook.Workbook(course / "workbook")
        try:
    """
    program = textwrap.dedent(lines) + textwrap.indent(textwrap.dedent(script).strip(), "    ")
    program += "\nexcept workbook.CourseError as error:\n    print(error)\n"
    for folder in (course, *course.parents):
        if folder.owner() == course.owner() and not folder.samefile("/tmp") and "pytest" in str(folder):
            folder.chmod(folder.stat().st_mode | 0o555)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=TOP)


def own(path: Path) -> None:
    """Give a tree to the user of `as_someone_else`."""
    if os.geteuid() == 0:
        for each in (path, *path.rglob("*")):
            os.chown(each, 65534, 65534)


posix = pytest.mark.skipif(os.name != "posix", reason="file modes and signals of POSIX")


@posix
def test_a_read_only_checkout_says_where_to_put_the_workbook_instead(course, tmp_path):
    before = files(course)
    course.chmod(0o555)
    done = as_someone_else(course, "workbook.prepare(book, workbook.lessons(course))")
    assert "can't be written (Permission denied)" in done.stdout, done.stderr
    assert "gradlab lab --workbook" in done.stdout
    course.chmod(0o755)
    assert files(course) == before


@posix
def test_a_read_only_checkout_serves_a_workbook_elsewhere(course, tmp_path):
    elsewhere = tmp_path / "mine"
    elsewhere.mkdir()
    own(elsewhere)
    course.chmod(0o555)
    done = as_someone_else(
        course,
        f"""
        book = workbook.Workbook(Path({str(elsewhere)!r}) / "workbook")
        print(len(workbook.prepare(book, workbook.lessons(course))))
        """,
    )
    course.chmod(0o755)
    assert done.stdout == "2\n", done.stderr


@posix
def test_a_read_only_notebook_is_left_alone_and_told_of(book, course):
    mine = answer(book, course)
    own(book.root)
    book.notebook(start(course)).chmod(0o444)
    new_version(course)
    done = as_someone_else(course, "print(*workbook.update(book, workbook.lessons(course))[1])")
    assert "is read-only" in done.stdout, done.stderr
    assert "chmod u+w" in done.stdout
    assert book.notebook(start(course)).read_bytes() == mine


@posix
def test_a_workbook_that_became_read_only_loses_nothing(book, course):
    answer(book, course)
    new_version(course)
    own(book.root)
    before = files(book.root)
    for folder in (book.root, book.mark, book.mark / "handed-out", book.backups):
        folder.chmod(0o555)
    done = as_someone_else(course, "print(*workbook.update(book, workbook.lessons(course))[1])")
    for folder in (book.root, book.mark, book.mark / "handed-out", book.backups):
        folder.chmod(0o755)
    assert "can't be written" in done.stdout, done.stderr
    assert files(book.root) | {".gradlab/workbook.lock": b""} == before | {".gradlab/workbook.lock": b""}


# interrupted, and without room


@posix
def test_an_update_killed_before_any_of_its_writes_leaves_whole_files_and_is_finished_by_the_next(
    book, course, tmp_path
):
    mine = answer(book, course).decode()
    handed_out = book.handed_out(start(course)).read_text()
    new_version(course)
    command = [sys.executable, "-m", "tests.course.killed_update", str(course), str(book.root), str(tmp_path / "s")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=TOP)
    assert done.returncode == 0, done.stderr
    rounds = json.loads(done.stdout)
    assert len(rounds) > 10
    finished = rounds[-1]["then"]["notebook"]
    assert ANSWER in sources(nbformat.reads(finished, as_version=4))
    for one in rounds:
        left, then = one["left"], one["then"]
        assert left["notebook"] in (mine, finished)
        assert left["notebook"] == mine or mine in left["backups"]
        assert left["handed_out"] in (handed_out, start(course).path.read_text())
        assert all(backup == mine for backup in left["backups"])
        assert one["again"] == 0
        assert then["notebook"] == finished
        assert then["handed_out"] == start(course).path.read_text()
        assert mine in then["backups"]
        assert then["hidden"] == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_at_any_write_loses_nothing(book, course, monkeypatch, code):
    mine = answer(book, course)
    new_version(course)
    clean = shutil.copytree(book.root, course.parent / "clean")
    fsync, failures = os.fsync, 0
    for number in range(20):
        shutil.rmtree(book.root)
        shutil.copytree(clean, book.root)
        count = 0

        def full(handle: int, number: int = number) -> None:
            nonlocal count
            count += 1
            if count > number and not os.path.isdir(f"/dev/fd/{handle}"):
                raise OSError(code, os.strerror(code))
            fsync(handle)

        monkeypatch.setattr(os, "fsync", full)
        _, problems = update(book, course)
        monkeypatch.setattr(os, "fsync", fsync)
        if not problems:
            break
        failures += 1
        assert "The disk is full" in problems
        assert "gradlab update" in problems
        now = book.notebook(start(course)).read_bytes()
        assert now == mine or mine in backups(book)
        nbformat.reads(now.decode(), as_version=4)
        assert not list(book.root.rglob(".*.tmp"))
        assert update(book, course)[1] == ""
        assert ANSWER in sources(nbformat.read(book.notebook(start(course)), as_version=4))
    assert failures >= 3


@posix
def test_a_limit_on_the_size_of_files_cuts_no_notebook_off(book, course):
    mine = answer(book, course, own="text = '''" + "x" * 5000 + "'''")
    new_version(course)
    script = f"""
    resource.setrlimit(resource.RLIMIT_FSIZE, ({len(mine) // 2}, {len(mine) // 2}))
    print(*workbook.update(book, workbook.lessons(course))[1])
    """
    own(book.root)
    done = as_someone_else(course, script)
    assert "The disk is full" in done.stdout, done.stderr
    assert book.notebook(start(course)).read_bytes() == mine
    assert not list(book.root.rglob(".*.tmp"))
    assert backups(book) == []


@pytest.fixture
def small_disk(tmp_path: Path):
    """A command prefix that runs with a file system of 64 kB at the folder, where the system allows that."""
    folder = tmp_path / "small"
    folder.mkdir()
    prefix = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o size=64k none "{folder}" && exec "$@"', "sh"]
    if not shutil.which("unshare") or subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here (unshare -rm)")
    return folder, prefix


def test_a_really_full_disk_keeps_the_old_notebook_whole(course, small_disk):
    folder, prefix = small_disk
    script = f"""
    from pathlib import Path
    import nbformat
    from gradlab.course import workbook
    course, book = Path({str(course)!r}), workbook.Workbook(Path({str(folder)!r}) / "workbook")
    workbook.prepare(book, workbook.lessons(course))
    path = book.notebook(workbook.lessons(course)[0])
    notebook = nbformat.read(path, 4)
    notebook.cells[1].source = {ANSWER!r} + "# " + "x" * 12000
    nbformat.write(notebook, path)
    mine = path.read_bytes()
    lesson = workbook.lessons(course)[0].path
    lesson.write_text(lesson.read_text().replace("goes down", "goes up"))
    filler = Path({str(folder)!r}) / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while True: file.write(b"x" * 512)
        except OSError as error:
            print("full:", error.strerror)
    print(*workbook.update(book, workbook.lessons(course))[1])
    print("same:", path.read_bytes() == mine, [p.name for p in book.root.rglob(".*.tmp")])
    filler.unlink()
    print("then:", workbook.update(book, workbook.lessons(course))[1], "return 2 * x" in path.read_text())
    print("backup:", [p.read_bytes() == mine for p in book.backups.iterdir()])
    """
    program = textwrap.dedent(script)
    done = subprocess.run([*prefix, sys.executable, "-c", program], capture_output=True, text=True, cwd=TOP)
    assert done.returncode == 0, done.stderr
    assert "full: No space left on device" in done.stdout
    assert "The disk is full" in done.stdout
    assert "same: True []" in done.stdout
    assert "then: [] True" in done.stdout
    assert "backup: [True]" in done.stdout


# two at once


def test_a_second_update_at_the_same_time_is_refused_and_says_who_holds_the_workbook(book, course, monkeypatch):
    monkeypatch.setattr(workbook, "_PATIENCE", 0.3)
    answer(book, course)
    new_version(course)
    script = f"""
        import sys, time
        from pathlib import Path
        from gradlab.course.locking import locked
        with locked(Path({str(book.mark / "workbook.lock")!r})):
            print("held", flush=True)
            time.sleep(600)
        """
    holder = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, cwd=TOP)
    try:
        assert holder.stdout.readline() == b"held\n"
        before = files(book.root)
        for act in (lambda: update(book, course), lambda: workbook.reset(book, start(course))):
            with pytest.raises(CourseError, match=rf"process {holder.pid}\b"):
                act()
        assert files(book.root) == before
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    assert "your answers: slope" in update(book, course)[0]
