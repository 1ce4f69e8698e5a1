import nbformat
import pytest

from gradlab.course.assemble import assemble
from gradlab.course.files import notebook_text
from gradlab.course.source import LessonRefused, read_source
from tests.course.small_course import ANSWER, BODY, HEAD, TOOLS, code, exercise, make, write_answer


def lesson_of(course):
    return assemble(course, read_source(course.sources / "00_start.md"))


def refusal(course):
    with pytest.raises(LessonRefused) as caught:
        lesson_of(course)
    return str(caught.value)


def test_both_notebooks_are_valid_and_differ_only_in_the_exercise(tmp_path):
    lesson = lesson_of(make(tmp_path))
    for notebook in (lesson.blank, lesson.solved):
        nbformat.validate(notebook)
        assert dict(notebook.metadata) == {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
        }
    differing = [one.id for one, two in zip(lesson.blank.cells, lesson.solved.cells, strict=True) if one != two]
    assert differing == ["hypotenuse"]
    sources = {cell.id: cell.source for cell in lesson.blank.cells}
    assert "sqrt(side" not in notebook_text(lesson.blank)
    assert sources["hypotenuse"].endswith('raise NotImplementedError("hypotenuse")  # your code in place of this line')


def test_the_table_stands_in_the_first_cell_between_title_and_text(tmp_path):
    head = HEAD.replace("00 ·", "07 ·").replace("needs: []", 'needs: ["02", "03"]')
    course = make(tmp_path, body="")
    path = course.sources / "07_more.md"
    path.write_text(head)
    first = assemble(course, read_source(path)).blank.cells[0].source
    assert first.startswith("# 07 · Start\n\n> **How steep?**")
    assert first.endswith("- draw\n- measure\n- tell\n\nHello.")
    assert "Builds on 02, 03 · reading 5 min · core exercises 3 min · stretch 0 min" in first


def test_a_second_assembly_is_byte_equal(tmp_path):
    course = make(tmp_path)
    assert notebook_text(lesson_of(course).blank) == notebook_text(lesson_of(course).blank)


def test_an_inserted_cell_changes_no_other_cells_id(tmp_path):
    first = lesson_of(make(tmp_path / "a"))
    second = lesson_of(make(tmp_path / "b", body=code("inserted = 3") + BODY))
    old, new = ([cell.id for cell in lesson.blank.cells] for lesson in (first, second))
    assert [identity for identity in new if identity in old] == old
    assert len(new) == len(old) + 1


def test_cells_of_the_same_text_have_ids_of_their_own(tmp_path):
    lesson = lesson_of(make(tmp_path, body=code("x = 1") + code("x = 1") + "\nx = 1\n" + BODY))
    ids = [cell.id for cell in lesson.blank.cells]
    assert len(set(ids)) == len(ids)


def test_tags_are_kept_and_other_metadata_is_not(tmp_path):
    body = "\n```{code-cell} ipython3\n---\ntags: [slide]\ncollapsed: true\n---\nx = 1\n```\n" + BODY
    cell = lesson_of(make(tmp_path, body=body)).blank.cells[1]
    assert cell.metadata == {"tags": ["slide"]}


def answer_using(line, imports=""):
    return f'{imports}\n\ndef hypotenuse(side):\n    """The task."""\n    return {line}\n'


def course_using(tmp_path, line, imports="", before=""):
    return make(
        tmp_path,
        body=code(TOOLS) + before + exercise("hypotenuse"),
        answers={"hypotenuse": answer_using(line, imports)},
    )


@pytest.mark.parametrize(
    ("imports", "before"),
    [
        ("import math", ""),
        ("import numpy as np", code("import numpy as np")),
        ("import numpy as np", code("import numpy as np") + code("import numpy as np\nx = np.pi")),
        ("EPS = 1e-6", code("EPS = 1e-6")),
        ("from numpy import linalg", code("import numpy\nlinalg = numpy.linalg")),
        ("from numpy import linalg", code("%%doctor\nfrom numpy import linalg")),
    ],
)
def test_a_name_bound_to_the_same_object_is_accepted(tmp_path, imports, before):
    name = imports.split()[0] if "=" in imports else imports.split()[-1]
    lesson_of(course_using(tmp_path, name, imports, before))


