"""Runs cells one after another in a kernel that comes back: a cell that hangs or kills it costs only itself."""

import asyncio
import contextlib
import logging
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbclient.util import ensure_async, run_sync
from nbformat import NotebookNode, v4

from gradlab.course.errors import CourseError
from gradlab.course.texts import say
from gradlab.exercises.progress import SWITCH

Fate = Literal["ran", "slow", "died"]

_KERNEL = "python3"
_PATIENCE = 5.0
_MOST_TEXT = 1_000_000
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_LOG = logging.getLogger("gradlab.session")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False


@dataclass(frozen=True)
class Raised:
    """An exception in a cell; ``line`` is the deepest line of that cell in its traceback."""

    kind: str
    text: str
    line: int | None


@dataclass(frozen=True)
class Ran:
    """What became of a cell: it ``ran`` (``raised`` says if it raised), took too long (``slow``), or ``died``."""

    fate: Fate
    outputs: Sequence[Mapping[str, Any]] = ()
    raised: Raised | None = None


@dataclass(frozen=True)
class Step:
    """A cell to run, and what to run in its place once it has hung or killed the kernel (nothing, if None)."""

    source: str
    substitute: str | None = None
    tags: tuple[str, ...] = ()


def run_steps(
    steps: Sequence[Step], folder: Path, *, limit: float, watch: Callable[[int], None] = lambda done: None
) -> list[Ran]:
    """Run every step in ``folder``, each for at most ``limit`` seconds; ``watch(done)`` is called after each.

    An exception ends its cell, as in JupyterLab when cells are run one by one. A cell that takes too long is
    interrupted; if that doesn't help, or if the kernel is dead, a new kernel takes over: the earlier cells are run
    again, those that hung or killed it replaced by their substitutes. The learner's progress is not written.

    Raises `CourseError` when no kernel starts.
    """
    with contextlib.ExitStack() as stack:
        session = _Session(steps, folder, limit, stack)
        for index in range(len(steps)):
            session.step(index)
            watch(index + 1)
        return [session.results[index] for index in range(len(steps))]


@dataclass
class _Session:
    """The state of one run: the kernel, what has been found, and which cells are not to be run again."""

    steps: Sequence[Step]
    folder: Path
    limit: float
    stack: contextlib.ExitStack
    results: dict[int, Ran] = field(default_factory=dict)
    culprits: set[int] = field(default_factory=set)
    hopeless: set[int] = field(default_factory=set)
    client: "_Client | None" = None

    def step(self, index: int) -> None:
        """Run one cell for the first time, and put things right if it hung or killed the kernel."""
        if self.client is None:
            self._start()
        self.results[index] = ran = self._execute(index)
        if ran.fate == "ran":
            return
        self.culprits.add(index)
        if not (self._goes_on(ran.fate) and self._again(index)):
            self._replay(index + 1)

    def _replay(self, end: int) -> None:
        """Bring a new kernel to where the old one was. Ends, since each round adds a culprit."""
        while True:
            self._start()
            if all(self._again(index) for index in range(end)):
                return

    def _again(self, index: int) -> bool:
        """Run a cell, or its substitute, once more; False if the kernel was lost over it."""
        if index in self.hopeless:
            return True
        ran = self._execute(index)
        if ran.fate == "ran":
            return True
        (self.hopeless if index in self.culprits else self.culprits).add(index)
        return self._goes_on(ran.fate) and self._again(index)

    def _execute(self, index: int) -> Ran:
        step = self.steps[index]
        source = step.substitute if index in self.culprits else step.source
        assert self.client is not None
        return Ran("ran") if source is None else self.client.run(index, source)

    def _goes_on(self, fate: Fate) -> bool:
        """Whether the kernel can be used further."""
        assert self.client is not None
        return fate != "died" and self.client.interrupt(_PATIENCE)

    def _start(self) -> None:
        self.stack.close()
        cells = [v4.new_code_cell(step.source, metadata={"tags": list(step.tags)}) for step in self.steps]
        self.client = _Client(v4.new_notebook(cells=cells), self.limit, self.folder)
        environment = {**os.environ, SWITCH: "off", "JUPYTER_PREFER_ENV_PATH": "1"}
        try:
            kernel = self.client.setup_kernel(
                env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=str(self.folder)
            )
            self.stack.enter_context(kernel)
        except (RuntimeError, OSError, NoSuchKernel) as error:
            raise CourseError(say("no_kernel", reason=str(error).splitlines()[0]), say("no_kernel_mend")) from error


class _Client(NotebookClient):
    """nbclient's, which takes a limit in parts of a second, notices ``exit()``, and holds only so much text."""

    def __init__(self, notebook: NotebookNode, limit: float, folder: Path) -> None:
        super().__init__(
            notebook,
            kernel_name=_KERNEL,
            timeout_func=lambda cell: limit,
            allow_errors=True,
            shutdown_kernel="immediate",
            store_widget_state=False,
            record_timing=False,
            extra_arguments=["--IPKernelApp.capture_fd_output=False"],
            on_cell_executed=self._executed,
            log=_LOG,
        )
        self._asked_to_exit = False
        self._text = 0

    def run(self, index: int, source: str) -> Ran:
        """Execute a cell and say what became of it."""
        cell = self.nb.cells[index]
        cell.source, cell.outputs, cell.execution_count = source, [], None
        self._asked_to_exit, self._text = False, 0
        try:
            self.execute_cell(cell, index)
        except CellTimeoutError:
            return Ran("slow", tuple(cell.outputs))
        except DeadKernelError:
            return Ran("died", tuple(cell.outputs))
        return Ran("died" if self._asked_to_exit else "ran", tuple(cell.outputs), _raised(cell))

    def interrupt(self, patience: float) -> bool:
        """Interrupt what runs; whether the kernel answers within ``patience`` seconds."""
        with contextlib.suppress(RuntimeError, OSError):
            return self._answers(patience)
        return False

    async def _async_answers(self, patience: float) -> bool:
        assert self.km is not None
        assert self.kc is not None
        await ensure_async(self.km.interrupt_kernel())
        asked = await ensure_async(self.kc.kernel_info())
        try:
            async with asyncio.timeout(patience):
                while True:
                    reply = await ensure_async(self.kc.shell_channel.get_msg(timeout=None))
                    if reply["parent_header"].get("msg_id") == asked:
                        return True
        except TimeoutError:
            return False

    _answers = run_sync(_async_answers)

    def _executed(self, execute_reply: dict[str, Any], **_: Any) -> None:
        payload = execute_reply["content"].get("payload") or ()
        self._asked_to_exit = any(part.get("source") == "ask_exit" for part in payload)

    def output(
        self, outs: list[NotebookNode], msg: dict[str, Any], display_id: str | None, cell_index: int
    ) -> NotebookNode | None:
        """As nbclient's, but a loop that prints doesn't fill the memory."""
        if msg["msg_type"] == "stream":
            self._text += len(msg["content"].get("text", ""))
            if self._text > _MOST_TEXT:
                return None
        return super().output(outs, msg, display_id, cell_index)


def _raised(cell: NotebookNode) -> Raised | None:
    if "raises-exception" in cell.metadata.get("tags", []):
        return None
    for output in cell.outputs:
        if output.output_type == "error":
            frames = _COLOURS.sub("", "\n".join(output.traceback))
            lines = re.findall(rf"Cell In\[{cell.execution_count}\], line (\d+)", frames)
            return Raised(output.ename, output.evalue, int(lines[-1]) if lines else None)
    return None
