import pytest

from gradlab.course.source import LessonRefused, missing_sections, read_source
from tests.course.small_course import BODY, HEAD, code, exercise


def read(tmp_path, text, stem="00_start"):
    path = tmp_path / f"{stem}.md"
    path.write_text(text, encoding="utf-8")
    return read_source(path)


def test_a_source_is_read_with_its_table_cells_tags_and_lines(tmp_path):
    source = read(tmp_path, HEAD + BODY)
    assert (source.number, source.stem) == ("00", "00_start")
    assert source.head.question == "How steep?"
    assert source.head.minutes == {"reading": 5, "core": 3, "stretch": 0}
    assert source.head.objectives == ("draw", "measure", "tell")
    assert source.exercises == ("hypotenuse",)
    lines = (HEAD + BODY).splitlines()
    for cell in source.cells:
        if cell.is_code:
            assert lines[cell.line - 1] == cell.source.splitlines()[0]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("lesson:", "other:", "no `lesson` table"),
        ("  question: How steep?\n", "", "`question`"),
        ("How steep?", "3", "`question`"),
        ("needs: []", "needs: 02", "`needs`"),
        ("needs: []", "needs: [02]", "`needs`"),
        ("needs: []", 'needs: ["00"]', "`needs`"),
        ("needs: []", 'needs: ["2"]', "`needs`"),
        ("minutes: {reading: 5, core: 3, stretch: 0}", "minutes: {reading: 5, core: 3}", "`minutes`"),
        ("core: 3", "core: 3.5", "`minutes`"),
        ("core: 3", "core: yes", "`minutes`"),
        ("    - tell\n", "", "`objectives`"),
        ("- tell", "- tell: why", "`objectives`"),
        ("lesson:\n", "lesson:\n  quesiton: What?\n", "`quesiton`"),
        ("# 00 · Start", "# 01 · Start", "`# 01 · Start`"),
        ("# 00 · Start", "## 00 · Start", "`## 00 · Start`"),
        ("# 00 · Start\n\nHello.\n", "", "not with its title"),
        ("needs: []", "needs: [", "can't be read"),
    ],
)
def test_front_matter_and_title_are_checked_at_the_door(tmp_path, old, new, reason):
    text = HEAD + BODY
    assert old in text
    with pytest.raises(LessonRefused) as caught:
        read(tmp_path, text.replace(old, new))
    (error,) = caught.value.errors
    assert reason in error.what
    assert "00_start.md" in error.what
    assert error.mend


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (code("x = 1", "exrcise"), "unknown tag exrcise"),
        (code("x = 1", "nbval-ignore-output"), "unknown tag nbval-ignore-output"),
        (code("# NBVAL_IGNORE_OUTPUT\nx"), "tells nbval to look away"),
        (code("x = (1"), "line 20 of 00_start.md"),
        (code("x = 1\nreturn x"), "line 21 of 00_start.md"),
        (code("%matplotlib inline"), "uses `%matplotlib inline`"),
        (code("x = 1\n!pip install things"), "uses `!pip install things`"),
        (code("tf.where?"), "uses `tf.where?`"),
        (code("from math import *"), "imports *"),
        (code(""), "is empty"),
        (code("hypotenuse", "exercise"), "not followed by its check"),
        (code("hypotenuse", "exercise") + code("print(1)") + code("hypotenuse = check(hypotenuse)"), "not followed"),
        (code("hypotenuse", "exercise") + code("h = check(hypotenuse)"), "not followed by its check"),
        (code("hypotenuse()", "exercise"), "holds more than a name"),
        (exercise("hypotenuse") + exercise("hypotenuse"), "comes twice"),
        ("\n+++\n\nmore\n" * 60, "61 cells"),
        ("\n```{raw-cell}\nx\n```\n", "is a raw cell"),
    ],
)
def test_cells_are_checked_at_the_door(tmp_path, body, reason):
    with pytest.raises(LessonRefused) as caught:
        read(tmp_path, HEAD + body)
    assert reason in str(caught.value)
    assert all(error.mend for error in caught.value.errors)


def test_everything_that_is_wrong_is_said_at_once(tmp_path):
    with pytest.raises(LessonRefused) as caught:
        read(tmp_path, HEAD.replace("question: How steep?", "question: 3") + code("x = (1") + code("y", "exrcise"))
    assert len(caught.value.errors) == 3


def test_the_two_allowed_magics_pass(tmp_path):
    body = code("%load_ext gradlab\nx = 1") + code("%%doctor\nx = 1\ny = x") + code("y = 7 % 3\n(\ny\n % 2)")
    assert len(read(tmp_path, HEAD + body).cells) == 4


def test_the_sections_that_a_lesson_lacks_are_told(tmp_path):
    source = read(tmp_path, HEAD + "\n## Recap\n\nText about Sources.\n\n### In practice\n")
    assert missing_sections(source, ("In practice", "Recap", "Sources")) == ["Sources"]
