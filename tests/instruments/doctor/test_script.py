"""`gradlab doctor SCRIPT`: the script runs as `python SCRIPT` would, and the report follows on standard error."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

TOP = Path(__file__).parents[3]
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(TOP), "COLUMNS": "80"}
LOST = """
import tensorflow as tf
w = tf.Variable(2.0, name="w")
with tf.GradientTape() as tape:
    loss = tf.round(w) * 3.0
print(tape.gradient(loss, w))
"""


def write(folder: Path, text: str, name: str = "program.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text).lstrip("\n"))
    return path


def plain(path: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess:
    return _run([sys.executable, str(path), *arguments], cwd or path.parent)


def doctor(path: Path | str, *arguments: str, cwd: Path | None = None, before=()) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "gradlab.cli", "doctor", *before, str(path), *arguments]
    return _run(command, cwd or Path(path).parent)


def _run(command: list[str], cwd: Path) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **QUIET})


def report(done: subprocess.CompletedProcess) -> dict:
    return json.loads(done.stderr.splitlines()[-1])


def test_the_report_names_the_line_and_leaves_standard_output_and_the_status_to_the_script(tmp_path):
    path = write(tmp_path, LOST + "import sys; sys.exit(7)")
    done = doctor(path)
    assert (done.returncode, done.stdout) == (7, "None\n")
    assert "Round" in done.stderr
    assert "loss = tf.round(w) * 3.0" in done.stderr
    assert "Traceback" not in done.stderr


def test_json_is_the_last_line_of_standard_error(tmp_path):
    path = write(tmp_path, LOST)
    found = report(doctor(path, before=["--json"]))
    assert (found["script"], found["status"], found["ok"], found["examined"]) == (str(path), 0, False, 1)
    (finding,) = found["findings"]
    assert (finding["variable"], finding["status"], finding["cause"]) == ("w", "none", "nondiff-op")
    assert (finding["file"], finding["line"], finding["code"]) == (str(path), 4, "loss = tf.round(w) * 3.0")


@pytest.mark.parametrize(
    ("before", "after", "handed_on", "as_json"),
    [
        ([], ["--its-own", "-h", "--help", "--", "x y"], ["--its-own", "-h", "--help", "--", "x y"], False),
        (["--json"], ["--json", "--lr", "1"], ["--json", "--lr", "1"], True),
        (["--json"], ["--json"], ["--json"], True),
        (["--text"], ["--json"], ["--json"], False),
        ([], ["--lr", "1", "--json"], ["--lr", "1"], True),
    ],
)
def test_the_script_gets_its_own_arguments_untouched(tmp_path, before, after, handed_on, as_json):
    path = write(tmp_path, "import sys, json; print(json.dumps(sys.argv))")
    done = doctor(path, *after, before=before)
    assert json.loads(done.stdout) == [str(path), *handed_on]
    assert done.stderr.startswith('{"script"') == as_json


def test_the_script_is_main_in_its_own_surroundings(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path / "code", "VALUE = 5", "sibling.py")
    path = write(
        tmp_path / "code",
        """
        '''What it is for.'''
        import argparse, os, pickle, sys
        import sibling

        class Kept:
            pass

        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--rate", type=float)
            print(parser.prog, parser.parse_args().rate, sibling.VALUE)
            print(type(pickle.loads(pickle.dumps(Kept()))).__module__, sys.modules["__main__"].Kept is Kept)
            print(__file__, __spec__, __package__, __builtins__.__name__, __loader__.get_filename(), __annotations__)
            print(os.getcwd(), sys.path[0], sys.argv, "typer" in repr(sys.excepthook))
            print(sorted(globals()))
        """,
    )
    given = os.path.relpath(path, tmp_path / "elsewhere")
    done = doctor(given, "--rate", "2", cwd=tmp_path / "elsewhere")
    same = plain(given, "--rate", "2", cwd=tmp_path / "elsewhere")
    assert done.stdout == same.stdout
    assert "nothing to examine" in done.stderr


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("pass", 0),
        ("sys.exit()", 0),
        ("sys.exit(3)", 3),
        ("sys.exit('it is over')", 1),
        ("raise SystemExit([1, 2])", 1),
        ("1 / 0", 1),
        ("raise GeneratorExit('odd')", 1),
        ("def f():\n    raise ValueError('a') from KeyError('b')\nf()", 1),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    {}['x']", 1),
        ("raise ExceptionGroup('several', [ValueError('a'), KeyError('b')])", 1),
        ("sys.excepthook = lambda kind, error, trace: print('mine', kind.__name__, file=sys.stderr)\n1 / 0", 1),
        ("import atexit\natexit.register(print, 'at the end')\n1 / 0", 1),
        ("this is no Python", 1),
    ],
)
def test_it_ends_as_python_would_end_it(tmp_path, ending, status):
    path = write(tmp_path, f"import sys\n{ending}\n")
    done, same = doctor(path), plain(path)
    assert (done.returncode, same.returncode) == (status, status)
    assert done.stdout == same.stdout
    assert done.stderr.startswith(same.stderr)


def test_a_traceback_that_went_through_the_doctor_shows_none_of_its_frames(tmp_path):
    path = write(tmp_path, LOST + "tape.gradient(loss, w)\n")
    done, same = doctor(path, before=["--json"]), plain(path)
    assert (done.returncode, same.returncode) == (1, 1)
    traceback = same.stderr[same.stderr.index("Traceback") :]
    assert traceback in done.stderr
    assert {f["status"] for f in report(done)["findings"]} == {"none", "raises"}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_after_ctrl_c_what_was_seen_so_far_is_reported(tmp_path):
    path = write(tmp_path, LOST + "import time\nopen('ready', 'w').close()\ntime.sleep(600)\n")
    command = [sys.executable, "-m", "gradlab.cli", "doctor", "--json", str(path)]
    environment = {**os.environ, **QUIET}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, cwd=tmp_path, env=environment, **streams) as running:
        while not (tmp_path / "ready").exists() and running.poll() is None:
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
    assert (running.returncode, out) == (130, "None\n")
    assert "KeyboardInterrupt" in err
    found = json.loads(err.splitlines()[-1])
    assert (found["status"], [f["cause"] for f in found["findings"]]) == (130, ["nondiff-op"])


def test_what_a_script_sets_before_tensorflow_computes_works_as_ever(tmp_path):
    path = write(
        tmp_path,
        """
        import os, sys
        assert "tensorflow" not in sys.modules and "keras" not in sys.modules
        os.environ["KERAS_HOME"] = os.getcwd()
        import keras
        import tensorflow as tf
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
        )
        print(len(tf.config.list_logical_devices("CPU")), keras.config.backend())
        w = tf.Variable([2.0], name="w")
        with tf.GradientTape() as tape:
            loss = tf.stop_gradient(w * 2.0)
        tape.gradient(loss, w)
        """,
    )
    done = doctor(path, before=["--json"])
    assert (done.returncode, done.stdout) == (0, "2 tensorflow\n"), done.stderr
    assert [f["cause"] for f in report(done)["findings"]] == ["stop-gradient"]


def test_functions_and_fit_in_a_script_are_examined_and_the_numbers_stay(tmp_path):
    path = write(
        tmp_path,
        """
        import keras
        import tensorflow as tf
        keras.utils.set_random_seed(3)
        tf.config.run_functions_eagerly(True)
        model = keras.Sequential([keras.layers.Dense(3, activation="tanh", name="first"), keras.layers.Dense(2)])
        model.compile(optimizer="sgd", loss=lambda y, p: tf.reduce_mean(tf.stop_gradient(p[:, :1]) * p[:, 1:]))
        x = tf.random.normal([8, 2])
        history = model.fit(x, x, verbose=0, shuffle=False)

        @tf.function
        def step(v):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.cast(tf.cast(v, tf.int32), tf.float32))
            return tape.gradient(loss, v)

        print(step(tf.Variable([1.5], name="v")), history.history["loss"], tf.random.normal([2]).numpy())
        """,
    )
    done, same = doctor(path, before=["--json"]), plain(path)
    assert (done.returncode, done.stdout) == (0, same.stdout), done.stderr
    found = {f["variable"]: (f["status"], f["cause"]) for f in report(done)["findings"]}
    assert found.pop("v") == ("none", "int-cast")
    assert set(found.values()) == {("ok", "")}
    assert len(found) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_and_processes_of_a_script_run_and_only_the_first_process_reports(tmp_path):
    path = write(
        tmp_path,
        """
        import multiprocessing, os, threading

        def square(x):
            return x * x

        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    print(pool.map(square, [1, 2, 3]), flush=True)
                    pool.close()
                    pool.join()  # a process with a pool's threads can't be forked safely
            child = os.fork()
            if child:
                os.waitpid(child, 0)
                import tensorflow as tf

                def lost():
                    w = tf.Variable(1.0)
                    with tf.GradientTape() as tape:
                        loss = tf.round(w)
                    print(tape.gradient(loss, w))

                thread = threading.Thread(target=lost)
                thread.start()
                thread.join()
            else:
                print("child", flush=True)
        """,
    )
    done = doctor(path, before=["--json"])
    assert (done.returncode, done.stdout) == (0, "[1, 4, 9]\n[1, 4, 9]\nchild\nNone\n"), done.stderr
    assert done.stderr.count('{"script"') == 1
    assert report(done)["findings"] == []


def test_a_doctor_in_the_script_is_refused_in_the_script(tmp_path):
    path = write(tmp_path, LOST + "from gradlab import diagnose\ndiagnose(lambda: w * 2.0, [w])\n")
    done = doctor(path)
    assert done.returncode == 1
    assert "RuntimeError: a doctor is already at work" in done.stderr


def test_where_the_doctor_can_t_work_the_script_runs_all_the_same(tmp_path):
    path = write(tmp_path, "import tensorflow as tf\nprint(float(tf.Variable(2.0) * 2.0))")
    write(
        tmp_path,
        """
        import sys

        class Without:
            def find_spec(self, name, path=None, target=None):
                if name == "gradlab.instruments.doctor.ground":
                    from tensorflow.python.framework import op_callbacks
                    del op_callbacks.add_op_callback
                return None

        sys.meta_path.insert(0, Without())
        """,
        "sitecustomize.py",
    )
    command = [sys.executable, "-m", "gradlab.cli", "doctor", "--json", str(path)]
    environment = {**os.environ, **QUIET, "PYTHONPATH": f"{tmp_path}{os.pathsep}{TOP}"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout) == (0, "4.0\n"), done.stderr
    found = report(done)
    assert (found["ok"], found["findings"]) == (False, [])
    assert "op_callbacks.add_op_callback" in found["refusal"]
    assert "2.21" in found["refusal"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("nothing.py", "can't be read"), (".", "is a folder"), ("book.ipynb", "%%doctor")],
)
def test_what_is_no_script_is_refused_at_the_door(tmp_path, name, words):
    (tmp_path / "book.ipynb").write_text("{}")
    done = doctor(name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in " ".join(done.stderr.split())
    assert "next: gradlab doctor SCRIPT" in done.stderr
