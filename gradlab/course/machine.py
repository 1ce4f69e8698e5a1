"""Is this machine ready for the course? What ``gradlab env`` checks, without importing TensorFlow."""

import html
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from gradlab.course.texts import say, shown
from gradlab.course.workbook import Workbook, checkout, choose

PYTHONS = ((3, 11), (3, 13))
_GB = 1e9
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "firefox")
_PROBE = """
import json
import tensorflow as tf
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
print("gradlab:" + json.dumps({
    "version": tf.__version__,
    "gradient": float(tape.gradient(y, x)),
    "devices": [f"{d.device_type} {d.name.rpartition(':')[2]}" for d in tf.config.list_logical_devices()],
}))
"""


@dataclass(frozen=True)
class Line:
    """One thing that was looked at: ``ok``, a ``note`` (it will do), or a ``problem``; ``mend`` is what to type."""

    what: str
    state: Literal["ok", "note", "problem"]
    text: str
    mend: str = ""


@dataclass(frozen=True)
class Machine:
    """All that was looked at. Shown in a notebook it says "ready", or what is in the way and nothing else."""

    lines: tuple[Line, ...]

    @property
    def ready(self) -> bool:
        """Whether nothing is in the way of the course."""
        return not any(line.state == "problem" for line in self.lines)

    @property
    def headline(self) -> str:
        """One sentence that begins with "ready" or "not ready" and is the same on every machine that is."""
        return say("env_ready" if self.ready else "env_not_ready")

    def __str__(self) -> str:
        problems = [f"  {line.what}: {line.text}\n    {say('mend', mend=line.mend)}" for line in self._problems()]
        return "\n".join([self.headline, *problems])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        fields = [map(html.escape, (line.what, line.text, line.mend)) for line in self._problems()]
        items = "".join(f"<li><b>{what}</b>: {text}<br><code>{mend}</code></li>" for what, text, mend in fields)
        return f"<p><b>{html.escape(self.headline)}</b></p>" + (f"<ul>{items}</ul>" if items else "")

    def _problems(self) -> list[Line]:
        return [line for line in self.lines if line.state == "problem"]

    def as_data(self) -> dict[str, Any]:
        """The report as plain data."""
        return {"ready": self.ready, "lines": [asdict(line) for line in self.lines]}


def report(workbook: Path | None = None, *, deep: bool = False) -> Machine:
    """Look at this machine. ``deep`` imports TensorFlow too, in a process of its own (some seconds)."""
    book = choose(workbook)
    lines = [
        python(),
        *packages(checkout() / "requirements.lock"),
        processor(),
        kernel(),
        quiet(),
        writable(book),
        disk(book.root),
        memory(),
        cores(),
        browser(),
        gpu(),
    ]
    return Machine((*lines, tensorflow()) if deep else tuple(lines))


def python(version: tuple[int, ...] = sys.version_info[:3]) -> Line:
    """Python 3.11, 3.12 or 3.13: what TensorFlow 2.21 has wheels for."""
    text = ".".join(map(str, version))
    if PYTHONS[0] <= version[:2] <= PYTHONS[1]:
        return Line("Python", "ok", text)
    return Line("Python", "problem", say("env_python", version=text), say("env_python_mend"))


def packages(lock: Path) -> Iterator[Line]:
    """What gradlab requires, and whether the versions are those that the course was tried with."""
    from packaging.requirements import Requirement

    wrong = []
    for required in map(Requirement, importlib.metadata.requires("gradlab") or ()):
        if required.marker is None or required.marker.evaluate({"extra": ""}):
            version = _version(required.name)
            if version is None:
                wrong.append(say("env_missing", name=required.name))
            elif not required.specifier.contains(version, prereleases=True):
                wrong.append(say("env_version", name=required.name, version=version, wanted=required.specifier))
    if wrong:
        yield Line(say("env_packages"), "problem", "; ".join(wrong), "make env")
    elif not lock.is_file():
        yield Line(say("env_packages"), "note", say("env_no_lock"))
    else:
        yield _locked(lock)


def _locked(lock: Path) -> Line:
    wanted = dict(_pins(lock))
    other = [
        say("env_version", name=name, version=_version(name) or say("env_none"), wanted=version)
        for name, version in wanted.items()
        if _version(name) != version
    ]
    if not other:
        return Line(say("env_packages"), "ok", say("env_as_locked", count=len(wanted)))
    text = "; ".join(other[:3]) + (say("env_more", count=len(other) - 3) if len(other) > 3 else "")
    return Line(say("env_packages"), "note", text, "make env")


def _pins(lock: Path) -> Iterator[tuple[str, str]]:
    """The names and versions of a lock file that hold for this machine."""
    from packaging.requirements import Requirement

    for line in lock.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith((" ", "#", "-")):
            required = Requirement(line.removesuffix("\\").strip())
            if required.marker is None or required.marker.evaluate():
                yield required.name, next(iter(required.specifier)).version


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def processor(flags: Path = Path("/proc/cpuinfo")) -> Line:
    """TensorFlow's wheels for x86 need AVX, and there are none for Intel Macs."""
    kind = platform.machine() or say("env_unknown")
    what = say("env_processor")
    if sys.platform == "darwin" and kind == "x86_64":
        return Line(what, "problem", say("env_intel_mac"), say("env_other_machine"))
    if kind in ("x86_64", "AMD64") and flags.is_file():
        text = flags.read_text(encoding="utf-8", errors="replace")
        if "flags" in text and " avx " not in text.replace("\n", " "):
            return Line(what, "problem", say("env_no_avx"), say("env_other_machine"))
    return Line(what, "ok", kind)


