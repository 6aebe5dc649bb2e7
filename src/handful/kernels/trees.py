"""Dependency trees: decoding and expected counts, projective and not."""

from __future__ import annotations

import numpy as np

from handful.kernels.cache import njit


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
    Among equals the split further left wins, with pairs before that a child without a sibling between. Cost: O(n^3).

    Examples
    --------
    >>> arcs = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 5.0], [0.0, 3.0, 0.0]])
    >>> heads, value = best_tree(arcs, np.empty(0), np.empty((0, 0), dtype=np.int64), False, True)
    >>> heads.tolist(), value
    ([0, 1], 6.0)
    """
    size = arcs.shape[0]
    if size == 1:
        return np.zeros(0, dtype=np.int32), 0.0
    first = int(single_root)
    # Tables whose second index is summed over lie transposed, so that inner loops run along rows.
    right, right_t = np.zeros((size, size)), np.zeros((size, size))
    left, left_t = np.zeros((size, size)), np.zeros((size, size))
    open_right, open_left_t = np.empty((size, size)), np.empty((size, size))
    between, between_t = np.empty((size, size)), np.empty((size, size))
    cut = np.zeros((5, size, size), dtype=np.int32)
    for width in range(1, size):
        for i in range(first, size - width):
            j = i + width
            best, cut[0, i, j] = _best_sum(right[i], left_t[j, 1:], i, j)
            between[i, j] = between_t[j, i] = to_right = to_left = best
            if second:
                start, none = starts[i, j], left[i + 1, j] + pairs[starts[i, j]]
                to_right, cut[1, i, j] = _best_sibling(none, open_right[i], between_t[j], pairs, start - i, 1, i, j)
            if second and i > 0:
                start, none = starts[j, i], right[i, j - 1] + pairs[starts[j, i]]
                to_left, cut[2, i, j] = _best_sibling(none, between[i], open_left_t[j], pairs, start + j, -1, i, j)
            open_right[i, j] = to_right + arcs[i, j]
            open_left_t[j, i] = to_left + arcs[j, i] if i > 0 else -np.inf
            best, cut[3, i, j] = _best_sum(open_right[i], right_t[j], i + 1, j + 1)
            right[i, j] = right_t[j, i] = best
            best, cut[4, i, j] = _best_sum(left[i], open_left_t[j], i, j)
            left[i, j] = left_t[j, i] = best
    todo = np.empty((4 * size + 4, 3), dtype=np.int32)
    if not single_root:
        return _heads_of(cut, todo, _push(todo, 0, 3, 0, size - 1), second), right[0, size - 1]
    values = _root_values(left[1], right[:, size - 1], arcs[0], pairs, starts, second)
    child = 1 + values.argmax()
    n_todo = _push(todo, _push(todo, 0, 4, 1, child), 3, child, size - 1)
    return _heads_of(cut, todo, n_todo, second), values[child - 1]


@njit(inline="always")
def _best_sum(a: np.ndarray, b: np.ndarray, start: int, stop: int) -> tuple[float, int]:
    """Return the largest sum of two numbers at one place, and the place; among equals the first."""
    best, at = -np.inf, start
    for k in range(start, stop):
        value = a[k] + b[k]
        if value > best:
            best, at = value, k
    return best, at


@njit(inline="always")
def _best_sibling(
    none: float, a: np.ndarray, b: np.ndarray, pairs: np.ndarray, start: int, step: int, i: int, j: int
) -> tuple[float, int]:
    """Return the best value of an arc between i and j without a sibling or with one between them, and its place."""
    best, at = none, i if step > 0 else j
    for k in range(i + 1, j):
        value = a[k] + b[k] + pairs[start + step * k]
        if value > best:
            best, at = value, k
    return best, at


@njit(cache=True, nogil=True)
def _root_values(
    left: np.ndarray, right: np.ndarray, arcs: np.ndarray, pairs: np.ndarray, starts: np.ndarray, second: bool
) -> np.ndarray:
    """Return the value of each word as the only child of the root."""
    values: np.ndarray = left[1:] + right[1:] + arcs[1:]
    if second:
        for r in range(len(values)):
            values[r] += pairs[starts[0, r + 1]]
    return values


# What a span is made of: the kinds of its two parts. Kinds: 0 between two heads, 1 and 2 an arc to the right and to the
# left, 3 and 4 all descendants to the right and to the left.
_PARTS = np.array([[3, 4], [1, 0], [0, 2], [1, 3], [4, 2]])


@njit(cache=True, nogil=True)
def _heads_of(cut: np.ndarray, todo: np.ndarray, n_todo: int, second: bool) -> np.ndarray:
    """Follow the cuts down from the spans that are to do."""
    heads = np.zeros(cut.shape[1] - 1, dtype=np.int32)
    while n_todo > 0:
        n_todo -= 1
        kind, i, j = todo[n_todo]
        k = cut[kind, i, j]
        if i == j:
            continue
        if 0 < kind < 3:
            heads[(j if kind == 1 else i) - 1] = i if kind == 1 else j
            if not second:
                n_todo = _push(todo, n_todo, 0, i, j)
                continue
            if k in (i, j):  # no sibling
                n_todo = _push(todo, n_todo, 4, i + 1, j) if kind == 1 else _push(todo, n_todo, 3, i, j - 1)
                continue
        n_todo = _push(todo, n_todo, _PARTS[kind, 0], i, k)
        n_todo = _push(todo, n_todo, _PARTS[kind, 1], k + (kind == 0), j)
    return heads


@njit(cache=True, nogil=True)
def _push(todo: np.ndarray, n: int, kind: int, i: int, j: int) -> int:
    todo[n, 0], todo[n, 1], todo[n, 2] = kind, i, j
    return n + 1


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
    np.fill_diagonal(work, 0.0)
    work[:, 0] = 0.0
    work[0] -= (2.0 * size * np.abs(work).max() + 1.0) * single_root
    np.fill_diagonal(work, -np.inf)
    # An arc from or to a contracted cycle remembers its original arc.
    origin = np.empty((size, size, 2), dtype=np.int32)
    members = np.eye(size) > 0.0  # original words of each node
    for h in range(size):
        origin[h, :, 0], origin[h, :, 1] = h, np.arange(size)
    alive, chosen = np.ones(size, dtype=np.bool_), np.zeros(size, dtype=np.int32)
    kept_arcs, kept_members = np.empty((2 * size, 2), dtype=np.int32), np.zeros((2 * size, size), dtype=np.bool_)
    n_kept = 0
    while True:
        for m in range(1, size):
            chosen[m] = work[:, m].argmax()
        cycle = _find_cycle(alive, chosen)
        if len(cycle) == 0:
            break
        for node in cycle:  # its arcs stay, unless the arc that enters the cycle replaces one
            kept_arcs[n_kept], kept_members[n_kept] = origin[chosen[node], node], members[node]
            n_kept += 1
        _contract(work, origin, chosen, cycle)
        for node in cycle[1:]:
            alive[node] = False
            work[node] = -np.inf
            members[cycle[0]] |= members[node]
    heads = np.full(size - 1, -1, dtype=np.int32)
    for m in range(1, size):
        if alive[m]:
            head, word = origin[chosen[m], m]
            heads[word - 1] = head
    _open_cycles(heads, kept_arcs[:n_kept], kept_members)
    value = 0.0
    for m in range(1, size):
        value += arcs[heads[m - 1], m]
    return heads, value


@njit(cache=True, nogil=True)
def _open_cycles(heads: np.ndarray, arcs: np.ndarray, members: np.ndarray) -> None:
    """Cycles open in the reverse order of closing: a part of a cycle that was entered from outside drops its own arc."""
    for k in range(len(arcs) - 1, -1, -1):
        if not _is_entered(heads, members[k]):
            heads[arcs[k, 1] - 1] = arcs[k, 0]


@njit(cache=True, nogil=True)
def _find_cycle(alive: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the nodes of a cycle of arcs from chosen heads, the node found first in front, or nothing."""
    size = len(chosen)
    seen = np.zeros(size, dtype=np.int32)
    for m in range(1, size):
        node = m if alive[m] else 0
        while node != 0 and seen[node] == 0:
            seen[node] = m
            node = chosen[node]
        if node != 0 and seen[node] == m:
            cycle = np.empty(size, dtype=np.int64)
            n = 0
            while seen[node] == m:
                seen[node] = -1
                cycle[n] = node
                n += 1
                node = chosen[node]
            return cycle[:n]
    return np.empty(0, dtype=np.int64)


