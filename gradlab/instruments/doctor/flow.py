"""One backward pass of the doctor's own, kept in the open: the gradient at every recorded tensor."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.instruments.doctor.graph import Graph, run_rule, zeros_for
from gradlab.instruments.doctor.records import GradientCall, Node

_HALF = (tf.float16, tf.bfloat16)


@dataclass(frozen=True)
class Scale:
    """What matters of a tensor's values."""

    zero: bool
    finite: bool
    nan: bool
    largest: float

    @property
    def healthy(self) -> bool:
        """Neither exactly zero everywhere nor anything but finite."""
        return self.finite and not self.zero


def scale_of(tensor: Any) -> Scale:
    """The scale of a tensor, of a sparse gradient (its values) or of an array."""
    values = np.asarray(getattr(tensor, "values", tensor))
    if values.dtype.kind in "biuSUO":
        return Scale(False, True, False, 0.0)
    if not values.size:
        return Scale(True, True, False, 0.0)
    if values.dtype.kind not in "fc":
        values = values.astype(np.float32)
    if values.dtype.kind == "c":
        values = np.stack([values.real, values.imag])
    with np.errstate(invalid="ignore"):
        lowest, highest = float(np.min(values)), float(np.max(values))  # NaN if any value is
    nan = highest != highest
    largest = float("inf") if nan else max(abs(lowest), abs(highest))
    finite = largest < float("inf")
    return Scale(largest == 0.0, finite, nan, largest)


class Flow:
    """The gradient of the target at every tensor between it and the sources.

    Gradients are reduced to their scales as they appear, so that not all are in memory at once; those whose values
    are asked for later (at the targets, complex ones, ones next to 16 bits; all, if `keep`) are kept.

    Attributes:
        at: the gradient at a tensor, or its scale, by the tensor's number.
        into: the scale of what an operation sent back into one of its inputs, by (index of the operation, place).
        upstream: what an operation was sent, or the scales, by its index.
    """

    def __init__(self, graph: Graph, call: GradientCall, sources: set[int], keep: bool = False) -> None:
        self.graph = graph
        self.keep = keep
        self.at: dict[int, Any] = {}
        self.into: dict[tuple[int, int], Scale] = {}
        self.upstream: dict[int, list[Any]] = {}
        self.failed: dict[int, BaseException] = {}
        depending = graph.depending(sources)
        waiting: dict[int, list[Any]] = {}
        given = call.upstream or [None] * len(call.targets)
        for target, start in zip(call.targets, given, strict=False):
            number = getattr(target, "_id", None)
            if number is not None and (target.dtype.is_floating or target.dtype.is_complex):
                waiting.setdefault(number, []).append(tf.ones_like(target) if start is None else start)
        for node in reversed(graph.nodes):
            if depending.isdisjoint(node.inputs) or not any(n in waiting for n in node.outputs):
                continue
            if graph.recorded(node):
                self._step(node, waiting)
        for number, parts in waiting.items():
            self.at.setdefault(number, _sum(parts) if keep else scale_of(_sum(parts)))

    def _step(self, node: Node, waiting: dict[int, list[Any]]) -> None:
        upstream: list[Any] = []
        for number, tensor in zip(node.outputs, node.output_tensors or (), strict=True):
            parts = waiting.pop(number, None)
            if parts is None:
                upstream.append(zeros_for(tensor))
            else:
                upstream.append(_sum(parts))
                kept = self.keep or number in self.graph.targets or tensor.dtype.is_complex
                self.at[number] = upstream[-1] if kept else scale_of(upstream[-1])
        of_16_bits = any(t.dtype in _HALF for t in (*(node.input_tensors or ()), *(node.output_tensors or ())))
        self.upstream[node.index] = upstream if of_16_bits else [None if g is None else scale_of(g) for g in upstream]
        try:
            answers = run_rule(node, upstream)
        except Exception as error:
            self.failed[node.index] = error
            return
        for place, (number, gradient) in enumerate(zip(node.inputs, answers, strict=False)):
            if gradient is not None:
                self.into[node.index, place] = scale_of(gradient)
                waiting.setdefault(number, []).append(gradient)

    def scale(self, gradient: Any) -> Scale:
        """The scale of a gradient, which may be all that was kept of it."""
        return gradient if isinstance(gradient, Scale) else scale_of(gradient)

    def sent(self, node: Node) -> Scale:
        """The scale of everything that an operation was sent from above."""
        scales = [
            self.scale(g)
            for g, is_float in zip(self.upstream.get(node.index, ()), node.floating, strict=False)
            if is_float and g is not None
        ]
        return Scale(
            all(s.zero for s in scales),
            all(s.finite for s in scales),
            any(s.nan for s in scales),
            max((s.largest for s in scales), default=0.0),
        )


def _sum(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    return tf.add_n([tf.convert_to_tensor(part) for part in parts])
