"""Sums by number over many batches, in memory that grows with the distinct numbers only."""

from __future__ import annotations

import numpy as np

from handful.kernels.tally import add_amounts, merged

_FIRST = 1 << 12


class Tally:
    """Amounts added up by number.

    Notes
    -----
    The amounts of one number are added in the order in which they come, so equal calls give equal bits.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add(np.array([5, 2, 5]), np.array([1.0, 1.0, 0.5]))
    >>> [part.tolist() for part in tally.sorted()]
    [[2, 5], [1.0, 1.5]]
    """

    def __init__(self) -> None:
        self._table = np.full(_FIRST, -1, dtype=np.int64)
        self._sums = np.zeros(_FIRST)
        self._n = 0

    def add(self, numbers: np.ndarray, amounts: np.ndarray) -> None:
        """Add amounts; a number may stand there several times."""
        numbers, amounts = np.ascontiguousarray(numbers, np.int64), np.ascontiguousarray(amounts, np.float64)
        done = 0
        while True:
            done, self._n = add_amounts(numbers, amounts, done, self._n, self._table, self._sums)
            if done == len(numbers):
                return
            self._grow(2 * len(self._table))

    def sorted(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers, rising, and their sums."""
        here = np.flatnonzero(self._table >= 0)
        order = here[np.argsort(self._table[here])]
        return self._table[order], self._sums[order]

    def _grow(self, size: int) -> None:
        here = self._table >= 0
        numbers, sums = self._table[here], self._sums[here]
        self._table, self._sums, self._n = np.full(size, -1, dtype=np.int64), np.zeros(size), 0
        _, self._n = add_amounts(numbers, sums, 0, 0, self._table, self._sums)


class SortedSums:
    """Sums by number of parts that come with their numbers sorted; they are put together when the next ones are as many.

    Examples
    --------
    >>> sums = SortedSums()
    >>> sums.add(np.array([2, 5]), np.array([1.0, 1.0]))
    >>> sums.add(np.array([5, 9]), np.array([0.5, 3.0]))
    >>> [part.tolist() for part in sums.total()]
    [[2, 5, 9], [1.0, 1.5, 3.0]]
    """

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, numbers: np.ndarray, amounts: np.ndarray) -> None:
        """Add amounts; the numbers rise."""
        self._parts.append((numbers, amounts))
        while len(self._parts) > 1 and 2 * len(self._parts[-1][0]) > len(self._parts[-2][0]):
            self._merge_last()

    def total(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers, rising, and their sums."""
        while len(self._parts) > 1:
            self._merge_last()
        return self._parts[0] if self._parts else (np.empty(0, dtype=np.int64), np.empty(0))

    def _merge_last(self) -> None:
        more, part = self._parts.pop(), self._parts.pop()
        self._parts.append(merged(*part, *more))
