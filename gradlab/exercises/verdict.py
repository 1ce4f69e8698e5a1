"""Evidence against evidence: pure functions from what two answers did to a verdict."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gradlab.exercises.evidence import UNCHANGED, Call, Evidence, Leaf, Leaves, array_text
from gradlab.exercises.exercise import Exercise, Tolerance
from gradlab.exercises.texts import look_up, say

Outcome = Literal["correct", "wrong", "not attempted", "error"]
MOST_REASONS = 3
EXACT = Tolerance()


@dataclass(frozen=True)
class Message:
    """A sentence that has no language yet: its key, its fields, and a text of its own where the key isn't common."""

    key: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None

    def __str__(self) -> str:
        return say(self.key, **self.fields) if self.text is None else str(look_up(self.key, self.text))


@dataclass(frozen=True)
class Verdict:
    """What came of an answer.

    ``parts`` says for each part of the evidence whether it passed; ``misconceptions`` names the known mistakes that
    it shows; ``reasons`` are what the learner is told; ``example`` is the smallest counterexample, if one was found;
    ``points`` of ``total`` are the partial credit.
    """

    exercise: str
    outcome: Outcome
    parts: Mapping[str, bool] = field(default_factory=dict)
    misconceptions: tuple[str, ...] = ()
    reasons: tuple[Message, ...] = ()
    example: Message | None = None
    points: float = 0.0
    total: float = 0.0

    @property
    def is_vague(self) -> bool:
        """Whether the reasons say no more than that something differs."""
        return all(reason.key == "differs" for reason in self.reasons)

    @property
    def message(self) -> str:
        """The reasons as one text, in the chosen language."""
        return " ".join(str(reason) for reason in self.reasons)

    def as_data(self) -> dict[str, Any]:
        """The verdict as plain data for a file or a program; it holds no expected value."""
        return {
            "exercise": self.exercise,
            "outcome": self.outcome,
            "parts": dict(self.parts),
            "misconceptions": list(self.misconceptions),
            "points": self.points,
            "total": self.total,
            "message": self.message,
        }


@dataclass(frozen=True)
class Rival:
    """A known wrong answer's evidence: the misconception's name, its sentence, and what it did."""

    name: str
    message: str
    evidence: Evidence


def judge(exercise: Exercise, learner: Evidence, reference: Evidence, rivals: Iterable[Rival] = ()) -> Verdict:
    """Compare a learner's evidence with the reference's, both from the same seed.

    ``rivals`` is read only if a part differs, so it may be a generator that does the work then.
    """
    if learner.end in ("not attempted", "stand-in", "raised"):
        return _without_evidence(exercise, learner, reference)
    if learner.end == "unusable":
        return _unusable(exercise, learner, reference)
    found = {
        part: _compare_part(part, learner.parts.get(part), leaves, exercise.tolerance_of(part))
        for part, leaves in reference.parts.items()
    }
    passed = {part: reason is None for part, reason in found.items()}
    scored = [part for part in passed if part != UNCHANGED]
    total = float(sum(exercise.weight_of(part) for part in scored))
    points = float(sum(exercise.weight_of(part) for part in scored if passed[part]))
    if all(passed.values()):
        told = Message(f"{exercise.name}.explanation", text=exercise.explanation)
        return Verdict(exercise.name, "correct", passed, (), (told,), None, points, total)
    failing = [part for part, right in passed.items() if not right]
    named, unexplained = _name_rivals(exercise, learner, reference, failing, rivals)
    known = [Message(f"{exercise.name}.misconceptions.{rival.name}", text=rival.message) for rival in named]
    open_questions = {part: reason for part, reason in found.items() if part in unexplained}
    reasons = known + _fold(_one_factor(open_questions, learner, reference))[:MOST_REASONS]
    return Verdict(
        exercise=exercise.name,
        outcome="wrong",
        parts=passed,
        misconceptions=tuple(rival.name for rival in named),
        reasons=tuple(reasons),
        example=_example(exercise, learner, reference, failing),
        points=points if passed.get(UNCHANGED, True) else 0.0,
        total=total,
    )


