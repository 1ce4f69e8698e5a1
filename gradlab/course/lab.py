"""JupyterLab in the workbook: one at a time, and nothing fetched from anywhere."""

import contextlib
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gradlab.course.errors import CourseError
from gradlab.course.locking import Held, locked
from gradlab.course.refusals import telling
from gradlab.course.texts import say, shown
from gradlab.course.workbook import Workbook

_PATIENCE = 120.0
_CONFIG = Path(__file__).parent / "jupyter"  # its labconfig/ keeps JupyterLab from asking whether to fetch news
_OFFLINE = (
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
)


@dataclass(frozen=True)
class Running:
    """A JupyterLab that runs already; ``address`` is what to open, its token included."""

    address: str
    pid: int


def arguments(
    root: Path, notebook: str, *, browser: bool = True, port: int | None = None, more: Sequence[str] = ()
) -> list[str]:
    """What JupyterLab is started with: the folder, the notebook to open, no news, no look-up of updates or extensions.

    ``more`` are the learner's own arguments; they come last, so they win.
    """
    options = [f"--ServerApp.root_dir={root}", f"--LabApp.default_url=/lab/tree/{quote(notebook)}", *_OFFLINE]
    if not browser:
        options.append("--ServerApp.open_browser=False")
    if port is not None:
        options.append(f"--ServerApp.port={port}")
    if is_root():
        options.append("--allow-root")
    return [*options, *more]


def is_root() -> bool:
    """Whether this is the system's administrator, as whom JupyterLab doesn't start unless told to."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def running(root: Path) -> Running | None:
    """The JupyterLab that serves exactly this folder and answers, if there is one."""
    from jupyter_server.serverapp import list_running_servers

    with contextlib.suppress(OSError, ValueError):
        for server in list_running_servers():
            if _serves(server, root) and _answers(server):
                token = f"?token={server['token']}" if server.get("token") else ""
                return Running(f"{server['url']}lab{token}", int(server["pid"]))
    return None


def _serves(server: dict[str, Any], root: Path) -> bool:
    folder = server.get("root_dir") or server.get("notebook_dir") or ""
    with contextlib.suppress(OSError):
        return bool(folder) and os.path.samefile(folder, root)
    return False


def _answers(server: dict[str, Any]) -> bool:
    """Whether the address is a Jupyter server's: its file stays behind when it is killed, and numbers come again."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{server['url']}api", timeout=3) as answer:
            return "version" in json.load(answer)
    except (OSError, ValueError, KeyError, urllib.error.URLError):
        return False


@contextlib.contextmanager
def only_one(book: Workbook, waiting: Callable[[Held], None] = lambda held: None) -> Iterator[Running | None]:
    """Hold the workbook for a JupyterLab of one's own inside the ``with``, or give the one that runs already.

    ``waiting`` is called if that one is only starting. Raises `CourseError` when another ``gradlab lab`` holds the
    workbook and doesn't answer.
    """
    with contextlib.ExitStack() as stack:
        try:
            with telling(book.mark, "gradlab lab"):
                stack.enter_context(locked(book.mark / "lab.lock"))
        except Held as held:
            yield running(book.root) or _await(book, held, waiting)
        else:
            yield running(book.root)


def _await(book: Workbook, held: Held, waiting: Callable[[Held], None]) -> Running:
    """The JupyterLab of the holder, which may be starting just now."""
    waiting(held)
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if found := running(book.root):
            return found
        time.sleep(0.5)
    raise CourseError(
        say("lab_silent", holder=held.holder, folder=shown(book.root)),
        say("lab_silent_mend", pid=held.pid if held.pid is not None else "NUMBER"),
    )


def start(options: Sequence[str]) -> None:
    """Run JupyterLab in this process until it ends."""
    # this environment's kernel, not one of the same name elsewhere
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    more = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join([str(_CONFIG), *([more] if more else [])])
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(list(options))
