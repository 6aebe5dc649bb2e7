"""Brown clustering and co-occurrence counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.kernels.cache import njit


class Tables(NamedTuple):
    """What is known of the clusters; every cluster sits in a slot, and one slot is free for the next word.

    Attributes
    ----------
    follows, precedes : ndarray of int64, shape (n_slots, n_slots)
        How often a word of the first slot is followed (preceded) by a word of the second; each other's transpose.
    shared : ndarray of float64, shape (n_slots, n_slots)
        What a merge takes from ``sum f(c)``: the sum of g over common neighbors, corrected for the four common cells.
    log_both : ndarray of float64, shape (n_slots, n_slots)
        ``log2(a[i] + a[j])``.
    occurrences : ndarray of int64, shape (n_slots,)
        ``a``.
    links, margin : ndarray of float64, shape (n_slots,)
        ``m`` (whole numbers) and ``m log2 a``; the margin of a free slot is minus infinity, which makes its losses infinite.
    rank : ndarray of int64, shape (n_slots,)
        The most frequent word of the cluster, -1 where a slot is free.
    best, best_at : ndarray, shape (n_slots,)
        The smallest loss of a merge of each cluster, in bits times pairs, and with which slot.
    loose : ndarray of bool, shape (n_slots,)
        Rows where `best` is only a lower bound.
    stale : ndarray of bool, shape (n_slots,)
        Slots whose losses have changed since `best` was computed.
    parent, slot : ndarray of int64, shape (n_words,)
        A forest over words; the slot of a word is that of its root.
    xlogx : ndarray of float64
        ``x log2 x`` for small x.
    """

    follows: np.ndarray
    precedes: np.ndarray
    shared: np.ndarray
    log_both: np.ndarray
    occurrences: np.ndarray
    links: np.ndarray
    margin: np.ndarray
    rank: np.ndarray
    best: np.ndarray
    best_at: np.ndarray
    loose: np.ndarray
    stale: np.ndarray
    parent: np.ndarray
    slot: np.ndarray
    xlogx: np.ndarray


class Pairs(NamedTuple):
    """Counts of neighboring words, each pair filed under the rarer (later) word.

    Attributes
    ----------
    right_start, right, right_count : ndarray of int64
        Word w is followed ``right_count[p]`` times by ``right[p] <= w``, for p from ``right_start[w]`` on.
    left_start, left, left_count : ndarray of int64
        Word w is preceded ``left_count[p]`` times by ``left[p] < w``.
    """

    right_start: np.ndarray
    right: np.ndarray
    right_count: np.ndarray
    left_start: np.ndarray
    left: np.ndarray
    left_count: np.ndarray


def file_pairs(first: np.ndarray, second: np.ndarray, count: np.ndarray, n_words: int) -> Pairs:
    """File pairs of words under the later of the two.

    Parameters
    ----------
    first, second : ndarray of int
        Words of each pair, numbered by decreasing frequency; no pair twice.
    count : ndarray of int
        How often `first` is directly followed by `second`.
    n_words : int
        Number of words.

    Returns
    -------
    Pairs
        The same counts by word.

    Examples
    --------
    >>> pairs = file_pairs(np.array([0, 1]), np.array([1, 0]), np.array([3, 5]), 2)
    >>> pairs.right_start.tolist(), pairs.right_count.tolist(), pairs.left_count.tolist()
    ([0, 0, 1], [5], [3])
    """
    return Pairs(
        *_by_word(first, second, count, first >= second, n_words),
        *_by_word(second, first, count, first < second, n_words),
    )


def _by_word(
    word: np.ndarray, other: np.ndarray, count: np.ndarray, chosen: np.ndarray, n_words: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    word, other, count = word[chosen], other[chosen], count[chosen]
    order = np.lexsort((other, word))
    start = np.zeros(n_words + 1, dtype=np.int64)
    np.cumsum(np.bincount(word, minlength=n_words), out=start[1:])
    return start, other[order].astype(np.int64), count[order].astype(np.int64)


# Losses closer than this (in bits times pairs of words) are ties: more than rounding, far less than one pair of words.
TIE = 1e-6
_TABLE_SIZE = 1 << 16


def start_tables(occurrences: np.ndarray, pairs: Pairs, n_clusters: int) -> Tables:
    """Make a cluster of each of the most frequent words.

    Parameters
    ----------
    occurrences : ndarray of int64, shape (n_words,)
        How often each word occurs, in decreasing order.
    pairs : Pairs
        Counts of neighboring words.
    n_clusters : int
        Number of clusters, at most the number of words.

    Returns
    -------
    Tables
        `n_clusters` filled slots and a free one.
    """
    n, n_words = n_clusters + 1, len(occurrences)
    small = np.arange(_TABLE_SIZE, dtype=np.float64)
    small[1:] *= np.log2(small[1:])
    tables = Tables(
        follows=np.zeros((n, n), dtype=np.int64),
        precedes=np.zeros((n, n), dtype=np.int64),
        shared=np.zeros((n, n)),
        log_both=np.zeros((n, n)),
        occurrences=np.zeros(n, dtype=np.int64),
        links=np.zeros(n),
        margin=np.full(n, -np.inf),
        rank=np.full(n, -1, dtype=np.int64),
        best=np.full(n, np.inf),
        best_at=np.zeros(n, dtype=np.int64),
        loose=np.zeros(n, dtype=np.bool_),
        stale=np.zeros(n, dtype=np.bool_),
        parent=np.arange(n_words, dtype=np.int64),
        slot=np.full(n_words, -1, dtype=np.int64),
        xlogx=small,
    )
    for word in range(n_clusters):
        _place(tables, pairs, occurrences, word, word)
    _share_all(tables.follows, tables.precedes, tables.shared, tables.xlogx)
    return tables


def cluster_of_words(tables: Tables) -> np.ndarray:
    """Return the slot of every word, -1 for words that are not placed yet."""
    root = tables.parent
    while not np.array_equal(above := root[root], root):
        root = above
    slots: np.ndarray = tables.slot[root]
    return slots


@njit(inline="always")
def _f(x, xlogx):  # type: ignore[no-untyped-def]
    return xlogx[x] if x < len(xlogx) else x * np.log2(x)


@njit(inline="always")
def _g(x, y, xlogx):  # type: ignore[no-untyped-def]
    if x == 0 or y == 0:
        return 0.0
    if x + y < len(xlogx):
        return xlogx[x] + xlogx[y] - xlogx[x + y]
    return -(x * np.log2(1.0 + y / x) + y * np.log2(1.0 + x / y))


@njit(inline="always")
def _corner(follows, i, j, xlogx):  # type: ignore[no-untyped-def]
    """Correct the sum of g over all k for k = i and k = j, whose cells are merged in both directions."""
    ii, ij, ji, jj = follows[i, i], follows[i, j], follows[j, i], follows[j, j]
    if ij == 0 and ji == 0:
        return _g(ii, jj, xlogx)
    plus = _f(ii + ij, xlogx) + _f(ii + ji, xlogx) + _f(jj + ij, xlogx) + _f(jj + ji, xlogx)
    minus = _f(ii, xlogx) + _f(jj, xlogx) + _f(ij, xlogx) + _f(ji, xlogx)
    return plus - minus - _f(ii + ij + ji + jj, xlogx)


@njit(cache=True)
def _root(parent, word):  # type: ignore[no-untyped-def]
    while parent[word] != word:
        parent[word] = parent[parent[word]]
        word = parent[word]
    return word


@njit(cache=True)
def _place(tables, pairs, occurrences, word, slot):  # type: ignore[no-untyped-def]
    """Give a word its own slot and count its pairs with the clusters that are there."""
    follows, precedes, links = tables.follows, tables.precedes, tables.links
    tables.rank[slot] = word
    tables.slot[word] = slot
    tables.occurrences[slot] = occurrences[word]
    links[slot] = 0.0
    for p in range(pairs.right_start[word], pairs.right_start[word + 1]):
        other = tables.slot[_root(tables.parent, pairs.right[p])]
        follows[slot, other] += pairs.right_count[p]
        precedes[other, slot] += pairs.right_count[p]
        links[slot] += pairs.right_count[p]
        links[other] += pairs.right_count[p]
        tables.stale[other] = True
    for p in range(pairs.left_start[word], pairs.left_start[word + 1]):
        other = tables.slot[_root(tables.parent, pairs.left[p])]
        follows[other, slot] += pairs.left_count[p]
        precedes[slot, other] += pairs.left_count[p]
        links[slot] += pairs.left_count[p]
        links[other] += pairs.left_count[p]
        tables.stale[other] = True
    tables.stale[slot] = True
    _log_row(tables, slot)


@njit(cache=True)
def _log_row(tables, slot):  # type: ignore[no-untyped-def]
    for other in range(len(tables.rank)):
        if tables.rank[other] >= 0:
            value = np.log2(tables.occurrences[slot] + tables.occurrences[other])
            tables.log_both[slot, other] = value
            tables.log_both[other, slot] = value


@njit(cache=True)
def _share_all(follows, precedes, shared, xlogx):  # type: ignore[no-untyped-def]
    n = len(follows)
    for i in range(n):
        for k in range(n):
            x = follows[i, k]
            if x > 0:
                for j in range(n):
                    shared[i, j] += _g(x, precedes[k, j], xlogx)
            x = precedes[i, k]
            if x > 0:
                for j in range(n):
                    shared[i, j] += _g(x, follows[k, j], xlogx)
        for j in range(n):
            shared[i, j] += _corner(follows, i, j, xlogx)


@njit(cache=True)
def _share_new(outward, inward, shared, slot, xlogx):  # type: ignore[no-untyped-def]
    """Add what the new cluster has in common with others and, as a neighbor, gives others in common."""
    followers = np.flatnonzero(outward[slot])
    for k in followers:
        x = outward[slot, k]
        for other in range(len(outward)):
            shared[slot, other] += _g(x, inward[k, other], xlogx)
    for i in followers:
        for j in followers:
            if i != slot and j != slot and i != j:
                shared[i, j] += _g(outward[slot, i], outward[slot, j], xlogx)


@njit(cache=True)
def _add(tables, pairs, occurrences, word, slot):  # type: ignore[no-untyped-def]
    _place(tables, pairs, occurrences, word, slot)
    shared = tables.shared
    shared[slot, :] = 0.0
    _share_new(tables.follows, tables.precedes, shared, slot, tables.xlogx)
    _share_new(tables.precedes, tables.follows, shared, slot, tables.xlogx)
    for other in range(len(shared)):
        shared[slot, other] += _corner(tables.follows, slot, other, tables.xlogx)
    shared[:, slot] = shared[slot, :]


@njit(inline="always")
def _loss(tables, i, j):  # type: ignore[no-untyped-def]
    links, margin = tables.links, tables.margin
    return tables.shared[i, j] - margin[i] - margin[j] + (links[i] + links[j]) * tables.log_both[i, j]


@njit(cache=True)
def _scan(tables, i, new):  # type: ignore[no-untyped-def]
    best, best_at = np.inf, i
    for j in range(len(tables.rank)):
        value = _loss(tables, i, j)
        if value < best and j != i and j != new:
            best, best_at = value, j
    tables.best[i], tables.best_at[i], tables.loose[i] = best, best_at, False


@njit(cache=True)
def _refresh(tables, new):  # type: ignore[no-untyped-def]
    """Bring `best` up to date for stale rows, and as a lower bound for all others.

    The slot of the new word stays out of the other rows: it is nearly always their best partner and nearly always gone
    at the next step.
    """
    rank, best_at, stale = tables.rank, tables.best_at, tables.stale
    fresh = np.flatnonzero(stale)
    for i in fresh:
        tables.margin[i] = tables.links[i] * np.log2(tables.occurrences[i])
    for j in range(len(rank)):
        # The partner's loss may have risen; the old value still bounds all the others from below.
        if stale[best_at[j]] or rank[best_at[j]] < 0:
            tables.loose[j] = True
    for i in fresh:
        _refresh_row(tables, i, new)
    stale[:] = False


@njit(cache=True)
def _refresh_row(tables, i, new):  # type: ignore[no-untyped-def]
    """Find the best partner of a stale row, and whether it is that of rows that are not stale."""
    best, best_at, stale = tables.best, tables.best_at, tables.stale
    lowest, lowest_at = np.inf, 0
    for j in range(len(best)):
        if j != i and j != new:
            value = _loss(tables, i, j)
            if value < lowest:
                lowest, lowest_at = value, j
            if value <= best[j] and not stale[j] and i != new:
                best[j], best_at[j], tables.loose[j] = value, i, False
    best[i], best_at[i], tables.loose[i] = lowest, lowest_at, False


@njit(cache=True)
def _settled_lowest(tables, new):  # type: ignore[no-untyped-def]
    lowest = np.argmin(tables.best)
    while tables.loose[lowest]:
        _scan(tables, lowest, new)
        lowest = np.argmin(tables.best)
    return lowest


@njit(cache=True)
def _cheapest(tables, new):  # type: ignore[no-untyped-def]
    """Return the pair of slots to merge; among ties the pair with the most frequent words, first by the first."""
    rank, best = tables.rank, tables.best
    lowest = _settled_lowest(tables, new)
    limit = best[lowest] + TIE
    first, second = -1, -1
    for i in range(len(rank)):
        if rank[i] < 0 or (first >= 0 and rank[i] > rank[first]):
            continue
        if best[i] <= limit or (new >= 0 and _loss(tables, new, i) <= limit):
            partner = _partner(tables, i, limit)
            if partner >= 0:
                first, second = i, partner
    # Where counts go into the millions, rounding parts the losses of i with j and of j with i by more than a tie.
    if first < 0:
        first, second = int(lowest), int(tables.best_at[lowest])
        if rank[first] > rank[second]:
            first, second = second, first
    return first, second


@njit(cache=True)
def _partner(tables, i, limit):  # type: ignore[no-untyped-def]
    """Return the slot with the most frequent word, rarer than that of i, whose merge with i loses little enough, or -1."""
    rank, partner = tables.rank, -1
    for j in range(len(rank)):
        if rank[j] > rank[i] and _loss(tables, i, j) <= limit and (partner < 0 or rank[j] < rank[partner]):
            partner = j
    return partner


@njit(cache=True)
def _share_merge(outward, inward, shared, gone, kept, total, row, xlogx):  # type: ignore[no-untyped-def]
    """Account for one direction of a merge of `gone` into `kept`, with the counts of before the merge."""
    n = len(outward)
    gone_in, kept_in = inward[gone], inward[kept]
    for k in np.flatnonzero(outward[gone]):
        y = outward[kept, k]
        x = outward[gone, k] + y
        if k != gone and k != kept:
            for j in range(n):
                z = inward[k, j]
                if z > 0:
                    row[j] += _g(x, z, xlogx) - _g(y, z, xlogx)
    for j in range(n):
        row[j] += _g(total, gone_in[j] + kept_in[j], xlogx)
        row[j] -= _g(outward[kept, gone], gone_in[j], xlogx) + _g(outward[kept, kept], kept_in[j], xlogx)
    _share_both(gone_in, kept_in, shared, xlogx)


@njit(cache=True)
def _share_both(gone_in, kept_in, shared, xlogx):  # type: ignore[no-untyped-def]
    """Account for pairs of clusters that stand next to one that goes and one that is kept, which now are one."""
    for i in np.flatnonzero(gone_in):
        x, y = gone_in[i], kept_in[i]
        for j in range(len(gone_in)):
            xj, yj = gone_in[j], kept_in[j]
            # A pair whose two clusters both stand next to the one that goes is taken once.
            if (yj > 0 and xj == 0) or (xj > 0 and j > i):
                change = _g(x + y, xj + yj, xlogx) - _g(x, xj, xlogx) - _g(y, yj, xlogx)
                shared[i, j] += change
                shared[j, i] = shared[i, j]


@njit(cache=True)
def _move_counts(follows, precedes, gone, kept, total):  # type: ignore[no-untyped-def]
    for table, other in ((follows, precedes), (precedes, follows)):
        for k in range(len(table)):
            if k != gone and k != kept:
                table[kept, k] += table[gone, k]
                other[k, kept] = table[kept, k]
    for table in (follows, precedes):
        table[gone, :] = 0
        table[:, gone] = 0
        table[kept, kept] = total


@njit(cache=True)
def _merge(tables, first, second):  # type: ignore[no-untyped-def]
    """Merge two clusters; the one with fewer neighbors gives up its slot, which is returned."""
    follows, precedes, shared, rank = tables.follows, tables.precedes, tables.shared, tables.rank
    gone, kept = second, first
    if _degree(tables, first) < _degree(tables, second):
        gone, kept = first, second
    total = follows[gone, gone] + follows[gone, kept] + follows[kept, gone] + follows[kept, kept]
    row = shared[kept].copy()
    for k in range(len(row)):
        row[k] -= _corner(follows, kept, k, tables.xlogx)
    _share_merge(follows, precedes, shared, gone, kept, total, row, tables.xlogx)
    _share_merge(precedes, follows, shared, gone, kept, total, row, tables.xlogx)
    for k in range(len(rank)):
        if follows[gone, k] > 0 or precedes[gone, k] > 0:
            tables.stale[k] = True
    _move_counts(follows, precedes, gone, kept, total)
    for k in range(len(row)):
        row[k] += _corner(follows, kept, k, tables.xlogx)
    shared[kept, :] = row
    shared[:, kept] = row
    tables.links[kept] += tables.links[gone]
    tables.occurrences[kept] += tables.occurrences[gone]
    lower, upper = min(rank[kept], rank[gone]), max(rank[kept], rank[gone])
    tables.parent[upper] = lower
    tables.slot[lower] = kept
    rank[kept], rank[gone] = lower, -1
    _log_row(tables, kept)
    tables.margin[gone] = -np.inf
    tables.best[gone] = np.inf
    tables.stale[kept] = True
    tables.stale[gone] = False
    return gone, kept


@njit(cache=True)
def _degree(tables, slot):  # type: ignore[no-untyped-def]
    return np.count_nonzero(tables.follows[slot]) + np.count_nonzero(tables.precedes[slot])


@njit(cache=True)
def absorb(tables, pairs, occurrences, start, stop):  # type: ignore[no-untyped-def]
    """Take in words one by one: each becomes a cluster, then the cheapest pair of clusters is merged.

    Parameters
    ----------
    tables : Tables
        Changed in place; exactly one slot must be free.
    pairs : Pairs
        Counts of neighboring words.
    occurrences : ndarray of int64
        How often each word occurs.
    start, stop : int
        The words to take in; `start` words must be in already.
    """
    free = np.flatnonzero(tables.rank < 0)[0]
    for word in range(start, stop):
        new = free
        _add(tables, pairs, occurrences, word, new)
        _refresh(tables, new)
        first, second = _cheapest(tables, new)
        free, _ = _merge(tables, first, second)
        if free != new:
            tables.stale[new] = True


@njit(cache=True)
def join(tables):  # type: ignore[no-untyped-def]
    """Merge clusters until one is left.

    Parameters
    ----------
    tables : Tables
        Changed in place.

    Returns
    -------
    ndarray of int64, shape (n_clusters - 1, 3)
        For each merge the slot with the more frequent word, the other slot, and the slot that holds the result.
    """
    n = np.count_nonzero(tables.rank >= 0)
    merges = np.empty((n - 1, 3), dtype=np.int64)
    for step in range(n - 1):
        _refresh(tables, -1)
        first, second = _cheapest(tables, -1)
        _, kept = _merge(tables, first, second)
        merges[step, 0], merges[step, 1], merges[step, 2] = first, second, kept
    return merges


END = -2
"""Stands between sentences where words are numbers."""


@njit(cache=True)
def follower_keys(words, n_words):  # type: ignore[no-untyped-def]
    """Return ``first * n_words + second`` for every two adjacent words.

    Parameters
    ----------
    words : ndarray of int32
        Words as numbers below `n_words`; a negative number is no word and parts its neighbors.
    n_words : int
        Number of words.

    Returns
    -------
    ndarray of int64
        One key for each pair.

    Examples
    --------
    >>> follower_keys(np.array([0, 2, -1, 1], dtype=np.int32), 10).tolist()
    [2]
    """
    keys = np.empty(len(words), dtype=np.int64)
    n_keys = 0
    for i in range(1, len(words)):
        if words[i - 1] >= 0 and words[i] >= 0:
            keys[n_keys] = np.int64(words[i - 1]) * n_words + words[i]
            n_keys += 1
    return keys[:n_keys]


@njit(cache=True)
def window_keys(words, first, context, start_mark, stop_mark, window, kinds, n_columns):  # type: ignore[no-untyped-def]
    """Return ``word * n_columns + column`` for every word and every context word near it.

    Parameters
    ----------
    words : ndarray of int32
        Words as numbers; -1 is a word that gets no row, `END` stands between sentences.
    first : int
        Positions before this one were the end of the block before: pairs among them are not counted again.
    context : ndarray of int32
        For each position its number among the context words, or -1.
    start_mark, stop_mark : int
        Numbers of the symbols before and after a sentence among the context words, or -1.
    window : int
        How many positions to look to each side.
    kinds : ndarray of int64, shape (2 * window + 1,)
        Which kind of context an offset is (offset -window first); context word c of kind k is column
        ``c * (kinds.max() + 1) + k``.
    n_columns : int
        Number of columns.

    Returns
    -------
    ndarray of int64
        One key for each word in context.

    Examples
    --------
    >>> words = np.array([END, 0, 1, END], dtype=np.int32)
    >>> context = np.array([-1, 0, -1, -1], dtype=np.int32)
    >>> window_keys(words, 1, context, 1, 2, 1, np.array([0, 0, 1]), 100).tolist()
    [2, 100, 105]
    """
    n_kinds = kinds.max() + 1
    keys = np.empty(2 * window * max(len(words) - first, 0), dtype=np.int64)
    n_keys = 0
    for i in range(first, len(words)):
        for distance in range(1, min(window, i) + 1):
            j = i - distance
            left_is_end, right_is_end = words[j] == END, words[i] == END
            before = start_mark if left_is_end else context[j]
            after = stop_mark if right_is_end else context[i]
            if words[i] >= 0 and before >= 0:
                keys[n_keys] = np.int64(words[i]) * n_columns + before * n_kinds + kinds[window - distance]
                n_keys += 1
            if words[j] >= 0 and after >= 0:
                keys[n_keys] = np.int64(words[j]) * n_columns + after * n_kinds + kinds[window + distance]
                n_keys += 1
            if left_is_end:
                break
    return keys[:n_keys]
