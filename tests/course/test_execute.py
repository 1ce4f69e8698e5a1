import base64
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from gradlab.course.assemble import assemble
from gradlab.course.execute import execute, refuse_unstable, tidy
from gradlab.course.source import Cell, Head, LessonError, LessonRefused, Source, read_source
from tests.course.small_course import HEAD, code, exercise, make

pytestmark = pytest.mark.notebooks


def run(tmp_path, body, *, timeout=60.0, **kinds):
    course = make(tmp_path, body=body, **kinds)
    course.solutions.mkdir()
    source = read_source(course.sources / "00_start.md")
    return tidy(execute(source, assemble(course, source).solved, course.solutions, timeout=timeout))


def failure(tmp_path, body, **options):
    with pytest.raises(LessonError) as caught:
        run(tmp_path, body, **options)
    assert caught.value.mend
    return caught.value.what


def test_outputs_and_counts_are_kept_and_nothing_else_is_added(tmp_path):
    body = code("import os\nprint(os.path.basename(os.getcwd()))\nprint('two', flush=True)\nprint(3)\n4")
    notebook = run(tmp_path, body + code("raise KeyError('meant')", "raises-exception") + code("5", "slide"))
    first, second, third = (cell for cell in notebook.cells if cell.cell_type == "code")
    assert first.outputs[0] == {"output_type": "stream", "name": "stdout", "text": "solutions\ntwo\n3\n"}
    assert first.outputs[1].data == {"text/plain": "4"}
    assert second.outputs[0].traceback == ["KeyError: 'meant'"]
    assert [cell.execution_count for cell in (first, second, third)] == [1, 2, 3]
    assert [cell.metadata.get("tags") for cell in (first, second, third)] == [None, ["raises-exception"], ["slide"]]
    assert all(set(cell.metadata) <= {"tags"} for cell in notebook.cells)
    assert list(notebook.metadata) == ["kernelspec"]


def test_a_failing_cell_is_told_with_its_lines_and_the_exception(tmp_path):
    body = code("def half(x):\n    y = 2\n    return x / 0") + "\ntext\n" + code("z = 1\nw = half(z)")
    what = failure(tmp_path, body)
    first = len(HEAD.splitlines()) + 3
    assert what.splitlines()[0] == f"00_start.md, line {first + 8} (cell 4: z = 1) failed"
    assert f"00_start.md, line {first + 9}: w = half(z)" in what
    assert f"00_start.md, line {first + 2}: return x / 0" in what
    assert "ZeroDivisionError: division by zero" in what


def test_a_failing_answer_is_told_with_its_own_line(tmp_path):
    text = 'def hypotenuse(side):\n    """Doc."""\n    return side.missing\n'
    what = failure(tmp_path, code("def check(f): f(1)") + exercise("hypotenuse"), answers={"hypotenuse": text})
    assert "answer hypotenuse, line 3 of the function: return side.missing" in what
    assert "AttributeError" in what


def test_a_cell_that_runs_too_long_is_told(tmp_path):
    what = failure(tmp_path, code("x = 1") + code("while True:\n    pass"), timeout=2)
    assert "(cell 3: while True:) ran longer than 2 seconds" in what


def test_a_cell_that_ends_its_kernel_is_told_with_the_processes_last_words(tmp_path):
    what = failure(tmp_path, code("import os\nos.write(2, b'no memory left\\n')\nos._exit(1)"))
    assert "(cell 2: import os) ended its kernel" in what
    assert "no memory left" in what


def test_what_native_code_writes_stays_out_of_the_outputs_whatever_is_configured(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # where it is set, ipykernel never catches native output
    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.capture_fd_output = True\n")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = run(tmp_path, code("import os\nprint('seen')\n_ = os.write(2, b'log'), os.write(1, b'log')"))
    assert [output.text for output in notebook.cells[1].outputs] == ["seen\n"]


def test_control_c_ends_the_run_and_its_kernel(tmp_path):
    make(tmp_path, body=code("import os\nopen('pid', 'w').write(str(os.getpid()))\nwhile True:\n    pass"))
    script = f"""
        from pathlib import Path
        from gradlab.course.build import build
        from tests.course.small_course import course_at
        build(course=course_at(Path({str(tmp_path)!r})))
    """
    process = subprocess.Popen([sys.executable, "-c", dedent(script)], stderr=subprocess.PIPE, text=True)
    pid = tmp_path / "solutions" / "pid"
    while process.poll() is None and not (pid.exists() and pid.read_text()):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert told.rstrip().endswith("KeyboardInterrupt")
    assert [path.name for path in (tmp_path / "solutions").iterdir()] == ["pid"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def notebook_with(output):
    """A source of one cell and its notebook, executed with one output."""
    cell = Cell("code", "print(thing)", (), number=1, line=7)
    source = Source(Path("00_start.md"), Head("", (), {}, ()), (cell,))
    return source, new_notebook(cells=[new_code_cell(cell.source, id="a", outputs=[output])])


@pytest.mark.parametrize(
    "text",
    [
        "<function f at 0x7f5b2c0d1e50>",
        "/tmp/ipykernel_4242/1.py:3: UserWarning: careful",
        f"{sys.prefix}/lib/python3/site-packages/keras/x.py:3: UserWarning: careful",
        "/somewhere/gradlab/lessons/x.py",
    ],
)
@pytest.mark.parametrize("kind", ["stream", "display_data", "html"])
def test_outputs_that_differ_in_the_next_run_or_on_another_machine_are_refused(tmp_path, text, kind):
    text = text.replace("/somewhere", str(tmp_path))
    output = {
        "stream": lambda: new_output("stream", name="stdout", text=f"fine\n{text}\n"),
        "display_data": lambda: new_output("display_data", data={"text/plain": text}),
        "html": lambda: new_output("display_data", data={"text/html": f"<p>{text}</p>", "text/plain": ""}),
    }[kind]()
    source, notebook = notebook_with(output)
    with pytest.raises(LessonRefused) as caught:
        refuse_unstable(source, notebook, tmp_path)
    assert "00_start.md, line 7 (cell 1: print(thing)) prints `" in str(caught.value)


@pytest.mark.parametrize("text", ["at 0x10", "0x7f5b2c0d1e50 is a number", "meet at 0.5", "/usr/bin/env", ""])
def test_ordinary_outputs_are_not_refused(tmp_path, text):
    source, notebook = notebook_with(new_output("stream", name="stdout", text=text))
    refuse_unstable(source, notebook, tmp_path)


def test_a_picture_loses_its_comments_and_nothing_else():
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import image
    from matplotlib.figure import Figure

    def drawn(metadata):
        stream = io.BytesIO()
        figure = Figure(figsize=(1, 1))
        figure.subplots().plot([1, 2])
        figure.savefig(stream, format="png", metadata=metadata)
        data = {"image/png": base64.b64encode(stream.getvalue()).decode(), "text/plain": "<Figure>"}
        _, notebook = notebook_with(new_output("display_data", data=data))
        return stream.getvalue(), base64.b64decode(tidy(notebook).cells[0].outputs[0].data["image/png"])

    before, after = drawn({"Software": "one 1.0", "Comment": "drawn today"})
    _, other = drawn({"Software": "two 2.0"})
    assert b"one 1.0" in before
    assert b"one 1.0" not in after
    assert after == other
    assert (image.imread(io.BytesIO(before)) == image.imread(io.BytesIO(after))).all()
