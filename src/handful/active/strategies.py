"""Query strategies: which rows to label next. A strategy is a function with ``@query_strategy("name")``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from handful.active.points import Neighborhood, typicality_within

_MIN_CLUSTER = 5  # rows; smaller clusters come last (Hacohen, Dekel & Weinshall 2022)
_WIDTH = 2.0  # of the kernel, times the median of all squared distances
NOISE = 0.1  # variance of a label of a Gaussian process
_POOL = 10  # rows that margin considers for each one it may choose
_SMALL_CLUSTERS = 1_000


@dataclass(eq=False)
class QueryState:
    """What a query strategy may use.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_dimensions)
        Rows in which near means alike.
    around : Neighborhood
        Their nearest rows.
    clusters, centers, sizes : ndarray
        Small cluster of each row, and center and size of each.
    codes : ndarray of int
        Class of each row, -1 where unlabeled.
    n_classes : int
        Number of classes.
    proba : callable
        Returns probabilities of the model for every row; None with fewer than two classes.
    seed : int
        Seed.
    """

    points: np.ndarray
    around: Neighborhood
    clusters: np.ndarray
    centers: np.ndarray
    sizes: np.ndarray
    codes: np.ndarray
    n_classes: int
    proba: Callable[[], np.ndarray | None]
    seed: int

    @property
    def labeled(self) -> np.ndarray:
        """Which rows have a label."""
        return self.codes >= 0

    @cached_property
    def kernel(self) -> np.ndarray:
        """Covariance of the centers."""
        return nearness(self.centers)

    @property
    def label_counts(self) -> np.ndarray:
        """Labels of each small cluster, by class."""
        counts = np.zeros((len(self.sizes), self.n_classes), dtype=np.int64)
        np.add.at(counts, (self.clusters[self.labeled], self.codes[self.labeled]), 1)
        return counts


QueryStrategy = Callable[[QueryState, int], list[int]]
STRATEGIES: dict[str, QueryStrategy] = {}


def query_strategy(name: str) -> Callable[[QueryStrategy], QueryStrategy]:
    """Register a function ``choose(state, n)`` that returns at most `n` rows without a label, the best first."""

    def register(choose: QueryStrategy) -> QueryStrategy:
        STRATEGIES[name] = choose
        return choose

    return register


@query_strategy("auto")
def choose_auto(state: QueryState, n: int) -> list[int]:
    """Choose the small clusters whose labels would help most, and the most typical row of each."""
    free = np.bincount(state.clusters[~state.labeled], minlength=len(state.sizes))
    counts = state.label_counts
    if (counts.sum(axis=0) > 0).sum() > 1:
        clusters = choose_expected(state.kernel, state.sizes, counts, free, n, state.seed)
    else:
        clusters = choose_informative(state.kernel, state.sizes, counts.sum(axis=1), free, n)
    chosen: list[int] = []
    taken = state.labeled.copy()
    for cluster in clusters:
        members = np.flatnonzero((state.clusters == cluster) & ~taken)
        chosen.append(int(members[state.around.typicality[members].argmax()]))
        taken[chosen[-1]] = True
    return chosen


@query_strategy("typical")
def choose_by_cluster(state: QueryState, n: int) -> list[int]:
    """Choose the densest row of the largest clusters without a label."""
    n_regions = min(int(state.labeled.sum()) + n, max(len(state.sizes) // 2, 1))
    clusters = regions(state.centers, state.sizes, n_regions, state.seed)[state.clusters]
    return choose_typical(clusters, typicality_within(state.points, clusters), state.labeled, n)


@query_strategy("margin")
def choose_uncertain(state: QueryState, n: int) -> list[int]:
    """Choose rows of small margin, unlike each other; without two classes as *auto* does."""
    proba = state.proba()
    if proba is None:
        return choose_auto(state, n)
    return choose_margin(state.points, margins(proba), state.labeled, n, state.seed)


@query_strategy("random")
def choose_none(state: QueryState, n: int) -> list[int]:
    """Choose nothing: all rows are random checks then."""
    return []


def small_clusters(points: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the small cluster of each row, their centers and sizes; few rows are a cluster each."""
    from sklearn.cluster import MiniBatchKMeans

    if len(points) <= 2 * _SMALL_CLUSTERS:
        return np.arange(len(points)), points, np.ones(len(points))
    model = MiniBatchKMeans(_SMALL_CLUSTERS, n_init=1, batch_size=4_096, max_iter=20, random_state=seed)
    codes = model.fit_predict(points)
    used, codes = np.unique(codes, return_inverse=True)
    return codes, model.cluster_centers_[used], np.bincount(codes).astype(np.float64)


def regions(points: np.ndarray, weights: np.ndarray, n_regions: int, random_state: int) -> np.ndarray:
    """Cluster weighted points by k-means.

    Parameters
    ----------
    points : ndarray
        Points, such as centers of small clusters.
    weights : ndarray
        How many rows each represents.
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
        best = min(open_, key=lambda j: (sizes[j] < _MIN_CLUSTER, covered[j], -sizes[j], j))
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
    return np.asarray(np.exp(-apart / (_WIDTH * np.median(wide) if len(wide) else 1.0)))


def choose_informative(
    near: np.ndarray, weights: np.ndarray, n_labels: np.ndarray, free: np.ndarray, n: int
) -> list[int]:
    """Choose points whose labels are most informative about all points.

    Parameters
    ----------
    near : ndarray of shape (n_points, n_points)
        From `nearness`.
    weights : ndarray
        How many rows each point represents, or how uncertain they still are.
    n_labels : ndarray of int
        How many labels each point has.
    free : ndarray of int
        How many rows without a label each point represents.
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
    labels before it left. Dense regions come first, since a label there informs about many rows; a second label of a
    region adds little. Ties go to the earlier point.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.2], [5.0]])
    >>> choose_informative(nearness(points), np.ones(4), np.zeros(4, dtype=int), np.ones(4, dtype=int), 2)
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
        row = open_[point].copy()
        open_ -= np.outer(row, row / (max(row[point], 0.0) + NOISE))
    return chosen


