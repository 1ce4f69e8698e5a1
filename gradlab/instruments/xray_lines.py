"""The lines of an X-ray and their figures: plain data."""

import linecache
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.instruments import xray_source
from gradlab.instruments.doctor.finding import Finding
from gradlab.instruments.xray_watch import Run

# What can be said of the gradient at a value:
#   ok          it is there, finite and not zero
#   zero        exactly zero in every element
#   nonfinite   NaN or infinite somewhere
#   none        the value leads to the result, but no gradient comes back
#   aside       the value doesn't lead to the result
#   inner       the value leads to a gradient that a tape inside takes, and that leads to the result
#   data        the value doesn't depend on the variables that were asked for
#   unrecorded  it was computed inside a hand-written gradient rule, or where the tape wasn't told to record
#   unknown     the program or the gradient raised before it could be known


@dataclass(frozen=True)
class Value:
    """One tensor that a line computed.

    Attributes:
        forward: the rms of its elements.
        gradient: the rms of the gradient of the result with respect to it; None where there is none.
        status: `ok`, `zero`, `nonfinite`, `none`, `aside`, `inner`, `data`, `unrecorded` or `unknown`.
        shape: its shape.
    """

    forward: float
    gradient: float | None
    status: str
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Weight:
    """One of the variables that were asked for: its name, and the scale of its value and gradient."""

    name: str
    value: Value


@dataclass(frozen=True)
class Line:
    """A line of source with what is known of it.

    Attributes:
        file, number, code: where it stands, and its text.
        runs: how often it ran; 0 where it didn't.
        values: what it computed, in the order in which it ran.
        layer: the layer whose row this is, below the line that called it; empty for a line itself.
        cuts: what the doctor found here.
    """

    file: str
    number: int
    code: str
    runs: int = 0
    values: tuple[Value, ...] = ()
    layer: str = ""
    cuts: tuple[Finding, ...] = ()

    @property
    def forward(self) -> tuple[float, float] | None:
        """The smallest and the largest scale of its values; None where it has none."""
        return _ends([value.forward for value in self.values])

    @property
    def gradient(self) -> tuple[float, float] | None:
        """The smallest and the largest scale of the gradient at its values; None where there is none."""
        return _ends([value.gradient for value in self.values if value.gradient is not None])

    @property
    def statuses(self) -> tuple[str, ...]:
        """What is said of the gradient at its values, each word once."""
        return tuple(dict.fromkeys(value.status for value in self.values))


@dataclass(frozen=True)
class Block:
    """A function, or the statement of a lambda, with its lines."""

    title: str
    file: str
    lines: tuple[Line, ...]


def rms(tensor: Any) -> float:
    """The root mean square of all elements; of the absolute values where they are complex; NaN of none."""
    if isinstance(tensor, tf.IndexedSlices):
        tensor = tf.convert_to_tensor(tensor)
    values = np.asarray(tensor)
    values = np.abs(values) if values.dtype.kind == "c" else values.astype(np.float64)
    if not values.size:
        return float("nan")
    largest = float(np.max(np.abs(values)))
    if largest == 0 or not np.isfinite(largest):
        return largest
    # divided first: squares of 1e-200 would vanish
    return largest * float(np.sqrt(np.mean(np.square(values / largest))))


def lines_of(
    blocks: Sequence[xray_source.Block], runs: Iterable[tuple[Run, tuple[Value, ...]]], findings: Iterable[Finding]
) -> tuple[Block, ...]:
    """The lines of the blocks with the figures of the runs and the cuts of the findings."""
    ran: dict[tuple[str, int], list[tuple[Value, ...]]] = {}
    layers: dict[tuple[str, int], dict[str, list[tuple[Value, ...]]]] = {}
    for run, values in runs:
        place = (run.file, run.line)
        if not run.layers:
            ran.setdefault(place, []).append(values)
        elif (name := _row_of(run.layers)) is not None:
            layers.setdefault(place, {}).setdefault(name, []).append(values)
    sick = [finding for finding in findings if not finding.ok and finding.line is not None]
    shown = [_block(block, ran, layers, sick) for block in blocks]
    # the first is the function itself; a layer's `build`, say, has nothing to show
    return tuple(b for b in shown if b is shown[0] or any(line.values or line.cuts for line in b.lines))


def _row_of(layers: tuple[Any, ...]) -> str | None:
    """What a layer's row is called: a layer of a model of ready-made layers, that isn't such a model itself."""
    if len(layers) < 2 or not all(isinstance(layer, tf.keras.Model) for layer in layers[:-1]):
        return None
    layer = layers[-1]
    return None if isinstance(layer, tf.keras.Model) else f"{layer.name} ({type(layer).__name__})"


def _block(
    block: xray_source.Block,
    ran: dict[tuple[str, int], list[tuple[Value, ...]]],
    layers: dict[tuple[str, int], dict[str, list[tuple[Value, ...]]]],
    sick: list[Finding],
) -> Block:
    numbers = range(block.first, block.last + 1)
    texts = [linecache.getline(block.file, n).rstrip().expandtabs(4) for n in numbers]
    lines: list[Line] = []
    for number, code in zip(numbers, textwrap.dedent("\n".join(texts)).split("\n"), strict=True):
        place = (block.file, number)
        cuts = tuple(f for f in sick if (f.file, f.line) == place)
        lines.append(_line(block.file, number, code, ran.get(place, []), "", cuts))
        indent = " " * (len(code) - len(code.lstrip()) + 2)
        for name, some in layers.get(place, {}).items():
            lines.append(_line(block.file, number, indent + name, some, name, ()))
    return Block(block.title, block.file, tuple(lines))


def _line(
    file: str, number: int, code: str, runs: list[tuple[Value, ...]], layer: str, cuts: tuple[Finding, ...]
) -> Line:
    values = [value for run in runs for value in run]
    with_values = [run for run in runs if run]
    return Line(file, number, code, len(with_values) or len(runs), tuple(values), layer, cuts)


def _ends(figures: Sequence[float]) -> tuple[float, float] | None:
    if not figures:
        return None
    return (float(np.min(figures)), float(np.max(figures)))
