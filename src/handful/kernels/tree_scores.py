"""Scores of the arcs and sibling pairs of a sentence under fixed weights, pairs only where their arcs are likely.

Parsing needs no list of features, only their sums; and most pairs belong to arcs that no tree of any use has. The scores of
the arcs are found first; arcs that are unlikely by these alone are set aside, and with them all of their pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.kernels import njit
from handful.kernels.tree_features import (
    AFTER_CHILD,
    BEFORE_CHILD,
    CHILD,
    HEAD,
    N_PART,
    N_PLACES,
    Templates,
    add_token,
    mark_sums,
    mix,
    set_part,
    set_sibling,
    template_keys,
    write_keys,
)
from handful.kernels.trees_inside import tree_marginals

_NO_PAIRS = np.empty(0)
_NO_STARTS = np.empty((0, 0), dtype=np.int64)
_PRUNED = 1e6  # so much less for an arc that was not kept: a tree has one only if there is no other


_SLOT = np.dtype([("key", np.int64), ("weight", np.float64)])


class WeightTable(NamedTuple):
    """A hash table from keys to weights, which lie side by side: most of the time of parsing goes into waiting for them.

    Parameters
    ----------
    slots : ndarray of keys and weights
        Key -1 where empty; the size is a power of two.
    sieve : ndarray of uint8
        See `handful.kernels.tree_features.KeyTable`.
    """

    slots: np.ndarray
    sieve: np.ndarray


def make_weight_table(keys: np.ndarray, weights: np.ndarray) -> WeightTable:
    """Make a hash table from keys to weights.

    Parameters
    ----------
    keys : ndarray of int64
        Distinct keys, none negative.
    weights : ndarray of float64
        Weight of each.

    Returns
    -------
    WeightTable
        At most two thirds full.

    Examples
    --------
    >>> table = make_weight_table(np.array([7, 9]), np.array([0.5, -2.0]))
    >>> sum_of(table, np.array([7, 8, 9]), 3)
    -1.5
    """
    size = 2
    while 2 * size < 3 * len(keys):
        size *= 2
    slots = np.empty(size, dtype=_SLOT)
    slots["key"] = -1
    sieve = np.zeros(size, dtype=np.uint8)
    _fill(keys, weights, slots, sieve)
    return WeightTable(slots, sieve)


@njit(cache=True, nogil=True)
def _fill(keys: np.ndarray, weights: np.ndarray, slots: np.ndarray, sieve: np.ndarray) -> None:
    last = len(slots) - 1
    for number in range(len(keys)):
        mixed = mix(keys[number])
        slot = mixed & last
        while slots[slot].key >= 0:
            slot = (slot + 1) & last
        slots[slot].key, slots[slot].weight = keys[number], weights[number]
        sieve[(mixed >> 3) & last] |= np.uint8(1 << (mixed & 7))


@njit(cache=True, nogil=True)
def sum_of(table: WeightTable, keys: np.ndarray, n_keys: int) -> float:
    """Return the sum of the weights of the first `n_keys` keys; unknown ones weigh nothing."""
    slots, sieve = table.slots, table.sieve
    last = len(slots) - 1
    total = 0.0
    for k in range(n_keys):
        mixed = mix(keys[k])
        if (sieve[(mixed >> 3) & last] >> (mixed & 7)) & 1:
            slot = mixed & last
            while slots[slot].key >= 0:
                if slots[slot].key == keys[k]:
                    total += slots[slot].weight
                    break
                slot = (slot + 1) & last
    return total


@njit(cache=True, nogil=True)
def likely_arcs(arcs: np.ndarray, single_root: bool, scale: float, least: float) -> np.ndarray:
    """Tell which arcs projective trees are likely to have, by the scores of arcs alone.

    Parameters
    ----------
    arcs : ndarray of float64, shape (n + 1, n + 1)
        Score of each arc.
    single_root : bool
        Whether the root has exactly one child.
    scale : float
        Scores are divided by it before they are taken for logarithms.
    least : float
        Arcs are kept that are at least this likely, as a share of the likeliest arc to the same child.

    Returns
    -------
    ndarray of bool, shape (n + 1, n + 1)
        True for the arcs to keep; all where the sums cannot be told.

    Examples
    --------
    >>> arcs = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 5.0], [0.0, 3.0, 0.0]])
    >>> likely_arcs(arcs, True, 0.3, 0.5).astype(int).tolist()
    [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    """
    size = len(arcs)
    total, shares, _ = tree_marginals(arcs / scale, _NO_PAIRS, _NO_STARTS, False, single_root)
    kept = np.full((size, size), not np.isfinite(total))
    for m in range(1, size):
        best = 0.0
        for h in range(size):
            best = max(best, shares[h, m])
        for h in range(size):
            if h != m and shares[h, m] >= least * best:
                kept[h, m] = True
    return kept


@njit(cache=True, nogil=True)
def part_scores(
    codes: np.ndarray,
    root: int,
    n: int,
    templates: tuple[Templates, Templates, Templates],
    table: WeightTable,
    starts: np.ndarray,
    n_pairs: int,
    single_root: bool,
    scale: float,
    least: float,
) -> np.ndarray:
    """Score the parts of a sentence, pairs only where head and child, and head and sibling, are kept.

    Parameters
    ----------
    codes, root, n, starts, n_pairs, single_root
        See `handful.kernels.tree_features.features_of_sentence`; without pairs, `n_pairs` is 0.
    templates : tuple of Templates
        Those of arcs, of pairs, and of pairs without a look at the head.
    table : WeightTable
        Weights of the features by their keys.
    scale, least : float
        Which arcs are kept; see `likely_arcs`.

    Returns
    -------
    ndarray of float64, shape ((n + 1) ** 2 + n_pairs,)
        Scores of the arcs, then of the pairs. Where pairs count, arcs that were not kept have lost a million, and the
        pairs that would need one have the score 0.
    """
    arcs, pairs, near = templates
    size = n + 1
    scores = np.zeros(size * size + n_pairs)
    sums = mark_sums(codes, root, n, arcs.mark)
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    tokens = np.empty(size, dtype=np.int64)
    buffer = np.empty(2 * len(arcs.each) * (n + 2) + 2 * len(pairs.each) + 2 * len(near.each), dtype=np.int64)
    for h in range(size):
        for step in (-1, 1):
            n_tokens = 0
            m = h + step
            while 1 <= m <= n:
                set_part(root, n, h, m, sums, rows, part)
                n_keys = template_keys(codes, arcs, rows, part, tokens, n_tokens, buffer)
                scores[h * size + m] = sum_of(table, buffer, n_keys)
                n_tokens = add_token(codes, arcs.between, root + m, tokens, n_tokens)
                m += step
    if n_pairs == 0:
        return scores
    kept = likely_arcs(scores[: size * size].reshape(size, size), single_root, scale, least)
    # What sibling and child have without the head is added up once for all heads, when first asked for. Sibling 0 is
    # none, to the left of the child; sibling n + 1 is none, to its right.
    headless = np.full((size, n + 2), np.nan)
    for h in range(size):
        for step in (-1, 1):
            m = h + step
            while 1 <= m <= n:
                if kept[h, m]:
                    set_part(root, n, h, m, sums, rows, part)
                    for k in range(1 if h == 0 and single_root else abs(h - m)):
                        s = h + step * k if k > 0 else (0 if step > 0 else n + 1)
                        if k > 0 and not kept[h, s]:
                            continue
                        set_sibling(root, n, s if k > 0 else 0, m, rows, part)
                        n_keys = template_keys(codes, pairs, rows, part, tokens, 0, buffer)
                        total = sum_of(table, buffer, n_keys)
                        if np.isnan(headless[m, s]):
                            n_keys = _headless_keys(codes, root, n, near, m, s, buffer)
                            headless[m, s] = sum_of(table, buffer, n_keys)
                        scores[size * size + starts[h, m] + k] = total + headless[m, s]
                else:
                    scores[h * size + m] -= _PRUNED
                m += step
    return scores


@njit(cache=True, nogil=True)
def _headless_keys(codes: np.ndarray, root: int, n: int, near: Templates, m: int, s: int, out: np.ndarray) -> int:
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    rows[CHILD] = root + m
    rows[BEFORE_CHILD] = root + m - 1
    rows[AFTER_CHILD] = root + m + 1 if m < n else 0
    rows[HEAD] = -1 if s < m else root + n + 1  # tells the direction alone
    set_sibling(root, n, 0 if s == n + 1 else s, m, rows, part)
    return int(write_keys(codes, near, rows, part, out))
