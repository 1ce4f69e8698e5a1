"""What to write instead: the code for each cause, with the user's own names where they are known."""

import ast
import re

import tensorflow as tf

from gradlab.instruments.doctor.finding import Cut

# {x}: what the blamed line hands to the operation; {call}: that call; {name}: the variable; {op}: the operation.
TEXTS = {
    "left-tensorflow": "Stay in TensorFlow from the variable to the loss: {rewrite}. A value that went through NumPy or Python "
    "comes back as a constant, whose gradient is None.",
    "left-tensorflow-pyfunc": "Write the body of the Python function with TensorFlow operations (inside `tf.py_function` they are "
    "differentiated), or give it a derivative with `@tf.custom_gradient`. NumPy inside has none, and "
    "`tf.numpy_function` never passes one.",
    "captured-outside": "Compute it inside the function, from the variable: move this line into the code that runs under the tape, "
    "so that each call sees the current value of `{name}`.",
    "outside-tape": "Run this inside `with tf.GradientTape() as tape:`. The tape knows only what runs while it is open; call "
    "`tape.gradient` after the block, with the loss that was computed inside.",
    "not-watched": "Write `tape.watch({name})` as the first line inside the `with` block, before `{name}` is used; or make it a "
    "`tf.Variable`, which is watched by itself.",
    "unconnected-target": "Compute the target from this very tensor: use `{name}` in the line that makes the target, instead of "
    "computing it a second time.",
    "unused-variable": "Use `{name}` in the loss, or leave it out of the list of variables. Nothing on the way to the loss reads it.",
    "unused-variable-dead-end": "The result of this line never enters the loss. Use it there, or leave `{name}` out of the list.",
    "untracked-variable": "Add it to the list of variables. In a Keras layer, make it with `self.add_weight(...)` in `__init__` or "
    "`build` (or assign the layer that owns it to an attribute), so that `trainable_variables` holds it; never make it inside "
    "`call` or the loss.",
    "non-trainable": "Ask for the gradient of `trainable_variables` only; if it should learn, make it with `trainable=True` or "
    "call `tape.watch({name})`.",
    "assign-state": "Use the new value itself as a tensor: `new = ...` and go on with `new`; call `.assign(new)` only to "
    "remember it. What is read back from a variable has forgotten how it was computed.",
    "stop-gradient": "If this part should learn, take `tf.stop_gradient` (or the detached branch) out of this line.",
    "nondiff-op": "Replace {op} by something with a slope: a softmax-weighted sum for a choice, a sum of sigmoids for a rank or a "
    "count; or let the gradient pass straight through: `{x} + tf.stop_gradient({call} - {x})`.",
    "hard-threshold": "Replace the comparison by a smooth one: `tf.sigmoid(({x}) / temperature)`; or let the gradient pass "
    "straight through: `soft + tf.stop_gradient(hard - soft)`.",
    "metric-as-loss": "Train on a loss and only watch the metric: `keras.losses...` instead of `keras.metrics...`; a metric keeps "
    "its result in variables of its own.",
    "sampling": "Move the randomness out of the parameters: draw noise that doesn't depend on them and transform it "
    "(`mean + std * noise`); for choices use a softmax with Gumbel noise, or weight the log-probability with the reward "
    "(`tf.stop_gradient(reward) * log_prob`).",
    "int-cast": "Keep the float: weight the neighbouring whole-number places by their distance (bilinear weights, or "
    "`tf.nn.softmax(-(x - places) ** 2)`), and cast only what needs no gradient.",
    "integer-source": "Make it a float: `tf.Variable(9.0)`, `dtype=\"float32\"`, or `tf.cast` before you watch it. Nothing of "
    "integer type has a gradient.",
    "partial-gradient-op": "{op} has no gradient for this input. Write the part with operations that have one (for an image "
    "moved by a learned amount: bilinear weights from `tf.gather` or `tf.einsum`).",
    "no-registered-gradient": "{op} can't be differentiated by TensorFlow. Use another operation for the same thing, or give it a "
    "derivative of its own with `@tf.custom_gradient`.",
    "custom-gradient": "Call the function with positional tensors, and return from its `grad` function one gradient for each "
    "positional tensor (and one for each variable in `variables`, in their order).",
    "zero-gradient-op": "{op} has a slope of zero everywhere. Use a smooth stand-in (`tf.tanh(k * x)`, `tf.sigmoid(k * x)`) or let "
    "the gradient pass straight through: `{x} + tf.stop_gradient({call} - {x})`.",
    "zero-clip": "Outside the limits a clip has a slope of zero. Compute from the logits instead (`tf.nn.*_cross_entropy_with_logits`, "
    "`tf.math.log_sigmoid`), widen the limits, or penalise the overshoot.",
    "zero-saturation": "Get the values out of the flat region: a smaller scale at the start, a normalisation before it, or another "
    "function there (`tf.nn.softplus` or `tf.nn.leaky_relu` for ReLU; a loss on logits for a saturated sigmoid or softmax).",
    "zero-saturation-factor": "The other factor of this product is exactly zero (weights that begin at zero, a mask, a loss weight). "
    "If it isn't meant to be, begin with small random values or change the mask.",
    "zero-cancellation": "`{name}` enters this place along several ways whose gradients cancel. Stop one of them "
    "(`tf.stop_gradient`) if it should count as a constant, or change the loss: as written it doesn't depend on `{name}`.",
    "nan-singular-point": "Keep the argument away from the point: a small constant *inside* (`tf.sqrt(x + 1e-12)`, "
    "`tf.math.log(tf.maximum(x, 1e-12))`, `tf.math.divide_no_nan(a, b)`, `tf.clip_by_value(x, -1 + 1e-6, 1 - 1e-6)`).",
    "nan-where": "Choose before you compute: `safe = tf.where(ok, x, 1.0)` and then `tf.where(ok, f(safe), 0.0)`. `tf.where` around "
    "the result doesn't help: the other branch's infinite slope is multiplied by zero, which is NaN.",
    "degenerate-linalg": "Its derivative is not defined where eigen- or singular values coincide (or the matrix can't be "
    "factored). Use a function that needs no factors (`tf.linalg.slogdet`, `tf.linalg.solve`, Newton iterations), or move the values apart: "
    "`m + 1e-6 * tf.linalg.diag(tf.range(n))`.",
    "mixed-precision": "Compute this part in float32: `tf.cast(x, tf.float32)` before the squares, sums and the loss; scale the loss "
    "with `keras.mixed_precision.LossScaleOptimizer` (`optimizer.scale_loss(loss)`, and `apply` divides by it again).",
    "second-order-tape": "Open the outer tape around the inner one, and take the first gradient inside it:\n"
    "    with tf.GradientTape() as outer:\n        with tf.GradientTape() as inner:\n            ...\n"
    "        first = inner.gradient(y, x)\n    second = outer.gradient(first, {name})",
    "second-order-op": "The backward rule of this operation has no gradient of its own. Use an operation that has a second "
    "derivative (`tf.repeat` or a convolution for resizing, `tf.gather` or `tf.einsum` for crops).",
    "second-order-vanishes": "The first derivative doesn't change with `{name}`. Use an activation that bends (tanh, softplus, "
    "swish instead of ReLU), or leave the second derivative out.",
    "tape-reuse": "Ask once for all: `tape.gradient(loss, [a, b])`; or open it with `tf.GradientTape(persistent=True)` and "
    "`del tape` afterwards.",
    "recompute-grad": "Take the recomputation off to see whether the gradient comes back; `gradlab.checkpoint` recomputes exactly.",
    "saved-model": "Save with the hand-written rule: `tf.saved_model.SaveOptions(experimental_custom_gradients=True)`, or build "
    "the model from its code and load only the weights.",
    "": "",
}  # fmt: skip

