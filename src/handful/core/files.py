"""Writing a file so that a crash leaves the old one whole."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from handful.core.errors import FileError


@contextmanager
def atomic_writer(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces `path` only when the block ends well.

    Parameters
    ----------
    path : path-like
        Where the finished file goes; its folder must exist.

    Yields
    ------
    file
        A binary file in the same folder, moved to `path` at the end and removed on an error.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with atomic_writer(target) as file:
    ...     _ = file.write(b"whole")
    >>> target.read_bytes()
    b'whole'
    """
    if "\0" in os.fspath(path):
        raise FileError(f"{path!r}: is not a path that this system can have.")
    target = Path(os.path.abspath(path))  # a link is replaced like any other file: what it names may lie anywhere
    if target.is_dir():
        raise FileError(f"{path}: is a folder. Name a file to write to.")
    # /dev/stdout is a link, and leads to an ordinary file where the shell says so; the link must stay.
    if str(target.parent) in ("/dev", "/dev/fd", "/proc/self/fd") or (target.exists() and not target.is_file()):
        raise FileError(f"{path}: is no ordinary file. Name a file to write to.")
    try:
        # mkstemp makes private files; the finished one gets the rights that a plain open() would give.
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}).") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode_for(target))
        os.replace(name, target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            # errors of other libraries have a text and no number
            raise FileError(f"{path}: cannot be written ({error.strerror or ' '.join(str(error).split())}).") from error
        raise


def is_endless(handle: int) -> bool:
    """Tell whether an open file is a device, such as ``/dev/zero``, that may never come to an end.

    Parameters
    ----------
    handle : int
        What `os.open` gave.

    Returns
    -------
    bool
        False for files, pipes, terminals and ``/dev/null``.

    Examples
    --------
    >>> with open(os.devnull) as nothing:
    ...     is_endless(nothing.fileno())
    False
    """
    found = os.fstat(handle)
    if not (stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode)) or os.isatty(handle):
        return False
    return not os.path.samestat(found, os.stat(os.devnull))


def lock(handle: int) -> bool:
    """Lock an open file for this process, and tell whether it could be had; the lock ends with the process.

    Parameters
    ----------
    handle : int
        What `os.open` gave.

    Returns
    -------
    bool
        False if another process has it.
    """
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _mode_for(target: Path) -> int:
    if target.exists() and not target.is_symlink():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
