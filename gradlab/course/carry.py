"""A learner's work carried into a new version of a lesson. A pure function from three notebooks to one and its notes.

What is whose is told by comparing with the notebook that was handed out. The result is the new lesson with the
learner's answers (by name), predictions (by name) and own cells (behind the cell they stood behind) in it. Carrying
twice gives the same as carrying once, so an update that was cut off can be run again.
"""

import ast
import copy
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nbformat import NotebookNode

from gradlab.course import cells
from gradlab.course.matching import Place, Versions, text
from gradlab.course.texts import Note, note, say

_TOP = -1


@dataclass(frozen=True)
class Carried:
    """The new lesson with the learner's work in it, and what there is to say about it."""

    notebook: NotebookNode
    notes: tuple[Note, ...]


@dataclass
class _Draft:
    """The notebook in the making: one cell for each of the new lesson's, and the learner's own around them."""

    slots: list[NotebookNode]
    before: dict[int, list[NotebookNode]] = field(default_factory=lambda: defaultdict(list))
    behind: dict[int, list[NotebookNode]] = field(default_factory=lambda: defaultdict(list))
    notes: list[Note] = field(default_factory=list)

    def __iter__(self) -> Iterator[NotebookNode]:
        yield from self.behind[_TOP]
        for place, cell in enumerate(self.slots):
            yield from (*self.before[place], cell, *self.behind[place])


def carry_over(handed_out: NotebookNode | None, learner: NotebookNode, current: NotebookNode) -> Carried:
    """The ``current`` lesson with the work of ``learner`` in it, who was given ``handed_out``.

    Without ``handed_out`` everything that isn't in the current lesson is taken for the learner's. Outputs stay with
    the cells whose source stays. No argument is changed.
    """
    learner = copy.deepcopy(learner)
    draft = _Draft(copy.deepcopy(current.cells))
    course = Versions(handed_out, current)
    places = course.match(learner.cells)
    open_cells = [index for index, place in enumerate(places) if place.kind != "ours"]
    for index, place in enumerate(places):
        mine, slot = learner.cells[index], place.slot
        if place.kind == "ours" and slot is not None and text(mine) == text(draft.slots[slot]):
            draft.slots[slot] = _keep(mine, draft.slots[slot])
    used = _answers(draft, course, learner.cells, open_cells)
    used |= _predictions(draft, course, learner.cells, [index for index in open_cells if index not in used])
    _own_cells(draft, course, learner.cells, places, used)
    return Carried(_assembled(current, draft), tuple(draft.notes))


def _keep(mine: NotebookNode, ours: NotebookNode) -> NotebookNode:
    """The learner's cell in the place of ours: its text and outputs, our id and tags."""
    kept = copy.deepcopy(mine)
    kept.id = ours.id
    kept.metadata.pop("tags", None)
    if cells.tags(ours):
        kept.metadata.tags = cells.tags(ours)
    return kept


def _answers(draft: _Draft, course: Versions, learner: list[NotebookNode], open_cells: list[int]) -> set[int]:
    """Put the learner's answers into the exercise cells; the positions of the cells that were used up."""
    used = {index for index in open_cells if course.is_stub(learner[index])}
    carried: list[str] = []
    spare: dict[int, str] = {}
    for name, stub in course.stubs.items():
        candidates = _candidates(name, course, learner, open_cells)
        if not candidates:
            continue
        chosen, *others = candidates
        used.add(chosen)
        slot = course.slot_of_id[name]
        draft.slots[slot] = _answer(draft, course, name, learner[chosen], stub)
        if not cells.is_blank(draft.slots[slot].source, name):
            carried.append(name)
        spare = dict.fromkeys(others, name) | spare
    if carried:
        draft.notes.append(note("carried_answers", names=", ".join(carried)))
    _spare(draft, course, {index: learner[index] for index in sorted(spare) if index not in used}, spare)
    return used | spare.keys()


def _spare(draft: _Draft, course: Versions, others: dict[int, NotebookNode], of: dict[int, str]) -> None:
    """Keep further definitions of an exercise above it; one of several exercises goes above the first of them."""
    sources = {slot.source for slot in draft.slots}
    count: dict[str, int] = defaultdict(lambda: 1)
    for index, cell in others.items():
        if cell.source not in sources:
            draft.before[course.slot_of_id[of[index]]].append(cell)
            count[of[index]] += 1
    draft.notes += [note("carried_twice", name=name, count=number) for name, number in count.items()]