# What operations are called in user code, where the names differ.
_SPELLINGS = {
    "ArgMax": ("argmax",),
    "ArgMin": ("argmin",),
    "TopKV2": ("top_k", "argsort", "sort"),
    "Cast": ("cast", "to_int32"),
    "Ceil": ("ceil",),
    "HSVToRGB": ("hsv_to_rgb",),
}


def advise(cut: Cut, name: str) -> str:
    """The advice for a cut, in one or a few sentences; code in backquotes."""
    key = cut.cause
    if key == "left-tensorflow" and cut.op in ("PyFunc", "EagerPyFunc", "PyFuncStateless"):
        key = "left-tensorflow-pyfunc"
    if key == "zero-saturation" and cut.details.get("factor"):
        key = "zero-saturation-factor"
    if key == "unused-variable" and cut.path:
        key = "unused-variable-dead-end"
    code = cut.place.code if cut.place else ""
    call, argument = call_in(code, cut.op)
    text = TEXTS.get(key, "").format(name=name, op=cut.op, x=argument, call=call, rewrite=_rewrite(code))
    if cut.details.get("error"):
        text = f"{cut.details['error']}\n{text}".strip()
    for other in cut.also:
        text += f" The evidence leaves a second cause open: {other}. {TEXTS.get(other, '').format(name=name, op=cut.op, x=argument, call=call, rewrite='')}"
    return text.strip()


def call_in(code: str, op: str) -> tuple[str, str]:
    """The call on a line that stands for an operation, and its first argument: `tf.round(p)` and `p`."""
    wanted = {op.lower(), re.sub(r"v\d+$", "", op.lower()), *_SPELLINGS.get(op, ())}
    try:
        tree = ast.parse(code if not code.endswith(":") else code + " pass")
    except (SyntaxError, ValueError):
        return f"{op.lower()}(x)", "x"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if last.replace("_", "") in {w.replace("_", "") for w in wanted}:
                return ast.unparse(node), ast.unparse(node.args[0])
        if isinstance(node, ast.Compare) and op in ("Greater", "Less", "GreaterEqual", "LessEqual", "Equal", "NotEqual"):
            return ast.unparse(node), f"{ast.unparse(node.left)} - {ast.unparse(node.comparators[0])}"
    return f"{op.lower()}(x)", "x"


def _rewrite(code: str) -> str:
    """A line with NumPy, spelled with TensorFlow where it has the function."""
    changed = code

    def instead(found: re.Match[str]) -> str:
        name = {"mean": "reduce_mean", "sum": "reduce_sum", "max": "reduce_max", "min": "reduce_min", "var": "math.reduce_variance",
                "std": "math.reduce_std", "log": "math.log", "asarray": "convert_to_tensor", "array": "convert_to_tensor",
                "power": "pow", "dot": "tensordot", "prod": "reduce_prod"}.get(found[2], found[2])  # fmt: skip
        home = tf
        for part in name.split("."):
            home = getattr(home, part, None)
        return f"tf.{name}(" if home is not None else found[0]

    changed = re.sub(r"\b(np|numpy)\.(\w+)\(", instead, changed)
    changed = re.sub(r"\.numpy\(\)|\.item\(\)|\.tolist\(\)", "", changed)
    changed = re.sub(r"\b(?:float|int)\((\w+(?:\.\w+|\[\w+\])*)\)", r"\1", changed)
    if changed != code and "np." not in changed:
        return f"`{changed}`"
    return "use the `tf.` function of the same name, and no `.numpy()`, `float()` or `np.` on the way"
