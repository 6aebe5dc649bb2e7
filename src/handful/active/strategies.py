"""Query strategies: which rows to label next. A strategy is a function with ``@query_strategy("name")``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

_WIDTH = 2.0  # of the kernel, times the median of all squared distances
NOISE = 0.1  # variance of a label of a Gaussian process
_SMALL_CLUSTERS = 1_000
_MAX_DIMENSIONS = 50
_MAX_TOPICS = 100
_MAX_NEIGHBORS = 20
_CLIP = 3.0  # a few huge cells must not make a cluster each


@dataclass(eq=False)
class QueryState:
    """What a query strategy may use.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_dimensions)
        Rows in which near means alike.
    typicality : ndarray
        One by the mean distance of each row's neighbors.
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
    typicality: np.ndarray
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
        chosen.append(int(members[state.typicality[members].argmax()]))
        taken[chosen[-1]] = True
    return chosen


@query_strategy("margin")
def choose_uncertain(state: QueryState, n: int) -> list[int]:
    """Choose the rows of smallest margin (Scheffer et al. 2001); without two classes as *auto* does."""
    proba = state.proba()
    if proba is None:
        return choose_auto(state, n)
    order = np.argsort(np.where(state.labeled, np.inf, margins(proba)), kind="stable")
    return [int(row) for row in order[: min(n, int((~state.labeled).sum()))]]


@query_strategy("random")
def choose_none(state: QueryState, n: int) -> list[int]:
    """Choose nothing: all rows are random checks then."""
    return []


def as_points(matrix: Any, random_state: int) -> np.ndarray:
    """Return rows as points: principal components of a wide table, directions of texts.

    Parameters
    ----------
    matrix : ndarray or csr_matrix
        From `encode_table`.
    random_state : int
        Seed of the decomposition.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_dimensions)
        At most 50 dimensions of a table, 100 of a sparse matrix; rows of texts alone keep theirs.

    Notes
    -----
    Rows of texts alone are directions: what all have in common is taken away, since it hides what they differ in (Mu &
    Viswanath 2018), and the rest is made of length 1.
    """
    from sklearn.decomposition import PCA, TruncatedSVD
    from sklearn.preprocessing import normalize

    n_rows, width = matrix.shape
    if hasattr(matrix, "tocsr"):
        most = min(_MAX_TOPICS, n_rows - 1, width - 1)
        if most < 1:
            return np.asarray(matrix.toarray())
        topics = TruncatedSVD(most, random_state=random_state).fit_transform(matrix)
        return np.asarray(normalize(topics))
    spans = getattr(matrix, "spans", {}).values()
    if width and sum(stop - start for start, stop in spans) == width:  # all columns come from texts
        directions = np.asarray(matrix)
        return np.asarray(normalize(directions - directions.mean(axis=0)))
    clipped = np.clip(matrix, -_CLIP, _CLIP)
    if width <= _MAX_DIMENSIONS or n_rows <= _MAX_DIMENSIONS:
        return np.asarray(clipped)
    return np.asarray(PCA(_MAX_DIMENSIONS, random_state=random_state).fit_transform(clipped))


def neighbors(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest rows of each row, and its typicality: one by their mean distance (Hacohen et al. 2022, equation 1).

    Examples
    --------
    >>> near, typicality = neighbors(np.array([[0.0], [1.0], [3.0]]))
    >>> near[:, 0].tolist(), typicality.round(2).tolist()
    ([1, 0, 1], [0.5, 0.67, 0.4])
    """
    from sklearn.neighbors import NearestNeighbors

    k = min(max(len(points) // 10, 2), _MAX_NEIGHBORS, len(points) - 1)
    if k < 1:
        return np.zeros((len(points), 0), dtype=np.int64), np.ones(len(points))
    distances, near = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()  # a row is not its own neighbor
    return near, 1.0 / (distances.mean(axis=1) + 1e-9)


def small_clusters(points: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the small cluster of each row, their centers and sizes; few rows are a cluster each."""
    from sklearn.cluster import MiniBatchKMeans

    if len(points) <= 2 * _SMALL_CLUSTERS:
        return np.arange(len(points)), points, np.ones(len(points))
    model = MiniBatchKMeans(_SMALL_CLUSTERS, n_init=1, batch_size=4_096, max_iter=20, random_state=seed)
    codes = model.fit_predict(points)
    used, codes = np.unique(codes, return_inverse=True)
    return codes, model.cluster_centers_[used], np.bincount(codes).astype(np.float64)


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
