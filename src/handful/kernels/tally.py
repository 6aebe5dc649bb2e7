"""Sums by key: in a hash table that grows with the distinct keys, or in a plain array."""

from __future__ import annotations

import numpy as np

from handful.kernels import njit

_EMPTY = -1


@njit(cache=True, nogil=True)
def _place(key: int, table: np.ndarray) -> np.int64:
    mask = len(table) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))
    while table[at] != key and table[at] != _EMPTY:
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True)
def add_amounts(
    keys: np.ndarray, amounts: np.ndarray, start: int, n_known: int, table: np.ndarray, sums: np.ndarray
) -> tuple[int, int]:
    """Add amounts to the sums of their keys, until all are in or the table is half full.

    Parameters
    ----------
    keys : ndarray of int64
        Keys, not negative; one may stand there several times.
    amounts : ndarray of float64
        What to add.
    start : int
        Where to begin in `keys`.
    n_known : int
        Distinct keys in the table so far.
    table : ndarray of int64
        Keys, -1 where free; its length is a power of two.
    sums : ndarray of float64
        Sum of each key, in the same places.

    Returns
    -------
    stop, n_known : int
        How far it came in `keys`, and distinct keys in the table now.

    Examples
    --------
    >>> table, sums = np.full(8, -1), np.zeros(8)
    >>> add_amounts(np.array([7, 3, 7]), np.array([1.0, 2.0, 0.5]), 0, 0, table, sums)
    (3, 2)
    >>> sums[table == 7].tolist()
    [1.5]
    """
    limit = len(table) // 2
    for i in range(start, len(keys)):
        at = _place(keys[i], table)
        if table[at] == _EMPTY:
            if n_known == limit:
                return i, n_known
            table[at] = keys[i]
            n_known += 1
        sums[at] += amounts[i]
    return len(keys), n_known


@njit(cache=True, nogil=True)
def add_pairs(
    ids: np.ndarray, targets: np.ndarray, amounts: np.ndarray, ranks: np.ndarray, n_targets: int, out: np.ndarray
) -> None:
    """Add the amount of each line to the cells of its numbers and its target.

    Parameters
    ----------
    ids : ndarray of int32, shape (n, n_columns)
        Numbers of each line; -1 for none.
    targets : ndarray of int64, shape (n,)
        Target of each line; -1 for none.
    amounts : ndarray of float64, shape (n,)
        What to add.
    ranks : ndarray of int64
        Row of each number; -1 for numbers that do not count. Empty if each number is its own row.
    n_targets : int
        Cells a row.
    out : ndarray of float64
        Receives the amounts at ``ranks[number] * n_targets + target``, on top of what it holds.

    Examples
    --------
    >>> out, ids = np.zeros(6), np.array([[0, 1], [1, -1]], dtype=np.int32)
    >>> add_pairs(ids, np.array([2, 2]), np.ones(2), np.array([0, 1]), 3, out)
    >>> out.tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0, 2.0]
    """
    ranked = len(ranks) > 0
    for i in range(len(ids)):
        target, amount = targets[i], amounts[i]
        if target < 0:
            continue
        for k in range(ids.shape[1]):
            rank = np.int64(ids[i, k])
            if ranked and rank >= 0:
                rank = ranks[rank]
            if rank >= 0:
                out[rank * n_targets + target] += amount


@njit(cache=True, nogil=True)
def add_shares(ids: np.ndarray, shares: np.ndarray, ranks: np.ndarray, out: np.ndarray) -> None:
    """Add the shares of each line to the cells of its numbers: `add_pairs` with every target.

    Parameters
    ----------
    ids, ranks
        See `add_pairs`.
    shares : ndarray of float64, shape (n, n_targets)
        What to add to each target.
    out : ndarray of float64
        Receives the shares at ``ranks[number] * n_targets + target``, on top of what it holds.

    Examples
    --------
    >>> out, ids = np.zeros(4), np.array([[0, 1], [1, -1]], dtype=np.int32)
    >>> add_shares(ids, np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0, 1]), out)
    >>> out.tolist()
    [0.5, 0.5, 1.5, 0.5]
    """
    n_targets = shares.shape[1]
    for i in range(len(ids)):
        for k in range(ids.shape[1]):
            if ids[i, k] >= 0:
                rank = ranks[ids[i, k]]
                if rank >= 0:
                    for z in range(n_targets):
                        out[rank * n_targets + z] += shares[i, z]


