"""One trial: encode the training rows, search parameters among the labeled ones, fit, and be tested."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from handful.core.catalogue import get_card
from handful.core.errors import HandfulError
from handful.core.labels import UNLABELED
from handful.core.registry import Card
from handful.evaluation.draws import LabeledKFold
from handful.experiment.labels import Draws
from handful.experiment.problem import Problem
from handful.features.tables import TableEncoder

Matrices: TypeAlias = tuple[Any, np.ndarray, Any, np.ndarray]
_SEARCH_FOLDS = 3
_SEARCH_UNLABELED = 500


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
        return f"{self.method} (labels only)" if self.labels_only else self.method


@dataclass(frozen=True)
class Outcome:
    """What came of a trial.

    Parameters
    ----------
    task : Task
        The trial.
    score : float or None
        Accuracy or macro F1 on the tested rows; None if it failed.
    confusion : list of lists of int
        Tested rows by class (line) and answer (column).
    params : mapping of str to value
        The parameters that were chosen.
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
    confusion: list[list[int]] = field(default_factory=list)
    params: Mapping[str, Any] = field(default_factory=dict)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    n_bytes: int = 0
    n_kept: int | None = None
    error: str | None = None


class Bench:
    """The place where trials of one problem are made; it remembers the matrices of the last draw.

    Parameters
    ----------
    problem : Problem
        The table.
    draws : Draws
        Its draws.
    metric : {"accuracy", "f1"}
        What is scored: the share of right answers, or the F1 of each class averaged.
    max_unlabeled : int
        Unlabeled training rows of a draw at most.
    seed : int
        Seed of methods that use chance.
    """

    def __init__(self, problem: Problem, draws: Draws, metric: str, max_unlabeled: int, seed: int) -> None:
        self.problem = problem
        self.draws = draws
        self.metric = metric
        self.max_unlabeled = max_unlabeled
        self.seed = seed
        self._last: tuple[tuple[int, int], Matrices] | None = None
        self._warm: set[tuple[str, bool]] = set()

    def run(self, task: Task) -> Outcome:
        """Make one trial; a method that fails is an outcome too.

        Parameters
        ----------
        task : Task
            The trial.

        Returns
        -------
        Outcome
            What came of it.
        """
        try:
            with quiet_single_thread():
                return self._run(task)
        except HandfulError as error:
            return Outcome(task, None, error=str(error))
        except MemoryError:
            return Outcome(task, None, error="ran out of memory.")
        except Exception as error:
            return Outcome(task, None, error=f"{type(error).__name__}: {error}"[:300])

    def _run(self, task: Task) -> Outcome:
        chosen = get_card(task.method, "table")
        train, codes, test, truth = self.matrices(task.draw, task.n_labels)
        if task.labels_only or not chosen.uses_unlabeled:
            train, codes = train[codes >= 0], codes[codes >= 0]
        params = search(chosen, train, codes, self.seed)
        self._warm_up(chosen, params, train, codes)
        model = chosen.make(train.shape[1], self.seed, params)
        start = time.perf_counter()
        model.fit(train, codes)
        fitted = time.perf_counter()
        answers = np.asarray(model.predict(test)).astype(np.int64)
        done = time.perf_counter()
        n_classes = len(self.problem.classes)
        confusion = np.bincount(truth * n_classes + answers, minlength=n_classes**2).reshape(n_classes, n_classes)
        kept = getattr(model, "kept_", None)
        return Outcome(
            task,
            score_of(confusion, self.metric),
            confusion.tolist() if n_classes <= 50 else [],
            params,
            fitted - start,
            (done - fitted) / len(truth) * 1_000,
            len(pickle.dumps(model, protocol=5)),
            None if kept is None else len(kept),
        )

    def matrices(self, number: int, n_labels: int) -> Matrices:
        """Return the training rows of a draw, their codes, the tested rows and theirs."""
        if self._last is None or self._last[0] != (number, n_labels):
            self._last = ((number, n_labels), self._encode(number, n_labels))
        return self._last[1]

    def _encode(self, number: int, n_labels: int) -> Matrices:
        draw = self.draws[number]
        labeled, spare = draw.training(n_labels, self.max_unlabeled)
        rows = np.sort(np.concatenate([labeled, spare]))
        codes = np.full(len(rows), UNLABELED, dtype=np.int64)
        labeled_pos = np.searchsorted(rows, labeled)
        codes[labeled_pos] = self.problem.codes[labeled]
        # Scales, values and word weights are those of the training rows: the tested rows are new in every respect.
        encoder = TableEncoder.learn(self.problem.frame[rows], self.problem.kinds)
        train, test = (encoder.transform(self.problem.frame[r]) for r in (rows, draw.test))
        return train, codes, test, self.problem.codes[draw.test].astype(np.int64)

    def _warm_up(self, chosen: Card, params: Mapping[str, Any], train: Any, codes: np.ndarray) -> None:
        # Compiled kernels are compiled on first use; a clock that runs meanwhile would tell of the compiler.
        key = (chosen.name, bool((codes < 0).any()))
        if key in self._warm:
            return
        self._warm.add(key)
        rows = np.concatenate([np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)[:20]])
        model = chosen.make(train.shape[1], self.seed, params).fit(train[rows], codes[rows])
        model.predict(train[rows[:2]])


