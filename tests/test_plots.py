"""Figures: readable, honest, the same bytes every time, and never without a text alternative."""

import base64
import struct
import subprocess
import sys
from itertools import combinations

import matplotlib
import nbclient
import nbformat
import numpy as np
import pytest
from matplotlib import colors as mcolors
from matplotlib.figure import Figure

from gradlab import plots
from gradlab.look import extent, spread

ALT = "The error falls as the step shrinks, then rises again."


def a_line(**figure_kw):
    fig, ax = plots.figure(**figure_kw)
    ax.plot([1, 2, 3, 4], [1.0, 0.1, 0.01, 0.001], **plots.line("measured"), label="measured")
    ax.set(xlabel="layer", ylabel="gradient norm")
    plots.title(ax, "The gradient shrinks ten-fold per layer")
    return fig, ax


def words(fig):
    return [text.get_text() for text in fig.findobj(matplotlib.text.Text) if text.get_visible() and text.get_text()]


# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0
SIMULATION = {
    "normal vision": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def oklab(rgb):
    """OKLab coordinates of a linear RGB colour (Ottosson 2020)."""
    lms = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    ) @ np.clip(rgb, 0, 1)
    return np.array(
        [
            [0.2104542553, 0.793617785, -0.0040720468],
            [1.9779984951, -2.428592205, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.808675766],
        ]
    ) @ lms ** (1 / 3)


def linear(color):
    channels = np.array(mcolors.to_rgb(color))
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("vision", SIMULATION)
def test_colours_stay_apart_in_every_kind_of_colour_vision(vision):
    palette = {*plots.COLORS, plots.MUTED}
    simulate = np.asarray(SIMULATION[vision])
    gaps = {
        (one, other): np.linalg.norm(oklab(simulate @ linear(one)) - oklab(simulate @ linear(other)))
        for one, other in combinations(palette, 2)
    }
    # 0.02 is about the smallest difference that is seen side by side
    assert min(gaps.values()) > 0.09, min(gaps, key=gaps.get)


@pytest.mark.parametrize("color", [*plots.COLORS, plots.MUTED])
def test_lines_have_three_to_one_and_words_four_and_a_half_to_one_against_the_paper(color):
    assert plots.contrast(color, plots.PAPER) >= 3.0
    assert plots.contrast(plots.readable(color), plots.PAPER) >= 4.5


def test_contrast_of_black_and_white_is_twenty_one():
    assert plots.contrast("black", "white") == pytest.approx(21.0)
    assert plots.contrast("#777777", "#777777") == 1.0


def test_no_two_lines_differ_in_colour_alone():
    styles = [plots.line(place) for place in range(len(plots.COLORS))]
    for one, other in combinations(styles, 2):
        assert one["linestyle"] != other["linestyle"]
        assert one["marker"] != other["marker"]


def test_roles_have_a_colour_and_an_unknown_one_is_refused_by_name():
    assert plots.color("gradient") == plots.GRADIENT
    assert plots.color("#123456") == "#123456"
    with pytest.raises(ValueError, match="no such role: 'colour'"):
        plots.line("colour")


