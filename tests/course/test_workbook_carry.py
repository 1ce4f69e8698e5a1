"""What a learner did is still there in the new version of a lesson."""

import copy
import itertools
import random

import nbformat
import pytest
from nbformat import NotebookNode

from gradlab.course.carry import Carried, carry_over
from tests.course.small_notebooks import answered, check, code, exercise, notebook, sources, stub, text

INTRO, OLD_PROSE, NEW_PROSE = text("# 04 · A lesson"), text("It goes down."), text("It goes up.")
PLOT, GUESS = code("plot(w)"), code('guess = predict("loss at the start", None)')
OLD = notebook(INTRO, GUESS, exercise("slope"), check("slope"), OLD_PROSE, PLOT, exercise("width"), check("width"))
NEW = notebook(
    INTRO, exercise("width"), check("width"), GUESS, exercise("slope"), check("slope"), NEW_PROSE, PLOT, code("extra()")
)


def work(*changes: tuple[int, NotebookNode | None], base: NotebookNode = OLD) -> NotebookNode:
    """The handed-out notebook with cells replaced, in the order given from the back; None removes one."""
    mine = copy.deepcopy(base)
    for place, cell in changes:
        mine.cells[place : place + 1] = [] if cell is None else [copy.deepcopy(cell)]
    return mine


def with_cells(at: int, *cells: NotebookNode, base: NotebookNode = OLD) -> NotebookNode:
    mine = copy.deepcopy(base)
    mine.cells[at:at] = [copy.deepcopy(cell) for cell in cells]
    return mine


def carried(mine: NotebookNode, old: NotebookNode | None = OLD, new: NotebookNode = NEW) -> Carried:
    """The result of carrying, after holding it to what every result must keep."""
    before = copy.deepcopy((old, mine, new))
    result = carry_over(old, mine, new)
    assert (old, mine, new) == before, "an argument was changed"
    nbformat.validate(result.notebook)
    again = carry_over(old, result.notebook, new)
    assert again.notebook == result.notebook, "carrying twice differs from carrying once"
    later = carry_over(new, result.notebook, new)
    assert later.notebook == result.notebook, "the next update would change it"
    return result


def told(result: Carried) -> str:
    return "\n".join(map(str, result.notes))


def test_an_untouched_notebook_becomes_the_new_lesson():
    result = carried(copy.deepcopy(OLD))
    assert result.notebook == NEW
    assert result.notes == ()


def test_answers_go_to_their_exercises_wherever_those_now_stand():
    result = carried(work((2, answered("slope", "return 2 * x")), (6, answered("width", "return 3 * x"))))
    assert [cell.source for cell in result.notebook.cells if cell.id in ("slope", "width")] == [
        answered("width", "return 3 * x").source,
        answered("slope", "return 2 * x").source,
    ]
    assert "your answers: width, slope" in told(result)


def test_an_answer_in_a_cell_of_ones_own_is_found_by_its_name():
    mine = with_cells(4, code("def slope(x):\n    return 7", id="mine"))
    result = carried(mine)
    assert sources(result.notebook)[4] == "def slope(x):\n    return 7"
    assert stub("slope") not in sources(result.notebook)


@pytest.mark.parametrize("id", ["e6a1", "slope"])
def test_an_answer_is_found_when_an_editor_has_changed_every_id(id):
    mine = work((2, answered("slope", "return 5")))
    for number, cell in enumerate(mine.cells):
        cell.id = f"other-{number}"
    mine.cells[2].id = id
    result = carried(mine)
    assert sources(result.notebook)[4] == answered("slope", "return 5").source
    assert len(result.notebook.cells) == len(NEW.cells)


def test_of_two_definitions_the_last_counts_and_the_other_stays_above_it():
    mine = with_cells(
        3, code("def slope(x):\n    return 'second'", id="b"), base=work((2, answered("slope", "return 'first'")))
    )
    result = carried(mine)
    texts = sources(result.notebook)
    assert texts[4] == answered("slope", "return 'first'").source
    assert texts[5] == "def slope(x):\n    return 'second'"
    assert texts[6] == "slope = check(slope)"
    assert "slope was defined 2 times" in told(result)


def test_a_blank_copy_below_does_not_win_over_an_answer():
    mine = with_cells(3, code(stub("slope") + "  # later", id="b"), base=work((2, answered("slope", "return 1"))))
    texts = sources(carried(mine).notebook)
    assert texts.index(stub("slope") + "  # later") < texts.index(answered("slope", "return 1").source)