@njit(cache=True, nogil=True)
def spread_rows(
    sums: np.ndarray, row_offsets: np.ndarray, row_ids: np.ndarray, ranks: np.ndarray, n_targets: int, out: np.ndarray
) -> None:
    """Add what was summed for rows to the members of each row, and set the sums to 0.

    Parameters
    ----------
    sums : ndarray of float64
        Cell ``row * n_targets + target``.
    row_offsets, row_ids : ndarray
        Row r stands for ``row_ids[row_offsets[r]:row_offsets[r + 1]]``.
    ranks, n_targets, out
        See `add_pairs`.

    Examples
    --------
    >>> out = np.zeros(4)
    >>> spread_rows(np.array([5.0, 0.0]), np.array([0, 2]), np.array([0, 1]), np.array([0, 1]), 2, out)
    >>> out.tolist()
    [5.0, 0.0, 5.0, 0.0]
    """
    ranked = len(ranks) > 0
    there = np.empty(n_targets, dtype=np.int64)
    for r in range(len(row_offsets) - 1):
        n_there = 0
        for z in range(n_targets):
            if sums[r * n_targets + z] != 0.0:
                there[n_there] = z
                n_there += 1
        for i in range(row_offsets[r], row_offsets[r + 1] if n_there else row_offsets[r]):
            rank = np.int64(row_ids[i])
            if ranked:
                rank = ranks[rank]
            if rank >= 0:
                for j in range(n_there):
                    out[rank * n_targets + there[j]] += sums[r * n_targets + there[j]]
        for j in range(n_there):
            sums[r * n_targets + there[j]] = 0.0


@njit(cache=True, nogil=True)
def merged(
    ids: np.ndarray, sums: np.ndarray, more_ids: np.ndarray, more_sums: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Put sums by number together; the numbers of both rise, and so do those of the result.

    Examples
    --------
    >>> both = merged(np.array([1, 3]), np.array([2.0, 0.5]), np.array([3, 4]), np.array([1.0, 1.0]))
    >>> [part.tolist() for part in both]
    [[1, 3, 4], [2.0, 1.5, 1.0]]
    """
    all_ids, all_sums = np.empty(len(ids) + len(more_ids), dtype=np.int64), np.empty(len(ids) + len(more_ids))
    i = j = n = 0
    while i < len(ids) or j < len(more_ids):
        first = i < len(ids) and (j == len(more_ids) or ids[i] <= more_ids[j])
        second = j < len(more_ids) and (i == len(ids) or more_ids[j] <= ids[i])
        all_ids[n] = ids[i] if first else more_ids[j]
        all_sums[n] = 0.0
        if first:
            all_sums[n] += sums[i]
            i += 1
        if second:
            all_sums[n] += more_sums[j]
            j += 1
        n += 1
    return all_ids[:n].copy(), all_sums[:n].copy()


@njit(cache=True, nogil=True)
def emptied(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where sums are not 0 and what they are, and set them to 0.

    Examples
    --------
    >>> sums = np.array([0.0, 2.0, 0.0, 0.5])
    >>> [part.tolist() for part in emptied(sums)], sums.tolist()
    ([[1, 3], [2.0, 0.5]], [0.0, 0.0, 0.0, 0.0])
    """
    n = 0
    for i in range(len(sums)):
        n += sums[i] != 0.0
    ids, found = np.empty(n, dtype=np.int64), np.empty(n)
    at = 0
    for i in range(len(sums)):
        if sums[i] != 0.0:
            ids[at], found[at] = i, sums[i]
            sums[i] = 0.0
            at += 1
    return ids, found
