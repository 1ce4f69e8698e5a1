"""How the commands speak: paragraphs as wide as the terminal, errors with the next thing to type, a progress bar."""

import contextlib
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator

import typer

from gradlab.course.errors import CourseError
from gradlab.course.texts import say

_WIDEST = 100
_COMMAND = re.compile(r"\b(?:gradlab|make|cp|mv|rm|chmod|kill|ls)(?: [^\s,;()]+)+")
_HARD_SPACE = "\u00a0"


def width() -> int:
    """The columns to write in."""
    return min(shutil.get_terminal_size().columns, _WIDEST)


def tell(text: str, indent: str = "", hanging: str | None = None, err: bool = False) -> None:
    """Print a paragraph; a path, an address or a command stays in one piece. ``hanging`` is for later lines."""
    lines = textwrap.wrap(
        _COMMAND.sub(lambda found: found[0].replace(" ", _HARD_SPACE), text),
        width(),
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    typer.echo("\n".join(lines).replace(_HARD_SPACE, " "), err=err)


def complain(error: CourseError) -> None:
    """Print what is wrong and the next thing to type."""
    tell(error.what, err=True)
    tell(say("mend", mend=error.mend), indent="  ", err=True)


class Bar:
    """A progress bar on standard error that says what is worked on; without a terminal it shows nothing."""

    def __init__(self, advance: Callable[[str, int, int], None], line: Callable[[str], None]) -> None:
        self.advance = advance
        self.line = line


@contextlib.contextmanager
def bar(first: str = "") -> Iterator[Bar]:
    """A `Bar` that says ``first``, gone at the end.

    ``advance(what, done, total)`` moves it, ``line(text)`` prints above it.
    """
    if not sys.stderr.isatty():
        yield Bar(lambda what, done, total: None, lambda text: tell(text, err=True))
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(first, total=None)
        yield Bar(
            lambda what, done, total: progress.update(task, description=what, completed=done, total=total),
            lambda text: progress.console.print(text, markup=False, highlight=False),
        )