def margins(proba: np.ndarray) -> np.ndarray:
    """Return the lead of the best class over the second best, for every row.

    Examples
    --------
    >>> margins(np.array([[0.5, 0.3, 0.2]])).round(2).tolist()
    [0.2]
    """
    if proba.shape[1] < 2:
        return np.ones(len(proba))
    top = np.partition(proba, proba.shape[1] - 2, axis=1)[:, -2:]
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


_FLOOR = 1e-3  # least probability of a class
_MAX_CANDIDATES = 50  # points whose labels are imagined
_MAX_IMAGINED = 3  # labels that are imagined for a point
_MAX_EVALUATED = 300  # points for which the effect of a label is evaluated


def choose_expected(
    near: np.ndarray, weights: np.ndarray, counts: np.ndarray, free: np.ndarray, n: int, random_state: int
) -> list[int]:
    """Choose points whose labels are expected to leave the fewest errors, and are informative about all points.

    Parameters
    ----------
    near : ndarray of shape (n_points, n_points)
        From `nearness`.
    weights : ndarray
        How many rows each point represents.
    counts : ndarray of int, shape (n_points, n_classes)
        Labels of each point; of two classes at least.
    free : ndarray of int
        How many rows without a label each point represents.
    n : int
        How many to choose.
    random_state : int
        Seed of the 300 points, chosen at random, for which the effect of a label is evaluated.

    Returns
    -------
    list of int
        Points, in the order of choosing; a point may come as often as it has free rows.

    Notes
    -----
    Half of the choice is expected error reduction (Roy & McCallum 2001; with Gaussian fields Zhu, Lafferty & Ghahramani
    2003). Class probabilities are means of a Gaussian process whose covariance is `near`, so an imagined label changes all
    of them at once. What counts is the probability that all points would then give their best class, averaged over the
    three most probable labels. The other half is the variance that a label takes away (`choose_informative`), of points whose
    margin is small. Both are compared, in standard deviations, among the 50 points that take away most variance. Labels
    of a batch are not known yet: they take away variance, and leave the probabilities as they are. Ties go to the point that
    takes away more variance.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.2], [2.0], [4.0], [4.1], [4.2]])
    >>> counts = np.array([[1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1]])
    >>> choose_expected(nearness(points), np.ones(7), counts, 1 - counts.sum(axis=1), 1, 0)
    [3]
    """
    means, open_ = _process(near, counts)
    proba, left = _proba(means), free.copy()
    unsure = weights * (1.0 - margins(proba) + _FLOOR)
    evaluated = np.sort(np.random.default_rng(random_state).permutation(len(weights))[:_MAX_EVALUATED])
    likely = np.argsort(-proba, axis=1, kind="stable")[:, :_MAX_IMAGINED]
    chances = np.take_along_axis(proba, likely, axis=1)
    chances /= chances.sum(axis=1, keepdims=True)
    chosen: list[int] = []
    while len(chosen) < n and left.any():
        own = np.maximum(open_.diagonal(), 0.0) + NOISE
        gain = np.where(left > 0, (unsure @ open_**2) / own, -1.0)
        tried = np.argsort(-gain, kind="stable")[: min(_MAX_CANDIDATES, int((left > 0).sum()))]
        pull = open_[np.ix_(tried, evaluated)] / own[tried, None]
        news = np.eye(counts.shape[1])[likely[tried]] - means[tried][:, None, :]
        after = _proba(
            means[evaluated] + pull[:, None, :, None] * news[:, :, None, :]
        )  # point, label, evaluated, class
        sure = ((after.max(axis=-1) @ weights[evaluated]) * chances[tried]).sum(axis=1)
        point = int(tried[(_in_deviations(sure) + _in_deviations(gain[tried])).argmax()])
        chosen.append(point)
        left[point] -= 1
        row = open_[point].copy()
        open_ -= np.outer(row, row / own[point])
    return chosen


def _process(near: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of the posterior of a Gaussian process for each class."""
    n_labels, n_classes = counts.sum(axis=1), counts.shape[1]
    known = np.flatnonzero(n_labels)
    usual = counts.sum(axis=0) + 1 / n_classes
    usual = usual / usual.sum()
    own = counts[known] / n_labels[known, None] - usual
    inner = near[np.ix_(known, known)] + np.diag(NOISE / n_labels[known])
    solved = np.linalg.solve(inner, np.hstack([own, near[known]]))
    return near[:, known] @ solved[:, :n_classes] + usual, near - near[:, known] @ solved[:, n_classes:]


def _proba(means: np.ndarray) -> np.ndarray:
    proba = np.maximum(means, _FLOOR)
    return np.asarray(proba / proba.sum(axis=-1, keepdims=True))


def _in_deviations(values: np.ndarray) -> np.ndarray:
    return np.asarray((values - values.mean()) / (values.std() + 1e-12))
