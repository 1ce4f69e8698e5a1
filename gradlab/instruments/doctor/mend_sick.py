"""The user's line written again: gradients that are zero or not finite."""

import ast
import re
from collections.abc import Callable

from gradlab.instruments.doctor.calls import Call, calls_of, replaced, tree_of, with_argument
from gradlab.instruments.doctor.lines import Line, Written, grouped, straight


def _flat(line: Line) -> Written:
    new = straight(line)
    if new is None or line.call is None:
        return None
    if line.cut.op == "Sign":
        soft = line.with_call(f"tf.tanh({grouped(line.call.arguments[0])} / 0.1)")
        return "zero-gradient-op-sign", {"new": new, "soft": soft}
    return "zero-gradient-op-line", {"new": new}


def _clipped(line: Line) -> Written:
    new = straight(line) if line.call is not None and "clip" in line.call.function else None
    return ("zero-clip-line", {"new": new}) if new else None


def _saturated(line: Line) -> Written:
    if line.cut.details.get("factor"):
        return "zero-saturation-factor", {}
    if line.cut.op in ("Relu", "Relu6"):
        if line.call is None:
            return "zero-saturation-relu", {}
        arguments = line.call.text[line.call.text.index("(") :]
        return "zero-saturation-relu-line", {"new": line.with_call(f"tf.nn.leaky_relu{arguments}")}
    if "multiplies by it" in line.cut.note:
        return "zero-saturation-origin", {}
    if line.cut.op in ("Sigmoid", "Softmax", "LogSoftmax", "Tanh"):
        return "zero-saturation-squash", {}
    return None


def _singular(line: Line) -> Written:
    if line.cut.details.get("given"):
        return f"nan-given-{line.cut.details['given']}", {}
    call, op = line.call, line.cut.op
    if call is None or not call.arguments:
        return (f"nan-singular-point-{op}", {}) if op in ("Sqrt", "Log", "RealDiv", "Pow") else None
    first, rest = call.arguments[0], ", ".join(call.arguments)
    if op == "RealDiv" and len(call.arguments) == 2:
        return "nan-singular-point-RealDiv-line", {"new": line.with_call(f"tf.math.divide_no_nan({rest})")}
    if op == "Pow" and call.function == "Pow":
        power = f"tf.maximum({first}, 1e-12) ** {grouped(call.arguments[1])}"
        return "nan-singular-point-Pow-line", {"new": line.with_call(power)}
    if op == "Sqrt" and call.function.endswith("norm"):
        return _norm(line, call)
    kind, inside = _INSIDE.get(op, ("", ""))
    new = with_argument(call, inside.format(x=first, sum=grouped(first, 2))) if inside else None
    return (f"nan-singular-point-{kind}-line", {"new": line.with_call(new)}) if new else None


# For an operation: the template, and what to write for its argument.
_INSIDE = {
    "Sqrt": ("Sqrt", "{sum} + 1e-12"),
    "Rsqrt": ("Sqrt", "{sum} + 1e-12"),
    "Log": ("Log", "tf.maximum({x}, 1e-12)"),
    "Pow": ("Pow", "tf.maximum({x}, 1e-12)"),
    "Acos": ("Acos", "tf.clip_by_value({x}, -1.0 + 1e-6, 1.0 - 1e-6)"),
    "Asin": ("Acos", "tf.clip_by_value({x}, -1.0 + 1e-6, 1.0 - 1e-6)"),
    "Atanh": ("Acos", "tf.clip_by_value({x}, -1.0 + 1e-6, 1.0 - 1e-6)"),
    "Angle": ("Angle", "{sum} + 1e-6"),
    "ComplexAbs": ("Angle", "{sum} + 1e-6"),
    "Exp": ("Exp", "tf.minimum({x}, 80.0)"),
}


def _norm(line: Line, call: Call) -> Written:
    """A Euclidean norm, written out with a small constant inside the root."""
    rest = (with_argument(call, "") or "").removeprefix(call.function + "(").removesuffix(")")
    axis = re.sub(r"""^,\s*(?:ord=)?["']euclidean["']""", "", rest)
    if not re.fullmatch(r"(,\s*(axis|keepdims)\s*=\s*[-\w]+)*", axis):
        return None
    new = f"tf.sqrt(tf.reduce_sum(tf.square({call.arguments[0]}){axis}) + 1e-12)"
    return "nan-singular-point-norm", {"new": line.with_call(new)}


def _chosen(line: Line) -> Written:
    code = line.cut.details.get("where", "")
    code = line.code if "where" in line.code else code
    for where in calls_of(code, "where"):
        if len(where.arguments) != 3:
            continue
        condition = where.arguments[0]
        for place, branch in enumerate(where.arguments[1:], 1):
            names = _names(condition) & _names(branch)
            if len(names) != 1 or not calls_of(branch, ""):
                continue
            name = names.pop()
            safe = f"tf.where({condition}, {name}, 1.0)" if place == 1 else f"tf.where({condition}, 1.0, {name})"
            parts = list(where.arguments)
            parts[place] = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", "safe", branch)
            return "nan-where-line", {
                "safe": safe,
                "new": replaced(code, where, f"{where.function}({', '.join(parts)})"),
                "x": name,
            }
    return None


def _names(text: str) -> set[str]:
    tree = tree_of(text)
    called = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)} if tree is not None else set()
    roots = {"tf", "np", "tensorflow", "keras", "math"}
    return (
        {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called} - roots
        if tree is not None
        else set()
    )


def _degenerate(line: Line) -> Written:
    call, op = line.call, line.cut.op
    if op in ("Svd", "BatchSvd", "SelfAdjointEigV2", "Eig", "SelfAdjointEig"):
        return "degenerate-linalg-spectrum", {}
    if call is None or not call.arguments:
        return None
    x = call.arguments[0]
    size = f"tf.shape({x})[-1]" if x.isidentifier() else "n"
    new = with_argument(call, f"{grouped(x, 2)} + 1e-6 * tf.eye({size})")
    return ("degenerate-linalg-line", {"new": line.with_call(new)}) if new else None


def _wider(line: Line) -> Written:
    if line.cut.op in ("get_scaled_loss", "get_unscaled_gradients"):
        new = re.sub(r"\bget_scaled_loss\b", "scale_loss", line.code)
        return ("mixed-precision-renamed", {"new": new}) if new != line.code else ("mixed-precision-unscaled", {})
    if "smaller" in line.cut.note:
        return "mixed-precision-underflow", {}
    call = line.call
    wider = (
        with_argument(call, f"tf.cast({call.arguments[0]}, tf.float32)") if call and len(call.arguments) == 1 else None
    )
    if wider:
        return "mixed-precision-line", {"new": line.with_call(wider)}
    return None


BY_CAUSE: dict[str, tuple[Callable[[Line], Written], ...]] = {
    "zero-gradient-op": (_flat,),
    "zero-clip": (_clipped,),
    "zero-saturation": (_saturated,),
    "nan-singular-point": (_singular,),
    "nan-where": (_chosen,),
    "degenerate-linalg": (_degenerate,),
    "mixed-precision": (_wider,),
}
