"""The ``gradlab`` command as it is typed: what it prints, its exit status, and how little ``--help`` loads."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from gradlab.cli import app
from tests.course.small_notebooks import answered, code, lesson, make_course, notebook, save, sources

TOP = Path(__file__).parents[1]
START = """
import sys
from pathlib import Path
from gradlab.course import workbook
course = Path(sys.argv.pop(1))
workbook.checkout = lambda: course
from gradlab.cli import main
main()
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return make_course(tmp_path / "course")


def gradlab(course: Path, *arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess:
    """Type a command with another course than this one, in a terminal of 80 columns."""
    command = [sys.executable, "-c", START, str(course), *arguments]
    variables = {**os.environ, "PYTHONPATH": str(TOP), "COLUMNS": "80", **environment}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd or course, env=variables)


@pytest.fixture
def workbook(course: Path) -> Path:
    """The course's workbook, as ``gradlab lab`` leaves it."""
    from gradlab.course import workbook as module

    module.prepare(module.Workbook(course / "workbook"), module.lessons(course))
    return course / "workbook"


def answer(workbook: Path) -> None:
    path = workbook / "00_start.ipynb"
    given = nbformat.read(path, as_version=4)
    given.cells[1] = answered("slope", "return 2 * x")
    save(path, given)


COMMANDS = ["lab", "check", "doctor", "progress", "reset", "update", "build", "env"]


