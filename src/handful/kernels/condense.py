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
from handful.kernels.distances import (
    TIED,
    TILE,
    Queries,
    RowArrays,
    Rule,
    Store,
    make_heap,
    make_queries,
    n_tiles_of,
    push_tile,
    update_heaps,
    vote,
)

FIRST, WRONG, UNSURE = range(3)


class CondensedSet(NamedTuple):
    """What condensation stored.

    Parameters
    ----------
    visits : ndarray of int64
        Stored visits, in the order of storing.
    reasons : ndarray of int8
        Why each was stored: `FIRST`, `WRONG` or `UNSURE`.
    passes : ndarray of int32
        In which pass each was stored, from 1.
    n_passes : int
        Passes begun.
    """

    visits: np.ndarray
    reasons: np.ndarray
    passes: np.ndarray
    n_passes: int


class _Visits(NamedTuple):
    """The distinct row and the code of each visit, and whether it is stored."""

    row_of: np.ndarray
    codes: np.ndarray
    is_kept: np.ndarray


def condense_distinct(
    rows: RowArrays,
    row_of: np.ndarray,
    codes: np.ndarray,
    n_neighbors: int,
    rule: Rule,
    *,
    min_confidence: float = 0.0,
    max_passes: int | None = 1,
) -> CondensedSet:
    """Condense a labeled set.

    Parameters
    ----------
    rows : RowArrays
        The distinct rows.
    row_of : ndarray of int64, shape (n_visits,)
        Distinct row of each visit, in the order of visiting.
    codes : ndarray of int32, shape (n_visits,)
        Label of each visit.
    n_neighbors : int
        Number of neighbors, or of distinct distances.
    rule : Rule
        Who votes and how.
    min_confidence : float
        A visit whose label gets a smaller part of the votes is stored as well; 0 stores only what is predicted wrong.
    max_passes : int or None
        Sweeps over the visits; None goes on until a sweep stores nothing.

    Returns
    -------
    CondensedSet
        Stored visits.
    """
    n_visits, n_labels = len(row_of), int(codes.max()) + 1
    block = _block_size(n_visits)
    near = make_heap(len(rows.dense), min(n_neighbors, n_visits), n_labels, rule.all_ties)
    queries = make_queries(rows, near, np.zeros(min(block, n_visits), dtype=np.int64))
    store = Store(rows, np.empty(n_visits, dtype=np.int64), np.empty(n_visits, dtype=np.int32))
    kept = CondensedSet(
        np.empty(n_visits, dtype=np.int64), np.empty(n_visits, dtype=np.int8), np.empty(n_visits, dtype=np.int32), 0
    )
    visits = _Visits(row_of, codes, np.zeros(n_visits, dtype=bool))
    n_kept, n_passes = 0, 0
    while n_kept < n_visits and n_passes != max_passes:
        n_passes += 1
        kept_before = n_kept
        for start in range(0, n_visits, block):
            stop = min(start + block, n_visits)
            ids = np.unique(row_of[start:stop][~visits.is_kept[start:stop]])
            # RowArrays that are equally far behind are in one tile, so that none is shown what it knows.
            queries = queries._replace(ids=ids[np.argsort(queries.seen[ids], kind="stable")])
            update_heaps(store, n_kept, queries, rule)
            kept = kept._replace(n_passes=n_passes)
            n_kept = _visit_block(start, stop, visits, kept, n_kept, store, queries, rule, min_confidence, n_labels)
        if n_kept == kept_before:
            break
    return CondensedSet(kept.visits[:n_kept], kept.reasons[:n_kept], kept.passes[:n_kept], n_passes)


def _block_size(n_visits: int) -> int:
    # Long blocks keep many threads busy; short ones keep the part that runs alone small.
    return min(max(n_visits // (32 * TILE), 4), 32) * TILE


@njit(cache=True)
def _visit_block(
    start: int, stop: int, visits: _Visits, kept: CondensedSet, n_kept: int, store: Store, queries: Queries, rule: Rule,
    min_confidence: float, n_labels: int,
) -> int:  # fmt: skip
    """Visit a block whose distinct rows have seen the whole store; return how many are stored then."""
    proba, bounds, totals = np.empty(n_labels), np.zeros(TILE), np.zeros(TILE)
    for v in range(start, stop):
        if visits.is_kept[v]:
            continue
        # Figs. 1 and 2: stored if C(x) != y, or if P_C(y | x) is below the threshold.
        if n_kept == 0:
            reason = FIRST
        else:
            label, _ = vote(queries.near, visits.row_of[v], queries.near.distance.shape[1], store.codes, rule, proba)
            if label != visits.codes[v]:
                reason = WRONG
            elif proba[visits.codes[v]] < min_confidence * (1.0 - TIED):
                reason = UNSURE
            else:
                continue
        visits.is_kept[v] = True
        store.ids[n_kept], store.codes[n_kept] = visits.row_of[v], visits.codes[v]
        kept.visits[n_kept], kept.reasons[n_kept], kept.passes[n_kept] = v, reason, kept.n_passes
        n_kept += 1
        for t in range(n_tiles_of(len(queries.ids))):
            push_tile(store, n_kept - 1, n_kept, queries, t, rule, bounds, totals)
    queries.seen[queries.ids] = n_kept
    return n_kept
