"""Why a gradient is zero or not finite: the operation that is sent a healthy gradient and sends on a sick one."""

from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.flow import Flow, scale_of
from gradlab.instruments.doctor.forward import LINALG, already_broken, forward_origin, overflow
from gradlab.instruments.doctor.frames import innermost
from gradlab.instruments.doctor.graph import Graph, is_compiled
from gradlab.instruments.doctor.records import Node
from gradlab.instruments.doctor.way import steps
from gradlab.instruments.doctor.zeros import in_32_bits, zero


def why_sick(graph: Graph, flow: Flow, number: int, status: str) -> Cut | None:
    """The cause of a gradient that is `zero` or `nonfinite`; None where this pass finds it healthy."""
    origin = forward_origin(graph, number)
    if origin is not None:
        return overflow(graph, origin, number)
    broken = already_broken(graph)
    if broken is not None:
        return broken
    return _walk(graph, flow, number, status)


def _walk(graph: Graph, flow: Flow, number: int, status: str) -> Cut | None:
    def sick(gradient: Any) -> bool:
        scale = flow.scale(gradient)
        return scale.zero if status == "zero" else not scale.finite

    seen, queue = {number}, [number]
    cuts: list[Node] = []
    for tensor in queue:
        edges = [(n, p, flow.into[n.index, p]) for n, p in graph.consumers.get(tensor, ()) if (n.index, p) in flow.into]
        if status == "zero" and edges and not all(sick(g) for _, _, g in edges):
            return _cancellation(graph, flow, number, [n for n, _, g in edges if not sick(g)])
        for node, _, gradient in edges:
            if not sick(gradient):
                continue
            sent = flow.sent(node)
            healthy = not sent.zero if status == "zero" else sent.finite
            if healthy:
                cuts.append(node)
                continue
            for after in node.outputs:
                if after not in seen and after in flow.at and sick(flow.at[after]):
                    seen.add(after)
                    queue.append(after)
    if not cuts:
        return _nothing_sent(graph, flow) if status == "zero" else None
    node = max(cuts, key=lambda n: (flow.sent(n).largest if np.isfinite(flow.sent(n).largest) else 0.0, n.index))
    if status == "zero" and node.op == "Complex":
        node = _lost_component(graph, flow, node, number)
    cut = zero(graph, flow, node, number) if status == "zero" else _nonfinite(graph, flow, node)
    cut.path = cut.path or steps(graph.way(number, node))
    return cut


def _nothing_sent(graph: Graph, flow: Flow) -> Cut | None:
    """The gradient that was given for the target (`output_gradients`) is itself zero."""
    for number in graph.targets:
        start = flow.at.get(number)
        if start is not None and flow.scale(start).zero:
            made = graph.producers.get(getattr(start, "_id", -1))
            place = innermost(made.stack) if made is not None else None
            note = "the gradient that is given for the target (output_gradients) is zero everywhere"
            return Cut("zero-gradient-op", made.op if made is not None else "output_gradients", place, note)
    return None


def _lost_component(graph: Graph, flow: Flow, node: Node, number: int) -> Node:
    """Where a complex number's real or imaginary part is dropped, if it is that part that this variable makes."""
    part = tf.math.imag if node.inputs and node.inputs[-1] in _from(graph, number, node) else tf.math.real
    step = node
    while step.output_tensors and step.output_tensors[0].dtype.is_complex:
        sent = flow.at.get(step.outputs[0])
        if sent is None or not scale_of(part(sent)).zero:
            break
        after = [n for n, p in graph.consumers.get(step.outputs[0], ()) if (n.index, p) in flow.into]
        if not after:
            break
        step = after[0]
    return step


def _from(graph: Graph, number: int, node: Node) -> set[int]:
    depending = graph.depending([number])
    return {n for n in node.inputs if n in depending}


def _cancellation(graph: Graph, flow: Flow, number: int, parts: list[Node]) -> Cut:
    """Contributions that are not zero add up to zero: blame the operation at which their ways meet."""
    reach: dict[int, int] = {}
    for bit, node in enumerate(parts[:30]):
        for out in node.outputs:
            reach[out] = reach.get(out, 0) | (1 << bit)
    meeting = None
    for node in graph.nodes:
        bits = [reach[n] for n in node.inputs if n in reach]
        if not bits:
            continue
        joined = 0
        for some in bits:
            joined |= some
        if len(set(bits)) > 1 and joined.bit_count() > 1 and node.index in flow.upstream:
            meeting = node
            break
        for out in node.outputs:
            reach[out] = reach.get(out, 0) | joined
    node = meeting or parts[-1]
    return Cut(
        "zero-cancellation",
        node.op,
        innermost(node.stack),
        "the contributions along its ways are not zero, but their sum is",
        path=steps(graph.way(number, node)),
    )


def _nonfinite(graph: Graph, flow: Flow, node: Node) -> Cut:
    line = innermost(node.stack)
    if is_compiled(node):
        return Cut("nan-singular-point", node.op, line, "somewhere inside the compiled function that is called here")
    if node.rule is not None:
        return Cut(
            "custom-gradient",
            "tf.custom_gradient",
            line,
            "its hand-written backward rule gives values that are not finite",
        )
    wider = in_32_bits(node, flow)
    if wider is not None and all(scale_of(g).finite for g in wider if g is not None):
        return Cut("mixed-precision", node.op, line, "the gradient overflows 16 bits here")
    if node.op in LINALG:
        return Cut("degenerate-linalg", node.op, line, "its derivative divides by differences that are zero")
    select = _masking(graph, flow, node)
    if select is not None:
        where = innermost(select.stack)
        note = "an infinite slope times a zero from the branch that `where` didn't choose is NaN"
        cut = Cut("nan-where", node.op, line, note)
        if where is not None:
            cut.details["where"] = where.code
        return cut
    forward = node.of
    if forward is not None:
        line = innermost(forward.stack) or line
    return Cut("nan-singular-point", node.op, line, "at this value its slope is infinite or undefined")


def _masking(graph: Graph, flow: Flow, node: Node) -> Node | None:
    """The `where` further on that left out what this operation computed."""
    seen, queue = set(node.outputs), list(node.outputs)
    for number in queue:
        for after, _ in graph.consumers.get(number, ()):
            if after.index not in flow.upstream:
                continue
            if after.op in ("Select", "SelectV2"):
                return after
            for out in after.outputs:
                if out not in seen:
                    seen.add(out)
                    queue.append(out)
    return None
