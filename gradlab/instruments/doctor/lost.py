"""Why a gradient is None: the step of the program at which the way from the target back to the variable ends."""

import re
from typing import Any

import tensorflow as tf

from gradlab.instruments.doctor import ground
from gradlab.instruments.doctor.finding import Cut, Step
from gradlab.instruments.doctor.frames import Place, Stack, in_function_of, innermost, outside
from gradlab.instruments.doctor.graph import Graph, is_compiled, is_write
from gradlab.instruments.doctor.recording import GradientCall, Node, Recorder, WayOut

_DRAWS = re.compile(r"Multinomial|Random|Categorical|Binomial|Poisson|Gamma(V\d)?$|Uniform|Normal|SampleDistorted")
_COMPARISONS = re.compile(
    r"^(Greater|Less|GreaterEqual|LessEqual|Equal|NotEqual|ApproximateEqual|Logical\w+|Sign|IsNan|IsFinite|IsInf|Where)$"
)
_STOPS = {"StopGradient", "PreventGradient"}
_PYTHON = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}


def why_none(recorder: Recorder, graph: Graph, call: GradientCall, source: Any, number: int | None) -> Cut:
    """The cause of a gradient that isn't there."""
    variable = hasattr(source, "handle")
    dtype = tf.as_dtype(source.dtype) if getattr(source, "dtype", None) is not None else None
    if number is None or (not tf.is_tensor(source) and not variable):
        return Cut(
            "unconnected-target", "not a tensor", innermost(call.stack), "the source is not a tensor or a variable"
        )
    if dtype is not None and not (dtype.is_floating or dtype.is_complex):
        return _integer_source(recorder, call, source, number)
    if not graph.targets:
        return _not_a_tensor(recorder, graph, call, number)
    tape_cut = _tape_mistake(recorder, graph, call, source, number)
    if tape_cut is not None:
        return tape_cut
    found, blocked = graph.reached(number)
    if not (graph.leading & graph.depending([number])) or number not in graph.leading:
        return _no_way(recorder, graph, call, source, number, found)
    if not blocked:
        return _no_way(recorder, graph, call, source, number, found)
    node, place = _main(graph, number, blocked)
    cut = _blocked(recorder, graph, call, node, place)
    cut.path = steps(graph.way(number, node))
    others = sorted({n.op for n, _ in blocked} - {node.op})
    if others:
        cut.details["others"] = ", ".join(others)
    return cut


def steps(nodes: list[Node]) -> tuple[Step, ...]:
    """A way through the program as steps; several operations of one line are one step each, repeats dropped."""
    found: list[Step] = []
    for node in nodes:
        place = innermost(node.stack)
        step = Step(node.op, place.file if place else None, place.line if place else None, place.code if place else "")
        if not found or found[-1] != step:
            found.append(step)
    return tuple(found)


def _main(graph: Graph, number: int, blocked: list[tuple[Node, int]]) -> tuple[Node, int]:
    """Of several cuts the one that alone keeps the gradient away; else the one nearest to the target.

    Libraries stop gradients on side ways of their own (the moments of a batch normalisation, for one).
    """
    if len(blocked) == 1:
        return blocked[0]
    for node, place in blocked[:50]:
        found, _ = graph.reached(number, opened=node)
        if not graph.targets.isdisjoint(found):
            return node, place
    return blocked[-1]


def _integer_source(recorder: Recorder, call: GradientCall, source: Any, number: int) -> Cut:
    kind = "variable" if hasattr(source, "handle") else "tensor"
    name = tf.as_dtype(source.dtype).name
    made = (
        innermost(recorder.creation.get(number, ())) or innermost(_made_by(recorder, number)) or innermost(call.stack)
    )
    return Cut("integer-source", f"{name} {kind}", made, f"the {kind} itself holds {name} values")


def _made_by(recorder: Recorder, number: int) -> Stack:
    for node in reversed(recorder.nodes):
        if number in node.outputs:
            return node.stack
    return ()


def _not_a_tensor(recorder: Recorder, graph: Graph, call: GradientCall, number: int) -> Cut:
    way_out = _last_way_out(recorder, graph, call, number)
    if way_out is not None:
        return way_out
    return Cut(
        "left-tensorflow", "not a tensor", innermost(call.stack), "the target is a Python or NumPy value, not a tensor"
    )


