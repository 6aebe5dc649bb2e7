"""Which rows to label next, as functions from arrays to row positions."""

from __future__ import annotations

import numpy as np

_SMALL = 5  # a cluster of fewer rows is no region
_REACH = 2.0  # times the median of all squared distances: as far as a label speaks for other rows
NOISE = 0.1  # what a label leaves open about its own row
_POOL = 10  # margin considers so many rows for each one it may choose


def regions(points: np.ndarray, weights: np.ndarray, n_regions: int, random_state: int) -> np.ndarray:
    """Cluster weighted points by k-means.

    Parameters
    ----------
    points : ndarray
        Points, such as centers of small clusters.
    weights : ndarray
        How many rows each stands for.
    n_regions : int
        Number of clusters; at most that of the distinct points.
    random_state : int
        Seed.

    Returns
    -------
    ndarray of int
        Cluster of each point.
    """
    from sklearn.cluster import KMeans

    n_distinct = len(np.unique(points, axis=0))
    if n_regions >= n_distinct:
        return np.asarray(np.unique(points, axis=0, return_inverse=True)[1]).ravel()
    model = KMeans(n_regions, n_init=1, max_iter=50, random_state=random_state)
    return np.asarray(model.fit(points, sample_weight=weights).labels_)


def choose_typical(clusters: np.ndarray, typicality: np.ndarray, labeled: np.ndarray, n: int) -> list[int]:
    """Choose the most typical rows of the largest clusters that have the fewest labels.

    Parameters
    ----------
    clusters : ndarray of int
        Cluster of each row.
    typicality : ndarray of float
        How near each row's neighbors in its cluster are.
    labeled : ndarray of bool
        Which rows have a label.
    n : int
        How many rows.

    Returns
    -------
    list of int
        Rows without a label, in the order of choosing; fewer than `n` only where there are no more.

    Notes
    -----
    TypiClust (Hacohen, Dekel & Weinshall 2022): clusters of fewer than five rows come last. A choice counts as a label of
    its cluster. Ties go to the smaller cluster number and the earlier row.

    Examples
    --------
    >>> clusters, typicality = np.array([0] * 6 + [1] * 5), np.arange(11.0)
    >>> choose_typical(clusters, typicality, np.zeros(11, dtype=bool), 3)
    [5, 10, 4]
    """
    numbers, clusters = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(clusters)
    covered = np.bincount(clusters, weights=labeled, minlength=len(numbers)).astype(np.int64)
    ranked = np.lexsort((np.arange(len(clusters)), -typicality, clusters))
    ranked = ranked[~labeled[ranked]]
    waiting = [
        list(part[::-1]) for part in np.split(ranked, np.searchsorted(clusters[ranked], np.arange(1, len(sizes))))
    ]
    chosen: list[int] = []
    while len(chosen) < n:
        open_ = [j for j, rows in enumerate(waiting) if rows]
        if not open_:
            break
        best = min(open_, key=lambda j: (sizes[j] < _SMALL, covered[j], -sizes[j], j))
        chosen.append(int(waiting[best].pop()))
        covered[best] += 1
    return chosen


def nearness(points: np.ndarray) -> np.ndarray:
    """Return how near points are to each other: ``exp(-d**2 / 2m)`` with m the median of all squared distances.

    Parameters
    ----------
    points : ndarray of shape (n, n_dimensions)
        Points.

    Returns
    -------
    ndarray of shape (n, n)
        Between 0 and 1.
    """
    squares = (points**2).sum(axis=1)
    apart = np.maximum(squares[:, None] + squares[None, :] - 2 * points @ points.T, 0.0)
    np.fill_diagonal(apart, 0.0)
    wide = apart[apart > 1e-12]
    return np.asarray(np.exp(-apart / (_REACH * np.median(wide) if len(wide) else 1.0)))


def choose_telling(near: np.ndarray, weights: np.ndarray, n_labels: np.ndarray, free: np.ndarray, n: int) -> list[int]:
    """Choose points whose labels tell most about all points.

    Parameters
    ----------
    near : ndarray of shape (n_points, n_points)
        From `nearness`.
    weights : ndarray
        How many rows each point stands for, or how much of them is still in question.
    n_labels : ndarray of int
        How many labels each point has.
    free : ndarray of int
        How many rows without a label each point stands for.
    n : int
        How many to choose.

    Returns
    -------
    list of int
        Points, in the order of choosing; a point may come as often as it has free rows.

    Notes
    -----
    Transductive experimental design (Yu, Bi & Tresp 2006), one choice at a time. Labels are taken as noisy values of a
    Gaussian process whose covariance is `near`; each choice takes away most of the weighted sum of variances that the
    labels before it left. Dense regions come first, for there a label tells about many rows, and a second label of a
    region tells little. Ties go to the earlier point.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.2], [5.0]])
    >>> choose_telling(nearness(points), np.ones(4), np.zeros(4, dtype=int), np.ones(4, dtype=int), 2)
    [2, 3]
    """
    left = free.copy()
    known = np.flatnonzero(n_labels)
    open_ = near.copy()
    if len(known):
        noise = np.diag(NOISE / n_labels[known])
        open_ -= near[:, known] @ np.linalg.solve(near[np.ix_(known, known)] + noise, near[known])
    chosen: list[int] = []
    while len(chosen) < n and left.any():
        gains = (weights @ open_**2) / (np.maximum(open_.diagonal(), 0.0) + NOISE)
        point = int(np.where(left > 0, gains, -1.0).argmax())
        chosen.append(point)
        left[point] -= 1
        told = open_[point].copy()
        open_ -= np.outer(told, told / (max(told[point], 0.0) + NOISE))
    return chosen


def margins(shares: np.ndarray) -> np.ndarray:
    """Return the lead of the best class over the second best, for every row.

    Examples
    --------
    >>> margins(np.array([[0.5, 0.3, 0.2]])).round(2).tolist()
    [0.2]
    """
    if shares.shape[1] < 2:
        return np.ones(len(shares))
    top = np.partition(shares, shares.shape[1] - 2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def choose_margin(points: np.ndarray, lead: np.ndarray, labeled: np.ndarray, n: int, random_state: int) -> list[int]:
    """Choose rows of small margin that are unlike each other.

    Parameters
    ----------
    points : ndarray
        Rows.
    lead : ndarray
        From `margins`.
    labeled : ndarray of bool
        Which rows have a label.
    n : int
        How many rows.
    random_state : int
        Seed of the clusters.

    Returns
    -------
    list of int
        Rows without a label.

    Notes
    -----
    The ten times `n` rows of smallest margin are clustered with their uncertainty as weight, and the least certain of
    each cluster is taken (Zhdanov 2019).
    """
    order = np.argsort(np.where(labeled, np.inf, lead), kind="stable")[: int((~labeled).sum())]
    top = order[: _POOL * n]
    if n == 1 or len(top) <= n:
        return [int(row) for row in top[:n]]
    clusters = regions(points[top], np.maximum(1.0 - lead[top], 1e-3), n, random_state)
    _, first = np.unique(clusters, return_index=True)  # rows are in the order of their margins
    chosen = top[np.sort(first)].tolist()
    taken = set(chosen)
    return [int(row) for row in (chosen + [row for row in top.tolist() if row not in taken])[:n]]
