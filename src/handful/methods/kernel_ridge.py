"""Least squares on a kernel of labeled rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from handful.core.params import Positive, check_params
from handful.core.registry import method
from handful.core.schema import Array, Number, stored
from handful.methods.row_classifier import RowClassifier
from handful.methods.views import dense_rows


@method("kernel-ridge", takes="table", cost="instant", baseline=True, views=("lsa", "vectors", "words"))
class KernelRidgeClassifier(RowClassifier):
    """Fit indicators of the classes by least squares on a Gaussian kernel between labeled rows.

    Parameters
    ----------
    ridge : float, default=0.1
        Penalty.
    scale : float, default=4.0
        Shares are the softmax of the fitted indicators times this.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    rows_ : ndarray of shape (n_labeled, n_columns)
        Labeled rows.
    weights_ : ndarray of shape (n_labeled, n_classes)
        Weight of each.
    gamma_ : float
        One by twice the total variance of all rows, unlabeled ones as well.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> KernelRidgeClassifier().fit(X, ["low", None, None, "high"]).predict(X).tolist()
    ['low', 'low', 'high', 'high']
    """

    STATE = stored(gamma_=Number(float, low=0), rows_=Array("f8", "n", "d"), weights_=Array("f8", "n", "k"))

    def __init__(self, ridge: Positive = 0.1, scale: Positive = 4.0) -> None:
        self.ridge = ridge
        self.scale = scale

    def fit(self, X: Any, y: Any) -> Self:
        """Solve for the weights of the labeled rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row, of which only the spread is used.

        Returns
        -------
        self
        """
        check_params(self)
        rows = dense_rows(self._rows(X, reset=True))
        labels = self._labels(y, len(rows))
        spread = float(rows.var(axis=0).sum())
        self.gamma_ = 1.0 / (2.0 * spread) if spread > 0 else 1.0
        self.rows_ = rows[labels.labeled]
        targets = np.eye(len(self.classes_))[labels.codes[labels.labeled]] - 1 / len(self.classes_)
        kernel = self._kernel(self.rows_) + self.ridge * np.eye(len(self.rows_))
        self.weights_ = np.linalg.solve(kernel, targets)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class, in the order of ``classes_``."""
        from scipy.special import softmax

        rows = dense_rows(self._rows(X))
        return np.asarray(softmax(self.scale * self._kernel(rows) @ self.weights_, axis=1))

    def _kernel(self, rows: np.ndarray) -> np.ndarray:
        from sklearn.metrics.pairwise import rbf_kernel

        return np.asarray(rbf_kernel(rows, self.rows_, gamma=self.gamma_))