def test_importing_plots_changes_nobodys_settings_and_imports_no_tensorflow_and_no_pyplot():
    program = (
        "import matplotlib, sys; before = matplotlib.rcParams.copy()\n"
        "from gradlab import plots\n"
        "fig, ax = plots.figure(); ax.plot([1, 2]); plots.png(fig)\n"
        "assert all(dict.__getitem__(matplotlib.rcParams, key) == dict.__getitem__(before, key) for key in before)\n"
        "print([name for name in ('tensorflow', 'keras', 'matplotlib.pyplot', 'IPython') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_figure_looks_the_same_whatever_the_user_has_set():
    plain = plots.png(a_line()[0])
    with matplotlib.rc_context({"font.size": 6, "lines.linewidth": 0.2, "axes.grid": False, "xtick.labelsize": 4}):
        fig, _ = a_line()
        assert plots.png(fig) == plain


@pytest.mark.parametrize(("width", "pixels"), [("half", 480), ("normal", 720), ("wide", 845)])
def test_a_png_has_two_pixels_for_each_that_is_shown(width, pixels):
    data = plots.png(a_line(width=width)[0])
    assert struct.unpack(">I", data[16:20])[0] in (2 * pixels - 1, 2 * pixels)


def test_another_width_is_refused():
    with pytest.raises(ValueError, match="'half', 'normal', 'wide', not 'huge'"):
        plots.figure("huge")


def test_a_png_is_the_same_bytes_twice_and_names_no_software():
    first = plots.png(a_line()[0])
    assert plots.png(a_line()[0]) == first
    assert b"Matplotlib" not in first
    assert b"tEXt" not in first


def test_settling_twice_changes_nothing():
    fig, ax = a_line()
    plots.label_lines(ax)
    plots.note(ax, "here", (2, 0.1))
    plots.mark(ax, 0.5, "you: 0.5")
    assert plots.png(fig) == plots.png(fig)


def test_a_long_title_is_wrapped_to_the_width_of_its_axes():
    fig, axes = plots.figure("wide", cols=2)
    finding = "The gradient of the first layer is a thousand times smaller than that of the last one"
    title = plots.title(axes[0], finding)
    fig.settle()
    assert title.get_text().count("\n") >= 1
    assert title.get_text().replace("\n", " ") == finding
    assert title.get_window_extent().width <= axes[0].get_window_extent().width


def test_ticks_fall_on_whole_layers_and_decades_are_written_as_one_types_them():
    fig, ax = a_line()
    plots.log_ticks(ax)
    fig.settle()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1e-3", "0.01", "0.1", "1"]
    assert all(value == round(value) for value in ax.get_xticks())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.25, "0.25"),
        (1200, "1200"),
        (1e-3, "1e-3"),
        (-2.5e-7, "−2.5e-7"),
        (3.14159, "3.14"),
        (1e6, "1e6"),
        (float("nan"), "NaN"),
        (float("-inf"), "−∞"),
        ("two", "two"),
    ],
)
def test_numbers_are_written_short(value, text):
    assert plots.number(value) == text


@pytest.mark.parametrize("alt", ["", "  ", "a figure", None])
def test_a_figure_without_a_text_alternative_is_refused(alt):
    fig, _ = a_line()
    with pytest.raises(ValueError, match="alt states the finding in words"):
        plots.show(fig, alt)


def test_the_title_is_no_text_alternative():
    fig, _ = a_line()
    with pytest.raises(ValueError, match="alt repeats the title"):
        plots.show(fig, "the gradient shrinks  ten-fold per layer")


def test_outside_a_notebook_show_returns_the_figure_with_its_alternative(tmp_path):
    fig, _ = a_line()
    assert plots.show(fig, ALT) is fig
    assert fig.alt == ALT
    plots.save(fig, tmp_path / "a.png", ALT)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_everything_that_is_missing_is_named_at_once():
    fig, ax = plots.figure()
    ax.plot([1, 2, 3])
    ax.text(0, 1, "tiny", fontsize=6)
    with pytest.raises(ValueError, match="still needs") as refused:
        plots.check_figure(fig)
    for part in ("text alternative", "title", "x axis", "y axis", '"tiny" has 6'):
        assert part in str(refused.value)


def test_a_colour_bar_needs_its_label_too():
    fig, ax = plots.figure()
    image = plots.heat(ax, np.eye(3), rows=["a", "b", "c"], cols=["d", "e", "f"])
    fig.colorbar(image, ax=ax)
    plots.title(ax, "Only the diagonal is left")
    with pytest.raises(ValueError, match="a label on the colour bar"):
        plots.show(fig, ALT)


def test_names_at_the_ticks_need_no_label_and_pictures_no_axes():
    fig, (left, right) = plots.figure("wide", cols=2)
    plots.heat(left, np.eye(2), "weight", rows=["w", "b"], cols=["in", "out"])
    right.imshow(np.eye(8))
    right.set_axis_off()
    plots.title(fig, "Two pictures, one finding")
    plots.show(fig, ALT)


def test_a_plain_matplotlib_figure_is_held_to_the_same():
    fig = Figure()
    ax = fig.subplots()
    ax.plot([1, 2, 3])
    plots.label_line(ax, 1, 2, "here")
    plots.mark(ax, 2, "you: 2")
    plots.title(ax, "A line that climbs")
    with pytest.raises(ValueError, match="x axis"):
        plots.show(fig, ALT)


