"""Distances between rows, nearest stored rows and votes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from handful.kernels.cache import njit
from handful.kernels.hashing import mix

EUCLIDEAN, MANHATTAN, CHEBYSHEV, MINKOWSKI = range(4)
TILE = 64

# Numbers to look at from which starting the threads pays, also on a busy machine, where threads wait for each other.
WORTH_THREADS = 1_000_000

# Only loops that say so run in parallel: turning every array expression into a parallel loop triples the time to compile.
PARALLEL = {
    "comprehension": False,
    "fusion": False,
    "numpy": False,
    "prange": True,
    "reduction": False,
    "setitem": False,
    "stencil": False,
}

# A bound in powers of distances is widened by this, so that rounding in the root never hides a row; the comparison
# that counts is between distances.
_SLACK = 1.0 + 1e-9


class Rows(NamedTuple):
    """Rows of a table as the kernels take them.

    Parameters
    ----------
    dense : ndarray of shape (n_rows, n_dense)
        Numeric columns, float32 or float64; no columns if the table is sparse.
    nominal : ndarray of int32, shape (n_rows, n_nominal)
        Codes of categorical columns; unequal codes are at distance 1.
    indptr, indices, data : ndarray
        A CSR matrix with sorted column numbers (int64, int32, and the type of `dense`); a single 0 in `indptr` and two
        empty arrays if the table is dense.
    """

    dense: np.ndarray
    nominal: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


class Metric(NamedTuple):
    """A metric: one of the codes of this module and the exponent of Minkowski's."""

    code: int
    power: float


@njit(cache=True)
def root(total: float, metric: Metric) -> Any:
    """Turn a sum of powers into a distance."""
    if metric.code == EUCLIDEAN:
        return np.sqrt(total)
    if metric.code == MINKOWSKI:
        return total ** (1.0 / metric.power)
    return total


@njit(cache=True)
def bound_of(distance: float, metric: Metric) -> Any:
    """Return a sum of powers that no row nearer than, or as near as, `distance` exceeds."""
    if metric.code == EUCLIDEAN:
        return distance * distance * _SLACK
    if metric.code == MINKOWSKI:
        return distance**metric.power * _SLACK
    return distance


@njit(cache=True)
def _add(total: float, gap: float, metric: Metric) -> Any:
    if metric.code == EUCLIDEAN:
        return total + gap * gap
    if metric.code == MANHATTAN:
        return total + abs(gap)
    if metric.code == CHEBYSHEV:
        return max(total, abs(gap))
    return total + abs(gap) ** metric.power


@njit(cache=True)
def _sparse_total(a: Rows, i: int, b: Rows, j: int, metric: Metric) -> float:
    """Add up the differences of two sparse rows in the order of columns, as a dense row would."""
    p, p_end = a.indptr[i], a.indptr[i + 1]
    q, q_end = b.indptr[j], b.indptr[j + 1]
    total = 0.0
    while p < p_end or q < q_end:
        if q == q_end or (p < p_end and a.indices[p] < b.indices[q]):
            gap = np.float64(a.data[p])
            p += 1
        elif p == p_end or b.indices[q] < a.indices[p]:
            gap = np.float64(b.data[q])
            q += 1
        else:
            gap = np.float64(a.data[p]) - np.float64(b.data[q])
            p += 1
            q += 1
        total = _add(total, gap, metric)
    return total


@njit(cache=True)
def fill_tile(rows: Rows, ids: np.ndarray, dense: np.ndarray, nominal: np.ndarray) -> None:
    """Copy up to `TILE` rows into a column-major tile; `dense` has shape (n_dense, TILE) and is float64."""
    for b in range(len(ids)):
        u = ids[b]
        for f in range(rows.dense.shape[1]):
            dense[f, b] = rows.dense[u, f]
        for f in range(rows.nominal.shape[1]):
            nominal[f, b] = rows.nominal[u, f]


@njit(cache=True)
def tile_totals(
    stored: Rows,
    s: int,
    waiting: Rows,
    ids: np.ndarray,
    dense: np.ndarray,
    nominal: np.ndarray,
    metric: Metric,
    out: np.ndarray,
) -> None:
    """Write the sums of powers between stored row `s` and the rows of a tile into `out`."""
    if len(stored.indptr) > 1:
        for b in range(len(ids)):
            out[b] = _sparse_total(stored, s, waiting, ids[b], metric)
        return
    for b in range(TILE):
        out[b] = 0.0
    code, power = metric.code, metric.power
    for f in range(dense.shape[0]):
        column, value = dense[f], np.float64(stored.dense[s, f])
        if code == EUCLIDEAN:
            for b in range(TILE):
                gap = column[b] - value
                out[b] += gap * gap
        elif code == MANHATTAN:
            for b in range(TILE):
                out[b] += abs(column[b] - value)
        elif code == CHEBYSHEV:
            for b in range(TILE):
                out[b] = max(out[b], abs(column[b] - value))
        else:
            for b in range(TILE):
                out[b] += abs(column[b] - value) ** power
    for f in range(nominal.shape[0]):
        symbols, symbol = nominal[f], stored.nominal[s, f]
        if code == CHEBYSHEV:
            for b in range(TILE):
                out[b] = max(out[b], 1.0 if symbols[b] != symbol else 0.0)
        else:
            for b in range(TILE):
                out[b] += 1.0 if symbols[b] != symbol else 0.0