def _tape_mistake(recorder: Recorder, graph: Graph, call: GradientCall, source: Any, number: int) -> Cut | None:
    """Not watched, watched late, or computed where the tape wasn't listening."""
    tape = call.tape
    if tape is None:
        return None
    variable = hasattr(source, "handle")
    consumers = [(n, p) for n, p in graph.consumers.get(number, ()) if graph.leads(n) and not is_write(n)]
    recorded = [pair for pair in consumers if tape in pair[0].tapes]
    inner = graph.producers.get(number)
    if number in graph.leading and consumers and not recorded and number not in graph.targets:
        first = consumers[0][0]
        return _unheard(recorder, graph, call, first, number)
    watched = tape.watched.get(number)
    if variable:
        trainable = bool(getattr(source, "trainable", True))
        if watched is None and not (trainable and tape.watches_variables):
            if not trainable:
                made = innermost(recorder.creation.get(number, ())) or innermost(call.stack)
                return Cut(
                    "non-trainable", "trainable=False", made, "a tape watches only trainable variables by itself"
                )
            place = innermost(tape.stack)
            return Cut("not-watched", "watch_accessed_variables=False", place, "this tape watches nothing by itself")
        return None
    if inner is not None and tape in inner.tapes and number in graph.leading and recorded and _joined(graph, number):
        return None
    if watched is None and (inner is None or tape not in inner.tapes):
        if not consumers:
            return None
        rebound = _rebound(graph, number)
        if rebound is not None:
            return rebound
        return Cut(
            "not-watched", "tape.watch missing", innermost(tape.stack), "a tape watches plain tensors only when told to"
        )
    if watched is not None and recorded and recorded[0][0].index < watched[0]:
        return Cut(
            "not-watched",
            "tape.watch late",
            innermost(watched[1]),
            "the tape was told to watch it after it had been used",
        )
    return None


def _rebound(graph: Graph, number: int) -> Cut | None:
    """A plain tensor that was computed from a variable, before the tape: `w = w - rate * g` makes a tensor of `w`."""
    made = graph.producers.get(number)
    if made is None or made.handles:
        return None
    reads = {n for node in graph.nodes if node.op == "ReadVariableOp" for n in node.outputs}
    if reads.isdisjoint(made.inputs):
        return None
    note = "this made a plain tensor of the variable; a tape watches plain tensors only when told to"
    return Cut("not-watched", "rebound variable", innermost(made.stack), note, details={"rebound": "yes"})


def _joined(graph: Graph, number: int) -> bool:
    return any(graph.recorded(node) for node, _ in graph.consumers.get(number, ()))


def _unheard(recorder: Recorder, graph: Graph, call: GradientCall, node: Node, number: int) -> Cut:
    """An operation on the way ran while the tape wasn't listening."""
    tape = call.tape
    assert tape is not None
    path = steps(graph.way(number, node))
    if node.op in _STOPS:
        return Cut(
            "stop-gradient", node.op, innermost(node.stack), "the gradient was stopped here on purpose", path=path
        )
    target = next(iter(graph.targets), None)
    if target is not None and recorder.gradient_results.get(target) is not None and _second_order(recorder, graph):
        earlier = recorder.gradient_results[target]
        return Cut(
            "second-order-tape",
            "call outside tape",
            innermost(earlier.stack),
            "the first gradient was taken while no tape recorded it",
            path=path,
        )
    until = call.index if tape.closed is None else tape.closed
    if tape.opened <= node.index < until and not node.tapes:
        return _deafened(graph, node, path)
    place = innermost(node.stack) if recorder.own_tape else in_function_of(node.stack, call.stack)
    if node.index < tape.opened:
        return Cut(
            "captured-outside",
            "captured EagerTensor",
            innermost(node.stack),
            "it ran before the tape was opened; inside, only its result is used",
            path=path,
        )
    return Cut("outside-tape", "call outside tape", place, "it ran while the tape was not recording", path=path)


def _deafened(graph: Graph, node: Node, path: tuple[Step, ...]) -> Cut:
    """An operation ran inside the tape's block, but recording was stopped."""
    queue, seen = [node], {node.index}
    for step in queue:
        if step.op in _STOPS:
            return Cut(
                "stop-gradient", step.op, innermost(step.stack), "the gradient was stopped here on purpose", path=path
            )
        if is_compiled(step):
            return Cut("nondiff-op", step.op, innermost(step.stack), _COMPILED, path=path)
        for number in step.outputs:
            for after, _ in graph.consumers.get(number, ()):
                if not after.tapes and after.index not in seen and graph.leads(after):
                    seen.add(after.index)
                    queue.append(after)
    if "custom_gradient" in node.stack:
        note = (
            "recomputation records nothing of this block; a tensor that it uses without being given it gets no gradient"
        )
        return Cut("recompute-grad", "tf.recompute_grad", innermost(node.stack), note, path=path)
    return Cut(
        "outside-tape",
        "stop_recording",
        innermost(node.stack),
        "it ran while the tape's recording was stopped",
        path=path,
    )


