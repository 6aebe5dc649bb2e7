"""Waiting rows and their distances to class means that follow every new member.

For every waiting row x and class j the kernel-weighted mean M_j(x) of the labeled members is kept as running sums in log
space: the largest log weight so far (``top``), the sum of the weights relative to it (``mass``), and the weighted sum
of the differences to x (``pull``), so that ``M_j(x) - x = pull / mass``. A new member changes one class only. Waiting
rows lie in column-major tiles; a row that leaves is replaced by the last one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from handful.kernels import njit
from handful.kernels.distances import (
    CHEBYSHEV,
    EUCLIDEAN,
    MANHATTAN,
    PARALLEL,
    TILE,
    Metric,
    Rows,
    bound_of,
    root,
    tile_totals,
)
from handful.kernels.nearest import Near, remember

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
    top, mass, gap : ndarray of shape (n_tiles, n_classes, TILE)
        Largest log weight, sum of relative weights, and distance d(x, M_j(x)).
    pull : ndarray of shape (n_tiles, n_classes, n_features, TILE)
        Weighted sums of differences.
    bound : ndarray of shape (n_tiles, TILE)
        Sum of powers up to which a row may be among the nearest.
    factor : ndarray of shape (n_tiles, TILE)
        Distance factor; infinite in an empty slot.
    least : ndarray of shape (n_tiles,)
        Smallest factor of each tile.
    nominal : ndarray of int32, shape (0, TILE)
        The nominal columns: none.
    """

    row: np.ndarray
    x: np.ndarray
    top: np.ndarray
    mass: np.ndarray
    gap: np.ndarray
    pull: np.ndarray
    bound: np.ndarray
    factor: np.ndarray
    least: np.ndarray
    nominal: np.ndarray


