"""Condensation: one sweep, or several, that stores the rows which the rows stored so far get wrong.

Every distinct row remembers its nearest stored rows (`handful.kernels.distances.Heap`) and how many of the stored rows it
has seen. A block of visits first catches up with the store, tile by tile and in parallel; then it is visited in order,
and a row that is stored is shown to the block at once. In this way a stored row meets every row still to come exactly
once, in pieces that fit the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.kernels.cache import njit
from handful.kernels.distances import TIED, TILE, Heap, Metric, Rows, push_tile, update_heaps, vote

FIRST, WRONG, UNSURE = range(3)


def _block_size(n_visits: int) -> int:
    # Long blocks keep many threads busy; short ones keep the part that runs alone small.
    return min(max(n_visits // (32 * TILE), 4), 32) * TILE


def condense(
    rows: Rows,
    row_of: np.ndarray,
    codes: np.ndarray,
    near: Heap,
    metric: Metric,
    rule: int,
    all_ties: bool,
    min_confidence: float,
    max_passes: int,
    max_kept: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Condense a labeled set.

    Parameters
    ----------
    rows : Rows
        The distinct rows.
    row_of : ndarray of int64, shape (n_visits,)
        Distinct row of each visit, in the order of visiting.
    codes : ndarray of int32, shape (n_visits,)
        Label of each visit.
    near : Heap
        Memory of the distinct rows, empty at first; its width is the number of neighbors.
    metric, rule, all_ties
        See `handful.kernels.distances`.
    min_confidence : float
        A visit whose label gets a smaller part of the votes is stored as well; 0 stores only what is predicted wrong.
    max_passes : int
        Sweeps over the visits; 0 goes on until a sweep stores nothing.
    max_kept : int
        Stop at this number of stored rows.

    Returns
    -------
    kept : ndarray of int64
        Stored visits, in the order of storing.
    reasons : ndarray of int8
        Why each was stored: FIRST, WRONG or UNSURE.
    passes : ndarray of int32
        In which pass, from 1.
    n_passes : int
        Passes begun.
    """
    n_visits, n_rows = len(row_of), near.distance.shape[0]
    block = _block_size(n_visits)
    max_tiles = block // TILE
    limit = min(n_visits, max_kept)
    kept = Kept(
        visits=np.empty(limit, dtype=np.int64),
        rows=np.empty(limit, dtype=np.int64),
        codes=np.empty(limit, dtype=np.int32),
        reasons=np.empty(limit, dtype=np.int8),
        passes=np.empty(limit, dtype=np.int32),
    )
    n_kept, n_passes = 0, 0
    is_kept = np.zeros(n_visits, dtype=bool)
    seen = np.zeros(n_rows, dtype=np.int64)
    dense = np.zeros((max_tiles, rows.dense.shape[1], TILE))
    nominal = np.zeros((max_tiles, rows.nominal.shape[1], TILE), dtype=np.int32)
    proba = np.empty(int(codes.max()) + 1)
    while n_kept < limit and (max_passes == 0 or n_passes < max_passes):
        n_passes += 1
        kept_before = n_kept
        for start in range(0, n_visits, block):
            stop = min(start + block, n_visits)
            ids = np.unique(row_of[start:stop][~is_kept[start:stop]])
            # Rows that are equally far behind are in one tile, so that none is shown what it knows.
            ids = ids[np.argsort(seen[ids], kind="stable")]
            update_heaps(rows, kept.rows, kept.codes, n_kept, rows, ids, seen, dense, nominal, near, metric, all_ties)
            n_kept = _visit_block(
                start, stop, rows, row_of, codes, ids, seen, dense, nominal, near, metric, rule, all_ties,
                min_confidence, n_passes, is_kept, kept, n_kept, proba,
            )  # fmt: skip
            if n_kept == limit:
                break
        if n_kept == kept_before:
            break
    return kept.visits[:n_kept], kept.reasons[:n_kept], kept.passes[:n_kept], n_passes


class Kept(NamedTuple):
    """The store: visits, their distinct rows and labels, and why and in which pass each was stored."""

    visits: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    reasons: np.ndarray
    passes: np.ndarray


@njit(cache=True)
def _visit_block(
    start: int, stop: int, rows: Rows, row_of: np.ndarray, codes: np.ndarray, ids: np.ndarray, seen: np.ndarray,
    dense: np.ndarray, nominal: np.ndarray, near: Heap, metric: Metric, rule: int, all_ties: bool,
    min_confidence: float, n_passes: int, is_kept: np.ndarray, kept: Kept, n_kept: int, proba: np.ndarray,
) -> int:  # fmt: skip
    """Visit a block whose distinct rows, `ids`, have seen the whole store; return how many are stored then."""
    for v in range(start, stop):
        if is_kept[v]:
            continue
        # Figs. 1 and 2: stored if C(x) != y, or if P_C(y | x) is below the threshold.
        if n_kept == 0:
            reason = FIRST
        else:
            label, _ = vote(near, row_of[v], near.distance.shape[1], kept.codes, rule, all_ties, proba)
            if label != codes[v]:
                reason = WRONG
            elif proba[codes[v]] < min_confidence * (1.0 - TIED):
                reason = UNSURE
            else:
                continue
        is_kept[v] = True
        kept.visits[n_kept], kept.rows[n_kept], kept.codes[n_kept] = v, row_of[v], codes[v]
        kept.reasons[n_kept], kept.passes[n_kept] = reason, n_passes
        n_kept += 1
        if n_kept == len(kept.visits):
            return n_kept
        for t in range((len(ids) + TILE - 1) // TILE):
            tile_ids = ids[t * TILE : min(len(ids), (t + 1) * TILE)]
            push_tile(
                rows, kept.rows, kept.codes, n_kept - 1, n_kept, rows, tile_ids, seen, dense[t], nominal[t],
                near, metric, all_ties,
            )  # fmt: skip
    for i in range(len(ids)):
        seen[ids[i]] = n_kept
    return n_kept
