"""`xray()`: the scale of the values and of the gradient beside each line of one's own source."""

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from gradlab.instruments.doctor import ground, visit
from gradlab.instruments.doctor.finding import Finding
from gradlab.instruments.doctor.sources import sources_of
from gradlab.instruments.xray_lines import Block, Line, Weight, lines_of
from gradlab.instruments.xray_run import expose


@dataclass(frozen=True, repr=False)
class XRay:
    """A program's lines with the scale of what they compute and of the gradient that comes back to them.

    Attributes:
        blocks: the functions that ran, in the order in which they were first called; each has its `lines`.
        variables: the variables, or tensors, that were asked for, each with the scale of its value and gradient.
        findings: what is wrong with their gradients, as the doctor finds it, without running anything again.
        faults: what went wrong in the doctor itself while it looked for causes; empty unless it has an error.
        error: what the program or its gradient raised; None where nothing did.
    """

    blocks: tuple[Block, ...]
    variables: tuple[Weight, ...]
    findings: tuple[Finding, ...]
    faults: tuple[str, ...] = ()
    error: BaseException | None = field(default=None, compare=False)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines of all blocks."""
        return tuple(line for block in self.blocks for line in block.lines)

    @property
    def ok(self) -> bool:
        """Whether every variable has a gradient that is finite and not zero."""
        return (
            self.error is None
            and all(weight.value.status == "ok" for weight in self.variables)
            and all(finding.ok for finding in self.findings)
        )

    def line(self, code: str) -> Line:
        """The first line whose text holds `code`; of several, the first that has a figure.

        Raises:
            LookupError: no line that is shown holds it.
        """
        found = [line for line in self.lines if code in line.code]
        if not found:
            raise LookupError(f"no line of this xray holds {code!r}; print the xray to see its lines")
        return next((line for line in found if line.values), found[0])

    def __str__(self) -> str:
        from gradlab.instruments.xray_report import as_text

        return as_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from gradlab.instruments.xray_html import as_html

        return as_html(self)


def xray(fn: Callable[[], Any], variables: Iterable[Any] | Any) -> XRay:
    """Show the source of a function, and of those of yours that it calls, with the scale of values and gradients.

    The scale is the root mean square (rms) of all elements: the standard deviation where the mean is zero, and the
    size itself for a single number. The gradient beside a line is that of the function's result with respect to
    the line's value: what `tape.gradient(result, value)` says if the tape was told to watch the value.

    A line's value is what it binds (`h = ...`) or returns, as far as it computed it; where it does neither, the last
    floating-point tensor that it computed and another line uses. The lines after the first of a long statement
    have the last tensor that they hand on. A line that runs several times, or has several values, shows the
    smallest and the largest figure. A line that calls a function of yours has a value, and so have that function's
    lines. A Keras model of ready-made layers shows a row for each layer below the line that calls it.

    Args:
        fn: a function without arguments that computes the loss (a tensor, or several).
        variables: the variables, or plain tensors, towards which the gradient should come.

    Returns:
        An `XRay`: print it, or let it be a cell's last value.

    The function runs once, eagerly. Nothing is changed by it that the function doesn't change itself. While it runs, a
    debugger does not stop in it.

    Raises:
        RuntimeError: a doctor is at work.
        TypeError, ValueError: `fn` is not a function without arguments, or there are no variables.
    """
    if visit.at_work:
        raise RuntimeError("a doctor is at work here: call xray outside of `with doctor()` and diagnose")
    ground.require()
    _refuse(fn)
    sources = sources_of(variables, "xray")
    seen = expose(fn, sources, sys._getframe(1))
    return XRay(lines_of(seen.blocks, seen.runs, seen.findings), seen.variables, seen.findings, seen.faults, seen.error)


def _refuse(fn: Any) -> None:
    """Refuse what can't be called without arguments."""
    if isinstance(fn, tf.keras.Model):
        raise TypeError(
            "xray needs a function that computes the loss, not a model: "
            "xray(lambda: loss_fn(y, model(x, training=True)), model.trainable_variables)"
        )
    if not callable(fn):
        raise TypeError(
            f"xray needs a function without arguments that computes the loss; it got {type(fn).__name__}. "
            "Put the computation in one: xray(lambda: ..., variables)"
        )
    try:
        inspect.signature(fn).bind()
    except ValueError:
        return
    except TypeError as error:
        name = getattr(fn, "__name__", "fn")
        raise TypeError(
            f"xray calls the function without arguments ({error}): xray(lambda: {name}(...), variables)"
        ) from None