NOTEBOOK = f"""
from gradlab import plots
fig, ax = plots.figure()
ax.plot([1, 2, 3], [1, 4, 9])
ax.set(xlabel="step", ylabel="loss")
plots.title(ax, "The loss climbs")
plots.show(fig, alt="{ALT}")
"""


def test_a_notebook_shows_one_picture_with_its_alternative_as_text():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK) for _ in range(2)])
    nbclient.NotebookClient(book, kernel_name="python3").execute()
    shown = [cell.outputs for cell in book.cells]
    assert [len(outputs) for outputs in shown] == [1, 1]
    first, second = shown[0][0], shown[1][0]
    assert first.data["text/plain"] == f"Figure: {ALT}"
    assert set(first.data) == {"image/png", "text/plain"}
    assert first.metadata["image/png"] == {"width": 720, "height": 422}
    assert base64.b64decode(first.data["image/png"]).startswith(b"\x89PNG")
    assert first.data == second.data


def boxes(fig, artists):
    fig.settle()
    return [extent(artist) for artist in artists]


def test_labels_of_lines_that_end_together_keep_apart():
    fig, ax = plots.figure()
    for place in range(5):
        ax.plot([1, 2, 3], [place, 1, 1 + place / 1000], label=f"line {place}")
    labels = plots.label_lines(ax)
    assert len(labels) == 5
    for one, other in combinations(boxes(fig, labels), 2):
        assert not one.overlaps(other)


def test_a_label_with_room_stays_at_its_line():
    fig, ax = plots.figure()
    ax.plot([1, 2], [0, 1], label="up")
    ax.plot([1, 2], [1, 0], label="down")
    for label, height in zip(plots.label_lines(ax), (1, 0), strict=True):
        (box,) = boxes(fig, [label])
        assert (box.y0 + box.y1) / 2 == pytest.approx(ax.transData.transform((2, height))[1], abs=1.0)


def test_a_line_that_leaves_the_view_is_labelled_where_it_was_last_seen():
    _, ax = plots.figure()
    ax.plot([1, 2, 3, 4], [1, 10, np.nan, 0], label="loss")
    plots.log_ticks(ax)
    (label,) = plots.label_lines(ax)
    assert label.xy == (2, 10)
    ax.plot([1, 2], [np.nan, np.nan], label="never seen")
    assert len(plots.label_lines(ax)) == 1


def test_spread_keeps_order_and_moves_as_little_as_possible():
    assert spread([0, 10, 20], [2, 2, 2]) == [0, 10, 20]
    assert spread([5, 5], [2, 2]) == pytest.approx([4, 6])
    # least squares by hand: three boxes of height 2 at 0, 0, 3 end at -1 + 0, +1 and 3, which just touch
    assert spread([0, 0, 3], [2, 2, 2]) == pytest.approx([-1, 1, 3])
    assert spread([], []) == []


def test_a_note_finds_a_place_where_it_covers_no_line():
    fig, ax = plots.figure()
    x = np.linspace(0, 1, 50)
    ax.plot(x, x)
    said = plots.note(ax, "the middle", (0.5, 0.5))
    (box,) = boxes(fig, [said])
    line = ax.transData.transform(np.column_stack([np.linspace(0, 1, 2000)] * 2))
    assert not ((line > [box.x0, box.y0]) & (line < [box.x1, box.y1])).all(axis=1).any()
    frame = ax.get_window_extent()
    assert frame.x0 <= box.x0 < box.x1 <= frame.x1
    assert frame.y0 <= box.y0 < box.y1 <= frame.y1


def test_a_blank_prediction_draws_nothing():
    fig, ax = a_line()
    before = words(fig), len(ax.lines), ax.get_ylim()
    plots.mark(ax, None, "you: None")
    assert (words(fig), len(ax.lines), ax.get_ylim()) == before


@pytest.mark.parametrize("axis", ["x", "y"])
def test_a_mark_is_a_line_with_its_words(axis):
    fig, ax = a_line()
    plots.mark(ax, np.float32(0.5), "you: 0.5", axis)
    drawn = ax.lines[-1].get_ydata() if axis == "y" else ax.lines[-1].get_xdata()
    assert list(drawn) == [0.5, 0.5]
    assert "you: 0.5" in words(fig)


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize(("log", "value"), [(False, 2.0), (False, -1.0), (True, 1e-6), (True, 50.0)])
def test_a_mark_outside_the_view_extends_the_axis(log, value, inverted):
    _, ax = a_line()
    if log:
        plots.log_ticks(ax)
    if inverted:
        ax.invert_yaxis()
    plots.mark(ax, value, "you")
    low, high = sorted(ax.get_ylim())
    assert low < value < high
    assert low < 0.001 < 1 < high
    assert ax.yaxis_inverted() == inverted


