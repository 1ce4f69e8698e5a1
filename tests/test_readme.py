"""What the README says is so: its table, its example, its commands and its links."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.lesson_table import with_table

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCES = sorted(ROOT.glob("lessons/source/[0-9][0-9]_*.md"))


def test_the_lesson_table_is_what_the_lessons_say_of_themselves():
    assert with_table(README) == README, "type: make build"


def test_the_lesson_table_has_a_row_for_each_lesson_with_its_minutes():
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        reading, core, stretch = re.search(r"minutes: \{reading: (\d+), core: (\d+), stretch: (\d+)\}", text).groups()
        assert re.search(rf"\(lessons/{source.stem}\.ipynb\) .+ \| {reading} \+ {core} \+ {stretch} \|\n", README)


EXAMPLES = re.findall(r"```python\n(.+?)```\n\n```text\n(.+?)```", README, flags=re.DOTALL)


def test_there_are_examples():
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize(("code", "printed"), EXAMPLES, ids=["diagnose", "gradcheck"])
def test_an_example_prints_what_stands_under_it(code, printed, tmp_path):
    program = tmp_path / "train.py"
    program.write_text(code, encoding="utf-8")
    ran = subprocess.run([sys.executable, program.name], cwd=tmp_path, capture_output=True, text=True, check=True)
    pieces = [piece for piece in re.split(r" +\.\.\.\n", printed) if piece]
    places = [ran.stdout.find(piece) for piece in pieces]
    assert pieces
    assert -1 not in places, ran.stdout
    assert places[0] == 0
    assert places == sorted(places)


def test_every_make_target_and_every_command_exists():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"\bmake (lab|test|env|build|lock)\b", README)) <= targets
    ran = subprocess.run(
        [sys.executable, "-c", "from gradlab.cli import main; main()", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    for command in set(re.findall(r"(?:`|/|\\)gradlab (\w+)", README)):
        assert re.search(rf"^  {command}\b", ran.stdout, flags=re.MULTILINE), command


def test_every_link_leads_to_a_file():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_the_picture_is_described_in_the_words_of_the_program_that_draws_it():
    tree = ast.parse((ROOT / "docs" / "vanishing.py").read_text(encoding="utf-8"))
    alt = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "ALT"
    )
    assert f"![{alt}](docs/vanishing.png)" in README


def test_conda_s_commands_are_those_in_its_file():
    commands = re.findall(r"^#   (.+)$", (ROOT / "environment.yml").read_text(), flags=re.MULTILINE)
    assert commands
    assert "\n".join(commands) in README


@pytest.mark.parametrize("minor", [11, 12, 13])
def test_the_pythons_named_are_those_allowed(minor):
    import bootstrap

    assert bootstrap.fits((3, minor))
    assert f"3.{minor}" in README