_COMPILED = "a compiled function is called here, and nothing in it passes a gradient to this input"


def _second_order(recorder: Recorder, graph: Graph) -> bool:
    return any(target in recorder.gradient_results for target in graph.targets)


def _blocked(recorder: Recorder, graph: Graph, call: GradientCall, node: Node, place: int) -> Cut:
    """What kind of cut an operation is."""
    line = innermost(node.stack)
    op = node.op
    if node.of is not None or (node.in_backward and node.rule is None):
        forward = node.of
        line = (innermost(forward.stack) if forward is not None else None) or line
        return Cut(
            "second-order-op",
            op,
            line,
            f"the backward rule of {forward.op if forward else 'an operation'} can't be differentiated again",
        )
    if is_write(node):
        metric = outside(node.stack, "metric")
        if "metric" in node.stack:
            return Cut(
                "metric-as-loss", op, metric or line, "a metric adds to its own variables and reads the result back"
            )
        return Cut("assign-state", op, line, "the value was assigned to a variable; assignments carry no gradient")
    if op in _STOPS:
        return Cut("stop-gradient", op, line, "the gradient was stopped here on purpose")
    if not graph.recorded(node) and call.tape is not None and call.tape not in node.tapes:
        return _unheard(recorder, graph, call, node, node.inputs[place])
    if is_compiled(node):
        return Cut("nondiff-op", node.op, line, _COMPILED)
    if node.rule is not None:
        return Cut(
            "custom-gradient", "tf.custom_gradient", line, "its hand-written backward rule returns None for this input"
        )
    if "custom_gradient" in node.stack and (called := outside(node.stack, "custom_gradient")) is not None:
        wrapped = [
            n for n in graph.nodes if n.rule is not None and n.index > node.index and "custom_gradient" in n.stack
        ]
        if wrapped and not (set(wrapped[0].inputs) & graph.depending([node.inputs[place]])):
            return Cut(
                "custom-gradient",
                op,
                called,
                "the function's own backward rule is bypassed: tensors given as keywords don't reach it",
            )
    if op in _PYTHON:
        return Cut("left-tensorflow", op, line, "the computation inside leaves TensorFlow; nothing of it is recorded")
    if any(graph.producers.get(n) is not node for n in node.outputs):
        return Cut("custom-gradient", op, line, "a hand-written backward rule replaced what the tape had recorded")
    return _operation(graph, node, place, line)


def _operation(graph: Graph, node: Node, place: int, line: Place | None) -> Cut:
    op = node.op
    used = [f for n, f in zip(node.outputs, node.floating, strict=True) if n in graph.leading]
    if _DRAWS.search(op) or (ground.is_stateful(op) and not node.handles):
        return Cut("sampling", op, line, "a random draw has no derivative with respect to its parameters")
    if not any(used):
        if op == "Cast":
            return Cut("int-cast", op, line, "a float became an integer")
        if _COMPARISONS.match(op) or _only_bool(node):
            return Cut("hard-threshold", op, line, "a comparison has no slope")
        return Cut("nondiff-op", op, line, "it gives whole numbers, which carry no gradient")
    error = graph.unruly.get(node.index)
    if isinstance(error, LookupError) or ground.has_rule(op) is None:
        return Cut("no-registered-gradient", op, line, "TensorFlow has no backward rule for it")
    passing = graph.passes(node)
    if any(passing):
        return Cut("partial-gradient-op", op, line, f"it passes a gradient to other inputs, but not to input {place}")
    return Cut("nondiff-op", op, line, "TensorFlow declares it not differentiable")


def _only_bool(node: Node) -> bool:
    return bool(node.output_tensors) and all(t.dtype == tf.bool for t in node.output_tensors or ())


def _last_way_out(recorder: Recorder, graph: Graph, call: GradientCall, number: int) -> Cut | None:
    depending = graph.depending([number])
    leaving = [w for w in recorder.ways_out if w.tensor in depending and w.index <= call.index]
    returns = first_returns(graph)
    for way_out in reversed(leaving):
        if not graph.targets or any(number > way_out.newest for number in returns):
            producer = graph.producers.get(way_out.tensor)
            path = steps(graph.way(number, producer)) if producer is not None else ()
            cause = "hard-threshold" if way_out.kind == "bool()" else "left-tensorflow"
            return Cut(
                cause, name_of_exit(way_out), innermost(way_out.stack), "here the value leaves TensorFlow", path=path
            )
    return None


def name_of_exit(way_out: WayOut) -> str:
    """What took a value out of TensorFlow: `numpy()`, `float()`, or the wrapper for a Python function."""
    return "PyFunc" if "py_function" in way_out.stack else way_out.kind


