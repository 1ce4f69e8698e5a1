"""What kind of cut an operation is: a comparison, a draw, whole numbers, an assignment, a stop, a rule gone around."""

import re

import tensorflow as tf

from gradlab.instruments.doctor import ground
from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.frames import Place, innermost, outside
from gradlab.instruments.doctor.graph import Graph, is_compiled, is_write
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import GradientCall, Node
from gradlab.instruments.doctor.tape_use import COMPILED, STOPS, unheard

_DRAWS = re.compile(r"Multinomial|Random|Categorical|Binomial|Poisson|Gamma(V\d)?$|Uniform|Normal|SampleDistorted")


_COMPARISONS = re.compile(
    r"^(Greater|Less|GreaterEqual|LessEqual|Equal|NotEqual|ApproximateEqual|Logical\w+|Sign|IsNan|IsFinite|IsInf|Where)$"
)


PYTHON = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}


def what_blocks(recorder: Recorder, graph: Graph, call: GradientCall, node: Node, place: int) -> Cut:
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
    if op in STOPS:
        return Cut("stop-gradient", op, line, "the gradient was stopped here on purpose")
    if not graph.recorded(node) and call.tape is not None and call.tape not in node.tapes:
        return unheard(recorder, graph, call, node, node.inputs[place])
    if is_compiled(node):
        return Cut("nondiff-op", node.op, line, COMPILED)
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
    if op in PYTHON:
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