def _without_evidence(exercise: Exercise, learner: Evidence, reference: Evidence) -> Verdict:
    name, trouble = exercise.name, learner.trouble
    parts = dict.fromkeys(reference.parts, False)
    if learner.end == "not attempted":
        return Verdict(name, "not attempted", parts, reasons=(Message("blank", {"name": name}),))
    if learner.end == "stand-in" or trouble is None:
        return Verdict(name, "wrong", parts, reasons=(Message("stand_in_inside", {"name": name}),))
    fields = {"kind": trouble.kind, "text": trouble.text, "line": trouble.line, "code": trouble.code}
    key = "raised_silent" if not trouble.text else "raised" if trouble.line is None else "raised_at"
    return Verdict(name, "error", parts, reasons=(Message(key, fields),))


def _unusable(exercise: Exercise, learner: Evidence, reference: Evidence) -> Verdict:
    """The probe could not go on with what the answer returned: say how its calls differ from the reference's."""
    reason = Message("unusable", {"name": exercise.name, "text": learner.trouble.text if learner.trouble else ""})
    for mine, expected in zip(learner.calls, reference.calls, strict=False):
        found = _compare_part(exercise.name, mine.result, expected.result, Tolerance(rtol=np.inf, atol=np.inf))
        if found is not None:
            reason = found
    return Verdict(exercise.name, "wrong", dict.fromkeys(reference.parts, False), reasons=(reason,))


def same(theirs: Leaves, expected: Leaves, tolerance: Tolerance) -> bool:
    """Whether two parts of evidence are the same within a tolerance."""
    return _compare_part("", theirs, expected, tolerance) is None


def _compare_part(part: str, theirs: Leaves | None, expected: Leaves, tolerance: Tolerance) -> Message | None:
    """The first thing that differs in a part, as a message; None if nothing does."""
    if theirs is None:
        return Message("missing", {"part": part})
    theirs = _align(theirs, expected)
    if theirs.keys() != expected.keys():
        if set(theirs) == {""} and theirs[""].kind in ("none", "refused", "exception"):
            return _compare_kinds(part, theirs[""], Leaf("array"))
        if set(expected) == {""}:
            return Message("not_single", {"part": part, "theirs": len(theirs)})
        if len(theirs) == len(expected):
            return Message("names", {"part": part, "theirs": _names(theirs), "expected": _names(expected)})
        return Message("structure", {"part": part, "theirs": len(theirs), "expected": len(expected)})
    for path, leaf in expected.items():
        reason = compare(f"{part}[{path}]" if path else part, theirs[path], leaf, tolerance)
        if reason is not None:
            return reason
    return None


def _names(leaves: Leaves) -> str:
    """Where the leaves stand, the first few of them."""
    named = ", ".join(f"[{path}]" for path in list(leaves)[:4])
    return named if len(leaves) <= 4 else f"{named}, ..."


def _align(theirs: Leaves, expected: Leaves) -> Leaves:
    """Read a list of equal arrays as one array, or one array as a list of its rows, where the reference has it so."""
    if set(expected) == {""} and "" not in theirs and expected[""].kind == "array":
        stacked = _stack(theirs)
        return theirs if stacked is None else {"": Leaf("array", stacked)}
    if set(theirs) == {""} and len(expected) > 1 and set(expected) == {str(i) for i in range(len(expected))}:
        array = theirs[""].array
        if array is not None and array.ndim and len(array) == len(expected):
            return {str(i): Leaf("array", np.asarray(row)) for i, row in enumerate(array)}
    return _align_items(theirs, expected)


def _align_items(theirs: Leaves, expected: Leaves) -> Leaves:
    """The same inside a list or dict: a list that stands where the reference has an array is read as one."""
    aligned: dict[str, Leaf] = {}
    used = 0
    for name in expected:
        rows = {path.removeprefix(f"{name}."): leaf for path, leaf in theirs.items() if path.startswith(f"{name}.")}
        array = _stack(rows) if rows and name not in theirs else None
        if array is None and name not in theirs:
            return theirs
        aligned[name] = theirs[name] if array is None else Leaf("array", array)
        used += 1 if array is None else len(rows)
    return aligned if used == len(theirs) else theirs


