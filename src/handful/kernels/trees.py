"""The best projective dependency tree, scored by arcs (Eisner) or by arcs and pairs of siblings.

Node 0 is the root, nodes 1 to n are the words. Arc ``(h, m)`` has the score ``arcs[h, m]``. A pair is an arc with the
nearest other child of its head between the two: pair ``(h, s, m)`` has the score ``pairs[starts[h, m] + abs(s - h)]``,
and ``pairs[starts[h, m]]`` stands for no such child.
"""

from __future__ import annotations

import numpy as np

from handful.kernels import njit


@njit(cache=True, nogil=True)
def pair_starts(n: int, single_root: bool) -> tuple[np.ndarray, int]:
    """Give numbers to the pairs of a sentence.

    Parameters
    ----------
    n : int
        Words.
    single_root : bool
        Whether the root has exactly one child, and so no pairs of children.

    Returns
    -------
    starts : ndarray of int64, shape (n + 1, n + 1)
        Number of the first pair of each arc.
    n_pairs : int
        Pairs in all.

    Examples
    --------
    >>> starts, n_pairs = pair_starts(2, True)
    >>> starts.tolist(), n_pairs
    ([[0, 0, 1], [0, 0, 2], [0, 3, 0]], 4)
    """
    starts = np.zeros((n + 1, n + 1), dtype=np.int64)
    count = 0
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m:
                starts[h, m] = count
                count += 1 if h == 0 and single_root else abs(h - m)
    return starts, count


@njit(cache=True, nogil=True)
def siblings_of(heads: np.ndarray) -> np.ndarray:
    """Return for each word the nearest other child of its head between the two, as its distance from the head.

    Parameters
    ----------
    heads : ndarray of int, shape (n,)
        Head of each word.

    Returns
    -------
    ndarray of int64, shape (n,)
        Distances; 0 for no such child.

    Examples
    --------
    >>> siblings_of(np.array([0, 1, 1])).tolist()
    [0, 0, 1]
    """
    n = len(heads)
    out = np.zeros(n, dtype=np.int64)
    for m in range(1, n + 1):
        h = heads[m - 1]
        step = -1 if m > h else 1
        s = m + step
        while s != h:
            if heads[s - 1] == h:
                out[m - 1] = abs(s - h)
                break
            s += step
    return out


