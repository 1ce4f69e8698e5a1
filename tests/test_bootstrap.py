"""Setting up: quick when nothing changed, repaired when something broke, and clear words when it can't be done."""

import errno
import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bootstrap

ROOT = Path(__file__).parents[1]
FITTING = [(3, 11), (3, 12), (3, 13)]


def other_pythons():
    """Interpreters on this machine, one for each version: on the PATH, and where pyenv keeps them."""
    names = [f"python{version}" for version in ("2", "2.7", "3", *(f"3.{minor}" for minor in range(6, 16)))]
    paths = [path for path in map(shutil.which, names) if path]
    paths += glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python"))
    found = {}
    for path in paths:
        version = bootstrap.version_of([path])
        if version:
            found.setdefault(version[:2], path)
    return found


OTHERS = other_pythons()


class Machine:
    """Stands in for the commands that bootstrap runs: it notes them, and answers as told."""

    def __init__(self, venv):
        self.venv = venv
        self.ran = []
        self.fails = {}
        self.broken = False

    def __call__(self, command, quiet=False, cwd=None):
        line = " ".join(command)
        self.ran.append(line)
        for part, said in self.fails.items():
            if part in line:
                return 1, said
        works = (self.venv / "pyvenv.cfg").exists() and not self.broken
        if command[0].startswith(str(self.venv)) and not works:
            return 127, "No such file or directory"
        if "version_info" in line:
            return 0, "3 12 4\n"
        if " -m venv " in line:
            self.broken = False
            self.venv.mkdir(exist_ok=True)
            (self.venv / "pyvenv.cfg").touch()
        return 0, ""

    def did(self, part):
        return sum(part in line for line in self.ran)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    for name in ("requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    machine = Machine(tmp_path / ".venv")
    monkeypatch.setattr(bootstrap, "run", machine)
    monkeypatch.setattr(bootstrap, "ROOT", str(tmp_path))
    return machine


def set_up(*arguments):
    return bootstrap.main(list(arguments))


def stamp(checkout):
    return checkout.venv / ".gradlab-ready"


def test_a_first_run_makes_the_environment_installs_and_stamps_it_last(checkout, capsys):
    assert set_up() == 0
    install, editable, kernel = [line for line in checkout.ran if " -c " not in line and "venv --clear" not in line]
    assert install.endswith(f"install --require-hashes -r {checkout.venv.parent / 'requirements.lock'}")
    assert "--no-deps --no-build-isolation --no-index -e" in editable
    assert kernel.endswith("-m gradlab.course.kernel")
    assert stamp(checkout).exists()
    assert "gradlab is ready" in capsys.readouterr().out


def test_a_second_run_installs_nothing(checkout):
    set_up()
    checkout.ran.clear()
    assert set_up() == 0
    assert checkout.did(" install ") == checkout.did("venv --clear") == 0


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_a_changed_list_is_installed_into_the_same_environment(checkout, name):
    set_up()
    checkout.ran.clear()
    with open(checkout.venv.parent / name, "a") as file:
        file.write("# one more\n")
    assert set_up() == 0
    assert checkout.did("--require-hashes") == 1
    assert checkout.did("venv --clear") == 0


def test_a_package_that_went_missing_is_installed_again(checkout):
    set_up()
    checkout.ran.clear()
    checkout.fails = {"find_spec": ""}
    assert set_up() == 0
    assert checkout.did("--require-hashes") == 1


def test_a_broken_environment_is_built_anew(checkout):
    set_up()
    checkout.ran.clear()
    checkout.broken = True
    assert set_up() == 0
    assert checkout.did("venv --clear") == 1
    assert stamp(checkout).exists()


def test_rebuild_builds_anew_what_is_fine(checkout):
    set_up()
    checkout.ran.clear()
    assert set_up("--rebuild") == 0
    assert checkout.did("venv --clear") == 1


def test_a_moved_environment_is_not_taken_for_ready(checkout, tmp_path, monkeypatch):
    set_up()
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("requirements.lock", "pyproject.toml", ".venv"):
        shutil.move(tmp_path / name, moved / name)
    checkout.venv = moved / ".venv"
    checkout.ran.clear()
    monkeypatch.setattr(bootstrap, "ROOT", str(moved))
    assert set_up() == 0
    assert checkout.did("--require-hashes") == 1


@pytest.mark.parametrize("step", ["--require-hashes", "-e", "gradlab.course.kernel"])
def test_what_was_interrupted_is_done_again(checkout, step):
    set_up()
    (checkout.venv.parent / "pyproject.toml").write_text("# changed")
    checkout.fails = {step: "boom"}
    assert set_up() == 1
    assert not stamp(checkout).exists()
    checkout.fails = {}
    checkout.ran.clear()
    assert set_up() == 0
    assert checkout.did("--require-hashes") == 1


def test_ctrl_c_says_how_to_go_on(checkout, monkeypatch, capsys):
    def interrupted(*args, **kw):
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "install", interrupted)
    monkeypatch.setattr(bootstrap.signal, "signal", lambda *args: None)
    assert set_up() == 130
    assert "Type the same command to go on" in capsys.readouterr().err
    assert not stamp(checkout).exists()


