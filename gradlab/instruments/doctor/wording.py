"""Every sentence of the doctor's report, as templates with named fields; what to write instead stands in `advice`."""

from collections.abc import Sequence
from typing import Any

WORDS: dict[str, str] = {
    # the first line: what was found, in words
    "all ok": "All {total} gradients are there, finite and not zero.",
    "one ok": "The gradient is there, finite and not zero.",
    "nothing asked": "No gradient was asked for.",
    "nothing": "Nothing to report.",
    "both ok": "Both gradients are there, finite and not zero.",
    "both none": "Neither variable has a gradient.",
    "both zero": "Both gradients are exactly zero.",
    "both nonfinite": "Neither gradient is finite.",
    "all none": "None of the {total} variables has a gradient.",
    "all zero": "All {total} gradients are exactly zero.",
    "all nonfinite": "None of the {total} gradients is finite.",
    "only none": "The variable has no gradient.",
    "only zero": "The gradient is exactly zero.",
    "only nonfinite": "The gradient is not finite.",
    "one none": "1 of {total} variables has no gradient.",
    "one zero": "1 of {total} gradients is exactly zero.",
    "one nonfinite": "1 of {total} gradients is not finite.",
    "one untracked": "1 variable that the loss reads is in no list.",
    "one raises": "{errors} was raised.",
    "some none": "{count} of {total} variables have no gradient.",
    "some zero": "{count} of {total} gradients are exactly zero.",
    "some nonfinite": "{count} of {total} gradients are not finite.",
    "some untracked": "{count} variables that the loss reads are in no list.",
    "some raises": "{errors} were raised.",
    # a group of equal findings: what its gradients are
    "none": "no gradient",
    "zero": "the gradient is zero",
    "nonfinite": "the gradient is not finite",
    "untracked": "not in the list of variables",
    "raises": "{error}",
    "the program": "the program",
    "what": "{names}: {what}",
    "times": "{what} in {times} of {out_of} calls",
    "why": "{what}, because {why}",
    "or": "{why} (or {other})",
    # the way from the variable to the cut
    "place": "{file}:{line}",
    "cell": "cell, line {line}",
    "in file": "in {file}",
    "in cell": "in another cell",
    "loss": "the loss",
    "gap": "({count} more lines)",
    "loop": "{times} times",
    "steps": "{ops}",
    "many steps": "{first} → ... → {last} ({count} operations)",
    "seen": "{ops}: {note}",
    # below the way
    "write instead": "Write instead:",
    "what to do": "What to do:",
    "same for": "The same goes for {names}.",
    "error": "It said: {error}",
    # the healthy ones
    "healthy one": "The gradient of {names} is there, finite and not zero.",
    "healthy some": "The gradients of {names} are there, finite and not zero.",
    "eagerly": "Compiled functions were run operation by operation, so that every line could be seen. "
    "The last digits, and the random draws of XLA, are not those of the compiled run.",
    # lists of names
    "it": "it",
    "them": "them",
    "this operation": "this operation",
    "and": "{first} and {last}",
    "from to": "{count} variables ({first} to {last})",
    "left out": "{count} more findings are in `.findings`.",
    # the picture, and the picture in words
    "because": "because {why}",
    "got none": "gets no gradient",
    "got zero": "gets zeros",
    "got nonfinite": "gets NaN or infinity",
    "got raises": "",
    "sent": "the gradient comes back no further",
    "times over": "{times} times",
    "lines over": "these {count} lines, {times} times",
    "picture": "The way from {start} to the loss{way}. The gradient is cut at {at}. {note}.",
    "picture way": " passes {steps}",
    "picture place": "{start}: see {at}. {note}.",
    "picture step": "line {line}, {code}",
}

# Why, after "because". {op} is the operation; {it} stands for one variable or for several.
BECAUSE: dict[str, str] = {
    "left-tensorflow": "the value goes through Python or NumPy",
    "captured-outside": "the loss uses a tensor that was computed before",
    "outside-tape": "part of the computation ran while the tape was not recording",
    "not-watched": "the tape was not told to watch {it} in time",
    "unconnected-target": "the target is computed without {it}",
    "unused-variable": "the loss is computed without {it}",
    "non-trainable": "trainable=False keeps {it} out of the tape",
    "assign-state": "the value goes through an assignment",
    "stop-gradient": "the gradient is stopped on purpose",
    "nondiff-op": "{op} has no derivative",
    "hard-threshold": "a yes-or-no decision stands in the way",
    "metric-as-loss": "a metric stands where a loss should",
    "sampling": "a random draw stands in the way",
    "int-cast": "a float becomes a whole number",
    "integer-source": "whole numbers have no gradient",
    "partial-gradient-op": "{op} has a gradient only for its other inputs",
    "no-registered-gradient": "TensorFlow has no backward rule for {op}",
    "custom-gradient": "a hand-written backward rule is wrong or left out",
    "zero-gradient-op": "{op} is flat everywhere",
    "zero-clip": "every value lies outside the limits",
    "zero-saturation": "a slope of zero multiplies {it}",
    "zero-cancellation": "the contributions of its ways cancel",
    "nan-singular-point": "{op} has no finite value or slope there",
    "nan-where": "the branch that `where` leaves out has an infinite slope",
    "degenerate-linalg": "the matrix has no well-defined factors",
    "mixed-precision": "16-bit numbers don't reach far enough, or the loss is scaled wrongly",
    "second-order-tape": "the outer tape did not record the first gradient",
    "second-order-op": "{op} can't be differentiated a second time",
    "second-order-vanishes": "the first gradient does not change with {it}",
    "tape-reuse": "the tape was asked twice",
    "recompute-grad": "the recomputation does not see {it}",
    "saved-model": "the backward rule was not saved with the model",
}


def say(key: str, **fields: Any) -> str:
    """The sentence of a key, with its fields filled in."""
    return WORDS[key].format(**fields)


def listed(names: Sequence[str], quote: str = "", most: int = 4) -> str:
    """Names in a sentence: all of a few, of many how many and the first and the last."""
    quoted = [f"{quote}{name}{quote}" for name in names]
    if len(quoted) > most:
        return say("from to", count=len(quoted), first=quoted[0], last=quoted[-1])
    if len(quoted) < 2:
        return "".join(quoted)
    return say("and", first=", ".join(quoted[:-1]), last=quoted[-1])


def because(cause: str, op: str, count: int = 1) -> str:
    """Why, in words that follow "because"; empty where the cause isn't known."""
    return BECAUSE.get(cause, "").format(op=op or say("this operation"), it=say("it" if count == 1 else "them"))
