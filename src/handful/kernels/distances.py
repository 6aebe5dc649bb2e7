"""Distances between rows, nearest stored rows and votes."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np

from handful.kernels.cache import njit
from handful.kernels.hashing import mix_bits

TILE = 64

# Numbers to compare from which on threads pay, also on a busy machine, where threads wait for each other.
WORTH_THREADS = 1_000_000

# A bound in squared distances is widened by this, so that rounding in the root never hides a row; the comparison
# that counts is between distances.
_SLACK = 1.0 + 1e-9


class RowArrays(NamedTuple):
    """RowArrays of a table as the kernels take them.

    Parameters
    ----------
    dense : ndarray of shape (n_rows, n_dense)
        Numeric columns, float32 or float64; no columns if the table is sparse.
    categorical : ndarray of int32, shape (n_rows, n_categorical)
        Codes of categorical columns; unequal codes are at distance 1.
    indptr, indices, data : ndarray
        A CSR matrix with sorted column numbers (int64, int32, and the type of `dense`); a single 0 in `indptr` and two
        empty arrays if the table is dense.
    """

    dense: np.ndarray
    categorical: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


VOTES = ("uniform", "distance", "gaussian", "rank", "dudani", "literal")
UNIFORM, DISTANCE, GAUSSIAN, RANK, DUDANI, LITERAL = range(len(VOTES))


class Rule(NamedTuple):
    """Who votes and with what weight.

    Parameters
    ----------
    vote : int
        Position in `VOTES`.
    all_ties : bool
        Whether all rows at the k nearest distinct distances vote, or the k nearest rows.

    Examples
    --------
    >>> Rule.of("rank", "all")
    Rule(vote=3, all_ties=True)
    """

    vote: int
    all_ties: bool

    @classmethod
    def of(cls, vote: str, ties: str = "first") -> Rule:
        """Return the rule with these options of a classifier."""
        return cls(VOTES.index(vote), ties == "all")


@njit(cache=True, nogil=True)
def bound_of(distance: float) -> Any:
    """Return a sum of squares that no row nearer than, or as near as, `distance` exceeds."""
    return distance * distance * _SLACK


@njit(cache=True, nogil=True)
def _sparse_total(a: RowArrays, i: int, b: RowArrays, j: int) -> float:
    """Add up the squared differences of two sparse rows in the order of columns, as a dense row would."""
    p, p_end = a.indptr[i], a.indptr[i + 1]
    q, q_end = b.indptr[j], b.indptr[j + 1]
    total = 0.0
    while p < p_end or q < q_end:
        gap = 0.0
        left = q == q_end or (p < p_end and a.indices[p] <= b.indices[q])
        right = p == p_end or (q < q_end and b.indices[q] <= a.indices[p])
        if left:
            gap += np.float64(a.data[p])
            p += 1
        if right:
            gap -= np.float64(b.data[q])
            q += 1
        total += gap * gap
    return total


@njit(inline="always")
def square_distances(
    point: np.ndarray, symbols: np.ndarray, dense: np.ndarray, categorical: np.ndarray, totals: np.ndarray
) -> None:
    """Write the squared distances between a row and those of a tile into `totals`."""
    for b in range(TILE):
        totals[b] = 0.0
    for f in range(dense.shape[0]):
        column, value = dense[f], np.float64(point[f])
        for b in range(TILE):
            gap = column[b] - value
            totals[b] += gap * gap
    for f in range(categorical.shape[0]):
        codes, code = categorical[f], symbols[f]
        for b in range(TILE):
            totals[b] += codes[b] != code


@njit(cache=True)
def row_keys(rows: RowArrays, dense: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Return a 64-bit key of every row; identical rows have equal keys.

    Parameters
    ----------
    rows : RowArrays
        The rows; a sparse row holds no explicit zero.
    dense, data : ndarray of unsigned integers
        Their numbers seen as bits, with no negative zero among them.

    Returns
    -------
    ndarray of uint64
        The keys.
    """
    keys = np.full(len(dense), np.uint64(0x9E3779B97F4A7C15))
    for i in range(len(keys)):
        key = keys[i]
        for f in range(dense.shape[1]):
            key = mix_bits(key ^ np.uint64(dense[i, f]))
        for f in range(rows.categorical.shape[1]):
            key = mix_bits(key ^ np.uint64(rows.categorical[i, f]))
        if len(rows.indptr) > 1:
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                key = mix_bits(mix_bits(key ^ np.uint64(rows.indices[p])) ^ np.uint64(data[p]))
        keys[i] = key
    return keys


