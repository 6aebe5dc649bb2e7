"""What tables and sentences share: labels with their keys, marks, undo, and one lock around everything."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from handful.core.errors import DataError
from handful.studio.journal import Journal
from handful.studio.state import UNDO, State

RESERVED = "zsunlp"  # undo, skip, unsure, new label, all like this, play
_KEYS = [key for key in "1234567890qwertyuiopasdfghjklzxcvbnm" if key not in RESERVED]
LONGEST_LABEL = 100
_MOST_LABELS = 500
MARKS = {"skip": "skipped", "unsure": "unsure"}


def keys_of(labels: Iterable[str]) -> dict[str, str]:
    """Give every label a key: a digit or letter its own, the others the next free one; none where keys have run out.

    Labels are given keys in their order, so that one more label does not move those before it.

    Examples
    --------
    >>> keys_of(["cat", "dog", "7", "1"])
    {'cat': '1', 'dog': '2', '7': '7', '1': '3'}
    """
    free = list(_KEYS)
    keys: dict[str, str] = {}
    for name in labels:
        keys[name] = name if name in free else free[0] if free else ""
        if keys[name]:
            free.remove(keys[name])
    return keys


def checked_label(value: Any) -> str:
    """Return a label that a person typed, without blanks around it, or refuse it."""
    if not isinstance(value, str) or not value.strip():
        raise DataError("studio: a label must be a text, got nothing.")
    if len(value) > LONGEST_LABEL or any(ord(letter) < 32 for letter in value):
        raise DataError(f"studio: a label must be one line of at most {LONGEST_LABEL} letters.")
    return value.strip()


def checked_number(value: Any, below: int) -> int:
    """Return the number of a row or sentence, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        raise DataError(f"studio: must be a number from 0 to {below - 1}, got {value!r}.")
    return value


class Desk:
    """Something that is being labeled.

    Parameters
    ----------
    name : str
        Name of the data.
    n_items : int
        Rows or sentences.
    journal : Journal
        Where actions go.
    folder : Path
        Where exports go.

    Attributes
    ----------
    lock : threading.RLock
        Held while anything is read or changed.
    tell : callable
        Called with the name of what changed.
    """

    kind = "desk"
    has_board = False

    def __init__(self, name: str, n_items: int, journal: Journal, folder: Path) -> None:
        self.name = name
        self.n_items = n_items
        self.folder = folder
        self.lock = threading.RLock()
        self.tell: Callable[[str], None] = lambda what: None
        self._journal = journal

    @property
    def state(self) -> State:
        """What the person has said."""
        return self._journal.state

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def act(self, body: Mapping[str, Any]) -> None:
        """Do what the page asks; it is on disk when this returns.

        Parameters
        ----------
        body : mapping
            ``do`` names the action; see the methods of the page.
        """
        with self.lock:
            action = self._action(body)
            changes = self._journal.add(action)
            self._changed(changes, undone=action["do"] == "undo")
        self.tell("changed")

    def _action(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        what = body.get("do")
        if what == "undo":
            return UNDO
        if what == "name":
            name = checked_label(body.get("name"))
            if name in self.label_names():
                raise DataError(f"studio: there is a label {name!r} already.")
            if len(self.label_names()) >= _MOST_LABELS:
                raise DataError(f"studio: there can be at most {_MOST_LABELS} labels.")
            return {"do": what, "set": {"names": {name: True}}}
        if isinstance(what, str) and what in MARKS:
            item = checked_number(body.get("item"), self.n_items)
            return {"do": what, "set": {"marks": {str(item): MARKS[what]}}}
        raise DataError(f"studio: there is no action {what!r}.")

    def _changed(self, changes: Mapping[str, Mapping[str, Any]], undone: bool) -> None:
        """Bring what depends on the state up to date."""

    def label_names(self) -> list[str]:
        """Return all labels: those of the data, then those made on the page."""
        raise NotImplementedError

    def view(self) -> dict[str, Any]:
        """Return all that the page shows."""
        raise NotImplementedError

    def _labels(self, counts: Mapping[str, int]) -> list[dict[str, Any]]:
        names = self.label_names()
        keys = keys_of(names)
        return [{"name": name, "key": keys[name], "count": counts.get(name, 0)} for name in names]
