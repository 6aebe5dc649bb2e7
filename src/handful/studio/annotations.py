"""Labels as an append-only log with undo."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from handful.data.files import lock
from handful.errors import DataError, FileError, FormatError

# labels: row to label, empty if a label of the file was deleted. marks: row or sentence to "skipped" or "unsure".
# audits: row chosen at random, to what the models said before. tags: sentence to its tags.
# names: label made on the page to True, renamed one to its new name, deleted one to False.
# lists: label to its prototypes. merged: label to the one that took its items.
# book: label to key, color, description, examples. texts: "guidelines". notes: row to note. keys: command to key.
# people: row to annotator. second: row to its second label. reviewed: row to "accepted" or "rejected".
MAPS = (
    *("labels", "marks", "audits", "tags", "names", "lists"),
    *("merged", "book", "texts", "notes", "keys", "people", "second", "reviewed"),
)
UNDO: Mapping[str, Any] = {"do": "undo"}


class State:
    """Maps from names to values, and the way back.

    Attributes
    ----------
    maps : dict of str to dict of str to value
        One dictionary for each of `MAPS`.
    n_actions : int
        Actions so far, undone ones and undos among them.

    Examples
    --------
    >>> state = State()
    >>> _ = state.apply({"do": "label", "set": {"labels": {"3": "cat"}}})
    >>> _ = state.apply({"do": "label", "set": {"labels": {"3": "dog"}}})
    >>> state.apply(UNDO)
    {'labels': {'3': 'cat'}}
    >>> state.maps["labels"]
    {'3': 'cat'}
    """

    def __init__(self) -> None:
        self.maps: dict[str, dict[str, Any]] = {name: {} for name in MAPS}
        self.n_actions = 0
        self._before: list[tuple[dict[str, dict[str, Any]], Any]] = []  # with who acted

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self.maps[name]

    @property
    def can_undo(self) -> bool:
        """Whether there is an action to take back."""
        return bool(self._before)

    def check(self, action: Mapping[str, Any]) -> None:
        """Refuse what is no action, before it is written down.

        Parameters
        ----------
        action : mapping
            ``{"do": "undo"}``, or ``{"do": name, "set": {map: {key: value}}}``, in which None takes a value away; ``by`` and
            ``at`` say who acted and when.
        """
        if action.get("do") == "undo":
            if not self._before:
                raise DataError("studio: there is nothing to undo.")
            person = self._before[-1][1]
            if action.get("by", person) != person:
                raise DataError(f"studio: the last action is by {person}, who alone can undo it.")
            return
        changes = action.get("set")
        if not isinstance(action.get("do"), str) or not isinstance(changes, Mapping) or not changes:
            raise DataError("studio: an action must say what it does and what it sets.")
        for name, values in changes.items():
            if name not in MAPS or not isinstance(values, Mapping):
                raise DataError(f"studio: an action sets {', '.join(MAPS)}, got {name!r}.")

    def apply(self, action: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        """Change the maps.

        Parameters
        ----------
        action : mapping
            See `check`.

        Returns
        -------
        mapping of str to mapping
            What was set in which map; None where a value was taken away.
        """
        self.check(action)
        self.n_actions += 1
        if action["do"] == "undo":
            changes, _ = self._before.pop()
            self._set(changes)
            return changes
        self._before.append((self._set(action["set"]), action.get("by")))
        return action["set"]  # type: ignore[no-any-return]

    def _set(self, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Set values and return those that were there before."""
        before: dict[str, dict[str, Any]] = {}
        for name, values in changes.items():
            held = self.maps[name]
            before[name] = {key: held.get(key) for key in values}
            for key, value in values.items():
                if value is None:
                    held.pop(key, None)
                else:
                    held[key] = value
        return before


_KIND = "handful studio"


class AnnotationLog:
    """A file of actions, and the state that they lead to.

    Parameters
    ----------
    path : path-like
        The file; made if it is not there, else gone on with.
    key : str
        Identifies the data; a file with another one is refused.
    n_rows : int, optional
        Rows of the data.
    starts_with : callable, optional
        Returns the key of the first `n` rows. A file whose rows are still the first ones is continued: appended rows join.
    earlier_key : str, optional
        Key that version 0.2 gave the same data.

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
    >>> with AnnotationLog(path, "a.csv") as log:
    ...     _ = log.add({"do": "label", "set": {"labels": {"0": "cat"}}})
    >>> with AnnotationLog(path, "a.csv") as log:
    ...     log.state["labels"]
    {'0': 'cat'}
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        key: str,
        n_rows: int = 0,
        starts_with: Callable[[int], str] | None = None,
        earlier_key: str = "",
    ) -> None:
        self.path = Path(path)
        self._n_rows = n_rows
        self._header: dict[str, Any] = {"kind": _KIND, "key": key, **({"rows": n_rows} if n_rows else {})}
        self._starts_with = starts_with
        self._earlier_key = earlier_key
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

    def __enter__(self) -> AnnotationLog:
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
            if not _line(self._header).startswith(content):
                raise FormatError(self.path, 1, "is no log of the studio. Move the file away.")
            self._end = 0
            self._append(self._header)
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
            raise FormatError(self.path, 1, "is no log of the studio. Move the file away.")
        n_rows = record.get("rows")
        joins = (
            self._starts_with is not None
            and isinstance(n_rows, int)
            and 0 < n_rows <= self._n_rows
            and record.get("key") == self._starts_with(n_rows)
        )
        if record.get("key") not in (key, self._earlier_key) and not joins:
            raise FileError(
                f"{self.path}: belongs to data that has changed since, or to another target. "
                "Move the file away to start again."
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
