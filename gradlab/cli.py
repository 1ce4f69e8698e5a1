"""The ``gradlab`` command. Nothing heavy is imported before a command needs it, so that ``--help`` answers at once."""

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from gradlab.course.errors import BadArgument, CourseError
from gradlab.course.texts import say
from gradlab.terminal import bar, complain, tell, width

app = typer.Typer(
    name="gradlab",
    help=say("help"),
    epilog=say("help_exit"),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
WorkbookOption = Annotated[Path | None, typer.Option("--workbook", metavar="DIR", help=say("help_workbook"))]
JsonOption = Annotated[bool, typer.Option("--json", help=say("help_json"))]


def main() -> None:
    """Run the command line: 0 is fine, 1 is something found wrong, 2 is arguments that can't be used."""
    try:
        app()
    except CourseError as error:
        complain(error)
        sys.exit(2 if isinstance(error, BadArgument) else 1)


@app.command(help=say("help_lab"), short_help=say("short_lab"))
def lab(
    more: Annotated[list[str] | None, typer.Argument(metavar="-- JUPYTER ARGS", help=say("help_more"))] = None,
    workbook: WorkbookOption = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help=say("help_no_browser"))] = False,
    port: Annotated[int | None, typer.Option(min=1, max=65535, metavar="N", help=say("help_port"))] = None,
) -> None:
    """Prepare the workbook and open JupyterLab in it."""
    from gradlab.course import lab as jupyter
    from gradlab.course.workbook import choose, damaged, latest, lessons, outdated, prepare

    course = lessons()
    book = choose(workbook)
    new = prepare(book, course)
    tell(say("lab_where", folder=book.root))
    if new:
        tell(say("handed_out", names=", ".join(lesson.name for lesson in new)))
    if old := outdated(book, course):
        tell(say("lab_newer", names=", ".join(lesson.name for lesson in old)))
    for problem in damaged(book, course):
        complain(problem)
    with jupyter.only_one(book, lambda held: tell(say("lab_waiting", holder=held.holder))) as other:
        if other is not None:
            tell(say("lab_running", address=other.address))
            tell(say("lab_not_opened" if no_browser or not _browse(other.address) else "lab_opened"))
            return
        if jupyter.is_root():
            tell(say("lab_root"))
        first = latest(book, course).path.name
        jupyter.start(jupyter.arguments(book.root, first, browser=not no_browser, port=port, more=more or ()))


def _browse(address: str) -> bool:
    import webbrowser

    return webbrowser.open(address)


@app.command(help=say("help_update"), short_help=say("short_update"))
def update(workbook: WorkbookOption = None) -> None:
    """Bring new versions of the lessons into the workbook."""
    from gradlab.course.lab import running
    from gradlab.course.workbook import existing, lessons
    from gradlab.course.workbook import update as bring_up_to_date

    book = existing(workbook)
    changes, problems = bring_up_to_date(book, lessons())
    for change in changes:
        tell(str(change.sentence))
        for remark in change.notes:
            tell(str(remark), indent="  ")
    if not changes and not problems:
        tell(say("up_to_date"))
    if changes and running(book.root):
        tell(say("update_reload"))
    for problem in problems:
        complain(problem)
    raise typer.Exit(1 if problems else 0)


@app.command(help=say("help_reset"), short_help=say("short_reset"))
def reset(
    number: Annotated[str, typer.Argument(metavar="NN", help=say("help_number"))], workbook: WorkbookOption = None
) -> None:
    """Start one lesson again."""
    from gradlab.course.lab import running
    from gradlab.course.workbook import existing, find_lesson, lessons
    from gradlab.course.workbook import reset as start_again

    lesson = find_lesson(number, lessons())
    book = existing(workbook)
    change = start_again(book, lesson)
    tell(str(change.sentence))
    for remark in change.notes:
        tell(str(remark), indent="  ")
    if change.notes and running(book.root):
        tell(say("reset_reload"))


@app.command(help=say("help_progress"), short_help=say("short_progress"))
def progress(workbook: WorkbookOption = None) -> None:
    """Show how far the learner is."""
    from gradlab.course.workbook import existing
    from gradlab.exercises.notebook import progress_table

    os.chdir(existing(workbook).root)
    typer.echo(progress_table().text)


