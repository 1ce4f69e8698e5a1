"""What the workbook's files may refuse, said so that the learner knows what to type next."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from gradlab.course.errors import CourseError
from gradlab.course.texts import say, shown

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


def refuse_file(path: Path, command: str) -> None:
    """Raise `CourseError` for what can't be replaced by a notebook without losing something."""
    if path.is_symlink() and not path.exists():
        target = os.path.realpath(path)
        raise CourseError(
            say("broken_link", path=shown(path), target=target),
            say("broken_link_mend", target=target, path=shown(path), command=command),
        )
    if not path.is_file():
        other = shown(path.with_name(f"{path.name}.old"))
        raise CourseError(
            say("folder_in_way", path=shown(path)), say("move_mend", path=shown(path), other=other, command=command)
        )
    if not os.access(path, os.W_OK):
        raise CourseError(say("read_only", path=shown(path)), say("read_only_mend", path=shown(path), command=command))


def refuse_place(root: Path, course: Path) -> None:
    """Raise `CourseError` for a workbook in the course's own folders, or where a file is."""
    parts = [course / name for name in ("lessons", "solutions", "gradlab", "tests", ".git", ".venv")]
    real = root.resolve()
    if real == course or any(real.is_relative_to(part) for part in parts):
        raise CourseError(say("workbook_in_course", folder=shown(root)), say("elsewhere_mend", elsewhere="DIR"))
    if root.exists() and not root.is_dir():
        raise CourseError(say("workbook_is_file", folder=shown(root)), say("elsewhere_mend", elsewhere="DIR"))


@contextlib.contextmanager
def telling(path: Path, command: str) -> Iterator[None]:
    """Turn what the system refuses into a `CourseError` that says what to type; ``command`` is the one to repeat."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        if error.errno in FULL:
            raise CourseError(say("full", path=shown(path)), say("full_mend", command=command)) from error
        if error.errno in _FORBIDDEN:
            elsewhere = say("elsewhere_mend", elsewhere=shown(Path.home() / "gradlab-workbook"))
            folder = shown(path.parent)
            raise CourseError(
                say("forbidden", path=shown(path), reason=reason),
                say("forbidden_mend", folder=folder, elsewhere=elsewhere),
            ) from error
        raise CourseError(
            say("unwritten", path=shown(path), reason=reason), say("unwritten_mend", path=shown(path), command=command)
        ) from error
