"""Active learning: which rows to label next, with the model that predicts."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handful.active.estimates import DEFAULT_METHOD, encode_table, selected_at_random
from handful.active.strategies import STRATEGIES, QueryState, as_points, margins, neighbors, small_clusters
from handful.data.labels import UNLABELED, Labels, code_of
from handful.data.table import as_table
from handful.errors import DataError, ParameterError, Progress, Step, counted
from handful.models.table_model import TableModel
from handful.preprocessing.table_encoder import EncodedTable, choose_text

RANDOM_EVERY = 5  # every fifth row is chosen at random, to measure accuracy
NEW_CLUSTER, KNOWN_CLUSTER, OUTLIER, RANDOM = (
    "new cluster, no labels yet",
    "cluster with labels, to confirm them",
    "outlier",
    "random check",
)
_UNCERTAIN = 0.4  # lead of the best class: below it a row lies between two
_OUTLIERS = 0.05  # of all rows
_MAX_EMBEDDED = 2_000  # rows of the pool where texts have embeddings, of which a hundred take a second
_N_STEPS = 4  # of the preparation: rows, points, neighbors, small clusters


@dataclass(frozen=True)
class Suggestion:
    """A row worth labeling.

    Parameters
    ----------
    row : int
        Its number in `X`.
    reason : str
        Why it was chosen.
    suggestion : object
        The label that the model predicts; None while there are no labels, and for random checks, so that the check is not
        influenced by the model.
    confidence : float or None
        Probability of the suggestion.
    random : bool
        Whether it was chosen at random. Accuracy is measured on such rows only.
    """

    row: int
    reason: str
    suggestion: Any = None
    confidence: float | None = None
    random: bool = False


@dataclass(frozen=True, eq=False)
class Predictions:
    """Probabilities of the rows of the pool, and the predicted code of each."""

    classes: list[Any]
    proba: np.ndarray
    codes: np.ndarray

    def best(self, at: int) -> tuple[Any, float]:
        """Return the predicted label of a place in the pool, and its probability."""
        code = int(self.codes[at])
        return self.classes[code], float(self.proba[at, code])


def random_places(n: int, n_labels: int, every: int) -> list[bool]:
    """Return which of the next `n` items are chosen at random: every so often, counted from the first label.

    Examples
    --------
    >>> random_places(6, n_labels=3, every=5)
    [False, True, False, False, False, False]
    """
    return [every > 0 and (n_labels + number + 1) % every == 0 for number in range(n)]


def interleaved(at_random: Sequence[bool], chosen: Iterable[int], spare: Iterable[int]) -> list[tuple[int, bool]]:
    """Return chosen items, and random ones from `spare` where wanted or where no chosen one is left, with which is which.

    Examples
    --------
    >>> interleaved([False, True, False], [7], [1, 2])
    [(7, False), (1, True), (2, True)]
    """
    chosen, spare = iter(chosen), iter(spare)
    picked: list[tuple[int, bool]] = []
    for drawn in at_random:
        item = None if drawn else next(chosen, None)
        picked.append((next(spare), True) if item is None else (item, False))
    return picked


def suggest(
    X: Any,
    y: Any = None,
    n: int = 20,
    strategy: str = "auto",
    random_state: int = 0,
    progress: Progress | None = None,
    *,
    model: Any = None,
    columns: Mapping[str, Any] | None = None,
) -> list[Suggestion]:
    """Choose the rows to label next (active learning).

    Parameters
    ----------
    X : Table, data frame, array, sparse matrix, or list of str
        Rows, labeled and unlabeled.
    y : array-like or str, optional
        Labels, or the name of their column in a data frame; ``None``, ``NaN`` or (among integers) -1 mark
        unlabeled rows. Without it no row has a label.
    n : int, default=20
        How many rows.
    strategy : {"auto", "margin", "random"}, default="auto"
        *margin* takes rows between two classes; *random* any. *auto*
        takes rows whose labels reduce the variance of a Gaussian process most; with two
        classes, also rows whose labels are expected to leave the fewest errors. Every fifth row is chosen at random, so
        that accuracy can be measured.
    random_state : int, default=0
        Seed.
    progress : callable, optional
        Called after each step of the preparation.
    model : str, classifier or fitted TableModel, optional
        Predicts the suggestions; the ensemble by default.
    columns : mapping of str to kind, optional
        Kinds of columns.

    Returns
    -------
    list of Suggestion
        The most useful first; fewer than `n` where fewer are unlabeled.

    Examples
    --------
    >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> [one.row for one in suggest(rows, ["a", None, None, None, None, None], n=1)]
    [5]
    """
    learner = ActiveLearner(X, y, model, columns=columns, random_state=random_state, progress=progress)
    return learner.next(n, strategy)


class ActiveLearner:
    """Chooses rows to label and suggests their labels, with the model that `handful.fit` would fit.

    Parameters
    ----------
    X : Table, data frame, array, sparse matrix, or list of str
        Rows, labeled and unlabeled.
    y : array-like or str, optional
        Labels so far, or the name of their column in a data frame.
    model : str, classifier or fitted TableModel, optional
        A method or classifier is fitted whenever suggestions are needed after labels changed, a fitted model is used as it
        is. The ensemble by default.
    columns : mapping of str to kind, optional
        Kinds of columns.
    random_every : int, default=5
        Every how many rows one is chosen at random; 0 for none.
    random_state : int, default=0
        Seed.
    max_pool : int, default=10000
        Most rows that are considered: of a longer table, rows chosen at random and all labeled ones. With embeddings of
        texts at most 2,000.
    progress : callable, optional
        Called after each step of the preparation.

    Attributes
    ----------
    labels : dict of int to label
        Labels by row.
    random_rows : set of int
        Rows that were chosen at random. Their labels train the model, and play no part in choosing others: where a
        strategy avoids what is near them, a model that has not seen them does worse there than elsewhere.

    Examples
    --------
    >>> learner = ActiveLearner([[0.0], [0.1], [5.0], [5.1]])
    >>> learner.label(0, "a")
    >>> learner.label(2, "b")
    >>> [(one.row, one.suggestion) for one in learner.suggest([1, 3])]
    [(1, 'a'), (3, 'b')]
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        model: Any = None,
        *,
        columns: Mapping[str, Any] | None = None,
        random_every: int = RANDOM_EVERY,
        random_state: int = 0,
        max_pool: int = 10_000,
        progress: Progress | None = None,
    ) -> None:
        report = _reporter(progress)
        table = as_table(X, y, columns=columns)
        self.n_rows = len(table)
        self.labels: dict[int, Any] = {}
        if table.labels is not None:
            self.labels = dict(
                zip(table.labeled.tolist(), table.classes[table.codes[table.labeled]].tolist(), strict=True)
            )
        at_random = selected_at_random(table)
        self.random_rows = set() if at_random is None else set(np.flatnonzero(at_random).tolist()) & self.labels.keys()
        self.model = model
        self.random_every = random_every
        self.seed = random_state
        # The order of random rows is fixed, so random checks do not depend on what was labeled since.
        self.shuffled = np.random.default_rng(random_state).permutation(self.n_rows)
        self.pool = np.arange(self.n_rows)
        self.text, _ = choose_text(table)  # as `handful.fit` does, so that suggestions are what its model predicts
        max_pool = max_pool if isinstance(self.text, str) else min(max_pool, _MAX_EMBEDDED)
        if self.n_rows > max_pool:  # texts take their time
            self.pool = np.union1d(self.shuffled[:max_pool], table.labeled)
            table = table[self.pool]
        self.places = {int(row): at for at, row in enumerate(self.pool)}
        self.rows, encoder = encode_table(table, who="suggest", text=self.text)
        self._table = EncodedTable(table.values(), table.labels or Labels(self._codes([]), np.zeros(0)), encoder)
        self._table.everything = self.rows
        report(1)
        self.points = as_points(self.rows, random_state)
        report(2)
        self.near, typicality = neighbors(self.points)
        report(3)
        clusters, centers, sizes = small_clusters(self.points, random_state)
        report(_N_STEPS)
        self._state = QueryState(
            self.points, typicality, clusters, centers, sizes, self._codes([]), 0, self._margin_proba, random_state
        )
        self._predictions: Predictions | None = None

    @property
    def method(self) -> Any:
        """The method or classifier of the model."""
        if self.model is None:
            return DEFAULT_METHOD
        return self.model.method if hasattr(self.model, "predict_with_confidence") else self.model

    @property
    def classes(self) -> list[Any]:
        """The labels so far, sorted."""
        return sorted(set(self.labels.values()), key=lambda label: (str(type(label)), label))

    def label(self, row: int, label: Any) -> None:
        """Give a row a label, or replace it; None removes it."""
        if not 0 <= row < self.n_rows:
            raise DataError(f"ActiveLearner: row must be one of the {counted(self.n_rows, 'row')}, got {row}.")
        if label is None:
            self.labels.pop(row, None)
        else:
            self.labels[row] = label
        self._predictions = None

    def update(self, labels: Mapping[int, Any]) -> None:
        """Give several rows their labels; see `label`."""
        for row, label in labels.items():
            self.label(row, label)

    def next(self, n: int = 20, strategy: str = "auto", exclude: Collection[int] = ()) -> list[Suggestion]:
        """Choose the rows to label next; see `suggest`.

        Parameters
        ----------
        n : int, default=20
            How many.
        strategy : {"auto", "margin", "random"}, default="auto"
            How; see `handful.active.strategies`.
        exclude : collection of int
            Rows that are not chosen, such as skipped ones.

        Returns
        -------
        list of Suggestion
            Rows without a label.
        """
        if n < 1:
            raise ParameterError(f"suggest: n must be at least 1, got {n}.")
        if strategy not in STRATEGIES:
            raise ParameterError(f"suggest: strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}.")
        exclude = set(exclude) - self.labels.keys()
        n_free = self.n_rows - len(self.labels) - len(exclude)
        if n_free <= 0:
            raise DataError(
                f"suggest: at least one row must be unlabeled, got {counted(self.n_rows, 'row')} that all have labels."
            )
        every = 1 if strategy == "random" else self.random_every
        at_random = random_places(min(n, n_free), len(self.labels), every)
        reasons = self._chosen(strategy, at_random.count(False), exclude | (self.random_rows & self.labels.keys()))
        taken = {*self.labels, *reasons, *exclude}
        picked = interleaved(at_random, list(reasons), (row for row in self.shuffled.tolist() if row not in taken))
        self.random_rows |= {row for row, drawn in picked if drawn}
        predicted = {one.row: one for one in self.suggest([row for row, drawn in picked if not drawn])}
        return [
            Suggestion(row, RANDOM, random=True) if drawn else replace(predicted[row], reason=reasons[row])
            for row, drawn in picked
        ]

    def _chosen(self, strategy: str, n: int, exclude: Collection[int]) -> dict[int, str]:
        """Return the rows that a strategy chooses, with reasons."""
        if not n:
            return {}
        self._state.codes, self._state.n_classes = self._codes(self.classes), len(self.classes)
        hidden = self.random_rows & self.labels.keys() & self.places.keys()
        if len(self.labels) > len(hidden):
            self._state.codes[[self.places[row] for row in hidden]] = UNLABELED
        chosen = STRATEGIES[strategy](self._state, n + len(exclude))
        chosen = [at for at in chosen if int(self.pool[at]) not in exclude][:n]
        return dict(zip(self.pool[chosen].tolist(), self._reasons(chosen), strict=True))

    def _reasons(self, chosen: list[int]) -> list[str]:
        if not chosen:
            return []
        predictions = self.predictions() if len(self.classes) > 1 else None
        lead = margins(predictions.proba) if predictions is not None else np.ones(len(self.pool))
        typicality = self._state.typicality
        outliers = typicality < np.quantile(typicality, _OUTLIERS)
        labeled = self._state.labeled
        reasons = []
        for at in chosen:
            if predictions is not None and lead[at] < _UNCERTAIN:
                second, best = np.argsort(predictions.proba[at], kind="stable")[-2:]
                reasons.append(f"uncertain: {predictions.classes[best]} or {predictions.classes[second]}")
            elif outliers[at]:
                reasons.append(OUTLIER)
            else:
                reasons.append(KNOWN_CLUSTER if labeled[self.near[at]].any() else NEW_CLUSTER)
        return reasons

    def _codes(self, classes: list[Any]) -> np.ndarray:
        """Return the class of each row of the pool, -1 where unlabeled."""
        codes, by_label = np.full(len(self.pool), UNLABELED), code_of(classes)
        for row, label in self.labels.items():
            if row in self.places and label in by_label:
                codes[self.places[row]] = by_label[label]
        return codes

    def suggest(self, rows: Iterable[int]) -> list[Suggestion]:
        """Suggest a label for some rows.

        Parameters
        ----------
        rows : iterable of int
            Rows of `X`.

        Returns
        -------
        list of Suggestion
            With an empty reason; without a suggestion where there are no two labels, or the row is not in the pool of a
            long table.
        """
        wanted = [int(row) for row in rows]
        if not wanted or (len(self.classes) < 2 and not hasattr(self.model, "classes_")):
            return [Suggestion(row, "") for row in wanted]
        predictions = self.predictions()
        places = [self.places.get(row) for row in wanted]
        return [
            Suggestion(row, "") if at is None else Suggestion(row, "", *predictions.best(at))
            for row, at in zip(wanted, places, strict=True)
        ]

    def _margin_proba(self) -> np.ndarray | None:
        return self.predictions().proba if len(self.classes) > 1 else None

    def predictions(self) -> Predictions:
        """Return what the model predicts for all rows of the pool; it is fitted first if labels changed."""
        if self._predictions is None:
            self._predictions = self._predict()
        return self._predictions

    def _predict(self) -> Predictions:
        if hasattr(self.model, "classes_"):
            classes, by_label = list(self.model.classes_), code_of(self.model.classes_.tolist())
            labels, _ = self.model.predict_with_confidence(self._table.frame)
            codes = np.array([by_label[label] for label in labels.tolist()])
            return Predictions(classes, self.model.predict_proba(self._table.frame), codes)
        classes = self.classes
        codes = self._codes(classes)
        present = np.unique(codes[codes >= 0])
        if len(present) < 2:  # labels of one class, or of rows outside the pool
            at = int(present[0]) if len(present) else 0
            return Predictions(classes, np.tile(np.eye(len(classes))[at], (len(codes), 1)), np.full(len(codes), at))
        self._table.labels = Labels(codes.astype(np.int32), np.array(classes))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # with few labels there is nothing new in a warning that they are few
            fitted = (
                TableModel(self.method, text=self.text, random_state=self.seed)
                .fit_table(self._table)
                .calibrate_on(self._table)
            )
            codes, proba = fitted.predict_encoded(self.rows)
        return Predictions(classes, proba, codes)


