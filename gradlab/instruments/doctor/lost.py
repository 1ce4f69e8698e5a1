"""Why a gradient is None: the step of the program at which the way from the target back to the variable ends."""

from typing import Any

import tensorflow as tf

from gradlab.instruments.doctor.cuts import what_blocks
from gradlab.instruments.doctor.exits import made_by, no_way, not_a_tensor
from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.frames import innermost
from gradlab.instruments.doctor.graph import Graph
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import GradientCall, Node
from gradlab.instruments.doctor.tape_use import tape_mistake
from gradlab.instruments.doctor.way import steps


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
        return not_a_tensor(recorder, graph, call, number)
    tape_cut = tape_mistake(recorder, graph, call, source, number)
    if tape_cut is not None:
        return tape_cut
    found, blocked = graph.reached(number)
    if number not in graph.leading or not blocked:
        return no_way(recorder, graph, call, source, number, found)
    node, place = _main(graph, number, blocked)
    cut = what_blocks(recorder, graph, call, node, place)
    cut.path = steps(graph.way(number, node))
    others = sorted({n.op for n, _ in blocked} - {node.op})
    if others:
        cut.details["others"] = ", ".join(others)
    return cut


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
    made = innermost(recorder.creation.get(number, ())) or innermost(made_by(recorder, number)) or innermost(call.stack)
    return Cut("integer-source", f"{name} {kind}", made, f"the {kind} itself holds {name} values")