def _candidates(name: str, course: Versions, learner: list[NotebookNode], open_cells: Iterable[int]) -> list[int]:
    """The cells that may hold the answer, the one that counts first: the last that defines it and isn't blank.

    A cell that stands for another exercise comes behind: it may define this one by the way.
    """

    def rank(index: int) -> tuple[bool, bool, bool, int]:
        source, elsewhere = learner[index].source, course.stubs.keys() - {name}
        defines, answers = name in cells.definitions(source), not cells.is_blank(source, name)
        return defines, answers, learner[index].get("id") not in elsewhere, index

    found = [
        index
        for index in open_cells
        if learner[index].cell_type == "code"
        and learner[index].source.strip()
        and not course.is_stub(learner[index])
        and (name in cells.definitions(learner[index].source) or learner[index].get("id") == name)
    ]
    return sorted(found, key=rank, reverse=True)


def _answer(draft: _Draft, course: Versions, name: str, mine: NotebookNode, stub: NotebookNode) -> NotebookNode:
    """The exercise cell with the learner's answer, under the new task where the old one was left as it was."""
    kept = _keep(mine, stub)
    old = course.old_stubs.get(name)
    if old is None or old.source == stub.source:
        return kept
    before, after = cells.definition(old.source, name), cells.definition(stub.source, name)
    if _signature(before) != _signature(after):
        draft.notes.append(note("carried_signature", name=name, header=_signature(after)))
    was, now, here = (cells.docstring(source, name) for source in (old.source, stub.source, kept.source))
    if was is None or now is None or _cut(old.source, was) == _cut(stub.source, now):
        return kept
    if here is not None and _cut(kept.source, here) == _cut(stub.source, now):
        return kept
    if here is not None and _cut(kept.source, here) == _cut(old.source, was):
        data = kept.source.encode()
        kept.source = (data[: here[0]] + stub.source.encode()[now[0] : now[1]] + data[here[1] :]).decode()
        kept.outputs, kept.execution_count = [], None
        draft.notes.append(note("carried_task_renewed", name=name))
    else:
        draft.notes.append(note("carried_task_changed", name=name))
    return kept


def _cut(source: str, where: tuple[int, int]) -> bytes:
    return source.encode()[where[0] : where[1]]


def _signature(node: cells.Definition | None) -> str:
    if isinstance(node, ast.ClassDef):
        methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
        return f"class {node.name}: " + ", ".join(f"{method.name}({ast.unparse(method.args)})" for method in methods)
    return f"def {node.name}({ast.unparse(node.args)})" if node else ""


def _predictions(draft: _Draft, course: Versions, learner: list[NotebookNode], open_cells: list[int]) -> set[int]:
    """Put the learner's predictions into the new lesson; the positions of the cells that hold no more."""
    ours = [cell.source for cell in course.cells if cell.cell_type == "code"]
    defaults = {(one.name, one.value) for source in ours for one in cells.predictions(source)}
    mine = {
        one.name: one.value
        for index in open_cells
        if learner[index].cell_type == "code"
        for one in cells.predictions(learner[index].source)
        if not one.blank and (one.name, one.value) not in defaults
    }
    slots = {
        one.name: slot
        for slot, cell in enumerate(draft.slots)
        if cell.cell_type == "code"
        for one in cells.predictions(cell.source)
    }
    blank_texts = {_blanked(source) for source in ours}
    used = set()
    for index in open_cells:
        source = learner[index].source
        names = {one.name for one in cells.predictions(source)} if learner[index].cell_type == "code" else set()
        if names and names & mine.keys() <= slots.keys() and _blanked(source) in blank_texts:
            used.add(index)
    for slot in sorted({slots[name] for name in mine if name in slots}):
        _predict(draft.slots, slot, mine, learner, used)
    carried = ", ".join(f'"{name}"' for name in mine if name in slots)
    if carried:
        draft.notes.append(note("carried_predictions", names=carried))
    return used


