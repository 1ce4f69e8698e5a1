"""The recorded operations as a graph: what depends on what, and where a gradient can pass."""

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from gradlab.instruments.doctor import ground
from gradlab.instruments.doctor.records import GradientCall, Node

# Operations whose result depends on the shape of what they are given, not on its values.
SHAPE_ONLY = {"Shape", "ShapeN", "Size", "Rank", "OnesLike", "ZerosLike"}


def is_write(node: Node) -> bool:
    """Whether an operation changes a variable: it gets the variable and something else, and gives nothing back."""
    return bool(node.handles) and not node.outputs and len(node.inputs) > len(node.handles)


class Graph:
    """The operations that ran before one `tape.gradient`, as seen from its target.

    Tensors are told apart by the number TensorFlow gives them; a variable is the number of its handle.
    """

    def __init__(self, nodes: list[Node], call: GradientCall) -> None:
        self.nodes = [node for node in nodes if node.index < call.index]
        self.tape = call.tape
        self.targets = {n for n in (ground.tensor_id(getattr(t, "handle", t)) for t in call.targets) if n is not None}
        self.producers: dict[int, Node] = {}
        self.consumers: dict[int, list[tuple[Node, int]]] = {}
        for node in self.nodes:
            for number in node.outputs:
                self.producers[number] = node
            for place, number in enumerate(node.inputs):
                self.consumers.setdefault(number, []).append((node, place))
        self.leading = self._leading()
        self._passing: dict[int, tuple[bool, ...]] = {}
        self._by_kind: dict[tuple[Any, ...], tuple[bool, ...]] = {}
        self.unruly: dict[int, BaseException] = {}

    def _leading(self) -> set[int]:
        """Every tensor and variable on which the target's value depends."""
        found = set(self.targets)
        for node in reversed(self.nodes):
            if node.op in SHAPE_ONLY:
                continue
            if not found.isdisjoint(node.outputs) or (is_write(node) and not found.isdisjoint(node.handles)):
                found.update(node.inputs)
        return found

    def leads(self, node: Node) -> bool:
        """Whether the target's value depends on what this operation did."""
        if is_write(node):
            return not self.leading.isdisjoint(node.handles)
        return not self.leading.isdisjoint(node.outputs)

    def depending(self, start: Iterable[int]) -> set[int]:
        """Every tensor (and written variable) whose value depends on these."""
        found = set(start)
        for node in self.nodes:
            if not found.isdisjoint(node.inputs) and node.op not in SHAPE_ONLY:
                found.update(node.outputs)
                if is_write(node) and any(n in found for n in node.inputs if n not in node.handles):
                    found.update(node.handles)
        return found

    def recorded(self, node: Node) -> bool:
        """Whether the tape that was asked saw this operation."""
        return self.tape in node.tapes and node.input_tensors is not None

    def passes(self, node: Node) -> tuple[bool, ...]:
        """For each input, whether a gradient can come back to it from the outputs that lead to the target."""
        known = self._passing.get(node.index)
        if known is None:
            known = self._passing[node.index] = self._ask(node)
        return known

    def _ask(self, node: Node) -> tuple[bool, ...]:
        nothing = (False,) * len(node.inputs)
        if not self.recorded(node) or node.output_tensors is None or node.input_tensors is None:
            return nothing
        used = [
            is_float and number in self.leading and self.producers.get(number) is node
            for number, is_float in zip(node.outputs, node.floating, strict=True)
        ]
        if not any(used):
            return nothing
        alike = _alike(node, used)
        if alike is not None and alike in self._by_kind:
            return self._by_kind[alike]
        upstream = [tf.ones_like(t) if use else zeros_for(t) for t, use in zip(node.output_tensors, used, strict=True)]
        try:
            gradients = run_rule(node, upstream)
        except Exception as error:
            self.unruly[node.index] = error
            return nothing
        answer = tuple(gradient is not None for gradient in gradients)[: len(node.inputs)]
        if alike is not None:
            self._by_kind[alike] = answer
        return answer

    def reached(self, start: int, opened: Node | None = None) -> tuple[set[int], list[tuple[Node, int]]]:
        """How far a gradient could come from, and where it can't.

        Args:
            opened: an operation that is taken to pass gradients to all its inputs, whatever it does in truth.

        Returns:
            The tensors to which the source is joined by differentiable steps, and the steps (operation, input)
            at which the way to the target ends.
        """
        found, blocked = {start}, []
        for node in self.nodes:
            for place, number in enumerate(node.inputs):
                if number not in found or not self.leads(node) or node.op in SHAPE_ONLY:
                    continue
                if is_write(node) and number in node.handles:
                    continue
                if node is opened:
                    found.update((*node.outputs, *(node.handles if is_write(node) else ())))
                    continue
                passing = self.passes(node)
                if place < len(passing) and passing[place]:
                    found.update(n for n in node.outputs if self.producers.get(n) is node)
                    if any(self.producers.get(n) is not node for n in node.outputs if n in self.leading):
                        blocked.append((node, place))
                else:
                    blocked.append((node, place))
        return found, blocked

    def way(self, start: int, end: Node) -> list[Node]:
        """The operations from a source to one of them, in the order in which they ran; shortest way."""
        came: dict[int, tuple[int, Node] | None] = {start: None}
        queue = [start]
        for number in queue:
            for node, _ in self.consumers.get(number, ()):
                if is_write(node) and number in node.handles:
                    continue
                if node is end:
                    way = [end]
                    step = came[number]
                    while step is not None:
                        way.append(step[1])
                        step = came[step[0]]
                    return way[::-1]
                if node.index > end.index:
                    continue
                for after in (*node.outputs, *(node.handles if is_write(node) else ())):
                    if after not in came:
                        came[after] = (number, node)
                        queue.append(after)
        return [end]


def is_compiled(node: Node) -> bool:
    """Whether this is a whole compiled function (a concrete function, a saved model), run as one operation."""
    return "PartitionedCall" in node.op


def _alike(node: Node, used: list[bool]) -> tuple[Any, ...] | None:
    """What decides where TensorFlow's own rule passes gradients; None where the rule is somebody's own."""
    if node.rule is not None or node.op.endswith("PyFunc") or node.op.startswith("PyFunc"):
        return None
    kinds = tuple((t.dtype, t.shape.rank) for t in node.input_tensors or ())
    return node.op, tuple(used), kinds, repr(node.attrs)


def zeros_for(tensor: Any) -> Any:
    """What TensorFlow sends back into an output that nobody used."""
    return None if tensor.dtype in (tf.resource, tf.variant, tf.string) else tf.zeros_like(tensor)


def run_rule(node: Node, upstream: list[Any], inputs: Any = None, outputs: Any = None) -> list[Any]:
    """The backward rule of one operation; TensorFlow's own, or the one written for it by hand.

    Raises:
        LookupError: TensorFlow has no rule for it. Anything that a hand-written rule raises.
    """
    if node.rule is not None:
        with ground.unrecorded():
            answer = node.rule(*upstream)
        return list(answer) if isinstance(answer, list | tuple) else [answer]
    inputs = node.input_tensors if inputs is None else inputs
    outputs = node.output_tensors if outputs is None else outputs
    answer = ground.backward_of(node.op, node.attrs, inputs, outputs, upstream)
    return (answer + [None] * len(node.inputs))[: len(node.inputs)]
