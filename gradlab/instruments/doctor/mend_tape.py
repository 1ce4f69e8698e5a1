"""The user's line written again: values that left TensorFlow, tapes, and lists of variables."""

import ast
import re
from collections.abc import Callable

import tensorflow as tf

from gradlab.instruments.doctor.calls import Call, calls_of, replaced, source_of, tree_of, with_argument
from gradlab.instruments.doctor.lines import Line, Written, grouped


def _python_function(line: Line) -> Written:
    cut = line.cut
    calls = calls_of(line.code, "numpy_function", "py_function", "py_func")
    if not calls and cut.op not in ("PyFunc", "EagerPyFunc", "PyFuncStateless"):
        return None
    if calls and len(calls[0].arguments) > 1:
        body, inputs = calls[0].arguments[:2]
        inputs = inputs[1:-1].strip() if inputs[:1] in "[(" and inputs[-1:] in "])" else inputs
        body = f"({body})" if body.startswith("lambda") else body
        return "left-tensorflow-pyfunc", {"body": body, "new": replaced(line.code, calls[0], f"{body}({inputs})")}
    return "left-tensorflow-pyfunc-unknown", {}


_NUMPY = {
    "mean": "reduce_mean", "sum": "reduce_sum", "max": "reduce_max", "amax": "reduce_max", "min": "reduce_min",
    "amin": "reduce_min", "prod": "reduce_prod", "var": "math.reduce_variance", "std": "math.reduce_std",
    "log": "math.log", "log1p": "math.log1p", "asarray": "convert_to_tensor", "array": "convert_to_tensor",
    "power": "pow", "dot": "tensordot", "absolute": "abs",
    "clip": "clip_by_value", "expm1": "math.expm1", "float32": "",
}  # fmt: skip


_AXIS = {"asarray", "array", "dot", "outer", "float32"}


def _without_python(line: Line) -> Written:
    """The line spelled with TensorFlow, where TensorFlow has all of it."""
    changed = line.code

    def instead(found: re.Match[str]) -> str:
        name = _NUMPY.get(found[2], found[2])
        home = tf
        for part in name.split(".") if name else ["?"]:
            home = getattr(home, part, None)
        return f"tf.{name}(" if home is not None and found[2] not in _AXIS else found[0]

    changed = re.sub(r"\b(np|numpy)\.(\w+)\(", instead, changed)
    for _ in range(5):
        for call in calls_of(changed, "astype")[:1]:
            changed = replaced(changed, call, call.function.removesuffix(".astype"))
        calls = calls_of(changed, "numpy", "item", "tolist", "float", "int", "asarray", "array", "float32")
        calls = [c for c in calls if len(c.arguments) == 1 and _leaves(c)]
        if not calls:
            break
        changed = replaced(changed, calls[0], _bare(changed, calls[0]))
    if changed == line.code or re.search(r"\b(np|numpy)(\.\w+)+\(", changed):
        return None
    return "left-tensorflow", {"new": changed, "door": _door(line.cut.op)}


def _leaves(call: Call) -> bool:
    last = call.function.rpartition(".")[2]
    if last in ("numpy", "item", "tolist"):
        return "." in call.function
    return call.function in ("float", "int") or call.function.startswith(("np.", "numpy."))


def _bare(code: str, call: Call) -> str:
    inner = call.arguments[0]
    if inner.startswith("["):
        return f"tf.stack({inner})"
    whole = call.start == 0 or code[: call.start].rstrip().endswith(("=", "(", ",", "return", "["))
    if whole and inner.startswith("(") and inner.endswith(")") and tree_of(inner[1:-1]) is not None:
        return inner[1:-1]
    return inner


def _door(op: str) -> str:
    """How a way out of TensorFlow is spelled."""
    if op.startswith("np"):
        return "NumPy"
    return f"`.{op}`" if op in ("numpy()", "item()", "tolist()") else f"`{op}`" if op.endswith(")") else "Python"


def _left(line: Line) -> Written:
    return "left-tensorflow-unknown", {"door": _door(line.cut.op)}


def _captured(line: Line) -> Written:
    made = line.cut.details.get("captured", "")
    tree = tree_of(line.code)
    default = _default_of(line.code, tree, made)
    if default:
        return "captured-outside-default", {"new": f"{made} = {default}"}
    body = tree.body[0] if isinstance(tree, ast.Module) and tree.body else None
    targets = [source_of(line.code, t) for t in getattr(body, "targets", [])]
    if made.startswith("self.") and made in targets and isinstance(body, ast.Assign):
        fields = {"made": made, "local": made.rpartition(".")[2], "value": source_of(line.code, body.value)}
        return "captured-outside-attribute", fields
    if line.cut.path or (made and made in targets):
        return ("captured-outside-call" if line.returned else "captured-outside"), {}
    return "captured-outside-unknown", {"what": f"`{made}`" if made else "a tensor"}


