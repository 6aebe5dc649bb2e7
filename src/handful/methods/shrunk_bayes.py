"""Naive Bayes whose estimates lean on all rows, for few labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from handful.core.errors import DataError
from handful.core.params import Positive, check_params
from handful.core.registry import method
from handful.core.schema import Array, ListOf, stored
from handful.methods.row_classifier import RowClassifier
from handful.methods.views import TableViews, dense_rows


@method("shrunk-bayes", takes="table", learns_from=("labels", "unlabeled"), cost="instant", baseline=True)
class ShrunkBayes(RowClassifier):
    """Naive Bayes on ranks and names, whose variances and frequencies are shrunk to those of all rows.

    Parameters
    ----------
    shrinkage : float, default=3.0
        So many rows of the whole column count beside the labeled rows of a class.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    means_, variances_ : ndarray of shape (n_classes, n_numbers)
        Of the normal scores of each numeric column.
    frequencies_ : list of ndarray of shape (n_classes, n_values + 1)
        Of the values of each nominal column; the last value is none of them.
    views_ : dict
        What was learned about the columns.

    Notes
    -----
    Columns depend on each other, so that the log-odds are divided by the square root of the number of columns. Classes
    have equal prior shares.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> ShrunkBayes().fit(X, ["low", None, None, "high"]).predict(X).tolist()
    ['low', 'low', 'high', 'high']
    """

    STATE = stored(
        views_=TableViews.STATE,
        means_=Array("f8", "k", "_"),
        variances_=Array("f8", "k", "_", low=0),
        frequencies_=ListOf(Array("f8", "k", "_", low=0)),
    )

    def __init__(self, shrinkage: Positive = 3.0) -> None:
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate a distribution for each column and class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row.

        Returns
        -------
        self
        """
        check_params(self)
        rows = dense_rows(self._rows(X, reset=True))
        labels = self._labels(y, len(rows))
        self._views = TableViews.learn(rows)
        self.views_ = self._views.state
        m = self.shrinkage
        given, codes = rows[labels.labeled], labels.codes[labels.labeled]
        Z, levels = self._views.ranks(given), self._views.levels(given)
        members = np.eye(len(self.classes_))[codes].T  # (n_classes, n_labeled)
        sizes = members.sum(axis=1)[:, None]
        self.means_ = members @ Z / (sizes + 1.0)
        squares = members @ Z**2 - 2 * self.means_ * (members @ Z) + sizes * self.means_**2
        self.variances_ = (squares + m) / (sizes + m)
        everywhere = self._views.levels(rows)
        self.frequencies_ = []
        for column, block in enumerate(self.views_["nominal"]):
            share = np.bincount(everywhere[:, column], minlength=len(block) + 1) / len(rows)
            seen = members @ np.eye(len(block) + 1)[levels[:, column]]
            self.frequencies_.append((seen + m * share + 1e-9) / (sizes + m))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class, in the order of ``classes_``."""
        from scipy.special import softmax

        rows = dense_rows(self._rows(X))
        Z, levels = self._views.ranks(rows), self._views.levels(rows)
        odds = np.zeros((len(rows), len(self.classes_)))
        for code, (mean, variance) in enumerate(zip(self.means_, self.variances_, strict=True)):
            odds[:, code] = -0.5 * (np.log(variance) + (Z - mean) ** 2 / variance).sum(axis=1)
        for column, frequencies in enumerate(self.frequencies_):
            odds += np.log(frequencies).T[levels[:, column]]
        n_columns = Z.shape[1] + levels.shape[1]
        return np.asarray(softmax(odds / max(n_columns, 1) ** 0.5, axis=1))

    def _check_state(self) -> None:
        self._views = TableViews(self.views_)
        n_classes = len(self.classes_)
        shape = (n_classes, len(self.views_["numeric"]))
        fine = (
            self._views.is_whole()
            and self.views_["width"] == self.n_features_in_
            and self.means_.shape == self.variances_.shape == shape
            and len(self.frequencies_) == len(self.views_["nominal"])
            and all(
                f.shape == (n_classes, len(block) + 1)
                for f, block in zip(self.frequencies_, self.views_["nominal"], strict=True)
            )
        )
        if not fine:
            raise DataError("ShrunkBayes: every column must have its distributions.")
