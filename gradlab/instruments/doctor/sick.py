"""Why a gradient is zero or not finite: the operation that is sent a healthy gradient and sends on a sick one."""

from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.flow import Flow, scale_of
from gradlab.instruments.doctor.frames import innermost
from gradlab.instruments.doctor.graph import SHAPE_ONLY, Graph, is_compiled, run_rule
from gradlab.instruments.doctor.lost import _PYTHON, steps
from gradlab.instruments.doctor.recording import Node

_HALF = (tf.float16, tf.bfloat16)
_LINALG = (
    "Svd", "SelfAdjointEig", "SelfAdjointEigV2", "Eig", "Qr", "Cholesky", "MatrixInverse", "MatrixSolve",
    "MatrixSolveLs", "MatrixTriangularSolve", "MatrixSquareRoot", "MatrixLogarithm", "MatrixExponential",
    "MatrixDeterminant",    "LogMatrixDeterminant", "TridiagonalSolve", "BatchSvd",
)  # fmt: skip


def why_sick(graph: Graph, flow: Flow, number: int, status: str) -> Cut | None:
    """The cause of a gradient that is `zero` or `nonfinite`; None where this pass finds it healthy."""
    origin = _forward_origin(graph, number)
    if origin is not None:
        return _overflow(graph, origin, number)
    given = _given(graph)
    if given is not None:
        return given
    return _walk(graph, flow, number, status)


def _given(graph: Graph) -> Cut | None:
    """Values that were not finite before the program began: data, or a constant."""
    finals = [graph.producers[t] for t in graph.targets if t in graph.producers]
    if all(scale_of(t).finite for node in finals for t in _floats(node.output_tensors)):
        return None
    for node in graph.nodes:
        if not graph.leads(node):
            continue
        for number, tensor in zip(node.inputs, node.input_tensors or (), strict=False):
            if number not in graph.producers and _floats([tensor]) and scale_of(tensor).nan:
                return Cut("nan-singular-point", node.op, innermost(node.stack), _GIVEN, details={"given": "data"})
    return None


_GIVEN = "the values that enter here from outside already hold NaN"


def _floats(tensors: Any) -> list[Any]:
    return [t for t in tensors or () if t is not None and (t.dtype.is_floating or t.dtype.is_complex)]


def _forward_origin(graph: Graph, number: int) -> Node | None:
    """Where the values themselves stop being finite, if the target isn't: first NaN, else first infinity."""
    finals = [graph.producers[t] for t in graph.targets if t in graph.producers]
    scales = [scale_of(t) for node in finals for t in _floats(node.output_tensors)]
    if all(scale.finite for scale in scales) and not _infinite_between(graph, number):
        return None
    nan = any(scale.nan for scale in scales)
    depending = graph.depending([number])
    first_other = None
    for node in graph.nodes:
        if not graph.leads(node) or node.input_tensors is None or not any(node.floating):
            continue
        out = [scale_of(t) for t in _floats(node.output_tensors)]
        if not any(s.nan if nan else not s.finite for s in out):
            continue
        before = [scale_of(t) for t in _floats(node.input_tensors)]
        if any(s.nan if nan else not s.finite for s in before):
            continue
        if not depending.isdisjoint(node.inputs):
            return _infinity_behind(graph, node)
        first_other = first_other or node
    return _infinity_behind(graph, first_other) if first_other is not None else None


def _infinite_between(graph: Graph, number: int) -> bool:
    return False


def _infinity_behind(graph: Graph, node: Node) -> Node:
    """A NaN out of infinities: the operation that made the first of them out of finite values, if one did."""
    step = node
    while True:
        infinite = [
            graph.producers.get(number)
            for number, tensor in zip(step.inputs, step.input_tensors or (), strict=False)
            if _floats([tensor]) and not scale_of(tensor).finite
        ]
        made = next((n for n in infinite if n is not None and n.input_tensors is not None and not n.handles), None)
        if made is None:
            return step if step is node or _finite_before(step) else node
        step = made