@njit(cache=True, nogil=True)
def _contract(work: np.ndarray, origin: np.ndarray, chosen: np.ndarray, cycle: np.ndarray) -> None:
    """Make a cycle one node, the first of it: arcs from it are the best of all its nodes, arcs to it replace one inside it."""
    start, nodes = cycle[0], np.sort(cycle)
    outside = np.ones(len(work), dtype=np.bool_)
    outside[cycle] = False
    for other in np.flatnonzero(outside):
        best_in, best_out, gain = start, nodes[0], -np.inf
        for node in nodes:
            change = work[other, node] - work[chosen[node], node]
            if change > gain:
                best_in, gain = node, change
            if work[node, other] > work[best_out, other]:
                best_out = node
        work[start, other], origin[start, other] = work[best_out, other], origin[best_out, other]
        work[other, start], origin[other, start] = gain, origin[other, best_in]


@njit(cache=True, nogil=True)
def _is_entered(heads: np.ndarray, members: np.ndarray) -> bool:
    """Return whether a word of a node has a head outside the node."""
    entered = False
    for m in range(1, len(members)):
        entered |= members[m] and heads[m - 1] >= 0 and not members[heads[m - 1]]
    return entered


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
    arc_marginals : ndarray of float64, shape (n + 1, n + 1)
        Probability of each arc.
    pair_marginals : ndarray of float64
        Probability of each pair; empty unless `second`.

    Notes
    -----
    Inside values are logs; the outside pass is their derivative, taken backwards through the same sums.
    Cost: O(n^3).

    Examples
    --------
    >>> total, marginals, _ = tree_marginals(np.zeros((3, 3)), np.empty(0), np.empty((0, 0), dtype=np.int64), False, True)
    >>> round(float(np.exp(total)), 9), marginals.round(9).tolist()
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
    arc_marginals = np.zeros((size, size))
    pair_marginals = np.zeros(len(pairs) if second else 0)
    if size == 1:
        return 0.0, arc_marginals, pair_marginals
    g_right, g_left = np.zeros((size, size)), np.zeros((size, size))
    g_open_right, g_open_left = np.zeros((size, size)), np.zeros((size, size))
    g_between = np.zeros((size, size))
    if single_root:
        values = _root_values(left[1], right[:, size - 1], arcs[0], pairs, starts, second)
        total = _log_sum(values, size - 1)
        for r in range(1, size):
            marginal = np.exp(values[r - 1] - total)
            arc_marginals[0, r] = marginal
            g_left[1, r] += marginal
            g_right[r, size - 1] += marginal
            if second:
                pair_marginals[starts[0, r]] = marginal
    else:
        total = right[0, size - 1]
        g_right[0, size - 1] = 1.0
    for width in range(size - 1, 0, -1):
        for i in range(first, size - width):
            j = i + width
            if g_right[i, j] > 0.0:
                for k in range(i + 1, j + 1):
                    marginal = g_right[i, j] * np.exp(open_right[i, k] + right[k, j] - right[i, j])
                    g_open_right[i, k] += marginal
                    g_right[k, j] += marginal
            if g_left[i, j] > 0.0:
                for k in range(i, j):
                    marginal = g_left[i, j] * np.exp(left[i, k] + open_left[k, j] - left[i, j])
                    g_left[i, k] += marginal
                    g_open_left[k, j] += marginal
            up, down = g_open_right[i, j], g_open_left[i, j]
            arc_marginals[i, j] += up
            if i > 0:
                arc_marginals[j, i] += down
            if not second:
                g_between[i, j] += up + down
            else:
                if up > 0.0:
                    _right_terms(i, j, left, open_right, between, pairs, starts, terms)
                    whole = open_right[i, j] - arcs[i, j]
                    for k in range(i, j):
                        marginal = up * np.exp(terms[k - i] - whole)
                        pair_marginals[starts[i, j] + k - i] += marginal
                        if k == i:
                            g_left[i + 1, j] += marginal
                        else:
                            g_open_right[i, k] += marginal
                            g_between[k, j] += marginal
                if down > 0.0:
                    _left_terms(i, j, right, open_left, between, pairs, starts, terms)
                    whole = open_left[i, j] - arcs[j, i]
                    for k in range(i + 1, j + 1):
                        marginal = down * np.exp(terms[j - k] - whole)
                        pair_marginals[starts[j, i] + j - k] += marginal
                        if k == j:
                            g_right[i, j - 1] += marginal
                        else:
                            g_between[i, k] += marginal
                            g_open_left[k, j] += marginal
            if g_between[i, j] > 0.0:
                for k in range(i, j):
                    marginal = g_between[i, j] * np.exp(right[i, k] + left[k + 1, j] - between[i, j])
                    g_right[i, k] += marginal
                    g_left[k + 1, j] += marginal
    return total, arc_marginals, pair_marginals


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
