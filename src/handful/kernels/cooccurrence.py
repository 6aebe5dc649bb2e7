"""Counting of words that stand near each other: keys of pairs, and sorted runs of counted keys."""

from __future__ import annotations

import numpy as np

from handful.kernels import njit

END = -2
"""Stands between sentences where words are numbers."""


def count_keys(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count equal keys.

    Parameters
    ----------
    keys : ndarray of int64
        Any keys.

    Returns
    -------
    run : tuple of (ndarray of int64, ndarray of int64)
        The distinct keys in increasing order, and how often each was there.

    Examples
    --------
    >>> [part.tolist() for part in count_keys(np.array([7, 3, 7]))]
    [[3, 7], [1, 2]]
    """
    ordered = np.sort(keys)
    starts = np.flatnonzero(np.concatenate((np.ones(min(len(ordered), 1), dtype=bool), ordered[1:] != ordered[:-1])))
    return ordered[starts], np.diff(starts, append=len(ordered))


@njit(cache=True)
def merge_runs(keys, counts, more_keys, more_counts):  # type: ignore[no-untyped-def]
    """Add two sorted runs of counted keys.

    Parameters
    ----------
    keys, more_keys : ndarray of int64
        Distinct keys in increasing order.
    counts, more_counts : ndarray of int64
        Their counts.

    Returns
    -------
    run : tuple of (ndarray of int64, ndarray of int64)
        All keys in increasing order with the sum of their counts.

    Examples
    --------
    >>> one, two = np.array([1, 4]), np.array([2, 4])
    >>> [part.tolist() for part in merge_runs(one, np.array([1, 1]), two, np.array([5, 5]))]
    [[1, 2, 4], [1, 5, 6]]
    """
    n, m = len(keys), len(more_keys)
    i = j = size = 0
    while i < n and j < m:
        size += 1
        a, b = keys[i], more_keys[j]
        i += a <= b
        j += b <= a
    size += n - i + m - j
    merged = np.empty(size, dtype=np.int64)
    total = np.empty(size, dtype=np.int64)
    i = j = 0
    for k in range(size):
        if j == m or (i < n and keys[i] < more_keys[j]):
            merged[k], total[k] = keys[i], counts[i]
            i += 1
        elif i == n or more_keys[j] < keys[i]:
            merged[k], total[k] = more_keys[j], more_counts[j]
            j += 1
        else:
            merged[k], total[k] = keys[i], counts[i] + more_counts[j]
            i += 1
            j += 1
    return merged, total


@njit(cache=True)
def follower_keys(words, n_words):  # type: ignore[no-untyped-def]
    """Return ``first * n_words + second`` for every two words that stand side by side.

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
        Numbers of the marks before and after a sentence among the context words, or -1.
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
    n_kinds = 1
    for kind in kinds:
        n_kinds = max(n_kinds, kind + 1)
    keys = np.empty(2 * window * max(len(words) - first, 0), dtype=np.int64)
    n_keys = 0
    for i in range(first, len(words)):
        for distance in range(1, window + 1):
            j = i - distance
            if j < 0:
                break
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
