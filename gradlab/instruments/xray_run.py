"""One run of a function, exposed: what each line computed, and the gradient at it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import tensorflow as tf

from gradlab.instruments.doctor import ground, visit
from gradlab.instruments.doctor.examine import Diagnosis, Examiner, name_of, number_of
from gradlab.instruments.doctor.finding import Finding
from gradlab.instruments.doctor.flow import Flow
from gradlab.instruments.doctor.frames import user_stack
from gradlab.instruments.doctor.graph import SHAPE_ONLY, Graph, is_write
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import GradientCall, names_in
from gradlab.instruments.xray_lines import Value, Weight, rms
from gradlab.instruments.xray_source import Block
from gradlab.instruments.xray_watch import LineWatch, Run


@dataclass(frozen=True)
class Exposed:
    """What one run of a function showed."""

    blocks: list[Block]
    runs: list[tuple[Run, tuple[Value, ...]]]
    variables: tuple[Weight, ...]
    findings: tuple[Finding, ...]
    error: BaseException | None
    faults: tuple[str, ...]


def expose(fn: Callable[[], Any], sources: list[Any], base: FrameType) -> Exposed:
    """Run the function once, watched, and ask for the gradients; everything is put back afterwards."""
    exposure = _Exposure(fn, sources, base)
    visit.at_work.append(exposure.recorder)
    try:
        exposure.run()
        return exposure.develop()
    finally:
        exposure.put_back()
        visit.at_work.remove(exposure.recorder)


class _Exposure:
    """One run, with two tapes: one as the user would open it, and one that watches every line's value."""

    def __init__(self, fn: Callable[[], Any], sources: list[Any], base: FrameType) -> None:
        self.fn = fn
        self.sources = sources
        self.numbers = {n for n in map(number_of, sources) if n is not None}
        self.sizes = [rms(source) for source in sources]
        self.names = names_in(base, sources)
        self.recorder = Recorder(base=base)
        self.recorder.own_tape = True
        self.watch = LineWatch(self.recorder, self._watch_new)
        self.diagnosis = Diagnosis()
        self.examiner = Examiner(self.diagnosis, self.recorder)
        self.tape = tf.GradientTape()
        self.line_tape = tf.GradientTape()
        self.targets: list[Any] = []
        self.error: BaseException | None = None
        self.incomplete = False
        self.seen = 0
        self.depending = set(self.numbers)

    def run(self) -> None:
        """Call the function."""
        self.recorder.start()
        try:
            target = self._recorded()
        except Exception as error:
            self.error = error
            self.examiner.raised(error)
            return
        self.targets = [t for t in tf.nest.flatten(target, expand_composites=True) if tf.is_tensor(t)]

    def _recorded(self) -> Any:
        with self.recorder.deaf():
            self.line_tape.__enter__()
        try:
            with self.tape:
                for source in self.sources:
                    if not hasattr(source, "handle") and differentiable(source):
                        self.tape.watch(source)
                        self._watch(source)
                self.seen = len(self.recorder.nodes)
                self.watch.start()
                try:
                    return self.fn()
                finally:
                    self.watch.stop()
        finally:
            with self.recorder.deaf():
                self.line_tape.__exit__(None, None, None)

    def put_back(self) -> None:
        """No hook is left, and no tensor is held."""
        self.watch.stop()
        self.recorder.stop()
        self.recorder.on_gradient = None
        self.recorder.release()
        self.recorder.base = None

    def _watch(self, tensor: Any) -> None:
        with self.recorder.deaf():
            self.line_tape.watch(tensor)

    def _watch_new(self, run: Run) -> None:
        """Watch what was computed from the sources since, so that the tape can be asked about any line."""
        fresh = self.recorder.nodes[self.seen :]
        self.seen = len(self.recorder.nodes)
        for node in fresh:
            if self.depending.isdisjoint(node.inputs) or node.op in SHAPE_ONLY:
                continue
            self.depending.update(node.outputs)
            if is_write(node):
                self.depending.update(node.handles)
            for tensor, floating in zip(node.output_tensors or (), node.floating, strict=False):
                if floating:
                    self._watch(tensor)
        # what no tape recorded on its way (behind tf.stop_gradient), but the line has all the same
        for tensor in (tensor for part in run.given for tensor in _tensors(part)):
            if differentiable(tensor) and ground.tensor_id(tensor) in self.depending:
                self._watch(tensor)

    def develop(self) -> Exposed:
        """From what was recorded to figures."""
        call = GradientCall(
            self.recorder.tapes[0],
            "gradient",
            self.targets,
            self.sources,
            None,
            None,
            user_stack(self.recorder.base),
            self.recorder.count,
        )
        call.frame_names = self.names
        graph = Graph(self.recorder.nodes, call)
        values = [_values(run, graph) for run in self.watch.runs]
        wanted = {number: tensor for found in values for number, tensor in found}
        around = _gone_around(graph)
        around |= {number for number in wanted if not graph.recorded(graph.producers[number])}
        results, at = self._gradients(graph, call, wanted)
        self.recorder.stop()
        depending = graph.depending(self.numbers)
        lost = {
            n
            for n, result in zip(map(number_of, self.sources), results, strict=True)
            if n is not None and result is None
        }
        blocked = graph.depending(lost) & graph.leading if self.error is None else set()
        inner = self._leading_inside(graph)
        figures: dict[int, Value] = {}
        for number, tensor in wanted.items():
            gradient = at.get(number)
            if not differentiable(tensor):
                if number not in blocked:
                    continue
                status = "none"
            elif number not in depending:
                status = "data"
            elif gradient is not None:
                status = status_of(gradient)
            elif self.error is not None and not self.targets:
                status = "unknown"
            elif number not in graph.leading:
                status = "inner" if number in inner else "aside"
            elif self.incomplete:
                status = "unknown"
            else:
                status = "unrecorded" if number in around else "none"
            size = rms(gradient) if gradient is not None and status != "data" else None
            figures[number] = Value(rms(tensor), size, status, tuple(tensor.shape))
        runs = [
            (run, tuple(figures[number] for number, _ in found if number in figures))
            for run, found in zip(self.watch.runs, values, strict=True)
        ]
        weights = [self._weight(call, place, result) for place, result in enumerate(results)]
        faults = tuple(self.diagnosis.faults + self.recorder.faults)
        return Exposed(self.watch.blocks, runs, tuple(weights), tuple(self.diagnosis.findings), self.error, faults)

    def _leading_inside(self, graph: Graph) -> set[int]:
        """What leads to the target of a tape inside, whose gradient leads on."""
        calls = self.recorder.gradient_results.items()
        found = {n for result, call in calls if result in graph.leading for n in call.target_numbers if n is not None}
        for node in reversed(graph.nodes):
            if not found.isdisjoint(node.outputs):
                found.update(node.inputs)
        return found

    def _weight(self, call: GradientCall, place: int, gradient: Any) -> Weight:
        source = self.sources[place]
        unknown = gradient is None and self.error is not None
        size = None if gradient is None else rms(gradient)
        status = "unknown" if unknown else status_of(gradient)
        return Weight(name_of(source, call, place), Value(self.sizes[place], size, status, tuple(source.shape)))

    def _gradients(self, graph: Graph, call: GradientCall, wanted: dict[int, Any]) -> tuple[list[Any], dict[int, Any]]:
        """The gradients of the sources, and those at the lines' values by number; and the doctor's look at them.

        One backward pass serves both: the rule of a `tf.py_function` can be asked only once.
        """
        nothing = [None] * len(self.sources)
        if self.error is not None:
            return nothing, {}
        values = {number: tensor for number, tensor in wanted.items() if differentiable(tensor)}
        with self.recorder.deaf():
            try:
                asked = [*self.sources, *values.values()]
                found = self.line_tape.gradient(self.targets, asked) if self.targets else [None] * len(asked)
            except Exception:
                # a rule raises somewhere: beyond it the gradients can be had
                self.incomplete = True
                at = dict(Flow(graph, call, self.numbers, keep=True).at)
            else:
                call.results = list(found[: len(self.sources)])
                for variable in self.tape.watched_variables():
                    self.recorder.variables[number_of(variable) or 0] = variable
                self.examiner.gradient(call)
                return call.results, dict(zip(values, found[len(self.sources) :], strict=True))
        return self._plainly(call), at

    def _plainly(self, call: GradientCall) -> list[Any]:
        """The gradients of the sources from the tape that watches nothing else; it may raise as the user's would."""

        def asked(heard: GradientCall) -> None:
            if heard.tape is call.tape:
                heard.frame_names = self.names
                self.examiner.gradient(heard)

        self.recorder.on_gradient = asked
        try:
            return list(self.tape.gradient(self.targets if len(self.targets) > 1 else self.targets[0], self.sources))
        except Exception as error:
            self.error = error
            self.examiner.raised(error)
            return [None] * len(self.sources)


