"""Runs a solved lesson in a kernel of its own, and keeps only what is the same in every run."""

import asyncio
import base64
import binascii
import re
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from nbformat import NotebookNode

from gradlab.course.assemble import KERNELSPEC
from gradlab.course.errors import CourseError
from gradlab.course.source import LessonError, LessonRefused, Source

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_FRAME = re.compile(r"Cell In\[(\d+)\], line (\d+)")
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}|/ipykernel_\d+/")
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_TEXT = {b"tEXt", b"zTXt", b"iTXt", b"tIME"}


class _Loop(asyncio.SelectorEventLoop):
    """A loop that leaves signals alone: Ctrl-C then cancels the run and reaches the caller as KeyboardInterrupt.

    nbclient would catch it and go on with a kernel that it has just shut down.
    """

    def add_signal_handler(self, *_: Any) -> None:  # type: ignore[override]
        raise RuntimeError

    def remove_signal_handler(self, *_: Any) -> bool:
        raise RuntimeError


def execute(
    source: Source,
    notebook: NotebookNode,
    folder: Path,
    *,
    timeout: float,
    on_cell: Callable[[int, int], None] = lambda done, total: None,
) -> NotebookNode:
    """Run a notebook's cells in ``folder`` and return it with its outputs.

    ``timeout`` is in seconds, for each cell; ``on_cell(done, total)`` is called after each. Raises `LessonError`, which
    names the cell and the line, when a cell raises, runs too long or kills its kernel. Ctrl-C ends the kernel too.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    total = sum(cell.cell_type == "code" for cell in notebook.cells)
    running = {"index": 0, "done": 0}
    failure: dict[str, Any] = {}

    def started(cell: NotebookNode, cell_index: int, **_: Any) -> None:
        running["index"] = cell_index

    def finished(cell: NotebookNode, **_: Any) -> None:
        running["done"] += 1
        on_cell(running["done"], total)

    def failed(execute_reply: dict[str, Any], **_: Any) -> None:
        failure.update(execute_reply["content"])

    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
        shutdown_kernel="immediate",
        extra_arguments=["--IPKernelApp.capture_fd_output=False", "--IPKernelApp.log_level=ERROR"],
        on_cell_execute=started,
        on_cell_executed=finished,
        on_cell_error=failed,
    )
    log = tempfile.TemporaryFile()  # noqa: SIM115

    async def run() -> None:
        try:
            await client.async_execute(stdout=log, stderr=log)
        except DeadKernelError:
            task = asyncio.current_task()
            if task and task.cancelling():  # by Ctrl-C, which nbclient takes for the end of the kernel
                raise asyncio.CancelledError from None
            raise _kernel_died(source.where(source.cells[running["index"]]), log) from None

    try:
        with log, asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(run())
    except CellExecutionError:
        raise _cell_failed(source, notebook, running["index"], failure) from None
    except CellTimeoutError:
        where = source.where(source.cells[running["index"]])
        raise LessonError(f"{where} ran longer than {timeout:g} seconds", "make the cell's work smaller") from None
    return notebook


def _kernel_died(where: str, log: IO[bytes]) -> LessonError:
    """What the kernel's process said last, if anything."""
    log.seek(0)
    last = [line.strip() for line in log.read().decode(errors="replace").splitlines() if line.strip()][-3:]
    said = "".join(f"\n    {line}" for line in last)
    return LessonError(f"{where} ended its kernel{said}", "look for a crash of native code or too much memory")


def _cell_failed(source: Source, notebook: NotebookNode, index: int, content: dict[str, Any]) -> LessonError:
    """The failing cell, the lines of it and of earlier cells that led to the exception, and the exception."""
    counts = {cell.get("execution_count"): i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"}
    counts[notebook.cells[index].get("execution_count")] = index
    text = _ANSI.sub("", "\n".join(content.get("traceback", [])))
    frames = []
    for count, line in _FRAME.findall(text):
        place = counts.get(int(count))
        if place is not None:
            frames.append(_frame(source, notebook, place, int(line)))
    trail = "".join(f"\n    {frame}" for frame in frames)
    exception = f"{content.get('ename')}: {content.get('evalue')}"
    return LessonError(
        f"{source.where(source.cells[index])} failed{trail}\n    {exception}",
        f"repair it, then: gradlab build {source.number}",
    )


def _frame(source: Source, notebook: NotebookNode, place: int, line: int) -> str:
    """One line of a traceback: the file that an author edits, the line there, and its text."""
    cell = source.cells[place]
    lines = notebook.cells[place].source.splitlines()
    code = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    if cell.exercise:
        return f"answer {cell.exercise}, line {line} of the function: {code}"
    number = f"line {cell.line + line - 1}" if cell.line else f"cell {cell.number}, line {line}"
    return f"{source.path.name}, {number}: {code}"


def tidy(notebook: NotebookNode) -> NotebookNode:
    """Take out of an executed notebook what a kernel or library adds and what differs between runs; in place."""
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNELSPEC))
    for cell in notebook.cells:
        cell.metadata = NotebookNode({"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {})
        for output in cell.get("outputs", []):
            if output.output_type == "error":  # only in cells that are meant to raise; its paths are this machine's
                output.traceback = [f"{output.ename}: {output.evalue}"]
            picture = output.get("data", {}).get("image/png")
            if picture:
                output.data["image/png"] = _plain_png(picture)
    return notebook


def _plain_png(text: str) -> str:
    """A PNG (base64) without its comments, which name the program and version that drew it."""
    data = base64.b64decode(text)
    if not data.startswith(_PNG):
        return text
    kept = b"".join(chunk for kind, chunk in _chunks(data) if kind not in _PNG_TEXT)
    return binascii.b2a_base64(_PNG + kept, newline=False).decode() + "\n"


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    start = len(_PNG)
    while start < len(data):
        length, kind = struct.unpack(">I4s", data[start : start + 8])
        yield kind, data[start : start + length + 12]
        start += length + 12


def refuse_unstable(source: Source, notebook: NotebookNode, root: Path) -> None:
    """Raise `LessonRefused` where an output holds what is different in the next run or on another machine."""
    private = [str(root), sys.prefix, sys.base_prefix if len(sys.base_prefix) > 6 else sys.prefix, str(Path.home())]
    paths = re.compile("|".join(re.escape(path) + r"[/\\]" for path in private if len(path) > 1))
    errors: list[CourseError] = []
    for cell, built in zip(source.cells, notebook.cells, strict=True):
        for text in _texts(built):
            found = _ADDRESS.search(text) or paths.search(text)
            if found:
                line = next((line for line in text.splitlines() if found[0] in line), found[0]).strip()
                mend = "print a value that is the same in every run and on every machine"
                errors.append(LessonError(f"{source.where(cell)} prints `{line[:100]}`", mend))
                break
    if errors:
        raise LessonRefused(errors)


def _texts(cell: NotebookNode) -> Iterator[str]:
    """Every piece of text in a cell's outputs."""
    for output in cell.get("outputs", []):
        yield output.get("text", "")
        yield output.get("evalue", "")
        for kind, data in output.get("data", {}).items():
            if not kind.startswith("image/") or kind == "image/svg+xml":
                yield data if isinstance(data, str) else str(data)
