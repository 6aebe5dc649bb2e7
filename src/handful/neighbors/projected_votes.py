"""The vote of the nearest stored rows in a projected space."""

from __future__ import annotations

from typing import Literal

import numpy as np

from handful.kernels import votes
from handful.kernels.gram import nearest_columns
from handful.kernels.nearest import Near, no_neighbors
from handful.kernels.votes import cast_all
from handful.neighbors.kernel_functions import squared_norms
from handful.neighbors.kernel_map import blocks
from handful.neighbors.votes import Vote

Metric = Literal["euclidean", "cosine"]

# Projections carry rounding errors; distances closer than this share of the squared radius are equal.
_SNAP = 1e-10


def neighbor_votes(
    asked: np.ndarray,
    stored: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    n_neighbors: int,
    vote: Vote,
    metric: Metric,
) -> tuple[np.ndarray, np.ndarray]:
    """Let the nearest stored rows vote.

    Parameters
    ----------
    asked, stored : ndarray
        Projected rows.
    codes : ndarray of int32
        Class of each stored row.
    n_classes, n_neighbors : int
        How many classes there are and how many rows vote.
    vote, metric : str
        See `KernelPCAClassifier`.

    Returns
    -------
    winners : ndarray of int32
        Class of each asked row.
    shares : ndarray of shape (n_asked, n_classes)
        Shares of the votes.

    Examples
    --------
    >>> winners, shares = neighbor_votes(
    ...     np.array([[0.9]]), np.array([[0.0], [1.0], [1.1]]), np.array([0, 1, 1], dtype=np.int32), 2, 3, "uniform", "euclidean"
    ... )
    >>> winners.tolist(), shares.round(2).tolist()
    ([1], [[0.33, 0.67]])
    """
    if metric == "cosine":
        asked, stored = directions(asked, stored), directions(stored, stored)
    squares = squared_norms(stored)
    step = _SNAP * float(squares.max(initial=0.0))
    near = no_neighbors(len(asked), min(n_neighbors, len(stored)), n_classes, False)
    for start, stop in blocks(len(asked), len(stored)):
        part = asked[start:stop]
        gaps = part @ stored.T
        if metric == "cosine":
            gaps = 1.0 - gaps
        else:
            gaps *= -2.0
            gaps += squares
            gaps += squared_norms(part)[:, None]
        if step > 0.0:
            np.rint(gaps / step, out=gaps)
            gaps *= step
        np.maximum(gaps, 0.0, out=gaps)
        nearest_columns(gaps if metric == "cosine" else np.sqrt(gaps), Near(*(column[start:stop] for column in near)))
    winners, _, shares = cast_all(near, near.distance.shape[1], codes, n_classes, getattr(votes, vote.upper()), False)
    return winners, shares


def directions(projected: np.ndarray, stored: np.ndarray) -> np.ndarray:
    """Scale projected rows to length 1; a row that lies at the mean but for rounding has no direction and becomes zero.

    Parameters
    ----------
    projected : ndarray
        Rows to scale.
    stored : ndarray
        Rows that tell how large the space is.

    Returns
    -------
    ndarray
        The scaled rows.

    Examples
    --------
    >>> directions(np.array([[3.0, 4.0], [0.0, 1e-15]]), np.array([[1.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    norms = np.sqrt(squared_norms(projected))
    lost = norms <= _SNAP * np.sqrt(squared_norms(stored).max(initial=0.0))
    norms[lost] = np.inf
    return np.asarray(projected / norms[:, None])


def stratified_folds(codes: np.ndarray, n_folds: int, random: np.random.RandomState) -> np.ndarray:
    """Deal rows out to folds so that every class is spread evenly; a rare class needs no minimum.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row.
    n_folds : int
        Number of folds.
    random : RandomState
        Shuffles the rows first.

    Returns
    -------
    ndarray of int64
        Fold of each row.

    Examples
    --------
    >>> np.bincount(stratified_folds(np.array([0, 0, 0, 0, 1, 1]), 2, np.random.RandomState(0))).tolist()
    [3, 3]
    """
    shuffled = random.permutation(len(codes))
    fold = np.empty(len(codes), dtype=np.int64)
    fold[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(codes)) % n_folds
    return fold
