"""One process at a time: a lock that the operating system takes back when its holder ends, however it ends."""

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
_HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}


class Held(Exception):
    """Another process holds the lock; ``pid`` is its number, where it could be read."""

    def __init__(self, pid: int | None) -> None:
        super().__init__(pid)
        self.pid = pid

    @property
    def holder(self) -> str:
        """The holder, in words."""
        return "another process" if self.pid is None else f"process {self.pid}"


@contextlib.contextmanager
def locked(path: Path, patience: float = 0.0) -> Iterator[None]:
    """Hold the lock at ``path`` inside the ``with``; if another has it, wait for it for ``patience`` seconds.

    The file stays, and means nothing by itself: the lock is the system's, so a holder that was killed leaves none
    behind. Where a file system has no locks, this does nothing. Raises `Held`, or ``OSError`` if the file can't be
    opened.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _wait(handle, time.monotonic() + patience)
        with contextlib.suppress(OSError):  # a full disk: the number is only for the message
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 1) if sys.platform != "win32" else None
        yield
    finally:
        os.close(handle)


def _wait(handle: int, deadline: float) -> None:
    while True:
        try:
            return _lock(handle)
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                return None
            if error.errno not in _HELD:
                raise
            if time.monotonic() >= deadline:
                raise Held(_pid(handle)) from None
        time.sleep(0.1)


def _pid(handle: int) -> int | None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return int(os.pread(handle, 32, 1))
    return None


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        """Lock the first byte of the file."""
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        """Lock the file."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
