"""Which labels are expected to take away most mistakes, by a model that can be asked "what if"."""

from __future__ import annotations

import numpy as np

from handful.labeling.strategies import NOISE, margins

_LEAST = 1e-3  # share of a class, and how unsure one is, at least
_MOST_TRIED = 50  # points whose labels are imagined
_MOST_LABELS = 3  # that are imagined for a point
_MOST_ASKED = 300  # points that are asked what would become of them


def choose_expected(
    near: np.ndarray, weights: np.ndarray, counts: np.ndarray, free: np.ndarray, n: int, random_state: int
) -> list[int]:
    """Choose points whose labels are expected to leave the fewest mistakes, and to tell most about all points.

    Parameters
    ----------
    near : ndarray of shape (n_points, n_points)
        From `nearness`.
    weights : ndarray
        How many rows each point stands for.
    counts : ndarray of int, shape (n_points, n_classes)
        Labels of each point; of two classes at least.
    free : ndarray of int
        How many rows without a label each point stands for.
    n : int
        How many to choose.
    random_state : int
        Seed; of more than 300 points so many are asked what a label would change, chosen at random.

    Returns
    -------
    list of int
        Points, in the order of choosing; a point may come as often as it has free rows.

    Notes
    -----
    Half of the choice is expected error reduction (Roy & McCallum 2001; with Gaussian fields Zhu, Lafferty & Ghahramani
    2003). Shares of classes are means of a Gaussian process whose covariance is `near`, so that an imagined label changes all
    of them at once; what counts is how sure all points would then be of their best class, for each of the three likeliest
    labels by how likely it is. The other half is the variance that a label takes away (`choose_telling`), of points whose
    margin is small. Both are compared, in standard deviations, among the 50 points that take away most variance. Labels
    of a batch are not known yet: they take away variance, and leave the shares as they are. Ties go to the point that
    takes away more variance.

    Examples
    --------
    >>> from handful.labeling.strategies import nearness
    >>> points = np.array([[0.0], [0.1], [0.2], [2.0], [4.0], [4.1], [4.2]])
    >>> counts = np.array([[1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1]])
    >>> choose_expected(nearness(points), np.ones(7), counts, 1 - counts.sum(axis=1), 1, 0)
    [3]
    """
    means, open_ = _process(near, counts)
    shares, left = _shares(means), free.copy()
    unsure = weights * (1.0 - margins(shares) + _LEAST)
    asked = np.sort(np.random.default_rng(random_state).permutation(len(weights))[:_MOST_ASKED])
    likely = np.argsort(-shares, axis=1, kind="stable")[:, :_MOST_LABELS]
    chances = np.take_along_axis(shares, likely, axis=1)
    chances /= chances.sum(axis=1, keepdims=True)
    chosen: list[int] = []
    while len(chosen) < n and left.any():
        own = np.maximum(open_.diagonal(), 0.0) + NOISE
        told = np.where(left > 0, (unsure @ open_**2) / own, -1.0)
        tried = np.argsort(-told, kind="stable")[: min(_MOST_TRIED, int((left > 0).sum()))]
        pull = open_[np.ix_(tried, asked)] / own[tried, None]
        news = np.eye(counts.shape[1])[likely[tried]] - means[tried][:, None, :]
        after = _shares(means[asked] + pull[:, None, :, None] * news[:, :, None, :])  # point, label, asked, class
        sure = ((after.max(axis=-1) @ weights[asked]) * chances[tried]).sum(axis=1)
        point = int(tried[(_in_deviations(sure) + _in_deviations(told[tried])).argmax()])
        chosen.append(point)
        left[point] -= 1
        row = open_[point].copy()
        open_ -= np.outer(row, row / own[point])
    return chosen


def _process(near: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean share of each class, and what is open about them: the posterior of a Gaussian process."""
    n_labels, n_classes = counts.sum(axis=1), counts.shape[1]
    known = np.flatnonzero(n_labels)
    usual = counts.sum(axis=0) + 1 / n_classes
    usual = usual / usual.sum()
    given = counts[known] / n_labels[known, None] - usual
    inner = near[np.ix_(known, known)] + np.diag(NOISE / n_labels[known])
    solved = np.linalg.solve(inner, np.hstack([given, near[known]]))
    return near[:, known] @ solved[:, :n_classes] + usual, near - near[:, known] @ solved[:, n_classes:]


def _shares(means: np.ndarray) -> np.ndarray:
    shares = np.maximum(means, _LEAST)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def _in_deviations(values: np.ndarray) -> np.ndarray:
    return np.asarray((values - values.mean()) / (values.std() + 1e-12))
