"""`%%doctor`: a notebook cell with the doctor beside it, after `%load_ext gradlab`."""

import ast
import contextlib
import keyword
from typing import TYPE_CHECKING, Any

from gradlab.instruments.doctor.tracebacks import hide_own_frames

if TYPE_CHECKING:
    from gradlab.instruments.doctor.visit import Visit


def register(shell: Any) -> None:
    """Give an IPython shell the cell magic."""

    def doctor(line: str, cell: str) -> None:
        """Run the cell and say what is wrong with its gradients.

        %%doctor          the report follows the cell's own result
        %%doctor visit    the same, and the findings stay under this name
        """
        examine_cell(shell, line, cell)

    shell.register_magic_function(doctor, magic_kind="cell", magic_name="doctor")


def examine_cell(shell: Any, line: str, cell: str) -> None:
    """Run a cell's code as the shell would, and show the report after its result.

    Args:
        line: a name under which the visit is kept; empty for none.
        cell: the lines below `%%doctor`.

    Raises:
        UsageError: what stands beside `%%doctor` isn't a name. Whatever the cell raises is passed on.
    """
    from gradlab.instruments.doctor.visit import doctor

    name = line.strip()
    if name and (not name.isidentifier() or keyword.iskeyword(name)):
        from IPython.core.error import UsageError

        raise UsageError(f"%%doctor takes a name for what it finds, or nothing; {name!r} is no name")
    steps = _compile(shell, cell)
    visit: Visit | None = None
    try:
        with doctor() as visit:
            for step in steps:
                exec(step, shell.user_global_ns, shell.user_ns)
    except BaseException as error:
        hide_own_frames(error)
        _show_plainly(shell, error)
        raise
    finally:
        if visit is not None:
            if name:
                shell.user_ns[name] = visit
            _show(visit)


def _compile(shell: Any, cell: str) -> list[Any]:
    """The statements, then the last expression, so that its value is shown; lines count as they stand in the cell."""
    code = f"\n{shell.transform_cell(cell)}"
    file = shell.compile.cache(code, shell.displayhook.prompt_count, raw_code=f"%%doctor\n{cell}")
    tree = shell.transform_ast(shell.compile.ast_parse(code, filename=file))
    body, last = tree.body, []
    if body and isinstance(body[-1], ast.Expr) and not shell.displayhook.semicolon_at_end_of_expression(cell):
        last = [body.pop()]
    steps = [shell.compile(ast.Module(body, []), file, "exec")]
    if last:
        steps.append(shell.compile(ast.Interactive(last), file, "single"))
    return steps


def _show_plainly(shell: Any, error: BaseException) -> None:
    """Have the shell show this exception's traceback, once, as it would without `%%doctor` around the cell."""
    trace = error.__traceback__

    def render() -> list[str]:
        del error._render_traceback_  # type: ignore[attr-defined]
        return list(shell.InteractiveTB.structured_traceback(type(error), error, trace, tb_offset=0))

    with contextlib.suppress(AttributeError):  # an exception that takes no attributes is shown with our frames
        error._render_traceback_ = render  # type: ignore[attr-defined]


def _show(visit: "Visit") -> None:
    from IPython.display import display

    display({"text/plain": str(visit), "text/html": visit._repr_html_()}, raw=True)
