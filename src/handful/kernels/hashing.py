"""Hash tables from integers to integers, and sums by key."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.kernels.cache import njit


class KeyTable(NamedTuple):
    """A hash table with open addressing.

    Parameters
    ----------
    slots : ndarray of int64, shape (size, 2)
        Key and value; the key is -1 where a slot is free. The size is a power of two.
    sieve : ndarray of uint8, shape (size,)
        One bit for each of some hash values, set if any key has it: far smaller than the slots, it shows at once that most
        unknown keys are not there.
    """

    slots: np.ndarray
    sieve: np.ndarray


@njit(cache=True, nogil=True)
def mix_bits(word: np.uint64) -> np.uint64:
    """Return a hash of 64 bits; every bit of the word reaches every bit of it, as in MurmurHash3's finalizer."""
    mixed = np.uint64(word)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(32))


def empty_table(n_keys: int) -> KeyTable:
    """Return an empty table with the capacity for a number of keys, then at most half full.

    Examples
    --------
    >>> len(empty_table(4).slots)
    8
    """
    size = 2
    while size < 2 * n_keys:
        size *= 2
    return KeyTable(np.full((size, 2), -1, dtype=np.int64), np.zeros(size, dtype=np.uint8))


def make_key_table(keys: np.ndarray, values: np.ndarray | None = None) -> KeyTable:
    """Make a hash table of keys.

    Parameters
    ----------
    keys : ndarray of int64
        Distinct keys, none negative.
    values : ndarray of int64, optional
        Their values; by default their positions.

    Returns
    -------
    KeyTable
        From each key to its value.

    Examples
    --------
    >>> table = make_key_table(np.array([7, 9]))
    >>> find(table, 9), find(table, 8)
    (1, -1)
    """
    table = empty_table(len(keys))
    _fill(table, keys, np.arange(len(keys)) if values is None else values)
    return table


@njit(cache=True, nogil=True)
def _fill(table: KeyTable, keys: np.ndarray, values: np.ndarray) -> None:
    for i in range(len(keys)):
        slot = _insert(table, keys[i])
        table.slots[slot, 1] = values[i]


@njit(cache=True, nogil=True)
def _insert(table: KeyTable, key: int) -> int:
    """Return the slot of a key, which is given one if it has none; its value is then -1."""
    slots, mask = table.slots, len(table.slots) - 1
    mixed = np.int64(mix_bits(np.uint64(key)) >> np.uint64(1))
    slot = mixed & mask
    while slots[slot, 0] != key:
        if slots[slot, 0] < 0:
            slots[slot, 0] = key
            table.sieve[(mixed >> 3) & mask] |= np.uint8(1 << (mixed & 7))
            break
        slot = (slot + 1) & mask
    return int(slot)


@njit(cache=True, nogil=True)
def _slot_of(table: KeyTable, key: int) -> int:
    """Return the slot of a key, or -1."""
    slots, sieve = table
    mask = len(slots) - 1
    mixed = np.int64(mix_bits(np.uint64(key)) >> np.uint64(1))
    if not (sieve[(mixed >> 3) & mask] >> (mixed & 7)) & 1:
        return -1
    slot = mixed & mask
    while slots[slot, 0] >= 0:
        if slots[slot, 0] == key:
            return int(slot)
        slot = (slot + 1) & mask
    return -1


@njit(cache=True, nogil=True)
def find(table: KeyTable, key: int) -> int:
    """Return the value of a key, or -1; see `make_key_table`."""
    slot = _slot_of(table, key)
    return int(table.slots[slot, 1]) if slot >= 0 else -1


@njit(cache=True, nogil=True)
def number_keys(keys: np.ndarray, table: KeyTable, distinct: np.ndarray, counts: np.ndarray, n_known: int) -> int:
    """Put keys into a table, numbering new ones in the order of first sight and counting all.

    Parameters
    ----------
    keys : ndarray of int64
        Keys; negative ones are skipped.
    table : KeyTable
        See `empty_table`; must have free slots.
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
    >>> table = empty_table(4)
    >>> distinct, counts = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    >>> n = number_keys(np.array([7, 3, 7, -1]), table, distinct, counts, 0)
    >>> distinct[:n].tolist(), counts[:n].tolist()
    ([7, 3], [2, 1])
    """
    for key in keys:
        if key >= 0:
            slot = _insert(table, key)
            if table.slots[slot, 1] < 0:
                table.slots[slot, 1] = n_known
                distinct[n_known] = key
                n_known += 1
            counts[table.slots[slot, 1]] += 1
    return n_known


