"""The doctor's report in a notebook: well-formed, harmless, readable in light and dark, and said in words too."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gradlab.instruments.doctor.finding import Finding, Step
from gradlab.instruments.doctor.report import Report
from gradlab.plots import contrast

FILE = str(Path.cwd() / "train.py")
EVIL = 'x = "<script>alert(1)</script>" if a < b & c else tf.round(p)'
VOID = {"br", "hr", "img"}


def html_of(*findings):
    told = Report()
    told.findings = list(findings)
    return told._repr_html_()


def lost(name="w", code="hard = tf.round(p)", path=None, **changes):
    path = (Step("Mul", FILE, 22, "p = w * x"), Step("Round", FILE, 23, code)) if path is None else path
    fields = {
        "status": "none",
        "cause": "nondiff-op",
        "op": "Round",
        "note": "no slope",
        "advice": "Do `this`:\n    y = x",
    }
    return Finding(name, **{**fields, "file": FILE, "line": 23, "code": code, "path": path, **changes})


class Page(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize(
    "findings",
    [
        [lost("a"), lost("b"), Finding("c", "ok")],
        [Finding("c", "ok")],
        [lost("w", code=EVIL)],
        [lost("<b>&amp;</b>")],
        [lost("", status="raises", cause="", path=(), advice="ValueError: <i>no</i>\nDo.")],
        [lost("w", path=(), cause="unused-variable")],
        [],
    ],
)
def test_it_is_well_formed_and_runs_nothing(findings):
    page = Page(html_of(*findings))
    assert {tag for tag, _ in page.tags} <= {"div", "strong", "span", "code", "pre"}
    assert {name for _, attrs in page.tags for name in attrs} <= {"style", "role", "aria-label"}


def test_code_is_shown_as_it_is():
    assert EVIL in "".join(Page(html_of(lost("w", code=EVIL))).text)


def test_what_the_text_says_is_said():
    words = " ".join("".join(Page(html_of(lost("w"), Finding("b", "ok"))).text).split())
    for said in (
        "1 of 2 variables has no gradient.",
        "because Round has no derivative",
        "train.py:23",
        "p = w * x",
        "hard = tf.round(p)",
        "Round: no slope",
        "Write instead:",
        "y = x",
        "The gradient of b is there, finite and not zero.",
    ):
        assert said in words


def test_the_picture_has_a_text_alternative_that_names_the_way_and_the_cut():
    pictures = [attrs for _, attrs in Page(html_of(lost("w"))).tags if attrs.get("role") == "img"]
    assert [picture["aria-label"] for picture in pictures] == [
        "The way from w to the loss passes line 22, p = w * x. "
        "The gradient is cut at line 23, hard = tf.round(p). Round: no slope."
    ]


def test_the_cut_and_only_the_call_at_the_cut_is_marked():
    text = html_of(lost("w"))
    assert text.count("✗") == 1
    assert re.findall(r'<strong style="border-bottom[^>]*>([^<]*)</strong>', text) == ["tf.round(p)"]


def test_letters_take_the_colour_of_the_page_and_lines_show_on_light_and_dark():
    text = html_of(lost("w"), Finding("b", "ok"))
    colours = set(re.findall(r"#[0-9a-f]{6}", text))
    assert len(colours) == 2
    for colour in colours:
        assert contrast(colour, "#ffffff") >= 4.5, "white letters on it, and itself on white"
        assert contrast(colour, "#111111") >= 3
    letters = set(re.findall(r"(?<![-\w])color: ([^;\"]+)", text))
    assert letters <= {"inherit", "#fff", *colours}


def test_a_way_of_five_thousand_lines_and_many_findings_stay_small():
    path = tuple(Step("Mul", FILE, i, f"x{i} = x{i - 1} * 2") for i in range(5000))
    assert len(html_of(lost("w", path=path))) < 10_000
    many = [lost(f"v{i}", code=f"y{i} = tf.round(x)", line=i, path=()) for i in range(200)]
    assert len(html_of(*many)) < 40_000
    assert "190 more findings are in" in html_of(*many)
    assert len(html_of(*(Finding(f"v{i}", "ok") for i in range(200)))) < 1_000


def test_the_same_findings_look_the_same():
    assert html_of(lost("a"), lost("b")) == html_of(lost("a"), lost("b"))
