"""Writes the lesson table into README.md from what the sources say of themselves; a part of ``make build``."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
HEADING = "| lesson | question | minutes |\n|---|---|---|\n"


def row(source: Path) -> str:
    """The line for one lesson; minutes are those for reading, core and stretch."""
    _, front, body = source.read_text(encoding="utf-8").split("---\n", 2)
    lesson = yaml.safe_load(front)["lesson"]
    title = next(line for line in body.splitlines() if line.startswith("# ")).removeprefix("# ")
    minutes = " + ".join(str(lesson["minutes"][kind]) for kind in ("reading", "core", "stretch"))
    return f"| [{title}](lessons/{source.stem}.ipynb) | {lesson['question']} | {minutes} |\n"


def with_table(readme: str) -> str:
    """The README with the table as it should be."""
    table = HEADING + "".join(map(row, sorted((ROOT / "lessons" / "source").glob("[0-9][0-9]_*.md"))))
    changed, count = re.subn(re.escape(HEADING) + r"(?:\|.*\n)*", lambda _: table, readme)
    if count != 1:
        raise ValueError(f"README.md holds {count} tables that begin with {HEADING.splitlines()[0]!r}, not one")
    return changed


def main() -> None:
    """Rewrite README.md if its table is out of date."""
    path = ROOT / "README.md"
    before = path.read_text(encoding="utf-8")
    after = with_table(before)
    if after != before:
        path.write_text(after, encoding="utf-8")
        print("README.md: the lesson table is new")


if __name__ == "__main__":
    main()
