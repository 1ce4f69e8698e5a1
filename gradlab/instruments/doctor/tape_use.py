"""Mistakes with the tape itself: not watched, watched late, not listening, a derivative taken outside of it."""

from typing import Any

from gradlab.instruments.doctor.finding import Cut, Step
from gradlab.instruments.doctor.frames import in_function_of, innermost
from gradlab.instruments.doctor.graph import Graph, is_compiled, is_write
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import GradientCall, Node
from gradlab.instruments.doctor.way import steps

STOPS = {"StopGradient", "PreventGradient"}


def tape_mistake(recorder: Recorder, graph: Graph, call: GradientCall, source: Any, number: int) -> Cut | None:
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
        return unheard(recorder, graph, call, first, number)
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


def unheard(recorder: Recorder, graph: Graph, call: GradientCall, node: Node, number: int) -> Cut:
    """An operation on the way ran while the tape wasn't listening."""
    tape = call.tape
    assert tape is not None
    path = steps(graph.way(number, node))
    if node.op in STOPS:
        return Cut(
            "stop-gradient", node.op, innermost(node.stack), "the gradient was stopped here on purpose", path=path
        )
    target = next(iter(graph.targets), None)
    if target is not None and recorder.gradient_results.get(target) is not None and second_order(recorder, graph):
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
        if step.op in STOPS:
            return Cut(
                "stop-gradient", step.op, innermost(step.stack), "the gradient was stopped here on purpose", path=path
            )
        if is_compiled(step):
            return Cut("nondiff-op", step.op, innermost(step.stack), COMPILED, path=path)
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


COMPILED = "a compiled function is called here, and nothing in it passes a gradient to this input"


def second_order(recorder: Recorder, graph: Graph) -> bool:
    """Whether the target is itself a gradient."""
    return any(target in recorder.gradient_results for target in graph.targets)


def inner_gradient(recorder: Recorder, graph: Graph, number: int) -> GradientCall | None:
    """An inner `tape.gradient` on the way to the target, of something that depends on this variable."""
    depending = graph.depending([number])
    for result, inner in recorder.gradient_results.items():
        if result in graph.leading and not depending.isdisjoint(inner.target_numbers):
            return inner
    return None


def second_order_gone(recorder: Recorder, graph: Graph, call: GradientCall) -> Cut:
    """A gradient of a gradient that isn't there: never recorded, or not dependent."""
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