@app.command(help=say("help_build"), short_help=say("short_build"))
def build(
    numbers: Annotated[list[str] | None, typer.Argument(metavar="[NN ...]", help=say("help_numbers"))] = None,
    check: Annotated[bool, typer.Option("--check", help=say("help_build_check"))] = False,
    force: Annotated[bool, typer.Option("--force", help=say("help_force"))] = False,
) -> None:
    """Make lessons and solutions from their sources."""
    from gradlab.course import build as builder
    from gradlab.course.layout import Course
    from gradlab.course.workbook import checkout

    course = Course.at(checkout())
    if not course.sources.is_dir():
        raise CourseError(say("no_sources", folder=course.sources), say("no_lessons_mend"))
    with bar() as progress_bar:

        def show(event: builder.Event) -> None:
            if event.kind in ("built", "warning"):
                progress_bar.line(event.message)
            elif event.kind in ("lesson", "cell"):
                progress_bar.advance(event.lesson, event.done, event.total)

        try:
            if check:
                result = builder.check(numbers, course=course, report=show)
            else:
                result = builder.build(numbers, course=course, force=force, report=show)
        except CourseError as error:  # a number that no source has
            complain(error)
            raise typer.Exit(2) from None
    for problem in result.problems:
        complain(CourseError(problem.message, problem.mend))
    tell(say("build_done", built=len(result.built), fresh=len(result.fresh), problems=len(result.problems)))
    raise typer.Exit(0 if result.ok else 1)


@app.command(help=say("help_check"), short_help=say("short_check"))
def check(
    notebook: Annotated[Path, typer.Argument(metavar="NOTEBOOK", help=say("help_notebook"))],
    time_limit: Annotated[float, typer.Option("--time-limit", min=1, metavar="S", help=say("help_limit"))] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Run a notebook and report its exercises."""
    from gradlab.course.report import to_text
    from gradlab.course.run import check_notebook

    with bar(notebook.name) as progress_bar:
        report = check_notebook(
            notebook,
            time_limit=time_limit,
            watch=lambda done, total: progress_bar.advance(notebook.name, done, total),
        )
    typer.echo(json.dumps(report.as_data(), indent=1, ensure_ascii=False) if as_json else to_text(report, width()))
    raise typer.Exit(0 if report.ok else 1)


@app.command(
    help=say("help_doctor"), short_help=say("short_doctor"), context_settings={"allow_interspersed_args": False}
)
def doctor(
    script: Annotated[str, typer.Argument(metavar="SCRIPT", help=say("help_script"), show_default=False)],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGS", help=say("help_arguments"))] = None,
    as_json: Annotated[bool | None, typer.Option("--json/--text", help=say("help_doctor_json"))] = None,
) -> None:
    """Run a script and say what is wrong with its gradients."""
    from gradlab.instruments.doctor.script import NotAScript, run_script

    given = list(arguments or ())
    if as_json is None and given[-1:] == [
        "--json"
    ]:  # as the last word it is ours too; said before SCRIPT, all after it is the script's
        as_json = bool(given.pop())
    try:
        ran = run_script(script, given)
    except NotAScript as error:
        raise BadArgument(f"{error}.", say("not_a_script_mend")) from None
    if not ran.is_child:
        with contextlib.suppress(OSError, ValueError):  # the script may have closed it
            sys.stdout.flush()
        typer.echo(json.dumps(ran.as_data()) if as_json else ran.as_text(), err=True)
    sys.exit(ran.status)


@app.command(help=say("help_env"), short_help=say("short_env"))
def env(
    workbook: WorkbookOption = None,
    deep: Annotated[bool, typer.Option("--deep", help=say("help_deep"))] = False,
    as_json: JsonOption = False,
) -> None:
    """Check this machine."""
    from gradlab.course.machine import report as look

    machine = look(workbook, deep=deep)
    if as_json:
        typer.echo(json.dumps(machine.as_data(), indent=1, ensure_ascii=False))
    else:
        typer.echo(machine.headline)
        for line in machine.lines:
            tell(f"{line.state:<9}{line.what}: {line.text}", hanging=" " * 9)
            if line.mend:
                tell(say("mend", mend=line.mend), indent=" " * 9)
    raise typer.Exit(0 if machine.ready else 1)


if __name__ == "__main__":
    main()
