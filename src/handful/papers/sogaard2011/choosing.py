"""The classifiers of the experiment, and the choice of their options on the labeled rows alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from handful.core.params import Count
from handful.neighbors import CondensedNN, SemiSupervisedCondensedNN
from handful.neighbors.rows import Nominal, encode_rows
from handful.neighbors.stored import StoredRowsClassifier
from handful.neighbors.votes import MetricName, Ties, Vote


class PlainNN(StoredRowsClassifier):
    """Nearest neighbors that store every labeled row: what condensation starts from.

    Parameters
    ----------
    n_neighbors, vote, ties
        See `handful.neighbors.CondensedNN`.
    """

    metric: MetricName = "euclidean"
    p: float = 2.0
    nominal: Nominal = "auto"

    def __init__(self, n_neighbors: Count = 1, vote: Vote = "uniform", ties: Ties = "first") -> None:
        self.n_neighbors = n_neighbors
        self.vote = vote
        self.ties = ties

    def fit(self, X: Any, y: Any) -> Self:
        """Store the rows."""
        rows = encode_rows(self, X, reset=True)
        labels = self._labels(y, len(rows.dense))
        self.n_neighbors_ = self.n_neighbors
        self._keep(rows, labels.codes)
        return self


class Options(NamedTuple):
    """What the paper leaves open: number of neighbors, vote, ties, and how much the tag counts in a row."""

    n_neighbors: int
    vote: Vote
    ties: Ties
    tag_weight: int


GRID = (
    Options(1, "uniform", "all", 1),
    Options(5, "uniform", "first", 1),
    Options(2, "gaussian", "all", 1),
    Options(2, "rank", "all", 1),
    Options(3, "dudani", "all", 1),
    Options(2, "gaussian", "all", 2),
    Options(3, "dudani", "all", 2),
)
SHARES = (0.5, 0.7)
MAKERS: dict[str, Callable[[Options], Any]] = {
    "nn": lambda o: PlainNN(*o[:3]),
    "cnn": lambda o: CondensedNN(o.n_neighbors, vote=o.vote, ties=o.ties),
    "wcnn": lambda o: CondensedNN(o.n_neighbors, min_confidence=0.55, vote=o.vote, ties=o.ties),
    "scnn": lambda o: SemiSupervisedCondensedNN(o.n_neighbors, vote=o.vote, ties=o.ties),
    "scnn-weak": lambda o: SemiSupervisedCondensedNN(o.n_neighbors, final_pass="wcnn", vote=o.vote, ties=o.ties),
}


class Chosen(NamedTuple):
    """The options that did best, and from which share of the votes on the classifier should be believed."""

    options: Options
    min_share: float


def weigh(rows: np.ndarray, tag_weight: int) -> np.ndarray:
    """Repeat the first column of rows of two.

    Examples
    --------
    >>> weigh(np.array([["NN", "01"]]), 2).tolist()
    [['NN', 'NN', '01']]
    """
    return rows[:, [0] * tag_weight + [1]]


def fit(kind: str, options: Options, rows: np.ndarray, labels: np.ndarray, unlabeled: np.ndarray) -> Any:
    """Fit one classifier on rows of (tag, cluster); the semi-supervised ones see the unlabeled rows too."""
    if kind.startswith("scnn"):
        rows = np.concatenate([rows, unlabeled])
        labels = np.concatenate([labels, np.full(len(unlabeled), None)])
    return MAKERS[kind](options).fit(weigh(rows, options.tag_weight), labels)


def answers(model: Any, options: Options, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the winning label of each row and its share of the votes."""
    shares = model.predict_proba(weigh(rows, options.tag_weight))
    return model.classes_[shares.argmax(axis=1)], shares.max(axis=1)


def choose(
    kind: str,
    rows: np.ndarray,
    labels: np.ndarray,
    unlabeled: np.ndarray,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    grid: Sequence[Options] = GRID,
) -> Chosen:
    """Choose options by accuracy on held-out labeled rows.

    Parameters
    ----------
    kind : str
        Name of a classifier.
    rows, labels : ndarray
        Labeled rows of (tag, cluster).
    unlabeled : ndarray
        Unlabeled rows.
    splits : sequence of pairs of row numbers
        To train on, and to judge on.
    grid : sequence of Options
        What to try.

    Returns
    -------
    Chosen
        Of equally good ones the first. The share is the best of `SHARES` with these options.
    """
    best, most, found_shares = grid[0], -1, np.zeros(len(SHARES))
    for options in grid:
        right, with_share = 0, np.zeros(len(SHARES))
        for train, judge in splits:
            model = fit(kind, options, rows[train], labels[train], unlabeled)
            winners, shares = answers(model, options, rows[judge])
            right += int((winners == labels[judge]).sum())
            for i, least in enumerate(SHARES):
                kept = np.where(shares < least, rows[judge, 0], winners)
                with_share[i] += (kept == labels[judge]).sum()
        if right > most:
            best, most, found_shares = options, right, with_share
    return Chosen(best, SHARES[int(found_shares.argmax())])


def blocks(n_rows: int, n_folds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the splits of a cross-validation with folds of neighboring rows, as text is not shuffled.

    Examples
    --------
    >>> [judge.tolist() for _, judge in blocks(4, 2)]
    [[0, 1], [2, 3]]
    """
    fold = np.arange(n_rows) * n_folds // n_rows
    for f in range(n_folds):
        yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)