@contextmanager
def quiet_single_thread() -> Iterator[None]:
    """Do numerical work in one thread and without warnings: trials run side by side, and clocks should be comparable."""
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        yield


def search(chosen: Card, train: Any, codes: np.ndarray, seed: int) -> dict[str, Any]:
    """Choose parameters by cross-validation among the labeled training rows.

    Parameters
    ----------
    chosen : Card
        Whose parameters.
    train : matrix
        Training rows.
    codes : ndarray of int64
        Their classes, -1 where unlabeled.
    seed : int
        Seed of the folds and the method.

    Returns
    -------
    dict of str to value
        The values with the best accuracy over three folds, one parameter settled after the other; the usual ones if no
        others are better, or if the labels are too few to tell. At most 500 unlabeled rows take part, so that the
        search does not cost more than the fit.
    """
    best = {name: values[0] for name, values in chosen.grid.items()}
    labeled = np.flatnonzero(codes >= 0)
    counts = np.bincount(codes[labeled])
    if not best or len(labeled) < 2 * _SEARCH_FOLDS or (counts[counts > 0] < 2).all():
        return best
    spare = np.random.default_rng(seed).permutation(np.flatnonzero(codes < 0))[:_SEARCH_UNLABELED]
    rows = np.sort(np.concatenate([labeled, spare]))
    part, part_codes = train[rows], codes[rows]
    names = np.where(part_codes >= 0, part_codes, None)  # codes {-1, +1} could be read in two ways
    folds = list(LabeledKFold(_SEARCH_FOLDS, random_state=seed).split(part, names))

    def n_right(params: Mapping[str, Any]) -> int:
        return sum(_n_right(chosen, params, part, part_codes, fold, seed) for fold in folds)

    most = n_right(best)
    for name, values in chosen.grid.items():
        for value in values[1:]:
            found = n_right({**best, name: value})
            if found > most:
                best, most = {**best, name: value}, found
    return best


def _n_right(
    chosen: Card,
    params: Mapping[str, Any],
    rows: Any,
    codes: np.ndarray,
    fold: tuple[np.ndarray, np.ndarray],
    seed: int,
) -> int:
    train, test = fold
    present = np.unique(codes[train][codes[train] >= 0])
    if len(present) < 2:
        return 0
    # Classes that are missing from this fold would leave gaps; methods may expect codes without any.
    dense = np.where(codes[train] >= 0, np.searchsorted(present, codes[train]), UNLABELED)
    try:
        model = chosen.make(rows.shape[1], seed, params).fit(rows[train], dense)
        answers = np.asarray(model.predict(rows[test])).astype(np.int64)
    except ValueError:
        return 0  # such as more neighbors than rows
    return int((present[answers] == codes[test]).sum())


def score_of(confusion: np.ndarray, metric: str) -> float:
    """Return accuracy or macro F1 of a confusion matrix.

    Examples
    --------
    >>> score_of(np.array([[3, 1], [0, 4]]), "accuracy")
    0.875
    """
    right = np.diag(confusion)
    if metric == "accuracy":
        return float(right.sum() / max(confusion.sum(), 1))
    total = confusion.sum(axis=0) + confusion.sum(axis=1)
    present = confusion.sum(axis=1) > 0
    return float(np.mean(2 * right[present] / total[present]))