def test_help_names_every_command_and_fits_80_columns(course):
    done = gradlab(course, "--help")
    assert done.returncode == 0
    assert all(f"\n  {command} " in done.stdout for command in COMMANDS)
    assert "..." not in done.stdout.partition("Commands:")[2], "a line of help is cut off"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_fits_80_columns(command):
    done = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "80"})
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_help_loads_nothing_heavy():
    heavy = ["tensorflow", "keras", "numpy", "jupyterlab", "jupyter_client", "nbformat", "nbclient", "jupytext", "rich"]
    script = (
        "import sys\ntry:\n    from gradlab.cli import main\n    sys.argv = ['gradlab', '--help']\n    main()\n"
        f"except SystemExit:\n    print('loaded:', [name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=TOP)
    assert done.stdout.endswith("loaded: []\n"), done.stdout + done.stderr


def test_update_tells_in_a_line_each_what_it_did(course, workbook):
    answer(workbook)
    save(course / "lessons" / "00_start.ipynb", lesson("It goes up."))
    done = gradlab(course, "update")
    assert done.returncode == 0, done.stderr
    assert "00_start: new version, with your work in it. Backup:\nworkbook/backups/00_start." in done.stdout
    assert "  your answers: slope\n" in done.stdout
    assert gradlab(course, "update").stdout == "Your workbook is up to date.\n"


def test_update_with_a_damaged_notebook_fails_and_names_the_next_command(course, workbook):
    (workbook / "00_start.ipynb").write_text("{")
    done = gradlab(course, "update")
    assert done.returncode == 1
    assert "workbook/00_start.ipynb is not a readable notebook" in " ".join(done.stderr.split())
    assert "gradlab reset 00" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", ["0", "00", "00_start"])
def test_reset_starts_a_lesson_again_and_says_how_to_undo_it(course, workbook, number):
    answer(workbook)
    mine = (workbook / "00_start.ipynb").read_bytes()
    done = gradlab(course, "reset", number)
    assert done.returncode == 0, done.stderr
    undo = next(line.strip() for line in done.stdout.splitlines() if line.strip().startswith("cp "))
    subprocess.run(["sh", "-c", undo], check=True, cwd=course)
    assert (workbook / "00_start.ipynb").read_bytes() == mine


def test_an_unknown_lesson_is_an_unusable_argument(course, workbook):
    done = gradlab(course, "reset", "17")
    assert done.returncode == 2
    assert done.stderr == "There is no lesson '17'. The lessons are: 00, 04.\n  next: gradlab reset 00\n"


@pytest.mark.parametrize("arguments", [["update"], ["reset", "0"], ["progress"]])
def test_without_a_workbook_the_way_to_one_is_named(course, tmp_path, arguments):
    done = gradlab(course, *arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("There is no workbook in course/workbook.\n  next: gradlab lab makes one")


def test_a_workbook_is_found_from_inside_and_by_its_option(course, workbook, tmp_path):
    for done in (
        gradlab(course, "update", cwd=workbook / "backups"),
        gradlab(course, "update", "--workbook", str(workbook), cwd=tmp_path),
    ):
        assert done.stdout == "Your workbook is up to date.\n"


def test_progress_shows_the_table_of_the_workbook(course, workbook):
    event = {"event": "check", "exercise": "slope_between", "outcome": "correct", "misconceptions": []}
    (workbook / "progress.jsonl").write_text("\n" + json.dumps(event) + "\n{torn")
    done = gradlab(course, "progress")
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if "slope_between" in line)
    assert "correct" in row


@pytest.mark.notebooks
def test_check_prints_a_report_or_json_and_its_status_says_whether_all_is_correct(course, tmp_path):
    right = "def slope_between(f, a, b):\n    return (f(b) - f(a)) / (b - a)"
    head, tail = code("from gradlab import check"), code("slope_between = check(slope_between)")
    good = save(tmp_path / "good one.ipynb", notebook(head, code(right), tail))
    done = gradlab(course, "check", str(good))
    assert done.returncode == 0, done.stderr
    assert "correct  slope_between" in done.stdout
    bad = save(tmp_path / "bad.ipynb", notebook(head, code("1 / 0"), code(right.replace("b - a", "a - b")), tail))
    done = gradlab(course, "check", str(bad), "--json", "--time-limit", "50")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["ok"], found["correct"], found["exercises"][0]["outcome"]) == (False, 0, "wrong")
    assert found["cells"][0]["text"] == "ZeroDivisionError: division by zero"
    assert sources(nbformat.read(bad, as_version=4))[1] == "1 / 0"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "nothing.ipynb"], "There is no file nothing.ipynb."),
        (["check", "lessons"], "lessons is not a file."),
        (["check"], "Missing argument 'NOTEBOOK'"),
        (["check", "x", "--time-limit", "0"], "--time-limit"),
        (["lab", "--port", "http"], "--port"),
        (["doctor"], "Missing argument 'SCRIPT'"),
        (["doctor", "nothing.py", "--its-own"], "nothing.py can't be read"),
        (["doctor", "--fly", "nothing.py"], "No such option: --fly"),
        (["fly"], "No such command 'fly'"),
        (["build", "77"], "77"),
    ],
)
def test_arguments_that_can_t_be_used_end_with_2_and_a_sentence(course, arguments, words):
    (course / "lessons" / "source").mkdir()
    done = gradlab(course, *arguments)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_gradlab_without_its_course_says_how_to_get_it(tmp_path):
    for arguments in (["lab"], ["build"], ["reset", "1"]):
        done = gradlab(tmp_path, *arguments, cwd=tmp_path)
        assert done.returncode == 1
        assert "git clone" in done.stderr
        assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_env_prints_lines_or_json_and_its_status_says_whether_the_machine_is_ready(course):
    done = gradlab(course, "env", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == (0 if found["ready"] else 1)
    done = gradlab(course, "env")
    assert done.stdout.split(":")[0] == ("ready" if found["ready"] else "not ready")
    assert "Python: 3." in done.stdout


def test_doctor_runs_a_script_with_its_own_arguments_and_status_and_loads_tensorflow_only_if_the_script_does(course):
    (course / "program.py").write_text("import sys\nprint(sys.argv[1:], 'tensorflow' in sys.modules)\nsys.exit(5)\n")
    done = gradlab(course, "doctor", "program.py", "--help", "-x")
    assert (done.returncode, done.stdout) == (5, "['--help', '-x'] False\n")
    assert done.stderr == "There was nothing to examine: program.py imported no TensorFlow in its main thread.\n"


def test_build_check_names_what_is_wrong_and_fails(course):
    source = course / "lessons" / "source" / "00_start.md"
    source.parent.mkdir()
    source.write_text("no front matter\n")
    done = gradlab(course, "build", "--check")
    assert done.returncode == 1
    assert "00_start" in done.stderr
    assert "next: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_traceback(course):
    command = [sys.executable, "-c", START, str(course), "env", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=TOP, text=True) as done:
        done.stdout.close()
        assert "Traceback" not in done.stderr.read()


@pytest.mark.notebooks
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_during_a_check_ends_its_kernel_too(course, tmp_path):
    note = tmp_path / "kernel"
    sleeping = f"import os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    path = save(tmp_path / "slow.ipynb", notebook(code(sleeping), code("1")))
    command = [sys.executable, "-c", START, str(course), "check", str(path), "--time-limit", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=TOP, text=True) as done:
        while not (note.exists() and note.read_text()):
            time.sleep(0.1)
        done.send_signal(signal.SIGINT)
        out, err = done.communicate(timeout=120)
    assert (done.returncode, out, err) == (130, "", "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)
