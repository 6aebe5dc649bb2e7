"""Rows of any kind as points in few dimensions, in which near means alike."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.core.errors import DataError
from handful.core.records import Kind, Table

if TYPE_CHECKING:
    import polars as pl

_MOST_DIMENSIONS = 50
_MOST_TOPICS = 100
_MOST_NEIGHBORS = 20
_CLIP = 3.0  # a few huge cells must not make a cluster each


def as_matrix(X: Any, *, who: str, codes: np.ndarray | None = None) -> Any:
    """Return rows as a matrix: a table is encoded column by column, an array is scaled, a sparse matrix stays.

    Parameters
    ----------
    X : data frame, array, sparse matrix, or list of str
        Rows; strings are short texts.
    who : str
        Name of the caller, for errors.
    codes : ndarray of int, optional
        Class of each row, -1 where unlabeled: a column of a table that is filled only where there is a label is left out.

    Returns
    -------
    ndarray or csr_matrix of shape (n_rows, n_features)
        Finite numbers.

    Examples
    --------
    >>> as_matrix([[0.0], [2.0]], who="next_rows").ravel().tolist()
    [-1.0, 1.0]
    """
    if hasattr(X, "tocsr"):
        return X.tocsr().astype(np.float64)
    if hasattr(X, "columns"):
        return _encoded_table(X, who, codes)
    cells = X if isinstance(X, np.ndarray) else np.asarray(list(X), dtype=object)
    if _are_texts(cells):
        return _encoded(_texts(cells.tolist()), {"text": "text"})
    if cells.ndim != 2:
        raise DataError(f"{who}: X must be a table of rows and columns, or texts, got shape {cells.shape}.")
    try:
        return _scaled(cells.astype(np.float64))
    except (TypeError, ValueError):
        return _encoded_table(X, who, codes)  # names or mixed cells


def _are_texts(cells: np.ndarray) -> bool:
    if cells.ndim != 1 or not len(cells):
        return False
    return all(cell is None or isinstance(cell, str) for cell in cells.tolist())


def _encoded_table(X: Any, who: str, codes: np.ndarray | None) -> Any:
    from handful.corpora.tables import left_out, none_tells, table_of
    from handful.features.frames import as_frame

    table = table_of("X", as_frame(X))
    if codes is not None and len(codes) != table.frame.height:
        codes = None  # the caller says which length is wrong
    telling = telling_columns(table, codes=codes)
    if not telling and table.frame.height > 1:
        raise DataError(f"{who}: {none_tells('y', left_out(table, codes=codes))}")
    return _encoded(table.frame, telling)


def telling_columns(table: Table, chosen: Collection[str] = (), codes: np.ndarray | None = None) -> dict[str, Kind]:
    """Return the columns that can tell rows apart, with their kinds.

    Parameters
    ----------
    table : Table
        Rows.
    chosen : collection of str
        Columns whose kind the user gave; these stay, unless they are empty.
    codes : ndarray of int, optional
        Class of each row, -1 where unlabeled.

    Returns
    -------
    dict of str to kind
        The columns to use; see `handful.corpora.tables.left_out` for the others.
    """
    from handful.corpora.tables import left_out

    without = left_out(table, chosen, codes)
    return {name: kind for name, kind in table.kinds.items() if name not in without}


def _texts(texts: list[str | None]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame({"text": texts}, schema={"text": pl.String})


def _encoded(frame: pl.DataFrame, kinds: dict[str, Kind]) -> Any:
    from handful.features.tables import TableEncoder

    return TableEncoder.learn(frame, kinds).transform(frame)


def _scaled(cells: np.ndarray) -> np.ndarray:
    cells = np.where(np.isfinite(cells), cells, np.nan)
    known = ~np.isnan(cells)
    counts = np.maximum(known.sum(axis=0), 1)
    center = np.where(known, cells, 0.0).sum(axis=0) / counts
    away = np.where(known, cells - center, 0.0)
    spread = np.sqrt((away**2).sum(axis=0) / counts)
    return np.asarray(away / np.where(spread > 1e-12, spread, 1.0))


def as_points(matrix: Any, random_state: int) -> np.ndarray:
    """Return rows as points: principal components of a wide table, directions of texts.

    Parameters
    ----------
    matrix : ndarray or csr_matrix
        From `as_matrix`.
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
        most = min(_MOST_TOPICS, n_rows - 1, width - 1)
        if most < 1:
            return np.asarray(matrix.toarray())
        topics = TruncatedSVD(most, random_state=random_state).fit_transform(matrix)
        return np.asarray(normalize(topics))
    if _is_text_alone(matrix):
        directions = np.asarray(matrix)
        return np.asarray(normalize(directions - directions.mean(axis=0)))
    clipped = np.clip(matrix, -_CLIP, _CLIP)
    if width <= _MOST_DIMENSIONS or n_rows <= _MOST_DIMENSIONS:
        return np.asarray(clipped)
    return np.asarray(PCA(_MOST_DIMENSIONS, random_state=random_state).fit_transform(clipped))


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

    wanted = min(max(len(points) // 10, 2), _MOST_NEIGHBORS) if n_neighbors is None else n_neighbors
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
        typicality[members] = neighborhood(points[members], _MOST_NEIGHBORS).typicality
    return typicality
