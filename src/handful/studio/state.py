"""What a person has said so far: a few maps that actions change, and that undo brings back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.core.errors import DataError

# labels: row to label. marks: row or sentence to "skipped" or "unsure". audits: row chosen at random, to what the models
# said before. tags: sentence to its tags. names: label made on the page, to True. lists: label to its prototypes.
MAPS = ("labels", "marks", "audits", "tags", "names", "lists")
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
        self._before: list[dict[str, dict[str, Any]]] = []

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
            ``{"do": "undo"}``, or ``{"do": name, "set": {map: {key: value}}}``, in which None takes a value away.
        """
        if action.get("do") == "undo":
            if not self._before:
                raise DataError("studio: there is nothing to undo.")
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
            changes = self._before.pop()
            self._set(changes)
            return changes
        self._before.append(self._set(action["set"]))
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