def test_a_cell_that_answers_two_exercises_answers_both():
    both = "def slope(x):\n    return 1\n\ndef width(x):\n    return 2"
    result = carried(work((6, None), (2, code(both, id="slope"))))
    assert sources(result.notebook).count(both) == 2


def test_an_answer_that_is_not_python_yet_is_carried():
    result = carried(work((2, code("def slope(x:\n    return", id="slope"))))
    assert sources(result.notebook)[4] == "def slope(x:\n    return"


def test_an_answer_under_a_magic_is_carried():
    result = carried(with_cells(4, code("%%time\ndef slope(x):\n    return 3", id="b")))
    assert sources(result.notebook)[4] == "%%time\ndef slope(x):\n    return 3"


def test_a_renamed_function_stays_in_its_exercise_cell():
    renamed = "def slop(x):\n    return 3"
    assert sources(carried(work((2, code(renamed, id="slope")))).notebook)[4] == renamed


def test_a_reworded_task_reaches_a_learner_who_left_it_as_it_was():
    new = notebook(INTRO, exercise("slope", task="Give x back, as a float."), check("slope"))
    result = carried(work((2, answered("slope", "return float(x)"))), new=new)
    assert sources(result.notebook)[1] == answered("slope", "return float(x)", task="Give x back, as a float.").source
    assert "worded anew" in told(result)


def test_a_reworded_task_is_told_to_a_learner_who_changed_it():
    new = notebook(INTRO, exercise("slope", task="Give x back, as a float."), check("slope"))
    result = carried(work((2, answered("slope", task="mine"))), new=new)
    assert sources(result.notebook)[1] == answered("slope", task="mine").source
    assert "the task of slope has changed" in told(result)


def test_a_new_signature_is_told():
    new = notebook(INTRO, exercise("slope", arguments="x, step=1.0"), check("slope"))
    assert "def slope(x, step=1.0)" in told(carried(work((2, answered("slope"))), new=new))


def test_an_answer_to_an_exercise_that_is_gone_is_kept():
    result = carried(work((2, answered("slope", "return 2"))), new=notebook(INTRO, PLOT))
    assert answered("slope", "return 2").source in sources(result.notebook)
    assert "no such exercise any more" in told(result)


def test_own_cells_stay_behind_the_cell_they_stood_behind():
    mine = with_cells(6, text("My note on the plot."), code("w.min()"))
    texts = sources(carried(mine).notebook)
    place = texts.index("plot(w)")
    assert texts[place + 1 : place + 3] == ["My note on the plot.", "w.min()"]


def test_an_own_cell_whose_neighbour_is_gone_goes_behind_what_came_in_its_place():
    texts = sources(carried(with_cells(5, text("Why down?"))).notebook)
    place = texts.index("Why down?")
    assert texts[place - 1 : place + 2] == ["It goes up.", "Why down?", "plot(w)"]


def test_a_cell_above_everything_stays_there():
    assert sources(carried(with_cells(0, text("Name: Ada"))).notebook)[0] == "Name: Ada"


def test_a_copy_of_one_of_our_cells_is_the_learners():
    assert sources(carried(with_cells(6, code("plot(w)", id="copy"))).notebook).count("plot(w)") == 2


def test_an_edit_stays_in_place_where_the_course_changed_nothing():
    result = carried(work((5, code("plot(w, log=True)", id=PLOT.id))))
    assert "plot(w, log=True)" in sources(result.notebook)
    assert "plot(w)" not in sources(result.notebook)
    assert "plot(w, log=True)" in told(result)


def test_an_edit_of_a_cell_that_is_new_in_the_course_is_kept_as_text_that_does_not_run():
    old = notebook(INTRO, code("draw(w)"))
    mine = work((1, code("draw(w, 2)\nprint('```')", id=old.cells[1].id)), base=old)
    result = carried(mine, old=old, new=notebook(INTRO, code("draw(w, b)")))
    kept = result.notebook.cells[2]
    assert kept.cell_type == "markdown"
    assert "draw(w, 2)\nprint('```')" in kept.source
    assert "kept as text" in told(result)


def test_an_edited_text_of_ours_that_is_gone_is_kept():
    result = carried(work((4, text("It goes down. I see."))))
    assert "It goes down. I see." in sources(result.notebook)
    result = carried(work((4, nbformat.from_dict({**text("It goes down. I see."), "id": OLD_PROSE.id}))))
    assert "It goes down. I see." in sources(result.notebook)