@pytest.mark.parametrize(
    ("step", "said", "told"),
    [
        ("--require-hashes", "Failed to establish a new connection: NewConnectionError", "can't be reached"),
        ("--require-hashes", "[Errno 28] No space left on device", "The disk is full"),
        ("--require-hashes", "THESE PACKAGES DO NOT MATCH THE HASHES", "isn't the one that requirements.lock expects"),
        (
            "--require-hashes",
            "ERROR: No matching distribution found for tensorflow",
            "no package that fits this machine",
        ),
        ("--require-hashes", "Permission denied: '/opt'", "A file can't be written"),
        ("-e", "surprise", "gradlab itself could not be installed; the words above say why".capitalize()),
        ("import ensurepip", "ModuleNotFoundError: No module named 'ensurepip'", "apt-get install python3.12-venv"),
    ],
)
def test_each_failure_says_what_to_do(checkout, capsys, step, said, told):
    checkout.fails = {step: said}
    assert set_up() == 1
    shown = capsys.readouterr().err
    assert told in shown
    assert "Traceback" not in shown


def test_without_network_an_environment_that_was_there_stays(checkout, capsys):
    set_up()
    (checkout.venv / "precious").touch()
    (checkout.venv.parent / "requirements.lock").write_text("new==1")
    checkout.fails = {"--require-hashes": "Max retries exceeded with url: /simple/new/"}
    assert set_up() == 1
    assert (checkout.venv / "precious").exists()
    assert f"{bootstrap.GRADLAB} lab" in capsys.readouterr().err


def test_a_folder_that_is_no_environment_is_left_alone(checkout, capsys):
    checkout.venv.mkdir()
    (checkout.venv / "thesis.txt").write_text("chapter 1")
    assert set_up() == 1
    assert "is in the way" in capsys.readouterr().err
    assert (checkout.venv / "thesis.txt").read_text() == "chapter 1"
    assert checkout.did("venv --clear") == 0


def test_a_file_in_the_way_is_left_alone(checkout, capsys):
    checkout.venv.write_text("not a folder")
    assert set_up() == 1
    assert "is in the way" in capsys.readouterr().err
    assert checkout.venv.read_text() == "not a folder"


def test_an_environment_that_was_half_removed_is_built_anew(checkout):
    """Removing goes file by file; pyvenv.cfg may be gone first."""
    for name in ("lib", "share"):
        (checkout.venv / name).mkdir(parents=True)
    assert set_up() == 0
    assert checkout.did("venv --clear") == 1


def test_a_missing_list_is_named(checkout, capsys):
    (checkout.venv.parent / "pyproject.toml").unlink()
    assert set_up() == 1
    assert "git checkout pyproject.toml" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_read_only_checkout_is_said_before_anything_is_made(checkout, capsys, monkeypatch, number):
    def refuse(path, *args, **kw):
        if ".gradlab-write-test" in str(path):
            raise OSError(number, os.strerror(number))
        return open(path, *args, **kw)

    monkeypatch.setattr(bootstrap, "open", refuse, raising=False)
    assert set_up() == 1
    assert "Copy the checkout to a folder of your own" in capsys.readouterr().err
    assert checkout.did("venv --clear") == 0


def test_a_full_disk_is_said_before_the_download(checkout, capsys, monkeypatch):
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**11, 10**11, 10**9))
    assert set_up() == 1
    assert "1.0 GB are free" in capsys.readouterr().err
    assert checkout.did("venv --clear") == 0


def test_a_disk_that_fills_at_the_stamp_leaves_no_stamp_and_no_traceback(checkout, capsys, monkeypatch):
    def full(path, mode="r", *args):
        if str(path).endswith(".gradlab-ready") and "w" in mode:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return open(path, mode, *args)

    monkeypatch.setattr(bootstrap, "open", full, raising=False)
    assert set_up() == 1
    assert "The disk is full" in capsys.readouterr().err
    assert not stamp(checkout).exists()