@pytest.mark.parametrize(
    ("log", "value", "said"),
    [
        (False, 1e6, "you ↑\n(off the scale)"),
        (False, -1e6, "you ↓\n(off the scale)"),
        (True, 1e-30, "you ↓\n(off the scale)"),
        (True, 0, "you\n(not on a log axis)"),
        (True, -3, "you\n(not on a log axis)"),
        (False, float("nan"), "you\n(can't be drawn)"),
        (False, float("inf"), "you\n(can't be drawn)"),
    ],
)
def test_a_mark_that_would_squash_the_data_or_has_no_place_is_said_in_words(log, value, said):
    fig, ax = a_line()
    if log:
        plots.log_ticks(ax)
    before = ax.get_ylim(), len(ax.lines)
    plots.mark(ax, value, "you")
    assert (ax.get_ylim(), len(ax.lines)) == before
    assert said in words(fig)
    plots.show(fig, ALT)


@pytest.mark.parametrize("value", ["many", [1, 2], {}])
def test_a_mark_that_is_no_number_is_refused(value):
    _, ax = a_line()
    with pytest.raises(TypeError, match="one number"):
        plots.mark(ax, value, "you")


def test_what_a_log_scale_cannot_show_is_hatched_and_not_coloured():
    fig, ax = plots.figure()
    image = plots.heat(ax, [[1.0, 0.0], [np.nan, 0.01]], "gradient norm", log=True)
    assert image.get_array().mask.tolist() == [[False, True], [True, False]]
    assert ax.patch.get_hatch()
    ax.set(xlabel="epoch", ylabel="layer")
    plots.title(ax, "Half of the layers get no gradient")
    plots.show(fig, ALT)
    assert "1" in words(fig)


@pytest.mark.parametrize("matrix", [np.zeros((2, 2)), np.full((2, 2), np.nan), np.ones((1, 1))])
@pytest.mark.parametrize("how", [{}, {"log": True}, {"signed": True}, {"values": True}])
def test_a_heat_map_of_nothing_much_is_still_drawn(matrix, how):
    fig, ax = plots.figure()
    plots.heat(ax, matrix, "norm", **how)
    assert plots.png(fig)


def test_a_signed_heat_map_is_white_at_zero():
    _, ax = plots.figure()
    image = plots.heat(ax, [[-1.0, 3.0]], signed=True)
    assert image.get_clim() == (-3, 3)


def test_a_heat_map_refuses_what_is_no_matrix():
    _, ax = plots.figure()
    with pytest.raises(ValueError, match=r"not shape \(3,\)"):
        plots.heat(ax, [1, 2, 3])
    with pytest.raises(ValueError, match="not both"):
        plots.heat(ax, [[1]], log=True, signed=True)


def test_a_graph_shows_values_gradients_and_local_slopes():
    fig, ax = plots.figure()
    nodes = {
        "w": plots.Node((0, 1), "w", value=3.0, gradient=20.0, kind="variable"),
        "x": plots.Node((0, 0), "x", value=2.0, kind="lost"),
        "product": plots.Node((2, 0.5), "×", value=6.0, gradient=10.0, kind="operation"),
    }
    plots.graph(ax, nodes, [plots.Edge("w", "product", slope=2.0), ("x", "product")])
    plots.title(ax, "The gradient of w is ten times two")
    plots.show(fig, ALT)
    for part in ("w", "→ 3", "← 20", "→ 6", "← 10", "× 2", "→ 2"):
        assert part in words(fig), part


def test_a_graph_refuses_an_edge_to_nowhere_and_an_unknown_kind():
    _, ax = plots.figure()
    node = plots.Node((0, 0), "w")
    with pytest.raises(ValueError, match="names 'b'; the nodes are a"):
        plots.graph(ax, {"a": node}, [("a", "b")])
    with pytest.raises(ValueError, match="not 'blob'"):
        plots.graph(ax, {"a": plots.Node((0, 0), "w", kind="blob")}, [])
