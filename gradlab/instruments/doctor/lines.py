"""A cut's line, ready to be written again."""

import ast
import re
from dataclasses import dataclass

from gradlab.instruments.doctor.calls import Call, replaced, tree_of
from gradlab.instruments.doctor.finding import Cut

# The key of a template in `advice_texts`, and the fields for it; None where the line doesn't say enough.
Written = tuple[str, dict[str, str]] | None


@dataclass(frozen=True)
class Line:
    """A cut, the statement it stands on, and the call in it that is the operation."""

    cut: Cut
    name: str
    code: str
    call: Call | None

    @property
    def returned(self) -> bool:
        """Whether the statement hands its value to the caller."""
        return self.code.startswith(("return ", "yield "))

    def with_call(self, new: str) -> str:
        """The statement with the call replaced."""
        assert self.call is not None
        return replaced(self.code, self.call, new)


def straight(line: Line) -> str | None:
    """The statement with the call's value kept and its gradient passed on as it comes."""
    if line.call is None or not line.call.arguments:
        return None
    x = line.call.arguments[0]
    new = f"{grouped(x, 2)} + tf.stop_gradient({line.call.text} - {grouped(x, 1)})"
    alone = (
        re.fullmatch(r"(?s)\s*(return|[\w.,\s\[\]]+=)\s*", line.code[: line.call.start])
        and not line.code[line.call.end :].strip()
    )
    inside = line.code[: line.call.start].rstrip()[-1:] in ("(", ",") and line.code[line.call.end :].lstrip()[:1] in (
        ")",
        ",",
    )
    return line.with_call(new if alone or inside else f"({new})")


# What may stand next to what without brackets: 0 anything tighter than a product, 1 products too, 2 sums too.
_LOOSE: tuple[tuple[type[ast.operator], ...], ...] = (
    (),
    (ast.Mult, ast.Div, ast.MatMult, ast.Pow),
    (ast.Mult, ast.Div, ast.MatMult, ast.Pow, ast.Add, ast.Sub),
)


def grouped(text: str, loose: int = 0) -> str:
    """An expression that can stand next to an operator, in brackets if it has to be.

    Args:
        loose: 0 next to a product or a division, 1 after a minus, 2 before a plus or a minus.
    """
    tree = tree_of(text)
    body = tree.body[0] if isinstance(tree, ast.Module) and tree.body else None
    value = getattr(body, "value", None)
    if isinstance(value, ast.Call | ast.Name | ast.Constant | ast.Subscript | ast.Attribute):
        return text
    return text if isinstance(value, ast.BinOp) and isinstance(value.op, _LOOSE[loose]) else f"({text})"
