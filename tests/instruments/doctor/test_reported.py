"""Failures that people have reported, made again in a few lines: the line is named, the mended twin is healthy.

Each program in `reported/` says with `EXPECT` what a plain tape gives, and which line a good engineer would change;
`SOURCE` names the thread. They were written without a look at the doctor.
"""

import contextlib
import importlib.util
import re
from pathlib import Path

import keras
import pytest

from gradlab import diagnose, doctor

HOME = Path(__file__).parent / "reported"
PROGRAMS = sorted(path.stem for path in HOME.glob("*.py"))
# the line ran before the doctor was called: the cause is enough
EARLIER = {"captured-outside", "unused-variable", "untracked-variable", "integer-source", "non-trainable"}


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"reported_{name}", HOME / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def examined(program, whole):
    keras.utils.clear_session(free_memory=False)
    if not whole:
        with contextlib.suppress(Exception):
            return diagnose(*program())
    with contextlib.suppress(Exception), doctor() as visit:
        program()
    return visit


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_the_fault_is_named_and_the_mended_program_is_healthy(name):
    module = loaded(name)
    whole = hasattr(module, "run")
    visit = examined(module.run if whole else module.build, whole)
    assert visit.faults == []
    sick = [finding for finding in visit.findings if not finding.ok]
    expect = module.EXPECT
    if "raises" in expect:
        assert any(expect["raises"] in finding.advice for finding in sick if finding.status == "raises")
    elif whole:
        assert {status for status in expect["status"].values() if status != "ok"} <= {f.status for f in sick}
    else:
        found = {re.sub(r":0$", "", finding.variable): finding.status for finding in reversed(visit.findings)}
        assert {variable: found.get(variable) for variable in expect["status"]} == expect["status"]
    for variable in expect.get("missing", []):
        assert any(f.status == "untracked" and variable in f.variable for f in sick)
    lines = (HOME / f"{name}.py").read_text(encoding="utf-8").splitlines()
    blamed = [lines[f.line - 1] for f in sick if f.file and Path(f.file).stem == name]
    texts = [expect["line_contains"], *expect.get("line_any", [])]
    known = module.CAUSE in EARLIER and any(f.cause == module.CAUSE for f in sick)
    assert known or any(text in line for text in texts for line in blamed), f"blamed: {blamed}"
    mended = examined(module.fixed, whole)
    assert [f"{f.variable}: {f.status}" for f in mended.findings if not f.ok] == []
    assert mended.faults == []
