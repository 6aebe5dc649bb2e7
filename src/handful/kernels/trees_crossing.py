"""Dependency trees whose arcs may cross: the best one (Chu-Liu-Edmonds), and lifting of arcs until none cross."""

from __future__ import annotations

import numpy as np

from handful.kernels import njit


@njit(cache=True, nogil=True)
def best_crossing_tree(arcs: np.ndarray, single_root: bool) -> tuple[np.ndarray, float]:
    """Find the best tree, arcs crossing or not (Chu & Liu 1965, Edmonds 1967).

    Parameters
    ----------
    arcs : ndarray of float64, shape (n + 1, n + 1)
        Score of each arc; finite.
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
    Among equals the head further left wins. For a single root, every arc from the root is made so costly that a tree
    with a second one cannot win. Cost: O(n^3).

    Examples
    --------
    >>> arcs = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 5.0], [0.0, 3.0, 0.0]])
    >>> heads, value = best_crossing_tree(arcs, True)
    >>> heads.tolist(), value
    ([0, 1], 6.0)
    """
    size = arcs.shape[0]
    work = arcs.copy()
    largest = 0.0
    for h in range(size):
        for m in range(1, size):
            if h != m:
                largest = max(largest, abs(arcs[h, m]))
    if single_root:
        for m in range(size):
            work[0, m] -= 2.0 * size * largest + 1.0
    # An arc from or to a contracted cycle remembers which original arc it stands for.
    origin_head = np.empty((size, size), dtype=np.int32)
    origin_word = np.empty((size, size), dtype=np.int32)
    for h in range(size):
        for m in range(size):
            origin_head[h, m], origin_word[h, m] = h, m
    alive = np.ones(size, dtype=np.bool_)
    chosen = np.zeros(size, dtype=np.int32)
    mark = np.empty(size, dtype=np.int32)
    members = np.zeros((size, size), dtype=np.bool_)  # original words of each node
    for m in range(size):
        members[m, m] = True
    cycle_arcs = np.empty((2 * size, 2), dtype=np.int32)
    cycle_members = np.zeros((2 * size, size), dtype=np.bool_)
    n_kept = 0
    while True:
        for m in range(1, size):
            if alive[m]:
                best, at = -np.inf, 0
                for h in range(size):
                    if alive[h] and h != m and work[h, m] > best:
                        best, at = work[h, m], h
                chosen[m] = at
        for m in range(size):
            mark[m] = 0
        start = 0
        for m in range(1, size):
            if alive[m] and mark[m] == 0:
                node = m
                while node != 0 and mark[node] == 0:
                    mark[node] = m
                    node = chosen[node]
                if node != 0 and mark[node] == m:
                    start = node
                    break
        if start == 0:
            break
        in_cycle = np.zeros(size, dtype=np.bool_)
        node = start
        while not in_cycle[node]:
            in_cycle[node] = True
            node = chosen[node]
        # Keep the arcs of the cycle: all stand unless the arc that enters the cycle later replaces one.
        node = start
        while True:
            h = chosen[node]
            cycle_arcs[n_kept, 0] = origin_head[h, node]
            cycle_arcs[n_kept, 1] = origin_word[h, node]
            for m in range(size):
                cycle_members[n_kept, m] = members[node, m]
            n_kept += 1
            node = h
            if node == start:
                break
        for other in range(size):
            if not alive[other] or in_cycle[other]:
                continue
            best_in, in_at, best_out, out_at = -np.inf, start, -np.inf, start
            for node in range(1, size):
                if in_cycle[node]:
                    gain = work[other, node] - work[chosen[node], node]
                    if gain > best_in:
                        best_in, in_at = gain, node
                    if work[node, other] > best_out:
                        best_out, out_at = work[node, other], node
            if other != 0:
                h, w = origin_head[out_at, other], origin_word[out_at, other]
                work[start, other], origin_head[start, other], origin_word[start, other] = best_out, h, w
            h, w = origin_head[other, in_at], origin_word[other, in_at]
            work[other, start], origin_head[other, start], origin_word[other, start] = best_in, h, w
        for node in range(1, size):
            if in_cycle[node] and node != start:
                alive[node] = False
                for m in range(size):
                    members[start, m] |= members[node, m]
    heads = np.full(size - 1, -1, dtype=np.int32)
    for m in range(1, size):
        if alive[m]:
            heads[origin_word[chosen[m], m] - 1] = origin_head[chosen[m], m]
    # Cycles open in the reverse order of closing: a part of a cycle that was entered from outside drops its own arc.
    for k in range(n_kept - 1, -1, -1):
        entered = False
        for m in range(1, size):
            if cycle_members[k, m] and heads[m - 1] >= 0 and not cycle_members[k, heads[m - 1]]:
                entered = True
        if not entered:
            heads[cycle_arcs[k, 1] - 1] = cycle_arcs[k, 0]
    value = 0.0
    for m in range(1, size):
        value += arcs[heads[m - 1], m]
    return heads, value


@njit(cache=True, nogil=True)
def lift_crossing(heads: np.ndarray) -> int:
    """Hang words higher up in a tree until no arc crosses another (Nivre & Nilsson 2005).

    Parameters
    ----------
    heads : ndarray of int, shape (n,)
        Heads of a tree; changed in place.

    Returns
    -------
    int
        Steps made: how often a word was hung to the head of its head.

    Notes
    -----
    The shortest arc that has a word between its ends which does not descend from its head is lifted first; among
    equals, the one further left. Cost: O(n^2 * depth) a step.

    Examples
    --------
    >>> heads = np.array([0, 4, 1, 1])
    >>> lift_crossing(heads), heads.tolist()
    (1, [0, 1, 1, 1])
    """
    n = len(heads)
    lifted = 0
    while True:
        shortest, at = n + 1, 0
        for m in range(1, n + 1):
            h = heads[m - 1]
            if abs(h - m) < shortest:
                for between in range(min(h, m) + 1, max(h, m)):
                    word = between
                    while word != 0 and word != h:
                        word = heads[word - 1]
                    if word != h:
                        shortest, at = abs(h - m), m
                        break
        if at == 0:
            return lifted
        heads[at - 1] = heads[heads[at - 1] - 1]
        lifted += 1
