import pytest

from gradlab.course.assemble import assemble
from gradlab.course.source import read_source
from gradlab.course.style import format_source, style_remarks
from tests.course.small_course import BODY, HEAD, code, make

UGLY = code("x   =  {'a':1}\nif  x :\n    print( x )") + "\nSome text.\n" + code("y = 3\nz  =  y")


def remarks(course):
    return style_remarks(course, assemble(course, read_source(course.sources / "00_start.md")))


@pytest.fixture
def course(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 120\n")
    return make(tmp_path, body=BODY + UGLY)


def test_cells_that_ruff_would_format_are_named_by_their_place_in_the_source(course):
    lines = (HEAD + BODY + UGLY).splitlines()
    first, second = remarks(course)
    assert f"00_start.md, line {lines.index(UGLY.splitlines()[2]) + 1}" in first
    assert f"00_start.md, line {lines.index('y = 3') + 1}" in second
    assert "python -m gradlab.course.style 00" in second


def test_formatting_changes_those_cells_and_nothing_else(course):
    before = (course.sources / "00_start.md").read_text()
    assert len(format_source(course, "00_start")) == 2
    after = (course.sources / "00_start.md").read_text()
    formatted = before.replace("x   =  {'a':1}\nif  x :\n    print( x )", 'x = {"a": 1}\nif x:\n    print(x)')
    assert after == formatted.replace("z  =  y", "z = y")
    assert remarks(course) == []
    assert format_source(course, "00_start") == []


def test_what_the_linter_says_is_placed_in_the_source(tmp_path):
    body = BODY + code('long = 1\ntext = "' + "x" * 200 + '"\nimport os')
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nlint.select = ['E', 'F']\n")
    line = (HEAD + body).splitlines().index("long = 1") + 1
    told = remarks(make(tmp_path, body=body))
    assert any(remark.startswith(f"00_start.md, line {line + 1}: E501") for remark in told)
    assert any(remark.startswith(f"00_start.md, line {line + 2}: F401") for remark in told)
