"""Every action on disk before the page shows it: lines of JSON, one process at a time."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handful.core.errors import FileError, FormatError
from handful.core.files import lock
from handful.studio.state import State

_KIND = "handful studio"


class Journal:
    """A file of actions, and the state that they lead to.

    Parameters
    ----------
    path : path-like
        The file; made if it is not there, else gone on with.
    key : str
        Tells which data the actions are about; a file with another one is refused.

    Attributes
    ----------
    state : State
        What all actions led to.

    Notes
    -----
    An action is written, flushed and synced before it counts. A last line that a crash cut off never counted, and is cut
    away. The file is locked while it is open, so that no second process writes to it; the lock dies with the process.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv.studio"
    >>> with Journal(path, "a.csv") as journal:
    ...     _ = journal.add({"do": "label", "set": {"labels": {"0": "cat"}}})
    >>> with Journal(path, "a.csv") as journal:
    ...     journal.state["labels"]
    {'0': 'cat'}
    """

    def __init__(self, path: str | os.PathLike[str], key: str) -> None:
        self.path = Path(path)
        self.state = State()
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        except OSError as error:
            raise FileError(f"{path}: cannot be written ({error.strerror}).") from None
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):  # a device may have no end
                raise FileError(f"{path}: is no ordinary file. Name a file to write to.")
            self._lock()
            self._end = self._replay(key)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, action: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        """Write an action down, then let it count.

        Parameters
        ----------
        action : mapping
            See `State.check`.

        Returns
        -------
        mapping of str to mapping
            What was set; see `State.apply`.
        """
        self.state.check(action)
        self._append(action)
        return self.state.apply(action)

    def close(self) -> None:
        """Close the file and let others have it; once is enough."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _lock(self) -> None:
        if not lock(self._file):
            raise FileError(
                f"{self.path}: another process has it open. Use the page that is open already, or stop that process first."
            )

    def _replay(self, key: str) -> int:
        """Apply what is on disk and return where it ends."""
        content = b""
        os.lseek(self._file, 0, os.SEEK_SET)
        while piece := os.read(self._file, 1 << 20):
            content += piece
        whole = content.rfind(b"\n") + 1
        if not whole:
            if not _line({"kind": _KIND, "key": key}).startswith(content):
                raise FormatError(self.path, 1, "is no journal of the studio. Move the file away.")
            self._end = 0
            self._append({"kind": _KIND, "key": key})
            return self._end
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                record = json.loads(line)
                if number > 1:
                    self.state.apply(record)
            except (ValueError, TypeError, AttributeError, KeyError):
                raise FormatError(self.path, number, "is no action of the studio. Move the file away.") from None
            if number == 1:
                self._check_first(record, key)
        os.ftruncate(self._file, whole)
        return whole

    def _check_first(self, record: Any, key: str) -> None:
        if not isinstance(record, dict) or record.get("kind") != _KIND:
            raise FormatError(self.path, 1, "is no journal of the studio. Move the file away.")
        if record.get("key") != key:
            raise FileError(
                f"{self.path}: belongs to data that has changed since, or to another target. "
                "Move the file away to begin anew."
            )

    def _append(self, record: Mapping[str, Any]) -> None:
        line = _line(record)
        try:
            os.lseek(self._file, self._end, os.SEEK_SET)
            rest = line
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._end)  # half a line must not stay
            raise FileError(f"{self.path}: cannot be written ({error.strerror}); nothing was changed.") from None
        self._end += len(line)


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
