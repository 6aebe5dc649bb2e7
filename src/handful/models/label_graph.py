"""Label spreading over the k-nearest-neighbor graph."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse

from handful.models.adapters import RowClassifier, dense_rows
from handful.params import Above, Count, Positive, Range, check_params
from handful.persistence.schema import Array, Names, Number, stored
from handful.registry import method

_ROUNDS = 200
_MOST_ROUNDED = 1e-6  # of the distance between neighbors: what float32 may change in a row


class _LabelGraph(RowClassifier):
    """Base of label propagation and spreading: the graph, and predictions for new rows."""

    STATE = stored(
        rows_=Array("f4 f8", "n", "d"),
        shares_=Array("f4 f8", "n", "k", low=0, high=1),
        transduction_=Names("n"),
        width_=Number(float, low=1e-150, high=1e154),  # so that it has a square
    )

    n_neighbors: int
    sharpness: float
    _graph: Any

    def fit(self, X: Any, y: Any, *, graph: _LabelGraph | None = None) -> Self:
        """Build the graph and spread the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row.
        graph : estimator, optional
            One that was fitted to the same rows, whose graph is used again.

        Returns
        -------
        self
        """
        check_params(self)
        rows = dense_rows(self._rows(X, reset=True))
        labels = self._labels(y, len(rows))
        self.rows_ = rows
        if graph is None:
            distances, places = self._nearest(rows, own=True)
            last = distances[:, -1]
            self.width_ = float(np.median(last[last > 0])) if (last > 0).any() else 1.0
            links = self._links(distances, places)
            self._graph = links.maximum(links.T)
        else:
            self.width_, self._graph = graph.width_, graph._graph
        start = np.zeros((len(rows), len(self.classes_)))
        start[labels.labeled, labels.codes[labels.labeled]] = 1.0
        flow = self._flow(self._graph, start, labels.labeled)
        # Rows that no label reaches get the label frequencies.
        lost = flow.sum(axis=1) <= 1e-12
        flow[lost] = start.sum(axis=0)
        shares = flow / flow.sum(axis=1, keepdims=True)
        self.transduction_ = self.classes_[shares.argmax(axis=1)]
        self.shares_ = shares.astype(np.float32)
        self.rows_ = _single_precision(rows, _MOST_ROUNDED * self.width_)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``: the mean over the nearest training rows."""
        links = self._links(*self._nearest(dense_rows(self._rows(X))))
        proba = links @ self.shares_
        total = np.asarray(links.sum(axis=1)).ravel()
        proba[total <= 0] = self.shares_.mean(axis=0)
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    def _flow(self, graph: Any, start: np.ndarray, labeled: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _nearest(self, rows: np.ndarray, *, own: bool = False) -> tuple[np.ndarray, np.ndarray]:
        from sklearn.neighbors import NearestNeighbors

        if len(self.rows_) < 2:
            return np.zeros((len(rows), 1)), np.zeros((len(rows), 1), dtype=np.int64)
        k = min(self.n_neighbors, len(self.rows_) - 1)
        finder = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(np.asarray(self.rows_, dtype=np.float64))
        distances, places = finder.kneighbors(None if own else rows)
        return distances, places

    def _links(self, distances: np.ndarray, places: np.ndarray) -> Any:
        """Return Gaussian weights; the nearest row of each has at least some, however far it is."""
        squares = (distances**2 - distances.min(axis=1, keepdims=True) ** 2) + np.minimum(
            distances.min(axis=1, keepdims=True) ** 2, 30 * self.width_**2
        )
        weights = np.exp(-self.sharpness * squares / self.width_**2)
        n, k = places.shape
        indptr = np.arange(0, n * k + 1, k)
        links = sparse.csr_matrix((weights.ravel(), places.ravel(), indptr), shape=(n, len(self.rows_)))
        links.sort_indices()
        return links


def _single_precision(rows: np.ndarray, most: float) -> np.ndarray:
    """Return rows in float32 if that changes no number by more than some limit: model files are half as large."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = rows.astype(np.float32)
        return rounded if np.abs(rounded - rows).max(initial=0.0) <= most else rows


@method("label-spreading", task="table", uses_unlabeled=True, cost="quick", baseline=True)
class LabelSpreading(_LabelGraph):
    """Label spreading on a k-nearest-neighbor graph: given labels may change.

    Parameters
    ----------
    alpha : float, default=0.8
        Weight of the neighbors' labels.
    n_neighbors : int, default=10
        Rows that each row is linked to.
    sharpness : float, default=1.0
        Links weigh ``exp(-sharpness * d ** 2 / w ** 2)``, where w is the median distance to the last neighbor: the width
        follows the distances, whatever the number of columns.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    transduction_ : ndarray
        A label for every row of `X`.
    width_ : float
        The w above.

    References
    ----------
    Zhou, D., Bousquet, O., Lal, T., Weston, J., Schölkopf, B. (2004). Learning with local and global consistency. NIPS.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    >>> LabelSpreading(n_neighbors=2).fit(X, ["low", None, None, None, "high"]).transduction_.tolist()
    ['low', 'low', 'low', 'high', 'high']
    """

    def __init__(
        self,
        alpha: Annotated[float, Range(0, 1, open_low=True, open_high=True)] = 0.8,
        n_neighbors: Count = 10,
        sharpness: Positive = 1.0,
    ) -> None:
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.sharpness = sharpness

    def _flow(self, graph: Any, start: np.ndarray, labeled: np.ndarray) -> np.ndarray:
        root = np.asarray(graph.sum(axis=1)).ravel() ** 0.5
        scale = sparse.diags(1.0 / np.maximum(root, 1e-150))
        flow, proba = scale @ graph @ scale, start
        for _ in range(_ROUNDS):
            last, proba = proba, self.alpha * (flow @ proba) + (1 - self.alpha) * start
            if np.abs(proba - last).max() < 1e-6:
                break
        return np.asarray(proba)


@method("label-propagation", task="table", uses_unlabeled=True, cost="quick", baseline=True)
class LabelPropagation(_LabelGraph):
    """Label propagation on a k-nearest-neighbor graph: given labels stay.

    Parameters
    ----------
    n_neighbors : int, default=10
        Rows that each row is linked to.
    sharpness : float, default=1.0
        See `LabelSpreading`.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    transduction_ : ndarray
        A label for every row of `X`.

    References
    ----------
    Zhu, X., Ghahramani, Z. (2002). Learning from labeled and unlabeled data with label propagation. CMU-CALD-02-107.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    >>> LabelPropagation(n_neighbors=2).fit(X, ["low", None, None, None, "high"]).transduction_.tolist()
    ['low', 'low', 'low', 'high', 'high']
    """

    def __init__(self, n_neighbors: Count = 10, sharpness: Annotated[float, Above(0)] = 1.0) -> None:
        self.n_neighbors = n_neighbors
        self.sharpness = sharpness

    def _flow(self, graph: Any, start: np.ndarray, labeled: np.ndarray) -> np.ndarray:
        total = np.asarray(graph.sum(axis=1)).ravel()
        walk = sparse.diags(1.0 / np.maximum(total, 1e-300)) @ graph
        proba = start.copy()
        for _ in range(_ROUNDS):
            last, proba = proba, walk @ proba
            proba[labeled] = start[labeled]
            if np.abs(proba - last).max() < 1e-6:
                break
        return np.asarray(proba)