@njit(cache=True, nogil=True)
def find_keys(keys: np.ndarray, table: KeyTable, base: int, out: np.ndarray) -> None:
    """Look keys up.

    Parameters
    ----------
    keys : ndarray of int64
        Keys; negative ones are not found.
    table : KeyTable
        A filled table.
    base : int
        Added to every value.
    out : ndarray of int32
        Receives ``base`` plus the value of each key, or -1.

    Examples
    --------
    >>> out = np.empty(2, dtype=np.int32)
    >>> find_keys(np.array([9, 5]), make_key_table(np.array([7, 9])), 10, out)
    >>> out.tolist()
    [11, -1]
    """
    for i in range(len(keys)):
        value = find(table, keys[i]) if keys[i] >= 0 else -1
        out[i] = base + value if value >= 0 else -1


@njit(cache=True, nogil=True)
def find_in_rows(table: KeyTable, keys: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Look up rows of keys; unknown ones are left out.

    Parameters
    ----------
    table : KeyTable
        See `make_key_table`.
    keys : ndarray of int64
        Keys of all rows.
    bounds : ndarray of int64, shape (n_rows + 1,)
        Where those of each row start.

    Returns
    -------
    ids : ndarray of int32
        Values of the keys.
    bounds : ndarray of int64, shape (n_rows + 1,)
        Where those of each row start.

    Examples
    --------
    >>> ids, bounds = find_in_rows(make_key_table(np.array([7, 9])), np.array([9, 8, 7]), np.array([0, 2, 3]))
    >>> ids.tolist(), bounds.tolist()
    ([1, 0], [0, 1, 2])
    """
    ids = np.empty(len(keys), dtype=np.int32)
    offsets = np.zeros(len(bounds), dtype=np.int64)
    count = 0
    for row in range(len(bounds) - 1):
        for k in range(bounds[row], bounds[row + 1]):
            number = find(table, keys[k])
            if number >= 0:
                ids[count] = number
                count += 1
        offsets[row + 1] = count
    return ids[:count], offsets


@njit(cache=True, nogil=True)
def sum_of_weights(table: KeyTable, keys: np.ndarray, n_keys: int) -> float:
    """Return the sum of the weights of the first `n_keys` keys; unknown ones weigh nothing.

    Examples
    --------
    >>> table = make_key_table(np.array([7, 9]), np.array([0.5, -2.0]).view(np.int64))
    >>> sum_of_weights(table, np.array([7, 8, 9]), 3)
    -1.5
    """
    weights = table.slots.view(np.float64)  # next to their keys: most of the time goes into waiting for memory
    total = 0.0
    for k in range(n_keys):
        slot = _slot_of(table, keys[k])
        if slot >= 0:
            total += weights[slot, 1]
    return total


@njit(cache=True, nogil=True)
def merge_sums(
    keys: np.ndarray, sums: np.ndarray, more_keys: np.ndarray, more_sums: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Add two runs of sums by key; the keys of both rise, and so do those of the result.

    Examples
    --------
    >>> both = merge_sums(np.array([1, 3]), np.array([2.0, 0.5]), np.array([3, 4]), np.array([1.0, 1.0]))
    >>> [part.tolist() for part in both]
    [[1, 3, 4], [2.0, 1.5, 1.0]]
    """
    n, m = len(keys), len(more_keys)
    all_keys, all_sums = np.empty(n + m, dtype=keys.dtype), np.empty(n + m, dtype=sums.dtype)
    i = j = size = 0
    while i < n or j < m:
        if j == m or (i < n and keys[i] < more_keys[j]):
            all_keys[size], all_sums[size] = keys[i], sums[i]
            i += 1
        elif i == n or more_keys[j] < keys[i]:
            all_keys[size], all_sums[size] = more_keys[j], more_sums[j]
            j += 1
        else:
            all_keys[size], all_sums[size] = keys[i], sums[i] + more_sums[j]
            i += 1
            j += 1
        size += 1
    return all_keys[:size].copy(), all_sums[:size].copy()


class SortedSums:
    """Sums by key of parts that come with their keys sorted; two are merged when the later one is at least half as long.

    Examples
    --------
    >>> sums = SortedSums()
    >>> sums.add(np.array([2, 5]), np.array([1.0, 1.0]))
    >>> sums.add(np.array([5, 9]), np.array([0.5, 3.0]))
    >>> [part.tolist() for part in sums.total()]
    [[2, 5, 9], [1.0, 1.5, 3.0]]
    """

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, keys: np.ndarray, amounts: np.ndarray) -> None:
        """Add amounts; the keys rise."""
        self._parts.append((keys, amounts))
        while len(self._parts) > 1 and 2 * len(self._parts[-1][0]) > len(self._parts[-2][0]):
            self._merge_last()

    def total(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the keys, rising, and their sums."""
        while len(self._parts) > 1:
            self._merge_last()
        return self._parts[0] if self._parts else (np.empty(0, dtype=np.int64), np.empty(0))

    def _merge_last(self) -> None:
        more, part = self._parts.pop(), self._parts.pop()
        self._parts.append(merge_sums(*part, *more))


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
