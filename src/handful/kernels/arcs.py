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
def label_scores(ids: np.ndarray, begin: int, end: int, weights: np.ndarray, scores: np.ndarray) -> None:
    """Add up the weights of one row's features.

    Parameters
    ----------
    ids : ndarray of int32
        Features of all rows.
    begin, end : int
        Those of the row.
    weights : ndarray of float, shape (n_features, n_labels)
        Weights.
    scores : ndarray of float64, shape (n_labels,)
        Receives the scores.

    Examples
    --------
    >>> scores = np.empty(2)
    >>> label_scores(np.array([0, 1]), 0, 2, np.array([[1.0, 0.0], [0.5, 2.0]]), scores)
    >>> scores.tolist()
    [1.5, 2.0]
    """
    for label in range(len(scores)):
        scores[label] = 0.0
    for k in range(begin, end):
        row = weights[ids[k]]
        for label in range(len(scores)):
            scores[label] += row[label]


@njit(cache=True, nogil=True)
def _best(scores: np.ndarray) -> int:
    best = 0
    for label in range(1, len(scores)):
        if scores[label] > scores[best]:
            best = label
    return best


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
        label_scores(ids, bounds[row], bounds[row + 1], weights, scores)
        out[row] = _best(scores)
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
        label_scores(ids, begin, end, weights, scores)
        right = scores[gold[row]]
        scores[gold[row]] = -np.inf
        wrong = _best(scores)
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


# Which bit of the attribute that holds marks tells punctuation.
_PUNCTUATION = 1
# Candidates that are not the last of their way: the first, the second, others. The last: below the root, below a word on
# the other side of the mark, or elsewhere.
_UPPER, _AT_ROOT, _ACROSS, _ELSEWHERE = 2, 3, 4, 5
# Both ways lead to the words beside the mark: nothing on the left, nothing on the right, left hangs below right, right
# below left, or neither.
_NO_LEFT, _NO_RIGHT, _LEFT_BELOW, _RIGHT_BELOW, _NEITHER = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True)
def movable_marks(codes: np.ndarray, root: int, mark: int, heads: np.ndarray) -> np.ndarray:
    """Tell which words are punctuation marks without children that do not hang from the root; shape (n + 2,)."""
    n = len(heads)
    hangs = np.zeros(n + 2, dtype=np.bool_)
    for p in range(1, n + 1):
        hangs[p] = (codes[root + p, mark] >> _PUNCTUATION) & 1 and heads[p - 1] != 0
    for p in range(1, n + 1):
        hangs[heads[p - 1]] = False
    return hangs


@njit(cache=True, nogil=True)
def _climb(heads: np.ndarray, movable: np.ndarray, p: int, step: int, way: np.ndarray) -> int:
    """Write the nearest word on one side of a mark and its ancestors on that side; return how many."""
    n, count = len(heads), 0
    word = p + step
    while 1 <= word <= n and movable[word]:
        word += step
    while 1 <= word <= n and (word > p) == (step > 0):
        way[count] = word
        count += 1
        word = heads[word - 1]
    return count