@njit(cache=True, nogil=True)
def best_tree(
    arcs: np.ndarray, pairs: np.ndarray, starts: np.ndarray, second: bool, single_root: bool
) -> tuple[np.ndarray, float]:
    """Find the best projective tree.

    Parameters
    ----------
    arcs : ndarray of float64, shape (n + 1, n + 1)
        Score of each arc.
    pairs : ndarray of float64
        Score of each pair; not read unless `second`.
    starts : ndarray of int64, shape (n + 1, n + 1)
        Number of the first pair of each arc; see `pair_starts`.
    second : bool
        Whether pairs count (McDonald & Pereira 2006) or arcs alone (Eisner 1996).
    single_root : bool
        Whether the root has exactly one child.

    Returns
    -------
    heads : ndarray of int32, shape (n,)
        Head of each word.
    value : float
        Score of the tree.

    Notes
    -----
    Among equals the split further left wins. Cost: O(n^3).

    Examples
    --------
    >>> arcs = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 5.0], [0.0, 3.0, 0.0]])
    >>> heads, value = best_tree(arcs, np.empty(0), np.empty((0, 0), dtype=np.int64), False, True)
    >>> heads.tolist(), value
    ([0, 1], 6.0)
    """
    size = arcs.shape[0]
    first = 1 if single_root else 0
    # Tables whose second index is summed over lie transposed, so that inner loops run along rows.
    right, right_t = np.zeros((size, size)), np.zeros((size, size))
    left, left_t = np.zeros((size, size)), np.zeros((size, size))
    open_right, open_left_t = np.empty((size, size)), np.empty((size, size))
    between, between_t = np.empty((size, size)), np.empty((size, size))
    cut = np.zeros((5, size, size), dtype=np.int32)
    for width in range(1, size):
        for i in range(first, size - width):
            j = i + width
            best, at = -np.inf, i
            for k in range(i, j):
                value = right[i, k] + left_t[j, k + 1]
                if value > best:
                    best, at = value, k
            between[i, j] = between_t[j, i] = best
            cut[0, i, j] = at
            if not second:
                open_right[i, j] = best + arcs[i, j]
                open_left_t[j, i] = best + arcs[j, i] if i > 0 else -np.inf
            else:
                start = starts[i, j] - i
                best, at = left[i + 1, j] + pairs[start + i], i
                for k in range(i + 1, j):
                    value = open_right[i, k] + between_t[j, k] + pairs[start + k]
                    if value > best:
                        best, at = value, k
                open_right[i, j] = best + arcs[i, j]
                cut[1, i, j] = at
                open_left_t[j, i] = -np.inf
                if i > 0:
                    start = starts[j, i] + j
                    best, at = right[i, j - 1] + pairs[start - j], j
                    for k in range(i + 1, j):
                        value = between[i, k] + open_left_t[j, k] + pairs[start - k]
                        if value > best:
                            best, at = value, k
                    open_left_t[j, i] = best + arcs[j, i]
                    cut[2, i, j] = at
            best, at = -np.inf, j
            for k in range(i + 1, j + 1):
                value = open_right[i, k] + right_t[j, k]
                if value > best:
                    best, at = value, k
            right[i, j] = right_t[j, i] = best
            cut[3, i, j] = at
            best, at = -np.inf, i
            for k in range(i, j):
                value = left[i, k] + open_left_t[j, k]
                if value > best:
                    best, at = value, k
            left[i, j] = left_t[j, i] = best
            cut[4, i, j] = at
    heads = np.zeros(size - 1, dtype=np.int32)
    todo = np.empty((4 * size + 4, 3), dtype=np.int32)
    n_todo = 0
    if single_root:
        best, at = -np.inf, 1
        for r in range(1, size):
            value = left[1, r] + right[r, size - 1] + arcs[0, r]
            if second:
                value += pairs[starts[0, r]]
            if value > best:
                best, at = value, r
        if size > 1:
            n_todo = _push(todo, n_todo, 4, 1, at)
            n_todo = _push(todo, n_todo, 3, at, size - 1)
        else:
            best = 0.0
    else:
        best = right[0, size - 1]
        n_todo = _push(todo, n_todo, 3, 0, size - 1)
    while n_todo > 0:
        n_todo -= 1
        kind, i, j = todo[n_todo]
        if i == j:
            continue
        k = cut[kind, i, j]
        if kind == 3:
            n_todo = _push(todo, n_todo, 1, i, k)
            n_todo = _push(todo, n_todo, 3, k, j)
        elif kind == 4:
            n_todo = _push(todo, n_todo, 4, i, k)
            n_todo = _push(todo, n_todo, 2, k, j)
        elif kind == 0:
            n_todo = _push(todo, n_todo, 3, i, k)
            n_todo = _push(todo, n_todo, 4, k + 1, j)
        else:
            heads[(j if kind == 1 else i) - 1] = i if kind == 1 else j
            if not second:
                n_todo = _push(todo, n_todo, 0, i, j)
            elif kind == 1:
                if k == i:
                    n_todo = _push(todo, n_todo, 4, i + 1, j)
                else:
                    n_todo = _push(todo, n_todo, 1, i, k)
                    n_todo = _push(todo, n_todo, 0, k, j)
            elif k == j:
                n_todo = _push(todo, n_todo, 3, i, j - 1)
            else:
                n_todo = _push(todo, n_todo, 0, i, k)
                n_todo = _push(todo, n_todo, 2, k, j)
    return heads, best


@njit(cache=True, nogil=True)
def _push(todo: np.ndarray, n: int, kind: int, i: int, j: int) -> int:
    todo[n, 0], todo[n, 1], todo[n, 2] = kind, i, j
    return n + 1
