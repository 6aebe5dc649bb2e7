"""Given labels that other models contradict, with the evidence, and near-duplicates that are labeled differently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from handful.core.counted import counted
from handful.core.errors import DataError, ParameterError
from handful.core.labels import encode_labels
from handful.core.progress import Progress, Step
from handful.labeling.committee import fitted
from handful.labeling.committee import shares as shares_of
from handful.labeling.confident import (
    class_thresholds,
    confident_classes,
    cross_validated,
    dealt_folds,
    label_odds,
    mixture_weights,
)
from handful.labeling.labeled_rows import rows_and_labels
from handful.labeling.space import as_matrix, as_points

_N_FOLDS = 5
_N_TREES = 100
_N_NEIGHBORS = 5
_NEAR_TABLE = 0.1  # in standard deviations: a tenth of one column
_NEAR_TEXT = 0.45  # of counts of words at length 1: a cosine of 0.9


@dataclass(frozen=True)
class Doubt:
    """A given label that the models contradict.

    Parameters
    ----------
    row : int
        Row of `X`.
    label, suggestion : object
        The given label, and the one the models would give.
    given_share, suggested_share : float
        Probability of both, by models that did not see the label.
    confident : bool
        Whether the models are as sure of the suggestion as they usually are of that class, and surer than of the given
        label: with it the label is counted as wrong, without it as doubtful.
    models : tuple of str
        Which models would give the suggestion.
    neighbors : tuple of (int, object, float)
        Nearest labeled rows: row, label, distance.
    """

    row: int
    label: Any
    suggestion: Any
    given_share: float
    suggested_share: float
    confident: bool
    models: tuple[str, ...]
    neighbors: tuple[tuple[int, Any, float], ...]


@dataclass(frozen=True)
class Doubts(Sequence[Doubt]):
    """Labels in doubt, a sequence of them; see `doubtful_labels`.

    Parameters
    ----------
    doubts : list of Doubt
        The most doubtful first.
    n_wrong : int
        How many labels the models are confident are wrong.
    n_doubted : int
        How many labels are not the models' first choice, the wrong ones among them.
    duplicates : list of (int, int, object, object)
        Pairs of rows that hold nearly the same and have different labels.
    n_judged, n_lone : int
        Labels that were judged, and labels that were not, being the only one of their class.
    models : tuple of str
        The models that were asked; fewer after an interruption.
    """

    doubts: list[Doubt]
    n_wrong: int
    n_doubted: int
    duplicates: list[tuple[int, int, Any, Any]]
    n_judged: int
    n_lone: int
    models: tuple[str, ...] = ()

    @overload
    def __getitem__(self, place: int) -> Doubt: ...

    @overload
    def __getitem__(self, place: slice) -> list[Doubt]: ...

    def __getitem__(self, place: int | slice) -> Doubt | list[Doubt]:
        """Return one in doubt, the most doubtful at 0, or several."""
        return self.doubts[place]

    def __len__(self) -> int:
        """Return how many are in doubt, of those that were asked for."""
        return len(self.doubts)


def doubtful_labels(
    X: Any, y: Any, *, n: int | None = None, random_state: int = 0, progress: Progress | None = None
) -> Doubts:
    """Find given labels that are probably wrong.

    Parameters
    ----------
    X : data frame, array, sparse matrix, or list of str
        Rows.
    y : array-like or str
        Labels, or the name of their column in a data frame; unlabeled rows are left out.
    n : int, optional
        How many to return at most; all by default.
    random_state : int, default=0
        Seed of folds and trees.
    progress : callable, optional
        Told after each model.

    Returns
    -------
    Doubts
        Rows whose given label is not the models' first choice, those first whose suggestion is the most times likelier than
        the given label. An interruption ends the run with the models that are done, if there is one.

    Notes
    -----
    Confident learning (Northcutt, Jiang & Chuang 2021) on the five-fold cross-validated probabilities of logistic
    regression, extra trees and nearest neighbors, weighed by how likely they make the labels that they did not see. A label
    that they find as likely as the one they are confident of is not counted as wrong, however sure they usually are of it.

    Examples
    --------
    >>> X = [[float(i)] for i in [0, 1, 2, 3, 20, 21, 22, 23]]
    >>> found = doubtful_labels(X, ["a", "a", "b", "a", "b", "b", "b", "b"], n=1)
    >>> [(doubt.row, doubt.label, doubt.suggestion) for doubt in found]
    [(2, 'b', 'a')]
    """
    if n is not None and n < 1:
        raise ParameterError(f"doubt: n must be at least 1, got {n}.")
    X, y = rows_and_labels(X, y, who="doubt")
    labels = encode_labels(y, who="doubt", min_classes=2)
    matrix = as_matrix(X, who="doubt", codes=labels.codes)
    if matrix.shape[0] != len(labels.codes):
        raise DataError(
            f"doubt: X and y must be of one length, got {counted(matrix.shape[0], 'row')} "
            f"and {counted(len(labels.codes), 'label')}."
        )
    counts = np.bincount(labels.codes[labels.labeled])
    rows = labels.labeled[counts[labels.codes[labels.labeled]] > 1]
    if len(np.unique(labels.codes[rows])) < 2:
        raise DataError("doubt: at least two classes must have two labels or more, to hold one against the other.")
    judged, codes = matrix[rows], labels.codes[rows].astype(np.int64)
    points = as_points(judged, random_state)
    answers = _answers(judged, points, codes, len(labels.classes), random_state, progress)
    weights = mixture_weights(list(answers.values()), codes)
    shares = np.tensordot(weights, np.array(list(answers.values())), axes=1)
    best = confident_classes(shares, class_thresholds(shares, codes))
    odds = label_odds(shares, codes)
    doubted = odds < 0
    every = np.arange(len(codes))
    wrong = (best >= 0) & (shares[every, best] > shares[every, codes])
    order = np.argsort(odds, kind="stable")[: int(doubted.sum())][:n]
    near, distances = _nearest(points, order)
    doubts = [
        _doubt(at, shares, answers, best, wrong, (rows, codes, labels.classes), (near[i], distances[i]))
        for i, at in enumerate(order.tolist())
    ]
    labeled = labels.labeled
    pairs = [
        (int(labeled[a]), int(labeled[b]), *(labels.classes[labels.codes[labeled[at]]].item() for at in (a, b)))
        for a, b in _duplicates(*_as_held(matrix[labeled]), labels.codes[labeled])
    ]
    n_lone = len(labeled) - len(rows)
    return Doubts(doubts, int(wrong.sum()), int(doubted.sum()), pairs, len(rows), n_lone, tuple(answers))


def _answers(
    matrix: Any, points: np.ndarray, codes: np.ndarray, n_classes: int, seed: int, progress: Progress | None
) -> dict[str, np.ndarray]:
    """Return the cross-validated probabilities of every model."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    makers: dict[str, tuple[Any, Callable[[int], Any]]] = {
        "logistic regression": (matrix, lambda n: LogisticRegression(max_iter=500)),
        "extra trees": (points, lambda n: ExtraTreesClassifier(_N_TREES, min_samples_leaf=2, random_state=seed)),
        "nearest neighbors": (points, lambda n: KNeighborsClassifier(min(10, n), weights="distance")),
    }
    folds = dealt_folds(codes, min(_N_FOLDS, len(codes)), np.random.default_rng(seed))
    answers: dict[str, np.ndarray] = {}
    try:
        for number, (name, (rows, make)) in enumerate(makers.items(), start=1):

            def ask(train: np.ndarray, test: np.ndarray, rows: Any = rows, make: Any = make) -> np.ndarray:
                if len(np.unique(codes[train])) < 2:
                    return np.asarray(np.eye(n_classes)[np.full(len(test), codes[train][0])])
                return shares_of(fitted(make(len(train)), rows[train], codes[train]), rows[test], n_classes)

            answers[name] = cross_validated(ask, folds, n_classes)
            if progress is not None:
                progress(Step("cross-validate", number, len(makers)))
    except KeyboardInterrupt:
        if not answers:
            raise
    return answers