def differentiable(tensor: Any) -> bool:
    """Whether a tensor holds numbers that can have a gradient."""
    return bool(tensor.dtype.is_floating or tensor.dtype.is_complex)


def status_of(gradient: Any) -> str:
    """`none`, `nonfinite`, `zero` or `ok`."""
    if gradient is None:
        return "none"
    scale = rms(gradient)
    return "nonfinite" if not math.isfinite(scale) else "zero" if scale == 0 else "ok"


def _values(run: Run, graph: Graph) -> list[tuple[int, Any]]:
    """The values of one run of a line, each with its number: floating ones, or else whole numbers that it bound."""
    if run.end <= run.start:
        return []
    given = {}
    for tensor in (tensor for part in run.given for tensor in _tensors(part)):
        number = ground.tensor_id(tensor)
        node = graph.producers.get(number) if number is not None else None
        if number is not None and node is not None and run.start <= node.index < run.end:
            given[number] = tensor
    floating = {number: tensor for number, tensor in given.items() if differentiable(tensor)}
    if floating or run.layers:
        return list(floating.items())
    handed_on = _handed_on(run, graph)
    if handed_on:
        return handed_on
    return [(number, tensor) for number, tensor in given.items() if tensor.dtype.is_integer or tensor.dtype.is_bool]


