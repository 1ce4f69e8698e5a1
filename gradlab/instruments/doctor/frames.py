"""Which line of the user's own code is running: the stack without the libraries."""

import linecache
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

_PACKAGE = str(Path(__file__).resolve().parents[2])
_HOMES = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
_LIBRARIES = (
    *{str(Path(home)) for home in _HOMES},
    *{str(Path(home).resolve()) for home in _HOMES},
    _PACKAGE,
    "<frozen",
)

# Library frames that tell something about how the user's code was called.
_MARKS = (
    ("tensorflow/python/ops/custom_gradient", "custom_gradient"),
    ("keras/src/metrics/", "metric"),
    ("keras/src/optimizers/", "optimizer"),
    ("tensorflow/python/ops/script_ops", "py_function"),
    ("tensorflow/python/eager/polymorphic_function/", "function"),
)


class Place(NamedTuple):
    """A line of somebody's code."""

    file: str
    line: int
    function: str

    @property
    def code(self) -> str:
        """The text of the line, without its indentation; empty where the source can't be read."""
        return linecache.getline(self.file, self.line).strip()


# What AutoGraph makes of a function stands in a temporary file of this name.
_GENERATED = "__autograph_generated_file"

Stack = tuple["tuple[CodeType, int] | str", ...]

_kinds: dict[CodeType, str | bool] = {}


def _kind(code: CodeType) -> str | bool:
    """True for the user's code, False for a library's, a word for a library frame that tells something."""
    name = code.co_filename
    if _GENERATED in name:
        _kinds[code] = _GENERATED
        return _GENERATED
    kind: str | bool = not (name.startswith(_LIBRARIES) or "site-packages" in name or "dist-packages" in name)
    if kind is False:
        flat = name.replace("\\", "/")
        kind = next((word for part, word in _MARKS if part in flat), False)
    _kinds[code] = kind
    return kind


def is_users(frame: FrameType) -> bool:
    """Whether a frame runs the user's own code."""
    code = frame.f_code
    kind = _kinds.get(code)
    return (_kind(code) if kind is None else kind) is True


def user_stack(base: FrameType | None = None, skip: int = 1) -> Stack:
    """The user's frames, innermost first, with marks for telling library frames between them.

    Args:
        base: the outermost frame of interest.
        skip: how many of the caller's own frames to leave out.
    """
    found: list[tuple[CodeType, int] | str] = []
    frame: FrameType | None = sys._getframe(skip + 1)
    kinds = _kinds
    while frame is not None:
        code = frame.f_code
        kind = kinds.get(code)
        if kind is None:
            kind = _kind(code)
        if kind is True:
            found.append((code, frame.f_lineno))
        elif kind == _GENERATED:
            original = _original(frame)
            if original is not None:
                found.append(original)
        elif kind and (not found or found[-1] != kind):
            found.append(kind)
        if frame is base:
            break
        frame = frame.f_back
    return tuple(found)


def _original(frame: FrameType) -> tuple[CodeType, int] | None:
    """The user's line behind a line that AutoGraph generated."""
    known = _origins.get(frame.f_code)
    if known is None:
        known = _origins[frame.f_code] = _origins_of(frame)
    place = known.get(frame.f_lineno)
    if place is None:
        before = [line for line in known if line <= frame.f_lineno]
        place = known[max(before)] if before else None
    if place is None:
        return None
    return frame.f_code.replace(co_filename=place[0], co_name=place[2]), place[1]


def _origins_of(frame: FrameType) -> dict[int, tuple[str, int, str]]:
    """AutoGraph's own table from generated to original lines, found on the function that it made."""
    name = frame.f_code.co_filename
    step = frame.f_back
    while step is not None:
        if step.f_code.co_filename.replace("\\", "/").endswith("autograph/impl/api.py"):
            for value in step.f_locals.values():
                table = getattr(value, "ag_source_map", None)
                if table:
                    found = {
                        at.lineno: (origin.loc.filename, origin.loc.lineno, origin.function_name or "")
                        for at, origin in table.items()
                        if at.filename == name
                    }
                    if found:
                        return found
        step = step.f_back
    return {}


_origins: dict[CodeType, dict[int, tuple[str, int, str]]] = {}


def places(stack: Stack) -> list[Place]:
    """The lines of a stack, innermost first."""
    return [Place(e[0].co_filename, e[1], e[0].co_name) for e in stack if not isinstance(e, str)]


def innermost(stack: Stack) -> Place | None:
    """The user's line that was running."""
    for entry in stack:
        if not isinstance(entry, str):
            return Place(entry[0].co_filename, entry[1], entry[0].co_name)
    return None


def outside(stack: Stack, mark: str) -> Place | None:
    """The user's line that called the library part named by `mark`; None where there is no such part."""
    seen = False
    for entry in stack:
        if entry == mark:
            seen = True
        elif seen and not isinstance(entry, str):
            return Place(entry[0].co_filename, entry[1], entry[0].co_name)
    return None


def inside(stack: Stack, mark: str) -> bool:
    """Whether the user's line at the top was itself called by the library part named by `mark`."""
    return mark in stack


def in_function_of(stack: Stack, other: Stack) -> Place | None:
    """The line of `stack` in the function whose line is on top of `other`: where the two stories meet."""
    top = next((entry for entry in other if not isinstance(entry, str)), None)
    if top is not None:
        for entry in stack:
            if not isinstance(entry, str) and entry[0] is top[0]:
                return Place(entry[0].co_filename, entry[1], entry[0].co_name)
    return innermost(stack)


def traceback_places(error: BaseException) -> list[Place]:
    """The user's lines of an exception's traceback, innermost first."""
    found = []
    step = error.__traceback__
    while step is not None:
        if is_users(step.tb_frame):
            code = step.tb_frame.f_code
            found.append(Place(code.co_filename, step.tb_lineno, code.co_name))
        step = step.tb_next
    return found[::-1]
