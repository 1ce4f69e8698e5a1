"""``gradlab env``: each line says what is so, and what to type where something is in the way."""

import json
import os
import sys
from pathlib import Path

import pytest

from gradlab.course import machine
from gradlab.course.machine import Line, Machine
from gradlab.course.workbook import Workbook

OK, PROBLEM = Line("disk", "ok", "9 GB"), Line("kernel", "problem", "none <here>", "make env")


def test_ready_is_the_first_word_and_all_that_a_notebook_shows_of_a_machine_that_is():
    ready = Machine((OK, Line("cores", "note", "1", "wait")))
    assert ready.ready
    assert str(ready) == repr(ready) == str(Machine(())) == "ready: this machine can run the course."
    assert ready._repr_html_() == Machine(())._repr_html_()


def test_a_problem_is_shown_with_what_to_type():
    broken = Machine((OK, PROBLEM))
    assert not broken.ready
    assert str(broken).startswith("not ready: ")
    assert "kernel: none <here>" in str(broken)
    assert "make env" in str(broken)
    assert "none &lt;here&gt;" in broken._repr_html_()
    assert "disk" not in str(broken)


def test_this_environment_is_looked_at_whole_without_tensorflow():
    code = "import sys; from gradlab.course.machine import report; r = report(); print('tensorflow' in sys.modules)"
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.stdout == "False\n", done.stderr
    found = machine.report()
    assert {line.what for line in found.lines} >= {"Python", "packages", "kernel", "disk", "memory", "GPU"}
    assert all(line.mend for line in found.lines if line.state == "problem")
    assert json.loads(json.dumps(found.as_data()))["ready"] == found.ready


@pytest.mark.parametrize(
    ("version", "state"), [((3, 10, 9), "problem"), ((3, 11, 0), "ok"), ((3, 13, 5), "ok"), ((3, 14, 0), "problem")]
)
def test_python_is_one_that_tensorflow_has_wheels_for(version, state):
    assert machine.python(version).state == state


def test_packages_are_compared_with_the_lock_file(tmp_path, monkeypatch):
    lock = tmp_path / "requirements.lock"
    lock.write_text(
        "# a comment\npytest==0.0.1 \\\n    --hash=sha256:00\nno-such-thing==1 ; sys_platform == 'nowhere' \\\n"
        f"typer=={machine._version('typer')} ; python_version >= '3' \\\n    # via gradlab\n"
    )
    (line,) = machine.packages(lock)
    assert line.state == "note"
    assert f"pytest is {pytest.__version__}, not 0.0.1" in line.text
    assert "typer" not in line.text
    assert line.mend == "make env"
    (line,) = machine.packages(tmp_path / "none")
    assert line.state == "note"


def test_a_missing_or_wrong_requirement_is_a_problem(tmp_path, monkeypatch):
    needs = ["no-such-package-anywhere>=1", "typer<0.1", "numpy", "other>=3; extra == 'test'"]
    monkeypatch.setattr(machine.importlib.metadata, "requires", lambda name: needs)
    (line,) = machine.packages(tmp_path / "none")
    assert line.state == "problem"
    assert "no-such-package-anywhere is missing" in line.text
    assert "typer is" in line.text
    assert "numpy" not in line.text
    assert "other" not in line.text


def test_a_processor_without_avx_and_an_intel_mac_are_problems(tmp_path, monkeypatch):
    flags = tmp_path / "cpuinfo"
    monkeypatch.setattr(machine.platform, "machine", lambda: "x86_64")
    flags.write_text("flags\t\t: fpu sse sse2 avx\nbugs\t\t:\n")
    assert machine.processor(flags).state == "ok"
    flags.write_text("flags\t\t: fpu sse sse2 avx512x\nbugs\t\t:\n")
    assert machine.processor(flags).state == "problem"
    monkeypatch.setattr(machine.sys, "platform", "darwin")
    assert machine.processor(tmp_path / "none").state == "problem"


@pytest.mark.parametrize(
    ("program", "state"),
    [("python", "ok"), (sys.executable, "ok"), ("/usr/local/other/bin/python3", "problem"), (None, "problem")],
)
def test_the_kernel_must_be_this_environment(tmp_path, monkeypatch, program, state):
    """A kernel of the same name that another environment has registered for the user is found out."""
    import jupyter_client.kernelspec as specs

    def spec(self, name):
        if program is None:
            raise specs.NoSuchKernel(name)
        return specs.KernelSpec(argv=[program, "-m", "ipykernel_launcher"])

    monkeypatch.setattr(specs.KernelSpecManager, "get_kernel_spec", spec)
    line = machine.kernel()
    assert line.state == state
    assert bool(line.mend) == (state == "problem")


def test_loud_cells_are_a_problem_with_the_command_that_quiets_them(monkeypatch):
    monkeypatch.setattr("gradlab.course.kernel.is_quiet", lambda: False)
    line = machine.quiet()
    assert line.state == "problem"
    assert line.mend.endswith("-m gradlab.course.kernel")


def test_a_workbook_that_can_t_be_made_is_a_problem_with_another_place_named(tmp_path, monkeypatch):
    assert machine.writable(Workbook(tmp_path / "a" / "b")).state == "ok"
    monkeypatch.setattr(machine.os, "access", lambda path, mode: False)
    line = machine.writable(Workbook(tmp_path / "a" / "b"))
    assert line.state == "problem"
    assert "gradlab lab --workbook" in line.mend


@pytest.mark.parametrize(("free", "state"), [(5e9, "ok"), (0.6e9, "note"), (0.1e9, "problem")])
def test_little_room_is_noted_and_hardly_any_is_a_problem(tmp_path, monkeypatch, free, state):
    usage = machine.shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda path: usage)
    assert machine.disk(tmp_path / "not" / "there").state == state
    monkeypatch.setattr(machine, "_memory", lambda: free)
    assert machine.memory().state == {"ok": "ok"}.get(state, "problem")


def test_one_core_no_gpu_and_no_browser_are_no_problems(monkeypatch):
    monkeypatch.setattr(machine.shutil, "which", lambda name: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert [line.state for line in (machine.cores(), machine.gpu())] == ["note", "ok"]
    assert machine.browser().state in ("note", "ok")


def test_a_tensorflow_that_does_not_import_is_a_problem(monkeypatch):
    monkeypatch.setattr(machine, "_PROBE", "raise ImportError('no libcuda')")
    line = machine.tensorflow()
    assert line.state == "problem"
    assert "no libcuda" in line.text
    monkeypatch.setattr(machine, "_PROBE", "import os; os._exit(132)")
    assert "132" in machine.tensorflow().text


def test_deep_takes_a_gradient_with_tensorflow():
    line = machine.tensorflow()
    assert line.state == "ok", line.text
    assert "CPU 0" in line.text