def _stack(leaves: Leaves) -> np.ndarray | None:
    """Evenly nested lists of arrays as one array; None if they are anything else."""
    if set(leaves) == {""}:
        return leaves[""].array
    rows: dict[str, dict[str, Leaf]] = {}
    for path, leaf in leaves.items():
        head, _, rest = path.partition(".")
        rows.setdefault(head, {})[rest] = leaf
    arrays = [_stack(row) for row in rows.values()]
    even = (
        list(rows) == [str(i) for i in range(len(rows))] and len({None if a is None else a.shape for a in arrays}) == 1
    )
    return np.stack([a for a in arrays if a is not None]) if even and arrays[0] is not None else None


def compare(part: str, theirs: Leaf, expected: Leaf, tolerance: Tolerance) -> Message | None:
    """How a leaf differs from the expected one: kind, then shape, type, finiteness, and values last."""
    if theirs.kind != expected.kind or theirs.array is None or expected.array is None:
        return _compare_kinds(part, theirs, expected)
    mine, right = theirs.array, expected.array
    if mine.shape != right.shape:
        return _shape_message(part, mine.shape, right.shape)
    if _number_class(mine) != _number_class(right):
        return Message("dtype", {"part": part, "theirs": mine.dtype.name, "expected": right.dtype.name})
    if _number_class(right) == "bool":
        return None if np.array_equal(mine, right) else Message("differs", {"part": part})
    return _compare_numbers(part, _wide(mine), _wide(right), tolerance)


def _compare_kinds(part: str, theirs: Leaf, expected: Leaf) -> Message | None:
    if part == UNCHANGED:
        return None if theirs.text == expected.text else Message("inputs_changed", {"names": theirs.text})
    if theirs.kind == expected.kind and theirs.kind != "array":
        if theirs.text == expected.text:
            return None
        return Message("text", {"part": part, "theirs": theirs.text[:80], "expected": expected.text[:80]})
    if theirs.kind == "none":
        whole = expected.kind == "array" and not part.endswith("]")
        return Message("none" if whole else "none_plain", {"part": part})
    if theirs.kind == "refused":
        return Message("refused", {"part": part, "theirs": theirs.text})
    if theirs.kind == "exception":
        return Message("exception", {"part": part, "theirs": theirs.text})
    return Message("kind", {"part": part, "theirs": _kind_text(theirs), "expected": _kind_text(expected)})


def _kind_text(leaf: Leaf) -> str:
    return repr(leaf.text[:80]) if leaf.kind == "text" else leaf.text if leaf.kind != "array" else "array"


def _shape_message(part: str, theirs: tuple[int, ...], expected: tuple[int, ...]) -> Message:
    fields = {"part": part, "theirs": theirs, "expected": expected}
    if {len(theirs), len(expected)} == {1, 2} and np.prod(theirs) == np.prod(expected) and 1 in (*theirs, *expected):
        return Message("shape_column", fields)
    square = len(theirs) == 2 and theirs[0] == theirs[1] and theirs[0] > 1
    if square and expected in ((theirs[0],), (theirs[0], 1)):
        return Message("shape_square", fields)
    return Message("shape", fields)


def _number_class(array: np.ndarray) -> str:
    return {"b": "bool", "c": "complex"}.get(array.dtype.kind, "real")


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _compare_numbers(part: str, mine: np.ndarray, right: np.ndarray, tolerance: Tolerance) -> Message | None:
    mine_finite, right_finite = np.isfinite(mine), np.isfinite(right)
    bad = right_finite & ~mine_finite
    if bad.any():
        return Message("nan", {"part": part, "count": int(bad.sum()), "total": bad.size})
    good = ~right_finite & mine_finite
    if good.any():
        return Message("finite", {"part": part, "count": int(good.sum()), "total": good.size})
    odd = ~right_finite
    if not np.array_equal(mine[odd], right[odd], equal_nan=True):
        return Message("differs", {"part": part})
    a, b = mine[right_finite], right[right_finite]
    if np.all(np.abs(a - b) <= tolerance.atol + tolerance.rtol * np.abs(b)):
        return None
    return _factor_message(part, a, b)