FARTHEST = np.finfo(np.float64).max  # an infinite distance marks an empty place


class Heap(NamedTuple):
    """The nearest stored rows of each row, sorted.

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


def make_heap(n_rows: int, k: int, n_labels: int, all_ties: bool) -> Heap:
    """Return the memory of rows that have seen no stored row yet."""
    shape = (n_rows, k, n_labels if all_ties else 1)
    return Heap(np.full((n_rows, k), np.inf), np.full(shape, -1, dtype=np.int32), np.zeros(shape, dtype=np.int32))


@njit(cache=True, nogil=True)
def heap_push(near: Heap, u: int, distance: float, pos: int, label: int, all_ties: bool) -> None:
    """Show a stored row to row `u`; stored rows must be shown in the order of storing."""
    k = near.distance.shape[1]
    distance = min(distance, FARTHEST)  # an infinite one would look like an empty place
    known = near.distance[u]
    if not all_ties:
        _push_nearest(near, u, distance, pos)
        return
    if distance > known[k - 1]:
        return
    e = 0
    while e < k and known[e] < distance:
        e += 1
    if known[e] != distance:
        for later in range(k - 1, e, -1):
            known[later] = known[later - 1]
            near.pos[u, later] = near.pos[u, later - 1]
            near.counts[u, later] = near.counts[u, later - 1]
        known[e] = distance
        near.pos[u, e] = -1
        near.counts[u, e] = 0
    if near.counts[u, e, label] == 0:
        near.pos[u, e, label] = pos
    near.counts[u, e, label] += 1


@njit(inline="always")
def _push_nearest(near: Heap, u: int, distance: float, pos: int) -> None:
    known = near.distance[u]
    e = len(known) - 1
    if distance < known[e]:
        while e > 0 and known[e - 1] > distance:
            known[e] = known[e - 1]
            near.pos[u, e, 0] = near.pos[u, e - 1, 0]
            near.counts[u, e, 0] = near.counts[u, e - 1, 0]
            e -= 1
        known[e] = distance
        near.pos[u, e, 0] = pos
        near.counts[u, e, 0] = 1


class Store(NamedTuple):
    """RowArrays that are neighbors of others: the `ids` of some rows, in the order of storing, and their codes."""

    rows: RowArrays
    ids: np.ndarray
    codes: np.ndarray


class Queries(NamedTuple):
    """RowArrays that look for neighbors.

    Parameters
    ----------
    rows : RowArrays
        RowArrays among which they are.
    ids : ndarray of int64
        Which of them look.
    seen : ndarray of int64, shape (n_rows,)
        How many stored rows each has seen.
    near : Heap
        The nearest ones that each has seen.
    dense : ndarray of float64, shape (n_tiles, n_dense, TILE)
        The numbers of those that look, column by column; filled by `update_heaps`.
    categorical : ndarray of int32, shape (n_tiles, n_categorical, TILE)
        Their categorical columns.
    """

    rows: RowArrays
    ids: np.ndarray
    seen: np.ndarray
    near: Heap
    dense: np.ndarray
    categorical: np.ndarray


def make_queries(rows: RowArrays, near: Heap, ids: np.ndarray) -> Queries:
    """Return queries by some rows, none of which has seen a stored row."""
    n_tiles = n_tiles_of(len(ids))
    return Queries(
        rows,
        ids,
        np.zeros(len(near.distance), dtype=np.int64),
        near,
        np.zeros((n_tiles, rows.dense.shape[1], TILE)),
        np.zeros((n_tiles, rows.categorical.shape[1], TILE), dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def n_tiles_of(n: int) -> int:
    """Return how many tiles hold `n` rows."""
    return (n + TILE - 1) // TILE


@njit(cache=True, nogil=True)
def _next_hit(
    points: np.ndarray,
    symbols: np.ndarray,
    ids: np.ndarray,
    c: int,
    dense: np.ndarray,
    categorical: np.ndarray,
    bounds: np.ndarray,
    totals: np.ndarray,
) -> int:
    """Return the first stored row from position `c` on that any row of a tile is near enough to, with its squares in `totals`.

    On its own and with plain arrays, this compiles to vector code; most stored rows are near to no row.
    """
    while c < len(ids):
        square_distances(points[ids[c]], symbols[ids[c]], dense, categorical, totals)
        hits = 0
        for b in range(TILE):
            hits += totals[b] <= bounds[b]
        if hits > 0:
            return c
        c += 1
    return c


@njit(cache=True, nogil=True)
def push_tile(
    store: Store, start: int, stop: int, queries: Queries, t: int, rule: Rule, bounds: np.ndarray, totals: np.ndarray
) -> None:
    """Show the stored rows ``start`` to ``stop`` to the rows of one tile, except those a row has already seen.

    `bounds` and `totals` are scratch of length TILE.
    """
    ids, near, seen, rows = queries.ids[t * TILE : (t + 1) * TILE], queries.near, queries.seen, store.rows
    last, is_sparse = near.distance.shape[1] - 1, len(rows.indptr) > 1
    for b in range(TILE):
        bounds[b] = bound_of(near.distance[ids[b], last]) if b < len(ids) else -1.0
    c = start
    while True:
        if is_sparse:
            for b in range(len(ids) if c < stop else 0):
                totals[b] = _sparse_total(rows, store.ids[c], queries.rows, ids[b])
        else:
            tile = queries.dense[t], queries.categorical[t]
            c = _next_hit(rows.dense, rows.categorical, store.ids[:stop], c, *tile, bounds, totals)
        if c == stop:
            return
        for b in range(len(ids)):
            if totals[b] <= bounds[b] and c >= seen[ids[b]]:
                heap_push(near, ids[b], np.sqrt(totals[b]), c, store.codes[c], rule.all_ties)
                bounds[b] = bound_of(near.distance[ids[b], last])
        c += 1


@njit(cache=True, nogil=True)
def _update_tiles(first: int, last: int, store: Store, n_stored: int, queries: Queries, rule: Rule) -> None:
    rows, seen = queries.rows, queries.seen
    bounds, totals = np.zeros(TILE), np.zeros(TILE)
    for t in range(first, last):
        ids = queries.ids[t * TILE : (t + 1) * TILE]
        start = n_stored
        for b in range(len(ids)):
            start = min(start, seen[ids[b]])
            for f in range(rows.dense.shape[1]):
                queries.dense[t, f, b] = rows.dense[ids[b], f]
            for f in range(rows.categorical.shape[1]):
                queries.categorical[t, f, b] = rows.categorical[ids[b], f]
        push_tile(store, start, n_stored, queries, t, rule, bounds, totals)
        for b in range(len(ids)):
            seen[ids[b]] = n_stored


def update_heaps(store: Store, n_stored: int, queries: Queries, rule: Rule) -> None:
    """Fill the tiles of rows that look for neighbors, and show them what was stored since their last update.

    Parameters
    ----------
    store : Store
        The stored rows.
    n_stored : int
        How many are stored.
    queries : Queries
        RowArrays that look; changed in place.
    rule : Rule
        Whether ties count.
    """
    rows = queries.rows
    n_columns = rows.dense.shape[1] + rows.categorical.shape[1] + len(rows.indices) // max(len(rows.dense), 1)
    work = len(queries.ids) * n_stored * n_columns
    over_tiles(_update_tiles, n_tiles_of(len(queries.ids)), work, store, n_stored, queries, rule)


def over_tiles(kernel: Callable[..., None], n_tiles: int, work: int, *arguments: Any) -> None:
    """Call ``kernel(first, last, *arguments)`` for all tiles, in threads if there are `WORTH_THREADS` numbers to compare."""
    n_threads = min(numba.config.NUMBA_NUM_THREADS, n_tiles) if work > WORTH_THREADS else 1
    if n_threads <= 1:
        kernel(0, n_tiles, *arguments)
        return
    cuts = [n_tiles * i // n_threads for i in range(n_threads + 1)]
    for done in [_threads().submit(kernel, *cut, *arguments) for cut in pairwise(cuts)]:
        done.result()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a child process has no threads of its parent


TIED = 1e-12  # masses that differ by less than this part of the larger are tied
_LN_1000 = np.log(1000.0)


@njit(cache=True, nogil=True)
def vote_weight(rule: int, distance: float, nearest: float, farthest: float, rank: int, n_ranks: int) -> Any:
    """Weigh one voter; weights of one vote may have a common factor, which `vote` divides out."""
    if rule == DISTANCE:
        return nearest / distance if nearest > 0.0 else 1.0 * (distance == 0.0)
    if rule == RANK and n_ranks > 1:
        return np.exp(-_LN_1000 * ((rank + 1) / n_ranks) ** 2)
    if rule == DUDANI and farthest > nearest:
        return (farthest - distance) / (farthest - nearest)
    if rule in (GAUSSIAN, LITERAL) and farthest > 0.0:
        share = distance / farthest
        return share if rule == LITERAL else np.exp(-_LN_1000 * share**2)
    return 1.0


@njit(cache=True, error_model="numpy", nogil=True)
def vote(near: Heap, u: int, k: int, codes: np.ndarray, rule: Rule, proba: np.ndarray) -> tuple[int, int]:
    """Let the k nearest of row `u` vote.

    Parameters
    ----------
    near : Heap
        The memory, at least `k` wide; something must be stored.
    u : int
        The row.
    k : int
        Number of neighbors, or of distinct distances.
    codes : ndarray of int32
        Code of each stored row.
    rule : Rule
        Who votes and how.
    proba : ndarray of float64, shape (n_labels,)
        Receives the part of the votes for each label.

    Returns
    -------
    label, pos : int
        The winner, and the position in the store of the nearest voter for it. Of labels whose masses are equal up to
        rounding the one with the nearest voter wins.
    """
    known = near.distance[u]
    m = 0
    while m < k and known[m] <= FARTHEST:
        m += 1
    proba[:] = 0.0
    total = 0.0
    for e in range(m):
        w = vote_weight(rule.vote, known[e], known[0], known[m - 1], e + 1, m)
        for j in range(near.pos.shape[2]):
            if near.pos[u, e, j] >= 0:
                mass = w * near.counts[u, e, j]
                proba[codes[near.pos[u, e, j]]] += mass
                total += mass
    winner = _nearest_winner(near.pos[u, :m], codes, proba, proba.max() * (1.0 - TIED))
    proba /= total
    return codes[winner], winner


@njit(inline="always")
def _nearest_winner(positions: np.ndarray, codes: np.ndarray, proba: np.ndarray, enough: float) -> int:
    """Return the position in the store of the nearest voter for a label with enough votes, of equally near ones the first."""
    winner = -1
    for e in range(len(positions)):
        for pos in positions[e]:
            if pos >= 0 and proba[codes[pos]] >= enough and (winner < 0 or pos < winner):
                winner = pos
        if winner >= 0:
            break
    return winner


def vote_all(
    near: Heap, k: int, codes: np.ndarray, n_labels: int, rule: Rule
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Let every row's neighbors vote; see `vote`.

    Returns
    -------
    winners : ndarray of int32
        Code of the winning label of each row.
    positions : ndarray of int32
        Position in the store of the nearest voter for it.
    proba : ndarray of shape (n_rows, n_labels)
        Parts of the votes.
    """
    n = len(near.distance)
    winners, positions = np.empty((2, n), dtype=np.int32)
    proba = np.empty((n, n_labels))
    _vote_rows(near, k, codes, rule, winners, positions, proba)
    return winners, positions, proba


@njit(cache=True)
def _vote_rows(
    near: Heap, k: int, codes: np.ndarray, rule: Rule, winners: np.ndarray, positions: np.ndarray, proba: np.ndarray
) -> None:
    for u in range(len(winners)):
        winners[u], positions[u] = vote(near, u, k, codes, rule, proba[u])


@njit(cache=True)
def nearest_columns(distances: np.ndarray, near: Heap) -> None:
    """Let every row of a matrix of distances keep its nearest columns, of equally near ones the first.

    Parameters
    ----------
    distances : ndarray of float64, shape (n_rows, n_stored)
        Distance of each row to each stored row.
    near : Heap
        The memory, empty; changed in place.
    """
    for u in range(distances.shape[0]):
        for c in range(distances.shape[1]):
            heap_push(near, u, distances[u, c], c, 0, False)
