"""Where the parts of a course lie."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gradlab.course.lesson_texts import ENGLISH, LessonTexts

_LESSON_FILE = re.compile(r"(\d\d)_[a-z0-9_]+")


@dataclass(frozen=True)
class Course:
    """The folders and files that the builder reads and writes; ``Course.at`` knows the usual places.

    ``package`` is the import name of ``exercises``. ``aliases`` says for a name that one module hands on from another
    (``gradlab.gradcheck``) where it comes from, so that both ways to import it count as the same object.
    """

    root: Path
    sources: Path
    lessons: Path
    solutions: Path
    exercises: Path
    lock: Path
    package: str = "gradlab.exercises"
    texts: LessonTexts = ENGLISH
    aliases: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, root: Path) -> "Course":
        """The course in a checkout whose top folder is ``root``."""
        return cls(
            root=root,
            sources=root / "lessons" / "source",
            lessons=root / "lessons",
            solutions=root / "solutions",
            exercises=root / "gradlab" / "exercises",
            lock=root / "requirements.lock",
            aliases=_public_names(),
        )

    def source_paths(self) -> dict[str, Path]:
        """The sources by the stem of their lesson (``04_is_the_gradient_right``), in order."""
        paths = sorted(self.sources.glob("*.md"))
        return {path.stem: path for path in paths if _LESSON_FILE.fullmatch(path.stem)}

    def exercise_paths(self, number: str) -> dict[str, Path]:
        """The files of a lesson's exercises, by the name of the exercise."""
        paths = sorted((self.exercises / f"lesson_{number}").glob("*.py"))
        return {path.stem: path for path in paths if path.stem != "__init__"}

    def all_exercises(self) -> dict[str, list[str]]:
        """For each exercise of the course the numbers of the lessons that hold it (one, if all is well)."""
        homes: dict[str, list[str]] = {}
        for folder in sorted(self.exercises.glob("lesson_[0-9][0-9]")):
            number = folder.name.removeprefix("lesson_")
            for name in self.exercise_paths(number):
                homes.setdefault(name, []).append(number)
        return homes

    def exercise_module(self, number: str, name: str) -> str:
        """The import name of the module that holds an exercise."""
        return f"{self.package}.lesson_{number}.{name}"

    def shown(self, path: Path) -> str:
        """A path as messages and records name it: from the root, with slashes."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()


def _public_names() -> dict[str, str]:
    import gradlab

    return {f"gradlab.{name}": f"{home}.{name}" for name, home in gradlab._HOME.items()}
