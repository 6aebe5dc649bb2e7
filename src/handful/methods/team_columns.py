"""Which columns of a table the members of a team look at."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

_DENSE_CELLS = 30_000_000
_COMPONENTS = 100
_LEAST_SEEN = 0.5  # labeled rows that are expected to have a value, for it to count


def leading_directions(rows: Any) -> np.ndarray | None:
    """Return leading directions of rows with too many columns to look at one by one; None for others."""
    if rows.shape[0] * rows.shape[1] <= _DENSE_CELLS or not hasattr(rows, "toarray"):
        return None
    from sklearn.utils.extmath import randomized_svd

    _, _, directions = randomized_svd(rows, min(_COMPONENTS, min(rows.shape) - 1), random_state=0)
    return np.ascontiguousarray(directions.T)


def columns_without_text(X: Any, n_columns: int) -> np.ndarray:
    """Return the columns that hold no text."""
    text = np.zeros(n_columns, dtype=bool)
    for start, stop in getattr(X, "spans", {}).values():
        text[start:stop] = True
    return np.flatnonzero(~text)


def seen_often(rows: Any, n_labels: int) -> np.ndarray:
    """Tell which columns are numbers, or indicators that at least half of one labeled row is expected to have."""
    n_rows, n_columns = rows.shape
    if not n_columns:
        return np.ones(0, dtype=bool)
    if hasattr(rows, "tocsc"):
        columns = rows.tocsc()
        low, high = columns.min(axis=0).toarray().ravel(), columns.max(axis=0).toarray().ravel()
        n_filled = np.diff(columns.indptr)
        even = np.array([len(np.unique(columns.data[a:b])) <= 1 for a, b in pairwise(columns.indptr)])
    else:
        low, high = rows.min(axis=0), rows.max(axis=0)
        n_filled = (rows != 0).sum(axis=0)
        even = ((rows == 0) | (rows == high)).all(axis=0)
    indicator = even & (low >= 0) & (high > 0)
    often = ~indicator | (n_filled * n_labels >= _LEAST_SEEN * n_rows)
    return np.asarray(often if often.any() else ~often)