def _doubt(
    at: int,
    shares: np.ndarray,
    answers: dict[str, np.ndarray],
    best: np.ndarray,
    wrong: np.ndarray,
    given: tuple[np.ndarray, np.ndarray, np.ndarray],
    near: tuple[np.ndarray, np.ndarray],
) -> Doubt:
    rows, codes, classes = given
    line = shares[at].copy()
    line[codes[at]] = -1.0
    other = int(best[at] if wrong[at] else line.argmax())
    agreeing = tuple(name for name, answer in answers.items() if int(answer[at].argmax()) == other)
    neighbors = tuple((int(rows[j]), classes[codes[j]].item(), round(float(d), 4)) for j, d in zip(*near, strict=True))
    return Doubt(
        int(rows[at]),
        classes[codes[at]].item(),
        classes[other].item(),
        float(shares[at, codes[at]]),
        float(shares[at, other]),
        bool(wrong[at]),
        agreeing,
        neighbors,
    )


def _nearest(points: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.neighbors import NearestNeighbors

    if not len(asked):
        return np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0))
    k = min(_N_NEIGHBORS + 1, len(points))
    distances, near = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(points[asked])
    kept = [np.flatnonzero(line != row)[: k - 1] for line, row in zip(near, asked, strict=True)]
    return (
        np.array([line[keep] for line, keep in zip(near, kept, strict=True)]),
        np.array([line[keep] for line, keep in zip(distances, kept, strict=True)]),
    )


