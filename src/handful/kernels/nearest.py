"""The memory that rows have of the nearest stored rows.

With ``all_ties`` false a row remembers its k nearest stored rows, of equally near ones those stored first. With
``all_ties`` true it remembers the k nearest *distances* and, for each, how many stored rows of each label lie there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from handful.kernels import njit
from handful.kernels.distances import (
    PARALLEL,
    TILE,
    WORTH_THREADS,
    Metric,
    Rows,
    bound_of,
    fill_tile,
    root,
    tile_totals,
)

FARTHEST = np.finfo(np.float64).max  # an infinite distance marks an empty place


class Near(NamedTuple):
    """What each row remembers of the stored rows.

    Parameters
    ----------
    distance : ndarray of float64, shape (n_rows, k)
        Nearest distances, ascending; infinite where fewer are stored.
    pos : ndarray of int32, shape (n_rows, k, 1) or (n_rows, k, n_labels)
        Position in the store of the row at that distance; with ``all_ties`` of the first one of each label.
    counts : ndarray of int32, same shape as `pos`
        Number of stored rows there; with ``all_ties`` of each label.
    """

    distance: np.ndarray
    pos: np.ndarray
    counts: np.ndarray


def no_neighbors(n_rows: int, k: int, n_labels: int, all_ties: bool) -> Near:
    """Return the memory of rows that have seen no stored row yet."""
    shape = (n_rows, k, n_labels if all_ties else 1)
    return Near(np.full((n_rows, k), np.inf), np.full(shape, -1, dtype=np.int32), np.zeros(shape, dtype=np.int32))


@njit(cache=True)
def remember(near: Near, u: int, distance: float, pos: int, label: int, all_ties: bool) -> None:
    """Let row `u` see a stored row; stored rows must be shown in the order of storing."""
    k = near.distance.shape[1]
    distance = min(distance, FARTHEST)  # an infinite one would look like an empty place
    known = near.distance[u]
    if not all_ties:
        if distance < known[k - 1]:
            e = k - 1
            while e > 0 and known[e - 1] > distance:
                known[e] = known[e - 1]
                near.pos[u, e, 0] = near.pos[u, e - 1, 0]
                near.counts[u, e, 0] = near.counts[u, e - 1, 0]
                e -= 1
            known[e] = distance
            near.pos[u, e, 0] = pos
            near.counts[u, e, 0] = 1
        return
    if distance > known[k - 1]:
        return
    e = 0
    while e < k and known[e] < distance:
        e += 1
    if known[e] != distance:
        for later in range(k - 1, e, -1):
            known[later] = known[later - 1]
            for j in range(near.pos.shape[2]):
                near.pos[u, later, j] = near.pos[u, later - 1, j]
                near.counts[u, later, j] = near.counts[u, later - 1, j]
        known[e] = distance
        for j in range(near.pos.shape[2]):
            near.pos[u, e, j] = -1
            near.counts[u, e, j] = 0
    if near.counts[u, e, label] == 0:
        near.pos[u, e, label] = pos
    near.counts[u, e, label] += 1


@njit(cache=True)
def show_tile(
    stored: Rows,
    stored_ids: np.ndarray,
    labels: np.ndarray,
    start: int,
    stop: int,
    waiting: Rows,
    ids: np.ndarray,
    seen: np.ndarray,
    dense: np.ndarray,
    nominal: np.ndarray,
    near: Near,
    metric: Metric,
    all_ties: bool,
) -> None:
    """Show the stored rows ``start`` to ``stop`` to the rows of one tile, except those a row has already seen."""
    n = len(ids)
    k = near.distance.shape[1]
    scratch = np.empty((2, TILE))
    bounds, totals = scratch[0], scratch[1]
    for b in range(TILE):
        totals[b], bounds[b] = 0.0, -1.0
    for b in range(n):
        bounds[b] = bound_of(near.distance[ids[b], k - 1], metric)
    for c in range(start, stop):
        tile_totals(stored, stored_ids[c], waiting, ids, dense, nominal, metric, totals)
        hits = 0
        for b in range(TILE):
            hits += totals[b] <= bounds[b]
        if hits == 0:
            continue
        for b in range(n):
            if totals[b] <= bounds[b] and c >= seen[ids[b]]:
                remember(near, ids[b], root(totals[b], metric), c, labels[c], all_ties)
                bounds[b] = bound_of(near.distance[ids[b], k - 1], metric)


@njit(cache=True)
def _catch_up_alone(
    first: int, last: int, stored: Rows, stored_ids: np.ndarray, labels: np.ndarray, n_stored: int, waiting: Rows,
    ids: np.ndarray, seen: np.ndarray, dense: np.ndarray, nominal: np.ndarray, near: Near, metric: Metric, all_ties: bool,
) -> None:  # fmt: skip
    """Let the tiles from `first` to `last` catch up."""
    for t in range(first, last):
        tile_ids = ids[t * TILE : min(len(ids), (t + 1) * TILE)]
        fill_tile(waiting, tile_ids, dense[t], nominal[t])
        start = n_stored
        for b in range(len(tile_ids)):
            start = min(start, seen[tile_ids[b]])
        show_tile(
            stored, stored_ids, labels, start, n_stored, waiting, tile_ids, seen, dense[t], nominal[t], near, metric,
            all_ties,
        )  # fmt: skip
        for b in range(len(tile_ids)):
            seen[tile_ids[b]] = n_stored


@njit(cache=True, parallel=PARALLEL)
def _catch_up_parallel(
    first: int, last: int, stored: Rows, stored_ids: np.ndarray, labels: np.ndarray, n_stored: int, waiting: Rows,
    ids: np.ndarray, seen: np.ndarray, dense: np.ndarray, nominal: np.ndarray, near: Near, metric: Metric, all_ties: bool,
) -> None:  # fmt: skip
    for t in prange(first, last):
        one = np.int64(t)
        _catch_up_alone(
            one, one + 1, stored, stored_ids, labels, n_stored, waiting, ids, seen, dense, nominal, near, metric, all_ties
        )  # fmt: skip


def catch_up(
    stored: Rows,
    stored_ids: np.ndarray,
    labels: np.ndarray,
    n_stored: int,
    waiting: Rows,
    ids: np.ndarray,
    seen: np.ndarray,
    dense: np.ndarray,
    nominal: np.ndarray,
    near: Near,
    metric: Metric,
    all_ties: bool,
) -> None:
    """Fill the tiles of a block of rows and show them what was stored since they last looked.

    Parameters
    ----------
    stored : Rows
        Rows among which the stored ones are.
    stored_ids : ndarray of int64
        Which of them are stored, in the order of storing.
    labels : ndarray of int32
        Code of each stored row.
    n_stored : int
        How many are stored.
    waiting : Rows
        Rows among which the looking ones are.
    ids : ndarray of int64
        Which of them look.
    seen : ndarray of int64, shape (n_waiting,)
        How many stored rows each has seen; changed in place.
    dense : ndarray of float64, shape (n_tiles, n_dense, TILE)
        Receives the tiles.
    nominal : ndarray of int32, shape (n_tiles, n_nominal, TILE)
        Receives their nominal columns.
    near : Near
        The memory of the waiting rows; changed in place.
    metric : Metric
        How distance is measured.
    all_ties : bool
        See the module.
    """
    n_columns = (
        waiting.dense.shape[1] + waiting.nominal.shape[1] + len(waiting.indices) // max(near.distance.shape[0], 1)
    )
    worth_threads = len(ids) > TILE and len(ids) * n_stored * n_columns > WORTH_THREADS
    (_catch_up_parallel if worth_threads else _catch_up_alone)(
        0, (len(ids) + TILE - 1) // TILE,
        stored, stored_ids, labels, n_stored, waiting, ids, seen, dense, nominal, near, metric, all_ties,
    )  # fmt: skip
