"""Repeated splits with few labels, and folds over labeled rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from handful.data.labels import encode_labels
from handful.errors import DataError, ParameterError, counted
from handful.params import AtLeast, check_params

N_FOLDS = 5
_MAX_TEST = 2_000  # tested rows of a split
_CURVE = (0.25, 0.5, 1.0, 2.0)  # numbers of labels of a learning curve, relative to that of the comparison


def few_labels(codes: np.ndarray, n_labels: int, rng: np.random.Generator, *, balanced: bool = False) -> np.ndarray:
    """Choose rows that keep their label: at least one of each class, the rest in proportion.

    Parameters
    ----------
    codes : ndarray of int
        Class of every row, -1 where unlabeled.
    n_labels : int
        How many rows keep their label.
    rng : numpy.random.Generator
        Random numbers.
    balanced : bool, default=False
        Choose equally many of each class instead.

    Returns
    -------
    ndarray of int64
        Row numbers in an order such that choices of different sizes with the same `rng` state are nested.

    Examples
    --------
    >>> rows = few_labels(np.array([0, 0, 0, 1, 1, -1]), 3, np.random.default_rng(0))
    >>> sorted(np.array([0, 0, 0, 1, 1, -1])[rows].tolist())
    [0, 0, 1]
    """
    codes = np.asarray(codes)
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise DataError("few_labels: codes must be a one-dimensional array of integers.")
    labeled = np.flatnonzero(codes >= 0)
    classes = np.unique(codes[labeled])
    if not len(classes) <= n_labels <= len(labeled):
        raise DataError(
            f"few_labels: the number of labels must be between the number of classes ({len(classes)}) and the number of "
            f"labeled rows ({len(labeled)}), got {n_labels}."
        )
    shuffled = rng.permutation(labeled)
    # The r-th row of a class of size m is due at (r - 1/2) / m: classes appear in proportion, all nested.
    due = np.empty(len(shuffled))
    for code in classes:
        members = np.flatnonzero(codes[shuffled] == code)
        due[members] = (np.arange(len(members)) + 0.5) / (1 if balanced else len(members))
        due[members[0]] = 0.0
    return np.asarray(shuffled[np.argsort(due, kind="stable")][:n_labels])


def _deal(codes: np.ndarray, rows: np.ndarray, n_folds: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Deal labeled rows into folds class by class; return the rows and their folds."""
    shuffled = rng.permutation(rows)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return by_class, np.arange(len(by_class)) % n_folds


