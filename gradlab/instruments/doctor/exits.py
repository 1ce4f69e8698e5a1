"""No recorded way at all: the value left TensorFlow, or what was computed is not used."""

from typing import Any

from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.frames import Stack, in_function_of, innermost
from gradlab.instruments.doctor.graph import Graph, is_compiled, is_write
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import GradientCall, Node, WayOut
from gradlab.instruments.doctor.tape_use import inner_gradient, second_order, second_order_gone
from gradlab.instruments.doctor.way import steps


def made_by(recorder: Recorder, number: int) -> Stack:
    """The lines that were running when a tensor was made; empty where nobody saw it."""
    for node in reversed(recorder.nodes):
        if number in node.outputs:
            return node.stack
    return ()


def not_a_tensor(recorder: Recorder, graph: Graph, call: GradientCall, number: int) -> Cut:
    """The target is a number of Python's or NumPy's."""
    way_out = _last_way_out(recorder, graph, call, number)
    if way_out is not None:
        return way_out
    return Cut(
        "left-tensorflow", "not a tensor", innermost(call.stack), "the target is a Python or NumPy value, not a tensor"
    )


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


def no_way(recorder: Recorder, graph: Graph, call: GradientCall, source: Any, number: int, found: set[int]) -> Cut:
    """The recorded program has no way at all from the source to the target."""
    variable = hasattr(source, "handle")
    if second_order(recorder, graph):
        return second_order_gone(recorder, graph, call)
    inner = inner_gradient(recorder, graph, number)
    if inner is not None:
        note = "the derivative that was taken here doesn't change with it"
        return Cut("second-order-vanishes", "gradient", innermost(inner.stack), note)
    way_out = _last_way_out(recorder, graph, call, number)
    if way_out is not None:
        if way_out.cause == "left-tensorflow" and not proved(way_out):
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


def proved(cut: Cut) -> bool:
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
