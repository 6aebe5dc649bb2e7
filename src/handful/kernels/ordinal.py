"""Ordinal labeling: the pool of waiting rows and their ranking."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from handful.kernels.cache import njit
from handful.kernels.distances import (
    CHEBYSHEV,
    EUCLIDEAN,
    MANHATTAN,
    PARALLEL,
    TIED,
    TILE,
    WORTH_THREADS,
    Heap,
    Metric,
    Rows,
    bound_of,
    heap_push,
    root,
    tile_totals,
    vote,
)

_NEGLIGIBLE = -45.0  # exp of this adds nothing to a sum of at least 1, nor to a difference that rounding can see
_LOG2_E = 1.4426950408889634
_LN_2_HIGH, _LN_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the first has zeros at its end
_POWERS = 2.0 ** -np.arange(80.0)


class Pool(NamedTuple):
    """The waiting rows, in tiles; ``slot = tile * TILE + place``.

    Parameters
    ----------
    row : ndarray of int64, shape (n_slots,)
        Waiting row in each slot.
    x : ndarray of shape (n_tiles, n_features, TILE)
        Their features.
    max_log_weight, total_weight, to_mean : ndarray of shape (n_tiles, n_classes, TILE)
        Largest log weight, sum of relative weights, and distance d(x, M_j(x)).
    shift : ndarray of shape (n_tiles, n_classes, n_features, TILE)
        Weighted sums of differences.
    bound : ndarray of shape (n_tiles, TILE)
        Sum of powers up to which a row may be among the nearest.
    factor : ndarray of shape (n_tiles, TILE)
        Distance factor; infinite in an empty slot.
    min_factor : ndarray of shape (n_tiles,)
        Smallest factor of each tile.
    nominal : ndarray of int32, shape (0, TILE)
        The categorical columns: none.
    """

    row: np.ndarray
    x: np.ndarray
    max_log_weight: np.ndarray
    total_weight: np.ndarray
    to_mean: np.ndarray
    shift: np.ndarray
    bound: np.ndarray
    factor: np.ndarray
    min_factor: np.ndarray
    nominal: np.ndarray


def make_pool(rows: Rows, waiting: np.ndarray, n_classes: int) -> Pool:
    """Fill the slots with the waiting rows, in their order; they have met nobody yet."""
    n_tiles, d = (len(waiting) + TILE - 1) // TILE, rows.dense.shape[1]
    x = np.zeros((n_tiles * TILE, d))
    x[: len(waiting)] = rows.dense[waiting]
    return Pool(
        row=np.arange(n_tiles * TILE),
        x=np.ascontiguousarray(x.reshape(n_tiles, TILE, d).transpose(0, 2, 1)),
        max_log_weight=np.full((n_tiles, n_classes, TILE), -np.inf),
        total_weight=np.zeros((n_tiles, n_classes, TILE)),
        to_mean=np.zeros((n_tiles, n_classes, TILE)),
        shift=np.zeros((n_tiles, n_classes, d, TILE)),
        bound=np.full((n_tiles, TILE), np.inf),
        factor=np.full((n_tiles, TILE), np.inf),
        min_factor=np.full(n_tiles, np.inf),
        nominal=np.zeros((0, TILE), dtype=np.int32),
    )


@njit(cache=True)
def _exp(x: float) -> Any:
    """Return exp(x) for x between -45 and 0, to the last bit or one off, in a form that compiles to vector code."""
    k = np.floor(x * _LOG2_E + 0.5)
    r = (x - k * _LN_2_HIGH) - k * _LN_2_LOW
    p = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600)))))
    p = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * p))))))
    return p * _POWERS[int(-k)]


# A check for division by zero would break the vectors; fused multiply-adds change no order of rows.
@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _update_mean(
    pool: Pool, t: int, rows: Rows, s: int, j: int, totals: np.ndarray, change: np.ndarray, weight: np.ndarray,
    metric: Metric, gamma: float,
) -> None:  # fmt: skip
    """Add row `s`, at the given distances, to class `j` for every row of a tile, and measure d(x, M_j(x)) anew."""
    max_log_weight, total_weight = pool.max_log_weight[t, j], pool.total_weight[t, j]
    shift, x = pool.shift[t, j], pool.x[t]
    n_moved, n_nearer = 0, 0
    if metric.code == EUCLIDEAN:
        for b in range(TILE):
            change[b] = -totals[b] * gamma - max_log_weight[b]  # kappa = exp(-d^2 / (2 sigma^2)), in logs
    else:
        for b in range(TILE):
            change[b] = -(root(totals[b], metric) ** 2) * gamma - max_log_weight[b]
    for b in range(TILE):
        n_moved += change[b] > _NEGLIGIBLE
        n_nearer += change[b] > 0.0
    if n_moved == 0:
        return
    if n_nearer > 0:
        # Nearer than all members before: the sums so far shrink, so that the largest weight is 1 again.
        for b in range(TILE):
            if change[b] > 0.0:
                scale = np.exp(-change[b])
                fresh = max_log_weight[b] == -np.inf
                max_log_weight[b] = -(root(totals[b], metric) ** 2) * gamma if fresh else max_log_weight[b] + change[b]
                total_weight[b] *= scale
                for f in range(x.shape[0]):
                    shift[f, b] *= scale
                change[b] = 0.0
    for b in range(TILE):
        weight[b] = _exp(max(change[b], _NEGLIGIBLE)) if change[b] > _NEGLIGIBLE else 0.0
        total_weight[b] += weight[b]
    to_mean, code, power = pool.to_mean[t, j], metric.code, metric.power
    for b in range(TILE):
        to_mean[b] = 0.0
    for f in range(x.shape[0]):
        value, column, sums = np.float64(rows.dense[s, f]), x[f], shift[f]
        if code == EUCLIDEAN:
            for b in range(TILE):
                moved = sums[b] + weight[b] * (value - column[b])
                sums[b] = moved
                to_mean[b] += moved * moved
            continue
        for b in range(TILE):
            sums[b] += weight[b] * (value - column[b])
            if code == CHEBYSHEV:
                to_mean[b] = max(to_mean[b], abs(sums[b]))
            else:
                to_mean[b] += abs(sums[b]) if code == MANHATTAN else abs(sums[b]) ** power
    # M_j(x) - x = shift / total_weight
    if code == EUCLIDEAN:
        for b in range(TILE):
            to_mean[b] = np.sqrt(to_mean[b]) / total_weight[b]
    else:
        for b in range(TILE):
            to_mean[b] = root(to_mean[b], metric) / total_weight[b]


@njit(cache=True, error_model="numpy")
def _update_factors(pool: Pool, t: int, n_left: int, total: np.ndarray) -> None:
    """Compute the distance factor DF(x) = min_j d(x, M_j) / sum_j d(x, M_j) for the rows of a tile."""
    factor = pool.factor[t]
    for b in range(TILE):
        factor[b], total[b] = np.inf, 0.0
    for j in range(pool.to_mean.shape[1]):
        if pool.total_weight[t, j, 0] > 0.0:  # a class without labeled members is skipped
            to_mean = pool.to_mean[t, j]
            for b in range(TILE):
                factor[b] = min(factor[b], to_mean[b])
                total[b] += to_mean[b]
    for b in range(TILE):
        quotient = factor[b] / total[b]
        factor[b] = quotient if total[b] > 0.0 else 0.0
    for b in range(max(n_left - t * TILE, 0), TILE):
        factor[b] = np.inf
    _update_min(pool, t)


@njit(cache=True)
def _update_min(pool: Pool, t: int) -> None:
    min_factor = pool.factor[t, 0]
    for b in range(TILE):
        min_factor = min(min_factor, pool.factor[t, b])
    pool.min_factor[t] = min_factor


@njit(cache=True)
def update_tiles(
    first: int,
    last: int,
    pool: Pool,
    n_left: int,
    rows: Rows,
    stored: np.ndarray,
    codes: np.ndarray,
    start: int,
    stop: int,
    near: Heap,
    metric: Metric,
    gamma: float,
) -> None:
    """Let waiting rows meet the stored rows `start` to `stop`, as neighbors and as members of their class, and rank them anew.

    Parameters
    ----------
    first, last : int
        The tiles of the waiting rows.
    pool : Pool
        The waiting rows; changed in place.
    n_left : int
        How many are left; they fill the first slots.
    rows : Rows
        All rows, dense.
    stored : ndarray of int64
        Stored rows, in the order of storing.
    codes : ndarray of int32
        Their classes.
    start, stop : int
        Which of them to meet.
    near : Heap
        Memory of the waiting rows; changed in place.
    metric : Metric
        How distance is measured.
    gamma : float
        ``1 / (2 sigma^2)``.
    """
    k = near.distance.shape[1]
    scratch = np.empty((3, TILE))
    totals, change, weight = scratch[0], scratch[1], scratch[2]
    for t in range(first, last):
        n = min(TILE, n_left - t * TILE)
        ids, bound = pool.row[t * TILE : t * TILE + n], pool.bound[t]
        for c in range(start, stop):
            tile_totals(rows, stored[c], rows, ids, pool.x[t], pool.nominal, metric, totals)
            hits = 0
            for b in range(TILE):
                hits += totals[b] <= bound[b]
            if hits > 0:
                for b in range(n):
                    if totals[b] <= bound[b]:
                        heap_push(near, ids[b], root(totals[b], metric), c, codes[c], False)
                        bound[b] = bound_of(near.distance[ids[b], k - 1], metric)
            _update_mean(pool, t, rows, stored[c], codes[c], totals, change, weight, metric, gamma)
        _update_factors(pool, t, n_left, totals)


@njit(cache=True, parallel=PARALLEL)
def update_tiles_parallel(
    pool: Pool, n_left: int, rows: Rows, stored: np.ndarray, codes: np.ndarray, start: int, stop: int, near: Heap,
    metric: Metric, gamma: float,
) -> None:  # fmt: skip
    """Do what `update_tiles` does, for all tiles and in threads (for many rows)."""
    for t in prange((n_left + TILE - 1) // TILE):
        one = np.int64(t)
        update_tiles(one, one + 1, pool, n_left, rows, stored, codes, start, stop, near, metric, gamma)


@njit(cache=True)
def swap_remove(pool: Pool, slot: int, last: int, slot_of: np.ndarray) -> None:
    """Move the row of the slot `last` to `slot`, whose row leaves."""
    t, b = slot // TILE, slot % TILE
    s, c = last // TILE, last % TILE
    pool.row[slot] = pool.row[last]
    slot_of[pool.row[slot]] = slot
    for f in range(pool.x.shape[1]):
        pool.x[t, f, b] = pool.x[s, f, c]
    for j in range(pool.to_mean.shape[1]):
        pool.max_log_weight[t, j, b] = pool.max_log_weight[s, j, c]
        pool.total_weight[t, j, b] = pool.total_weight[s, j, c]
        pool.to_mean[t, j, b] = pool.to_mean[s, j, c]
        for f in range(pool.x.shape[1]):
            pool.shift[t, j, f, b] = pool.shift[s, j, f, c]
    pool.bound[t, b] = pool.bound[s, c]
    pool.factor[t, b] = pool.factor[s, c]
    pool.factor[s, c] = np.inf
    _update_min(pool, t)
    _update_min(pool, s)


CLOSE = 1e-9  # distance factors that differ by less are tied


@njit(cache=True)
def _argmin_factor(pool: Pool, n_left: int) -> int:
    """Return the slot with the smallest factor, of tied ones the slot of the lowest row."""
    n_tiles = (n_left + TILE - 1) // TILE
    limit = pool.min_factor[0]
    for t in range(n_tiles):
        limit = min(limit, pool.min_factor[t])
    limit += CLOSE
    best = -1
    for t in range(n_tiles):
        if pool.min_factor[t] <= limit:
            for b in range(TILE):
                slot = t * TILE + b
                if pool.factor[t, b] <= limit and (best < 0 or pool.row[slot] < pool.row[best]):
                    best = slot
    return best


@njit(cache=True)
def _confidence(near: Heap, u: int, codes: np.ndarray, label: int) -> float:
    """Return CF(x) of Liu et al. (2013) as printed: the part of the summed distances that agreeing neighbors have."""
    agreeing, total, n_agreeing, m = 0.0, 0.0, 0, 0
    for e in range(near.distance.shape[1]):
        pos = near.pos[u, e, 0]
        if pos < 0:
            break
        m += 1
        total += near.distance[u, e]
        if codes[pos] == label:
            agreeing += near.distance[u, e]
            n_agreeing += 1
    return agreeing / total if total > 0.0 else n_agreeing / m


class Steps(NamedTuple):
    """What happened at each step; see `rank_and_label`."""

    taken: np.ndarray
    codes: np.ndarray
    confidence: np.ndarray
    factors: np.ndarray
    stored_at: np.ndarray
    parents: np.ndarray


def rank_and_label(
    rows: Rows,
    labeled: np.ndarray,
    labeled_codes: np.ndarray,
    waiting: np.ndarray,
    order: np.ndarray,
    near: Heap,
    n_classes: int,
    metric: Metric,
    rule: int,
    sigma: float,
    min_confidence: float,
    batch: int,
    true_codes: np.ndarray,
) -> Steps:
    """Label the waiting rows one after the other.

    Parameters
    ----------
    rows : Rows
        All rows, dense.
    labeled : ndarray of int64
        Labeled rows, in the order of storing.
    labeled_codes : ndarray of int32
        Their codes.
    waiting : ndarray of int64
        Rows without a label, ascending.
    order : ndarray of int64
        Positions in `waiting` in the order of processing; empty for the order of the distance factor.
    near : Heap
        Memory of the waiting rows, empty; its width is the number of neighbors.
    n_classes : int
        Number of classes.
    metric, rule
        See `handful.kernels.distances`.
    sigma : float
        Width of the kernel.
    min_confidence : float
        A row is stored with its prediction if its confidence reaches this.
    batch : int
        Rows taken between two updates; 1 is exact.
    true_codes : ndarray of int32
        Empty; or a code for every waiting row, stored with it instead of the prediction.

    Returns
    -------
    taken : ndarray of int64
        Positions in `waiting` in the order of processing.
    codes : ndarray of int32
        Prediction at each step.
    confidence, factors : ndarray of float64
        Confidence and distance factor at each step.
    stored_at : ndarray of int64
        Position in the store that the step's row was given, or -1 if it was not stored.
    parents : ndarray of int32
        Position in the store of the nearest voter for the prediction.
    """
    n_labeled, n = len(labeled), len(waiting)
    gamma = 0.5 / (sigma * sigma)
    stored = np.empty(n_labeled + n, dtype=np.int64)
    stored_codes = np.empty(n_labeled + n, dtype=np.int32)
    stored[:n_labeled], stored_codes[:n_labeled] = labeled, labeled_codes
    steps = Steps(
        taken=np.empty(n, dtype=np.int64),
        codes=np.empty(n, dtype=np.int32),
        confidence=np.empty(n),
        factors=np.empty(n),
        stored_at=np.full(n, -1, dtype=np.int64),
        parents=np.empty(n, dtype=np.int32),
    )
    pool = make_pool(rows, waiting, n_classes)
    slot_of, proba = np.arange(n), np.empty(n_classes)
    counts = np.array([0, n_labeled, n])  # stored rows that all have met, stored rows, waiting rows
    while counts[2] > 0:
        shown, n_stored, n_left = counts.tolist()
        if _is_much(n_stored - shown, n_left, rows.dense.shape[1]):
            update_tiles_parallel(pool, n_left, rows, stored, stored_codes, shown, n_stored, near, metric, gamma)
            counts[0] = n_stored
        _label_alone(
            rows, stored, stored_codes, waiting, order, near, metric, rule, gamma, min_confidence, batch, true_codes,
            pool, slot_of, proba, counts, steps,
        )  # fmt: skip
    return steps


@njit(cache=True)
def _is_much(n_new: int, n_left: int, n_columns: int) -> bool:
    return n_new * n_left * n_columns > WORTH_THREADS


@njit(cache=True)
def _label_alone(
    rows: Rows, stored: np.ndarray, stored_codes: np.ndarray, waiting: np.ndarray, order: np.ndarray, near: Heap,
    metric: Metric, rule: int, gamma: float, min_confidence: float, batch: int, true_codes: np.ndarray,
    pool: Pool, slot_of: np.ndarray, proba: np.ndarray, counts: np.ndarray, steps: Steps,
) -> None:  # fmt: skip
    """Label waiting rows until none is left, or threads are worth it."""
    shown, n_stored, n_left = counts[0], counts[1], counts[2]
    step = len(waiting) - n_left
    while n_left > 0:
        if shown < n_stored:
            if _is_much(n_stored - shown, n_left, rows.dense.shape[1]):
                break
            n_tiles = (n_left + TILE - 1) // TILE
            update_tiles(0, n_tiles, pool, n_left, rows, stored, stored_codes, shown, n_stored, near, metric, gamma)
            shown = n_stored
        for _ in range(batch if batch < n_left else n_left):
            slot = _argmin_factor(pool, n_left) if len(order) == 0 else slot_of[order[step]]
            u = pool.row[slot]
            label, parent = vote(near, u, near.distance.shape[1], stored_codes, rule, False, proba)
            steps.taken[step], steps.codes[step], steps.parents[step] = u, label, parent
            steps.factors[step] = pool.factor[slot // TILE, slot % TILE]
            confidence = _confidence(near, u, stored_codes, label)
            steps.confidence[step] = confidence
            if confidence >= min_confidence * (1.0 - TIED):
                stored[n_stored], stored_codes[n_stored] = waiting[u], true_codes[u] if len(true_codes) else label
                steps.stored_at[step] = n_stored
                n_stored += 1
            n_left -= 1
            swap_remove(pool, slot, n_left, slot_of)
            step += 1
    counts[0], counts[1], counts[2] = shown, n_stored, n_left