def _as_held(matrix: Any) -> tuple[Any, float]:
    """Return rows such that near means nearly the same words and cells, and how near that is."""
    words = getattr(matrix, "words", None)
    if words is None:
        return matrix, _NEAR_TEXT if hasattr(matrix, "tocsr") else _NEAR_TABLE
    from scipy import sparse
    from sklearn.preprocessing import normalize

    inside = np.zeros(matrix.shape[1], dtype=bool)
    for start, stop in matrix.spans.values():
        inside[start:stop] = True
    counts = normalize(words.astype(np.float64))
    return sparse.csr_matrix(sparse.hstack([counts, sparse.csr_matrix(np.asarray(matrix)[:, ~inside])])), _NEAR_TEXT


def _duplicates(rows: Any, radius: float, codes: np.ndarray) -> list[tuple[int, int]]:
    """Return pairs of near rows with different labels, each row with its nearest such row.

    Labels that only one row has may be many; they are asked in one go, for they differ from all others.
    """
    from sklearn.neighbors import NearestNeighbors

    counts = np.bincount(codes)
    pairs: dict[tuple[int, int], float] = {}
    for code in [*np.flatnonzero(counts > 1).tolist(), None]:
        inside = counts[codes] == 1 if code is None else codes == code
        asked, others = np.flatnonzero(inside), np.arange(len(codes)) if code is None else np.flatnonzero(~inside)
        if not len(asked):
            continue
        n_near = 2 if code is None else 1  # the nearest to a row among all may be itself
        distances, near = NearestNeighbors(n_neighbors=n_near).fit(rows[others]).kneighbors(rows[asked])
        pick = (others[near] == asked[:, None])[:, 0].astype(np.int64)
        every = np.arange(len(asked))
        for row, other, distance in zip(asked, others[near[every, pick]], distances[every, pick], strict=True):
            if distance <= radius:
                pairs[min(int(row), int(other)), max(int(row), int(other))] = float(distance)
    return [pair for pair, _ in sorted(pairs.items(), key=lambda item: (item[1], item[0]))]
