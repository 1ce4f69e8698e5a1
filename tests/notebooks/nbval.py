"""Runs nbval on one notebook in a process of its own, and counts the cells that it really compared."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

CELL_TIMEOUT = 120


@dataclass(frozen=True)
class Nbval:
    """What nbval did: its exit status, the cells that passed, failed or were skipped, and what it printed."""

    status: int
    passed: int
    others: int
    text: str


def nbval(notebook: Path, report: Path, *, lax: bool = False, **environment: str) -> Nbval:
    """Hold a notebook to its stored outputs (``lax``: only run it), in the kernel of this environment."""
    junit = report / f"{notebook.stem}.xml"
    process = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "--nbval-lax" if lax else "--nbval", str(notebook)),
            *("--nbval-kernel-name=python3", f"--nbval-cell-timeout={CELL_TIMEOUT}"),
            *("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--color=no", "--tb=short", f"--junitxml={junit}"),
            *("-o", "addopts=", f"--rootdir={notebook.parent}"),
        ],
        env=_plain_environment() | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    suite = ElementTree.parse(junit).getroot().find("testsuite") if junit.exists() else None
    found = {} if suite is None else suite.attrib
    total, *bad = (int(found.get(key, 0)) for key in ("tests", "failures", "errors", "skipped"))
    return Nbval(process.returncode, total - sum(bad), sum(bad), process.stdout)


def code_cells(notebook: Path) -> int:
    """How many cells of a notebook hold code."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return sum(cell["cell_type"] == "code" for cell in cells)


def _plain_environment() -> dict[str, str]:
    """The environment without what belongs to the outer pytest, or makes a kernel say less than a learner's."""
    dropped = ("TF_CPP_", "PYTEST_", "PYTHONHASHSEED", "TF_ENABLE_ONEDNN")
    return {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
