"""Multiclass classification as a structure."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


class Multiclass:
    """Rows whose only part is their label.

    Parameters
    ----------
    X : ndarray or sparse array, shape (n_rows, n_columns)
        Features of each row.
    n_labels : int
        Labels. Feature ``column * n_labels + label`` has the value of the column where the label is chosen.
    ids : ndarray of int64, optional
        The features that exist, rising, which are numbered anew from 0 on; the weight of all others is 0.

    Examples
    --------
    >>> rows = Multiclass(np.array([[1.0, 0.0], [0.0, 1.0]]), 2)
    >>> rows.argmax(np.array([0.0, 1.0, 2.0, 0.0])).tolist()
    [1, 0]
    >>> some = Multiclass(np.eye(2), 2, np.array([1, 2]))
    >>> some.argmax(np.array([1.0, 1.0])).tolist(), some.joint_features(np.array([1, 0]))[0].tolist()
    ([1, 0], [0, 1])
    """

    def __init__(self, X: Any, n_labels: int, ids: np.ndarray | None = None) -> None:
        self.X = sparse.csr_array(X)
        self.n_labels = n_labels
        self.n_inputs = self.X.shape[0]
        n_all = self.X.shape[1] * n_labels
        self._ids = np.arange(n_all) if ids is None else ids
        self._place = np.full(n_all, -1, dtype=np.int64)
        self._place[self._ids] = np.arange(len(self._ids))
        self.n_features = len(self._ids)

    def argmax(self, weights: np.ndarray) -> np.ndarray:
        """Return the best label of every row; among equals the lower one."""
        return np.asarray(self._scores(weights).argmax(axis=1))

    def expected_counts(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the summed log partition and the expected count of every feature."""
        scores = self._scores(weights)
        top = scores.max(axis=1, keepdims=True)
        np.exp(scores - top, out=scores)
        totals = scores.sum(axis=1, keepdims=True)
        scores /= totals
        return float((np.log(totals) + top).sum()), np.asarray(self.X.T @ scores).ravel()[self._ids]

    def joint_features(self, outputs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return features of parts and how much of each; see `Structure.joint_features`."""
        columns = self.X.indices.astype(np.int64) * self.n_labels
        if outputs is None:
            ids = (columns[:, None] + np.arange(self.n_labels)).ravel()
            return self._known(ids, np.repeat(self.X.data / self.n_labels, self.n_labels))
        return self._known(columns + np.repeat(outputs, np.diff(self.X.indptr)), self.X.data)

    def loss_augmented_argmax(self, number: int, weights: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the label with the highest score plus cost (1 if wrong), and that cost."""
        columns, values = self._row(number)
        places = self._place[columns[:, None] * self.n_labels + np.arange(self.n_labels)]
        scores = values @ np.where(places >= 0, weights[places], 0.0)
        scores += np.arange(self.n_labels) != gold
        best = int(scores.argmax())
        return np.array(best), float(best != gold)

    def joint_features_at(self, number: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of one labeled row and their values."""
        columns, values = self._row(number)
        return self._known(columns * self.n_labels + int(output), values)

    def possible_features(self, number: int) -> np.ndarray:
        """Return every feature that any label of a row may have."""
        places = self._place[self._row(number)[0][:, None] * self.n_labels + np.arange(self.n_labels)]
        return np.asarray(places[places >= 0])

    def take(self, number: int, outputs: np.ndarray) -> np.ndarray:
        """Return the label of one row."""
        return np.asarray(outputs[number])

    def in_order(self, order: np.ndarray) -> np.ndarray:
        """Return the rows in this order."""
        return order

    def _scores(self, weights: np.ndarray) -> np.ndarray:
        table = np.zeros(len(self._place))
        table[self._ids] = weights
        return np.asarray(self.X @ table.reshape(-1, self.n_labels))

    def _known(self, ids: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = self._place[ids]
        return places[places >= 0], values[places >= 0]

    def _row(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        a, b = self.X.indptr[number : number + 2]
        return self.X.indices[a:b].astype(np.int64), self.X.data[a:b]
