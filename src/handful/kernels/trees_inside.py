"""Sums over all projective dependency trees: log partition and marginals of arcs and sibling pairs."""

from __future__ import annotations

import numpy as np

from handful.kernels import njit


@njit(cache=True, nogil=True)
def tree_marginals(
    arcs: np.ndarray, pairs: np.ndarray, starts: np.ndarray, second: bool, single_root: bool
) -> tuple[float, np.ndarray, np.ndarray]:
    """Sum over all projective trees.

    Parameters
    ----------
    arcs, pairs, starts, second, single_root
        See `handful.kernels.trees.best_tree`.

    Returns
    -------
    log_partition : float
        Log of the summed exponentials of all scores.
    arc_shares : ndarray of float64, shape (n + 1, n + 1)
        Probability of each arc.
    pair_shares : ndarray of float64
        Probability of each pair; empty unless `second`.

    Notes
    -----
    Inside values are logs; the outside pass is their derivative, taken backwards through the same sums.
    Cost: O(n^3).

    Examples
    --------
    >>> total, shares, _ = tree_marginals(np.zeros((3, 3)), np.empty(0), np.empty((0, 0), dtype=np.int64), False, True)
    >>> round(float(np.exp(total)), 9), shares.round(9).tolist()
    (2.0, [[0.0, 0.5, 0.5], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]])
    """
    size = arcs.shape[0]
    first = 1 if single_root else 0
    right, left = np.zeros((size, size)), np.zeros((size, size))
    open_right, open_left = np.full((size, size), -np.inf), np.full((size, size), -np.inf)
    between = np.full((size, size), -np.inf)
    terms = np.empty(size + 1)
    for width in range(1, size):
        for i in range(first, size - width):
            j = i + width
            for k in range(i, j):
                terms[k - i] = right[i, k] + left[k + 1, j]
            between[i, j] = _log_sum(terms, width)
            if not second:
                open_right[i, j] = between[i, j] + arcs[i, j]
                if i > 0:
                    open_left[i, j] = between[i, j] + arcs[j, i]
            else:
                _right_terms(i, j, left, open_right, between, pairs, starts, terms)
                open_right[i, j] = _log_sum(terms, width) + arcs[i, j]
                if i > 0:
                    _left_terms(i, j, right, open_left, between, pairs, starts, terms)
                    open_left[i, j] = _log_sum(terms, width) + arcs[j, i]
            for k in range(i + 1, j + 1):
                terms[k - i - 1] = open_right[i, k] + right[k, j]
            right[i, j] = _log_sum(terms, width)
            for k in range(i, j):
                terms[k - i] = left[i, k] + open_left[k, j]
            left[i, j] = _log_sum(terms, width)
    arc_shares = np.zeros((size, size))
    pair_shares = np.zeros(len(pairs) if second else 0)
    if size == 1:
        return 0.0, arc_shares, pair_shares
    g_right, g_left = np.zeros((size, size)), np.zeros((size, size))
    g_open_right, g_open_left = np.zeros((size, size)), np.zeros((size, size))
    g_between = np.zeros((size, size))
    if single_root:
        for r in range(1, size):
            terms[r - 1] = left[1, r] + right[r, size - 1] + arcs[0, r]
            if second:
                terms[r - 1] += pairs[starts[0, r]]
        total = _log_sum(terms, size - 1)
        for r in range(1, size):
            share = np.exp(terms[r - 1] - total)
            arc_shares[0, r] = share
            g_left[1, r] += share
            g_right[r, size - 1] += share
            if second:
                pair_shares[starts[0, r]] = share
    else:
        total = right[0, size - 1]
        g_right[0, size - 1] = 1.0
    for width in range(size - 1, 0, -1):
        for i in range(first, size - width):
            j = i + width
            if g_right[i, j] > 0.0:
                for k in range(i + 1, j + 1):
                    share = g_right[i, j] * np.exp(open_right[i, k] + right[k, j] - right[i, j])
                    g_open_right[i, k] += share
                    g_right[k, j] += share
            if g_left[i, j] > 0.0:
                for k in range(i, j):
                    share = g_left[i, j] * np.exp(left[i, k] + open_left[k, j] - left[i, j])
                    g_left[i, k] += share
                    g_open_left[k, j] += share
            up, down = g_open_right[i, j], g_open_left[i, j]
            arc_shares[i, j] += up
            if i > 0:
                arc_shares[j, i] += down
            if not second:
                g_between[i, j] += up + down
            else:
                if up > 0.0:
                    _right_terms(i, j, left, open_right, between, pairs, starts, terms)
                    whole = open_right[i, j] - arcs[i, j]
                    for k in range(i, j):
                        share = up * np.exp(terms[k - i] - whole)
                        pair_shares[starts[i, j] + k - i] += share
                        if k == i:
                            g_left[i + 1, j] += share
                        else:
                            g_open_right[i, k] += share
                            g_between[k, j] += share
                if down > 0.0:
                    _left_terms(i, j, right, open_left, between, pairs, starts, terms)
                    whole = open_left[i, j] - arcs[j, i]
                    for k in range(i + 1, j + 1):
                        share = down * np.exp(terms[j - k] - whole)
                        pair_shares[starts[j, i] + j - k] += share
                        if k == j:
                            g_right[i, j - 1] += share
                        else:
                            g_between[i, k] += share
                            g_open_left[k, j] += share
            if g_between[i, j] > 0.0:
                for k in range(i, j):
                    share = g_between[i, j] * np.exp(right[i, k] + left[k + 1, j] - between[i, j])
                    g_right[i, k] += share
                    g_left[k + 1, j] += share
    return total, arc_shares, pair_shares


@njit(cache=True, nogil=True)
def _right_terms(
    i: int,
    j: int,
    left: np.ndarray,
    open_right: np.ndarray,
    between: np.ndarray,
    pairs: np.ndarray,
    starts: np.ndarray,
    terms: np.ndarray,
) -> None:
    """List the ways in which i takes j as a child to its right, by the sibling before j."""
    terms[0] = left[i + 1, j] + pairs[starts[i, j]]
    for k in range(i + 1, j):
        terms[k - i] = open_right[i, k] + between[k, j] + pairs[starts[i, j] + k - i]


@njit(cache=True, nogil=True)
def _left_terms(
    i: int,
    j: int,
    right: np.ndarray,
    open_left: np.ndarray,
    between: np.ndarray,
    pairs: np.ndarray,
    starts: np.ndarray,
    terms: np.ndarray,
) -> None:
    """List the ways in which j takes i as a child to its left, by the sibling after i."""
    terms[0] = right[i, j - 1] + pairs[starts[j, i]]
    for k in range(i + 1, j):
        terms[j - k] = between[i, k] + open_left[k, j] + pairs[starts[j, i] + j - k]


@njit(cache=True, nogil=True)
def _log_sum(terms: np.ndarray, n: int) -> float:
    top = -np.inf
    for k in range(n):
        top = max(top, terms[k])
    if top == -np.inf:
        return top
    total = 0.0
    for k in range(n):
        total += np.exp(terms[k] - top)
    return float(top + np.log(total))
