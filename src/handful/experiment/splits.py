"""How many labels to keep, and which rows are tested: repeated, nested, seeded draws."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from handful.core.counted import counted
from handful.core.errors import DataError, ParameterError

N_FOLDS = 5
_CURVE = (0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Budget:
    """A number of labels: a share of the rows, so many of each class, or so many in all.

    Parameters
    ----------
    amount : float
        The number, or the share.
    unit : {"share", "per class", "rows"}
        What it counts.

    Examples
    --------
    >>> Budget.parse("5-per-class")
    Budget(amount=5, unit='per class')
    >>> Budget.parse("10%").amount
    0.1
    """

    amount: float
    unit: str

    @classmethod
    def parse(cls, text: str | int | float) -> Budget:
        """Read ``10%``, ``5-per-class`` or ``20``."""
        given = str(text).strip()
        if match := re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", given):
            share = float(match[1]) / 100
            if 0 < share < 1:
                return cls(share, "share")
        elif match := re.fullmatch(r"(\d+)[- ]per[- ]class", given):
            if int(match[1]) > 0:
                return cls(int(match[1]), "per class")
        elif re.fullmatch(r"\d+", given) and int(given) > 0:
            return cls(int(given), "rows")
        raise ParameterError(f"labels must be like 10%, 5-per-class or 20, got {given!r}.")


@dataclass(frozen=True, eq=False)
class Draw:
    """Which rows keep their label, which lend their features alone, and which are tested.

    Parameters
    ----------
    number : int
        Number of the draw.
    order : ndarray of int64
        Rows whose label may be used, in the order in which they are: a draw of n labels takes the first n.
    rest : ndarray of int64
        Further training rows without a label, in random order.
    test : ndarray of int64
        Rows that no method sees before it is asked about them.
    """

    number: int
    order: np.ndarray
    rest: np.ndarray
    test: np.ndarray

    def training(self, n_labels: int, max_unlabeled: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the labeled and the unlabeled training rows of a draw of so many labels, each in row order."""
        labeled, hidden = self.order[:n_labels], self.order[n_labels:]
        rng = np.random.default_rng([self.number, 1])
        spare = rng.permutation(np.concatenate([hidden, self.rest]))[:max_unlabeled]
        return np.sort(labeled), np.sort(spare)


class Draws:
    """Repeated draws from one table: five folds are tested in turn, then dealt anew.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row, -1 where unlabeled.
    budget : Budget or None
        Labels to keep; None keeps all of the training part.
    seed : int
        Seed of everything.
    max_test : int
        Rows tested in a draw at most.

    Examples
    --------
    >>> draws = Draws(np.array([0, 1] * 10 + [-1] * 5), Budget.parse("4"), seed=0)
    >>> draws.n_labels, draws.sizes
    (4, [2, 4, 8])
    >>> draw = draws[0]
    >>> len(draw.test), sorted(np.concatenate([draw.order, draw.rest, draw.test]).tolist()) == list(range(25))
    (4, True)
    """

    def __init__(self, codes: np.ndarray, budget: Budget | None, seed: int, max_test: int = 2_000) -> None:
        self._codes = codes
        self._budget = budget
        self._seed = seed
        self._max_test = max_test
        counts = np.bincount(codes[codes >= 0])
        self._n_classes = int((counts > 0).sum())
        testable = int(counts[counts > 1].sum())
        if testable < 2:
            raise DataError(
                f"compare: at least one class must have two labeled rows, one to learn from and one to test on, got "
                f"{counted(int(counts.sum()), 'label')} of {counted(self._n_classes, 'class')}, one each."
            )
        self.n_folds = min(N_FOLDS, testable)
        # What is left of each class whichever fold is tested: at most ceil(m / folds) rows of a class are in one.
        self._left = np.where(counts > 1, counts - -(-counts // self.n_folds), counts)
        self.n_labels = self._count(1.0)
        self.sizes = sorted({size for size in map(self._size, self._curve()) if size is not None})
        self.pool_share = 1.0 / (self.n_folds - 1) if self.n_folds > 1 else 1.0
        # Labels that two draws have in common: of n out of a pool, n / pool; all but two folds if none are hidden.
        within = 1 - 1 / (self.n_folds - 1) if self.n_folds > 1 else 1.0
        self.overlap = within * self.n_labels / max(int(self._left.sum()), 1)
        self.n_test = min(max(testable // self.n_folds, 1), max_test)

    def __getitem__(self, number: int) -> Draw:
        """Return one draw; the same number is always the same draw."""
        codes, (round_number, fold) = self._codes, divmod(number, self.n_folds)
        rng = np.random.default_rng([self._seed, round_number])
        shuffled = rng.permutation(np.flatnonzero(codes >= 0))
        by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
        counts = np.bincount(codes[by_class])
        testable = counts[codes[by_class]] > 1
        dealt = np.full(len(by_class), -1)
        dealt[testable] = np.arange(int(testable.sum())) % self.n_folds
        rng = np.random.default_rng([self._seed, round_number, fold])
        test = rng.permutation(by_class[dealt == fold])[: self._max_test]
        pool = np.setdiff1d(by_class, by_class[dealt == fold])
        return Draw(number, self._order(pool, rng), np.flatnonzero(codes < 0), np.sort(test))

    def _order(self, pool: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        shuffled = rng.permutation(pool)
        classes = self._codes[shuffled]
        due = np.empty(len(shuffled))
        for code in np.unique(classes):
            members = np.flatnonzero(classes == code)
            # In proportion, the r-th row of a class of size m is due at (r - 1/2) / m; one of each class comes first.
            in_turn = np.arange(len(members)) + 0.5
            due[members] = in_turn if self._per_class else in_turn / len(members)
            due[members[0]] = 0.0
        return np.asarray(shuffled[np.argsort(due, kind="stable")])

    @property
    def hides_labels(self) -> bool:
        """Whether labels are hidden, to see what few would do."""
        return self._budget is not None

    @property
    def _per_class(self) -> bool:
        return self._budget is not None and self._budget.unit == "per class"

    def _curve(self) -> list[float]:
        return [share for share in _CURVE if share <= 1 or self._budget is not None]

    def _size(self, share: float) -> int | None:
        try:
            return self._count(share)
        except (DataError, ParameterError):
            return None

    def _count(self, share: float) -> int:
        left, budget = self._left, self._budget
        if budget is None:
            wanted = round(share * int(left.sum()))
        elif budget.unit == "per class":
            each = round(share * budget.amount)
            if each < 1 or (share > 1 and left.max() < each):
                raise ParameterError("compare: no such size.")
            if each > left.max():
                raise ParameterError(
                    f"compare: at most {int(left.max())} labels per class can be kept beside those that are tested, got {each}."
                )
            wanted = int(np.minimum(left, each).sum())
        elif budget.unit == "share":
            wanted = round(share * budget.amount * int((self._codes >= 0).sum()))
        else:
            wanted = round(share * budget.amount)
        if not self._n_classes <= wanted <= left.sum():
            wrong = DataError if budget is None else ParameterError
            raise wrong(
                f"compare: the number of labels must be between the number of classes ({self._n_classes}) and what the "
                f"training part has ({int(left.sum())}), got {wanted}."
            )
        return int(wanted)
