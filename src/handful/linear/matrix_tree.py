"""Sums over all dependency trees, crossing or not, by the matrix-tree theorem."""

from __future__ import annotations

import numpy as np


def crossing_marginals(arcs: np.ndarray, single_root: bool) -> tuple[float, np.ndarray]:
    """Sum over all trees (Koo et al. 2007; Smith & Smith 2007).

    Parameters
    ----------
    arcs : ndarray of float64, shape (n + 1, n + 1)
        Score of each arc.
    single_root : bool
        Whether the root has exactly one child.

    Returns
    -------
    log_partition : float
        Log of the summed exponentials of all scores.
    shares : ndarray of float64, shape (n + 1, n + 1)
        Probability of each arc.

    Examples
    --------
    >>> total, shares = crossing_marginals(np.zeros((3, 3)), True)
    >>> round(float(np.exp(total)), 9), shares.round(9).tolist()
    (2.0, [[0.0, 0.5, 0.5], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]])
    """
    size = len(arcs)
    shares = np.zeros((size, size))
    n = size - 1
    if n == 0:
        return 0.0, shares
    scores = arcs[:, 1:].copy()
    scores[np.arange(1, size), np.arange(n)] = -np.inf
    # Every tree has one arc into each word, so a shift of a word's arcs shifts all trees alike.
    tops = scores.max(axis=0)
    odds = np.exp(scores - tops)
    root, inner = odds[0], odds[1:]
    laplacian = np.diag(inner.sum(axis=0)) - inner
    if single_root:
        laplacian[0] = root
    else:
        laplacian += np.diag(root)
    _, log_determinant = np.linalg.slogdet(laplacian)
    inverse = np.linalg.inv(laplacian)
    slopes = inverse.T  # derivative of the log determinant
    if single_root:
        shares[0, 1:] = root * slopes[0]
        diagonal, slopes = np.diag(slopes).copy(), slopes.copy()
        diagonal[0], slopes[0] = 0.0, 0.0
        shares[1:, 1:] = inner * (diagonal - slopes)
    else:
        shares[0, 1:] = root * np.diag(slopes)
        shares[1:, 1:] = inner * (np.diag(slopes) - slopes)
    return float(log_determinant + tops.sum()), shares
