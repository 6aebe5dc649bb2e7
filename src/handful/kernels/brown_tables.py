"""What Brown clustering knows of clusters, and counts of neighboring words in the order in which it needs them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
