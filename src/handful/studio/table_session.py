"""A table being labeled."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from handful.active.curve import learning_curve
from handful.active.estimates import MIN_RANDOM, estimate_accuracy
from handful.active.label_errors import find_label_errors
from handful.active.playback import RowMap
from handful.active.query import RANDOM, ActiveLearner, rows_alike
from handful.data.checks import SELECTION
from handful.data.table import Table, as_table
from handful.errors import DataError, HandfulError
from handful.studio.annotations import AnnotationLog
from handful.studio.label_book import Setup, checked_label
from handful.studio.review import Review, agreement, is_conflict
from handful.studio.server import number
from handful.studio.session import QUEUE, LabelingSession, Studio, Worker, checked_number

if TYPE_CHECKING:
    from handful.active.label_errors import LabelError
    from handful.active.query import Predictions
    from handful.models.table_model import TableModel

PAGE = 50
_CELL_SHOWN = 2_000  # letters of a cell
_LISTED = 160
_MOST_ALIKE = 5_000
_MAX_POOL, _POOL_OF_LONG = 10_000, 5_000  # of a longer table fewer rows are considered, so that it opens quickly


class TableSession(LabelingSession):
    """A table that is being labeled.

    Parameters
    ----------
    name, log, folder, setup
        As for `handful.studio.session.LabelingSession`.
    table : Table
        The rows, with the labels of the file.
    target : str
        Column of labels.

    Attributes
    ----------
    labels : dict of int to str
        Labels of the file and of the page, by row.
    label_errors : dict of int to LabelError
        Likely label errors by row, as of the last time that they were looked for.
    predictions : Predictions or None
        Of the model, as of the last refresh.
    panel : dict
        What the side panel shows; see `TableStudio`.
    goal : float
        Accuracy that is aimed at.
    """

    kind = "table"

    def __init__(
        self, name: str, table: Table, target: str, log: AnnotationLog, folder: Path, setup: Setup | None = None
    ) -> None:
        super().__init__(name, len(table), log, folder, setup)
        self.table = table
        self.cells = table.cells
        self.target = target
        self.given = {int(row): str(table.classes[table.codes[row]]) for row in table.labeled}
        self.labels = dict(self.given)
        self._changed({"labels": self.state["labels"]})
        self.review = Review(self)
        known = SELECTION in self.cells.columns
        self.selection: list[str | None] = self.cells[SELECTION].to_list() if known else [None] * self.n_items
        self.label_errors: dict[int, LabelError] = {}
        self.panel: dict[str, Any] = {}
        self.goal = 0.9
        self.predictions: Predictions | None = None
        self._refreshing, self._making = threading.Lock(), threading.Lock()
        self._refreshed: dict[int, str] = {}
        self._second = np.random.default_rng([self.seed, 1]).random(self.n_items) < self.setup.second_share
        self.do_accept, self.do_reject = self.review.accept, self.review.reject

    @cached_property
    def _learner(self) -> ActiveLearner:
        max_pool = _MAX_POOL if self.n_items <= _MAX_POOL else _POOL_OF_LONG
        labels = [self.labels.get(row) for row in range(self.n_items)] if self.labels else None
        return ActiveLearner(self.table, labels, random_state=self.seed, max_pool=max_pool)

    @property
    def learner(self) -> ActiveLearner:
        """Chooses rows and suggests labels; only the thread that refreshes may change it. Made on first use."""
        with self._making:
            return self._learner

    @cached_property
    def _map(self) -> RowMap:
        return RowMap(self.learner)

    def play(self, kind: str) -> dict[str, Any]:
        """Return a map on which labels spread; see `handful.active.playback.RowMap`. The first one takes a few seconds."""
        with self.lock:
            labels = dict(self.labels)
        return asdict(self._map.play(labels, kind))  # type: ignore[arg-type]

    def refresh(self) -> None:
        """Fit the model to the labels as they are, and choose the next rows; requests do not wait for it."""
        with self._refreshing:
            learner = self.learner
            with self.lock:
                labels, marked = dict(self.labels), {int(row) for row in self.state["marks"]}
                learner.random_rows = set(self.random_rows)
            changed = {row: labels.get(row) for row in learner.labels.keys() | labels.keys()}
            learner.update({row: label for row, label in changed.items() if learner.labels.get(row) != label})
            queue: list[tuple[int, str]] = []
            if self.strategy == "review":
                with self.lock:
                    queue = [(row, RANDOM) for row in self.review.sample()]
            elif self.n_items > len(labels) + len(marked - labels.keys()):
                queue = [(one.row, one.reason) for one in learner.next(QUEUE, self.strategy, exclude=marked)]
            predictions = learner.predictions() if len(learner.classes) > 1 else None
            with self.lock:
                self._queue, self.predictions, self._refreshed = queue, predictions, labels
        self.tell("queue", {})

    def publish(self, **facts: Any) -> None:
        """Change what the side panel shows."""
        with self.lock:
            self.panel = {**self.panel, **facts}
        self.tell("panel", self.panel)

    def set_strategy(self, strategy: str, body: Mapping[str, Any]) -> None:
        """Choose the next rows by a strategy; review takes random rows of a group of suggestions, shown without these."""
        if strategy != "review":
            super().set_strategy(strategy, body)
            return
        self.audited = {"of": [str(body.get("label", "")), checked_share(body, "threshold", 1e-9)]}
        self.strategy, self._queue = strategy, [(row, RANDOM) for row in self.review.sample()]

    @property
    def random_rows(self) -> list[int]:
        """Labeled rows that were chosen at random, on the page or by `handful next`."""
        made = self.state["labels"]
        rows = [int(row) for row, held in self.state["audits"].items() if made.get(row) and "of" not in held]
        before = [row for row in self.labels if self.selection[row] == "random" and str(row) not in made]
        return rows + before

    def _names_of_data(self) -> list[str]:
        return sorted({*self.given.values(), *self.review.labels})

    def _used_names(self) -> list[str]:
        return list(self.state["labels"].values())

    def _relabeled(self, old: str, new: str | None) -> dict[str, dict[str, Any]]:
        seconds = {
            row: {name: new or "" if name != "by" and value == old else value for name, value in held.items()}
            for row, held in self.state["second"].items()
            if old in held.values()
        }
        return {
            "labels": {str(row): new or "" for row, label in self.labels.items() if label == old},
            "second": seconds,
        }

    def is_labeled(self, item: int) -> bool:
        """Tell whether a row has a label."""
        return item in self.labels

    def do_label(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Label rows, or give one its second label."""
        label = checked_label(body.get("label"))
        items = body.get("items")
        if not isinstance(items, list) or not 1 <= len(items) <= _MOST_ALIKE:
            raise DataError(f"studio: rows must be a list of 1 to {_MOST_ALIKE:,}.")
        rows, by = [str(checked_number(row, self.n_items)) for row in items], self.annotator(body)
        seconds = self.state["second"]
        names = {} if label in self.label_names() else {"names": {label: True}}
        if body.get("again") is True and len(rows) == 1 and self._is_for_second(int(rows[0]), by):
            held = {"first": self.labels[int(rows[0])], "label": label, "by": by}
            return {"do": "second", "set": {"second": {rows[0]: held}, **names}}
        changes: dict[str, dict[str, Any]] = {
            "labels": dict.fromkeys(rows, label),
            "people": dict.fromkeys(rows, by),
            "marks": {row: None for row in rows if row in self.state["marks"]},
            "second": {row: {**seconds[row], "settled": label} for row in rows if row in seconds},
            "changed": {row: None for row in rows if row in self.state["changed"]},
            **names,
        }
        if len(rows) == 1 and self.is_audit(int(rows[0]), body):
            said = self._suggestion(int(rows[0]))["suggestion"]
            changes["audits"] = {rows[0]: {"said": said, **self._random_shown[int(rows[0])]}}
        return {"do": "label", "set": {name: values for name, values in changes.items() if values}}

    def _is_for_second(self, row: int, by: str) -> bool:
        """Tell whether a row has the label of another person and waits for a second one."""
        first, key = self.state["people"].get(str(row)), str(row)
        return (
            bool(self._second[row])
            and row in self.labels
            and first not in (None, by)
            and key not in self.state["second"]
        )

    def queue(self, by: str = "") -> list[dict[str, Any]]:
        """Return the next rows for a person, those that wait for a second label first; these look like random rows."""
        waiting = (row for row in np.flatnonzero(self._second).tolist() if self._is_for_second(row, by))
        blind = {"label": None, "own": False, "mark": None, "rather": None, "reason": RANDOM, "random": True}
        second = [{**self.item(row, RANDOM), **blind, "again": True} for row in islice(waiting, QUEUE)]
        return [*second, *super().queue(by)]

    def _changed(self, changes: Mapping[str, Mapping[str, Any]]) -> None:
        for row, label in changes.get("labels", {}).items():
            label = self.given.get(int(row)) if label is None else label
            if label:
                self.labels[int(row)] = label
            else:
                self.labels.pop(int(row), None)

    def view(self, by: str = "") -> dict[str, Any]:
        """Return all that the page shows a person, the next rows among it."""
        return {
            **super().view(by),
            "review": self.review.column is not None,
            "agreement": agreement(self.state["second"]),
            "n_labeled": len(self.labels),
            "labels": self._labels(Counter(self.labels.values())),
            "panel": self.panel,
            "goal": self.goal,
        }

    def item(self, item: int, reason: str = "") -> dict[str, Any]:
        """Return a row with its cells, clipped, its label and what the model predicts; nothing of that for a random one."""
        row = checked_number(item, self.n_items)
        cells = [[name, *_clipped(value, _CELL_SHOWN)] for name, value in self._cells(row)]
        return {"row": row, "cells": cells, **self._facts(row), **self._suggestion(None if reason == RANDOM else row)}

    def _cells(self, row: int) -> list[tuple[str, Any]]:
        hidden = {self.target, self.review.column, self.setup.confidence}
        return [(name, value) for name, value in self.cells.row(row, named=True).items() if name not in hidden]

    def _facts(self, row: int) -> dict[str, Any]:
        key, state = str(row), self.state
        label, error = self.labels.get(row), self.label_errors.get(row)
        return {
            "label": label,
            "own": key in state["labels"],
            "mark": state["marks"].get(key),
            "note": state["notes"].get(key, ""),
            "second": state["second"].get(key),
            "changed": key in state["changed"],
            "rather": error.suggestion if error and error.label == label else None,  # else it was corrected
        }

    def _suggestion(self, row: int | None) -> dict[str, Any]:
        predictions = self.predictions
        if predictions is None or row not in self.learner.places:
            return {"suggestion": None, "confidence": None}
        label, confidence = predictions.best(self.learner.places[row])
        return {"suggestion": label, "confidence": confidence}

    def rows(self, query: str = "", show: str = "all", page: int = 0, threshold: float = 0.0) -> dict[str, Any]:
        """Return a page of the rows that hold a text and are of a kind.

        Parameters
        ----------
        query : str
            Text that a cell must hold, in any case.
        show : str
            ``all``, ``unlabeled``, ``labeled``, ``skipped``, ``unsure``, ``notes``, ``changed``, ``conflicts``, ``errors``,
            ``label:NAME``, or ``review:NAME`` for suggestions of a label to review, of all labels without a name.
        page : int
            Number of the page, from 0.
        threshold : float
            Least confidence of suggestions to review.
        """
        holding = set(self._holding(query)) if query else None  # cells never change: no lock is needed
        with self.lock:
            chosen = self._chosen(show, threshold)
            if holding is not None:
                chosen = [row for row in chosen if row in holding]
            some = chosen[page * PAGE : (page + 1) * PAGE]
            listed = [
                {
                    "row": row,
                    "text": self._text(row),
                    **self._facts(row),
                    **self._suggestion(row),
                    **self.review.of(row),
                }
                for row in some
            ]
            audit = self.review.audit(show.removeprefix("review:"), threshold) if show.startswith("review:") else None
        return {"n": len(chosen), "page": page, "pages": -(-len(chosen) // PAGE), "rows": listed, "audit": audit}

    def _text(self, row: int) -> str:
        cells = [_clipped(value, 60) for _, value in self._cells(row) if value not in (None, "")]
        return " · ".join(f"{text}…" if more else text for text, more in cells)[:_LISTED]

    def _chosen(self, show: str, threshold: float) -> Any:
        labels, name, state = self.labels, show.partition(":")[2], self.state
        filters: dict[str, Callable[[], Any]] = {
            "unlabeled": lambda: [row for row in range(self.n_items) if row not in labels],
            "labeled": lambda: sorted(labels),
            "errors": lambda: [row for row in self.label_errors if self._facts(row)["rather"]],
            "skipped": lambda: self._marked("skipped"),
            "unsure": lambda: self._marked("unsure"),
            "notes": lambda: sorted(map(int, state["notes"])),
            "changed": lambda: sorted(map(int, state["changed"])),
            "conflicts": lambda: sorted(int(row) for row, held in state["second"].items() if is_conflict(held)),
            f"review:{name}": lambda: self.review.group(name, threshold),
            f"label:{name}": lambda: sorted(row for row, label in labels.items() if label == name),
        }
        return filters.get(show, lambda: range(self.n_items))()

    def _marked(self, mark: str) -> list[int]:
        return sorted(int(row) for row, held in self.state["marks"].items() if held == mark)

    @cached_property
    def _searched(self) -> pl.Series:
        """All cells of each row in lower case."""
        names = [name for name in self.cells.columns if name != self.target]
        cells = [pl.col(name).cast(pl.String).str.to_lowercase() for name in names]
        return self.cells.select(pl.concat_str(cells, separator="\n", ignore_nulls=True).alias("row"))["row"]

    def _holding(self, query: str) -> list[int]:
        return self._searched.str.contains(query.lower(), literal=True).arg_true().to_list()

    def alike(self, row: int) -> dict[str, Any]:
        """Return the unlabeled rows that are like one, as they would be listed."""
        row = checked_number(row, self.n_items)
        if self._refreshed != self.labels:
            self.refresh()
        predictions = self.predictions
        rows = rows_alike(self.learner, row, predictions=predictions) if predictions is not None else []
        with self.lock:
            listed = [{"row": other, "text": self._text(other)} for other in rows if other not in self.labels]
        return {"row": row, "rows": listed}


def checked_share(body: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """Return a number above 0 and at most 1, or refuse it."""
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise DataError(f"studio: {name} must be a number above 0 and at most 1.")
    return float(value)


def _clipped(value: Any, most: int) -> tuple[str, int]:
    """Return the beginning of a cell, and how many letters were left out."""
    text = "" if value is None else str(value)
    return text[:most], max(len(text) - most, 0)


_MOST_UNLABELED = 5_000


def part_of(session: TableSession, n_others: int) -> tuple[list[int], Table]:
    """Return the labeled rows and some others, with the column that keeps which were chosen at random."""
    with session.lock:
        labels, at_random = dict(session.labels), set(session.random_rows)
    others = np.random.default_rng(session.seed).permutation(session.n_items)[: n_others + len(labels)].tolist()
    rows = sorted([*labels, *[row for row in others if row not in labels][:n_others]])
    part = session.table[rows]
    selection = ["random" if row in at_random else "chosen" for row in rows]
    part = replace(part, cells=part.cells.with_columns(pl.Series(SELECTION, selection)))
    return rows, as_table(part, [labels.get(row) for row in rows])


_N_SPLITS = 5
_MAX_CURVE_ROWS = 2_000


def _first_sentence(error: HandfulError) -> str:
    """Return the first sentence of an error, without where it came from."""
    text = str(error).partition(": ")[2] or str(error)
    first = text.partition(". ")[0].rstrip(".")
    return f"{first[:1].upper()}{first[1:]}."


_EXPORTED = ("marks", "notes", "people")


def labels_frame(session: TableSession) -> Any:
    """Return the cells of the file with the labels of the page, how rows were chosen, and which were skipped."""
    state = session.state
    with session.lock:
        chosen = dict.fromkeys(map(int, state["labels"]), "chosen") | dict.fromkeys(session.random_rows, "random")
        selection = {row: chosen.get(row, before) for row, before in enumerate(session.selection)}
        marks, notes, people = ({int(row): held for row, held in state[name].items()} for name in _EXPORTED)
        columns: dict[str, Mapping[int, Any]] = {session.target: dict(session.labels), SELECTION: selection}
    people = people if len(set(people.values())) > 1 else {}
    more = {"studio mark": marks, "studio note": notes, "studio annotator": people}
    columns |= {name: values for name, values in more.items() if values}
    rows = range(session.n_items)
    return session.cells.with_columns(
        pl.Series(name, [values.get(row) for row in rows], dtype=pl.String) for name, values in columns.items()
    )


def _predictions(session: TableSession, model: TableModel) -> Any:
    proba = model.predict_proba(session.table.values())
    return labels_frame(session).with_columns(
        pl.Series("prediction", [str(model.classes_[code]) for code in proba.argmax(axis=1)], dtype=pl.String),
        pl.Series("confidence", proba.max(axis=1)).round(4),
    )


class TableStudio(Studio):
    """A table on a page.

    Parameters
    ----------
    session : TableSession
        The table.
    css : Path, optional
        Style sheet that is added to that of the page.
    """

    session: TableSession

    ENDINGS: Mapping[str, str] = {"labels": "labels.csv", "predictions": "predictions.csv", "model": "handful"}

    def __init__(self, session: TableSession, css: Path | None = None) -> None:
        super().__init__(session, css)
        self.learning = Worker(session.refresh, failed=self._failed)
        works = (self.measure_accuracy, self.measure_curve, self.find_errors)
        self.measuring = Worker(*works, failed=self._failed)
        self.threads = [self.learning, self.measuring]
        threading.Thread(target=lambda: session._searched, daemon=True, name="studio search").start()

    def on_alike(self, query: Mapping[str, str]) -> Any:
        """Return the unlabeled rows that are like one."""
        return self.session.alike(number(query, "row"))

    def on_map(self, query: Mapping[str, str]) -> Any:
        """Return a map on which labels spread."""
        return self.session.play(query.get("kind", "spread"))

    def on_rows(self, query: Mapping[str, str]) -> Any:
        """Return a page of rows."""
        page, threshold = number(query, "page"), number(query, "threshold") / 100
        return self.session.rows(query.get("query", ""), query.get("show", "all"), page, threshold)

    def measure_accuracy(self) -> None:
        """Estimate accuracy on the rows that were chosen at random."""
        session = self.session
        with session.lock:
            labels, at_random = dict(session.labels), session.random_rows
        n_needed = max(MIN_RANDOM - len(at_random), 0)
        estimate = None if n_needed else estimate_accuracy(session.learner, at_random, labels)
        session.publish(n_needed=n_needed, audit=estimate and asdict(estimate), error=None)

    def measure_curve(self) -> None:
        """Measure the learning curve, and forecast it."""
        session = self.session
        _, part = part_of(session, _MAX_CURVE_ROWS)
        try:
            curve = learning_curve(part, goal=session.goal, n_splits=_N_SPLITS, random_state=session.seed)
        except HandfulError as error:
            session.publish(refused=_first_sentence(error), curve=None, forecast=None, goal=None)
            return
        ahead, goal = curve.forecast, curve.goal and curve.goal.text
        drawn = {"n": curve.sizes, "mean": curve.mean, "low": curve.low, "high": curve.high} if curve.sizes else None
        forecast = ahead and {"n": ahead.n_labels, "mean": ahead.score, "low": ahead.low, "high": ahead.high}
        session.publish(curve=drawn, forecast=forecast, refused=curve.refused, goal=goal)

    def find_errors(self) -> None:
        """Look for likely label errors."""
        rows, part = part_of(self.session, 0)
        errors = None
        with suppress(HandfulError):  # too few labels
            errors = find_label_errors(part, random_state=self.session.seed)
        with self.session.lock:
            self.session.label_errors = {rows[one.row]: one for one in errors or ()}
        self.session.publish(n_errors=None if errors is None else len(errors))

    def export(self, what: str) -> Path:
        """Write labels, predictions or a model, the ensemble, next to the data."""
        from handful.data.tabular import write_frames
        from handful.persistence.model_file import save

        if what not in self.ENDINGS:
            return super().export(what)
        target = self.session.export_path(self.ENDINGS[what])
        if what == "labels":
            write_frames(target, [labels_frame(self.session)])
        elif what == "predictions":
            write_frames(target, [_predictions(self.session, self._model())])
        else:
            save(self._model(), target)
        return target

    def _model(self) -> TableModel:
        from handful.comparison.fit import fit_method
        from handful.comparison.tables import labeled_table

        if len(set(self.session.labels.values())) < 2:
            raise DataError("studio: a model needs labels of two classes at least. Label some rows first.")
        table = labeled_table(part_of(self.session, _MOST_UNLABELED)[1])
        return fit_method(table, "ensemble", text=self.session.learner.text, seed=self.session.seed)

    def _failed(self, error: Exception) -> None:
        self.session.publish(error=f"The model could not be updated: {error}")

    def on_goal(self, body: Mapping[str, Any]) -> Any:
        """Set the accuracy that is aimed at."""
        self.session.goal = checked_share(body, "goal")
        self.measuring.wake()
        return {"goal": self.session.goal}
