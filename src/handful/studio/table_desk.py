"""A table that is being labeled: the next row, lists of rows, rows alike, and what the labels have brought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.core.errors import DataError
from handful.labeling import LabelLoop, RowMap
from handful.labeling.audit import rows_alike
from handful.labeling.loop import AUDIT
from handful.studio.desk import Desk, checked_label, checked_number
from handful.studio.journal import Journal

if TYPE_CHECKING:
    import polars as pl

    from handful.core.records import Kind
    from handful.labeling.doubt import Doubts

PAGE = 50
_SHOWN = 2_000  # letters of a cell
_LISTED = 160
_MOST_ALIKE = 5_000
_MOST_ROWS, _ROWS_OF_LONG = 10_000, 5_000  # of a longer table fewer rows are considered, so that it opens quickly


class TableDesk(Desk):
    """A table that is being labeled.

    Parameters
    ----------
    name : str
        Name of the data.
    cells : polars.DataFrame
        The table as it stands in its file, for showing and exporting.
    frame : polars.DataFrame
        Its feature columns, for learning.
    kinds : dict of str to kind
        What they are.
    target : str
        Column of labels.
    given : list of (str or None)
        Labels of the file.
    journal : Journal
        Where actions go.
    folder : Path
        Where exports go.
    seed : int, default=0
        Seed of all chance.

    Attributes
    ----------
    labels : dict of int to str
        Labels of the file and of the page, by row.
    doubts : Doubts or None
        Labels in doubt, as far as they were looked for.
    panel : dict
        What the labels have brought; see `handful.studio.side`.
    """

    kind = "table"

    def __init__(
        self,
        name: str,
        cells: pl.DataFrame,
        frame: pl.DataFrame,
        kinds: dict[str, Kind],
        target: str,
        given: list[str | None],
        journal: Journal,
        folder: Path,
        seed: int = 0,
    ) -> None:
        super().__init__(name, cells.height, journal, folder)
        self.cells = cells
        self.frame = frame
        self.kinds = kinds
        self.target = target
        self.seed = seed
        self.given = {row: label for row, label in enumerate(given) if label is not None}
        self.labels = {**self.given, **{int(row): label for row, label in self.state["labels"].items()}}
        self.doubts: Doubts | None = None
        self.panel: dict[str, Any] = {}
        self._item: dict[str, Any] | None = None
        self._wanted: int | None = None

    @cached_property
    def loop(self) -> LabelLoop:
        """The label loop; made on first use, which takes a while for a long table."""
        known = [self.labels.get(row) for row in range(self.n_items)] if self.labels else None
        most = _MOST_ROWS if self.n_items <= _MOST_ROWS else _ROWS_OF_LONG
        return LabelLoop(self.frame, known, random_state=self.seed, max_pool=most)

    @cached_property
    def _map(self) -> RowMap:
        return RowMap(self.loop)

    def play(self, kind: str) -> dict[str, Any]:
        """Return a map on which labels spread; see `handful.labeling.RowMap`. The first one takes a few seconds."""
        with self.lock:
            labels, drawn = dict(self.labels), self._map
        return asdict(drawn.play(labels, kind))  # type: ignore[arg-type]

    @property
    def audits(self) -> list[int]:
        """Rows with a label of the page that chance had chosen."""
        said = self.state["labels"]
        return [int(row) for row in self.state["audits"] if row in said]

    def label_names(self) -> list[str]:
        """Return the labels of the file, sorted, then those made on the page in the order they came."""
        names = sorted(set(self.given.values()))
        made = [*self.state["names"], *self.state["labels"].values()]
        return list(dict.fromkeys([*names, *made]))

    def _action(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        if body.get("do") != "label":
            return super()._action(body)
        label = checked_label(body.get("label"))
        items = body.get("items")
        if not isinstance(items, list) or not 1 <= len(items) <= _MOST_ALIKE:
            raise DataError(f"studio: rows must be a list of 1 to {_MOST_ALIKE:,}.")
        rows = [str(checked_number(row, self.n_items)) for row in items]
        changes: dict[str, dict[str, Any]] = {
            "labels": dict.fromkeys(rows, label),
            "marks": {row: None for row in rows if row in self.state["marks"]},
        }
        item = self._item
        if item is not None and rows == [str(item["row"])] and item["reason"] == AUDIT:
            changes["audits"] = {rows[0]: {"said": item["suggestion"]}}
        if label not in self.label_names():
            changes["names"] = {label: True}
        return {"do": "label", "set": changes}

    def _changed(self, changes: Mapping[str, Mapping[str, Any]], undone: bool) -> None:
        told = {int(row): label for row, label in changes.get("labels", {}).items()}
        self._relabel({row: self.given.get(row) if label is None else label for row, label in told.items()})
        touched = {*told, *map(int, changes.get("marks", {}))}
        if undone and len(touched) == 1:  # look at it again
            self._wanted = next(iter(touched))
            self._item = None
        elif self._item is not None and self._item["row"] in touched:
            self._item = None
        if self._item is not None and told:
            self._item |= self._suggestion(self._item["row"])

    def _relabel(self, now: Mapping[int, Any]) -> None:
        for row, label in now.items():
            if label is None:
                self.labels.pop(row, None)
            else:
                self.labels[row] = label
        if "loop" in self.__dict__:
            self.loop.update(now)

    def view(self) -> dict[str, Any]:
        """Return all that the page shows, the next row among it."""
        labels = self.labels
        marks = Counter(self.state["marks"].values())
        return {
            "version": self.state.n_actions,
            "can_undo": self.state.can_undo,
            "n_items": self.n_items,
            "n_labeled": len(labels),
            "n_marked": marks,
            "labels": self._labels(Counter(labels.values())),
            "item": self._next(),
            "panel": self.panel,
        }

    def _next(self) -> dict[str, Any] | None:
        if self._item is None:
            row, reason = self._choose()
            self._item = None if row is None else {"reason": reason, **self.row(row)}
        return self._item

    def _choose(self) -> tuple[int | None, str]:
        if self._wanted is not None:
            row, self._wanted = self._wanted, None
            return row, "taken back"
        if len(self.loop.labels) >= self.n_items:
            return None, ""
        marked = {int(row) for row in self.state["marks"]} - self.loop.labels.keys()
        left = self.n_items - len(self.loop.labels) - len(marked)
        if left <= 0:
            return min(marked), "skipped before"
        for pick in self.loop.next(1 + len(marked)):
            if pick.row not in marked:
                return pick.row, pick.reason
        row = next(row for row in range(self.n_items) if row not in marked and row not in self.loop.labels)
        return row, ""

    def row(self, row: int) -> dict[str, Any]:
        """Return one row with its cells, clipped, its label and what the models would say."""
        row = checked_number(row, self.n_items)
        cells = [[name, *_clipped(value, _SHOWN)] for name, value in self._cells(row)]
        return {"row": row, "cells": cells, **self._facts(row), **self._suggestion(row)}

    def _cells(self, row: int) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in self.cells.row(row, named=True).items() if name != self.target]

    def _facts(self, row: int) -> dict[str, Any]:
        key = str(row)
        doubt = next((d for d in self.doubts.doubts if d.row == row), None) if self.doubts is not None else None
        label = self.labels.get(row)
        if doubt is not None and doubt.label != label:
            doubt = None  # it has been seen to
        return {
            "label": label,
            "own": key in self.state["labels"],
            "mark": self.state["marks"].get(key),
            "rather": None if doubt is None else doubt.suggestion,
            "sure": doubt is not None and doubt.confident,
        }

    def _suggestion(self, row: int) -> dict[str, Any]:
        pick = self.loop.suggest([row])[0]
        return {"suggestion": pick.suggestion, "confidence": pick.confidence}

    def rows(self, query: str = "", show: str = "all", page: int = 0) -> dict[str, Any]:
        """Return a page of the rows that hold a text and are of a kind.

        Parameters
        ----------
        query : str
            Text that a cell must hold, in any case.
        show : str
            ``all``, ``unlabeled``, ``labeled``, ``skipped``, ``unsure``, ``doubtful``, or ``label:NAME``.
        page : int
            Number of the page, from 0.
        """
        chosen = self._chosen(show)
        if query:
            chosen = [row for row in chosen if row in self._holding(query)] if show != "all" else self._holding(query)
        some = chosen[page * PAGE : (page + 1) * PAGE]
        picks = self.loop.suggest(some)
        listed = []
        for row, pick in zip(some, picks, strict=True):
            text = "  ".join(_clipped(value, 60)[0] for _, value in self._cells(row) if value not in (None, ""))
            facts = {**self._facts(row), "suggestion": pick.suggestion, "confidence": pick.confidence}
            listed.append({"row": row, "text": text[:_LISTED], **facts})
        return {"n": len(chosen), "page": page, "pages": -(-len(chosen) // PAGE), "rows": listed}

    def _chosen(self, show: str) -> Any:
        labels = self.labels
        if show == "unlabeled":
            return [row for row in range(self.n_items) if row not in labels]
        if show == "labeled":
            return sorted(labels)
        if show in ("skipped", "unsure"):
            return sorted(int(row) for row, mark in self.state["marks"].items() if mark == show)
        if show == "doubtful":
            return [d.row for d in self.doubts.doubts if self._facts(d.row)["rather"]] if self.doubts else []
        if show.startswith("label:"):
            return sorted(row for row, label in labels.items() if label == show.removeprefix("label:"))
        return range(self.n_items)

    def _holding(self, query: str) -> list[int]:
        import polars as pl

        columns = [
            pl.col(name).cast(pl.String).str.to_lowercase() for name in self.cells.columns if name != self.target
        ]
        holds = [column.str.contains(query.lower(), literal=True).fill_null(False) for column in columns]
        return self.cells.select(pl.any_horizontal(holds).arg_true().alias("row"))["row"].to_list()

    def alike(self, row: int) -> dict[str, Any]:
        """Return the unlabeled rows that are like one, as they would be listed."""
        rows = rows_alike(self.loop, checked_number(row, self.n_items))
        listed = [
            {"row": other, "text": "  ".join(_clipped(value, 60)[0] for _, value in self._cells(other))[:_LISTED]}
            for other in rows
        ]
        return {"row": row, "rows": listed}


def _clipped(value: Any, most: int) -> tuple[str, int]:
    """Return the beginning of a cell, and how many letters were left out."""
    text = "" if value is None else str(value)
    return text[:most], max(len(text) - most, 0)
