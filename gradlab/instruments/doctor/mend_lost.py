"""The user's line written again: operations through which no gradient passes."""

import ast
import re
from collections.abc import Callable

from gradlab.instruments.doctor.calls import calls_of, replaced, source_of, tree_of
from gradlab.instruments.doctor.lines import Line, Written, grouped, straight


def _nondiff(line: Line) -> Written:
    op = line.cut.op
    if op in ("ArgMax", "ArgMin"):
        return _choice(line)
    if op == "TopKV2":
        return _rank(line)
    if op in ("Bincount", "DenseBincount", "Unique", "UniqueV2", "Where", "HistogramFixedWidth", "SearchSorted"):
        return "nondiff-op-count", {}
    if op in ("Round", "Floor", "Ceil", "Rint", "FloorDiv"):
        new = straight(line)
        return ("nondiff-op-rounding", {"new": new}) if new else ("nondiff-op-rounding-unknown", {})
    if line.call is not None:
        return _by_hand(line, "nondiff-op-call")
    return None


def _choice(line: Line) -> Written:
    sign = "-" if line.cut.op == "ArgMin" else ""
    if line.call is None or not line.call.arguments:
        return None
    x = line.call.arguments[0]
    axis = next((a for a in line.call.arguments[1:2]), None) or re.sub(
        r".*axis\s*=\s*([-\w]+).*|.*", r"\1", line.call.text
    )
    weights = f"tf.nn.softmax({sign}{grouped(x)} / 0.1, axis={axis or -1})"
    fields = {"weights": weights, "call": line.call.text}
    for lookup in calls_of(line.code, "gather", "embedding_lookup"):
        if len(lookup.arguments) > 1 and lookup.arguments[1] == line.call.text:
            table = lookup.arguments[0]
            new = replaced(line.code, lookup, f"tf.tensordot(weights, {table}, 1)")
            return "nondiff-op-choice-lookup", {**fields, "new": new}
    return "nondiff-op-choice", fields


def _rank(line: Line) -> Written:
    nested = [c for c in calls_of(line.code, "argsort") if c.arguments and "argsort" in c.arguments[0]]
    if not nested or line.call is None:
        return "nondiff-op-rank", {}
    x = line.call.arguments[0]
    if not re.fullmatch(r"[\w.]+", x):
        return "nondiff-op-rank", {}
    new = replaced(line.code, nested[0], "tf.reduce_sum(tf.sigmoid(gaps / 0.1), axis=-1) - 0.5")
    return "nondiff-op-rank-line", {"gaps": f"{x}[..., :, None] - {x}[..., None, :]", "new": new}


def _by_hand(line: Line, key: str) -> Written:
    """A derivative of one's own for the call, with its first argument as the input."""
    if line.call is None or not line.call.arguments:
        return None
    x = line.call.arguments[0]
    return key, {"call": line.call.text, "x": x, "new": line.with_call(f"smooth({x})"), "function": line.call.function}


def _threshold(line: Line) -> Written:
    call, op = line.call, line.cut.op
    if op == "bool()":
        return "hard-threshold-if", {"test": re.sub(r"^(?:el)?(?:if|while)\s+|:$", "", line.code)}
    if call is None or len(call.arguments) != 2:
        return None
    left, right = (grouped(side, 1) for side in call.arguments)
    signs = [calls_of(side, "sign") for side in call.arguments]
    if op == "Equal" and all(s and s[0].text == side for s, side in zip(signs, call.arguments, strict=True)):
        first, second = (grouped(s[0].arguments[0]) for s in signs)
        soft = f"tf.sigmoid({first} * {second} / 0.1)"
    elif op in ("Less", "LessEqual"):
        soft = f"tf.sigmoid(({right} - {left}) / 0.1)"
    elif op in ("Greater", "GreaterEqual"):
        soft = f"tf.sigmoid(({left} - {right}) / 0.1)"
    else:
        return "hard-threshold-equal", {"soft": f"tf.exp(-tf.square(({left} - {right}) / 0.1))", "call": call.text}
    return _softened(line, soft)


def _softened(line: Line, soft: str) -> Written:
    assert line.call is not None
    for cast in calls_of(line.code, "cast"):
        if cast.arguments[:1] == (line.call.text,):
            hard = cast.text
            return "hard-threshold-cast", {
                "soft": soft,
                "new": replaced(line.code, cast, "soft"),
                "hard": replaced(line.code, cast, f"soft + tf.stop_gradient({hard} - soft)"),
            }
    for where in calls_of(line.code, "where"):
        if len(where.arguments) == 3 and where.arguments[0] == line.call.text:
            one, other = map(grouped, where.arguments[1:])
            return "hard-threshold-where", {
                "soft": soft,
                "new": replaced(line.code, where, f"(soft * {one} + (1.0 - soft) * {other})"),
            }
    return "hard-threshold-line", {"new": line.with_call(soft)}


