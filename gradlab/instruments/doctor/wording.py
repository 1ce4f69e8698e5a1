"""Every sentence of the doctor's report, as templates with named fields; what to write instead stands in `advice`."""

from typing import Any

WORDS: dict[str, str] = {
    # the first line: what was found, in words
    "all ok": "All {total} gradients are there, finite and not zero.",
    "one ok": "The gradient is there, finite and not zero.",
    "nothing asked": "No gradient was asked for: nothing called tape.gradient while the doctor watched.",
    "count none": "{some} no gradient",
    "count zero": "{some} a gradient of zero",
    "count nonfinite": "{some} a gradient that is not finite",
    "count untracked": "{some} in no list",
    "count raises": "{errors} was raised",
    "all of": "all {total} variables have",
    "the only": "the only variable has",
    "some of": "{count} of {total} variables {has}",
    "more of": "{count} {has}",
    "stray": "{count} {is} that the loss reads {is_}",
    # a group of equal findings: what its gradients are
    "none": "no gradient (None)",
    "zero": "the gradient is exactly zero",
    "nonfinite": "the gradient is not finite (NaN or infinite)",
    "untracked": "used, but in no list",
    "raises": "raised {error}",
    "raises somewhere": "the program raised {error}",
    "times": "in {times} of {out_of} calls",
    # the way from the variable to the cut
    "cut none": "no gradient comes back from here",
    "cut zero": "from here on back, the gradient is zero",
    "cut nonfinite": "from here on back, the gradient is not finite",
    "cut untracked": "nobody asked for its gradient",
    "cut raises": "raised here",
    "loss": "the loss",
    "elided": "{count} more lines",
    "repeated": "{times} times",
    "operations": "{count} operations",
    "in file": "in {file}",
    "at": "{file}, line {line}",
    "cell": "cell",
    "seen": "{op}: {note}",
    # below the way
    "write instead": "Write instead",
    "same for": "The same for {names}.",
    "error": "It says",
    # the healthy ones
    "healthy one": "{names} has a gradient that is there, finite and not zero.",
    "healthy few": "{names} have gradients that are there, finite and not zero.",
    "healthy many": "The other {count} gradients are there, finite and not zero.",
    "eagerly": "Compiled functions were run operation by operation, so that each line could be seen.",
    # lists of names
    "and": "{first} and {last}",
    "and more": "{first} and {count} more",
    "picture": "From {start} to the loss: {steps}. The gradient is lost at line {line}, {code}.",
    "picture step": "line {line}, {code}",
}  # fmt: skip

# Why, after "because". {op} is the operation.
BECAUSE: dict[str, str] = {
    "left-tensorflow": "its value goes through Python or NumPy",
    "captured-outside": "the loss uses a tensor that was computed before",
    "outside-tape": "this ran while the tape was not recording",
    "not-watched": "the tape was not told to watch it in time",
    "unconnected-target": "the target is not computed from it",
    "unused-variable": "it never enters the loss",
    "untracked-variable": "no list of variables holds it",
    "non-trainable": "it is marked as not trainable",
    "assign-state": "its value goes through an assignment",
    "stop-gradient": "the gradient is stopped on purpose",
    "nondiff-op": "{op} has no derivative",
    "hard-threshold": "a yes-or-no decision stands in the way",
    "metric-as-loss": "a metric stands where a loss should",
    "sampling": "a random draw stands in the way",
    "int-cast": "it becomes a whole number",
    "integer-source": "it holds whole numbers itself",
    "partial-gradient-op": "{op} has a gradient for other inputs, but not for this one",
    "no-registered-gradient": "TensorFlow has no backward rule for {op}",
    "custom-gradient": "a hand-written backward rule is wrong or left out",
    "zero-gradient-op": "{op} is flat everywhere",
    "zero-clip": "every value lies outside the limits",
    "zero-saturation": "it is multiplied by a slope of zero",
    "zero-cancellation": "its contributions cancel each other",
    "nan-singular-point": "{op} meets a value where it, or its slope, is infinite or undefined",
    "nan-where": "the branch that where() leaves out has an infinite slope",
    "degenerate-linalg": "the matrix has no well-defined factors",
    "mixed-precision": "16-bit numbers are too coarse here, or the loss is scaled wrongly",
    "second-order-tape": "the outer tape did not record the first gradient",
    "second-order-op": "{op} can't be differentiated a second time",
    "second-order-vanishes": "the first gradient does not change with it",
    "tape-reuse": "the tape was asked twice",
    "recompute-grad": "it is lost in a recomputation",
    "saved-model": "its backward rule was not saved with the model",
}

WORDS |= {
    "why": "{what}, because {why}",
    "or": "{why}, or {other}",
}


def say(key: str, **fields: Any) -> str:
    """The sentence of a key, with its fields filled in."""
    return WORDS[key].format(**fields)


def because(cause: str, op: str) -> str:
    """Why, in words that follow "because"; empty where the cause isn't known."""
    return BECAUSE.get(cause, "").format(op=op or "this operation")
