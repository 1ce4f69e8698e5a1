import errno
import json
import os
import re
import shutil

import pytest

from gradlab.course.build import build, check
from gradlab.course.drift import VERDICT_TYPE
from gradlab.course.errors import CourseError
from gradlab.course.record import digest
from tests.course.small_course import ANSWER, BODY, HEAD, code, course_at, exercise, make, write_answer, write_source

pytestmark = pytest.mark.notebooks


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A course that has been built; copied for each test that changes it."""
    course = make(tmp_path_factory.mktemp("built"))
    result = build(course=course)
    assert result.problems == ()
    assert result.built == ("00_start",)
    return course


@pytest.fixture
def course(built, tmp_path):
    shutil.copytree(built.root, tmp_path / "course")
    return course_at(tmp_path / "course")


@pytest.fixture
def no_kernel(monkeypatch):
    """Executing anything is an error."""

    def refuse(*_, **__):
        raise AssertionError("a notebook was executed")

    monkeypatch.setattr("gradlab.course.build.execute", refuse)


def contents(course):
    folders = (course.lessons, course.solutions)
    return {path: path.read_bytes() for folder in folders for path in folder.glob("*") if path.is_file()}


def whats(result):
    return "\n".join(problem.message for problem in result.problems)


def test_a_course_just_built_is_sound_and_building_it_again_executes_and_changes_nothing(course, no_kernel):
    before = contents(course)
    assert {path.name for path in before} == {"00_start.ipynb", "00_start.sha256"}
    assert check(course=course).ok
    again = build(course=course)
    assert (again.built, again.fresh, again.problems) == ((), ("00_start",), ())
    assert contents(course) == before


def test_a_forced_build_gives_the_same_bytes(course):
    before = contents(course)
    assert build(course=course, force=True).built == ("00_start",)
    assert contents(course) == before


def test_lessons_carry_no_outputs_and_solutions_do(course):
    blank, solved = (json.loads((f / "00_start.ipynb").read_text()) for f in (course.lessons, course.solutions))
    code_cells = [cell for cell in blank["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code_cells)
    assert solved["cells"][-1]["outputs"][0]["text"] == ["1.0\n"]


def test_the_record_can_be_verified_with_sha256sum(course):
    lines = (course.solutions / "00_start.sha256").read_text().splitlines()
    assert {line[66:]: line[:64] for line in lines} == {
        name: digest((course.root / name).read_bytes())
        for name in (
            "exercises/lesson_00/hypotenuse.py",
            "lessons/source/00_start.md",
            "requirements.lock",
            "solutions/00_start.ipynb",
        )
    }


def test_events_tell_what_is_done(built, tmp_path):
    events = []
    course = make(tmp_path)
    build(course=course, report=events.append)
    assert [event.kind for event in events] == ["lesson", "warning", *["cell"] * 4, "built"]
    assert [(event.done, event.total) for event in events if event.kind == "cell"] == [(n, 4) for n in (1, 2, 3, 4)]
    assert "## Recap" in events[1].message


def test_one_changed_word_makes_both_files_stale_and_the_command_is_named(course, no_kernel):
    write_source(course, body=BODY.replace("The task", "A task"))
    result = check(course=course)
    lesson, solution = result.problems
    assert re.match(r"lessons/00_start\.ipynb is stale: cell 3 should be `A task\.`", lesson.message)
    assert solution.message == "solutions/00_start.ipynb is stale: lessons/source/00_start.md changed"
    assert lesson.mend == solution.mend == "gradlab build 00"


@pytest.mark.parametrize("name", ["requirements.lock", "exercises/lesson_00/hypotenuse.py", "solutions/00_start.ipynb"])
def test_a_change_in_anything_that_a_solution_depends_on_makes_it_stale(course, no_kernel, name):
    path = course.root / name
    path.write_bytes(path.read_bytes() + b"\n")
    (problem,) = check(course=course).problems
    assert problem.message == f"solutions/00_start.ipynb is stale: {name} changed"
    assert problem.mend == "gradlab build 00"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("lessons/00_start.ipynb", None, "lessons/00_start.ipynb is missing"),
        ("lessons/00_start.ipynb", b"{not json", "lessons/00_start.ipynb is stale"),
        ("solutions/00_start.ipynb", None, "solutions/00_start.ipynb is missing"),
        ("solutions/00_start.ipynb", b"", "solutions/00_start.ipynb is stale"),
        ("solutions/00_start.sha256", None, "solutions/00_start.sha256 is missing"),
        ("solutions/00_start.sha256", b"\xff", "lessons/source/00_start.md is new"),
    ],
)
def test_missing_and_damaged_files_are_named_and_built_again(course, name, content, message):
    before = contents(course)
    path = course.root / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    (problem,) = check(course=course).problems
    assert message in problem.message
    assert problem.mend == "gradlab build 00"
    assert build(course=course).ok
    assert contents(course) == before


def test_a_solution_edited_together_with_its_record_is_still_noticed(course, no_kernel):
    solution, record = course.solutions / "00_start.ipynb", course.solutions / "00_start.sha256"
    old = digest(solution.read_bytes())
    solution.write_text(solution.read_text().replace("print(hypotenuse(0.0))", "print(1.0)"))
    record.write_text(record.read_text().replace(old, digest(solution.read_bytes())))
    assert "its cells are not those that the builder makes now" in whats(check(course=course))


WRONG = ANSWER.replace("side * side + 1.0", "side * side")


def test_a_solution_that_fails_its_own_check_is_refused_by_build(course):
    before = contents(course)
    write_answer(course, "hypotenuse", WRONG)
    (problem,) = build(course=course).problems
    assert "the verdict on hypotenuse is `wrong` in the solution" in problem.message
    assert problem.mend.endswith("gradlab build 00")
    assert contents(course) == before


@pytest.mark.parametrize("outcome", ["wrong", "not attempted", "error", None])
def test_a_stored_verdict_that_is_not_correct_is_refused_by_check(course, no_kernel, outcome):
    solution, record = course.solutions / "00_start.ipynb", course.solutions / "00_start.sha256"
    old = digest(solution.read_bytes())
    content = json.loads(solution.read_text())
    for cell in content["cells"]:
        for output in cell.get("outputs", []):
            if VERDICT_TYPE in output.get("data", {}):
                output["data"][VERDICT_TYPE]["outcome"] = outcome
    solution.write_text(json.dumps(content))
    record.write_text(record.read_text().replace(old, digest(solution.read_bytes())))
    assert f"the verdict on hypotenuse is `{outcome}`" in whats(check(course=course))


def test_an_exercise_without_a_verdict_is_refused(tmp_path):
    body = code("import math\ndef check(f):\n    return f") + exercise("hypotenuse")
    result = build(course=make(tmp_path, body=body))
    assert "check(hypotenuse) gives no verdict in the solution" in whats(result)
    assert not (tmp_path / "solutions" / "00_start.ipynb").exists()


def test_a_failing_lesson_is_reported_and_the_others_are_built(course):
    head = HEAD.replace("# 00", "# 01")
    write_source(course, head=head, body=code("1 / 0"), stem="01_broken")
    write_source(course, head=head.replace("# 01", "# 02"), body=code("print(3)"), stem="02_fine")
    result = build(course=course)
    assert result.built == ("02_fine",)
    (problem,) = result.problems
    assert problem.lesson == "01_broken"
    assert "ZeroDivisionError" in problem.message
    assert not (course.lessons / "01_broken.ipynb").exists()


def test_only_the_lessons_asked_for_are_built_and_an_unknown_number_is_refused(course, no_kernel):
    write_source(course, head=HEAD.replace("# 00", "# 01"), body=code("1 / 0"), stem="01_broken")
    assert build(["0"], course=course).fresh == ("00_start",)
    assert check(["00"], course=course).ok
    with pytest.raises(CourseError, match=r"no lesson has the number 07; there are 00, 01"):
        build(["07"], course=course)


def test_a_full_disk_leaves_every_file_as_it_was(course, monkeypatch):
    before = contents(course)
    write_source(course, body=BODY.replace("The task", "A task"))

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    (problem,) = build(course=course).problems
    assert "No space left on device" in problem.message
    assert contents(course) == before


def test_control_c_while_a_cell_runs_leaves_every_file_as_it_was(course, monkeypatch):
    before = contents(course)
    write_source(course, body=BODY.replace("The task", "A task"))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gradlab.course.build.execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build(course=course)
    assert contents(course) == before


def test_unstable_output_is_refused(tmp_path):
    (problem,) = build(course=make(tmp_path, body=BODY + code("object()"))).problems
    assert "(cell 7: object()) prints `<object at 0x" in problem.message
    assert not (tmp_path / "lessons" / "00_start.ipynb").exists()


def test_strays_are_named(course, no_kernel):
    (course.lessons / "03_old.ipynb").write_text("{}")
    (course.solutions / "03_old.sha256").write_text("")
    (course.solutions / ".00_start.ipynb.99.tmp").write_text("")
    (course.sources / "glossary.md").write_text("words")
    (course.sources / "4_bad-name.md").write_text("words")
    write_answer(course, "unused", ANSWER)
    write_answer(course, "orphan", ANSWER, number="09")
    result = check(course=course)
    for what in (
        "lessons/03_old.ipynb has no source",
        "solutions/03_old.sha256 has no source",
        "solutions/.00_start.ipynb.99.tmp has no source",
        "lessons/source/4_bad-name.md starts with a digit",
        "exercises/lesson_00/unused.py is used nowhere: lesson 00 has no cell for it",
        "exercises/lesson_09/orphan.py is used nowhere: no lesson has this number",
    ):
        assert what in whats(result)
    assert len(result.problems) == 6
    assert all(problem.mend for problem in result.problems)
    assert "rm lessons/03_old.ipynb" in [problem.mend for problem in result.problems]


def test_names_and_numbers_used_twice_are_named(course, no_kernel):
    write_answer(course, "hypotenuse", ANSWER, number="01")
    write_source(course, stem="00_again", body="")
    told = whats(check(course=course))
    assert "the exercise name hypotenuse is used in lessons 00 and 01" in told
    assert "two lessons have the number 00: 00_again, 00_start" in told


def test_a_change_in_an_imported_exercise_of_another_lesson_makes_the_solution_stale(course):
    base = write_answer(course, "base", ANSWER.replace("hypotenuse", "base"), number="03")
    (course.exercises / "__init__.py").touch()
    write_answer(course, "hypotenuse", "from exercises.lesson_03.base import base\n" + ANSWER)
    body = code("import sys\nsys.path.insert(0, '..')\nfrom exercises.lesson_03.base import base\n") + BODY
    write_source(course, body=body)
    assert build(course=course).ok
    base.write_text(base.read_text() + "# changed\n")
    assert "exercises/lesson_03/base.py changed" in whats(check(["00"], course=course))


def test_the_verdicts_are_those_that_the_exercises_show():
    from gradlab.exercises.show import VERDICT_TYPE as shown

    assert shown == VERDICT_TYPE
