"""Ordinal labeling: the pool of waiting rows and their ranking."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from handful.kernels.cache import njit
from handful.kernels.distances import (
    TIED,
    TILE,
    WORTH_THREADS,
    Heap,
    RowArrays,
    Rule,
    Store,
    bound_of,
    heap_push,
    make_heap,
    n_tiles_of,
    over_tiles,
    square_distances,
    vote,
)

CLOSE = 1e-9  # distance factors that differ by less are tied
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
        Squared distance up to which a row may be among the nearest.
    factor : ndarray of shape (n_tiles, TILE)
        Distance factor; infinite in an empty slot.
    min_factor : ndarray of shape (n_tiles,)
        Smallest factor of each tile.
    near : Heap
        The nearest stored rows of each waiting row.
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
    near: Heap


def make_pool(rows: RowArrays, waiting: np.ndarray, n_classes: int, n_neighbors: int) -> Pool:
    """Fill the slots with the waiting rows, in their order; none has seen a stored row."""
    n_tiles, d = n_tiles_of(len(waiting)), rows.dense.shape[1]
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
        near=make_heap(len(waiting), n_neighbors, n_classes, False),
    )


@njit(cache=True, nogil=True)
def _exp(x: float) -> Any:
    """Return exp(x) for x between -45 and 0, to the last bit or one off, in a form that compiles to vector code."""
    k = np.floor(x * _LOG2_E + 0.5)
    r = (x - k * _LN_2_HIGH) - k * _LN_2_LOW
    p = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600)))))
    p = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * p))))))
    return p * _POWERS[int(-k)]


# A check for division by zero would break the vectors; fused multiply-adds change no order of rows.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _update_mean(
    pool: Pool, t: int, features: np.ndarray, j: int, totals: np.ndarray, scratch: np.ndarray, gamma: float
) -> None:
    """Add a row, at the given distances, to class `j` for every row of a tile, and measure d(x, M_j(x)) anew."""
    max_log_weight, total_weight = pool.max_log_weight[t, j], pool.total_weight[t, j]
    shift, x = pool.shift[t, j], pool.x[t]
    change, weight = scratch[0], scratch[1]
    n_moved, n_nearer = 0, 0
    for b in range(TILE):
        change[b] = -totals[b] * gamma - max_log_weight[b]  # kappa = exp(-d^2 / (2 sigma^2)), in logs
    for b in range(TILE):
        n_moved += change[b] > _NEGLIGIBLE
        n_nearer += change[b] > 0.0
    if n_moved == 0:
        return
    if n_nearer > 0:
        _make_largest(change, totals, max_log_weight, total_weight, shift, gamma)
    for b in range(TILE):
        weight[b] = _exp(max(change[b], _NEGLIGIBLE)) if change[b] > _NEGLIGIBLE else 0.0
        total_weight[b] += weight[b]
    to_mean = pool.to_mean[t, j]
    _move_mean(weight, features, x, shift, to_mean)
    for b in range(TILE):
        to_mean[b] = np.sqrt(to_mean[b]) / total_weight[b]  # M_j(x) - x = shift / total_weight


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _make_largest(
    change: np.ndarray,
    totals: np.ndarray,
    max_log_weight: np.ndarray,
    total_weight: np.ndarray,
    shift: np.ndarray,
    gamma: float,
) -> None:
    """Where a row is nearer than all members before, the sums so far shrink, so that the largest weight is 1 again."""
    for b in range(TILE):
        if change[b] > 0.0:
            scale = np.exp(-change[b])
            fresh = max_log_weight[b] == -np.inf
            max_log_weight[b] = -totals[b] * gamma if fresh else max_log_weight[b] + change[b]
            total_weight[b] *= scale
            for f in range(shift.shape[0]):
                shift[f, b] *= scale
            change[b] = 0.0


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _move_mean(weight: np.ndarray, features: np.ndarray, x: np.ndarray, shift: np.ndarray, to_mean: np.ndarray) -> None:
    """Add weighted differences from a row to the sums of a tile, and add up their squares."""
    for b in range(TILE):
        to_mean[b] = 0.0
    for f in range(x.shape[0]):
        value, column, sums = np.float64(features[f]), x[f], shift[f]
        for b in range(TILE):
            moved = sums[b] + weight[b] * (value - column[b])
            sums[b] = moved
            to_mean[b] += moved * moved


@njit(cache=True, nogil=True, error_model="numpy")
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
    pool.min_factor[t] = factor.min()


@njit(cache=True, nogil=True)
def update_tiles(
    first: int,
    last: int,
    pool: Pool,
    n_left: int,
    store: Store,
    start: int,
    stop: int,
    gamma: float,
) -> None:
    """Show stored rows to waiting rows, as neighbors and as members of their class, and rank the waiting rows anew.

    Parameters
    ----------
    first, last : int
        The tiles of the waiting rows.
    pool : Pool
        The waiting rows; changed in place.
    n_left : int
        How many are left; they fill the first slots.
    store : Store
        The stored rows, dense.
    start, stop : int
        Which of them to show.
    gamma : float
        ``1 / (2 sigma^2)``.
    """
    near, k = pool.near, pool.near.distance.shape[1]
    scratch = np.empty((3, TILE))
    no_codes, no_symbols = np.empty(0, dtype=np.int32), np.empty((0, TILE), dtype=np.int32)
    totals = scratch[2]
    for t in range(first, last):
        n = min(TILE, n_left - t * TILE)
        ids, bound = pool.row[t * TILE : t * TILE + n], pool.bound[t]
        for c in range(start, stop):
            square_distances(store.rows.dense[store.ids[c]], no_codes, pool.x[t], no_symbols, totals)
            hits = 0
            for b in range(TILE):
                hits += totals[b] <= bound[b]
            if hits > 0:
                for b in range(n):
                    if totals[b] <= bound[b]:
                        heap_push(near, ids[b], np.sqrt(totals[b]), c, store.codes[c], False)
                        bound[b] = bound_of(near.distance[ids[b], k - 1])
            _update_mean(pool, t, store.rows.dense[store.ids[c]], store.codes[c], totals, scratch, gamma)
        _update_factors(pool, t, n_left, totals)


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
    pool.min_factor[t] = pool.factor[t].min()
    pool.min_factor[s] = pool.factor[s].min()


@njit(cache=True)
def _argmin_factor(pool: Pool, n_left: int) -> int:
    """Return the slot with the smallest factor, of tied ones the slot of the lowest row."""
    n_tiles = n_tiles_of(n_left)
    limit = pool.min_factor[:n_tiles].min() + CLOSE
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


class Ordinal(NamedTuple):
    """Settings of ordinal labeling.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbors that vote.
    rule : Rule
        How they vote.
    gamma : float
        ``1 / (2 sigma^2)``.
    min_confidence : float
        A row is stored with its prediction if its confidence reaches this.
    """

    n_neighbors: int
    rule: Rule
    gamma: float
    min_confidence: float


class Steps(NamedTuple):
    """What happened at each step.

    Parameters
    ----------
    taken : ndarray of int64
        Positions among the waiting rows in the order of processing.
    codes : ndarray of int32
        Prediction at each step.
    confidence, factors : ndarray of float64
        Confidence and distance factor at each step.
    stored_at : ndarray of int64
        Position in the store that the step's row was given, or -1 if it was not stored.
    parents : ndarray of int32
        Position in the store of the nearest voter for the prediction.
    """

    taken: np.ndarray
    codes: np.ndarray
    confidence: np.ndarray
    factors: np.ndarray
    stored_at: np.ndarray
    parents: np.ndarray


_NO_ORDER, _NO_CODES = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)


def rank_and_label(
    rows: RowArrays,
    labeled: np.ndarray,
    codes: np.ndarray,
    waiting: np.ndarray,
    settings: Ordinal,
    *,
    order: np.ndarray = _NO_ORDER,
    true_codes: np.ndarray = _NO_CODES,
) -> Steps:
    """Label the waiting rows one after the other.

    Parameters
    ----------
    rows : RowArrays
        All rows, dense.
    labeled : ndarray of int64
        Labeled rows, in the order of storing.
    codes : ndarray of int32
        Their codes.
    waiting : ndarray of int64
        RowArrays without a label, ascending.
    settings : Ordinal
        How they are labeled.
    order : ndarray of int64
        Positions in `waiting` in the order of processing; empty for the order of the distance factor.
    true_codes : ndarray of int32
        Empty; or a code for every waiting row, stored with it instead of the prediction.

    Returns
    -------
    Steps
        What happened.
    """
    n_labeled, n, n_classes = len(labeled), len(waiting), int(max(codes.max(), true_codes.max(initial=0))) + 1
    store = Store(rows, np.empty(n_labeled + n, dtype=np.int64), np.empty(n_labeled + n, dtype=np.int32))
    store.ids[:n_labeled], store.codes[:n_labeled] = labeled, codes
    steps = Steps(
        taken=np.empty(n, dtype=np.int64),
        codes=np.empty(n, dtype=np.int32),
        confidence=np.empty(n),
        factors=np.empty(n),
        stored_at=np.full(n, -1, dtype=np.int64),
        parents=np.empty(n, dtype=np.int32),
    )
    pool = make_pool(rows, waiting, n_classes, settings.n_neighbors)
    slot_of = np.arange(n)
    shown, n_stored, n_left = 0, n_labeled, n
    while n_left > 0:
        work = (n_stored - shown) * n_left * rows.dense.shape[1]
        if work > WORTH_THREADS:
            over_tiles(update_tiles, n_tiles_of(n_left), work, pool, n_left, store, shown, n_stored, settings.gamma)
            shown = n_stored
        shown, n_stored, n_left = _label_alone(
            store, waiting, order, true_codes, settings, pool, slot_of, (shown, n_stored, n_left), steps
        )
    return steps


@njit(cache=True)
def _label_alone(
    store: Store, waiting: np.ndarray, order: np.ndarray, true_codes: np.ndarray, settings: Ordinal, pool: Pool,
    slot_of: np.ndarray, counts: tuple[int, int, int], steps: Steps,
) -> tuple[int, int, int]:  # fmt: skip
    """Label waiting rows until none is left, or threads are worth it."""
    shown, n_stored, n_left = counts  # stored rows that all have seen, stored rows, waiting rows
    near, rule, proba = pool.near, settings.rule, np.empty(pool.to_mean.shape[1])
    step = len(waiting) - n_left
    while n_left > 0:
        if shown < n_stored:
            if (n_stored - shown) * n_left * store.rows.dense.shape[1] > WORTH_THREADS:
                break
            update_tiles(0, n_tiles_of(n_left), pool, n_left, store, shown, n_stored, settings.gamma)
            shown = n_stored
        slot = _argmin_factor(pool, n_left) if len(order) == 0 else slot_of[order[step]]
        u = pool.row[slot]
        label, parent = vote(near, u, settings.n_neighbors, store.codes, rule, proba)
        steps.taken[step], steps.codes[step], steps.parents[step] = u, label, parent
        steps.factors[step] = pool.factor[slot // TILE, slot % TILE]
        steps.confidence[step] = _confidence(near, u, store.codes, label)
        if steps.confidence[step] >= settings.min_confidence * (1.0 - TIED):
            store.ids[n_stored] = waiting[u]
            store.codes[n_stored] = true_codes[u] if len(true_codes) else label
            steps.stored_at[step] = n_stored
            n_stored += 1
        n_left -= 1
        swap_remove(pool, slot, n_left, slot_of)
        step += 1
    return shown, n_stored, n_left