class LabeledKFold:
    """K-fold splitter for data in which some rows are unlabeled.

    Labeled rows are dealt into folds class by class; each fold is scored once, and every unlabeled row stays in the
    training part. Use it as ``cv`` of scikit-learn's ``cross_val_score`` or ``GridSearchCV``.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds; a class with fewer rows is missing from some folds.
    random_state : int or None, default=0
        Seed of the shuffle.

    Examples
    --------
    >>> folds = LabeledKFold(2).split(np.zeros((5, 1)), [0, 0, 1, 1, -1])
    >>> [(len(train), len(test)) for train, test in folds]
    [(3, 2), (3, 2)]
    """

    def __init__(self, n_splits: Annotated[int, AtLeast(2)] = 5, *, random_state: int | None = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows of training and test parts.

        Parameters
        ----------
        X : array-like
            Ignored.
        y : array-like
            Labels, some of which mark unlabeled rows.
        groups : None
            Ignored.

        Yields
        ------
        train, test : ndarray of int64
            Row numbers; `test` holds labeled rows only.
        """
        check_params(self)
        labels = encode_labels(y, who="LabeledKFold")
        if len(labels.labeled) < self.n_splits:
            raise DataError(
                f"LabeledKFold: there must be at least as many labeled rows as folds ({self.n_splits}), "
                f"got {len(labels.labeled)}."
            )
        by_class, fold = _deal(labels.codes, labels.labeled, self.n_splits, np.random.default_rng(self.random_state))
        everything = np.arange(len(labels.codes))
        for number in range(self.n_splits):
            test = np.sort(by_class[fold == number])
            yield np.setdiff1d(everything, test), test


@dataclass(frozen=True)
class LabelCount:
    """How many labels to keep: a percentage of the rows, a number per class, or a number in all.

    Parameters
    ----------
    amount : float
        The number, or the fraction.
    unit : {"fraction", "per class", "rows"}
        What it counts.

    Examples
    --------
    >>> LabelCount.parse("5-per-class")
    LabelCount(amount=5, unit='per class')
    >>> LabelCount.parse("10%").amount
    0.1
    """

    amount: float
    unit: str

    @classmethod
    def parse(cls, text: str | int | float) -> LabelCount:
        """Read ``10%``, ``5-per-class`` or ``20``."""
        stripped = str(text).strip()
        if match := re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", stripped):
            fraction = float(match[1]) / 100
            if 0 < fraction < 1:
                return cls(fraction, "fraction")
        elif match := re.fullmatch(r"(\d+)[- ]per[- ]class", stripped):
            if int(match[1]) > 0:
                return cls(int(match[1]), "per class")
        elif re.fullmatch(r"\d+", stripped) and int(stripped) > 0:
            return cls(int(stripped), "rows")
        raise ParameterError(f"labels must be like 10%, 5-per-class or 20, got {stripped!r}.")


@dataclass(frozen=True, eq=False)
class Split:
    """Which rows keep their label, which are unlabeled, and which are tested.

    Parameters
    ----------
    number : int
        Number of the split.
    order : ndarray of int64
        Rows whose label may be used: a split of n labels takes the first n.
    rest : ndarray of int64
        Further training rows without a label.
    test : ndarray of int64
        Tested rows.
    """

    number: int
    order: np.ndarray
    rest: np.ndarray
    test: np.ndarray

    def training(self, n_labels: int, max_unlabeled: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the labeled and the unlabeled training rows of a split with that number of labels, each in row order."""
        labeled, hidden = self.order[:n_labels], self.order[n_labels:]
        rng = np.random.default_rng([self.number, 1])
        unlabeled = rng.permutation(np.concatenate([hidden, self.rest]))[:max_unlabeled]
        return np.sort(labeled), np.sort(unlabeled)


class Splits:
    """Repeated five-fold splits of labeled rows, of which few keep their label.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row, -1 where unlabeled.
    labels : LabelCount or None
        Labels to keep; None keeps all of the training part.
    seed : int
        Seed.
    testable : ndarray of bool, optional
        Rows that may be tested, such as those chosen at random; the others are always trained on. All by default.

    Examples
    --------
    >>> splits = Splits(np.array([0, 1] * 10 + [-1] * 5), LabelCount.parse("4"), seed=0)
    >>> splits.n_labels, splits.sizes
    (4, [2, 4, 8])
    >>> split = splits[0]
    >>> len(split.test), sorted(np.concatenate([split.order, split.rest, split.test]).tolist()) == list(range(25))
    (4, True)
    """

    def __init__(
        self,
        codes: np.ndarray,
        labels: LabelCount | None,
        seed: int,
        testable: np.ndarray | None = None,
    ) -> None:
        self._codes = codes
        self._testable = np.ones(len(codes), dtype=bool) if testable is None else testable
        self._labels = labels
        self._seed = seed
        counts = np.bincount(codes[codes >= 0])
        self._n_classes = int((counts > 0).sum())
        several = int(counts[counts > 1].sum())
        if several < 2:
            raise DataError(
                f"compare: at least one class needs two labeled rows, one for training and one for testing, got "
                f"{counted(int(counts.sum()), 'label')} of {counted(self._n_classes, 'class')}, one each."
            )
        self.n_folds = min(N_FOLDS, several)
        # At most ceil(m / folds) rows of a class are in the tested fold.
        self._left = np.where(counts > 1, counts - -(-counts // self.n_folds), counts)
        self.n_labels = self._count()
        self.sizes = self._sizes()
        self.test_ratio = 1.0 / (self.n_folds - 1) if self.n_folds > 1 else 1.0
        n_testable = int((self._testable & (codes >= 0) & (counts[codes] > 1)).sum())
        self.n_test = min(max(n_testable // self.n_folds, 1), _MAX_TEST)

    def __getitem__(self, number: int) -> Split:
        """Return one split; the same number is always the same split."""
        codes, (repetition, fold) = self._codes, divmod(number, self.n_folds)
        counts = np.bincount(codes[codes >= 0])
        testable = np.flatnonzero((codes >= 0) & (counts[codes] > 1) & self._testable)
        rows, folds = _deal(codes, testable, self.n_folds, np.random.default_rng([self._seed, repetition]))
        rng = np.random.default_rng([self._seed, repetition, fold])
        tested = rows[folds == fold]
        pool = codes.copy()
        pool[tested] = -1
        balanced = self._labels is not None and self._labels.unit == "per class"
        order = few_labels(pool, int((pool >= 0).sum()), rng, balanced=balanced)
        return Split(number, order, np.flatnonzero(codes < 0), np.sort(rng.permutation(tested)[:_MAX_TEST]))

    @property
    def hides_labels(self) -> bool:
        """Whether labels are hidden."""
        return self._labels is not None

    def _sizes(self) -> list[int]:
        """Return the numbers of labels of a learning curve that there are rows for."""
        least, most = self._n_classes, int(self._left.sum())
        factors = [factor for factor in _CURVE if factor <= 1 or self.hides_labels]
        return sorted({size for factor in factors if least <= (size := self._wanted(factor)) <= most})

    def _wanted(self, factor: float) -> int:
        """Return the labels asked for, times a factor; 0 where no class has as many."""
        labels = self._labels
        if labels is None:
            return round(factor * int(self._left.sum()))
        if labels.unit == "per class":
            each = round(factor * labels.amount)
            return int(np.minimum(self._left, each).sum()) if 1 <= each <= self._left.max() else 0
        n_all = int((self._codes >= 0).sum()) if labels.unit == "fraction" else 1
        return round(factor * labels.amount * n_all)

    def _count(self) -> int:
        wanted, least, most = self._wanted(1.0), self._n_classes, int(self._left.sum())
        if self._labels is not None and self._labels.unit == "per class" and not wanted:
            raise ParameterError(
                f"labels must be at most {int(self._left.max())} per class, as the others are tested, got "
                f"{self._labels.amount}."
            )
        if not least <= wanted <= most:
            raise (DataError if self._labels is None else ParameterError)(
                f"labels must be between the number of classes ({least}) and the rows that are not tested ({most}), "
                f"got {wanted}."
            )
        return wanted