def _default_of(code: str, tree: ast.AST | None, name: str) -> str:
    """The default value of a parameter of that name; empty where the line defines no function with one."""
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            places = [*node.args.posonlyargs, *node.args.args]
            pairs = [*zip(places[::-1], node.args.defaults[::-1], strict=False)]
            pairs += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None]
            for parameter, default in pairs:
                if parameter.arg == name:
                    return source_of(code, default)
    return ""


def _outside(line: Line) -> Written:
    if "stop" in line.cut.op:
        return "outside-tape-stopped", {}
    asked = calls_of(line.code, "gradient", "jacobian")
    if asked and len(asked[0].arguments) > 1:
        target, sources = asked[0].arguments[:2]
        made = calls_of(target, "")
        if made or not target.isidentifier():
            tape, _, method = asked[0].function.rpartition(".")
            fields = {"tape": tape or "tape", "target": target, "again": f"{tape}.{method}(target, {sources})"}
            return "outside-tape-target", fields
    return ("outside-tape-call", {}) if line.returned else None


def _tape_name(line: Line) -> str:
    found = re.search(r"\bas (\w+)\s*:", line.code) or re.match(r"(\w+)\.watch\(", line.code)
    return found[1] if found else "tape"


def _not_watched(line: Line) -> Written:
    fields = {"tape": _tape_name(line)}
    if line.cut.details.get("rebound"):
        return "not-watched-rebound", fields
    if "late" in line.cut.op:
        return "not-watched-late", fields
    return ("not-watched-accessed" if "watch_accessed" in line.cut.op else "not-watched"), fields


def _second_tape(line: Line) -> Written:
    asked = calls_of(line.code, "gradient")
    tree = tree_of(line.code)
    body = tree.body[0] if isinstance(tree, ast.Module) and tree.body else None
    if asked and len(asked[0].arguments) > 1 and isinstance(body, ast.Assign):
        inner = asked[0].function.rpartition(".")[0]
        first = source_of(line.code, body.targets[0])
        return "second-order-tape", {
            "inner": inner if inner != "outer" else "inner",
            "first": first,
            "asked": line.code,
        }
    return "second-order-tape", {"inner": "inner", "first": "first", "asked": "first = inner.gradient(y, x)"}


def _repeated(line: Line) -> Written:
    asked = calls_of(line.code, "gradient")
    if not asked or len(asked[0].arguments) < 2:
        return None
    function, (target, _) = asked[0].function, asked[0].arguments[:2]
    return "tape-reuse-line", {"again": f"{function}({target}, [a, b])", "tape": function.rpartition(".")[0] or "tape"}


def _assigned(line: Line) -> Written:
    for call in calls_of(line.code, "assign", "assign_add", "assign_sub"):
        owner, _, method = call.function.rpartition(".")
        if owner and len(call.arguments) == 1 and len(call.text) == len(line.code):
            given = call.arguments[0]
            sign = {"assign_add": "+", "assign_sub": "-"}.get(method)
            new = f"{owner} {sign} {grouped(given, 1)}" if sign else given
            return "assign-state-line", {"new": new, "owner": owner}
    return None


def _made_integer(line: Line) -> Written:
    made = calls_of(line.code, "Variable", "constant", "add_weight", "convert_to_tensor")
    if not made:
        return None
    call = made[0]
    text = re.sub(r"""dtype\s*=\s*(?:"[^"]*"|'[^']*'|[\w.]+)""", "dtype=tf.float32", call.text)
    if text == call.text:
        whole = bool(call.arguments) and re.fullmatch(r"-?\d+", call.arguments[0])
        text = (whole and with_argument(call, f"{call.arguments[0]}.0")) or f"{call.text[:-1]}, dtype=tf.float32)"
    return "integer-source-line", {"new": replaced(line.code, call, text)}


def _unfinished(line: Line) -> Written:
    if not line.cut.path:
        return None
    tree = tree_of(line.code)
    body = tree.body[0] if isinstance(tree, ast.Module) and tree.body else None
    if isinstance(body, ast.Assign) and isinstance(body.targets[0], ast.Name):
        return "unused-variable-result", {"result": body.targets[0].id}
    return "unused-variable-dead-end", {}


def _untracked(line: Line) -> Written:
    note = line.cut.note
    if note.startswith("it is made"):
        return "untracked-variable-made", {}
    return ("untracked-variable-list" if note.startswith("the loss reads") else "untracked-variable-layer"), {}


BY_CAUSE: dict[str, tuple[Callable[[Line], Written], ...]] = {
    "left-tensorflow": (
        _python_function,
        _without_python,
        _left,
    ),
    "captured-outside": (_captured,),
    "outside-tape": (_outside,),
    "not-watched": (_not_watched,),
    "second-order-tape": (_second_tape,),
    "tape-reuse": (_repeated,),
    "assign-state": (_assigned,),
    "integer-source": (_made_integer,),
    "unused-variable": (_unfinished,),
    "untracked-variable": (_untracked,),
}
