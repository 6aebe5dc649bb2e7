"""The graph of near rows by cosine: labels spread along it, and answers are smoothed over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from handful.core.schema import Array, Number, Record, stored

_CHUNK = 1_000


class NearRows:
    """Rows, each linked to those of the smallest angle.

    Parameters
    ----------
    rows : ndarray of float32
        Rows of length 1.
    n_neighbors : int
        Links of each row.

    Examples
    --------
    >>> near = NearRows.learn(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]), 1)
    >>> near.spread(np.array([0, 2]), np.eye(2), 0.8, 30).argmax(axis=1).tolist()
    [0, 0, 1, 1]
    """

    STATE = Record(stored(rows=Array("f2", "n", "_"), n_neighbors=Number(int, low=1)), shared=("n",))

    def __init__(self, rows: np.ndarray, n_neighbors: int) -> None:
        self.rows = rows
        self.n_neighbors = n_neighbors
        self._graph: Any = None

    @classmethod
    def learn(cls, rows: np.ndarray, n_neighbors: int) -> NearRows:
        """Link rows."""
        length = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        # Rounded as a file rounds them, so that a model answers the same before and after.
        unit = np.asarray(rows / length, dtype=np.float16).astype(np.float32)
        near = cls(unit, min(n_neighbors, max(len(rows) - 1, 1)))
        links = near.links(rows, own=True)
        near._graph = links.maximum(links.T).tocsr()
        return near

    def links(self, rows: np.ndarray, *, own: bool = False) -> Any:
        """Return the cosines of rows with their nearest stored ones, 0 for all others.

        Parameters
        ----------
        rows : ndarray
            Rows.
        own : bool
            Whether they are the stored rows, none of which is its own neighbor.

        Returns
        -------
        csr_matrix of shape (n_rows, n_stored)
            The links; cosines below 0 count as 0.
        """
        n, k = len(self.rows), min(self.n_neighbors, len(self.rows))
        length = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        unit = np.asarray(rows / length, dtype=np.float32)
        places, values = [np.zeros((0, k), dtype=np.int64)], [np.zeros((0, k), dtype=np.float32)]
        for start in range(0, len(unit), _CHUNK):
            cosines = unit[start : start + _CHUNK] @ self.rows.T
            if own:
                at = np.arange(len(cosines))
                cosines[at, start + at] = -1.0
            nearest = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
            places.append(nearest)
            values.append(np.maximum(np.take_along_axis(cosines, nearest, axis=1), 0.0))
        indptr = np.arange(0, len(unit) * k + 1, k)
        links = sparse.csr_matrix((np.vstack(values).ravel(), np.vstack(places).ravel(), indptr), shape=(len(unit), n))
        links.sort_indices()
        return links

    def spread(self, labeled: np.ndarray, given: np.ndarray, alpha: float, rounds: int) -> np.ndarray:
        """Let labels flow along the links (Zhou et al. 2004), and return the share of each class in every row."""
        root = np.asarray(self._graph.sum(axis=1)).ravel() ** 0.5
        scale = sparse.diags(1.0 / np.maximum(root, 1e-9))
        flow = scale @ self._graph @ scale
        start = np.zeros((len(self.rows), given.shape[1]))
        start[labeled] = given
        shares = start
        for _ in range(rounds):
            shares = alpha * (flow @ shares) + (1 - alpha) * start
        shares = shares + 1e-9
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def smooth(self, shares: np.ndarray, amount: float, rounds: int) -> np.ndarray:
        """Blend the shares of each row with those of its neighbors."""
        total = np.asarray(self._graph.sum(axis=1)).ravel()
        walk = sparse.diags(1.0 / np.maximum(total, 1e-9)) @ self._graph
        smooth = shares
        for _ in range(rounds):
            smooth = amount * (walk @ smooth) + (1 - amount) * shares
        return np.asarray(smooth)

    def state(self) -> dict[str, Any]:
        """Return what a model file keeps: half of the digits do for angles."""
        return {"rows": self.rows.astype(np.float16), "n_neighbors": self.n_neighbors}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> NearRows:
        """Bring rows back; links among themselves are needed for training alone."""
        return cls(np.asarray(state["rows"], dtype=np.float32), int(state["n_neighbors"]))
