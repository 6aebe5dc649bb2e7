"""Encoded rows, cross-validated probabilities, and accuracy on random rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.data.checks import SELECTION
from handful.data.table import Table
from handful.errors import DataError
from handful.preprocessing.table_encoder import TableEncoder

if TYPE_CHECKING:
    from handful.active.query import ActiveLearner

DEFAULT_METHOD = "ensemble"
MIN_RANDOM = 20  # random rows: with fewer an interval is wider than 40 points
_N_FOLDS = 5
_MAX_UNLABELED = 300  # rows that a cross-validated model gets beside the labeled ones
_N_TREES = 50


def encode_table(table: Table, *, who: str, text: Any = "lsa") -> tuple[Any, TableEncoder]:
    """Return the rows of a table as a matrix, encoded as `handful.fit` does, and the encoder.

    Examples
    --------
    >>> from handful.data.table import as_table
    >>> encode_table(as_table([[0.0], [2.0]]), who="suggest")[0].tolist()
    [[-1.0], [1.0]]
    """
    if not table.kinds and len(table) > 1:
        reasons = "; ".join(str(notice).rstrip(".") for notice in table.notices if notice.column is not None)
        raise DataError(f"{who}: no column to learn from. {reasons}".strip())
    encoder = TableEncoder.learn(table.values(), table.columns, text=text)
    if not table.kinds:
        return np.zeros((len(table), 1)), encoder
    return encoder.transform(table.values()), encoder


def selected_at_random(table: Table) -> np.ndarray | None:
    """Return which rows a query strategy did not choose, by the column that `handful next` writes; None without it."""
    if SELECTION not in table.cells.columns:
        return None
    return np.array([cell != "chosen" for cell in table.cells[SELECTION].to_list()])


def class_proba(model: Any, rows: Any, codes: np.ndarray, test: np.ndarray, n_classes: int, seed: int) -> np.ndarray:
    """Fit a model quickly to the rows that have a code and return probabilities of others, for every class.

    Parameters
    ----------
    model : str or classifier
        Method for tables.
    rows : matrix
        Encoded rows.
    codes : ndarray of int
        Class of each row, -1 where unlabeled.
    test : ndarray of int
        Rows to predict.
    n_classes : int
        Number of classes; those without a row have probability 0.
    seed : int
        Seed.

    Returns
    -------
    ndarray of shape (n_test, n_classes)
        Each row sums to 1.
    """
    from handful.models.table_model import spec_for

    present = np.unique(codes[codes >= 0])
    proba = np.zeros((len(test), n_classes))
    if len(present) < 2:
        proba[:, present] = 1.0
        return proba
    spec = spec_for(model)
    params = {"quick": True, "n_trees": _N_TREES} if spec.name == "ensemble" else {}
    spare = np.random.default_rng(seed).permutation(np.flatnonzero(codes < 0))[:_MAX_UNLABELED]
    used = np.sort(np.concatenate([np.flatnonzero(codes >= 0), spare]))
    dense = np.where(codes[used] >= 0, np.searchsorted(present, codes[used]), -1)
    shown = slice(None) if spec.uses_unlabeled else dense >= 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with few labels there is nothing new in a warning that they are few
        fitted = spec.make_estimator(rows.shape[1], seed, params).fit(rows[used][shown], dense[shown])
        proba[:, present[np.asarray(fitted.classes_).astype(np.int64)]] = fitted.predict_proba(rows[test])
    return proba


def train_and_test(folds: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the training and the held-out rows of every fold."""
    return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]


@dataclass(frozen=True)
class AccuracyEstimate:
    """Accuracy on rows that were chosen at random.

    Parameters
    ----------
    n_rows, n_correct : int
        Rows, and correct predictions.
    accuracy, low, high : float
        Accuracy and its 90% interval (Wilson 1927).
    """

    n_rows: int
    n_correct: int
    accuracy: float
    low: float
    high: float


def wilson_interval(n_correct: float, n: float, df: float = math.inf) -> tuple[float, float]:
    """Return the 90% interval of a proportion (Wilson 1927), with quantiles of Student's t where `df` is finite.

    Examples
    --------
    >>> low, high = wilson_interval(18, 20)
    >>> round(low, 3), round(high, 3)
    (0.738, 0.966)
    """
    if math.isinf(df):  # threads of the studio call this at once, and scipy.stats takes long to import
        quantile = NormalDist().inv_cdf(0.95)
    else:
        from scipy.stats import t

        quantile = float(t.ppf(0.95, df))
    p, square = n_correct / n, quantile**2
    center = (p + square / (2 * n)) / (1 + square / n)
    half = math.sqrt(square * (p * (1 - p) / n + square / (4 * n * n))) / (1 + square / n)
    return max(center - half, 0.0), min(center + half, 1.0)


def estimate_accuracy(
    learner: ActiveLearner, rows: Iterable[int], labels: Mapping[int, Any] | None = None
) -> AccuracyEstimate | None:
    """Estimate the accuracy of a learner's model by cross-validation on rows that were chosen at random.

    Parameters
    ----------
    learner : ActiveLearner
        The table.
    rows : iterable of int
        Labeled rows that were chosen at random. Rows chosen by a strategy are harder than others: they train, and are
        never tested on.
    labels : mapping of int to label, optional
        Labels by row; those of the learner by default.

    Returns
    -------
    AccuracyEstimate or None
        None without two classes or such a row.

    Notes
    -----
    Each of at most five folds of the random rows is predicted by a model trained on all other labels.

    Examples
    --------
    >>> from handful.active.query import ActiveLearner
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> learner = ActiveLearner(X, ["a", "a", None, "b", "b", None])
    >>> estimate = estimate_accuracy(learner, [1, 4])
    >>> estimate.n_correct, estimate.n_rows
    (2, 2)
    """
    labels = dict(learner.labels if labels is None else labels)
    places = learner.places
    tested = sorted({int(row) for row in rows if row in labels and row in places})
    classes = sorted(set(labels.values()), key=str)
    if not tested or len(classes) < 2:
        return None
    by_label = {label: code for code, label in enumerate(classes)}
    codes = np.full(len(learner.pool), -1)
    for row in labels.keys() & places.keys():
        codes[places[row]] = by_label[labels[row]]
    at = np.array([places[row] for row in tested])
    n_correct = 0
    for fold in np.array_split(np.random.default_rng(0).permutation(at), min(_N_FOLDS, len(at))):
        known = codes.copy()
        known[fold] = -1
        if (known >= 0).any():
            proba = class_proba(learner.method, learner.rows, known, fold, len(classes), learner.seed)
            n_correct += int((proba.argmax(axis=1) == codes[fold]).sum())
    return AccuracyEstimate(len(at), n_correct, n_correct / len(at), *wilson_interval(n_correct, len(at)))