def test_an_intel_mac_is_told_that_there_are_no_packages(checkout, capsys, monkeypatch):
    monkeypatch.setattr(bootstrap.sys, "platform", "darwin")
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: "x86_64")
    assert set_up() == 1
    assert "Intel Mac" in capsys.readouterr().err
    assert checkout.did("venv --clear") == 0


def test_a_mac_with_an_apple_chip_is_fine(checkout, monkeypatch):
    monkeypatch.setattr(bootstrap.sys, "platform", "darwin")
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: "arm64")
    assert set_up() == 0


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 15), (3, 10, 13), (3, 14, 0)])
def test_a_python_that_does_not_fit_is_named_with_what_to_install(checkout, capsys, monkeypatch, version):
    monkeypatch.setattr(bootstrap, "version_of", lambda command: version if command == ["python3"] else None)
    assert set_up() == 1
    shown = capsys.readouterr().err
    assert f"Found here: Python {bootstrap.dotted(version)}." in shown
    assert "Python 3.11 to 3.13" in shown
    assert "brew install" in shown


def test_the_newest_that_fits_is_taken_when_this_one_does_not(monkeypatch):
    versions = {sys.executable: (3, 9, 1), "python3.12": (3, 12, 1), "python3.11": (3, 11, 1)}
    monkeypatch.setattr(bootstrap, "ROOT", os.path.join(os.sep, "nowhere"))
    monkeypatch.setattr(bootstrap, "version_of", lambda command: versions.get(command[0]))
    assert bootstrap.interpreter() == (["python3.12"], (3, 12, 1))


def test_on_windows_the_launcher_is_asked(monkeypatch):
    monkeypatch.setattr(bootstrap.os, "name", "nt")
    monkeypatch.setattr(bootstrap, "version_of", lambda command: (3, 13, 0) if command == ["py", "-3.13"] else None)
    assert bootstrap.interpreter() == (["py", "-3.13"], (3, 13, 0))


def test_the_environment_never_builds_itself_from_itself(monkeypatch):
    asked = []
    monkeypatch.setattr(bootstrap.sys, "executable", os.path.join(bootstrap.ROOT, ".venv", "bin", "python"))
    monkeypatch.setattr(bootstrap, "version_of", lambda command: asked.append(command) or (3, 11, 7))
    assert bootstrap.interpreter()[0] == ["python3.13"]


def test_unknown_arguments_and_help():
    assert set_up("--help") == 0
    assert set_up("--faster") == 2


def test_a_command_that_does_not_exist_is_a_status_and_no_exception():
    assert bootstrap.run(["no-such-command-here"], quiet=True)[0] == 127
    assert bootstrap.version_of(["no-such-command-here"]) is None


def test_what_a_command_says_is_shown_and_kept(capfdbinary):
    program = "import sys; sys.stdout.write('out'); sys.stderr.buffer.write('×'.encode()); sys.exit(3)"
    assert bootstrap.run([sys.executable, "-c", program]) == (3, "×")
    shown = capfdbinary.readouterr()
    assert shown.out == b"out"


def test_settings_that_would_send_packages_elsewhere_are_not_handed_on(monkeypatch):
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    program = "import os; print(sorted({'PIP_USER', 'PYTHONPATH'} & set(os.environ)))"
    assert bootstrap.run([sys.executable, "-c", program], quiet=True) == (0, "[]\n")


@pytest.mark.parametrize("version", sorted(OTHERS), ids=bootstrap.dotted)
def test_every_python_on_this_machine_can_read_it(version):
    program = "compile(open('bootstrap.py').read(), 'bootstrap.py', 'exec')"
    ran = subprocess.run([OTHERS[version], "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


NO_OTHER = pytest.param(None, marks=pytest.mark.skip(reason="no older Python on this machine; the tests above act one"))


@pytest.mark.parametrize("version", [one for one in sorted(OTHERS) if one not in FITTING] or [NO_OTHER], ids=str)
def test_an_old_python_alone_on_a_machine_explains_itself(version, tmp_path):
    """The real thing: an old interpreter runs the file where the PATH holds no other."""
    for name in ("bootstrap.py", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    ran = subprocess.run(
        [OTHERS[version], "bootstrap.py"],
        cwd=tmp_path,
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert f"Found here: Python {bootstrap.dotted(version)}." in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / ".venv").exists()