def kernel() -> Line:
    """The notebooks' kernel ``python3`` must be this environment's Python."""
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")  # as gradlab lab and gradlab check do
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    what, mend = say("env_kernel"), f"{shown(Path(sys.executable))} -m ipykernel install --sys-prefix"
    try:
        command = KernelSpecManager().get_kernel_spec("python3").argv
    except NoSuchKernel:
        return Line(what, "problem", say("env_no_kernel"), mend)
    program = command[0] if command else ""
    if program in ("python", "python3", f"python3.{sys.version_info.minor}"):
        return Line(what, "ok", say("env_kernel_here"))  # jupyter_client puts its own Python there
    if _prefix(program) != _prefix(sys.executable):
        return Line(what, "problem", say("env_kernel_elsewhere", program=program), mend)
    return Line(what, "ok", say("env_kernel_here"))


def _prefix(program: str) -> str:
    """The folder of a Python's environment, links to the program itself left alone."""
    return os.path.realpath(os.path.dirname(shutil.which(program) or program))


def quiet() -> Line:
    """TensorFlow's own log must stay out of cell outputs."""
    from gradlab.course.kernel import is_quiet

    if is_quiet():
        return Line(say("env_quiet"), "ok", say("env_is_quiet"))
    return Line(say("env_quiet"), "problem", say("env_loud"), f"{shown(Path(sys.executable))} -m gradlab.course.kernel")


def writable(book: Workbook) -> Line:
    """The workbook, or the folder that it will be made in, must take files."""
    what = say("env_workbook")
    folder = next(place for place in (book.root, *book.root.parents) if place.exists())
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return Line(what, "ok", str(book.root))
    elsewhere = say("elsewhere_mend", elsewhere=shown(Path.home() / "gradlab-workbook"))
    return Line(what, "problem", say("env_unwritable", folder=folder), elsewhere)


def disk(folder: Path) -> Line:
    """Room for notebooks, backups and checkpoints."""
    place = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(place).free / _GB
    return _amount(say("env_disk"), free, note_below=1.0, problem_below=0.2, text="env_free", mend="env_disk_mend")


def memory() -> Line:
    """A lesson takes up to about 2 GB."""
    total = _memory()
    if total is None:
        return Line(say("env_memory"), "note", say("env_unknown"))
    gigabytes = total / _GB
    return _amount(
        say("env_memory"), gigabytes, note_below=3.5, problem_below=1.8, text="env_total", mend="env_memory_mend"
    )


def _amount(what: str, gigabytes: float, *, note_below: float, problem_below: float, text: str, mend: str) -> Line:
    sentence = say(text, gigabytes=f"{gigabytes:.1f}")
    if gigabytes >= note_below:
        return Line(what, "ok", sentence)
    return Line(what, "note" if gigabytes >= problem_below else "problem", sentence, say(mend))


def _memory() -> int | None:
    """Bytes of memory: the machine's, or less where a container is given less."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            total = min(total, int(Path(limit).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return total


def cores() -> Line:
    """The lessons' times were taken on two cores."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Line(say("env_cores"), "ok" if count >= 2 else "note", str(count), "" if count >= 2 else say("env_one_core"))


def browser() -> Line:
    """JupyterLab is shown in a browser; one elsewhere will do."""
    found = next((name for name in _BROWSERS if shutil.which(name)), None)
    if found or sys.platform in ("darwin", "win32"):
        return Line(say("env_browser"), "ok", found or say("env_system_browser"))
    return Line(say("env_browser"), "note", say("env_no_browser"), "gradlab lab --no-browser")


def gpu() -> Line:
    """No lesson needs one."""
    found = _output(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]) if shutil.which("nvidia-smi") else ""
    return Line(say("env_gpu"), "ok", ", ".join(found.split("\n")) if found else say("env_no_gpu"))


def tensorflow() -> Line:
    """Import TensorFlow in another process and take the slope of x² at 3, which is 6."""
    try:
        done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Line("TensorFlow", "problem", say("env_no_tensorflow", reason=type(error).__name__), "make env")
    answer = next((line for line in done.stdout.splitlines() if line.startswith("gradlab:")), None)
    if answer is None:
        last = (done.stderr.strip().splitlines() or [say("env_ended", status=done.returncode)])[-1]
        return Line("TensorFlow", "problem", say("env_no_tensorflow", reason=last), "make env")
    found = json.loads(answer.removeprefix("gradlab:"))
    if found["gradient"] != 6.0:
        return Line("TensorFlow", "problem", say("env_wrong_gradient", value=found["gradient"]), "make env")
    return Line("TensorFlow", "ok", f"{found['version']} ({', '.join(found['devices'])})")


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
