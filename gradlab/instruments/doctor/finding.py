"""What the doctor found about one variable."""

from dataclasses import dataclass, field
from typing import Any

from gradlab.instruments.doctor.frames import Place

# The words for what a gradient is; the worst first.
STATUSES = ("raises", "nonfinite", "none", "untracked", "zero", "ok")


@dataclass(frozen=True)
class Step:
    """One operation on the way from a variable to the cut."""

    op: str
    file: str | None
    line: int | None
    code: str

    def __str__(self) -> str:
        return f"{self.op}: {self.code}" if self.code else self.op


@dataclass(frozen=True)
class Finding:
    """One variable, what its gradient is, and why.

    Attributes:
        variable: the variable's name (a `tf.Variable`'s name without `:0`, a Keras variable's path, what a plain
            tensor is called in the user's code, or its place in the list).
        status: `ok`, `none`, `zero`, `nonfinite`, `untracked` or `raises`.
        cause: a word for why, such as `stop-gradient` or `int-cast`; empty where all is well or the cause unknown.
        op: the operation at which the gradient is lost.
        file, line, code: the line of the user's own code that ran it.
        path: the operations from the variable to the cut.
        advice: what to write instead.
        shape: the variable's shape.
        also: other causes that the evidence leaves open.
        note: what was seen, in a sentence.
        times: in how many calls of `tape.gradient` it was so.
        out_of: of how many.
    """

    variable: str
    status: str
    cause: str = ""
    op: str = ""
    file: str | None = None
    line: int | None = None
    code: str = ""
    path: tuple[Step, ...] = ()
    advice: str = ""
    shape: tuple[int, ...] = ()
    also: tuple[str, ...] = ()
    note: str = ""
    times: int = 1
    out_of: int = 1

    @property
    def ok(self) -> bool:
        """Whether the gradient is there, finite and not zero."""
        return self.status == "ok"

    def as_dict(self) -> dict[str, Any]:
        """The finding as plain values, for JSON."""
        answer = {name: getattr(self, name) for name in self.__dataclass_fields__}
        answer["path"] = [{"op": s.op, "file": s.file, "line": s.line, "code": s.code} for s in self.path]
        answer["shape"], answer["also"] = list(self.shape), list(self.also)
        return answer


@dataclass
class Cut:
    """Where and why a gradient is lost, before it is told to anybody."""

    cause: str
    op: str = ""
    place: Place | None = None
    note: str = ""
    also: tuple[str, ...] = ()
    path: tuple[Step, ...] = ()
    details: dict[str, str] = field(default_factory=dict)
