"""Hash tables from integer keys to numbers: the vocabulary of joined templates."""

from __future__ import annotations

import numpy as np

from handful.kernels import njit

_EMPTY = -1


@njit(cache=True, nogil=True)
def _slot(key: int, mask: int) -> np.int64:
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return np.int64(mixed & np.uint64(mask))


def empty_table(n_keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an empty table with room for a number of keys.

    Parameters
    ----------
    n_keys : int
        Most keys that will be put in.

    Returns
    -------
    keys : ndarray of int64
        -1 where free.
    numbers : ndarray of int32
        Number of each key.

    Examples
    --------
    >>> keys, numbers = empty_table(3)
    >>> len(keys)
    8
    """
    size = 1 << max(3, int(2 * n_keys - 1).bit_length())
    return np.full(size, _EMPTY, dtype=np.int64), np.zeros(size, dtype=np.int32)


@njit(cache=True, nogil=True)
def number_keys(
    keys: np.ndarray, table: np.ndarray, numbers: np.ndarray, distinct: np.ndarray, counts: np.ndarray, n_known: int
) -> int:
    """Put keys into a table, numbering new ones in the order of first sight and counting all.

    Parameters
    ----------
    keys : ndarray of int64
        Keys; negative ones are skipped.
    table, numbers : ndarray
        See `empty_table`; must have room.
    distinct, counts : ndarray of int64
        Receive the key of each number and how often it was seen.
    n_known : int
        Keys in the table so far.

    Returns
    -------
    int
        Keys in the table now.

    Examples
    --------
    >>> table, numbers = empty_table(4)
    >>> distinct, counts = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    >>> n = number_keys(np.array([7, 3, 7, -1]), table, numbers, distinct, counts, 0)
    >>> distinct[:n].tolist(), counts[:n].tolist()
    ([7, 3], [2, 1])
    """
    mask = len(table) - 1
    for key in keys:
        if key < 0:
            continue
        at = _slot(key, mask)
        while table[at] != key and table[at] != _EMPTY:
            at = (at + 1) & mask
        if table[at] == _EMPTY:
            table[at] = key
            numbers[at] = n_known
            distinct[n_known] = key
            n_known += 1
        counts[numbers[at]] += 1
    return n_known


@njit(cache=True, nogil=True)
def find_keys(keys: np.ndarray, table: np.ndarray, numbers: np.ndarray, base: int, out: np.ndarray) -> None:
    """Look keys up.

    Parameters
    ----------
    keys : ndarray of int64
        Keys; negative ones are not found.
    table, numbers : ndarray
        A filled table.
    base : int
        Added to every number found.
    out : ndarray of int32
        Receives ``base`` plus the number of each key, or -1.

    Examples
    --------
    >>> table, numbers = empty_table(2)
    >>> n = number_keys(np.array([7, 3]), table, numbers, np.zeros(2, np.int64), np.zeros(2, np.int64), 0)
    >>> out = np.empty(2, dtype=np.int32)
    >>> find_keys(np.array([3, 5]), table, numbers, 10, out)
    >>> out.tolist()
    [11, -1]
    """
    mask = len(table) - 1
    for i in range(len(keys)):
        out[i] = -1
        key = keys[i]
        if key < 0:
            continue
        at = _slot(key, mask)
        while table[at] != key and table[at] != _EMPTY:
            at = (at + 1) & mask
        if table[at] == key:
            out[i] = base + numbers[at]


@njit(cache=True, nogil=True)
def shift_ids(ids: np.ndarray, offsets: np.ndarray, distance: int, before: int, after: int, out: np.ndarray) -> None:
    """Read a column some tokens away, within sentences.

    Parameters
    ----------
    ids : ndarray of int32
        One number per token.
    offsets : ndarray of int64
        Where each sentence starts.
    distance : int
        How far to the right to read; negative reads to the left.
    before, after : int
        Read beyond the start and the end of a sentence.
    out : ndarray of int32
        Receives what each token reads.

    Examples
    --------
    >>> out = np.empty(3, dtype=np.int32)
    >>> shift_ids(np.array([5, 6, 7], dtype=np.int32), np.array([0, 2, 3]), 1, 8, 9, out)
    >>> out.tolist()
    [6, 9, 9]
    """
    for s in range(len(offsets) - 1):
        start, stop = offsets[s], offsets[s + 1]
        for i in range(start, stop):
            j = i + distance
            out[i] = before if j < start else after if j >= stop else ids[j]
