"""Counting over blocks of numbered text by map-reduce, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from handful.compute import Engine, map_parts, open_engine
from handful.core.errors import HandfulError, PartError
from handful.core.progress import Progress
from handful.kernels.cooccurrence import merge_runs

Counts: TypeAlias = dict[str, np.ndarray]
_COARSE, _FINE = 2.0**20, 2.0**52


@dataclass(frozen=True)
class Counting:
    """Where counting runs, and who is told.

    Parameters
    ----------
    n_jobs, engine, checkpoint, progress
        As for `handful.compute.map_reduce`.
    """

    n_jobs: int | None = None
    engine: Engine = None
    checkpoint: str | os.PathLike[str] | None = None
    progress: Progress | None = None

    @contextmanager
    def opened(self) -> Iterator[Counting]:
        """Open the engine once for all passes over the text."""
        with open_engine(self.engine, self.n_jobs) as engine:
            yield replace(self, engine=engine)

    def summaries(
        self, summarize: Callable[[Any], Any], parts: Iterable[Any], fingerprint: str
    ) -> Generator[Any, None, None]:
        """Yield the summary of each part in order; our own errors come through as they are.

        Examples
        --------
        >>> list(Counting().summaries(len, ["one", "three"], "lengths"))
        [3, 5]
        """
        where: dict[str, Any] = {
            "n_jobs": self.n_jobs,
            "engine": self.engine,
            "checkpoint": self.checkpoint,
            "progress": self.progress,
        }
        try:
            yield from map_parts(summarize, parts, fingerprint=fingerprint, **where)
        except PartError as error:
            if isinstance(error.__cause__, HandfulError):
                raise error.__cause__ from None
            raise


class ExactSums:
    """Sums of many arrays that are the same to the last bit in whatever order the arrays come.

    Parameters
    ----------
    size : int
        Length of the arrays.

    Notes
    -----
    Each number is cut into a multiple of 2**-20 and a rest, which is rounded to a multiple of 2**-52. Sums of either kind
    are exact while they stay below 2**33 and 1, so no order can matter; what was cut is put together only in the end.

    Examples
    --------
    >>> rows = [np.array([0.1, 1e6]), np.array([0.2, 0.1]), np.array([0.3, 0.7])]
    >>> one, other = ExactSums(2), ExactSums(2)
    >>> for row in rows:
    ...     one.add(row)
    >>> for row in reversed(rows):
    ...     other.add(row)
    >>> [bool((a == b).all()) for a, b in zip(one.total(), other.total())]
    [True, True]
    """

    def __init__(self, size: int) -> None:
        self._high = np.zeros(size)
        self._low: np.ndarray | None = None  # whole numbers, the usual case, need none

    def add(self, values: np.ndarray, places: np.ndarray | None = None) -> None:
        """Add numbers to all sums, or to those at some places, which are distinct."""
        where = slice(None) if places is None else places
        high = np.rint(values * _COARSE) / _COARSE
        self._high[where] += high
        rest = np.rint((values - high) * _FINE) / _FINE
        if self._low is not None or rest.any():
            if self._low is None:
                self._low = np.zeros_like(self._high)
            self._low[where] += rest

    def total(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums and what rounding took from them; both are needed to go on adding later."""
        if self._low is None:
            return self._high.copy(), np.zeros_like(self._high)
        total = self._high + self._low
        return total, self._low - (total - self._high)


def count_blocks(
    summarize: Callable[[Any], Counts], blocks: Iterable[Any], *, max_keys: int, fingerprint: str, counting: Counting
) -> tuple[np.ndarray, np.ndarray, int]:
    """Count keys over blocks.

    Parameters
    ----------
    summarize : callable
        Turns a block into ``{"keys", "counts"}``, a sorted run of distinct keys and their counts.
    blocks : iterable
        The blocks.
    max_keys : int
        When more than this many distinct keys are held, the rarest are dropped: all that were counted once, then
        all that were counted twice, and so on, until at most three quarters of that number are left. A key that comes
        again after it was dropped starts from zero.
    fingerprint : str
        What the counts of a block depend on beside the block, for the checkpoint.
    counting : Counting
        Where it runs.

    Returns
    -------
    keys, counts : ndarray of int64
        Distinct keys in increasing order, and their counts.
    n_forgotten : int
        How often keys were counted that were dropped again.

    Examples
    --------
    >>> from handful.kernels.cooccurrence import count_keys
    >>> def summarize(block):
    ...     return dict(zip(("keys", "counts"), count_keys(block)))
    >>> blocks = [np.array([3, 1, 3]), np.array([1, 1])]
    >>> count_blocks(summarize, blocks, max_keys=10, fingerprint="numbers", counting=Counting())
    (array([1, 3]), array([3, 2]), 0)
    """
    keys, counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    n_forgotten = 0
    with closing(counting.summaries(summarize, blocks, fingerprint)) as runs:
        for more in runs:
            keys, counts = merge_runs(keys, counts, more["keys"], more["counts"])
            if len(keys) > max_keys:
                kept = counts > rarity_limit(counts, max_keys)
                n_forgotten += int(counts[~kept].sum())
                keys, counts = keys[kept], counts[kept]
    return keys, counts, n_forgotten


def rarity_limit(counts: np.ndarray, size: int) -> int:
    """Return a count such that at most three quarters of `size` items were counted more often.

    Examples
    --------
    >>> rarity_limit(np.array([1, 5, 1, 2, 9]), 4)
    1
    """
    keep = max(3 * size // 4, 1)
    return int(np.partition(counts, len(counts) - keep - 1)[len(counts) - keep - 1])


def overlapping(blocks: Iterable[np.ndarray], overlap: int, start: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Put the end of each block before the next one, so that no neighbors are lost between them.

    Parameters
    ----------
    blocks : iterable of ndarray
        The blocks.
    overlap : int
        How many items to carry over.
    start : ndarray
        What stands before the first block.

    Yields
    ------
    n_carried, block : int and ndarray
        How many items at the start of the block were there before.

    Examples
    --------
    >>> blocks = [np.array([1, 2, 3]), np.array([4])]
    >>> [(n, block.tolist()) for n, block in overlapping(blocks, 2, np.array([0]))]
    [(1, [0, 1, 2, 3]), (2, [2, 3, 4])]
    """
    tail = start
    for block in blocks:
        joined = np.concatenate((tail, block))
        yield len(tail), joined
        tail = joined[max(len(joined) - overlap, 0) :]
