"""Keeps TensorFlow's native log out of notebooks: ``python -m gradlab.course.kernel`` sets an environment up for it.

TensorFlow's C++ code writes to file descriptor 2, with times and process numbers in each line. ipykernel catches what
is written there and puts it into the cell's output, which is then different in every run. One line in the
environment's own IPython configuration leaves those lines in the terminal; Python's prints are caught as before.
"""

import sys
from pathlib import Path

from traitlets.config.loader import PyFileConfigLoader

from gradlab.course.errors import CourseError
from gradlab.course.files import write_atomically

_LINES = """\
# gradlab: what native code (TensorFlow's log) writes stays in the terminal and out of cell outputs.
c.IPKernelApp.capture_fd_output = False
"""


def config_path(prefix: str | Path = sys.prefix) -> Path:
    """The IPython kernel configuration of the environment at ``prefix``."""
    return Path(prefix) / "etc" / "ipython" / "ipython_kernel_config.py"


def is_quiet(prefix: str | Path = sys.prefix) -> bool:
    """Whether kernels of the environment at ``prefix`` leave native output out of their cells."""
    path = config_path(prefix)
    if not path.is_file():
        return False
    try:
        config = PyFileConfigLoader(path.name, path=str(path.parent)).load_config()
        return config.IPKernelApp.get("capture_fd_output") is False
    except Exception:  # a configuration is a program: whatever it raises, it doesn't configure
        return False


def make_quiet(prefix: str | Path = sys.prefix) -> Path:
    """Write the configuration where it is missing, behind what is already in the file; the path of the file.

    Raises `CourseError` when the file can't be written or has no effect because it is broken itself.
    """
    path = config_path(prefix)
    if is_quiet(prefix):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_bytes() if path.exists() else b""
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        write_atomically(path, before + gap + _LINES.encode())
    except OSError as error:
        raise CourseError(
            f"{path} can't be written ({error.strerror})", f"add this line to it: {_LINES.splitlines()[1]}"
        ) from None
    if not is_quiet(prefix):
        write_atomically(path, before)
        raise CourseError(
            f"{path} can't be read as a configuration", f"repair it, or move it away: mv {path} {path}.old"
        )
    return path


if __name__ == "__main__":
    try:
        print(f"quiet kernels: {make_quiet()}")
    except CourseError as error:
        sys.exit(str(error))
