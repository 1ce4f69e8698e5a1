"""What is remembered of a program that runs: its operations, its tapes, its ways out of TensorFlow, its questions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from gradlab.instruments.doctor.frames import Stack, is_users


@dataclass(slots=True, eq=False)
class TapeRecord:
    """One `tf.GradientTape` and what was done with it."""

    number: int
    persistent: bool
    watches_variables: bool
    opened: int
    stack: Stack
    closed: int | None = None
    asked: int = 0
    first_asked: Stack = ()
    watched: dict[int, tuple[int, Stack]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Node:
    """One operation that ran, or one `record_operation` with a backward rule of its own (`rule`)."""

    index: int
    op: str
    attrs: tuple[Any, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    stack: Stack
    tapes: tuple[TapeRecord, ...]
    input_tensors: tuple[Any, ...] | None
    output_tensors: tuple[Any, ...] | None
    rule: Callable[..., Any] | None = None
    of: "Node | None" = None
    in_backward: bool = False
    handles: tuple[int, ...] = ()
    floating: tuple[bool, ...] = ()
    keywords: bool = False


@dataclass(slots=True, eq=False)
class WayOut:
    """A tensor's value was taken out of TensorFlow: `numpy()`, `float()`, ..."""

    index: int
    tensor: int
    newest: int
    kind: str
    stack: Stack


@dataclass(slots=True, eq=False)
class GradientCall:
    """One `tape.gradient` (or jacobian): what was asked and what came."""

    tape: TapeRecord | None
    kind: str
    targets: list[Any]
    sources: list[Any]
    results: list[Any] | None
    upstream: list[Any] | None
    stack: Stack
    index: int
    error: BaseException | None = None
    last_user_stack: Stack = ()
    frame_names: dict[int, str] = field(default_factory=dict)
    repeated: bool = False
    target_numbers: tuple[int, ...] = ()

    def let_go(self) -> None:
        """Forget the tensors; the numbers, the line and the rest stay."""
        self.targets, self.sources, self.results, self.upstream = [], [], None, None


def names_in(frame: FrameType, sources: list[Any]) -> dict[int, str]:
    """What plain tensors are called in the user's frame, by `id`."""
    wanted = {id(s) for s in sources if not hasattr(s, "handle")}
    found: dict[int, str] = {}
    step: FrameType | None = frame
    while step is not None and wanted - found.keys():
        if is_users(step):
            for name, value in [*step.f_locals.items(), *step.f_globals.items()]:
                if id(value) in wanted and not name.startswith("_"):
                    found.setdefault(id(value), name)
        step = step.f_back
    return found
