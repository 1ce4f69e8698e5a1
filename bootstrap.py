"""Set up `.venv` for gradlab: ``python bootstrap.py``. `make env` is the same.

Needs nothing but a Python. The file is written so that even Python 2.7 can read it: whoever has only that is told
what to install, instead of being shown a syntax error. Nothing is installed outside `.venv`, and a run that was
interrupted is simply started again: `.venv/.gradlab-ready` is written last.
"""

from __future__ import print_function

import errno
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys

OLDEST, NEWEST = (3, 11), (3, 13)
ROOT = os.path.dirname(os.path.abspath(__file__))
# what the packages take, with room for pip to unpack them
NEEDED_GIGABYTES = 5
SAME_AGAIN = "Then type the same command again."
# how to call gradlab without make, from the checkout
GRADLAB = ".venv\\Scripts\\gradlab" if os.name == "nt" else ".venv/bin/gradlab"
# what pip says when it can't reach the index
OFFLINE = (
    "NewConnectionError",
    "Max retries exceeded",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyError",
    "Network is unreachable",
    "Temporary failure in name resolution",
    "getaddrinfo failed",
)


class Problem(Exception):
    """Why `.venv` can't be set up, in words for the person who typed the command."""


def main(arguments):
    # type: (list[str]) -> int
    """Set up `.venv` in the checkout that holds this file; the exit status."""
    if [one for one in arguments if one != "--rebuild"]:
        print("usage: python bootstrap.py [--rebuild]\n\nSets up .venv; --rebuild throws the old one away first.")
        return 0 if arguments in (["-h"], ["--help"]) else 2
    try:
        set_up(ROOT, rebuild="--rebuild" in arguments)
    except Problem as problem:
        print("\ngradlab can't be set up yet.\n\n{0}\n".format(problem), file=sys.stderr)
        return 1
    except (IOError, OSError) as error:
        print("\ngradlab can't be set up yet.\n\n" + explain(str(error), "a step failed"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("\nInterrupted. Type the same command to go on where this stopped.", file=sys.stderr)
        return 130
    return 0


def set_up(root, rebuild=False):
    # type: (str, bool) -> None
    """Bring `.venv` under ``root`` up to date with `requirements.lock` and `pyproject.toml`.

    Raises Problem where a person has to do something first.
    """
    venv = os.path.join(root, ".venv")
    version = None if rebuild else version_of([python_in(venv)])
    if version and is_ready(root, venv, version):
        tell("gradlab is ready: {0} (Python {1})".format(venv, dotted(version)))
        return
    refuse_platform()
    refuse_read_only(root)
    if not (version and fits(version) and has_pip(venv)):
        version = build(root, venv)
    forget(venv)
    install(root, venv)
    with open(stamp_path(venv), "w") as stamp:
        stamp.write(fingerprint(root, version))
    tell("\ngradlab is ready: {0} (Python {1})".format(venv, dotted(version)))


def tell(words):
    # type: (str) -> None
    """Print at once, so that it stands before what the next command prints."""
    print(words)
    sys.stdout.flush()


def python_in(venv):
    # type: (str) -> str
    """The interpreter of an environment."""
    return os.path.join(venv, "Scripts", "python.exe") if os.name == "nt" else os.path.join(venv, "bin", "python")


def stamp_path(venv):
    # type: (str) -> str
    """The file that says what a finished environment was made from."""
    return os.path.join(venv, ".gradlab-ready")


def forget(venv):
    # type: (str) -> None
    """Say that an environment isn't finished, before it is changed."""
    try:
        os.remove(stamp_path(venv))
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise Problem("{0} can't be removed: {1}".format(stamp_path(venv), error.strerror))


def fingerprint(root, version):
    # type: (str, tuple[int, ...]) -> str
    """A hash of all that an environment is made from: the lock file, pyproject.toml, the Python, and the place."""
    digest = hashlib.sha256()
    for name in ("requirements.lock", "pyproject.toml"):
        try:
            with open(os.path.join(root, name), "rb") as source:
                digest.update(source.read())
        except (IOError, OSError):
            raise Problem("{0} is missing from {1}. Bring it back with: git checkout {0}".format(name, root))
    # an environment that was moved or copied still points to where it was made
    for part in (dotted(version), platform.machine(), root):
        digest.update(part.encode("utf-8"))
    return digest.hexdigest()


def is_ready(root, venv, version):
    # type: (str, str, tuple[int, ...]) -> bool
    """Whether an environment was finished from just these files, and still holds what it is for."""
    try:
        with open(stamp_path(venv)) as stamp:
            if stamp.read() != fingerprint(root, version):
                return False
    except (IOError, OSError):
        return False
    names = "'tensorflow', 'jupyterlab', 'pytest', 'gradlab'"
    look = "import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, ({0}))))".format(names)
    return run([python_in(venv), "-c", look], quiet=True)[0] == 0


def has_pip(venv):
    # type: (str) -> bool
    """Whether an environment can install packages."""
    return run([python_in(venv), "-m", "pip", "--version"], quiet=True)[0] == 0


def build(root, venv):
    # type: (str, str) -> tuple[int, ...]
    """Make an empty environment, in place of a broken or outdated one; the version of its Python."""
    if is_foreign(venv):
        raise Problem(
            "{0} is in the way and isn't a Python environment: it is left alone. Rename it. {1}".format(
                venv, SAME_AGAIN
            )
        )
    command, version = interpreter()
    refuse_full_disk(root)
    tell("Making {0} with Python {1}".format(venv, dotted(version)))
    status, said = run(command + ["-c", "import ensurepip, venv"], quiet=True)
    if status == 0:
        status, said = run(command + ["-m", "venv", "--clear", venv])
    if status != 0:
        if has(said, "ensurepip", "No module named"):
            raise Problem(
                "This Python comes without the parts that make environments. On Debian and Ubuntu:\n\n"
                "    sudo apt-get install python{0}.{1}-venv\n\n{2}".format(version[0], version[1], SAME_AGAIN)
            )
        raise Problem(explain(said, "the environment could not be made"))
    return version


def is_foreign(venv):
    # type: (str) -> bool
    """Whether something stands where the environment should, and is none: not even one that was half removed."""
    if not os.path.lexists(venv):
        return False
    if not os.path.isdir(venv):
        return True
    parts = {"bin", "etc", "include", "lib", "lib64", "man", "scripts", "share", "pyvenv.cfg", ".gradlab-ready"}
    found = {name.lower() for name in os.listdir(venv)}
    return "pyvenv.cfg" not in found and not found <= parts


def install(root, venv):
    # type: (str, str) -> None
    """Install the locked packages, then this checkout, then the configuration of the notebook kernel."""
    python, pip = python_in(venv), [python_in(venv), "-m", "pip", "--disable-pip-version-check", "install"]
    tell("Installing the packages of requirements.lock: the first time, up to 1 GB to download")
    lock = os.path.join(root, "requirements.lock")
    steps = [
        (pip + ["--require-hashes", "-r", lock], "the packages could not be installed"),
        (
            pip + ["--no-deps", "--no-build-isolation", "--no-index", "-e", root],
            "gradlab itself could not be installed",
        ),
        ([python, "-m", "gradlab.course.kernel"], "the notebook kernel could not be configured"),
    ]
    for command, what in steps:
        status, said = run(command, cwd=root)
        if status != 0:
            raise Problem(explain(said, what))


def explain(said, what):
    # type: (str, str) -> str
    """What a failed command's words mean, and what to do about it."""
    if has(said, "No space left", "Errno 28", "not enough space"):
        advice = "The disk is full: {0}. Make {1} GB free (python -m pip cache purge empties pip's own store). {2}"
        return advice.format(what, NEEDED_GIGABYTES, SAME_AGAIN)
    if has(said, *OFFLINE):
        return (
            "The package index can't be reached: {0}. Setting up needs the network, once; all that comes after works "
            "without it.\nCheck the connection; behind a proxy, set HTTPS_PROXY. {1}\n\nNothing is lost. If the "
            "environment was ready before, it still works as it is:\n\n    {2} lab".format(what, SAME_AGAIN, GRADLAB)
        )
    if has(said, "HASHES", "do not match the hashes"):
        advice = (
            "A package isn't the one that requirements.lock expects, and was refused. {0}\nIf that doesn't help, {1}"
        )
        return advice.format(SAME_AGAIN, "a mirror or a proxy on the way hands out another file.")
    if has(said, "No matching distribution", "not a supported wheel"):
        advice = (
            "pip found no package that fits this machine ({0}): {1}. Which one, it says above.\nThat is also what it "
        )
        advice += "says when it can't reach the package index: check the connection. {2}"
        return advice.format(platform.platform(), what, SAME_AGAIN)
    if has(said, "Permission denied", "Read-only file system"):
        return "A file can't be written: {0}. Which one, the words above say. {1}".format(what, SAME_AGAIN)
    advice = "{0}; the words above say why. {1}\nIf it stays so, start from nothing: python bootstrap.py --rebuild"
    return advice.format(what[0].upper() + what[1:], SAME_AGAIN)


def has(said, *words):
    # type: (str, str) -> bool
    """Whether any of these words was said."""
    return any(word in said for word in words)


def interpreter():
    # type: () -> tuple[list[str], tuple[int, ...]]
    """A Python that gradlab runs on: this one if it fits, else the newest on the machine; command and version."""
    own = os.path.join(ROOT, ".venv") + os.sep
    candidates = [[sys.executable]] if sys.executable and not sys.executable.startswith(own) else []
    numbers = ["3.{0}".format(minor) for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    candidates += [["py", "-" + number] for number in numbers] if os.name == "nt" else []
    candidates += [["python" + number] for number in numbers] + [["python3"], ["python"]]
    found = []
    for command in candidates:
        version = version_of(command)
        if version and fits(version):
            return command, version
        if version and dotted(version) not in found:
            found.append(dotted(version))
    raise Problem(
        "gradlab runs on Python {0} to {1}. Found here: {2}.\n\nInstall one more; the others stay as they are:\n\n"
        "    Windows      winget install Python.Python.3.12\n"
        "    macOS        brew install python@3.12\n"
        "    Debian       sudo apt-get install python3 python3-venv\n"
        "    with conda   conda env create -f environment.yml\n\n{3}".format(
            dotted(OLDEST), dotted(NEWEST), ", ".join("Python " + one for one in found) or "none", SAME_AGAIN
        )
    )


def version_of(command):
    # type: (list[str]) -> tuple[int, ...] | None
    """The version of the Python that a command starts, or None if it starts none."""
    ask = "import sys; print('%d %d %d' % sys.version_info[:3])"
    status, said = run(command + ["-c", ask], quiet=True)
    numbers = said.split()
    if status != 0 or len(numbers) != 3 or not all(number.isdigit() for number in numbers):
        return None
    return tuple(int(number) for number in numbers)


def fits(version):
    # type: (tuple[int, ...]) -> bool
    """Whether gradlab runs on this version of Python."""
    return OLDEST <= tuple(version[:2]) <= NEWEST


def dotted(version):
    # type: (tuple[int, ...]) -> str
    """A version as it is written: 3.12.1."""
    return ".".join(str(number) for number in version)


def refuse_platform():
    # type: () -> None
    """Say at once where TensorFlow 2.21 has no packages."""
    if sys.platform == "darwin" and platform.machine() == "x86_64":
        raise Problem(
            "This is an Intel Mac, or a Python for one, and TensorFlow 2.21 has packages only for Macs with an Apple "
            "chip.\nOn a Mac with an Apple chip, install a Python for arm64 (brew install python@3.12). {0}\nOn an "
            "Intel Mac, run gradlab in a Linux container or on another machine.".format(SAME_AGAIN)
        )
    if sys.maxsize <= 2**32:
        raise Problem("This is a 32-bit Python; TensorFlow needs a 64-bit one. Install that. {0}".format(SAME_AGAIN))


def refuse_read_only(root):
    # type: (str) -> None
    """Say at once that nothing can be written into the checkout."""
    probe = os.path.join(root, ".gradlab-write-test-{0}".format(os.getpid()))
    try:
        with open(probe, "w"):
            pass
        os.remove(probe)
    except (IOError, OSError) as error:
        if error.errno == errno.ENOSPC:
            raise Problem(explain("No space left on device", "nothing can be written into {0}".format(root)))
        raise Problem(
            "Nothing can be written into {0} ({1}). Copy the checkout to a folder of your own and set it up there:\n\n"
            "    cp -r {0} ~/gradlab\n    cd ~/gradlab".format(root, error.strerror)
        )


def refuse_full_disk(root):
    # type: (str) -> None
    """Say at once that the packages won't fit, instead of after the download."""
    if not hasattr(shutil, "disk_usage"):
        return
    free = shutil.disk_usage(root).free / 1e9
    if free < NEEDED_GIGABYTES:
        raise Problem(
            "The disk is too full: {0:.1f} GB are free in {1}, and the packages need {2} GB. Make room. {3}".format(
                free, root, NEEDED_GIGABYTES, SAME_AGAIN
            )
        )


def run(command, quiet=False, cwd=None):
    # type: (list[str], bool, str | None) -> tuple[int, str]
    """Run a command; its exit status, and what it wrote to standard error (if quiet, to both).

    Unless quiet, all that it writes is shown as it comes. A command that doesn't exist has status 127.
    """
    unwanted = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV")
    environment = dict((name, value) for name, value in os.environ.items() if name not in unwanted)
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if quiet else None,
            stderr=subprocess.STDOUT if quiet else subprocess.PIPE,
        )
    except (IOError, OSError) as error:
        return 127, str(error)
    if process.stdin:
        process.stdin.close()
    said = []
    # bytes go through untouched: a terminal that knows only ASCII must not stop the installation
    screen = getattr(sys.stderr, "buffer", sys.stderr)
    for raw in (process.stdout if quiet else process.stderr) or ():
        said.append(raw.decode("utf-8", "replace"))
        if not quiet:
            screen.write(raw)  # type: ignore[arg-type]
            screen.flush()
    return process.wait(), "".join(said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
