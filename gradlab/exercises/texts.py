"""Every sentence that the exercises say to a learner, as templates with named fields.

Another language is a file ``catalogue/LANGUAGE.json`` that maps the same keys to its own templates, and the texts of
an exercise as ``NAME.hints``, ``NAME.explanation``, ``NAME.misconceptions.WORD``; what it lacks is said in English.
``GRADLAB_LANGUAGE`` chooses it.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

ENGLISH = {
    # outcomes, in words
    "correct": "correct",
    "wrong": "wrong",
    "not attempted": "not attempted",
    "error": "error",
    # the line after the outcome
    "all_parts": "{explanation}",
    "blank": "Write your answer in the cell above, run it, then run this cell again. hint({name}) gives a first hint.",
    "raised": "Your code raised {kind}: {text}",
    "raised_at": "Your code raised {kind}: {text} (line {line} of your cell: {code})",
    "raised_silent": "Your code raised {kind}.",
    "unusable": "What {name} returned can't be used: {text}",
    "stand_in_inside": "Your {name} calls the course's own {name}. Write the steps yourself, then run this cell again.",
    # what is different, per part
    "differs": "{part}: the values differ.",
    "differs_by": "{part}: the values differ; yours are {ratio} times what is expected.",
    "differs_sign": "{part}: the values have the opposite sign.",
    "shape": "{part}: the shape is {theirs}, expected {expected}.",
    "shape_column": (
        "{part}: the shape is {theirs}, expected {expected}. The numbers are as many, but one is a column and "
        "the other is flat; subtracting one from the other makes a square. Reshape at the place where they meet."
    ),
    "shape_square": (
        "{part}: the shape is {theirs}, expected {expected}. Where a column (n, 1) meets a flat (n,), broadcasting "
        "makes every pair of them: (n, n). Is that what happened?"
    ),
    "dtype": "{part}: the values are of type {theirs}, expected {expected}.",
    "nan": "{part}: {count} of {total} values are not finite (NaN or infinity); they should be finite.",
    "finite": "{part}: {count} of {total} values should be NaN or infinite, and are not.",
    "none": "{part}: it is None. Does every path of your function end in a return?",
    "none_plain": "{part}: it is None.",
    "refused": "{part}: it is of kind '{theirs}', expected numbers: an array, a tensor, a list or a number.",
    "text": "{part}: it is '{theirs}', expected '{expected}'.",
    "exception": "{part}: it raises {theirs}.",
    "kind": "{part}: it is {theirs}, expected {expected}.",
    "structure": "{part}: {theirs} values came back, expected {expected}.",
    "not_single": "{part}: a list, tuple or dict of {theirs} came back, expected a single number or array.",
    "names": "{part}: the values came back as {theirs}, expected {expected}.",
    "missing": "{part}: nothing came back for it.",
    "inputs_changed": "Your function changed its input in place: {names}. Work on a copy, or compute a new array.",
    "counterexample": "The smallest example that differs: {inputs}. Yours: {theirs}. Expected: {expected}.",
    "counterexample_part": "Where it differs ({part}), yours: {theirs}. Expected: {expected}.",
    "parts": "Parts: {parts}.",
    "part_passed": "{part} right",
    "part_failed": "{part} not yet",
    # stand-ins
    "stand_in_repr": "<{name}: the course's function, standing in for yours>",
    "stand_in_given": (
        "You gave check the course's function, which stands in for yours under the name {name}. Run your own cell "
        "above again, then this one. If you have: did your cell end in an error, or has the name after def changed? "
        "{last}"
    ),
    "stand_in_last": "Your last verdict was: {outcome}.",
    "stand_in_no_last": "Yours has not been checked yet.",
    # bad use
    "unknown_exercise": (
        "No exercise is named {name!r}. Write your answer with `def` or `class` and keep the name that "
        "the stub has.{near}"
    ),
    "not_a_function": (
        "{verb} needs the function itself, as in {verb}(slope_between), not {what}. "
        "Did you write parentheses after its name?"
    ),
    "needs_a_class": "{name} is a class in this exercise: write it as `class {name}`; this is a {what}.",
    "needs_a_function": "{name} is a function in this exercise: write it as `def {name}(...)`; this is a {what}.",
    # hints and solutions
    "hint": "Hint {number} of {total}: {text}",
    "hint_again": "That was the last hint. solution({name}) shows an answer after your first attempt. Again: {text}",
    "solution_locked": (
        "Try it once before you look: run your own cell and check({name}). "
        "To see an answer all the same: solution({name}, give_up=True)."
    ),
    # predictions
    "predicted": "Noted: {name} = {value:g}.",
    "prediction_mark": "you: {value:g}",
    "prediction_bad": "predict({name!r}, ...) takes a number, such as 0.25 or 1e-3; this is {what}.",
    "prediction_reveal": "You: {value:g}. It is {truth:.3g}.",
    "near": " Names like it: {names}.",
    "calibration": "Predictions: {count} made, {told} compared; the better half off by a factor of at most {factor}.",
    "calibration_open": "Predictions: {count} made, none compared yet.",
    "no_predictions": "Predictions: none made yet.",
    # progress
    "lesson": "Lesson",
    "exercise": "Exercise",
    "state": "State",
    "attempts": "Attempts",
    "hints": "Hints",
    "level": "Level",
    "progress_title": "{done} of {total} exercises correct",
    "progress_unkept": (
        "Progress is kept only while this kernel runs: this folder is no workbook (gradlab lab makes one)."
    ),
    "progress_failed": "Your progress could not be written ({reason}). The verdict above holds all the same.",
}


@cache
def _catalogue(language: str) -> dict[str, Any]:
    """The templates of a language, empty for English and for a language that has none."""
    path = Path(__file__).parent / "catalogue" / f"{language}.json"
    if not language.isalnum() or not path.is_file():
        return {}
    return json.loads(path.read_text(encoding="utf-8"))


def look_up(key: str, default: Any) -> Any:
    """The text of the chosen language for a key, or the default."""
    return _catalogue(os.environ.get("GRADLAB_LANGUAGE", "en")).get(key, default)


def say(key: str, **fields: Any) -> str:
    """The sentence for a key, with its fields filled in."""
    return str(look_up(key, ENGLISH[key])).format(**fields)
