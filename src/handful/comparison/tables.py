"""Trials on tables."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from handful.comparison.splits import LabeledKFold, Splits
from handful.comparison.statistics import Design
from handful.comparison.trials import (
    METRICS,
    Experiment,
    Trial,
    TrialResult,
    compared_methods,
    score_of,
)
from handful.data.checks import check_classes
from handful.data.labels import UNLABELED
from handful.data.table import Table, as_table
from handful.errors import DataError, ParameterError
from handful.models.confidence import own_shares
from handful.preprocessing.table_encoder import Rows, TableEncoder, text_cells
from handful.registry import MethodSpec, all_methods, get_method
from handful.report.content import MajorityClass, MethodScore


def majority_class(codes: np.ndarray, classes: np.ndarray, metric: str) -> MajorityClass:
    """Return the most frequent label and the score of always predicting it.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row, -1 where it is not known.
    classes : ndarray
        The labels.
    metric : {"accuracy", "balanced_accuracy", "f1_macro"}
        What is scored.

    Returns
    -------
    MajorityClass
        The label, how many of the labels it has, and its score on the labeled rows.

    Examples
    --------
    >>> codes, classes = np.array([0, 1, 0, 0, -1]), np.array(["a", "b"])
    >>> [majority_class(codes, classes, metric).score for metric in ("accuracy", "balanced_accuracy")]
    [0.75, 0.5]
    """
    counts = np.bincount(codes[codes >= 0].astype(np.int64), minlength=len(classes))
    most = int(counts.argmax())
    confusion = np.zeros((len(counts), len(counts)), dtype=np.int64)
    confusion[:, most] = counts
    return MajorityClass(str(classes[most]), int(counts[most]), int(counts.sum()), score_of(confusion, metric))


def labeled_table(
    X: Any,
    y: Any = None,
    *,
    columns: Mapping[str, str] | None = None,
    max_unlabeled: int = 5_000,
    seed: int = 0,
    who: str = "compare",
) -> Table:
    """Return a table whose labels a method can learn from.

    Parameters
    ----------
    X, y, columns, max_unlabeled, seed
        As for `handful.data.table.as_table`.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    Table
        The rows.

    Examples
    --------
    >>> labeled_table(["good film", "bad film", "dull film"], ["+", "-", None]).kinds
    {'text': 'text'}
    """
    if y is None and not isinstance(X, Table):
        raise ParameterError(f"{who}: y is missing. Give labels, or the name of their column.")
    table = as_table(X, y, columns=columns, max_unlabeled=max_unlabeled, seed=seed)
    check_classes(table.labels, f"column {table.target!r}" if table.target else "y")
    if not table.kinds:
        reasons = "; ".join(str(notice).rstrip(".") for notice in table.notices if notice.column is not None)
        raise DataError(f"{table.name}: no column to learn from. {reasons}".strip())
    return table


_FOLDS = 3
_SEARCH_UNLABELED = 500
_SEARCH_LABELS = 40
_SEARCH_PER_CLASS = 8


def choose_params(spec: MethodSpec, train: Any, codes: np.ndarray, seed: int) -> dict[str, Any]:
    """Choose parameters by cross-validation among the labeled training rows.

    Parameters
    ----------
    spec : MethodSpec
        The method.
    train : matrix
        Training rows.
    codes : ndarray of int64
        Their classes, -1 where unlabeled.
    seed : int
        Seed of the folds and the method.

    Returns
    -------
    dict of str to value
        One parameter chosen after the other. Another value than the default is taken only where it is correct more often
        by one standard deviation of the rows on which the two differ. With less than 40 labels, or 8 per class, the defaults
        are taken. At most 500 unlabeled rows take part, so that the search costs no more than the fit.
    """
    best = spec.default_params
    labeled = np.flatnonzero(codes >= 0)
    n_classes = len(np.unique(codes[labeled]))
    if not best or len(labeled) < max(_SEARCH_LABELS, _SEARCH_PER_CLASS * n_classes):
        return best
    unlabeled = np.random.default_rng(seed).permutation(np.flatnonzero(codes < 0))[:_SEARCH_UNLABELED]
    rows = np.sort(np.concatenate([labeled, unlabeled]))
    part, part_codes = train[rows], codes[rows]
    names = np.where(part_codes >= 0, part_codes, None)  # codes {-1, +1} could be read in two ways
    folds = list(LabeledKFold(_FOLDS, random_state=seed).split(part, names))

    def correct(params: Mapping[str, Any]) -> np.ndarray:
        return np.concatenate([_correct(spec, params, part, part_codes, fold, seed) for fold in folds])

    usual = correct(best)
    for name, values in spec.grid.items():
        for value in values[1:]:
            other = correct({**best, name: value})
            if int(other.sum()) - int(usual.sum()) > np.sqrt((other != usual).sum()):
                best, usual = {**best, name: value}, other
    return best


def _correct(
    spec: MethodSpec,
    params: Mapping[str, Any],
    rows: Any,
    codes: np.ndarray,
    fold: tuple[np.ndarray, np.ndarray],
    seed: int,
) -> np.ndarray:
    train, test = fold
    wrong = np.zeros(len(test), dtype=bool)
    present = np.unique(codes[train][codes[train] >= 0])
    if len(present) < 2:
        return wrong
    # Methods may expect codes without gaps, which classes that are missing from this fold would leave.
    dense = np.where(codes[train] >= 0, np.searchsorted(present, codes[train]), UNLABELED)
    try:
        model = spec.make_estimator(rows.shape[1], seed, params).fit(rows[train], dense)
        predicted = np.asarray(model.predict(rows[test])).astype(np.int64)
    except ValueError:
        return wrong  # such as more neighbors than rows
    return np.asarray(present[predicted] == codes[test])


Matrices: TypeAlias = tuple[Any, np.ndarray, Any, np.ndarray]
_ENOUGH_UNLABELED = 10  # unlabeled rows per labeled one from which on encoders are learned from these alone
_CACHED_SPLITS = 6
_FOR_TEXTS = ("complement-nb", "naive-bayes-em")
_HELD = 200  # tested rows of a trial whose confidence is kept
_BALANCE = {"accuracy": 0.0, "balanced_accuracy": 0.75, "f1_macro": 0.5}
_DEFAULT_BALANCE = 0.5  # where balanced accuracy was not asked for


class TableExperiment(Experiment):
    """Trials of methods on one table.

    Parameters
    ----------
    table : Table
        The table.
    splits : Splits
        Which rows are for training and for testing.
    metric : {"accuracy", "balanced_accuracy", "f1_macro"}
        What is scored.
    max_unlabeled : int
        Unlabeled training rows of a split at most.
    seed : int
        Seed of methods.
    extra : mapping of str to MethodSpec, optional
        Methods that are not registered.
    text : {"words", "lsa"} or Encoder
        How texts are encoded.
    is_default_metric : bool
        Whether nobody asked for this metric.

    Notes
    -----
    Scales, categories and word weights are learned from training rows, never from tested ones. Where at least ten rows are
    unlabeled for each labeled one, they are learned from these, once for all splits; otherwise once for each split.
    """

    def __init__(
        self,
        table: Table,
        splits: Splits,
        metric: str,
        max_unlabeled: int,
        seed: int,
        *,
        extra: Mapping[str, MethodSpec] | None = None,
        text: Any = "lsa",
        is_default_metric: bool = False,
    ) -> None:
        super().__init__(table.name, metric, seed)
        self.table = table
        self.splits = splits
        self.max_unlabeled = max_unlabeled
        self.text = text
        self.is_default_metric = is_default_metric
        self._extra = dict(extra or {})
        self._everything: Any = None
        self._cache: dict[tuple[int, int], Matrices] = {}

    @property
    def design(self) -> Design:
        """How scores are measured."""
        splits = self.splits
        counts = np.bincount(self.table.codes[self.table.labeled])
        tested = counts[counts > 0] * splits.n_test / counts.sum()
        # The variance of a mean over classes is the sum of theirs over the square of their number.
        balanced = float(len(tested) ** 2 / (1 / np.maximum(tested, 1.0)).sum())
        n_test = float(splits.n_test) if self.metric == "accuracy" else balanced
        return Design(splits.test_ratio, n_test, splits.n_folds, splits.n_labels, metric=METRICS[self.metric])

    @property
    def key(self) -> Sequence[Any]:
        """All that results depend on, for the log."""
        table, frame = self.table, self.table.values()
        cells = str(frame) if any(dtype.is_nested() for dtype in frame.dtypes) else frame.write_csv()
        text = self.text if isinstance(self.text, str) else self.text.digest
        facts = [cells, table.codes.tolist(), dict(table.kinds), table.classes.tolist()]
        return [facts, self.splits.n_labels, self.metric, self.is_default_metric, self.max_unlabeled, self.seed, text]

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts on the table for a report."""
        table = self.table
        return {
            "rows in the data": table.n_rows_read,
            "rows with a label": len(table.labeled),
            "classes": len(table.classes),
        }

    @property
    def columns(self) -> Mapping[str, str]:
        """Columns and their kinds."""
        return dict(self.table.kinds)

    @property
    def notes(self) -> Sequence[str]:
        """What to know about the table."""
        return [str(notice) for notice in self.table.notices]

    def set_params(self, name: str, params: Mapping[str, Any]) -> None:
        """Fix parameters of a method, which are not searched for then."""
        spec = self.spec(name)
        self._extra[name] = replace(spec, grid={key: (value,) for key, value in params.items()})

    def spec(self, name: str) -> MethodSpec:
        """Return the description of a method."""
        return self._extra[name] if name in self._extra else get_method(name, "table")

    def method(self, name: str) -> Any:
        """Return what to fit by this name: a classifier or the name of a registered method."""
        return getattr(self.spec(name).build, "estimator", name)

    def lines(self, methods: Sequence[str] | None, *, controls: bool = True) -> tuple[MethodScore, ...]:
        """Return the methods to compare; see `compared_methods`."""
        chosen = None if methods is None else [self.spec(name).name for name in methods]
        if chosen is None or controls:
            known = {**{spec.name: spec for spec in all_methods("table")}, **self._extra}
        else:  # methods that are not asked for are not imported
            known = {name: self.spec(name) for name in chosen}
        kinds = set(self.table.kinds.values())
        if "text" not in kinds:
            known = {name: spec for name, spec in known.items() if name not in _FOR_TEXTS or name in (chosen or ())}
        return compared_methods(known, chosen, controls=controls)

    def prepare(self, report: Callable[[str], Any]) -> None:
        """Encode texts, and learn columns from unlabeled rows where these are many."""
        table, frame = self.table, self.table.values()
        if not isinstance(self.text, str):
            for name in (name for name, kind in table.kinds.items() if kind == "text"):  # the encoder remembers them
                self.text.encode(
                    text_cells(frame[name]), lambda n, total: report(f"Encoding texts: {n:,} of {total:,}.")
                )
        if self.splits.hides_labels or len(table.unlabeled) < _ENOUGH_UNLABELED * len(table.labeled):
            return
        rng = np.random.default_rng([self.seed, 2])
        unlabeled = np.sort(rng.permutation(table.unlabeled)[: self.max_unlabeled])
        rows = np.concatenate([unlabeled, table.labeled])
        encoder = TableEncoder.learn(frame[unlabeled], table.columns, text=self.text)
        matrix = _stacked(encoder.transform(frame[unlabeled]), encoder.transform(frame[table.labeled]))
        order = np.argsort(rows, kind="stable")
        self._everything = (rows[order], matrix[order])

    def matrices(self, number: int, n_labels: int) -> Matrices:
        """Return the training rows of a split, their codes, the tested rows and theirs."""
        key = (number, n_labels)
        if key not in self._cache:
            while len(self._cache) >= _CACHED_SPLITS:
                del self._cache[next(iter(self._cache))]
            self._cache[key] = self._encode(number, n_labels)
        return self._cache[key]

    def params_for(self, model: Any) -> dict[str, Any]:
        """Return what the metric changes of a method that can aim at it."""
        settings = model.get_params(deep=False)
        if self.metric != "accuracy" and settings.get("metric") in METRICS:
            return {"metric": self.metric}
        balance = _DEFAULT_BALANCE if self.is_default_metric else _BALANCE[self.metric]
        return {"balance": balance} if self.metric != "accuracy" and "balance" in settings else {}

    def _run(self, trial: Trial) -> TrialResult:
        start = time.perf_counter()
        spec = self.spec(trial.method)
        train, codes, test, truth = self.matrices(trial.split, trial.n_labels)
        if trial.supervised or not spec.uses_unlabeled:
            train, codes = train[codes >= 0], codes[codes >= 0]
        params = choose_params(spec, train, codes, self.seed)
        model = spec.make_estimator(train.shape[1], self.seed, params)
        if "class_priors" in model.get_params(deep=False):
            model.set_params(class_priors="labels")  # the tested rows have the class frequencies of the labels
        more = self.params_for(model)
        model.set_params(**more)
        began = time.process_time()  # CPU time does not depend on what else the machine does
        model.fit(train, codes)
        fitted = time.process_time()
        predicted = np.asarray(model.predict(test)).astype(np.int64)
        done = time.process_time()
        n_classes = len(self.table.classes)
        confusion = np.bincount(truth * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes)
        few = slice(0, _HELD)
        confidence = own_shares(model, test[few]).max(axis=1)
        kept = getattr(model, "kept_", None)
        return TrialResult(
            trial,
            score_of(confusion, self.metric),
            confusion.tolist() if n_classes <= 50 else [],
            {**params, **more},
            time.perf_counter() - start,
            fitted - began,
            (done - fitted) / len(truth) * 1_000,
            len(pickle.dumps(model, protocol=5)),
            None if kept is None else len(kept),
            confidence=confidence.round(4).tolist(),
            correct="".join("01"[int(c)] for c in predicted[few] == truth[few]),
        )

    def _encode(self, number: int, n_labels: int) -> Matrices:
        split, table, frame = self.splits[number], self.table, self.table.values()
        labeled, unlabeled = split.training(n_labels, self.max_unlabeled)
        if self._everything is not None:
            known, matrix = self._everything
            unlabeled = known[table.codes[known] < 0]
        rows = np.sort(np.concatenate([labeled, unlabeled]))
        codes = np.full(len(rows), UNLABELED, dtype=np.int64)
        codes[np.searchsorted(rows, labeled)] = table.codes[labeled]
        truth = table.codes[split.test].astype(np.int64)
        if self._everything is not None:
            return matrix[np.searchsorted(known, rows)], codes, matrix[np.searchsorted(known, split.test)], truth
        encoder = TableEncoder.learn(frame[rows], table.columns, text=self.text)
        return encoder.transform(frame[rows]), codes, encoder.transform(frame[split.test]), truth


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, Rows):
        return Rows.stack(first, second)
    return sparse.csr_matrix(sparse.vstack([first, second])) if sparse.issparse(first) else np.vstack([first, second])
