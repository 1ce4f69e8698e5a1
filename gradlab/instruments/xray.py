"""`xray()`: the scale of the values and of the gradient beside each line of one's own source."""

import inspect
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import tensorflow as tf

from gradlab.instruments.doctor import ground, visit
from gradlab.instruments.doctor.examine import Diagnosis, Examiner, name_of, number_of
from gradlab.instruments.doctor.finding import Finding
from gradlab.instruments.doctor.flow import Flow
from gradlab.instruments.doctor.frames import user_stack
from gradlab.instruments.doctor.graph import Graph
from gradlab.instruments.doctor.recording import GradientCall, Recorder, names_in
from gradlab.instruments.xray_lines import Block, Line, Value, Weight, lines_of, rms
from gradlab.instruments.xray_watch import LineWatch


@dataclass(frozen=True, repr=False)
class XRay:
    """A program's lines with the scale of what they compute and of the gradient that comes back to them.

    Attributes:
        blocks: the functions that ran, in the order in which they were first called; each has its `lines`.
        variables: the variables, or tensors, that were asked for, each with the scale of its value and gradient.
        findings: what is wrong with their gradients, as the doctor finds it, without running anything again.
        error: what the program or its gradient raised; None where nothing did.
    """

    blocks: tuple[Block, ...]
    variables: tuple[Weight, ...]
    findings: tuple[Finding, ...]
    error: BaseException | None = field(default=None, compare=False)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines of all blocks."""
        return tuple(line for block in self.blocks for line in block.lines)

    @property
    def ok(self) -> bool:
        """Whether every variable has a gradient that is finite and not zero."""
        return self.error is None and all(finding.ok for finding in self.findings)

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
    if visit._at_work:
        raise RuntimeError("a doctor is at work here: call xray outside of `with doctor()` and diagnose")
    ground.require()
    _refuse(fn)
    sources = _sources(variables)
    base = inspect.currentframe()
    return _Exposure(fn, sources, base.f_back if base is not None else sys._getframe(1)).take()


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


def _sources(variables: Any) -> list[Any]:
    flat = [] if variables is None else list(tf.nest.flatten(variables))
    if not flat:
        raise ValueError(
            "xray needs the variables (or tensors) towards which the gradient should come: xray(fn, [w, b])"
        )
    for place, source in enumerate(flat):
        if not (hasattr(source, "handle") or tf.is_tensor(source)):
            raise TypeError(
                f"variables[{place}] is a {type(source).__name__}; a gradient is taken with respect to a tf.Variable, "
                "a Keras weight or a tensor that the function uses"
            )
        if not (hasattr(source, "handle") or ground.is_eager(source)):
            raise TypeError(
                f"variables[{place}] is a symbol of a graph, without a value; call xray outside of tf.function"
            )
    return flat


class _Exposure:
    """One run of the function, watched."""

    def __init__(self, fn: Callable[[], Any], sources: list[Any], base: FrameType | None) -> None:
        self.fn = fn
        self.sources = sources
        self.recorder = Recorder(base=base)
        self.recorder.own_tape = True
        self.watch = LineWatch(self.recorder, self._watch_new)
        self.diagnosis = Diagnosis()
        self.examiner = Examiner(self.diagnosis, self.recorder)
        self.names = names_in(base, sources) if base is not None else {}
        self.tape = tf.GradientTape()
        self.error: BaseException | None = None
        self.watched = 0

    def take(self) -> XRay:
        """Run, ask for the gradients, put everything back, and work out the figures."""
        recorder = self.recorder
        visit._at_work.append(recorder)
        try:
            before = [rms(source) for source in self.sources]
            recorder.start()
            target = self._run()
            targets = [t for t in tf.nest.flatten(target, expand_composites=True) if tf.is_tensor(t)]
            return self._develop(targets, before)
        finally:
            self.watch.stop()
            recorder.stop()
            visit._at_work.remove(recorder)
            recorder.on_gradient = None
            recorder.release()
            recorder.base = None

    def _run(self) -> Any:
        try:
            with self.tape:
                for source in self.sources:
                    if not hasattr(source, "handle") and _differentiable(source):
                        self.tape.watch(source)
                self.watched = len(self.recorder.nodes)
                self.watch.start()
                try:
                    return self.fn()
                finally:
                    self.watch.stop()
        except Exception as error:
            self.error = error
            self.examiner.raised(error)
            return None

    def _watch_new(self) -> None:
        """The tape watches everything that was computed since, so that it can be asked about any line."""
        fresh = self.recorder.nodes[self.watched :]
        self.watched = len(self.recorder.nodes)
        with self.recorder.deaf():
            for node in fresh:
                for tensor, floating in zip(node.output_tensors or (), node.floating, strict=False):
                    if floating:
                        self.tape.watch(tensor)

    def _develop(self, targets: list[Any], before: list[float]) -> XRay:
        """From what was recorded to the lines and their figures."""
        recorder = self.recorder
        call = GradientCall(
            recorder.tapes[0], "gradient", targets, self.sources, None, None, user_stack(recorder.base), recorder.count
        )
        call.frame_names = self.names
        graph = Graph(recorder.nodes, call)
        values = {id(run): _values(run, graph) for run in self.watch.runs}
        wanted = {number: tensor for found in values.values() for number, tensor in found}
        recorded = {number for number in wanted if graph.recorded(graph.producers[number])}
        gradients = self._gradients(graph, call, list(wanted.values()))
        inside = dict(zip(wanted, gradients[len(self.sources) :], strict=True))
        recorder.stop()
        numbers = {n for n in map(number_of, self.sources) if n is not None}
        depending = graph.depending(numbers)
        figures: dict[int, Value] = {}
        for number, tensor in wanted.items():
            gradient = inside[number]
            if number not in depending:
                status = "data"
            elif gradient is not None:
                status = _status(gradient)
            elif self.error is not None:
                status = "unknown"
            elif number not in graph.leading:
                status = "aside"
            else:
                status = "none" if number in recorded else "unrecorded"
            size = rms(gradient) if gradient is not None and status != "data" else None
            figures[number] = Value(rms(tensor), size, status, tuple(tensor.shape))
        findings = tuple(self.diagnosis.findings)
        blocks = lines_of(
            self.watch.blocks,
            [(run, tuple(figures[n] for n, _ in values[id(run)])) for run in self.watch.runs],
            findings,
        )
        weights = tuple(
            Weight(
                name_of(source, call, place),
                Value(
                    size,
                    None if gradient is None else rms(gradient),
                    "unknown" if gradient is None and self.error is not None else _status(gradient),
                    tuple(source.shape),
                ),
            )
            for place, (source, gradient, size) in enumerate(zip(self.sources, gradients, before, strict=False))
        )
        return XRay(blocks, weights, findings, self.error)

    def _gradients(self, graph: Graph, call: GradientCall, values: list[Any]) -> list[Any]:
        """The gradients of the sources and of the values, as the tape gives them."""
        many = len(self.sources)
        nothing: list[Any] = [None] * (many + len(values))
        if self.error is not None:
            return nothing
        if not call.targets:
            call.results = nothing[:many]
            with self.recorder.deaf():
                self.examiner.gradient(call)
            return nothing
        found = nothing

        def asked(heard: GradientCall) -> None:
            nonlocal found
            if heard.tape is not call.tape:
                return
            results = None if heard.results is None else heard.results[:many]
            self.examiner.gradient(
                replace(heard, sources=self.sources, results=results, frame_names=self.names, index=call.index)
            )
            if heard.results is None:
                numbers = {n for n in map(number_of, [*self.sources, *values]) if n is not None}
                flow = Flow(graph, call, numbers)
                found = [flow.at.get(n) if n is not None else None for n in map(number_of, [*self.sources, *values])]

        self.recorder.on_gradient = asked
        try:
            return self.tape.gradient(
                call.targets if len(call.targets) > 1 else call.targets[0], [*self.sources, *values]
            )
        except Exception as error:
            self.error = error
            return found


def _values(run: Any, graph: Graph) -> list[tuple[int, Any]]:
    """The values of one run of a line, each with its number."""
    if run.end <= run.start:
        return []
    found = {}
    for given in run.given:
        for tensor in _tensors(given):
            number = ground.tensor_id(tensor)
            node = graph.producers.get(number) if number is not None else None
            if (
                number is not None
                and node is not None
                and run.start <= node.index < run.end
                and _differentiable(tensor)
            ):
                found[number] = tensor
    if found or run.layers:
        return list(found.items())
    for node in _between(graph, run.start, run.end):
        for number, tensor, floating in zip(node.outputs, node.output_tensors or (), node.floating, strict=False):
            after = graph.consumers.get(number, ())
            if floating and (number in graph.targets or any(n.index >= run.end for n, _ in after)):
                return [(number, tensor)]
    return []


def _between(graph: Graph, start: int, end: int) -> list[Any]:
    """The operations of an interval, the last first."""
    return [node for node in graph.nodes[start:end] if start <= node.index < end][::-1]


def _tensors(given: Any) -> list[Any]:
    try:
        flat = tf.nest.flatten(given, expand_composites=True)
    except (TypeError, ValueError):
        return []
    return [t for t in flat if ground.is_eager(t)]


def _differentiable(tensor: Any) -> bool:
    return bool(tensor.dtype.is_floating or tensor.dtype.is_complex)


def _status(gradient: Any) -> str:
    if gradient is None:
        return "none"
    scale = rms(gradient)
    return "nonfinite" if not math.isfinite(scale) else "zero" if scale == 0 else "ok"
