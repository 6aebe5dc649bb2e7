"""Nearest columns of a matrix of distances."""

from __future__ import annotations

import numpy as np

from handful.kernels import njit
from handful.kernels.nearest import Near, remember


@njit(cache=True)
def nearest_columns(distances: np.ndarray, near: Near) -> None:
    """Let every row of a matrix of distances remember its nearest columns, of equally near ones the first.

    Parameters
    ----------
    distances : ndarray of float64, shape (n_rows, n_stored)
        Distance of each row to each stored row.
    near : Near
        The memory, empty; changed in place.
    """
    for u in range(distances.shape[0]):
        for c in range(distances.shape[1]):
            remember(near, u, distances[u, c], c, 0, False)
