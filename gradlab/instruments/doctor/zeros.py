"""What kind of zero an operation makes of a gradient: flat everywhere, clipped, saturated, multiplied by zero."""

from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.instruments.doctor.cuts import PYTHON
from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.flow import Flow, scale_of
from gradlab.instruments.doctor.forward import HALF, LINALG, floats
from gradlab.instruments.doctor.frames import innermost
from gradlab.instruments.doctor.graph import SHAPE_ONLY, Graph, is_compiled, run_rule
from gradlab.instruments.doctor.records import Node


def _cast_up(tensors: Any) -> list[Any]:
    return [tf.cast(t, tf.float32) if t is not None and t.dtype in HALF else t for t in tensors]


def in_32_bits(node: Node, flow: Flow) -> list[Any] | None:
    """What the rule sends back when it is worked out in float32; None where it can't be."""
    if not any(t.dtype in HALF for t in (*floats(node.input_tensors), *floats(node.output_tensors))):
        return None
    upstream = _cast_up(flow.upstream[node.index])
    if node.op == "Cast":
        return upstream
    try:
        return run_rule(node, upstream, _cast_up(node.input_tensors), _cast_up(node.output_tensors))
    except Exception:
        return None


def zero(graph: Graph, flow: Flow, node: Node, number: int) -> Cut:
    """Why an operation that is sent a gradient sends on only zeros."""
    line = innermost(node.stack)
    if node.of is not None or node.in_backward:
        forward = node.of
        line = (innermost(forward.stack) if forward else None) or line
        return Cut("second-order-vanishes", node.op, line, "the second derivative is zero here")
    if node.op in PYTHON:
        return Cut(
            "left-tensorflow",
            node.op,
            line,
            "the Python function inside computes without TensorFlow, which is reported as a slope of zero",
        )
    if is_compiled(node):
        return Cut("zero-saturation", node.op, line, "somewhere inside the compiled function that is called here")
    if node.rule is not None:
        return Cut("custom-gradient", "tf.custom_gradient", line, "its hand-written backward rule gives zero")
    if node.op in LINALG:
        return Cut(
            "degenerate-linalg",
            node.op,
            line,
            "equal eigen- or singular values: their directions are not defined, and TensorFlow gives zero",
        )
    if any(not scale_of(t).finite for t in floats(node.output_tensors)):
        cause = "mixed-precision" if any(t.dtype in HALF for t in floats(node.output_tensors)) else "nan-singular-point"
        return Cut(cause, node.op, line, "the value itself is not finite here")
    wider = in_32_bits(node, flow)
    if wider is not None and any(not scale_of(g).zero for g in wider if g is not None):
        return Cut(
            "mixed-precision", node.op, line, "the gradient is smaller than the smallest number that 16 bits hold"
        )
    if _zero_everywhere(node):
        return Cut("zero-gradient-op", node.op, line, "its derivative is zero by definition, whatever the values")
    factor = _own_zero(node) or _zero_factor(graph, node)
    if factor is not None:
        return _zero_factor_cut(graph, flow, node, factor)
    if node.op in _PRODUCTS:
        return Cut("zero-cancellation", node.op, line, "neither factor is zero: the terms of its sums cancel")
    if _chosen_other(node):
        return Cut(
            "zero-clip", node.op, line, "every value lies where the clip's limit (or the other branch) was chosen"
        )
    return Cut("zero-saturation", node.op, line, "every value lies where the function is flat")


def _zero_everywhere(node: Node) -> bool:
    """Whether the rule gives zeros for other values too."""
    rng = np.random.default_rng(0)

    def other(tensor: Any) -> Any:
        if tensor is None or not (tensor.dtype.is_floating or tensor.dtype.is_complex):
            return tensor
        return tf.cast(tf.constant(rng.uniform(-1.0, 1.0, tensor.shape)), tensor.dtype)

    for _ in range(3):
        inputs = [other(t) for t in node.input_tensors or ()]
        outputs = [other(t) for t in node.output_tensors or ()]
        upstream = [
            other(t) if t.dtype.is_floating or t.dtype.is_complex else tf.zeros_like(t)
            for t in node.output_tensors or ()
        ]
        try:
            answers = run_rule(node, upstream, inputs, outputs)
        except Exception:
            return False
        if any(not scale_of(g).zero for g in answers if g is not None):
            return False
    return True


def _own_zero(node: Node) -> int | None:
    """The input of a square or a power that is itself zero everywhere: there the slope is zero."""
    if node.op in _POWERS and node.input_tensors and scale_of(node.input_tensors[0]).zero:
        return node.inputs[0]
    return None


_POWERS = {"Square", "Pow", "SquaredDifference", "L2Loss"}


def _zero_factor(graph: Graph, node: Node) -> int | None:
    """Another input of a product that is exactly zero."""
    if len(node.inputs) < 2 or node.op not in _PRODUCTS:
        return None
    for number, tensor in zip(node.inputs, node.input_tensors or (), strict=False):
        if tensor is not None and (tensor.dtype.is_floating or tensor.dtype.is_complex) and scale_of(tensor).zero:
            return number
    return None


_PRODUCTS = {
    "Mul", "MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv1D", "Conv2D", "Conv3D",
    "DepthwiseConv2dNative", "Conv2DBackpropInput", "MulNoNan", "SparseTensorDenseMatMul",
}  # fmt: skip


def _zero_factor_cut(graph: Graph, flow: Flow, node: Node, factor: int) -> Cut:
    """A product with zero: follow the zero back to where it comes from."""
    number = factor
    while True:
        made = graph.producers.get(number)
        if made is None or made.input_tensors is None or made.handles:
            break
        floats = [
            (n, t)
            for n, t in zip(made.inputs, made.input_tensors, strict=False)
            if t.dtype.is_floating or t.dtype.is_complex
        ]
        zeros = [n for n, t in floats if scale_of(t).zero]
        if made.in_backward and (not zeros or made.op in SHAPE_ONLY):
            return _second_order_zero(made)
        if not zeros:
            if floats:
                return Cut(
                    "zero-saturation",
                    made.op,
                    innermost(made.stack),
                    f"its result is zero everywhere, and {node.op} multiplies by it",
                )
            break
        number = zeros[0]
    return Cut(
        "zero-saturation",
        node.op,
        innermost(node.stack),
        "the other factor of this product is exactly zero",
        details={"factor": "zero"},
    )


def _second_order_zero(node: Node) -> Cut:
    """A first derivative's derivative that is zero whatever the values: blame the operation whose slope is constant."""
    root = node
    while root.of is not None:
        root = root.of
    note = "its slope is constant, so the second derivative through it is zero"
    return Cut("second-order-vanishes", root.op, innermost(root.stack), note)


def _chosen_other(node: Node) -> bool:
    """Whether the result equals another input everywhere: the clip's limit, the other branch."""
    outputs = floats(node.output_tensors)
    inputs = floats(node.input_tensors)
    if len(outputs) != 1 or len(inputs) < 2:
        return False
    if node.op in ("Select", "SelectV2", "Minimum", "Maximum", "ClipByValue"):
        return True
    return any(
        bool(tf.reduce_all(tf.equal(outputs[0], tf.zeros_like(outputs[0]) + t))) for t in inputs if t.shape.rank == 0
    )
