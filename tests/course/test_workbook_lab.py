"""JupyterLab in the workbook: one at a time, with nothing fetched from the network."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gradlab.course import lab, workbook
from gradlab.course.errors import CourseError
from gradlab.course.locking import locked
from gradlab.course.workbook import Workbook
from tests.course.small_notebooks import make_course

TOP = Path(__file__).parents[2]


@pytest.fixture
def book(tmp_path: Path) -> Workbook:
    course = make_course(tmp_path / "course")
    made = Workbook(course / "workbook")
    workbook.prepare(made, workbook.lessons(course))
    return made


def test_jupyterlab_opens_the_notebook_in_the_workbook_and_looks_nothing_up(tmp_path):
    options = lab.arguments(tmp_path, "00 start.ipynb")
    assert f"--ServerApp.root_dir={tmp_path}" in options
    assert "--LabApp.default_url=/lab/tree/00%20start.ipynb" in options
    assert "--LabApp.news_url=None" in options
    assert "--LabApp.extension_manager=readonly" in options
    assert not [option for option in options if "port" in option or "open_browser" in option]


def test_the_learners_own_arguments_come_last(tmp_path):
    options = lab.arguments(tmp_path, "00_start.ipynb", browser=False, port=9000, more=["--ServerApp.port=9001"])
    assert "--ServerApp.open_browser=False" in options
    assert options.index("--ServerApp.port=9000") < options.index("--ServerApp.port=9001") == len(options) - 1


def test_a_lab_that_holds_the_workbook_without_answering_is_told_of(book, monkeypatch):
    monkeypatch.setattr(lab, "_PATIENCE", 0.1)
    with (
        locked(book.mark / "lab.lock"),
        pytest.raises(CourseError, match=rf"process {os.getpid()}\).*doesn't answer"),
        lab.only_one(book),
    ):
        pass


def test_a_lock_file_left_behind_means_nothing(book):
    (book.mark / "lab.lock").write_text("\x0012345\n")
    with lab.only_one(book) as other:
        assert other is None


def test_a_server_file_of_a_killed_server_is_no_server(book, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "runtime").mkdir()
    server = {"root_dir": str(book.root), "url": "http://127.0.0.1:9/", "token": "t", "pid": os.getpid()}
    (tmp_path / "runtime" / f"jpserver-{os.getpid()}.json").write_text(json.dumps(server))
    assert lab.running(book.root) is None


TWO_LABS = """
    import fcntl, json, socket, struct, subprocess, sys, time, urllib.request
    from pathlib import Path
    from gradlab.course import lab, workbook

    course = Path(sys.argv[1])
    with socket.socket() as control:  # a new network namespace has its loopback switched off
        name = struct.pack("16sh", b"lo", 0x1 | 0x40)
        try:
            fcntl.ioctl(control, 0x8914, name)
        except OSError:
            pass
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=1).close()
        print("network: yes")
    except OSError:
        print("network: no")
    start = (
        "import pathlib, sys; from gradlab.course import workbook; import gradlab.cli;"
        "course = pathlib.Path(sys.argv.pop()); workbook.checkout = lambda: course; gradlab.cli.main()"
    )
    command = [sys.executable, "-c", start, "lab", "--no-browser", str(course)]
    labs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]
    try:
        while not (over := [one for one in labs if one.poll() is not None]):
            time.sleep(0.2)
        print(over[0].stdout.read().decode())
        print("second:", over[0].returncode, "of", len(over), flush=True)
        found = lab.running(course / "workbook")
        base, _, token = found.address.partition("lab?token=")

        def get(path):
            request = urllib.request.Request(base + path, headers={"Authorization": f"token {token}"})
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.read().decode()

        print("address:", found.address)
        print("page:", "JupyterLab" in get("lab/tree/00_start.ipynb"))
        print("notebook:", json.loads(get("api/contents/00_start.ipynb"))["name"])
        print("update:", get("lab/api/update"))
        print("news:", get("lab/api/news"))
    finally:
        for one in labs:
            one.kill()
    """


def test_of_two_jupyterlabs_at_once_the_second_gives_the_address_of_the_first_without_a_network(tmp_path):
    """Both start at the same moment, where possible in a network namespace that leads nowhere."""
    course = make_course(tmp_path / "course")
    prefix = ["unshare", "-rn"]
    cut_off = bool(shutil.which("unshare")) and not subprocess.run([*prefix, "true"], capture_output=True).returncode
    environment = {
        **os.environ,
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "COLUMNS": "80",
        "PYTHONPATH": str(TOP),
    }
    command = [*(prefix if cut_off else []), sys.executable, "-c", textwrap.dedent(TWO_LABS), str(course)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=400)
    assert done.returncode == 0, done.stderr
    assert not cut_off or "network: no" in done.stdout
    assert "second: 0 of 1" in done.stdout
    address = done.stdout.partition("address: ")[2].split("\n")[0]
    assert "JupyterLab already runs in this workbook:" in done.stdout.partition("second:")[0]
    assert address in done.stdout.partition("second:")[0]
    assert "page: True" in done.stdout
    assert "notebook: 00_start.ipynb" in done.stdout
    assert 'update: {"notification": null}' in done.stdout
    assert 'news: {"news": []}' in done.stdout


def test_jupyterlab_is_told_not_to_ask_for_news():
    overrides = json.loads((lab._CONFIG / "labconfig" / "default_setting_overrides.json").read_text())
    assert overrides["@jupyterlab/apputils-extension:notification"] == {"fetchNews": "false", "checkForUpdates": False}