def _factor_message(part: str, mine: np.ndarray, right: np.ndarray) -> Message:
    """Say so when all values are off by one factor: the usual trace of a sum for a mean, a lost half, a sign."""
    plain = Message("differs", {"part": part})
    if mine.dtype.kind == "c" or not right.size:
        return plain
    counted = np.abs(right) > 1e-3 * np.abs(right).max(initial=0.0)
    if not counted.any() or np.any(np.abs(mine[~counted]) > 1e-2 * np.abs(mine).max(initial=0.0)):
        return plain
    ratios = mine[counted] / right[counted]
    ratio = float(np.median(ratios))
    if counted.sum() < 2 or np.any(np.abs(ratios - ratio) > 1e-3 * abs(ratio)) or abs(ratio - 1) < 5e-3 or ratio == 0:
        return plain
    if abs(ratio + 1) < 5e-3:
        return Message("differs_sign", {"part": part})
    return Message("differs_by", {"part": part, "ratio": f"{ratio:.3g}"})


def _one_factor(found: Mapping[str, Message | None], learner: Evidence, reference: Evidence) -> list[Message]:
    """The reasons, with those parts taken together whose numbers are all off by one and the same factor."""
    loose = [part for part, reason in found.items() if reason is not None and reason.key.startswith("differs")]
    aligned = {part: _align(learner.parts[part], reference.parts[part]) for part in loose}
    pairs = [(aligned[part][path].array, leaf.array) for part in loose for path, leaf in reference.parts[part].items()]
    reasons = {part: reason for part, reason in found.items() if reason is not None}
    if len(loose) > 1 and all(a is not None and b is not None and a.shape == b.shape for a, b in pairs):
        mine = np.concatenate([_wide(a).ravel() for a, _ in pairs if a is not None])
        right = np.concatenate([_wide(b).ravel() for _, b in pairs if b is not None])
        common = _factor_message(", ".join(loose), mine, right)
        if common.key != "differs":
            reasons = {loose[0]: common, **{part: r for part, r in reasons.items() if part not in loose}}
    return list(reasons.values())


def _fold(reasons: list[Message]) -> list[Message]:
    """Messages that differ only in the part they speak of, as one that names all the parts."""
    groups: dict[tuple[str, str], list[Message]] = {}
    for reason in reasons:
        rest = {name: value for name, value in reason.fields.items() if name != "part"}
        groups.setdefault((reason.key, repr(rest)), []).append(reason)
    return [
        first
        if len(group) == 1 or "part" not in first.fields
        else Message(first.key, {**first.fields, "part": ", ".join(reason.fields["part"] for reason in group)})
        for group in groups.values()
        for first in group[:1]
    ]


def _name_rivals(
    exercise: Exercise, learner: Evidence, reference: Evidence, failing: list[str], rivals: Iterable[Rival]
) -> tuple[list[Rival], set[str]]:
    """The known mistakes that the failing parts show, and the parts that none of them explains.

    The one that explains most of them comes first (of several, the one that agrees with most parts), then what
    explains the rest. Where that leaves parts unexplained, a mistake is named only if it explains half of them and
    more than NaNs: a single part may look alike by chance.
    """
    explained: list[tuple[Rival, set[str], int]] = []
    for rival in rivals:
        if rival.evidence.end != "finished":
            continue
        parts = {
            part
            for part in failing
            if _explains(rival, learner, part, exercise.tolerance_of(part))
            and not _explains(rival, reference, part, exercise.tolerance_of(part))
        }
        if parts:
            agreeing = sum(_explains(rival, learner, part, exercise.tolerance_of(part)) for part in reference.parts)
            explained.append((rival, parts, agreeing))
    ranked = sorted(explained, key=lambda found: (-len(found[1]), -found[2]))
    named, left = _cover(ranked, set(failing))
    if left:
        likely = [found for found in ranked if 2 * len(found[1]) >= len(failing) and _says_something(learner, found[1])]
        named, left = _cover(likely, set(failing))
    return named, left


