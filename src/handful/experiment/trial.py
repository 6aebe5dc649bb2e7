"""A trial and what came of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Task:
    """Which trial to make.

    Parameters
    ----------
    method : str
        Name of a method.
    labels_only : bool
        Whether unlabeled rows are kept from it.
    draw : int
        Number of the draw.
    n_labels : int
        Number of labels.
    """

    method: str
    labels_only: bool
    draw: int
    n_labels: int

    @property
    def entry(self) -> str:
        """Name in tables: a method that is kept from unlabeled rows says so."""
        return entry_name(self.method, self.labels_only)


@dataclass(frozen=True)
class Pilot:
    """A trial on few rows, to see what a whole one would cost."""

    method: str
    labels_only: bool

    @property
    def entry(self) -> str:
        """Name in tables."""
        return entry_name(self.method, self.labels_only)


@dataclass(frozen=True)
class Outcome:
    """What came of a trial.

    Parameters
    ----------
    task : Task
        The trial.
    score : float or None
        Score on the tested rows; None if it failed.
    right : str
        Which of the tested rows it was right on, as zeros and ones, where the score is their share.
    values : list of float
        One number for each tested sentence, whose mean is the score; for taggers.
    sure, near : list of float
        What the method says of each tested row, the first 200: its share of the answer, and how near labeled rows are; see
        `handful.methods.confidence.HeldOut`. Empty for taggers.
    hits : str
        Which of these were right, as zeros and ones.
    brier : float or None
        Mean squared error of the shares of the classes, if the method tells any: smoother than a score.
    confusion : list of lists of int
        Tested rows by class (line) and answer (column).
    params : mapping of str to value
        The parameters that were chosen.
    seconds : float
        Time of the whole trial.
    fit_seconds, predict_seconds : float
        Time of the last fit, without the search, and of a thousand answers.
    n_bytes : int
        Size of the fitted model.
    n_kept : int or None
        Rows that the model stores, if it tells.
    error : str or None
        Why it failed.
    """

    task: Task
    score: float | None
    right: str = ""
    brier: float | None = None
    confusion: list[list[int]] = field(default_factory=list)
    params: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    n_bytes: int = 0
    n_kept: int | None = None
    error: str | None = None
    sure: list[float] = field(default_factory=list)
    near: list[float] = field(default_factory=list)
    hits: str = ""
    values: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Cost:
    """What a pilot says of a whole trial: seconds, and bytes of memory at the peak."""

    seconds: float
    n_bytes: int


def entry_name(method: str, labels_only: bool) -> str:
    """Return the name of a method in tables.

    Examples
    --------
    >>> entry_name("ordinal-knn", True)
    'ordinal-knn (labels only)'
    """
    return f"{method} (labels only)" if labels_only else method


def as_bits(right: np.ndarray) -> str:
    """Return which rows were right, as zeros and ones.

    Examples
    --------
    >>> as_bits(np.array([True, False]))
    '10'
    """
    return (right.astype(np.uint8) + ord("0")).tobytes().decode()


@contextmanager
def quiet_single_thread() -> Iterator[None]:
    """Do numerical work in one thread and without warnings: trials run side by side, and clocks should be comparable."""
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        yield


def score_of(confusion: np.ndarray, metric: str) -> float:
    """Return a score of a confusion matrix.

    Parameters
    ----------
    confusion : ndarray of shape (n_classes, n_classes)
        Right classes (lines) by answers (columns).
    metric : {"accuracy", "balanced accuracy", "f1"}
        Share of right answers; mean over classes of the share of right ones; mean over classes of F1.

    Returns
    -------
    float
        The score. Classes that were not tested do not count.

    Examples
    --------
    >>> score_of(np.array([[3, 1], [0, 4]]), "accuracy")
    0.875
    >>> score_of(np.array([[6, 2], [0, 1]]), "balanced accuracy")
    0.875
    """
    right = np.diag(confusion)
    tested = confusion.sum(axis=1)
    present = tested > 0
    if metric == "accuracy":
        return float(right.sum() / max(confusion.sum(), 1))
    if metric == "balanced accuracy":
        return float(np.mean(right[present] / tested[present]))
    total = confusion.sum(axis=0) + tested
    return float(np.mean(2 * right[present] / total[present]))
