"""Online linear classifiers of arc labels and heads of punctuation."""

from __future__ import annotations

import numpy as np

from handful.kernels.cache import njit
from handful.kernels.tree_features import (
    AFTER_CHILD,
    BEFORE_CHILD,
    CHILD,
    CLIMB,
    GRAND,
    HEAD,
    N_PART,
    N_PLACES,
    PAIR,
    TOPS,
    Templates,
    write_keys,
)


@njit(cache=True, nogil=True)
def _label_scores(ids: np.ndarray, weights: np.ndarray, scores: np.ndarray) -> None:
    """Add up the weights of one row's features."""
    scores[:] = 0.0
    for k in ids:
        scores += weights[k]


@njit(cache=True, nogil=True)
def best_labels(ids: np.ndarray, bounds: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the best label of every row; among equals the lower one.

    Parameters
    ----------
    ids : ndarray of int32
        Features of all rows.
    bounds : ndarray of int64, shape (n_rows + 1,)
        Where those of each row start.
    weights : ndarray of float, shape (n_features, n_labels)
        Weights.

    Returns
    -------
    ndarray of int64, shape (n_rows,)
        Labels.

    Examples
    --------
    >>> best_labels(np.array([0, 1]), np.array([0, 1, 2]), np.array([[1.0, 0.0], [0.5, 2.0]])).tolist()
    [0, 1]
    """
    out = np.empty(len(bounds) - 1, dtype=np.int64)
    scores = np.empty(weights.shape[1])
    for row in range(len(out)):
        _label_scores(ids[bounds[row] : bounds[row + 1]], weights, scores)
        out[row] = scores.argmax()
    return out


@njit(cache=True, nogil=True)
def label_pass(
    ids: np.ndarray,
    bounds: np.ndarray,
    gold: np.ndarray,
    order: np.ndarray,
    limit: float,
    step: int,
    weights: np.ndarray,
    sums: np.ndarray,
) -> float:
    """Make one pass of passive-aggressive learning (PA-I, Crammer et al. 2006).

    Parameters
    ----------
    ids, bounds
        Features of the rows; see `best_labels`.
    gold : ndarray of int64
        Right labels.
    order : ndarray of int64
        Order of the rows.
    limit : float
        Longest step.
    step : int
        Steps made before.
    weights, sums : ndarray of float64, shape (n_features, n_labels)
        Weights, and each change of a weight times the steps made before it; after T steps, the average of the weights is
        ``weights - sums / T``.

    Returns
    -------
    float
        Summed loss.

    Examples
    --------
    >>> weights, sums = np.zeros((1, 2)), np.zeros((1, 2))
    >>> label_pass(np.array([0]), np.array([0, 1]), np.array([1]), np.array([0]), 1.0, 0, weights, sums)
    1.0
    >>> weights.tolist()
    [[-0.5, 0.5]]
    """
    scores = np.empty(weights.shape[1])
    total = 0.0
    for row in order:
        begin, end = bounds[row], bounds[row + 1]
        _label_scores(ids[begin:end], weights, scores)
        right = scores[gold[row]]
        scores[gold[row]] = -np.inf
        wrong = scores.argmax()
        loss = 1.0 + scores[wrong] - right
        if loss > 0.0 and end > begin:
            total += loss
            size = min(limit, loss / (2.0 * (end - begin)))
            for k in range(begin, end):
                weights[ids[k], gold[row]] += size
                weights[ids[k], wrong] -= size
                sums[ids[k], gold[row]] += size * step
                sums[ids[k], wrong] -= size * step
        step += 1
    return total


# The bit of the flags that is set for punctuation.
_PUNCTUATION = 1
# Candidates below the top of their path: the first, the second, others. The top: a child of the root, of a word on the
# other side of the punctuation, or of another word.
_UPPER, _AT_ROOT, _ACROSS, _ELSEWHERE = 2, 3, 4, 5
# How the paths left and right of the punctuation meet: nothing on the left, nothing on the right, left depends on right,
# right on left, or neither.
_NO_LEFT, _NO_RIGHT, _LEFT_BELOW, _RIGHT_BELOW, _NEITHER = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True)
def movable_punctuation(codes: np.ndarray, root: int, flags: int, heads: np.ndarray) -> np.ndarray:
    """Return which words are punctuation without children and not children of the root; shape (n + 2,)."""
    n = len(heads)
    hangs = np.zeros(n + 2, dtype=np.bool_)
    for p in range(1, n + 1):
        hangs[p] = (codes[root + p, flags] >> _PUNCTUATION) & 1 and heads[p - 1] != 0
    for p in range(1, n + 1):
        hangs[heads[p - 1]] = False
    return hangs


@njit(cache=True, nogil=True)
def _climb(heads: np.ndarray, movable: np.ndarray, p: int, step: int, path: np.ndarray) -> int:
    """Write the nearest word on one side of position p and its ancestors on that side; return how many."""
    n, count = len(heads), 0
    word = p + step
    while 1 <= word <= n and movable[word]:
        word += step
    while 1 <= word <= n and (word > p) == (step > 0):
        path[count] = word
        count += 1
        word = heads[word - 1]
    return count


@njit(cache=True, nogil=True)
def keys_of_punctuation(
    codes: np.ndarray, root: int, templates: Templates, heads: np.ndarray, partners: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """List the candidate heads of all punctuation of one tree, with their keys.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows, n_attributes)
        Codes of the tokens; see `handful.kernels.tree_features`.
    root : int
        Row of the root of the sentence.
    templates : Templates
        The templates.
    heads : ndarray
        Head of each word.
    partners : ndarray
        For a bracket or quote the one that belongs to it, counted from 1; 0 for other words.

    Returns
    -------
    tokens : ndarray of int64
        The punctuation, as rows of `codes`.
    starts : ndarray of int64, shape (n_tokens + 1,)
        Where the candidates of each start.
    candidates : ndarray of int64
        Candidates, as rows: the nearest word on either side that is no such token, and its ancestors on that side, as
        long as no arcs cross.
    keys : ndarray of int64
        Keys of all candidates.
    bounds : ndarray of int64, shape (n_candidates + 1,)
        Where those of each start.
    """
    n = len(heads)
    movable = movable_punctuation(codes, root, templates.flags, heads)
    paths, counts = np.empty((2, n + 1), dtype=np.int64), np.zeros(2, dtype=np.int64)
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    tokens = np.flatnonzero(movable)
    n_tokens = len(tokens)
    starts = np.zeros(n_tokens + 1, dtype=np.int64)
    n_templates = len(templates.each)
    candidates, bounds = np.empty(n_tokens * n, dtype=np.int64), np.zeros(n_tokens * n + 1, dtype=np.int64)
    keys = np.empty(n_tokens * n * n_templates, dtype=np.int64)
    number, count = 0, 0
    for i in range(n_tokens):
        p = tokens[i]
        for side in range(2):
            counts[side] = _climb(heads, movable, p, 2 * side - 1, paths[side])
        part[TOPS] = _cut_paths(heads, paths, counts)
        rows[CHILD], rows[BEFORE_CHILD], rows[AFTER_CHILD] = root + p, root + p - 1, root + p + 1 if p < n else 0
        partner = partners[p - 1]
        for side in range(2):
            for k in range(counts[side]):
                head = paths[side, k]
                above = heads[head - 1]
                rows[HEAD], rows[GRAND] = root + head, root + above
                part[CLIMB] = min(k, _UPPER)
                if k == counts[side] - 1:
                    across = part[TOPS] == _LEFT_BELOW + side
                    part[CLIMB] = _ACROSS if across else _AT_ROOT if above == 0 else _ELSEWHERE
                part[PAIR] = _pair_of(p, partner, head, above)
                candidates[number] = root + head
                count += write_keys(codes, templates, rows, part, keys[count:])
                number += 1
                bounds[number] = count
        starts[i + 1] = number
    return root + tokens, starts, candidates[:number], keys[:count], bounds[: number + 1]


@njit(cache=True, nogil=True)
def _pair_of(p: int, partner: int, head: int, above: int) -> int:
    """Return where a head is: outside its brackets (1), inside with its own head (2), inside alone (3); 0 for no pair."""
    if partner == 0:
        return 0
    low, high = min(p, partner), max(p, partner)
    return 1 if not low < head < high else 2 if low < above < high else 3


@njit(cache=True, nogil=True)
def _cut_paths(heads: np.ndarray, paths: np.ndarray, counts: np.ndarray) -> int:
    """Return how the two paths meet; where the arc between them passes over the token, cut off what is above its head."""
    for side in range(2):
        if counts[side] == 0:
            return _NO_LEFT + side
    for side in range(2):
        above = heads[paths[side, counts[side] - 1] - 1]
        for k in range(counts[1 - side]):
            if paths[1 - side, k] == above:
                counts[1 - side] = k + 1
                return _LEFT_BELOW + side
    return _NEITHER


@njit(cache=True, nogil=True)
def _score(ids: np.ndarray, begin: int, end: int, weights: np.ndarray) -> float:
    total = 0.0
    for k in range(begin, end):
        total += weights[ids[k]]
    return total


@njit(cache=True, nogil=True)
def _crosses(before: int, token: int, head: int) -> bool:
    """Return whether the arc of a token crosses that of the token just before it, whose head is `before`."""
    if before > token:
        return head < token or head > before
    return before < head < token


@njit(cache=True, nogil=True)
def choose_heads(
    ids: np.ndarray,
    bounds: np.ndarray,
    tokens: np.ndarray,
    starts: np.ndarray,
    candidates: np.ndarray,
    weights: np.ndarray,
    heads: np.ndarray,
    stay: float,
) -> np.ndarray:
    """Return the best head of all punctuation, as rows; among equals the first.

    Neighboring punctuation is taken from left to right, and arcs that would cross the one before are left out.

    Parameters
    ----------
    ids, bounds : ndarray
        Features of the candidates, and where those of each start.
    tokens, starts, candidates
        See `keys_of_punctuation`.
    weights : ndarray of float64
        Weights.
    heads : ndarray of int64, shape (n_tokens,)
        Heads that the tokens have, as rows.
    stay : float
        By how much another head must be better.

    Returns
    -------
    ndarray of int64, shape (n_tokens,)
        Heads.

    Examples
    --------
    >>> ids, bounds = np.array([0, 1, 1, 0]), np.arange(5)
    >>> tokens, starts, candidates = np.array([4, 5]), np.array([0, 2, 4]), np.array([3, 6, 3, 6])
    >>> weights, heads = np.array([0.0, 1.0]), np.array([3, 3])
    >>> choose_heads(ids, bounds, tokens, starts, candidates, weights, heads, 0.5).tolist()
    [6, 6]
    >>> choose_heads(ids, bounds, tokens, starts, candidates, weights, heads, 2.0).tolist()
    [3, 3]
    """
    out = np.zeros(len(tokens), dtype=np.int64)
    for i in range(len(tokens)):
        adjacent = i > 0 and tokens[i] == tokens[i - 1] + 1
        best = -np.inf
        for c in range(starts[i], starts[i + 1]):
            head = candidates[c]
            if adjacent and _crosses(out[i - 1], tokens[i], head):
                continue
            score = _score(ids, bounds[c], bounds[c + 1], weights) + (stay if head == heads[i] else 0.0)
            if score > best:
                best, out[i] = score, head
    return out


@njit(cache=True, nogil=True)
def choice_pass(
    ids: np.ndarray,
    bounds: np.ndarray,
    starts: np.ndarray,
    gold: np.ndarray,
    order: np.ndarray,
    limit: float,
    step: int,
    weights: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Make one pass of passive-aggressive learning (PA-I, Crammer et al. 2006).

    Parameters
    ----------
    ids, bounds, starts
        See `choose_heads`.
    gold : ndarray of int64
        Number of the right candidate of each token.
    order : ndarray of int64
        Tokens to learn from, in this order.
    limit : float
        Longest step.
    step : int
        Steps made before.
    weights, sums : ndarray of float64
        See `handful.kernels.arcs.label_pass`.

    Examples
    --------
    >>> weights, sums = np.zeros(2), np.zeros(2)
    >>> ids, bounds, starts, gold = np.array([0, 1]), np.arange(3), np.array([0, 2]), np.array([1])
    >>> choice_pass(ids, bounds, starts, gold, np.array([0]), 1.0, 0, weights, sums)
    >>> weights.tolist()
    [-0.5, 0.5]
    """
    for i in order:
        right = _score(ids, bounds[gold[i]], bounds[gold[i] + 1], weights)
        wrong, best = -1, -np.inf
        for c in range(starts[i], starts[i + 1]):
            if c != gold[i]:
                score = _score(ids, bounds[c], bounds[c + 1], weights)
                if score > best:
                    wrong, best = c, score
        if wrong >= 0 and 1.0 + best - right > 0.0:
            loss = 1.0 + best - right
            # Features of both cancel out; to count them all keeps the step a little shorter than it might be.
            size = bounds[gold[i] + 1] - bounds[gold[i]] + bounds[wrong + 1] - bounds[wrong]
            change = min(limit, loss / max(size, 1))
            for c, sign in ((gold[i], 1.0), (wrong, -1.0)):
                for k in range(bounds[c], bounds[c + 1]):
                    weights[ids[k]] += sign * change
                    sums[ids[k]] += sign * change * step
        step += 1
