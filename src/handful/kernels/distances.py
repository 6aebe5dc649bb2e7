"""Distances between rows of a table: dense, sparse and nominal columns, and the finding of identical rows.

All arithmetic is in float64, column after column, whatever the type of the numbers: a float32 table gives what the
same numbers in float64 give, and a sparse one what it gives when dense. Rows are compared in *tiles*: the waiting rows
lie column-major in a small block, so that one stored row is compared with all of them by vector instructions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from handful.kernels import njit

EUCLIDEAN, MANHATTAN, CHEBYSHEV, MINKOWSKI = range(4)
TILE = 64

# Numbers to be looked at from which starting the threads pays, also on a busy machine, where threads wait for each other.
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
        Codes of nominal columns; unequal codes are at distance 1.
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
def _mix(state: Any, word: Any) -> Any:
    # Two rounds of multiply and shift (the finalizer of MurmurHash3): every bit of the word reaches every bit of the key.
    state = np.uint64(state ^ word) * np.uint64(0xFF51AFD7ED558CCD)
    state ^= state >> np.uint64(33)
    state *= np.uint64(0xC4CEB9FE1A85EC53)
    state ^= state >> np.uint64(29)
    return state


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
            key = _mix(key, np.uint64(dense[i, f]))
        for f in range(nominal.shape[1]):
            key = _mix(key, np.uint64(nominal[i, f]))
        if len(indptr) > 1:
            for p in range(indptr[i], indptr[i + 1]):
                key = _mix(_mix(key, np.uint64(indices[p])), np.uint64(data[p]))
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
