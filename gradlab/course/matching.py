"""Which cells of a learner's notebook are the course's own, told by comparing with what was handed out."""

from collections import defaultdict
from dataclasses import dataclass

from nbformat import NotebookNode

from gradlab.course import cells


@dataclass(frozen=True)
class _Entry:
    """One of the course's cells over both versions: its place in the new lesson (None: gone), the texts it had."""

    slot: int | None
    id: str
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Place:
    """What a learner's cell is: ``ours``, ``edited`` or ``added``; and the slot of the new lesson it belongs to."""

    kind: str
    slot: int | None = None


class Versions:
    """The course's side: a lesson as it was handed out (None: not known) and as it is now."""

    def __init__(self, handed_out: NotebookNode | None, current: NotebookNode) -> None:
        self.cells: list[NotebookNode] = [*(handed_out.cells if handed_out else ()), *current.cells]
        self.slot_of_id = {cell.id: slot for slot, cell in enumerate(current.cells)}
        self.old_stubs = cells.exercise_cells(handed_out) if handed_out else {}
        self.stubs = cells.exercise_cells(current)
        self._stub_texts = {stub.source for stub in (*self.old_stubs.values(), *self.stubs.values())}
        texts = defaultdict(list)
        for cell in self.cells:
            texts[cell.id].append(text(cell))
        self._entries = [_Entry(self.slot_of_id.get(id), id, tuple(all_)) for id, all_ in texts.items()]

    def is_stub(self, cell: NotebookNode) -> bool:
        """Whether a cell is an exercise as the course hands it out."""
        return cell.source in self._stub_texts

    def match(self, learner: list[NotebookNode]) -> list[Place]:
        """For each of the learner's cells, what it is. Each of the course's cells is matched once.

        By id and text first; then by text alone, for editors that change ids; what is left by id alone is edited.
        """
        places: dict[int, Place] = {}
        free = list(self._entries)
        for kind, fits in (("ours", _same), ("ours", _same_text), ("edited", _same_id)):
            for index, cell in enumerate(learner):
                entry = next((one for one in free if fits(one, cell)), None) if index not in places else None
                if entry:
                    free.remove(entry)
                    places[index] = Place(kind, entry.slot)
        return [places.get(index, Place("added")) for index in range(len(learner))]


def text(cell: NotebookNode) -> tuple[str, str]:
    """What makes two cells the same: kind and source."""
    return cell.cell_type, cell.source


def _same(entry: _Entry, cell: NotebookNode) -> bool:
    return _same_id(entry, cell) and _same_text(entry, cell)


def _same_text(entry: _Entry, cell: NotebookNode) -> bool:
    return text(cell) in entry.texts


def _same_id(entry: _Entry, cell: NotebookNode) -> bool:
    return entry.id == cell.get("id")