def first_returns(graph: Graph) -> dict[int, Node]:
    """Tensors on the way to the target that no recorded operation made, and who first used each."""
    found: dict[int, Node] = {}
    for node in graph.nodes:
        if graph.leads(node):
            for number in node.inputs:
                if number not in graph.producers and number not in node.handles:
                    found.setdefault(number, node)
    for number in graph.targets:
        if number not in graph.producers and graph.nodes:
            found.setdefault(number, graph.nodes[-1])
    return found


def _no_way(recorder: Recorder, graph: Graph, call: GradientCall, source: Any, number: int, found: set[int]) -> Cut:
    """The recorded program has no way at all from the source to the target."""
    variable = hasattr(source, "handle")
    if _second_order(recorder, graph):
        return _second_order_gone(recorder, graph, call)
    inner = _inner_gradient(recorder, graph, number)
    if inner is not None:
        note = "the derivative that was taken here doesn't change with it"
        return Cut("second-order-vanishes", "gradient", innermost(inner.stack), note)
    way_out = _last_way_out(recorder, graph, call, number)
    if way_out is not None:
        if way_out.cause == "left-tensorflow" and not recorder_sure(recorder, way_out):
            way_out.also = ("unused-variable",)
        return way_out
    if not variable:
        made = graph.producers.get(number)
        if made is not None and call.tape in made.tapes:
            return Cut(
                "unconnected-target",
                "recomputed tensor",
                innermost(made.stack),
                "the target was computed without this tensor",
            )
        target = next((graph.producers[t] for t in graph.targets if t in graph.producers), None)
        place = innermost(call.stack)
        if made is not None and target is not None and made.index > target.index:
            note = "this tensor was made after the target"
            return Cut("unconnected-target", "recomputed tensor", innermost(made.stack), note)
        if target is not None:
            place = innermost(target.stack) if recorder.own_tape else in_function_of(target.stack, call.stack)
        return Cut("unconnected-target", "unconnected", place, "the target was computed without this tensor")
    if any(not is_write(node) for node, _ in graph.consumers.get(number, ())):
        last = dead_end(graph, number)
        end = innermost(last.stack) if last is not None else innermost(call.stack)
        return Cut(
            "unused-variable",
            "unused",
            end,
            "it is used, but the result never enters the target",
            also=("left-tensorflow",) if _could_return(graph, last) else (),
            path=steps(graph.way(number, last)) if last else (),
        )
    compiled = next((node for node in graph.nodes if is_compiled(node) and graph.leads(node)), None)
    if compiled is not None:
        note = "nothing that ran reads it, nor does the compiled (or reloaded) function that is called here"
        return Cut("unused-variable", compiled.op, innermost(compiled.stack), note, also=("saved-model",))
    return Cut("unused-variable", "unused", innermost(call.stack), "nothing that ran reads it")


def _inner_gradient(recorder: Recorder, graph: Graph, number: int) -> GradientCall | None:
    """An inner `tape.gradient` on the way to the target, of something that depends on this variable."""
    depending = graph.depending([number])
    for result, inner in recorder.gradient_results.items():
        targets = {ground.tensor_id(target) for target in inner.targets}
        if result in graph.leading and not depending.isdisjoint(targets):
            return inner
    return None


def recorder_sure(recorder: Recorder, cut: Cut) -> bool:
    """Whether leaving TensorFlow was proved (by a rerun) and not only seen."""
    return bool(cut.details.get("proved"))


def dead_end(graph: Graph, number: int) -> Node | None:
    """The last operation whose result depends on the source."""
    depending = graph.depending([number])
    for node in reversed(graph.nodes):
        if any(n in depending for n in node.inputs) and any(node.floating):
            return node
    return None


def _could_return(graph: Graph, last: Node | None) -> bool:
    """Whether a tensor that nobody computed entered the target after the last dependent operation."""
    return last is not None and any(n > max(last.outputs, default=0) for n in first_returns(graph))


def _second_order_gone(recorder: Recorder, graph: Graph, call: GradientCall) -> Cut:
    target = next(t for t in graph.targets if t in recorder.gradient_results)
    earlier = recorder.gradient_results[target]
    place = innermost(earlier.stack)
    if call.tape is not None and not (
        call.tape.opened <= earlier.index and (call.tape.closed is None or earlier.index <= call.tape.closed)
    ):
        return Cut(
            "second-order-tape",
            "call outside tape",
            place,
            "the first gradient was taken while the outer tape was not recording",
        )
    if earlier.index >= 0 and target not in graph.producers:
        return Cut(
            "second-order-tape", "call outside tape", place, "the first gradient was taken while no tape recorded it"
        )
    return Cut("second-order-vanishes", "gradient", place, "the first derivative doesn't depend on this variable")
