"""Labels as an append-only log with undo."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handful.data.files import lock
from handful.errors import DataError, FileError, FormatError, counted

# labels: row to label, empty if a label of the file was deleted. marks: row or sentence to "skipped" or "unsure".
# audits: row chosen at random, to what the models said before. tags: sentence to its tags.
# names: label made on the page to True, renamed one to its new name, deleted one to False.
# lists: label to its prototypes. merged: label to the one that took its items.
# book: label to key, color, description, examples. texts: "guidelines". notes: row to note. keys: command to key.
# people: row to annotator. second: row to its second label. reviewed: row to "accepted" or "rejected". changed: row to True if
# its cells are others than when it was labeled.
OF_ROWS = ("labels", "marks", "audits", "tags", "notes", "people", "second", "reviewed", "changed")
MAPS = (*OF_ROWS, "names", "lists", "merged", "book", "texts", "keys")
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

    def move(self, to: Mapping[str, str], changed: Sequence[str]) -> None:
        """Give rows other numbers, drop those without one, and forget the way back.

        Examples
        --------
        >>> state = State()
        >>> _ = state.apply({"do": "label", "set": {"labels": {"3": "cat", "4": "dog"}}})
        >>> state.move({"3": "0"}, [])
        >>> state["labels"], state.can_undo
        ({'0': 'cat'}, False)
        """
        for name in OF_ROWS:
            self.maps[name] = {to[row]: value for row, value in self.maps[name].items() if row in to}
        self.maps["changed"] |= dict.fromkeys(changed, True)
        self._before = []
        self.n_actions += 1

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


@dataclass(frozen=True)
class Identity:
    """What tells data and their rows from others.

    Parameters
    ----------
    key : callable
        Returns the target, and a digest of the first `n` rows behind a space.
    n_rows : int
        Rows of the data.
    of_rows : callable
        Returns name and content of each of some rows; rows of equal names are the same, though their content may change.
    earlier_key : str, default=""
        Digest that version 0.2 gave the same data.
    """

    key: Callable[[int], str]
    n_rows: int
    of_rows: Callable[[Sequence[int]], list[tuple[str, str]]]
    earlier_key: str = ""


class AnnotationLog:
    """A file of actions, and the state that they lead to.

    Parameters
    ----------
    path : path-like
        The file; made if it is not there, else gone on with.
    data : Identity
        Identifies the data. Appended rows join. Of data that changed otherwise, the rows that were labeled are found by name.

    Attributes
    ----------
    state : State
        What all actions led to.
    news : str
        What became of the labels of data that changed; empty if it did not.

    Notes
    -----
    An action is written, flushed and synced before it counts. A last line that a crash cut off never counted, and is cut
    away. The file is locked while it is open, so that no second process writes to it; the lock dies with the process.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv.studio"
    >>> def data(*rows):
    ...     return Identity(lambda n: "kind " + "".join(rows[:n]), len(rows), lambda some: [(rows[i], rows[i]) for i in some])
    >>> with AnnotationLog(path, data("meows", "barks")) as log:
    ...     _ = log.add({"do": "label", "set": {"labels": {"0": "cat"}}})
    >>> with AnnotationLog(path, data("new", "barks", "meows")) as log:
    ...     log.state["labels"]
    {'2': 'cat'}
    """

    def __init__(self, path: str | os.PathLike[str], data: Identity) -> None:
        self.path = Path(path)
        self.news = ""
        self._data = data
        self._names: dict[str, tuple[str, str]] = {}  # of the rows with anything in the log
        self.state = State()
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        except OSError as error:
            raise FileError(f"{path}: cannot be written ({error.strerror}).") from None
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):  # a device may have no end
                raise FileError(f"{path}: is no ordinary file. Name a file to write to.")
            self._lock()
            self._replay()
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
        changes = action.get("set", {})
        rows = list(dict.fromkeys(row for name in OF_ROWS for row in changes.get(name, {})))
        names = dict(zip(rows, self._data.of_rows(list(map(int, rows))), strict=True)) if rows else {}
        self._append({**action, "rows": names} if names else action)
        self._names |= names
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

    def _replay(self) -> None:
        """Apply what is on disk, and bring it up to date with the data."""
        content = b""
        os.lseek(self._file, 0, os.SEEK_SET)
        while piece := os.read(self._file, 1 << 20):
            content += piece
        data, self._end = self._data, content.rfind(b"\n") + 1
        header = {"kind": _KIND, "key": data.key(data.n_rows), "rows": data.n_rows}
        if not self._end:
            if not _line(header).startswith(content):
                raise FormatError(self.path, 1, "is no log of the studio. Move the file away.")
            self._append(header)
            return
        first: dict[str, Any] = {}
        for number, line in enumerate(content[: self._end].splitlines(), start=1):
            try:
                first = self._read(json.loads(line), first)
            except (ValueError, TypeError, AttributeError, KeyError):
                what = "log" if number == 1 else "action"
                raise FormatError(self.path, number, f"is no {what} of the studio. Move the file away.") from None
        n_rows = first.get("rows") or 0
        joins = 0 < n_rows <= data.n_rows and first["key"] == data.key(n_rows)
        os.ftruncate(self._file, self._end)
        if first["key"] not in (header["key"], data.earlier_key) and not joins:
            self._follow(first["key"], header, n_rows)

    def _read(self, record: Any, first: dict[str, Any]) -> dict[str, Any]:
        """Apply a line, and return which data the log is of by then."""
        if not first:
            if record["kind"] != _KIND:
                raise ValueError
            return {"key": record["key"], "rows": record.get("rows")}
        if record.get("do") == "move":
            self.state.move(record["to"], record["changed"])
            self._names = {record["to"][row]: name for row, name in self._names.items() if row in record["to"]}
            return {"key": record["key"], "rows": record["n_rows"]}
        self.state.apply({name: value for name, value in record.items() if name != "rows"})
        self._names |= {row: (name, held) for row, (name, held) in record.get("rows", {}).items()}
        return first

    def _follow(self, before: str, header: Mapping[str, Any], n_before: int) -> None:
        """Find the rows of the log in data that changed."""
        used = dict.fromkeys(row for name in OF_ROWS for row in self.state[name])
        places: dict[str, list[int]] = {}
        targets = {key.rpartition(" ")[0] for key in (before, header["key"])}
        comparable = len(targets) == 1 and used.keys() <= self._names.keys()
        now = self._data.of_rows(range(self._data.n_rows)) if comparable else []  # of the same target
        for place, (name, _) in enumerate(now):
            places.setdefault(name, []).append(place)
        to: dict[str, int] = {}
        for row in sorted(used, key=int):
            same = places.get(self._names[row][0], []) if now else []
            if same:
                to[row] = same.pop(same.index(int(row)) if int(row) in same else 0)
        if not to:
            raise FileError(
                f"{self.path}: belongs to data that has changed since, or to another target. "
                "Move the file away to start again."
            )
        if n_before == self._data.n_rows and all(int(row) == other for row, other in to.items()):
            to |= {row: int(row) for row in used}  # nothing moved, so the others are in their places, too
        changed = [str(other) for row, other in to.items() if now[other][1] != self._names[row][1]]
        record = {"do": "move", "key": header["key"], "n_rows": header["rows"], "changed": changed}
        record["to"] = {row: str(other) for row, other in to.items()}
        self._append(record)
        self._read(record, {"rows": n_before})
        n_lost = len(used) - len(to)
        lost = f", {n_lost:,} not: no longer there" if n_lost else ""
        self.news = (
            f"the data changed; {counted(len(to), 'row')} found again ({len(changed):,} with other cells){lost}."
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
