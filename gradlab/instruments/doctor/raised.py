"""What an exception says about a gradient: which line, which operation, which kind of mistake."""

import re

from gradlab.instruments.doctor import ground
from gradlab.instruments.doctor.finding import Cut
from gradlab.instruments.doctor.flow import Flow
from gradlab.instruments.doctor.frames import innermost, outside, traceback_places
from gradlab.instruments.doctor.graph import Graph
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import GradientCall, Node

_NO_RULE = re.compile(
    r"registry has no entry for: (\S+)|No gradient defined for operation\s*'?\S*'? ?\(op type: (\w+)\)"
)


def _error(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}".rstrip(": ")


def why_raised(recorder: Recorder, error: BaseException) -> Cut:
    """An exception of the program itself."""
    lines = traceback_places(error)
    place = lines[0] if lines else None
    cut = Cut(_kind(error), type(error).__name__, place, details={"error": _error(error)})
    missing = _NO_RULE.search(str(error))
    if missing:
        cut.cause, cut.op = _missing_rule(missing[1] or missing[2])
    elif isinstance(error, AttributeError) and getattr(error, "name", None):
        cut.op = str(error.name)
    return cut


def _kind(error: BaseException) -> str:
    """A word for an exception's kind, from where it was raised and what it is about."""
    owner = type(getattr(error, "obj", None)).__name__
    modules = set()
    step = error.__traceback__
    while step is not None:
        modules.add(step.tb_frame.f_code.co_filename.replace("\\", "/"))
        step = step.tb_next
    text = str(error)
    if "LossScale" in owner or any("loss_scale_optimizer" in name for name in modules):
        return "mixed-precision"
    if any(name.endswith("tensorflow/python/ops/custom_gradient.py") for name in modules):
        return "custom-gradient"
    if "non-persistent GradientTape" in text:
        return "tape-reuse"
    if any(word in text for word in ("Cholesky", "not invertible", "singular", "decomposition")):
        return "degenerate-linalg"
    return ""


def _missing_rule(op: str) -> tuple[str, str]:
    """The cause and the operation; an operation that has a rule lacks only the one that was written for it by hand."""
    if op.startswith("CustomGradient") or ground.has_rule(op):
        return "saved-model", "CustomGradient"
    return "no-registered-gradient", op


def why_raised_in_gradient(recorder: Recorder, graph: Graph, call: GradientCall) -> Cut:
    """`tape.gradient` itself raised."""
    error = call.error
    assert error is not None
    details = {"error": _error(error)}
    if call.repeated:
        return Cut(
            "tape-reuse",
            "tape asked twice",
            innermost(call.stack),
            "a tape that isn't persistent answers once",
            details=details,
        )
    missing = _NO_RULE.search(str(error))
    if missing:
        return _without_rule(graph, call, missing[1] or missing[2], details)
    rule = _rule_at_fault(graph, call, error)
    if rule is not None:
        return rule
    failing = _failing_rule(graph, call)
    if failing is not None:
        cut = why_raised(recorder, error)
        cut.op, cut.place, cut.details = failing.op, innermost(failing.stack), details
        return cut
    if (
        any(not hasattr(t, "dtype") or (not hasattr(t, "op") and not hasattr(t, "_id")) for t in call.targets)
        or not call.targets
    ):
        leaving = [w for w in recorder.ways_out if w.index <= call.index]
        if leaving:
            return Cut(
                "left-tensorflow",
                leaving[-1].kind,
                innermost(leaving[-1].stack),
                "the target is not a tensor any more",
                details=details,
            )
    cut = why_raised(recorder, error)
    cut.place = cut.place or innermost(call.stack)
    return cut


def _failing_rule(graph: Graph, call: GradientCall) -> Node | None:
    """The operation whose backward rule raises, found by the doctor's own backward pass."""
    numbers = {n for n in (ground.tensor_id(getattr(s, "handle", s)) for s in call.sources) if n is not None}
    try:
        failed = Flow(graph, call, numbers).failed
    except Exception:
        return None
    return next((node for node in graph.nodes if node.index in failed), None)


def _without_rule(graph: Graph, call: GradientCall, op: str, details: dict[str, str]) -> Cut:
    nodes = [n for n in graph.nodes if n.op == op and call.tape in n.tapes and graph.leads(n)]
    node = nodes[-1] if nodes else None
    if node is not None and node.of is not None:
        place = innermost(node.of.stack)
        return Cut(
            "second-order-op",
            op,
            place,
            f"the backward rule of {node.of.op} has no gradient of its own",
            details=details,
        )
    if node is not None and node.in_backward:
        return Cut(
            "second-order-op",
            op,
            innermost(node.stack),
            "this backward rule has no gradient of its own",
            details=details,
        )
    if node is None:
        compiled = [n for n in graph.nodes if n.rule is not None and graph.leads(n)]
        node = compiled[-1] if compiled else None
    return Cut(
        *_missing_rule(op), innermost(node.stack) if node is not None else innermost(call.stack), "", details=details
    )


def _rule_at_fault(graph: Graph, call: GradientCall, error: BaseException) -> Cut | None:
    """A hand-written backward rule raised, or gave back the wrong number of gradients."""
    lines = traceback_places(error)
    in_rules = _through_custom_gradient(error)
    if not in_rules:
        return None
    details = {"error": _error(error)}
    own = [place for place in lines if place not in [innermost(call.stack)]]
    if own:
        return Cut(
            "custom-gradient", "tf.custom_gradient", own[0], "the hand-written backward rule raised", details=details
        )
    node = _last_rule(graph)
    called = (outside(node.stack, "custom_gradient") or innermost(node.stack)) if node is not None else None
    if node is not None and node.keywords:
        note = "tensors given as keywords are not counted among its inputs"
        return Cut("custom-gradient", "tf.custom_gradient", called, note, details=details)
    inside = innermost(call.last_user_stack)
    if inside is not None and inside != innermost(call.stack):
        called = inside
    return Cut(
        "custom-gradient",
        "tf.custom_gradient",
        called,
        "its backward rule gave back a wrong number of gradients",
        details=details,
    )


def _through_custom_gradient(error: BaseException) -> bool:
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename.replace("\\", "/").endswith("tensorflow/python/ops/custom_gradient.py"):
            return True
        step = step.tb_next
    return False


def _last_rule(graph: Graph) -> Node | None:
    rules = [n for n in graph.nodes if n.rule is not None and graph.recorded(n) and graph.leads(n)]
    return rules[-1] if rules else None
