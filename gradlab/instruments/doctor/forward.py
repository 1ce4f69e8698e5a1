"""Values that are not finite themselves, and where the first of them was made."""

from typing import Any

import tensorflow as tf

from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.flow import scale_of
from gradlab.instruments.doctor.frames import innermost
from gradlab.instruments.doctor.graph import Graph
from gradlab.instruments.doctor.records import Node
from gradlab.instruments.doctor.way import steps

HALF = (tf.float16, tf.bfloat16)


LINALG = (
    "Svd", "SelfAdjointEig", "SelfAdjointEigV2", "Eig", "Qr", "Cholesky", "MatrixInverse", "MatrixSolve",
    "MatrixSolveLs", "MatrixTriangularSolve", "MatrixSquareRoot", "MatrixLogarithm", "MatrixExponential",
    "MatrixDeterminant",    "LogMatrixDeterminant", "TridiagonalSolve", "BatchSvd",
)  # fmt: skip


def already_broken(graph: Graph) -> Cut | None:
    """Values that were not finite before the program began: data, or a constant."""
    finals = [graph.producers[t] for t in graph.targets if t in graph.producers]
    if all(scale_of(t).finite for node in finals for t in floats(node.output_tensors)):
        return None
    for node in graph.nodes:
        if not graph.leads(node):
            continue
        for number, tensor in zip(node.inputs, node.input_tensors or (), strict=False):
            if number not in graph.producers and floats([tensor]) and scale_of(tensor).nan:
                return Cut("nan-singular-point", node.op, innermost(node.stack), _GIVEN, details={"given": "data"})
    return None


_GIVEN = "the values that enter here from outside already hold NaN"


def floats(tensors: Any) -> list[Any]:
    """Those of some tensors that hold real or complex numbers."""
    return [t for t in tensors or () if t is not None and (t.dtype.is_floating or t.dtype.is_complex)]


def forward_origin(graph: Graph, number: int) -> Node | None:
    """Where the values themselves stop being finite, if the target isn't: first NaN, else first infinity."""
    finals = [graph.producers[t] for t in graph.targets if t in graph.producers]
    scales = [scale_of(t) for node in finals for t in floats(node.output_tensors)]
    if all(scale.finite for scale in scales):
        return None
    nan = any(scale.nan for scale in scales)
    depending = graph.depending([number])
    first_other = None
    for node in graph.nodes:
        if not graph.leads(node) or node.input_tensors is None or not any(node.floating):
            continue
        out = [scale_of(t) for t in floats(node.output_tensors)]
        if not any(s.nan if nan else not s.finite for s in out):
            continue
        before = [scale_of(t) for t in floats(node.input_tensors)]
        if any(s.nan if nan else not s.finite for s in before):
            continue
        if not depending.isdisjoint(node.inputs):
            return _infinity_behind(graph, node)
        first_other = first_other or node
    return _infinity_behind(graph, first_other) if first_other is not None else None


def _infinity_behind(graph: Graph, node: Node) -> Node:
    """A NaN out of infinities: the operation that made the first of them out of finite values, if one did."""
    step = node
    while True:
        infinite = [
            graph.producers.get(number)
            for number, tensor in zip(step.inputs, step.input_tensors or (), strict=False)
            if floats([tensor]) and not scale_of(tensor).finite
        ]
        made = next((n for n in infinite if n is not None and n.input_tensors is not None and not n.handles), None)
        if made is None:
            return step if step is node or _finite_before(step) else node
        step = made


def _finite_before(node: Node) -> bool:
    return all(scale_of(t).finite for t in floats(node.input_tensors))


def overflow(graph: Graph, node: Node, number: int) -> Cut:
    """The forward value itself is not finite."""
    line = innermost(node.stack)
    half = any(t.dtype in HALF for t in floats(node.output_tensors))
    kind = "NaN" if any(scale_of(t).nan for t in floats(node.output_tensors)) else "infinite"
    path = steps(graph.way(number, node))
    if node.handles:
        note = f"the variable that is read here holds {kind} values itself: look at the step before"
        return Cut("nan-singular-point", node.op, line, note, path=path, details={"given": "variable"})
    if half:
        return Cut(
            "mixed-precision", node.op, line, f"the value itself becomes {kind} here: 16 bits don't hold it", path=path
        )
    if node.op in LINALG:
        return Cut("degenerate-linalg", node.op, line, f"the value itself becomes {kind} here", path=path)
    return Cut(
        "nan-singular-point",
        node.op,
        line,
        f"the value itself becomes {kind} here, already in the forward pass",
        path=path,
    )
