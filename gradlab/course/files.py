"""Reading and writing notebooks so that nothing half-written ever replaces a good file."""

import contextlib
import json
import os
import warnings
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from gradlab.course.errors import CourseError


class DamagedNotebook(CourseError):
    """A file that should hold a notebook and doesn't."""

    def __init__(self, path: Path, reason: str, mend: str = "restore the file, or delete it and make it again") -> None:
        super().__init__(f"{path} is not a readable notebook: {reason}", mend)
        self.path = path
        self.reason = reason


def read_notebook(path: Path, *, mend: str | None = None) -> NotebookNode:
    """The notebook in ``path``, as format 4.

    ``mend`` is what an error tells the reader to type. Raises `DamagedNotebook` when the file holds no valid
    notebook, and `FileNotFoundError` or another `OSError` when it can't be read at all.
    """
    hint = {"mend": mend} if mend else {}
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DamagedNotebook(path, f"byte {error.start} is not UTF-8 text", **hint) from None
    if not text.strip():
        raise DamagedNotebook(path, "it is empty", **hint)
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DamagedNotebook(path, _json_reason(error), **hint) from None
    if not isinstance(content, dict) or not isinstance(content.get("nbformat"), int):
        raise DamagedNotebook(path, "it is JSON, but not a notebook (it has no nbformat number)", **hint)
    try:
        notebook = nbformat.convert(nbformat.reader.reads(text), 4)
        with warnings.catch_warnings(action="ignore"):  # cells without an id, or with another's, get one: no damage
            _, notebook = nbformat.validator.normalize(notebook)
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise DamagedNotebook(path, str(error).splitlines()[0], **hint) from None
    except Exception as error:  # nbformat raises many kinds for content that only resembles a notebook
        raise DamagedNotebook(path, f"{type(error).__name__}: {error}", **hint) from None
    return notebook


def _json_reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON at line {error.lineno}, column {error.colno} ({error.msg})"
    return "its JSON is nested too deeply"


def notebook_text(notebook: NotebookNode) -> str:
    """The one text of a notebook: sorted keys, one space of indentation, a newline at the end, split source lines."""
    split: Any = nbformat.v4.rwbase.split_lines(nbformat.from_dict(notebook))
    return json.dumps(split, ensure_ascii=False, indent=1, sort_keys=True, separators=(",", ": ")) + "\n"


def write_notebook(path: Path, notebook: NotebookNode) -> None:
    """Write a notebook atomically, in its one text."""
    write_atomically(path, notebook_text(notebook))


def write_atomically(path: Path, content: str | bytes) -> None:
    """Put ``content`` into ``path`` whole or not at all.

    The content goes to a temporary file in the same folder, reaches the disk, and then takes the place of the old
    file in one step. Whatever happens before (a full disk, Ctrl-C), the old file stands and the temporary one is
    removed. A symbolic link stays a link: the file it points to is replaced. Line ends are written as they are.
    """
    target = Path(os.path.realpath(path))
    data = content.encode() if isinstance(content, str) else content
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, target.stat().st_mode & 0o777)
        os.replace(temporary, target)
    except FileExistsError:
        raise CourseError(f"{temporary} is in the way: another write was cut off", f"rm {temporary}") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the replacement itself survive a power cut, where the system can do that for a folder."""
    with contextlib.suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
