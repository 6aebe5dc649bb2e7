"""A linear classifier over rows of sparse features, learned online: the labels of arcs."""

from __future__ import annotations

import numpy as np

from handful.kernels import njit


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
