"""What ``gradlab check`` found, as data and as text."""

import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gradlab.course.texts import say


@dataclass(frozen=True)
class ExerciseReport:
    """How one exercise stands: an outcome as `check` gives them, and remarks on the cells that belong to it."""

    name: str
    outcome: str
    message: str = ""
    parts: Mapping[str, bool] | None = None
    misconceptions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellReport:
    """A cell that raised, took too long or killed the kernel; ``cell`` is its number when all are run from the top."""

    cell: int
    begins: str
    line: int | None
    text: str


@dataclass(frozen=True)
class Report:
    """What a run has shown. ``lesson`` is the lesson that the notebook was told to be, if any."""

    notebook: str
    lesson: str | None
    exercises: tuple[ExerciseReport, ...]
    cells: tuple[CellReport, ...]

    @property
    def correct(self) -> int:
        """How many exercises are correct."""
        return sum(exercise.outcome == "correct" for exercise in self.exercises)

    @property
    def ok(self) -> bool:
        """Whether every exercise is correct and every cell ran."""
        return self.correct == len(self.exercises) and not self.cells

    def as_data(self) -> dict[str, Any]:
        """The report as plain data."""
        return {**asdict(self), "correct": self.correct, "ok": self.ok}


def to_text(report: Report, width: int = 80) -> str:
    """The report as lines of at most ``width`` characters."""
    longest = max((len(exercise.outcome) for exercise in report.exercises), default=0) + 2

    def paragraph(text: str, indent: int) -> list[str]:
        return textwrap.wrap(
            text, width, initial_indent=" " * indent, subsequent_indent=" " * indent, break_on_hyphens=False
        )

    lines = [say("report_title", notebook=report.notebook), ""]
    for exercise in report.exercises:
        lines.append(f"{say('outcome_' + exercise.outcome.replace(' ', '_')):<{longest}}{exercise.name}")
        for text in ([exercise.message] if exercise.outcome != "correct" else []) + list(exercise.remarks):
            lines += paragraph(text, longest)
    if report.cells:
        lines += ["", say("report_cells")]
        for cell in report.cells:
            where = say(
                "report_line" if cell.line else "report_cell", cell=cell.cell, line=cell.line, begins=cell.begins
            )
            lines += [f"  {where}", *paragraph(cell.text, 6)]
    lines += ["", say("report_total", correct=report.correct, total=len(report.exercises))]
    return "\n".join(line.rstrip() for line in lines)