def _predict(
    slots: list[NotebookNode], slot: int, values: dict[str, str], learner: list[NotebookNode], used: set[int]
) -> None:
    source = cells.with_predictions(slots[slot].source, values)
    same = [learner[index] for index in used if learner[index].source == source]
    if same:
        slots[slot] = _keep(same[-1], slots[slot])
    elif source != slots[slot].source:
        slots[slot].source, slots[slot].outputs, slots[slot].execution_count = source, [], None


def _blanked(source: str) -> str:
    found = cells.predictions(source)
    return cells.with_predictions(source, {one.name: "None" for one in found}) if found else source


def _own_cells(
    draft: _Draft, course: Versions, learner: list[NotebookNode], places: list[Place], used: set[int]
) -> None:
    """Put the cells that the learner edited or added where they stood, as far as that place still exists."""
    anchors = _anchors(places, len(draft.slots))
    added = 0
    for index, (cell, place) in enumerate(zip(learner, places, strict=True)):
        if index in used or place.kind == "ours":
            continue
        if _stays_in_place(draft, course, cell, place):
            assert place.slot is not None
            draft.slots[place.slot] = _keep(cell, draft.slots[place.slot])
            draft.notes.append(note("carried_edit", begins=cells.first_line(cell.source)))
        elif not _is_empty(cell):
            added += place.kind == "added"
            draft.behind[anchors[index]].append(_own(draft, course, cell, place))
    if added:
        draft.notes.append(note("carried_cells", count=added))


def _anchors(places: list[Place], slots: int) -> list[int]:
    """For each of the learner's cells the slot that it goes behind.

    That is the one it stood behind; where the course has given that cell up, what came in its place goes before it.
    """
    after = slots
    following: list[int] = []
    for place in reversed(places):
        following.insert(0, after)
        after = after if place.slot is None else place.slot
    anchors: list[int] = []
    last, gone = _TOP, False
    for place, later in zip(places, following, strict=True):
        if place.kind != "added":
            gone, last = place.slot is None, last if place.slot is None else place.slot
        anchors.append(later - 1 if gone and later > last else last)
    return anchors


def _stays_in_place(draft: _Draft, course: Versions, cell: NotebookNode, place: Place) -> bool:
    """Whether an edited cell takes the place of ours: the course has not changed it, and it is no exercise."""
    if place.slot is None or _is_empty(cell):
        return False
    ours = draft.slots[place.slot]
    return ours.cell_type == cell.cell_type and ours.id not in course.stubs


def _own(draft: _Draft, course: Versions, cell: NotebookNode, place: Place) -> NotebookNode:
    """A cell to keep. What was made from one of ours that is gone is kept as text: run, it would undo the new one."""
    if place.kind == "added" or place.slot is not None:
        return cell
    if cell.get("id") in course.old_stubs:
        draft.notes.append(note("carried_orphan", name=cell.id))
    else:
        draft.notes.append(note("carried_old_edit", begins=cells.first_line(cell.source)))
        if cell.cell_type == "code":
            return _as_text(cell)
    return cell


def _as_text(cell: NotebookNode) -> NotebookNode:
    fence = "```"
    while fence in cell.source:
        fence += "`"
    source = f"{say('your_version')}\n\n{fence}python\n{cell.source}\n{fence}"
    return NotebookNode(cell_type="markdown", id=cell.id, metadata=NotebookNode(), source=source)


def _is_empty(cell: NotebookNode) -> bool:
    return not cell.source.strip() and not cell.get("attachments")


def _assembled(current: NotebookNode, draft: _Draft) -> NotebookNode:
    """The finished notebook, every id in it once."""
    notebook = copy.deepcopy(current)
    notebook.cells = list(draft)
    reserved = {cell.id for cell in draft.slots}
    slots = {id(cell) for cell in draft.slots}
    for cell in notebook.cells:
        if id(cell) not in slots:
            cell.id = _free_id(cell, reserved)
            reserved.add(cell.id)
    return notebook


def _free_id(cell: NotebookNode, reserved: set[str]) -> str:
    digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
    options = (cell.get("id") or digest, digest, *(f"{digest}-{count}" for count in range(2, len(reserved) + 3)))
    return next(option for option in options if option not in reserved)
