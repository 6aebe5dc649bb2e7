"""Encoded rows of a table: the matrix that models get, points in which near means alike, and their neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.data.checks import SELECTION
from handful.data.table import Table
from handful.errors import DataError
from handful.preprocessing.table_encoder import TableEncoder

_MAX_DIMENSIONS = 50
_MAX_TOPICS = 100
_MAX_NEIGHBORS = 20
_CLIP = 3.0  # a few huge cells must not make a cluster each


def encode_table(table: Table, *, who: str) -> tuple[Any, TableEncoder]:
    """Return the rows of a table as a matrix, encoded as `handful.fit` does, and the encoder.

    Examples
    --------
    >>> from handful.data.table import as_table
    >>> encode_table(as_table([[0.0], [2.0]]), who="suggest")[0].tolist()
    [[-1.0], [1.0]]
    """
    if not table.kinds and len(table) > 1:
        reasons = " ".join(str(notice) for notice in table.notices if notice.column is not None)
        raise DataError(f"{who}: no column to learn from. {reasons}".strip())
    encoder = TableEncoder.learn(table.values(), table.columns)
    if not table.kinds:
        return np.zeros((len(table), 1)), encoder
    return encoder.transform(table.values()), encoder


def selected_at_random(table: Table) -> np.ndarray | None:
    """Return which rows a query strategy did not choose, by the column that `handful next` writes; None without it."""
    if SELECTION not in table.cells.columns:
        return None
    return np.array([cell != "chosen" for cell in table.cells[SELECTION].to_list()])


def as_points(matrix: Any, random_state: int) -> np.ndarray:
    """Return rows as points: principal components of a wide table, directions of texts.

    Parameters
    ----------
    matrix : ndarray or csr_matrix
        From `encode_table`.
    random_state : int
        Seed of the decomposition.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_dimensions)
        At most 50 dimensions of a table, 100 of a sparse matrix; rows of texts alone keep theirs.

    Notes
    -----
    Rows of texts alone are directions: what all have in common is taken away, since it hides what they differ in (Mu &
    Viswanath 2018), and the rest is made of length 1.
    """
    from sklearn.decomposition import PCA, TruncatedSVD
    from sklearn.preprocessing import normalize

    n_rows, width = matrix.shape
    if hasattr(matrix, "tocsr"):
        most = min(_MAX_TOPICS, n_rows - 1, width - 1)
        if most < 1:
            return np.asarray(matrix.toarray())
        topics = TruncatedSVD(most, random_state=random_state).fit_transform(matrix)
        return np.asarray(normalize(topics))
    if _is_text_alone(matrix):
        directions = np.asarray(matrix)
        return np.asarray(normalize(directions - directions.mean(axis=0)))
    clipped = np.clip(matrix, -_CLIP, _CLIP)
    if width <= _MAX_DIMENSIONS or n_rows <= _MAX_DIMENSIONS:
        return np.asarray(clipped)
    return np.asarray(PCA(_MAX_DIMENSIONS, random_state=random_state).fit_transform(clipped))


def _is_text_alone(matrix: Any) -> bool:
    """Tell whether all columns of encoded rows come from texts."""
    spans = getattr(matrix, "spans", {}).values()
    return bool(matrix.shape[1] > 0 and sum(stop - start for start, stop in spans) == matrix.shape[1])


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """Who is near whom among some rows.

    Parameters
    ----------
    near : ndarray of int64, shape (n_rows, k)
        Nearest rows of each row, without itself, the nearest first.
    distances : ndarray of float64, shape (n_rows, k)
        How far they are.
    """

    near: np.ndarray
    distances: np.ndarray

    @property
    def typicality(self) -> np.ndarray:
        """One by the mean distance of the nearest rows (Hacohen, Dekel & Weinshall 2022, equation 1)."""
        if not self.distances.shape[1]:
            return np.ones(len(self.distances))
        return np.asarray(1.0 / (self.distances.mean(axis=1) + 1e-9))


def neighborhood(points: np.ndarray, n_neighbors: int | None = None) -> Neighborhood:
    """Find the nearest rows of every row.

    Parameters
    ----------
    points : ndarray
        From `as_points`.
    n_neighbors : int, optional
        How many, at most all others; by default a tenth of the rows, between 2 and 20.

    Returns
    -------
    Neighborhood
        Of the same rows.
    """
    from sklearn.neighbors import NearestNeighbors

    wanted = min(max(len(points) // 10, 2), _MAX_NEIGHBORS) if n_neighbors is None else n_neighbors
    k = min(wanted, len(points) - 1)
    if k < 1:
        return Neighborhood(np.zeros((len(points), 0), dtype=np.int64), np.zeros((len(points), 0)))
    distances, near = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()  # a row is not its own neighbor
    return Neighborhood(near, distances)


def typicality_within(points: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Return how typical each row is of its cluster: one by the mean distance of its nearest rows there, at most 20.

    Parameters
    ----------
    points : ndarray
        From `as_points`.
    clusters : ndarray of int
        Cluster of each row.

    Returns
    -------
    ndarray of float64
        A row that is alone in its cluster has 1.

    Examples
    --------
    >>> typicality_within(np.array([[0.0], [1.0], [3.0], [3.1]]), np.array([0, 0, 0, 1])).round(2).tolist()
    [0.5, 0.67, 0.4, 1.0]
    """
    typicality = np.ones(len(points))
    for cluster in np.unique(clusters):
        members = np.flatnonzero(clusters == cluster)
        typicality[members] = neighborhood(points[members], _MAX_NEIGHBORS).typicality
    return typicality
