"""What goes wrong with a course's files, told so that the reader knows what to type next."""


class CourseError(Exception):
    """Something about the course's files is wrong; ``mend`` is the command or the edit that puts it right."""

    def __init__(self, what: str, mend: str) -> None:
        super().__init__(what, mend)
        self.what = what
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.what}\n  mend: {self.mend}"


class BadArgument(CourseError):
    """What was asked for can't be: a lesson that there isn't, a file that is no file."""
