"""One backward pass of the doctor's own, kept in the open: the gradient at every recorded tensor."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from gradlab.instruments.doctor.graph import Graph, run_rule, zeros_for
from gradlab.instruments.doctor.recording import GradientCall, Node


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
    finite = bool(np.isfinite(values).all())
    largest = float(np.max(np.abs(values))) if finite else float("inf")
    return Scale(finite and largest == 0.0, finite, bool(np.isnan(values).any()), largest)


class Flow:
    """The gradient of the target at every tensor between it and the sources.

    Attributes:
        at: the gradient at a tensor, by its number.
        into: what an operation sent back into one of its inputs, by (index of the operation, place).
        upstream: what an operation was sent, by its index.
    """

    def __init__(self, graph: Graph, call: GradientCall, sources: set[int]) -> None:
        self.graph = graph
        self.at: dict[int, Any] = {}
        self.into: dict[tuple[int, int], Any] = {}
        self.upstream: dict[int, list[Any]] = {}
        self.failed: dict[int, BaseException] = {}
        self._scales: dict[int, Scale] = {}
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
            self.at.setdefault(number, _sum(parts))

    def _step(self, node: Node, waiting: dict[int, list[Any]]) -> None:
        upstream = []
        for number, tensor in zip(node.outputs, node.output_tensors or (), strict=True):
            parts = waiting.pop(number, None)
            if parts is None:
                upstream.append(zeros_for(tensor))
            else:
                self.at[number] = _sum(parts)
                upstream.append(self.at[number])
        self.upstream[node.index] = upstream
        try:
            answers = run_rule(node, upstream)
        except Exception as error:
            self.failed[node.index] = error
            return
        for place, (number, gradient) in enumerate(zip(node.inputs, answers, strict=False)):
            if gradient is not None:
                self.into[node.index, place] = gradient
                waiting.setdefault(number, []).append(gradient)

    def scale(self, gradient: Any) -> Scale:
        """The scale of a gradient, worked out once."""
        known = self._scales.get(id(gradient))
        if known is None:
            known = self._scales[id(gradient)] = scale_of(gradient)
        return known

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