def _cover(ranked: list[tuple[Rival, set[str], int]], failing: set[str]) -> tuple[list[Rival], set[str]]:
    """The mistakes that explain failing parts one after the other, and what is left of the parts."""
    named = []
    for rival, parts, _ in ranked:
        if parts & failing:
            named.append(rival)
            failing = failing - parts
    return named, failing


def _says_something(evidence: Evidence, parts: set[str]) -> bool:
    """Whether the parts hold any finite number or text; that two answers are both NaN says little."""
    leaves = [leaf for part in parts for leaf in evidence.parts[part].values()]
    return any(leaf.array is None or bool(np.isfinite(leaf.array).any()) for leaf in leaves)


def _explains(rival: Rival, evidence: Evidence, part: str, tolerance: Tolerance = EXACT) -> bool:
    theirs, mistake = evidence.parts.get(part), rival.evidence.parts.get(part)
    return theirs is not None and mistake is not None and same(theirs, mistake, tolerance)


def _example(exercise: Exercise, learner: Evidence, reference: Evidence, failing: list[str]) -> Message | None:
    """The call with the fewest numbers in its inputs whose results differ; else the smallest part that differs."""
    tolerance = Tolerance(
        max(exercise.tolerance_of(part).rtol for part in reference.parts),
        max(exercise.tolerance_of(part).atol for part in reference.parts),
    )
    if exercise.examples:
        pairs: list[tuple[Call, Call]] = [
            (mine, right)
            for mine, right in zip(learner.calls, reference.calls, strict=False)
            if mine.inputs == right.inputs and not same(mine.result, right.result, tolerance)
        ]
        if pairs:
            mine, right = min(pairs, key=lambda pair: pair[0].size)
            theirs, expected = _pair_text(mine.result, right.result)
            return Message("counterexample", {"inputs": mine.inputs, "theirs": theirs, "expected": expected})
    shown = [part for part in failing if part != UNCHANGED and part in learner.parts]
    if not shown:
        return None
    part = min(shown, key=lambda name: sum(x.array.size for x in reference.parts[name].values() if x.array is not None))
    theirs, expected = _pair_text(learner.parts[part], reference.parts[part])
    return Message("counterexample_part", {"part": part, "theirs": theirs, "expected": expected})


def _pair_text(theirs: Leaves, expected: Leaves) -> tuple[str, str]:
    """Both results as short texts; of large arrays of one shape, the element that differs most."""
    theirs = _align(theirs, expected)
    if set(theirs) == set(expected) == {""}:
        mine, right = theirs[""].array, expected[""].array
        if mine is not None and right is not None and mine.shape == right.shape and mine.size > 12:
            gap = np.nan_to_num(np.abs(_wide(mine) - _wide(right)), nan=np.inf)
            at = tuple(int(i) for i in np.unravel_index(int(np.argmax(gap)), mine.shape))
            return f"{mine[at]:.5g} at {list(at)}", f"{right[at]:.5g}"
    if len(expected) > 1 and theirs.keys() == expected.keys() and sum(_size(leaf) for leaf in expected.values()) > 12:
        path = next(
            (p for p in expected if compare("", theirs[p], expected[p], EXACT) is not None), next(iter(expected))
        )
        mine_text, right_text = _pair_text({"": theirs[path]}, {"": expected[path]})
        return f"[{path}]: {mine_text}", f"[{path}]: {right_text}"
    return _leaves_text(theirs), _leaves_text(expected)


def _size(leaf: Leaf) -> int:
    return 1 if leaf.array is None else leaf.array.size


def _leaves_text(leaves: Leaves, most: int = 6) -> str:
    texts = [array_text(leaf.array) if leaf.array is not None else leaf.text for leaf in leaves.values()]
    texts = texts if len(texts) <= most else [*texts[:most], "..."]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