@pytest.mark.parametrize(
    ("line", "imports", "before", "reasons"),
    [
        ("np.pi", "import numpy as np", "", ["uses np", "line 5", "no cell before", "add `import numpy as np`"]),
        ("np.pi", "import numpy as np", code("import keras.ops as np"), ["`import keras.ops as np`"]),
        ("np.pi", "import numpy as np", code("import numpy as np") + code("np = 3"), ["makes it `np = 3`"]),
        ("np.pi", "import numpy as np", code("if 1:\n    import numpy as np"), ["makes it `if 1:`"]),
        ("EPS", "EPS = 1e-6", code("EPS = 1e-7"), ["`EPS = 1e-6`", "`EPS = 1e-7`"]),
        ("EPS", "EPS = 1e-6", code("EPS = 0.5e-6 * 2"), ["makes it `EPS = 0.5e-6 * 2`"]),
        ("helper(side)", "def helper(x):\n    return x\n", "", ["uses helper", "nest helper inside hypotenuse"]),
        (
            "helper(side)",
            "def helper(x):\n    return x\n",
            code("def helper(x):\n    return x"),
            ["makes it `def helper(x):`"],
        ),
        ("nowhere", "", "", ["which its own file never defines"]),
        ("abs(side)", "", code("abs = 3"), ["Python's own", "gives it another meaning"]),
        ("side", "", code("NotImplementedError = 3"), ["needs NotImplementedError", "gives it another meaning"]),
        (
            "np.pi",
            "try:\n    import numpy as np\nexcept ImportError:\n    np = None",
            code("import numpy as np"),
            ["`try:`"],
        ),
    ],
)
def test_a_name_that_is_not_the_same_object_is_refused_with_what_to_do(tmp_path, line, imports, before, reasons):
    told = refusal(course_using(tmp_path, line, imports, before))
    for reason in ["hypotenuse", "00_start.md", "mend:", *reasons]:
        assert reason in told


def test_a_name_bound_only_later_or_changed_later_is_refused(tmp_path):
    answers = {"hypotenuse": answer_using("np.pi", "import numpy as np")}
    late = make(tmp_path / "a", body=exercise("hypotenuse") + code("import numpy as np"), answers=answers)
    assert "too late" in refusal(late)
    body = code("import numpy as np") + exercise("hypotenuse") + code("np = 3")
    assert "makes it `np = 3`" in refusal(make(tmp_path / "b", body=body, answers=answers))


def test_names_in_decorators_defaults_and_annotations_count(tmp_path):
    text = (
        'import a\nimport b\nimport c\n\n@a.x\ndef hypotenuse(side: b.B = c.C):\n    """The task."""\n    return side\n'
    )
    told = refusal(make(tmp_path, answers={"hypotenuse": text}))
    assert [f"add `import {name}`" in told for name in "abc"] == [True] * 3


def test_an_earlier_exercise_may_be_used_and_its_check_keeps_its_name(tmp_path):
    imports = "from exercises.lesson_00.hypotenuse import hypotenuse"
    second = answer_using("hypotenuse(side)", imports).replace("def hypotenuse", "def twice")
    answers = {"hypotenuse": ANSWER, "twice": second}
    lesson_of(make(tmp_path / "a", body=BODY + exercise("twice"), answers=answers))
    told = refusal(make(tmp_path / "b", body=code(TOOLS) + exercise("twice") + exercise("hypotenuse"), answers=answers))
    assert "uses hypotenuse" in told
    assert "too late" in told


def test_an_exercise_of_another_lesson_or_of_none_is_refused(tmp_path):
    course = make(tmp_path, body=BODY + exercise("elsewhere") + exercise("unheard"))
    write_answer(course, "elsewhere", ANSWER.replace("hypotenuse", "elsewhere"), number="03")
    told = refusal(course)
    assert "elsewhere is an exercise of lesson 03" in told
    assert "unheard is the name of no exercise" in told
    assert "write exercises/lesson_00/unheard.py" in told
