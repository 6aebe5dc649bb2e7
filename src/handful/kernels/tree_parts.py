"""Scores, counts and online steps over the parts of a dependency tree, given the features of each part.

The features of part ``p`` are ``ids[begins[p]:ends[p]]``, with the amounts in ``values`` at the same places, or 1 each
if ``values`` is empty. Arc ``(h, m)`` is part ``h * (n + 1) + m``; pairs come after the arcs.
"""

from __future__ import annotations

import numpy as np

from handful.kernels import njit
from handful.kernels.online import catch_up
from handful.kernels.trees import best_tree, siblings_of
from handful.kernels.trees_crossing import best_crossing_tree


@njit(cache=True, nogil=True)
def score_parts(
    ids: np.ndarray, values: np.ndarray, begins: np.ndarray, ends: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Add up the weights of each part.

    Parameters
    ----------
    ids, values, begins, ends : ndarray
        Features of the parts.
    weights : ndarray of float64
        Weights.

    Returns
    -------
    ndarray of float64
        One score per part.

    Examples
    --------
    >>> score_parts(np.array([0, 1]), np.empty(0), np.array([0, 1]), np.array([2, 2]), np.array([1.0, 2.0])).tolist()
    [3.0, 2.0]
    """
    scores = np.zeros(len(begins))
    plain = len(values) == 0
    for p in range(len(begins)):
        total = 0.0
        for k in range(begins[p], ends[p]):
            total += weights[ids[k]] if plain else weights[ids[k]] * values[k]
        scores[p] = total
    return scores


@njit(cache=True, nogil=True)
def count_parts(
    ids: np.ndarray,
    values: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    amounts: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Add to each feature how much there is of its parts; the reverse of `score_parts`.

    Parameters
    ----------
    ids, values, begins, ends : ndarray
        Features of the parts.
    amounts : ndarray of float64
        How much there is of each part.
    counts : ndarray of float64
        Receives the counts of features.

    Examples
    --------
    >>> counts = np.zeros(2)
    >>> count_parts(np.array([0, 1]), np.empty(0), np.array([0, 1]), np.array([2, 2]), np.array([1.0, 3.0]), counts)
    >>> counts.tolist()
    [1.0, 4.0]
    """
    plain = len(values) == 0
    for p in range(len(begins)):
        if amounts[p] != 0.0:
            for k in range(begins[p], ends[p]):
                counts[ids[k]] += amounts[p] if plain else amounts[p] * values[k]


@njit(cache=True, nogil=True)
def parts_of_tree(heads: np.ndarray, starts: np.ndarray, second: bool) -> np.ndarray:
    """Return the numbers of the parts of a tree: its arcs, then its pairs.

    Examples
    --------
    >>> parts_of_tree(np.array([0, 1]), np.empty((0, 0), dtype=np.int64), False).tolist()
    [1, 5]
    """
    n = len(heads)
    size = n + 1
    out = np.empty(2 * n if second else n, dtype=np.int64)
    for m in range(1, size):
        out[m - 1] = heads[m - 1] * size + m
    if second:
        siblings = siblings_of(heads)
        for m in range(1, size):
            out[n + m - 1] = size * size + starts[heads[m - 1], m] + siblings[m - 1]
    return out


def decode(
    scores: np.ndarray, n: int, starts: np.ndarray, second: bool, projective: bool, single_root: bool
) -> tuple[np.ndarray, float]:
    """Return the best heads given the scores of all parts, and their score; see `best_tree`.

    Examples
    --------
    >>> decode(np.array([0.0, 3.0, 0.0, 0.0]), 1, np.empty((0, 0), dtype=np.int64), False, True, True)[0].tolist()
    [0]
    """
    size = n + 1
    arcs = scores[: size * size].reshape(size, size)
    if projective:
        heads, value = best_tree(arcs, scores[size * size :], starts, second, single_root)
    else:
        heads, value = best_crossing_tree(arcs, single_root)
    return heads, value


@njit(cache=True, nogil=True)
def add_costs(scores: np.ndarray, gold: np.ndarray) -> None:
    """Add 1 to the score of every arc that is not in a tree.

    Examples
    --------
    >>> scores = np.zeros(9)
    >>> add_costs(scores, np.array([0, 1]))
    >>> scores.reshape(3, 3).tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    size = len(gold) + 1
    for h in range(size):
        for m in range(1, size):
            if gold[m - 1] != h:
                scores[h * size + m] += 1.0


def tree_step(
    ids: np.ndarray,
    values: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    gold: np.ndarray,
    starts: np.ndarray,
    second: bool,
    projective: bool,
    single_root: bool,
    passive: bool,
    size: float,
    shrink: float,
    step: int,
    weights: np.ndarray,
    sums: np.ndarray,
    steps: np.ndarray,
    scratch: np.ndarray,
) -> float:
    """Make one step of online learning: decode with costs, and move the weights towards the right tree.

    Parameters
    ----------
    ids, values, begins, ends : ndarray
        Features of the parts of the sentence.
    gold : ndarray of int
        Right heads.
    starts, second, projective, single_root
        See `decode`.
    passive : bool
        Whether the step is the smallest that makes up for the loss, at most `size`; else it is `size`.
    size : float
        Size of the step.
    shrink : float
        How far each step pulls every weight towards zero.
    step : int
        Steps made before.
    weights, sums, steps : ndarray
        Lazy weights; see `handful.kernels.online.catch_up`.
    scratch : ndarray of float64
        Zeros, one a feature; left as zeros.

    Returns
    -------
    float
        Hinge loss before the step.
    """
    scores = np.zeros(len(begins))
    right = parts_of_tree(gold, starts, second)
    gap = _score_with_costs(ids, values, begins, ends, gold, right, shrink, step, weights, steps, scores)
    heads, _ = decode(scores, len(gold), starts, second, projective, single_root)
    if np.array_equal(heads, gold):
        return 0.0
    wrong = parts_of_tree(heads, starts, second)
    return float(
        _move(
            ids,
            values,
            begins,
            ends,
            right,
            wrong,
            scores,
            gap,
            passive,
            size,
            shrink,
            step,
            weights,
            sums,
            steps,
            scratch,
        )
    )


@njit(cache=True, nogil=True)
def _score_with_costs(
    ids: np.ndarray, values: np.ndarray, begins: np.ndarray, ends: np.ndarray, gold: np.ndarray, right: np.ndarray,
    shrink: float, step: int, weights: np.ndarray, steps: np.ndarray, scores: np.ndarray,
) -> float:  # fmt: skip
    """Write the scores of all parts, with the costs of wrong arcs; return minus the score of the right tree."""
    plain = len(values) == 0
    for p in range(len(begins)):
        total = 0.0
        for k in range(begins[p], ends[p]):
            weight = weights[ids[k]]
            if shrink > 0.0 and weight != 0.0:
                left = max(abs(weight) - shrink * (step - steps[ids[k]]), 0.0)
                weight = left if weight > 0.0 else -left
            total += weight if plain else weight * values[k]
        scores[p] = total
    gap = 0.0
    for p in right:
        gap -= scores[p]
    add_costs(scores, gold)
    return gap


@njit(cache=True, nogil=True)
def _move(
    ids: np.ndarray, values: np.ndarray, begins: np.ndarray, ends: np.ndarray, right: np.ndarray, wrong: np.ndarray,
    scores: np.ndarray, gap: float, passive: bool, size: float, shrink: float, step: int, weights: np.ndarray,
    sums: np.ndarray, steps: np.ndarray, scratch: np.ndarray,
) -> float:  # fmt: skip
    """Move the weights from a wrong tree towards the right one; return the loss before."""
    plain = len(values) == 0
    n_touched = 0
    for p in range(len(right)):
        gap += scores[wrong[p]]  # with the costs, which make up `cost`
        if right[p] != wrong[p]:
            n_touched += ends[right[p]] - begins[right[p]] + ends[wrong[p]] - begins[wrong[p]]
    touched = np.empty(n_touched, dtype=np.int64)
    n_touched = 0
    for p in range(len(right)):
        if right[p] != wrong[p]:
            for side in range(2):
                chosen = wrong[p] if side else right[p]
                for k in range(begins[chosen], ends[chosen]):
                    amount = 1.0 if plain else values[k]
                    scratch[ids[k]] += -amount if side else amount
                    touched[n_touched] = ids[k]
                    n_touched += 1
    amounts = np.empty(n_touched)
    n_distinct, length = 0, 0.0
    for k in range(n_touched):
        amount = scratch[touched[k]]
        if amount != 0.0:
            scratch[touched[k]] = 0.0
            touched[n_distinct], amounts[n_distinct] = touched[k], amount
            length += amount * amount
            n_distinct += 1
    loss = max(gap, 0.0)
    if passive:
        size = min(size, loss / length) if length > 0.0 else 0.0
    catch_up(touched[:n_distinct], step, shrink, weights, sums, steps)
    for k in range(n_distinct):
        weights[touched[k]] += size * amounts[k]
    return loss
