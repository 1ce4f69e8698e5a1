"""What an X-ray looks like: figures in short, bars, 80 columns, HTML that is text first."""

import html.parser
import math

import pytest
import tensorflow as tf

from gradlab import xray
from gradlab.instruments.xray_lines import rms
from gradlab.instruments.xray_look import TEXT, number, scale_over
from tests.instruments.xray_programs import PROGRAMS


@pytest.fixture(scope="module")
def pictures():
    programs = {name: make() for name, make in PROGRAMS.items()}
    return {name: xray(program.loss, program.variables) for name, program in programs.items()}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (1.0, "1.0"),
        (0.3, "0.30"),
        (0.00123, "0.0012"),
        (0.000999, "0.0010"),
        (0.0000123, "1.2e-5"),
        (9.96, "10"),
        (99.7, "100"),
        (1234.0, "1200"),
        (99999.0, "1.0e5"),
        (1.4e-45, "1.4e-45"),
        (math.nan, "nan"),
        (math.inf, "inf"),
    ],
)
def test_a_figure_has_two_digits_and_at_most_seven_characters(value, words):
    assert number(value) == words
    assert len(words) <= 7


def test_rms_is_that_of_all_elements():
    assert rms(tf.constant([3.0, 4.0])) == pytest.approx(math.sqrt(12.5))
    assert rms(tf.constant(-2.0)) == 2.0
    assert rms(tf.constant([3.0 + 4.0j])) == pytest.approx(5.0)
    assert rms(tf.constant([1e-30, 1e-30])) == pytest.approx(1e-30)
    assert rms(tf.constant([1e200, 0.0], tf.float64)) == pytest.approx(1e200 / math.sqrt(2))
    assert rms(tf.constant([300.0], tf.float16)) == 300.0
    assert rms(tf.cast([1.5], tf.bfloat16)) == 1.5
    assert rms(tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([4, 2]))) == pytest.approx(
        math.sqrt(25 / 8)
    )
    assert math.isnan(rms(tf.constant([1.0, math.nan])))
    assert math.isinf(rms(tf.constant([1.0, -math.inf])))


def test_a_scale_holds_its_figures_between_powers_of_ten():
    scale = scale_over([0.004, 0.5, 30.0, 0.0, None, math.nan])
    assert (scale.low, scale.high) == (-3, 2)
    assert scale.share(0.1) == pytest.approx(0.4)
    assert (scale.share(0.0), scale.share(None), scale.share(math.inf)) == (0.0, 0.0, 1.0)
    one = scale_over([1.0])
    assert one.high - one.low >= 2


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_fits_80_columns_and_holds_every_line(name, pictures):
    picture = pictures[name]
    text = str(picture)
    rows = text.split("\n")
    assert max(map(len, rows)) <= 80
    assert not any(row != row.rstrip() for row in rows)
    joined = "".join(text.split())
    for line in picture.lines:
        if not line.values or "\n" in line.code:
            continue
        assert line.code.split()[0] in joined
        assert number(line.forward[0]) in text


def test_a_loop_shows_its_count_and_both_ends(pictures):
    picture = pictures["deep"]
    line = picture.line("state = self.layer")
    rows = str(picture).split("\n")
    at = next(i for i, row in enumerate(rows) if "state = self.layer" in row)
    assert number(line.gradient[0]) in rows[at]
    assert rows[at + 1].split()[0] == "×50"
    assert number(line.gradient[1]) in rows[at + 1]


def test_the_cut_stands_below_its_line(pictures):
    rows = str(pictures["cut"]).split("\n")
    at = next(i for i, row in enumerate(rows) if "corner = tf.cast" in row)
    assert "✂" in rows[at]
    assert "position: gradient None. int-cast (Cast)" in rows[at + 1]
    assert rows[0] == "xray: no gradient reaches position"
    assert rows[-1] == TEXT["next"]


def test_only_signs_that_occur_are_explained(pictures):
    assert TEXT["legend cut"] not in str(pictures["mlp"])
    assert TEXT["legend runs"] not in str(pictures["mlp"])
    assert TEXT["legend runs"] in str(pictures["deep"])
    assert TEXT["legend cut"] in str(pictures["cut"])


def test_of_many_variables_the_middle_is_folded(pictures):
    text = str(pictures["deep"])
    assert "… 41 more" in text
    assert "w4\n" in text
    assert "w5\n" not in text


class _Reader(html.parser.HTMLParser):
    """What a screen reader gets: the words, without what is hidden from it."""

    VOID = ("br",)

    def __init__(self):
        super().__init__()
        self.open, self.words, self.hidden = [], [], 0

    def handle_starttag(self, tag, attrs):
        if tag in self.VOID:
            return
        self.open.append((tag, dict(attrs).get("aria-hidden") == "true"))

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if not any(hidden for _, hidden in self.open):
            self.words.append(data)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_html_is_well_formed_and_says_everything_without_its_pictures(name, pictures):
    picture = pictures[name]
    reader = _Reader()
    reader.feed(picture._repr_html_())
    assert reader.open == []
    words = "".join(reader.words)
    for line in picture.lines:
        assert line.code.strip() in words
        if line.values:
            assert number(line.forward[0]) in words
        if line.gradient:
            assert number(line.gradient[0]) in words


def test_the_html_keeps_to_what_an_untrusted_notebook_shows(pictures):
    for picture in pictures.values():
        page = picture._repr_html_()
        assert not any(word in page for word in ("<svg", "<style", "<script", "color-mix", "class="))


def test_source_is_escaped_in_html():
    w = tf.Variable(1.0, name="<b>w</b>")

    def loss():
        text = "<script>alert(1)</script>"
        return w * len(text)

    page = xray(loss, [w])._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