@njit(cache=True)
def row_keys(n_rows: int, dense: np.ndarray, nominal: np.ndarray, indptr: np.ndarray, indices: np.ndarray,
             data: np.ndarray) -> np.ndarray:  # fmt: skip
    """Return a 64-bit key of every row; identical rows have equal keys.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    dense, data : ndarray of unsigned integers
        The numbers of a `Rows`, seen as bits, with no negative zero among them.
    nominal, indptr, indices : ndarray
        As in a `Rows`; a sparse row holds no explicit zero.

    Returns
    -------
    ndarray of uint64
        The keys.
    """
    keys = np.empty(n_rows, dtype=np.uint64)
    for i in range(n_rows):
        key = np.uint64(0x9E3779B97F4A7C15)
        for f in range(dense.shape[1]):
            key = mix(key ^ np.uint64(dense[i, f]))
        for f in range(nominal.shape[1]):
            key = mix(key ^ np.uint64(nominal[i, f]))
        if len(indptr) > 1:
            for p in range(indptr[i], indptr[i + 1]):
                key = mix(mix(key ^ np.uint64(indices[p])) ^ np.uint64(data[p]))
        keys[i] = key
    return keys


@njit(cache=True)
def same_rows(rows: Rows, first: np.ndarray) -> bool:
    """Tell whether every row equals the row that `first` names for it."""
    for i in range(len(first)):
        j = first[i]
        if i == j:
            continue
        for f in range(rows.dense.shape[1]):
            if rows.dense[i, f] != rows.dense[j, f]:
                return False
        for f in range(rows.nominal.shape[1]):
            if rows.nominal[i, f] != rows.nominal[j, f]:
                return False
        if len(rows.indptr) > 1:
            length = rows.indptr[i + 1] - rows.indptr[i]
            if length != rows.indptr[j + 1] - rows.indptr[j]:
                return False
            for step in range(length):
                p, q = rows.indptr[i] + step, rows.indptr[j] + step
                if rows.indices[p] != rows.indices[q] or rows.data[p] != rows.data[q]:
                    return False
    return True


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


