"""What the builder itself writes into lessons, as templates with named fields: another language is another of these."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LessonTexts:
    """The texts of one language; each template names the fields that it is given."""

    stub_comment: str
    head: str
    builds_on: str
    builds_on_nothing: str
    needs_joint: str
    objective: str
    sections: tuple[str, ...]


ENGLISH = LessonTexts(
    stub_comment="your code in place of this line",
    head=(
        "> **{question}**\n"
        ">\n"
        "> {builds_on} · reading {reading} min · core exercises {core} min · stretch {stretch} min\n"
        "\n"
        "After this lesson you can:\n"
        "\n"
        "{objectives}"
    ),
    builds_on="Builds on {lessons}",
    builds_on_nothing="Builds on no other lesson",
    needs_joint=", ",
    objective="- {objective}",
    sections=("In practice", "When it goes wrong", "Recap", "Without looking", "Sources"),
)