def new_pool(rows: Rows, waiting: np.ndarray, n_classes: int) -> Pool:
    """Fill the slots with the waiting rows, in their order; they have met nobody yet."""
    n_tiles, d = (len(waiting) + TILE - 1) // TILE, rows.dense.shape[1]
    x = np.zeros((n_tiles * TILE, d))
    x[: len(waiting)] = rows.dense[waiting]
    return Pool(
        row=np.arange(n_tiles * TILE),
        x=np.ascontiguousarray(x.reshape(n_tiles, TILE, d).transpose(0, 2, 1)),
        top=np.full((n_tiles, n_classes, TILE), -np.inf),
        mass=np.zeros((n_tiles, n_classes, TILE)),
        gap=np.zeros((n_tiles, n_classes, TILE)),
        pull=np.zeros((n_tiles, n_classes, d, TILE)),
        bound=np.full((n_tiles, TILE), np.inf),
        factor=np.full((n_tiles, TILE), np.inf),
        least=np.full(n_tiles, np.inf),
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
def _pull_toward(
    pool: Pool, t: int, rows: Rows, s: int, j: int, totals: np.ndarray, change: np.ndarray, weight: np.ndarray,
    metric: Metric, spread: float,
) -> None:  # fmt: skip
    """Add row `s`, at the given distances, to class `j` for every row of a tile, and measure d(x, M_j(x)) anew."""
    top, mass, pull, x = pool.top[t, j], pool.mass[t, j], pool.pull[t, j], pool.x[t]
    n_moved, n_nearer = 0, 0
    if metric.code == EUCLIDEAN:
        for b in range(TILE):
            change[b] = -totals[b] * spread - top[b]  # kappa = exp(-d^2 / (2 sigma^2)), in logs
    else:
        for b in range(TILE):
            change[b] = -(root(totals[b], metric) ** 2) * spread - top[b]
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
                top[b] = top[b] + change[b] if top[b] > -np.inf else -(root(totals[b], metric) ** 2) * spread
                mass[b] *= scale
                for f in range(x.shape[0]):
                    pull[f, b] *= scale
                change[b] = 0.0
    for b in range(TILE):
        weight[b] = _exp(max(change[b], _NEGLIGIBLE)) if change[b] > _NEGLIGIBLE else 0.0
        mass[b] += weight[b]
    gap, code, power = pool.gap[t, j], metric.code, metric.power
    for b in range(TILE):
        gap[b] = 0.0
    for f in range(x.shape[0]):
        value, column, sums = np.float64(rows.dense[s, f]), x[f], pull[f]
        if code == EUCLIDEAN:
            for b in range(TILE):
                moved = sums[b] + weight[b] * (value - column[b])
                sums[b] = moved
                gap[b] += moved * moved
            continue
        for b in range(TILE):
            sums[b] += weight[b] * (value - column[b])
            if code == CHEBYSHEV:
                gap[b] = max(gap[b], abs(sums[b]))
            else:
                gap[b] += abs(sums[b]) if code == MANHATTAN else abs(sums[b]) ** power
    # M_j(x) - x = pull / mass
    if code == EUCLIDEAN:
        for b in range(TILE):
            gap[b] = np.sqrt(gap[b]) / mass[b]
    else:
        for b in range(TILE):
            gap[b] = root(gap[b], metric) / mass[b]


@njit(cache=True, error_model="numpy")
def _rank(pool: Pool, t: int, alive: int, total: np.ndarray) -> None:
    """Compute DF(x) = min_j d(x, M_j) / sum_j d(x, M_j) for the rows of a tile."""
    factor = pool.factor[t]
    for b in range(TILE):
        factor[b], total[b] = np.inf, 0.0
    for j in range(pool.gap.shape[1]):
        if pool.mass[t, j, 0] > 0.0:  # a class without labeled members is skipped
            gap = pool.gap[t, j]
            for b in range(TILE):
                factor[b] = min(factor[b], gap[b])
                total[b] += gap[b]
    for b in range(TILE):
        quotient = factor[b] / total[b]
        factor[b] = quotient if total[b] > 0.0 else 0.0
    for b in range(max(alive - t * TILE, 0), TILE):
        factor[b] = np.inf
    _note_least(pool, t)


@njit(cache=True)
def _note_least(pool: Pool, t: int) -> None:
    least = pool.factor[t, 0]
    for b in range(TILE):
        least = min(least, pool.factor[t, b])
    pool.least[t] = least


@njit(cache=True)
def meet_tiles(
    first: int,
    last: int,
    pool: Pool,
    alive: int,
    rows: Rows,
    stored: np.ndarray,
    codes: np.ndarray,
    start: int,
    stop: int,
    near: Near,
    metric: Metric,
    spread: float,
) -> None:
    """Let waiting rows meet the stored rows `start` to `stop`, as neighbors and as members of their class, and rank them anew.

    Parameters
    ----------
    first, last : int
        The tiles of the waiting rows.
    pool : Pool
        The waiting rows; changed in place.
    alive : int
        How many are left; they fill the first slots.
    rows : Rows
        All rows, dense.
    stored : ndarray of int64
        Stored rows, in the order of storing.
    codes : ndarray of int32
        Their classes.
    start, stop : int
        Which of them to meet.
    near : Near
        Memory of the waiting rows; changed in place.
    metric : Metric
        How distance is measured.
    spread : float
        ``1 / (2 sigma^2)``.
    """
    k = near.distance.shape[1]
    scratch = np.empty((3, TILE))
    totals, change, weight = scratch[0], scratch[1], scratch[2]
    for t in range(first, last):
        n = min(TILE, alive - t * TILE)
        ids, bound = pool.row[t * TILE : t * TILE + n], pool.bound[t]
        for c in range(start, stop):
            tile_totals(rows, stored[c], rows, ids, pool.x[t], pool.nominal, metric, totals)
            hits = 0
            for b in range(TILE):
                hits += totals[b] <= bound[b]
            if hits > 0:
                for b in range(n):
                    if totals[b] <= bound[b]:
                        remember(near, ids[b], root(totals[b], metric), c, codes[c], False)
                        bound[b] = bound_of(near.distance[ids[b], k - 1], metric)
            _pull_toward(pool, t, rows, stored[c], codes[c], totals, change, weight, metric, spread)
        _rank(pool, t, alive, totals)


@njit(cache=True, parallel=PARALLEL)
def meet_parallel(
    pool: Pool, alive: int, rows: Rows, stored: np.ndarray, codes: np.ndarray, start: int, stop: int, near: Near,
    metric: Metric, spread: float,
) -> None:  # fmt: skip
    """Do what `meet_tiles` does, for all tiles and in threads; worth it if there is much to be looked at."""
    for t in prange((alive + TILE - 1) // TILE):
        one = np.int64(t)
        meet_tiles(one, one + 1, pool, alive, rows, stored, codes, start, stop, near, metric, spread)


@njit(cache=True)
def leave(pool: Pool, slot: int, last: int, slot_of: np.ndarray) -> None:
    """Move the row of the slot `last` to `slot`, whose row leaves."""
    t, b = slot // TILE, slot % TILE
    s, c = last // TILE, last % TILE
    pool.row[slot] = pool.row[last]
    slot_of[pool.row[slot]] = slot
    for f in range(pool.x.shape[1]):
        pool.x[t, f, b] = pool.x[s, f, c]
    for j in range(pool.gap.shape[1]):
        pool.top[t, j, b] = pool.top[s, j, c]
        pool.mass[t, j, b] = pool.mass[s, j, c]
        pool.gap[t, j, b] = pool.gap[s, j, c]
        for f in range(pool.x.shape[1]):
            pool.pull[t, j, f, b] = pool.pull[s, j, f, c]
    pool.bound[t, b] = pool.bound[s, c]
    pool.factor[t, b] = pool.factor[s, c]
    pool.factor[s, c] = np.inf
    _note_least(pool, t)
    _note_least(pool, s)