def _stopped(line: Line) -> Written:
    stops = calls_of(line.code, "stop_gradient")
    if not stops or not stops[0].arguments:
        return None
    alone = line.code[: stops[0].start].rstrip()[-1:] in ("", "(", ",", "=", ":", "[") or line.returned
    inner = stops[0].arguments[0]
    return "stop-gradient-line", {"new": replaced(line.code, stops[0], inner if alone else grouped(inner))}


def _as_loss(line: Line) -> Written:
    ops = [step.op for step in line.cut.path]
    tree = tree_of(line.code)
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and len(n.args) >= 2] if tree is not None else []
    if not calls:
        return None
    metric, given = source_of(line.code, calls[0].func), ", ".join(source_of(line.code, a) for a in calls[0].args)
    of = next((name for op, name in _LOSSES if op in ops), "MeanSquaredError()")
    metric = metric.removesuffix(".update_state")
    called = next(c for c in calls_of(line.code, "") if c.text == source_of(line.code, calls[0]))
    new = replaced(line.code, called, f"keras.losses.{of}({given})")
    key = "metric-as-loss-line" if any(op in ops for op, _ in _LOSSES) else "metric-as-loss-example"
    return key, {"metric": metric, "given": given, "new": new}


_LOSSES = (
    ("SparseSoftmaxCrossEntropyWithLogits", "SparseCategoricalCrossentropy()"),
    ("SoftmaxCrossEntropyWithLogits", "CategoricalCrossentropy()"),
    ("SquaredDifference", "MeanSquaredError()"),
    ("Square", "MeanSquaredError()"),
    ("Abs", "MeanAbsoluteError()"),
)


def _draw(line: Line) -> Written:
    if re.search("Multinomial|Categorical", line.cut.op):
        x = line.call.arguments[0] if line.call is not None and line.call.arguments else "logits"
        return "sampling-choice", {"x": x, "grouped": grouped(x, 2)}
    return None


def _cast(line: Line) -> Written:
    if line.call is None or not line.call.arguments:
        return None
    x = line.call.arguments[0]
    return "int-cast-line", {"x": x, "grouped": grouped(x, 2), "call": line.call.text}


def _partial(line: Line) -> Written:
    if re.search("Image|Resize|Crop|Warp", line.cut.op):
        return "partial-gradient-op-image", {}
    return None


def _own_rule(line: Line) -> Written:
    note = line.cut.note
    for node in ast.walk(tree_of(line.code) or ast.Module([], [])):
        if (
            isinstance(node, ast.Call)
            and node.keywords
            and "keyword" in note
            and "gradient" not in ast.unparse(node.func)
        ):
            given = [source_of(line.code, a) for a in (*node.args, *(k.value for k in node.keywords))]
            call = next(c for c in calls_of(line.code, "") if c.text == source_of(line.code, node))
            return "custom-gradient-keywords", {
                "new": replaced(line.code, call, f"{call.function}({', '.join(given)})")
            }
    if "None" in note or "gives" in note:
        return "custom-gradient-check", {"rule": note}
    return None


def _no_rule(line: Line) -> Written:
    if line.cut.op == "Lu":
        x = line.call.arguments[0] if line.call is not None and line.call.arguments else "matrix"
        return "no-registered-gradient-factors", {"x": x}
    return _by_hand(line, "no-registered-gradient-call")


def _twice(line: Line) -> Written:
    """Operations whose backward rule has none of its own: what does the same and can be differentiated twice."""
    kind = next((word for word in ("Crop", "Resize") if word in line.cut.op), "")
    return (f"second-order-op-{kind}", {}) if kind else None


BY_CAUSE: dict[str, tuple[Callable[[Line], Written], ...]] = {
    "nondiff-op": (_nondiff,),
    "hard-threshold": (_threshold,),
    "stop-gradient": (_stopped,),
    "metric-as-loss": (_as_loss,),
    "sampling": (_draw,),
    "int-cast": (_cast,),
    "partial-gradient-op": (_partial,),
    "custom-gradient": (_own_rule,),
    "no-registered-gradient": (_no_rule,),
    "second-order-op": (_twice,),
}
