"""Few-label draws and splitters that leave unlabeled rows in training and out of scoring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
from sklearn.utils import _safe_indexing

from handful.core.errors import DataError
from handful.core.labels import encode_labels, labeled_part
from handful.core.params import AtLeast, check_params


def few_labels(codes: np.ndarray, n_labels: int, rng: np.random.Generator) -> np.ndarray:
    """Choose rows that keep their label: at least one of each class, the rest in proportion.

    Parameters
    ----------
    codes : ndarray of int
        Class of every row, -1 where unlabeled.
    n_labels : int
        How many rows keep their label.
    rng : numpy.random.Generator
        Source of chance.

    Returns
    -------
    ndarray of int64
        Row numbers in an order such that every beginning that holds all classes is itself a draw: draws of different
        sizes with the same `rng` state are nested.

    Examples
    --------
    >>> rows = few_labels(np.array([0, 0, 0, 1, 1, -1]), 3, np.random.default_rng(0))
    >>> sorted(np.array([0, 0, 0, 1, 1, -1])[rows].tolist())
    [0, 0, 1]
    """
    codes = np.asarray(codes)
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise DataError("few_labels: codes must be a one-dimensional array of integers.")
    labeled = np.flatnonzero(codes >= 0)
    classes = np.unique(codes[labeled])
    if not len(classes) <= n_labels <= len(labeled):
        raise DataError(
            f"few_labels: the number of labels must be between the number of classes ({len(classes)}) and the number of "
            f"labeled rows ({len(labeled)}), got {n_labels}."
        )
    shuffled = rng.permutation(labeled)
    # The r-th row of a class of size m is due at (r - 1/2) / m: classes appear in proportion, all nested.
    due = np.empty(len(shuffled))
    for code in classes:
        members = np.flatnonzero(codes[shuffled] == code)
        due[members] = (np.arange(len(members)) + 0.5) / len(members)
        due[members[0]] = 0.0
    return np.asarray(shuffled[np.argsort(due, kind="stable")][:n_labels])


class LabeledKFold:
    """K-fold splitter for data in which some rows are unlabeled.

    Labeled rows are dealt into folds class by class; each fold is scored once, and every unlabeled row stays in the
    training part. Use it as ``cv`` of scikit-learn's ``cross_val_score`` or ``GridSearchCV``.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds; a class with fewer rows is missing from some folds.
    random_state : int or None, default=0
        Seed of the shuffle.

    Examples
    --------
    >>> folds = LabeledKFold(2).split(np.zeros((5, 1)), [0, 0, 1, 1, -1])
    >>> [(len(train), len(test)) for train, test in folds]
    [(3, 2), (3, 2)]
    """

    def __init__(self, n_splits: Annotated[int, AtLeast(2)] = 5, *, random_state: int | None = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows of training and test parts.

        Parameters
        ----------
        X : array-like
            Ignored.
        y : array-like
            Labels, some of which mark unlabeled rows.
        groups : None
            Ignored.

        Yields
        ------
        train, test : ndarray of int64
            Row numbers; `test` holds labeled rows only.
        """
        check_params(self)
        labels = encode_labels(y, who="LabeledKFold")
        if len(labels.labeled) < self.n_splits:
            raise DataError(
                f"LabeledKFold: there must be at least as many labeled rows as folds ({self.n_splits}), "
                f"got {len(labels.labeled)}."
            )
        shuffled = np.random.default_rng(self.random_state).permutation(labels.labeled)
        by_class = shuffled[np.argsort(labels.codes[shuffled], kind="stable")]
        fold = np.arange(len(by_class)) % self.n_splits
        everything = np.arange(len(labels.codes))
        for number in range(self.n_splits):
            test = np.sort(by_class[fold == number])
            yield np.setdiff1d(everything, test), test


def labeled_scorer(metric: Callable[[np.ndarray, np.ndarray], float] | None = None) -> Callable[[Any, Any, Any], float]:
    """Return a scorer that leaves unlabeled rows out.

    Parameters
    ----------
    metric : callable, optional
        Takes true and predicted labels; accuracy by default.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, as scikit-learn's ``scoring`` takes it.

    Examples
    --------
    >>> class Same:
    ...     def predict(self, X):
    ...         return np.array([1] * len(X))
    >>> labeled_scorer()(Same(), np.zeros((3, 1)), [1, 0, -1])
    0.5
    """

    def score(estimator: Any, X: Any, y: Any) -> float:
        rows, true = labeled_part(y, getattr(estimator, "classes_", ()), who="labeled_scorer")
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != len(y):
            raise DataError(f"labeled_scorer: X and y must be of the same length, got {n_rows} and {len(y)}.")
        if len(rows) == 0:
            return float("nan")  # scikit-learn's word for "no score"
        predicted = np.asarray(estimator.predict(_safe_indexing(X, rows)))
        if metric is None:
            return float(np.mean(predicted == true))
        return float(metric(true, predicted))

    return score