@njit(cache=True)
def heap_push(near: Heap, u: int, distance: float, pos: int, label: int, all_ties: bool) -> None:
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
def push_tile(
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
    near: Heap,
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
                heap_push(near, ids[b], root(totals[b], metric), c, labels[c], all_ties)
                bounds[b] = bound_of(near.distance[ids[b], k - 1], metric)


@njit(cache=True)
def _update_tiles(
    first: int, last: int, stored: Rows, stored_ids: np.ndarray, labels: np.ndarray, n_stored: int, waiting: Rows,
    ids: np.ndarray, seen: np.ndarray, dense: np.ndarray, nominal: np.ndarray, near: Heap, metric: Metric, all_ties: bool,
) -> None:  # fmt: skip
    """Let the tiles from `first` to `last` catch up."""
    for t in range(first, last):
        tile_ids = ids[t * TILE : min(len(ids), (t + 1) * TILE)]
        fill_tile(waiting, tile_ids, dense[t], nominal[t])
        start = n_stored
        for b in range(len(tile_ids)):
            start = min(start, seen[tile_ids[b]])
        push_tile(
            stored, stored_ids, labels, start, n_stored, waiting, tile_ids, seen, dense[t], nominal[t], near, metric,
            all_ties,
        )  # fmt: skip
        for b in range(len(tile_ids)):
            seen[tile_ids[b]] = n_stored


@njit(cache=True, parallel=PARALLEL)
def _update_tiles_parallel(
    first: int, last: int, stored: Rows, stored_ids: np.ndarray, labels: np.ndarray, n_stored: int, waiting: Rows,
    ids: np.ndarray, seen: np.ndarray, dense: np.ndarray, nominal: np.ndarray, near: Heap, metric: Metric, all_ties: bool,
) -> None:  # fmt: skip
    for t in prange(first, last):
        one = np.int64(t)
        _update_tiles(
            one, one + 1, stored, stored_ids, labels, n_stored, waiting, ids, seen, dense, nominal, near, metric, all_ties
        )  # fmt: skip


def update_heaps(
    stored: Rows,
    stored_ids: np.ndarray,
    labels: np.ndarray,
    n_stored: int,
    waiting: Rows,
    ids: np.ndarray,
    seen: np.ndarray,
    dense: np.ndarray,
    nominal: np.ndarray,
    near: Heap,
    metric: Metric,
    all_ties: bool,
) -> None:
    """Fill the tiles of a block of rows, and push what was stored since their last update.

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
        Receives their categorical columns.
    near : Heap
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
    (_update_tiles_parallel if worth_threads else _update_tiles)(
        0, (len(ids) + TILE - 1) // TILE,
        stored, stored_ids, labels, n_stored, waiting, ids, seen, dense, nominal, near, metric, all_ties,
    )  # fmt: skip


UNIFORM, DISTANCE, GAUSSIAN, RANK, DUDANI, LITERAL, EXPONENTIAL = range(7)
TIED = 1e-12  # masses that differ by less than this part of the larger are tied
_LN_1000 = np.log(1000.0)


@njit(cache=True)
def vote_weight(rule: int, distance: float, nearest: float, farthest: float, rank: int, n_ranks: int) -> Any:
    """Weigh one voter; weights of one vote may have a common factor, which `vote` divides out."""
    if rule == DISTANCE:
        if nearest == 0.0:
            return 1.0 if distance == 0.0 else 0.0
        return nearest / distance
    if rule == GAUSSIAN:
        if farthest == 0.0:
            return 1.0
        return np.exp(-_LN_1000 * (distance / farthest) ** 2)
    if rule == RANK:
        if n_ranks == 1:
            return 1.0
        return np.exp(-_LN_1000 * ((rank + 1) / n_ranks) ** 2)
    if rule == DUDANI:
        if farthest == nearest:
            return 1.0
        return (farthest - distance) / (farthest - nearest)
    if rule == LITERAL:
        return 1.0 if farthest == 0.0 else distance / farthest
    if rule == EXPONENTIAL:
        return np.exp(nearest - distance)
    return 1.0


@njit(cache=True, error_model="numpy")
def vote(
    near: Heap, u: int, k: int, labels: np.ndarray, rule: int, all_ties: bool, proba: np.ndarray
) -> tuple[int, int]:
    """Let the k nearest of row `u` vote.

    Parameters
    ----------
    near : Heap
        The memory, at least `k` wide; something must be stored.
    u : int
        The row.
    k : int
        Number of neighbors, or of distinct distances.
    labels : ndarray of int32
        Code of each stored row.
    rule : int
        How voters are weighed: a code of this module.
    all_ties : bool
        See `handful.kernels.distances`.
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
    nearest, farthest = known[0], known[m - 1]
    for label in range(len(proba)):
        proba[label] = 0.0
    total = 0.0
    for e in range(m):
        w = vote_weight(rule, known[e], nearest, farthest, e + 1, m)
        if all_ties:
            for label in range(len(proba)):
                mass = w * near.counts[u, e, label]
                proba[label] += mass
                total += mass
        else:
            proba[labels[near.pos[u, e, 0]]] += w
            total += w
    most = proba[0]
    for label in range(len(proba)):
        most = max(most, proba[label])
    enough = most * (1.0 - TIED)
    winner, winner_pos = -1, -1
    for e in range(m):
        for j in range(near.pos.shape[2]):
            pos = near.pos[u, e, j]
            if pos >= 0 and proba[labels[pos]] >= enough and (winner_pos < 0 or pos < winner_pos):
                winner, winner_pos = labels[pos], pos
        if winner_pos >= 0:
            break
    for label in range(len(proba)):
        proba[label] /= total
    return winner, winner_pos


def vote_all(near: Heap, k: int, labels: np.ndarray, n_labels: int, rule: int, all_ties: bool
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
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
    n = near.distance.shape[0]
    winners = np.empty(n, dtype=np.int32)
    positions = np.empty(n, dtype=np.int32)
    proba = np.empty((n, n_labels))
    _vote_rows(near, k, labels, rule, all_ties, winners, positions, proba)
    return winners, positions, proba


@njit(cache=True)
def _vote_rows(near: Heap, k: int, labels: np.ndarray, rule: int, all_ties: bool, winners: np.ndarray,
               positions: np.ndarray, proba: np.ndarray) -> None:  # fmt: skip
    for u in range(len(winners)):
        winners[u], positions[u] = vote(near, u, k, labels, rule, all_ties, proba[u])


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