def _finite_before(node: Node) -> bool:
    return all(scale_of(t).finite for t in _floats(node.input_tensors))


def _overflow(graph: Graph, node: Node, number: int) -> Cut:
    """The forward value itself is not finite."""
    line = innermost(node.stack)
    half = any(t.dtype in _HALF for t in _floats(node.output_tensors))
    kind = "NaN" if any(scale_of(t).nan for t in _floats(node.output_tensors)) else "infinite"
    path = steps(graph.way(number, node))
    if node.handles:
        note = f"the variable that is read here holds {kind} values itself: look at the step before"
        return Cut("nan-singular-point", node.op, line, note, path=path, details={"given": "variable"})
    if half:
        return Cut(
            "mixed-precision", node.op, line, f"the value itself becomes {kind} here: 16 bits don't hold it", path=path
        )
    if node.op in _LINALG:
        return Cut("degenerate-linalg", node.op, line, f"the value itself becomes {kind} here", path=path)
    return Cut(
        "nan-singular-point",
        node.op,
        line,
        f"the value itself becomes {kind} here, already in the forward pass",
        path=path,
    )


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
    cut = _zero(graph, flow, node, number) if status == "zero" else _nonfinite(graph, flow, node)
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


def _cast_up(tensors: Any) -> list[Any]:
    return [tf.cast(t, tf.float32) if t is not None and t.dtype in _HALF else t for t in tensors]


def _in_32_bits(node: Node, flow: Flow) -> list[Any] | None:
    """What the rule sends back when it is worked out in float32; None where it can't be."""
    if not any(t.dtype in _HALF for t in (*_floats(node.input_tensors), *_floats(node.output_tensors))):
        return None
    upstream = _cast_up(flow.upstream[node.index])
    if node.op == "Cast":
        return upstream
    try:
        return run_rule(node, upstream, _cast_up(node.input_tensors), _cast_up(node.output_tensors))
    except Exception:
        return None


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
    wider = _in_32_bits(node, flow)
    if wider is not None and all(scale_of(g).finite for g in wider if g is not None):
        return Cut("mixed-precision", node.op, line, "the gradient overflows 16 bits here")
    if node.op in _LINALG:
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


def _zero(graph: Graph, flow: Flow, node: Node, number: int) -> Cut:
    line = innermost(node.stack)
    if node.of is not None or node.in_backward:
        forward = node.of
        line = (innermost(forward.stack) if forward else None) or line
        return Cut("second-order-vanishes", node.op, line, "the second derivative is zero here")
    if node.op in _PYTHON:
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
    if node.op in _LINALG:
        return Cut(
            "degenerate-linalg",
            node.op,
            line,
            "equal eigen- or singular values: their directions are not defined, and TensorFlow gives zero",
        )
    if any(not scale_of(t).finite for t in _floats(node.output_tensors)):
        cause = (
            "mixed-precision" if any(t.dtype in _HALF for t in _floats(node.output_tensors)) else "nan-singular-point"
        )
        return Cut(cause, node.op, line, "the value itself is not finite here")
    wider = _in_32_bits(node, flow)
    if wider is not None and any(not scale_of(g).zero for g in wider if g is not None):
        return Cut(
            "mixed-precision", node.op, line, "the gradient is smaller than the smallest number that 16 bits hold"
        )
    if _zero_everywhere(node):
        return Cut("zero-gradient-op", node.op, line, "its derivative is zero by definition, whatever the values")
    factor = _own_zero(node) or _zero_factor(graph, node)
    if factor is not None:
        return _zero_factor_cut(graph, flow, node, factor)
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
    outputs = _floats(node.output_tensors)
    inputs = _floats(node.input_tensors)
    if len(outputs) != 1 or len(inputs) < 2:
        return False
    if node.op in ("Select", "SelectV2", "Minimum", "Maximum", "ClipByValue"):
        return True
    return any(
        bool(tf.reduce_all(tf.equal(outputs[0], tf.zeros_like(outputs[0]) + t))) for t in inputs if t.shape.rank == 0
    )
