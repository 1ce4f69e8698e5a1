"""`%%doctor`: the cell runs as without it, and what the doctor found follows its result."""

import nbformat
import pytest
from nbclient import NotebookClient

SETUP = "%load_ext gradlab\nimport tensorflow as tf\nw = tf.Variable(2.0, name='w')"
LOST = "with tf.GradientTape() as tape:\n    loss = tf.round(w)\ngradient = tape.gradient(loss, w)"


@pytest.fixture(scope="module")
def outputs():
    """The outputs of the cells below, run once in a kernel, by a name for each."""
    cells = {
        "load": SETUP,
        "lost": f"%%doctor\n{LOST}\nprint('printed')\nloss + 1",
        "after": "print(float(_), gradient, 'visit' in globals())",
        "again": f"%%doctor visit\n{LOST}\nloss + 1",
        "kept": "print([(f.line, f.code, f.variable, f.cause) for f in visit.findings])",
        "quiet": f"%%doctor\n{LOST}\nloss + 1;",
        "statement": f"%%doctor\n{LOST}",
        "healthy": "%%doctor\nwith tf.GradientTape() as tape:\n    loss = w * w\ntape.gradient(loss, w)",
        "defines": "%%doctor\nimport math\nclass Kept:\n    pass\n%pwd\nvalue = math.pi",
        "defined": "print(Kept.__module__, value)",
        "raises": "%%doctor\ndef f(x):\n    return x.gone\nf(w)",
        "tape": f"%%doctor\n{LOST}\ntape.gradient(loss, w)",
        "hooks": "print(tf.config.functions_run_eagerly(), tf.GradientTape.gradient.__module__)",
        "nested": "%%doctor\nimport gradlab\ngradlab.diagnose(lambda: w, [w])",
        "wrong": "%%doctor two words\n1",
        "syntax": "%%doctor\nif w=",
        "interrupted": f"%%doctor\n{LOST}\nraise KeyboardInterrupt",
        "last": f"%%doctor\n{LOST}",
    }
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells.values()])
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True)
    client.execute()
    return dict(zip(cells, (cell.outputs for cell in notebook.cells), strict=True))


def texts(outputs):
    return [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]


def kinds(outputs):
    return [output.output_type for output in outputs if output.get("name") != "stderr"]


@pytest.mark.notebooks
class TestCell:
    def test_its_output_and_its_result_come_first_and_then_the_report(self, outputs):
        assert kinds(outputs["lost"]) == ["stream", "execute_result", "display_data"]
        printed, result, report = texts(outputs["lost"])
        assert printed == "printed\n"
        assert "numpy=3.0" in result
        assert "Round" in report
        assert "loss = tf.round(w)" in report

    def test_the_report_is_html_with_a_text_beside_it(self, outputs):
        data = outputs["lost"][-1].data
        assert set(data) == {"text/plain", "text/html"}
        assert "tf.round" in data["text/html"]

    def test_names_and_the_last_result_are_as_after_any_cell(self, outputs):
        assert texts(outputs["after"]) == ["3.0 None False\n"]
        assert texts(outputs["defined"]) == [f"__main__ {3.141592653589793}\n"]

    def test_lines_count_as_they_stand_in_the_cell_and_the_findings_stay_under_a_name(self, outputs):
        assert texts(outputs["kept"]) == ["[(3, 'loss = tf.round(w)', 'w', 'nondiff-op')]\n"]

    def test_a_second_time_it_says_the_same(self, outputs):
        assert texts(outputs["again"])[-1] == texts(outputs["lost"])[-1]
        assert texts(outputs["last"])[-1] == texts(outputs["lost"])[-1]

    def test_a_semicolon_or_a_statement_at_the_end_shows_no_result(self, outputs):
        assert kinds(outputs["quiet"]) == kinds(outputs["statement"]) == ["display_data"]

    def test_a_healthy_cell_is_said_to_be_healthy(self, outputs):
        assert "numpy=4.0" in texts(outputs["healthy"])[0]
        assert "finite and not zero" in texts(outputs["healthy"])[-1]

    def test_an_exception_is_reported_passed_on_and_shown_without_the_machinery(self, outputs):
        report, error = outputs["raises"]
        assert "AttributeError" in report.data["text/plain"]
        assert (error.output_type, error.ename) == ("error", "AttributeError")
        shown = "\n".join(error.traceback)
        assert "x.gone" in shown
        assert "run_cell_magic" not in shown
        assert "gradlab" not in shown

    def test_an_exception_of_the_tape_itself_is_shown_without_the_doctor_s_frames(self, outputs):
        error = outputs["tape"][-1]
        assert error.ename == "RuntimeError"
        assert "recording.py" not in "\n".join(error.traceback)

    def test_afterwards_tensorflow_is_as_before(self, outputs):
        assert texts(outputs["hooks"]) == ["False tensorflow.python.eager.backprop\n"]

    def test_a_doctor_inside_is_refused(self, outputs):
        assert outputs["nested"][-1].ename == "RuntimeError"
        assert "a doctor is already at work" in outputs["nested"][-1].evalue

    def test_what_can_t_be_run_is_refused_before_anything_runs(self, outputs):
        assert "takes a name" in str(outputs["wrong"])
        assert outputs["syntax"][-1].ename == "SyntaxError"

    def test_ctrl_c_is_passed_on_after_the_report(self, outputs):
        report, error = outputs["interrupted"]
        assert "Round" in report.data["text/plain"]
        assert error.ename == "KeyboardInterrupt"