def _handed_on(run: Run, graph: Graph) -> list[tuple[int, Any]]:
    """The last floating tensor that was computed in this run and is used after it, or is the result."""
    nodes = (node for node in reversed(graph.nodes[run.start : run.end]) if run.start <= node.index < run.end)
    for node in nodes:
        for number, tensor, floating in zip(node.outputs, node.output_tensors or (), node.floating, strict=False):
            after = graph.consumers.get(number, ())
            if floating and (number in graph.targets or any(later.index >= run.end for later, _ in after)):
                return [(number, tensor)]
    return []


def _gone_around(graph: Graph) -> set[int]:
    """Tensors from which the gradient is led away: those computed inside a function with a hand-written rule."""
    carrying = set(graph.targets)
    inside: set[int] = set()
    for node in reversed(graph.nodes):
        if any(number in carrying and graph.producers[number] is node for number in node.outputs):
            carrying.update(node.inputs)
        if node.rule is not None:
            inside.update(node.outputs)
        elif not inside.isdisjoint(node.outputs):
            inside.update(node.inputs)
    return inside - carrying


def _tensors(given: Any) -> list[Any]:
    try:
        flat = tf.nest.flatten(given, expand_composites=True)
    except (TypeError, ValueError):
        return []
    return [tensor for tensor in flat if ground.is_eager(tensor)]
