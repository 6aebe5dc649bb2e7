"""A table being labeled."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.active.curve import learning_curve
from handful.active.estimates import MIN_RANDOM, estimate_accuracy
from handful.active.label_errors import find_label_errors
from handful.active.playback import RowMap
from handful.active.query import RANDOM, ActiveLearner, rows_alike
from handful.data.checks import SELECTION
from handful.data.table import Table, as_table
from handful.errors import DataError, HandfulError, counted
from handful.studio.annotations import AnnotationLog, LabelingSession, checked_label, checked_number
from handful.studio.server import EventStream, Guard, make_app, number

if TYPE_CHECKING:
    from handful.active.label_errors import LabelErrors
    from handful.active.query import Predictions
    from handful.comparison.compare import Comparison
    from handful.comparison.trials import Snapshot
    from handful.models.table_model import TableModel

PAGE = 50
QUEUE = 10  # items that a page has in advance
_CELL_SHOWN = 2_000  # letters of a cell
_LISTED = 160
_MOST_ALIKE = 5_000
_MAX_POOL, _POOL_OF_LONG = 10_000, 5_000  # of a longer table fewer rows are considered, so that it opens quickly


class TableSession(LabelingSession):
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
    log : AnnotationLog
        Where actions go.
    folder : Path
        Where exports go.
    seed : int, default=0
        Seed of all chance.

    Attributes
    ----------
    labels : dict of int to str
        Labels of the file and of the page, by row.
    label_errors : LabelErrors or None
        Likely label errors, as far as they were looked for.
    predictions : Predictions or None
        Of the model, as of the last refresh.
    panel : dict
        What the labels have brought; see `handful.studio.table_session`.
    """

    kind = "table"

    def __init__(
        self,
        name: str,
        table: Table,
        target: str,
        log: AnnotationLog,
        folder: Path,
        seed: int = 0,
    ) -> None:
        super().__init__(name, len(table), log, folder)
        self.table = table
        self.cells = table.cells
        self.target = target
        self.seed = seed
        self.given = {int(row): str(table.classes[table.codes[row]]) for row in table.labeled}
        self.labels = {**self.given, **{int(row): label for row, label in self.state["labels"].items()}}
        cells = self.cells[SELECTION].to_list() if SELECTION in self.cells.columns else [None] * self.n_items
        self.selection: list[str | None] = cells
        self._given_random = [row for row, cell in enumerate(cells) if cell == "random"]
        self.label_errors: LabelErrors | None = None
        self.panel: dict[str, Any] = {}
        self.predictions: Predictions | None = None
        self._queue: list[tuple[int, str]] = []
        self._order = np.random.default_rng(seed).permutation(self.n_items).tolist()
        self.strategy = "auto"
        self._wanted: int | None = None
        self._refreshing = threading.Lock()
        self._seen: dict[int, str] = {}
        self._random_shown: set[int] = set()
        self._making = threading.Lock()

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
            changed = {row: labels.get(row) for row in learner.labels.keys() | labels.keys()}
            learner.update({row: label for row, label in changed.items() if learner.labels.get(row) != label})
            free = self.n_items - len(labels) - len(marked - labels.keys())
            queue = (
                [(one.row, one.reason) for one in learner.next(QUEUE, self.strategy, exclude=marked)]
                if free > 0
                else []
            )
            predictions = learner.predictions() if labels else None
            with self.lock:
                self._queue, self.predictions, self._seen = queue, predictions, labels
        self.tell("queue")

    def publish(self, **facts: Any) -> None:
        """Change what the side panel shows."""
        with self.lock:
            self.panel = {**self.panel, **facts}
        self.tell("panel")

    @property
    def random_rows(self) -> list[int]:
        """Labeled rows that were chosen at random, on the page or by `handful next`."""
        made = self.state["labels"]
        before = [row for row in self._given_random if row in self.labels and str(row) not in made]
        return [*(int(row) for row in self.state["audits"] if row in made), *before]

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
        if body.get("random") is True and len(rows) == 1 and int(rows[0]) in self._random_shown:
            changes["audits"] = {rows[0]: {"said": self._suggestion(int(rows[0]))["suggestion"]}}
        if label not in self.label_names():
            changes["names"] = {label: True}
        return {"do": "label", "set": changes}

    def _changed(self, changes: Mapping[str, Mapping[str, Any]], undone: bool) -> None:
        labeled = {int(row): label for row, label in changes.get("labels", {}).items()}
        for row, label in labeled.items():
            label = self.given.get(row) if label is None else label
            if label is None:
                self.labels.pop(row, None)
            else:
                self.labels[row] = label
        touched = {*labeled, *map(int, changes.get("marks", {}))}
        self._wanted = next(iter(touched)) if undone and len(touched) == 1 else None  # look at it again

    def view(self) -> dict[str, Any]:
        """Return all that the page shows, the next row among it."""
        labels = self.labels
        marks = Counter(self.state["marks"].values())
        return {
            "version": self.state.n_actions,
            "can_undo": self.state.can_undo,
            "strategy": self.strategy,
            "n_items": self.n_items,
            "n_labeled": len(labels),
            "n_marked": marks,
            "labels": self._labels(Counter(labels.values())),
            "queue": self.queue(),
            "done": [int(row) for name in ("labels", "marks") for row in list(self.state[name])[-200:]],
            "panel": self.panel,
        }

    def _spare(self) -> list[tuple[int, str]]:
        """Return rows in random order, for a queue that is not ready."""
        marked, spare = self.state["marks"], []
        queued = {row for row, _ in self._queue}
        for row in self._order:
            if row not in self.labels and str(row) not in marked and row not in queued:
                spare.append((row, RANDOM))
                if len(spare) == QUEUE:
                    break
        return spare

    def queue(self) -> list[dict[str, Any]]:
        """Return the next rows to label; a random one comes without what the model predicts."""
        marked = self.state["marks"]
        ready = [(row, reason) for row, reason in self._queue if row not in self.labels and str(row) not in marked]
        items = ready + self._spare()[: QUEUE - len(ready)]
        if not items:
            items = [(row, "skipped before") for row in sorted(map(int, marked)) if row not in self.labels][:QUEUE]
        if self._wanted is not None:
            items = [(self._wanted, "undone"), *[item for item in items if item[0] != self._wanted]]
        self._random_shown.update(row for row, reason in items if reason == RANDOM)
        hidden = {"suggestion": None, "confidence": None}
        return [
            {**self.row(row), "reason": reason, "random": reason == RANDOM, **(hidden if reason == RANDOM else {})}
            for row, reason in items
        ]

    def row(self, row: int) -> dict[str, Any]:
        """Return one row with its cells, clipped, its label and what the model predicts."""
        row = checked_number(row, self.n_items)
        cells = [[name, *_clipped(value, _CELL_SHOWN)] for name, value in self._cells(row)]
        return {"row": row, "cells": cells, **self._facts(row), **self._suggestion(row)}

    def _cells(self, row: int) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in self.cells.row(row, named=True).items() if name != self.target]

    def _facts(self, row: int) -> dict[str, Any]:
        key = str(row)
        errors = self.label_errors.errors if self.label_errors is not None else []
        error = next((one for one in errors if one.row == row), None)
        label = self.labels.get(row)
        if error is not None and error.label != label:
            error = None  # it was corrected
        return {
            "label": label,
            "own": key in self.state["labels"],
            "mark": self.state["marks"].get(key),
            "rather": None if error is None else error.suggestion,
        }

    def _suggestion(self, row: int) -> dict[str, Any]:
        predictions = self.predictions
        at = self.learner.places.get(row) if predictions is not None else None
        if predictions is None or at is None:
            return {"suggestion": None, "confidence": None}
        code = int(predictions.codes[at])
        return {"suggestion": predictions.classes[code], "confidence": float(predictions.proba[at, code])}

    def rows(self, query: str = "", show: str = "all", page: int = 0) -> dict[str, Any]:
        """Return a page of the rows that hold a text and are of a kind.

        Parameters
        ----------
        query : str
            Text that a cell must hold, in any case.
        show : str
            ``all``, ``unlabeled``, ``labeled``, ``skipped``, ``unsure``, ``errors``, or ``label:NAME``.
        page : int
            Number of the page, from 0.
        """
        holding = set(self._holding(query)) if query else None  # cells never change: no lock is needed
        with self.lock:
            chosen = self._chosen(show)
            if holding is not None:
                chosen = [row for row in chosen if row in holding]
            some = chosen[page * PAGE : (page + 1) * PAGE]
            listed = [
                {"row": row, "text": self._text(row), **self._facts(row), **self._suggestion(row)} for row in some
            ]
        return {"n": len(chosen), "page": page, "pages": -(-len(chosen) // PAGE), "rows": listed}

    def _text(self, row: int) -> str:
        return "  ".join(_clipped(value, 60)[0] for _, value in self._cells(row) if value not in (None, ""))[:_LISTED]

    def _chosen(self, show: str) -> Any:
        labels = self.labels
        if show == "unlabeled":
            return [row for row in range(self.n_items) if row not in labels]
        if show == "labeled":
            return sorted(labels)
        if show in ("skipped", "unsure"):
            return sorted(int(row) for row, mark in self.state["marks"].items() if mark == show)
        if show == "errors":
            return [d.row for d in self.label_errors or () if self._facts(d.row)["rather"]]
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
        row = checked_number(row, self.n_items)
        if self._seen != self.labels:
            self.refresh()
        predictions = self.predictions
        rows = rows_alike(self.learner, row, predictions=predictions) if predictions is not None else []
        with self.lock:
            listed = [{"row": other, "text": self._text(other)} for other in rows if other not in self.labels]
        return {"row": row, "rows": listed}


def _clipped(value: Any, most: int) -> tuple[str, int]:
    """Return the beginning of a cell, and how many letters were left out."""
    text = "" if value is None else str(value)
    return text[:most], max(len(text) - most, 0)


_MOST_UNLABELED = 5_000
_SHOWN = 10


class ComparisonThread:
    """The comparison of methods on a table that is being labeled.

    Parameters
    ----------
    session : TableSession
        The table; it is told ``"comparison"`` whenever the standing changes.
    n_jobs : int, default=-1
        Worker processes.

    Attributes
    ----------
    result : Comparison or None
        What came of the last one.
    """

    def __init__(self, session: TableSession, n_jobs: int = -1) -> None:
        self.result: Comparison | None = None
        self._session = session
        self._n_jobs = n_jobs
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._view: dict[str, Any] = {"running": False}

    def view(self) -> dict[str, Any]:
        """Return how it stands."""
        return self._view

    def start(self, minutes: float) -> None:
        """Begin, unless it is under way.

        Parameters
        ----------
        minutes : float
            Time to spend.
        """
        if self._thread is not None and self._thread.is_alive():
            raise DataError("studio: a comparison is under way. Stop it first.")
        table = labeled_rows(self._session)
        self._stop.clear()
        self._show(running=True, text="Starting", methods=[], error=None, minutes=minutes)
        self._thread = threading.Thread(target=self._run, args=(table, minutes), daemon=True, name="studio comparison")
        self._thread.start()

    def stop(self) -> None:
        """End it; what is done by then is the result."""
        self._stop.set()

    def _run(self, table: Table, minutes: float) -> None:
        from handful.comparison.compare import compare_table
        from handful.comparison.trials import Limits

        limits = Limits(minutes=minutes, n_jobs=self._n_jobs, seed=self._session.seed, watch=self._watch)
        try:
            result = compare_table(table, limits=limits)
            verdict = result.verdict
        except HandfulError as error:
            self._show(running=False, text="", error=str(error))
            return
        self.result = result
        self._show(running=False, text=verdict, state=result.state)

    def _watch(self, snapshot: Snapshot) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt  # the comparison ends as after Ctrl-C, and keeps what is done
        methods = [
            {"name": score.method, "score": score.mean, "p_best": score.p_best} for score in snapshot.scores[:_SHOWN]
        ]
        left = counted(len(snapshot.remaining), "method")
        text = f"{counted(snapshot.n_trials, 'trial')}, {left} not eliminated"
        self._show(text=text, methods=methods, seconds=snapshot.seconds)

    def _show(self, **facts: Any) -> None:
        self._view = {**self._view, **facts}
        self._session.tell("comparison")


def labeled_rows(session: TableSession) -> Table:
    """Return the labeled rows of a table and some unlabeled ones, for comparing and fitting.

    Parameters
    ----------
    session : TableSession
        The table.

    Returns
    -------
    Table
        At most 5,000 unlabeled rows, chosen at random.
    """
    from handful.comparison.tables import labeled_table

    with session.lock:
        labels = dict(session.labels)
    rng = np.random.default_rng(session.seed)
    others = [int(row) for row in rng.permutation(session.n_items)[: _MOST_UNLABELED + len(labels)]]
    rows = sorted([*labels, *[row for row in others if row not in labels][:_MOST_UNLABELED]])
    return labeled_table(session.table[rows], [labels.get(row) for row in rows])


_N_SPLITS = 5
_MAX_CURVE_ROWS = 2_000
_MAX_ERRORS = 200


class Worker(threading.Thread):
    """Does some work in a thread whenever the session changed, on its latest state.

    Parameters
    ----------
    session : TableSession
        The table.
    works : sequence of callable
        What to do, one after the other. An error ends none of them for good; it is logged, and shown on the page.
    """

    def __init__(self, session: TableSession, *works: Callable[[], None]) -> None:
        super().__init__(daemon=True, name="studio worker")
        self._session = session
        self._works = works
        self._wake = threading.Event()
        self._over = threading.Event()

    def wake(self) -> None:
        """Say that something changed."""
        self._wake.set()

    def end(self) -> None:
        """Stop at the next chance."""
        self._over.set()
        self._wake.set()

    def run(self) -> None:
        """Work whenever something changed."""
        while not self._over.is_set():
            self._wake.wait()
            self._wake.clear()
            for work in self._works:
                if self._over.is_set():
                    break
                try:
                    work()
                except Exception as error:  # a thread that dies would leave the page as it is for ever
                    logging.getLogger(__name__).exception("work of the studio failed")
                    self._session.publish(error=f"The model could not be updated: {error}")


class Panel:
    """What the labels have brought: accuracy, learning curve and likely label errors of a session."""

    def __init__(self, session: TableSession, goal: float = 0.9) -> None:
        self.goal = goal
        self._session = session

    def accuracy(self) -> None:
        """Estimate accuracy on the rows that were chosen at random."""
        session = self._session
        with session.lock:
            labels, at_random = dict(session.labels), session.random_rows
        facts: dict[str, Any] = {"n_random": len(at_random), "n_needed": max(MIN_RANDOM - len(at_random), 0)}
        estimate = estimate_accuracy(session.learner, at_random, labels) if not facts["n_needed"] else None
        session.publish(**facts, audit=None if estimate is None else asdict(estimate), error=None)

    def curve(self) -> None:
        """Measure the learning curve, and forecast it."""
        session = self._session
        part = self._part(_MAX_CURVE_ROWS)
        try:
            curve = learning_curve(part, goal=self.goal, n_splits=_N_SPLITS, random_state=session.seed)
        except HandfulError as error:
            session.publish(refused=_first_sentence(error), curve=None, forecast=None, goal=None)
            return
        ahead = curve.forecast
        session.publish(
            curve={"n": curve.sizes, "mean": curve.mean, "low": curve.low, "high": curve.high} if curve.sizes else None,
            forecast=None
            if ahead is None
            else {"n": ahead.n_labels, "mean": ahead.score, "low": ahead.low, "high": ahead.high},
            refused=curve.refused,
            goal=None if curve.goal is None else curve.goal.text,
        )

    def errors(self) -> None:
        """Look for likely label errors."""
        session = self._session
        try:
            errors = find_label_errors(self._part(0), random_state=session.seed)
        except HandfulError:
            errors = None  # too few labels
        rows = self._rows
        with session.lock:
            session.label_errors = None if errors is None else _at(errors, rows)
        session.publish(n_errors=0 if errors is None else min(len(errors.errors), _MAX_ERRORS))

    def _part(self, n_others: int) -> Table:
        """Return the labeled rows and some others, with the column that says which were chosen at random."""
        import polars as pl

        session = self._session
        with session.lock:
            labels, at_random = dict(session.labels), set(session.random_rows)
        pool = session.learner.pool
        others = np.random.default_rng(session.seed).permutation(pool)[: n_others + len(labels)]
        self._rows = sorted([*labels, *[int(row) for row in others if int(row) not in labels][:n_others]])
        part = session.table[self._rows]
        selection = ["random" if row in at_random else "chosen" for row in self._rows]
        part = replace(part, cells=part.cells.with_columns(pl.Series(SELECTION, selection)))
        return as_table(part, [labels.get(row) for row in self._rows])


def _at(errors: Any, rows: list[int]) -> Any:
    """Return errors in rows of a part as errors in rows of the table."""
    moved = [
        replace(d, row=rows[d.row], neighbors=tuple((rows[r], label, away) for r, label, away in d.neighbors))
        for d in errors.errors[:_MAX_ERRORS]
    ]
    pairs = [(rows[a], rows[b], one, other) for a, b, one, other in errors.duplicates]
    return replace(errors, errors=moved, duplicates=pairs)


def _first_sentence(error: HandfulError) -> str:
    """Return the first sentence of an error, without where it came from."""
    text = str(error).partition(": ")[2] or str(error)
    first = text.partition(". ")[0].rstrip(".")
    return f"{first[:1].upper()}{first[1:]}."


_QUICK = "ensemble"  # what is fitted where nothing was compared


def export_table(session: TableSession, comparison: ComparisonThread, what: str) -> list[Path]:
    """Write a file beside the data; the data itself stays as it is.

    Parameters
    ----------
    session : TableSession
        The table.
    comparison : ComparisonThread
        Its comparison, whose winner predicts; without one the ensemble does.
    what : {"labels", "predictions", "model", "report"}
        What to write.

    Returns
    -------
    list of Path
        The files.
    """
    from handful.persistence.model_file import save

    ending = {"labels": "labels.csv", "predictions": "predictions.csv", "model": "handful", "report": "report.html"}
    if what not in ending:
        raise DataError(f"studio: labels, predictions, model or report can be exported, got {what!r}.")
    target = export_path(session, ending[what])
    if what == "labels":
        _write(target, _labels(session))
    elif what == "report":
        if comparison.result is None:
            raise DataError("studio: the report tells of a comparison. Start one first.")
        comparison.result.to_html(target)
    else:
        model = _model(session, comparison)
        if what == "model":
            save(model, target)
        else:
            _write(target, _predictions(session, model))
    return [target]


def export_path(session: LabelingSession, ending: str) -> Path:
    """Return where an export goes: beside the data, under its name with another ending, and never onto it."""
    stem = session.name.partition(".")[0] or session.name
    name = f"{stem}.{ending}"
    return session.folder / (name if name != session.name else f"{session.name}.{ending}")


def _model(session: TableSession, comparison: ComparisonThread) -> TableModel:
    from handful.comparison.fit import fit_method

    if len(set(session.labels.values())) < 2:
        raise DataError("studio: a model needs labels of two classes at least. Label some rows first.")
    if comparison.result is not None:
        return comparison.result.fit_best(labeled_rows(session))
    return fit_method(labeled_rows(session), _QUICK, seed=session.seed)


def _labels(session: TableSession) -> Any:
    import polars as pl

    with session.lock:
        labels, marks = dict(session.labels), dict(session.state["marks"])
    column = pl.Series(session.target, [labels.get(row) for row in range(session.n_items)], dtype=pl.String)
    at_random, made = set(session.random_rows), session.state["labels"]
    chosen = [
        "random" if row in at_random else "chosen" if str(row) in made else before
        for row, before in enumerate(session.selection)
    ]
    frame = session.cells.with_columns(column, pl.Series(SELECTION, chosen, dtype=pl.String))
    if not marks:
        return frame
    told = [marks.get(str(row)) for row in range(session.n_items)]
    return frame.with_columns(pl.Series("studio mark", told, dtype=pl.String))


def _predictions(session: TableSession, model: TableModel) -> Any:
    import polars as pl

    shares = model.predict_proba(session.table.values())
    best = shares.argmax(axis=1)
    return _labels(session).with_columns(
        pl.Series("prediction", [str(model.classes_[code]) for code in best], dtype=pl.String),
        pl.Series("confidence", shares.max(axis=1)).round(4),
    )


def _write(target: Path, frame: Any) -> None:
    from handful.data.tabular import write_frames

    write_frames(target, [frame])


_MOST_MINUTES = 60.0


class TableStudio:
    """A table on a page.

    Parameters
    ----------
    session : TableSession
        The table.
    n_jobs : int, default=-1
        Worker processes of a comparison.
    """

    def __init__(self, session: TableSession, n_jobs: int = -1) -> None:
        self.session = session
        self.stream = EventStream()
        self._panel = Panel(session)
        self._learning = Worker(session, session.refresh)
        self._panel_thread = Worker(session, self._panel.accuracy, self._panel.curve, self._panel.errors)
        self._comparison = ComparisonThread(session, n_jobs)
        session.tell = self._tell

    def app(self, token: str, host: str = "127.0.0.1") -> Guard:
        """Return the application; the work beside the labeling begins.

        Parameters
        ----------
        token : str
            Secret of the link.
        host : str
            Where the server listens.
        """
        asked = {
            "view": lambda query: self._locked(self.view),
            "row": lambda query: self._locked(lambda: self.session.row(number(query, "row"))),
            "rows": lambda query: self.session.rows(
                query.get("query", ""), query.get("show", "all"), number(query, "page")
            ),
            "alike": lambda query: self.session.alike(number(query, "row")),
            "map": lambda query: self.session.play(query.get("kind", "spread")),
        }
        done = {
            "act": self._act,
            "compare": self._compare,
            "export": self._export,
            "goal": self._set_goal,
            "strategy": self._set_strategy,
        }
        for thread in (self._learning, self._panel_thread):
            thread.start()
            thread.wake()
        return make_app(self.session, token, asked=asked, done=done, stream=self.stream, host=host)

    def view(self) -> dict[str, Any]:
        """Return all that the page shows."""
        return {**self.session.view(), "comparison": self._comparison.view(), "goal": self._panel.goal}

    def close(self) -> None:
        """End all work and close the log."""
        self._comparison.stop()
        self._learning.end()
        self._panel_thread.end()
        self.stream.close()
        self.session.close()

    def _locked(self, work: Any) -> Any:
        with self.session.lock:
            return work()

    def _tell(self, what: str) -> None:
        if what == "changed":
            self._learning.wake()
            self._panel_thread.wake()
            self.stream.send("changed", {"version": self.session.state.n_actions})
        elif what == "panel":
            self.stream.send("panel", self.session.panel)
        elif what == "queue":
            self.stream.send("queue", {})
        else:
            self.stream.send("comparison", self._comparison.view())

    def _act(self, body: Mapping[str, Any]) -> Any:
        with self.session.lock:
            self.session.act(body)
            return self.view()

    def _compare(self, body: Mapping[str, Any]) -> Any:
        if body.get("stop") is True:
            self._comparison.stop()
            return self._comparison.view()
        minutes = body.get("minutes", 1.0)
        if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes <= _MOST_MINUTES:
            raise DataError(f"studio: minutes must be above 0 and at most {_MOST_MINUTES:g}.")
        self._comparison.start(float(minutes))
        return self._comparison.view()

    def _export(self, body: Mapping[str, Any]) -> Any:
        files = export_table(self.session, self._comparison, str(body.get("what")))
        return {"files": [str(file) for file in files]}

    def _set_goal(self, body: Mapping[str, Any]) -> Any:
        goal = body.get("goal")
        if isinstance(goal, bool) or not isinstance(goal, int | float) or not 0 < goal <= 1:
            raise DataError("studio: the goal must be a share above 0 and at most 1, such as 0.9.")
        self._panel.goal = float(goal)
        self._panel_thread.wake()
        return {"goal": self._panel.goal}

    def _set_strategy(self, body: Mapping[str, Any]) -> Any:
        if body.get("strategy") not in ("auto", "random"):
            raise DataError("studio: the strategy must be auto or random.")
        self.session.strategy = body["strategy"]
        self._learning.wake()
        return {"strategy": self.session.strategy}
