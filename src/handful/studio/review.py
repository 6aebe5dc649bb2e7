"""Suggestions of somebody else that are reviewed, and the agreement of two people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from handful.active.estimates import wilson_interval
from handful.errors import DataError

if TYPE_CHECKING:
    from handful.studio.table_session import TableSession


class Review:
    """A column of suggested labels that a person accepts in groups or rejects.

    Parameters
    ----------
    session : TableSession
        The table; its setup names the columns of suggestions and confidences. Neither is shown with a row, so that random rows
        are labeled without them.
    """

    def __init__(self, session: TableSession) -> None:
        self._session = session
        self.column, confidence = session.setup.review, session.setup.confidence
        cells = session.cells
        self._suggestions: list[str | None] = [None] * len(cells)
        self._confidences: list[float] | None = None
        if self.column is not None:
            self._suggestions = [str(cell) if cell not in (None, "") else None for cell in cells[self.column]]
        if confidence is not None:
            numbers = cells[confidence].cast(pl.Float64, strict=False)
            self._confidences = numbers.fill_nan(None).fill_null(0.0).to_list()
        self.labels = {label for label in self._suggestions if label is not None}

    def _suggested(self, row: int) -> str | None:
        return self._session.current_name(self._suggestions[row])

    def of(self, row: int) -> dict[str, Any]:
        """Return the suggestion for a row and the confidence in it."""
        if self.column is None:
            return {}
        confidence = None if self._confidences is None else self._confidences[row]
        return {"suggested": self._suggested(row), "suggested_confidence": confidence}

    def _holds(self, row: int, label: str, threshold: float) -> bool:
        suggested = self._suggested(row)
        confident = self._confidences is None or self._confidences[row] >= threshold
        return suggested is not None and confident and label in ("", suggested)

    def group(self, label: str, threshold: float) -> list[int]:
        """Return the rows without a label for which a label is suggested with some confidence; an empty one stands for all."""
        session, reviewed = self._session, self._session.state["reviewed"]
        rows = (row for row in range(session.n_items) if not session.is_seen(row) and str(row) not in reviewed)
        return [row for row in rows if self._holds(row, label, threshold)]

    def sample(self) -> list[int]:
        """Return the next random rows of the group that is being audited."""
        group = set(self.group(*self._session.audited["of"]))
        return list(islice((row for row in self._session.order if row in group), 10))

    def audit(self, label: str, threshold: float) -> dict[str, Any]:
        """Return how often the suggestions of a group are wrong, on rows that were chosen at random and labeled without them.

        Notes
        -----
        Counted are random rows of the whole table, and of groups that hold this one: rows of a part would not be a random
        sample of it. The interval is Wilson's, 90%.
        """
        state, labels = self._session.state, self._session.labels
        rows = []
        for row, held in state["audits"].items():
            of_label, of_threshold = held.get("of", ["", 0.0])
            holds_this = self._session.current_name(of_label) in ("", label) and of_threshold <= threshold + 1e-6
            if holds_this and int(row) in labels and self._holds(int(row), label, threshold):
                rows.append(int(row))
        n_wrong = sum(labels[row] != self._suggested(row) for row in rows)
        low, high = wilson_interval(n_wrong, len(rows)) if rows else (0.0, 1.0)
        return {"n": len(rows), "wrong": n_wrong, "low": low, "high": high}

    def accept(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give rows the labels that are suggested for them: the rows that are named, or a whole group."""
        items, session = body.get("items"), self._session
        threshold = body.get("threshold", 0.0)
        if not isinstance(threshold, int | float):
            raise DataError("studio: threshold must be a number.")
        group = self.group(str(body.get("label", "")), threshold)
        rows = [row for row in group if items is None or (isinstance(items, list) and row in items)]
        if not rows:
            raise DataError("studio: no row has such a suggestion.")
        labels = {str(row): self._suggested(row) for row in rows}
        people = dict.fromkeys(labels, session.annotator(body))
        return {
            "do": "accept",
            "set": {"labels": labels, "people": people, "reviewed": dict.fromkeys(labels, "accepted")},
        }

    def reject(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take rows out of their groups, so that they are labeled as any other row."""
        items = body.get("items")
        group = set(self.group("", 0.0))
        if not isinstance(items, list) or not items or not all(isinstance(row, int) and row in group for row in items):
            raise DataError("studio: rows must be a list of rows with a suggestion.")
        return {"do": "reject", "set": {"reviewed": dict.fromkeys(map(str, items), "rejected")}}


def is_conflict(held: Mapping[str, str]) -> bool:
    """Tell whether two labels of a row differ and nobody has settled it."""
    return held["first"] != held["label"] and "settled" not in held


def agreement(second: Mapping[str, Mapping[str, str]]) -> dict[str, Any] | None:
    """Return how well first and second labels agree: proportion with its 90% interval, and Cohen's kappa (1960).

    Examples
    --------
    >>> pairs = ["aa", "aa", "bb", "bb", "ab"]
    >>> round(agreement({str(i): {"first": a, "label": b} for i, (a, b) in enumerate(pairs)})["kappa"], 3)
    0.615
    """
    if not second:
        return None
    first, other = [held["first"] for held in second.values()], [held["label"] for held in second.values()]
    n_same, n = sum(a == b for a, b in zip(first, other, strict=True)), len(second)
    by_chance = sum(count * other.count(label) for label, count in Counter(first).items()) / n**2
    low, high = wilson_interval(n_same, len(second))
    kappa = None if by_chance == 1 else (n_same / n - by_chance) / (1 - by_chance)
    n_conflicts = sum(map(is_conflict, second.values()))
    return {"n": len(second), "same": n_same, "low": low, "high": high, "kappa": kappa, "n_conflicts": n_conflicts}
