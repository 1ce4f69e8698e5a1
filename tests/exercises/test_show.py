"""How verdicts look: the outcome in words first, in text and in HTML, and nothing of the learner's as markup."""

import re

from gradlab.exercises import show
from gradlab.exercises.notebook import evaluate
from tests.exercises.samples import DOUBLE


def verdict(answer):
    return show.verdict(evaluate(DOUBLE, answer, 1), with_example=True)


def words(markup):
    return re.sub(r"<[^>]+>", " ", markup).split()


def test_the_outcome_is_the_first_word_in_both_forms():
    def blank(x):
        raise NotImplementedError("double")

    for answer, word in [(DOUBLE.answer, "correct"), (lambda x: x, "wrong"), (blank, "not"), (lambda x: y, "error")]:  # noqa: F821
        shown = verdict(answer)
        assert shown.text.split()[0] == word
        assert words(shown.html)[0] == word


def test_text_fits_a_terminal_of_80_columns():
    for answer in (lambda x: x + 1.0, lambda x: {}["a very long key " * 20]):
        assert max(len(line) for line in verdict(answer).text.splitlines()) <= 80


def test_what_the_learner_wrote_is_never_markup():
    def evil(x):
        raise ValueError("<script>alert(1)</script>")

    assert "<script>" not in verdict(evil).html
    assert "<b>" not in verdict(lambda x: "<b>bold</b>").html


def test_the_same_verdict_looks_the_same_twice():
    assert verdict(lambda x: x + 1.0).bundle() == verdict(lambda x: x + 1.0).bundle()


def test_a_program_finds_the_verdict_as_data():
    data = verdict(lambda x: x).bundle()[show.VERDICT_TYPE]
    assert data["outcome"] == "wrong"
    assert data["misconceptions"] == ["unchanged"]