def _reporter(progress: Progress | None) -> Any:
    return lambda done: progress(Step("prepare", done, _N_STEPS)) if progress is not None else None


def rows_alike(learner: ActiveLearner, row: int, n: int = 50, predictions: Predictions | None = None) -> list[int]:
    """Return the unlabeled rows that are nearest to a row and for which the model predicts the same label.

    Parameters
    ----------
    learner : ActiveLearner
        The table.
    row : int
        Row of the table.
    n : int, default=50
        How many near rows to look at.
    predictions : Predictions, optional
        Those to use; by default those of the learner.

    Returns
    -------
    list of int
        The nearest first; none where the row is not in the pool of a long table.

    Examples
    --------
    >>> learner = ActiveLearner([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], ["a", None, None, "b", None, None])
    >>> rows_alike(learner, 0)
    [1, 2]
    """
    at = learner.places.get(row)
    if at is None or (predictions is None and not learner.labels):
        return []
    predictions = predictions or learner.predictions()
    label = learner.labels.get(row)
    wanted = predictions.classes.index(label) if label in predictions.classes else int(predictions.codes[at])
    distances = np.linalg.norm(learner.points - learner.points[at], axis=1)
    near = np.argsort(distances, kind="stable")[: n + 1]
    near = near[(near != at) & (predictions.codes[near] == wanted)]
    return [other for other in learner.pool[near].tolist() if other not in learner.labels]
