"""`gradlab doctor SCRIPT`: a whole program, run as Python would run it, with the doctor beside it."""

import builtins
import importlib.machinery
import os
import sys
import threading
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from gradlab.instruments.doctor.tracebacks import hide_own_frames

if TYPE_CHECKING:
    from gradlab.instruments.doctor.visit import Visit, doctor

INTERRUPTED = 130


class NotAScript(Exception):
    """The file can't be run as a program; the message says why."""


@dataclass(frozen=True)
class Ran:
    """How a script ended and what the doctor saw.

    Attributes:
        script: the file, as it was given.
        status: the exit status that the script asked for: 1 after an exception, 130 after Ctrl-C.
        visit: what the doctor saw; None where the script never imported TensorFlow.
        refusal: why the doctor couldn't work, where it couldn't.
        is_child: this is a process that the script has forked.
    """

    script: str
    status: int
    visit: "Visit | None" = None
    refusal: str = ""
    is_child: bool = False

    def as_text(self) -> str:
        """The report for people."""
        if self.refusal:
            return f"{self.script} ran without the doctor: {self.refusal}"
        if self.visit is None:
            return f"There was nothing to examine: {self.script} imported no TensorFlow in its main thread."
        return str(self.visit)

    def as_data(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        findings = [finding.as_dict() for finding in self.visit.findings] if self.visit else []
        return {
            "script": self.script,
            "status": self.status,
            "ok": not self.refusal and (self.visit is None or self.visit.ok),
            "examined": self.visit.calls if self.visit else 0,
            "refusal": self.refusal,
            "findings": findings,
        }


def run_script(script: str, arguments: Sequence[str] = ()) -> Ran:
    """Run a file as `python script.py arguments` would; the doctor looks on once it has imported TensorFlow.

    The script is `__main__`, with its own `sys.argv` and `sys.path[0]`, and stays so afterwards: what it leaves behind
    (threads, `atexit`) expects it. An exception is shown as Python shows it. So this is for a process that does
    nothing else.

    Nothing is imported or computed before the script does it: what it sets first (environment variables, devices,
    threads) works as ever.

    Raises:
        NotAScript: there is no such file, or it isn't a program.
    """
    code_of = _read(script)
    process = os.getpid()
    main = _become(script, arguments)
    start = _Start(sys._getframe())
    status = INTERRUPTED
    try:
        code = code_of()
        start.when_imported()
        exec(code, main.__dict__)
        status = 0
    except SystemExit as wish:
        status = _status(wish.code)
        start.end(wish)
    except BaseException as error:
        start.end(error)
        _show(error)
        status = INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    finally:
        start.end(None)
    return Ran(script, status, start.visit, start.refusal, os.getpid() != process)


def _read(script: str) -> Callable[[], CodeType]:
    path = _absolute(script)
    if os.path.isdir(path):
        raise NotAScript(f"{script} is a folder")
    if path.endswith(".ipynb"):
        raise NotAScript(f"{script} is a notebook, not a script; in it, %load_ext gradlab and %%doctor do the same")
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise NotAScript(f"{script} can't be read ({error.strerror or error})") from None
    return lambda: compile(source, path, "exec", dont_inherit=True)


def _absolute(script: str) -> str:
    """A path as Python shows it in `__file__` and in tracebacks: what was typed, after the folder one is in."""
    return os.path.join(os.getcwd(), script.removeprefix(f".{os.sep}"))


def _become(script: str, arguments: Sequence[str]) -> ModuleType:
    """A fresh `__main__`, and the names in `sys` that go with it."""
    path = _absolute(script)
    main = types.ModuleType("__main__")
    main.__dict__.update(
        __file__=path,
        __cached__=None,
        __builtins__=builtins,
        __annotations__={},
        __loader__=importlib.machinery.SourceFileLoader("__main__", path),
    )
    sys.modules["__main__"] = main
    sys.argv = [script, *arguments]
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    sys.excepthook = sys.__excepthook__
    return main


class _Start:
    """Begins to look on as soon as the script has imported TensorFlow (and Keras, where that came first)."""

    def __init__(self, base: FrameType) -> None:
        self.base: FrameType | None = base
        self.thread = threading.get_ident()
        self.visit: Visit | None = None
        self.refusal = ""
        self._doctor: doctor | None = None
        self._begun = False

    def when_imported(self) -> None:
        """Begin now, or at the import."""
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]
        self._begin()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The usual spec; its loader tells us when it is done."""
        if name not in ("tensorflow", "keras"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        loader = spec.loader if spec is not None else None
        if loader is None:
            return spec
        load = loader.exec_module

        def load_and_begin(module: ModuleType) -> None:
            del loader.exec_module  # type: ignore[misc]
            load(module)
            self._begin(name)

        loader.exec_module = load_and_begin  # type: ignore[method-assign]
        return spec

    def _begin(self, loaded: str = "") -> None:
        """Begin, once and in the script's own thread, when what is imported is complete."""
        if self._begun or threading.get_ident() != self.thread or "tensorflow" not in sys.modules:
            return
        if any(name != loaded and _is_loading(name) for name in ("tensorflow", "keras")):
            return
        self._begun = True
        from gradlab.instruments.doctor.visit import doctor

        physician = doctor()
        physician._base = self.base
        try:
            self.visit = physician.__enter__()
        except RuntimeError as error:  # this TensorFlow lacks what the doctor stands on
            self.refusal = str(error)
        else:
            self._doctor = physician

    def end(self, error: BaseException | None) -> None:
        """Look away again."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)  # type: ignore[arg-type]
        physician, self._doctor, self.base = self._doctor, None, None
        if physician is not None:
            physician.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)


def _is_loading(name: str) -> bool:
    module = sys.modules.get(name)
    return bool(module is not None and getattr(module.__spec__, "_initializing", False))


def _show(error: BaseException) -> None:
    """Print what Python prints for an exception that nobody caught, or do what the script's `sys.excepthook` does."""
    hide_own_frames(error)
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except Exception:
        sys.__excepthook__(type(error), error, error.__traceback__)


def _status(code: Any) -> int:
    """What `sys.exit(code)` means as an exit status."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1