@njit(cache=True, nogil=True)
def keys_of_marks(
    codes: np.ndarray, root: int, templates: Templates, heads: np.ndarray, partners: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """List the candidate heads of all punctuation marks of one tree, with their keys.

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
        For a bracket or quotation mark the one that belongs to it, counted from 1; 0 for other words.

    Returns
    -------
    marks : ndarray of int64
        The marks, as rows of `codes`.
    starts : ndarray of int64, shape (n_marks + 1,)
        Where the candidates of each start.
    candidates : ndarray of int64
        Candidates, as rows: the nearest word on either side that is no such mark, and its ancestors on that side, as far
        as no arcs cross.
    keys : ndarray of int64
        Keys of all candidates.
    bounds : ndarray of int64, shape (n_candidates + 1,)
        Where those of each start.
    """
    n = len(heads)
    movable = movable_marks(codes, root, templates.mark, heads)
    ways, counts = np.empty((2, n + 1), dtype=np.int64), np.zeros(2, dtype=np.int64)
    rows, part = np.zeros(N_PLACES, dtype=np.int64), np.zeros(N_PART, dtype=np.int64)
    n_marks = 0
    for p in range(1, n + 1):
        n_marks += movable[p]
    marks, starts = np.empty(n_marks, dtype=np.int64), np.zeros(n_marks + 1, dtype=np.int64)
    n_templates = len(templates.each)
    candidates, bounds = np.empty(n_marks * n, dtype=np.int64), np.zeros(n_marks * n + 1, dtype=np.int64)
    keys = np.empty(n_marks * n * n_templates, dtype=np.int64)
    mark, number, count = 0, 0, 0
    for p in range(1, n + 1):
        if not movable[p]:
            continue
        for side in range(2):
            counts[side] = _climb(heads, movable, p, 2 * side - 1, ways[side])
        part[TOPS] = _cut_ways(heads, ways, counts)
        rows[CHILD], rows[BEFORE_CHILD], rows[AFTER_CHILD] = root + p, root + p - 1, root + p + 1 if p < n else 0
        partner = partners[p - 1]
        for side in range(2):
            for k in range(counts[side]):
                head = ways[side, k]
                above = heads[head - 1]
                rows[HEAD], rows[GRAND] = root + head, root + above
                part[CLIMB] = min(k, _UPPER)
                if k == counts[side] - 1:
                    across = part[TOPS] == _LEFT_BELOW + side
                    part[CLIMB] = _ACROSS if across else _AT_ROOT if above == 0 else _ELSEWHERE
                part[PAIR] = 0
                if partner > 0:
                    low, high = min(p, partner), max(p, partner)
                    part[PAIR] = 1 if not low < head < high else 2 if low < above < high else 3
                candidates[number] = root + head
                count += write_keys(codes, templates, rows, part, keys[count:])
                number += 1
                bounds[number] = count
        marks[mark] = root + p
        mark += 1
        starts[mark] = number
    return marks, starts, candidates[:number], keys[:count], bounds[: number + 1]


@njit(cache=True, nogil=True)
def _cut_ways(heads: np.ndarray, ways: np.ndarray, counts: np.ndarray) -> int:
    """Tell how the two ways meet; where the arc between them passes over the mark, cut off what is above its head."""
    for side in range(2):
        if counts[side] == 0:
            return _NO_LEFT + side
    for side in range(2):
        above = heads[ways[side, counts[side] - 1] - 1]
        for k in range(counts[1 - side]):
            if ways[1 - side, k] == above:
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
def _crosses(before: int, mark: int, head: int) -> bool:
    """Tell whether the arc of a mark crosses that of the mark just before it, whose head is known."""
    if before > mark:
        return head < mark or head > before
    return before < head < mark


@njit(cache=True, nogil=True)
def choose_heads(
    ids: np.ndarray,
    bounds: np.ndarray,
    marks: np.ndarray,
    starts: np.ndarray,
    candidates: np.ndarray,
    weights: np.ndarray,
    heads: np.ndarray,
    stay: float,
) -> np.ndarray:
    """Return the best head of every mark, as a row; among equals the first.

    Marks that stand side by side are taken from left to right, and arcs that would cross the one before are left out.

    Parameters
    ----------
    ids, bounds : ndarray
        Features of the candidates, and where those of each start.
    marks, starts, candidates
        See `keys_of_marks`.
    weights : ndarray of float64
        Weights.
    heads : ndarray of int64, shape (n_marks,)
        Heads that marks have, as rows.
    stay : float
        What another head must be better by.

    Returns
    -------
    ndarray of int64, shape (n_marks,)
        Heads.

    Examples
    --------
    >>> ids, bounds = np.array([0, 1, 1, 0]), np.arange(5)
    >>> marks, starts, candidates = np.array([4, 5]), np.array([0, 2, 4]), np.array([3, 6, 3, 6])
    >>> weights, heads = np.array([0.0, 1.0]), np.array([3, 3])
    >>> choose_heads(ids, bounds, marks, starts, candidates, weights, heads, 0.5).tolist()
    [6, 6]
    >>> choose_heads(ids, bounds, marks, starts, candidates, weights, heads, 2.0).tolist()
    [3, 3]
    """
    out = np.zeros(len(marks), dtype=np.int64)
    for i in range(len(marks)):
        beside = i > 0 and marks[i] == marks[i - 1] + 1
        best = -np.inf
        for c in range(starts[i], starts[i + 1]):
            head = candidates[c]
            if beside and _crosses(out[i - 1], marks[i], head):
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
) -> float:
    """Make one pass of passive-aggressive learning (PA-I, Crammer et al. 2006).

    Parameters
    ----------
    ids, bounds, starts
        See `choose_heads`.
    gold : ndarray of int64
        Number of the right candidate of each mark.
    order : ndarray of int64
        Marks to learn from, in this order.
    limit : float
        Longest step.
    step : int
        Steps made before.
    weights, sums : ndarray of float64
        See `handful.kernels.arcs.label_pass`.

    Returns
    -------
    float
        Summed loss.

    Examples
    --------
    >>> weights, sums = np.zeros(2), np.zeros(2)
    >>> ids, bounds, starts, gold = np.array([0, 1]), np.arange(3), np.array([0, 2]), np.array([1])
    >>> choice_pass(ids, bounds, starts, gold, np.array([0]), 1.0, 0, weights, sums), weights.tolist()
    (1.0, [-0.5, 0.5])
    """
    total = 0.0
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
            total += loss
            # Features of both cancel out; to count them all keeps the step a little shorter than it might be.
            size = bounds[gold[i] + 1] - bounds[gold[i]] + bounds[wrong + 1] - bounds[wrong]
            change = min(limit, loss / max(size, 1))
            for c, sign in ((gold[i], 1.0), (wrong, -1.0)):
                for k in range(bounds[c], bounds[c + 1]):
                    weights[ids[k]] += sign * change
                    sums[ids[k]] += sign * change * step
        step += 1
    return total
