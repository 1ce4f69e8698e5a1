"""Follows a program line by line: which line ran when, and what it bound or returned."""

import inspect
import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import keras

from gradlab.instruments.doctor.frames import is_users
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.xray_source import Block, Statement, block_of, statement_at


@dataclass(eq=False)
class Run:
    """One execution of a line, or of a layer that a library called while the line ran.

    Attributes:
        file, line: the line; for a statement of several lines its first.
        start, end: the recorder's count of operations before and after; those between are its own and its callees'.
        given: what the line bound or returned, as it stands.
        layers: the layer, and the layers around it, the outermost first.
        part: whether it is only one of a statement's lines, and not its first.
    """

    file: str
    line: int
    start: int
    end: int = -1
    given: list[Any] = field(default_factory=list)
    layers: tuple[Any, ...] = ()
    part: bool = False


class LineWatch:
    """Sees every line of the user's that runs between `start` and `stop`, in this thread.

    Python's trace function is used for it, and put back by `stop`; a debugger doesn't stop in between.
    """

    def __init__(self, recorder: Recorder, after_line: Callable[[Run], None]) -> None:
        self.recorder = recorder
        self.after_line = after_line
        self.runs: list[Run] = []
        self.blocks: list[Block] = []
        self.open: list[_Frame] = []
        self.layers: list[tuple[Any, tuple[str, int] | None]] = []
        self._known: set[CodeType] = set()
        self._sourced: dict[CodeType, bool] = {}
        self._before: Any = None
        self._layer_call = inspect.unwrap(keras.Layer.__call__).__code__

    def start(self) -> None:
        """Begin to follow."""
        self._before = sys.gettrace()
        sys.settrace(self._called)

    def stop(self) -> None:
        """Put the trace function back that was there."""
        sys.settrace(self._before)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event != "call":
            return None
        code = frame.f_code
        if code is self._layer_call:
            return self._layer_called(frame)
        if not is_users(frame) or not self._readable(code):
            return None
        if code not in self._known:
            self._known.add(code)
            self._add(block_of(code))
        one = _Frame(self, frame)
        self.open.append(one)
        return one.event

    def _readable(self, code: CodeType) -> bool:
        """Whether there is a source to show; Python's own made-up functions (a dataclass's) have none."""
        known = self._sourced.get(code)
        if known is None:
            known = self._sourced[code] = bool(linecache.getline(code.co_filename, code.co_firstlineno))
        return known

    def _add(self, block: Block) -> None:
        if any(known.holds(block) for known in self.blocks):
            return
        place = next((i for i, known in enumerate(self.blocks) if block.holds(known)), len(self.blocks))
        self.blocks = [known for known in self.blocks if not block.holds(known)]
        self.blocks.insert(place, block)

    def _layer_called(self, frame: FrameType) -> Any:
        """A Keras layer was called: by a line of the user's or, inside that line, by a library."""
        at = self.open[-1].place if self.open else None
        inside = [layer for layer, place in self.layers if place is not None and place == at]
        layer = frame.f_locals.get("self")
        self.layers.append((layer, at))
        run = None
        if at is not None:
            run = Run(*at, self.recorder.count, layers=(*inside, layer))
            self.runs.append(run)
        frame.f_trace_lines = False

        def event(frame: FrameType, event: str, arg: Any) -> Any:
            if event == "return":
                self.layers.pop()
                if run is not None:
                    run.end, run.given = self.recorder.count, [arg]
                    self.after_line(run)
            return None if event == "return" else event_function

        event_function = event
        return event


class _Frame:
    """One call of one of the user's functions."""

    def __init__(self, watch: LineWatch, frame: FrameType) -> None:
        self.watch = watch
        self.file = frame.f_code.co_filename
        self.whole: Statement | None = None
        self.folded = False
        name = frame.f_code.co_name
        if name.startswith("<") and name != "<module>":
            first = frame.f_code.co_firstlineno
            outer = watch.open[-1] if watch.open else None
            self.folded = outer is not None and outer.file == self.file and outer.covers(first)
            self.whole = (
                outer.statement if self.folded and outer else Statement(first, sys.maxsize, (), name == "<lambda>")
            )
        self.statement: Statement | None = None
        self.line = 0
        self.run: Run | None = None
        self.piece: Run | None = None

    @property
    def place(self) -> tuple[str, int] | None:
        """The line at work, as its run names it."""
        return (self.file, self.statement.first) if self.statement is not None else None

    def covers(self, line: int) -> bool:
        """Whether a line is part of the statement at work."""
        return self.statement is not None and self.statement.first <= line <= self.statement.last

    def event(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self._to(frame, frame.f_lineno)
        elif event == "return":
            self._close_piece()
            self._close(frame, arg)
            self.watch.open.remove(self)
        return self.event

    def _to(self, frame: FrameType, line: int) -> None:
        """The next line begins."""
        self._close_piece()
        statement = self.whole or statement_at(self.file, line)
        again = statement.loops and line == self.line
        if statement != self.statement or again:
            self._close(frame, None)
            self.statement = statement
            if not self.folded:
                self.run = Run(self.file, statement.first, self.watch.recorder.count)
                self.watch.runs.append(self.run)
        self.line = line
        if statement.first != line:
            self.piece = Run(self.file, line, self.watch.recorder.count, part=True)
            self.watch.runs.append(self.piece)

    def _close_piece(self) -> None:
        piece, self.piece = self.piece, None
        if piece is not None:
            piece.end = self.watch.recorder.count
            self.watch.after_line(piece)

    def _close(self, frame: FrameType, returned: Any) -> None:
        run, self.run = self.run, None
        if run is None or self.statement is None:
            return
        run.end = self.watch.recorder.count
        if run.end > run.start:
            run.given = [frame.f_locals[name] for name in self.statement.names if name in frame.f_locals]
            if self.statement.returns and returned is not None:
                run.given.append(returned)
            self.watch.after_line(run)
