"""Lazy bookkeeping of online learners: a weight is brought up to date only when it is read."""

from __future__ import annotations

import numpy as np

from handful.kernels import njit


@njit(cache=True, nogil=True)
def catch_up(
    ids: np.ndarray, step: int, shrink: float, weights: np.ndarray, sums: np.ndarray, steps: np.ndarray
) -> None:
    """Bring weights up to a step: truncation at each step passed, and their running sums.

    Parameters
    ----------
    ids : ndarray of int64
        Weights to bring up to date; repetitions do no harm.
    step : int
        The present step.
    shrink : float
        How far each step pulls every weight towards zero.
    weights, sums : ndarray of float64
        Weights, and the sum of each over all steps so far.
    steps : ndarray of int64
        Step to which each weight is up to date.

    Examples
    --------
    >>> weights, sums, steps = np.array([1.0, -0.25]), np.zeros(2), np.zeros(2, dtype=np.int64)
    >>> catch_up(np.array([0, 1]), 3, 0.2, weights, sums, steps)
    >>> weights.round(9).tolist(), sums.round(9).tolist()
    ([0.4, 0.0], [1.8, -0.05])
    """
    for j in ids:
        passed = step - steps[j]
        if passed > 0:
            size = abs(weights[j])
            if size > 0.0:
                alive = passed if size >= shrink * passed else int(size / shrink)
                total = alive * size - shrink * alive * (alive + 1) / 2.0
                left = max(size - shrink * passed, 0.0)
                sign = 1.0 if weights[j] > 0.0 else -1.0
                sums[j] += sign * total
                weights[j] = sign * left if left > 0.0 else 0.0
            steps[j] = step


@njit(cache=True, nogil=True)
def reach_of(ids: np.ndarray, start: int, stop: int, offsets: np.ndarray, base: int, out: np.ndarray, n: int) -> int:
    """List all features that the predicates of some tokens have.

    Parameters
    ----------
    ids : ndarray of int32, shape (n_tokens, n_columns)
        Predicates of each token; -1 for none.
    start, stop : int
        The tokens.
    offsets : ndarray of int64
        Predicate p has the features ``offsets[p]`` to ``offsets[p + 1]``.
    base : int
        Added to every feature number.
    out : ndarray of int64
        Receives the features from position `n` on, as far as there is room.
    n : int
        Positions taken.

    Returns
    -------
    int
        Positions needed in all; if more than `out` has, call again with a larger one.

    Examples
    --------
    >>> out = np.zeros(4, dtype=np.int64)
    >>> n = reach_of(np.array([[1]], dtype=np.int32), 0, 1, np.array([0, 2, 4]), 0, out, 0)
    >>> out[:n].tolist()
    [2, 3]
    """
    for row in range(start, stop):
        for k in range(ids.shape[1]):
            p = ids[row, k]
            if p >= 0:
                for f in range(offsets[p], offsets[p + 1]):
                    if n < len(out):
                        out[n] = base + f
                    n += 1
    return n