def test_deleted_cells_of_the_course_come_back():
    assert carried(work((3, None), (2, None))).notebook == NEW


def test_an_emptied_exercise_is_a_stub_again():
    assert carried(work((2, code("", id="slope")))).notebook == NEW


def test_an_exercise_turned_into_text_is_kept_beside_the_stub():
    note = {**text("I skip this one."), "id": "slope"}
    texts = sources(carried(work((2, nbformat.from_dict(note)))).notebook)
    assert "I skip this one." in texts
    assert stub("slope") in texts


def test_predictions_are_carried_by_name():
    two = 'first = predict("loss at the start", None)\nprint("é")\nb = predict("other", value=None)'
    mine = work((1, code('guess = predict("loss at the start", 2.3)', id=GUESS.id)))
    result = carried(mine, new=notebook(INTRO, code(two)))
    assert sources(result.notebook)[1] == two.replace("None", "2.3", 1)
    assert 'your predictions: "loss at the start"' in told(result)
    assert len(result.notebook.cells) == 2


def test_a_prediction_that_is_gone_is_kept_as_an_edit():
    result = carried(work((1, code('guess = predict("loss at the start", 2.3)', id=GUESS.id))), new=notebook(INTRO))
    assert any("2.3" in source for source in sources(result.notebook))


def test_outputs_stay_with_cells_whose_text_stays():
    mine = work((5, code("plot(w)", id=PLOT.id, printed="shown")), (2, answered("slope")))
    mine.cells[2].outputs = code("", printed="mine").outputs
    result = carried(mine)
    kept = {cell.source: cell.outputs for cell in result.notebook.cells if cell.get("outputs")}
    assert kept == {"plot(w)": mine.cells[5].outputs, answered("slope").source: mine.cells[2].outputs}


def test_outputs_go_where_the_text_changed():
    new = notebook(INTRO, exercise("slope", task="Another."))
    mine = work((2, answered("slope")))
    mine.cells[2].outputs = code("", printed="mine").outputs
    assert carried(mine, new=new).notebook.cells[1].outputs == []


def test_without_the_handed_out_notebook_nothing_is_lost():
    mine = work((2, answered("slope", "return 9")), (4, text("It goes down. Really?")))
    texts = sources(carried(mine, old=None).notebook)
    assert answered("slope", "return 9").source in texts
    assert "It goes down. Really?" in texts


PIECES = [
    answered("slope", "return 2"),
    answered("width", "return 4"),
    code("def slope(x):\n    return 'other'"),
    code("def width(x):\n    return 8\n\ndef slope(x):\n    return 8"),
    code('guess = predict("loss at the start", 2.3)'),
    code("plot(w, 3)", id=PLOT.id),
    code("def slope("),
    code("mine = 1"),
    text("a note"),
    text("It goes down, I think."),
    code(stub("slope") + "\n# my plan"),
]


@pytest.mark.parametrize("seed", range(150))
def test_no_text_of_the_learners_is_lost_whatever_they_did(seed):
    """Shuffled, repeated, deleted, with ids of ours or none: each piece of their text is somewhere in the result."""
    draw = random.Random(seed)
    mine = copy.deepcopy(OLD)
    for piece in draw.sample(PIECES, draw.randint(1, 6)):
        mine.cells.insert(draw.randint(0, len(mine.cells)), copy.deepcopy(piece))
    for _ in range(draw.randint(0, 3)):
        mine.cells.pop(draw.randrange(len(mine.cells)))
    if draw.random() < 0.5:
        draw.shuffle(mine.cells)
    seen = set()
    for cell in mine.cells:
        cell.id = cell.id if cell.id not in seen and draw.random() < 0.7 else f"x{len(seen)}"
        seen.add(cell.id)
    given = set(sources(OLD)) | set(sources(NEW))
    result = "\n".join(sources(carried(mine).notebook))
    for source in sources(mine):
        if source not in given and not ("predict" in source and "2.3" in result):
            assert source in result


def test_every_order_of_two_definitions_keeps_both():
    one, two = answered("slope", "return 1"), code("def slope(x):\n    return 2", id="two")
    for first, second in itertools.permutations([one, two]):
        result = carried(with_cells(3, second, base=work((2, first))))
        assert {one.source, two.source} <= set(sources(result.notebook))
        assert result.notebook.cells[5].source == second.source
