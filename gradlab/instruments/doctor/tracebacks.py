"""Tracebacks as they would be without the doctor: its own frames taken out."""

from pathlib import Path
from types import TracebackType

_HERE = str(Path(__file__).resolve().parent)


def hide_own_frames(error: BaseException) -> None:
    """Take the doctor's frames out of an exception's traceback, and out of those of the exceptions behind it."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _without_own(one.__traceback__)
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


def _without_own(trace: TracebackType | None) -> TracebackType | None:
    first = trace = _next_other(trace)
    while trace is not None:
        trace.tb_next = _next_other(trace.tb_next)
        trace = trace.tb_next
    return first


def _next_other(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    return trace
