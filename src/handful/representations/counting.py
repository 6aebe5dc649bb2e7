"""Counting over blocks of numbered text by map-reduce, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np

from handful.compute import map_reduce
from handful.core.errors import HandfulError, PartError
from handful.core.progress import Progress
from handful.kernels.cooccurrence import merge_runs

Run: TypeAlias = tuple[np.ndarray, np.ndarray]


def reduced(
    summarize: Callable[[Any], Any],
    merge: Callable[[Any, Any], Any],
    parts: Iterable[Any],
    n_jobs: int | None,
    progress: Progress | None,
) -> Any:
    """Map-reduce that gives None for no parts and lets our own errors through as they are.

    Examples
    --------
    >>> reduced(len, max, ["one", "three"], None, None), reduced(len, max, [], None, None)
    (5, None)
    """
    source = iter(parts)
    first = list(islice(source, 1))
    if not first:
        return None
    try:
        return map_reduce(summarize, merge, chain(first, source), n_jobs=n_jobs, progress=progress)
    except PartError as error:
        if isinstance(error.__cause__, HandfulError):
            raise error.__cause__ from None
        raise


def count_blocks(
    summarize: Callable[[Any], Run],
    blocks: Iterable[Any],
    *,
    max_keys: int,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Count keys over blocks.

    Parameters
    ----------
    summarize : callable
        Turns a block into a sorted run of distinct keys and counts.
    blocks : iterable
        The blocks.
    max_keys : int
        When more than this many distinct keys are held, the rarest are dropped: all that were counted once, then
        all that were counted twice, and so on, until at most three quarters of that number are left. A key that comes
        again after it was dropped starts from zero.
    n_jobs, progress
        See `handful.compute.map_reduce`.

    Returns
    -------
    keys, counts : ndarray of int64
        Distinct keys in increasing order, and their counts.

    Examples
    --------
    >>> from handful.kernels.cooccurrence import count_keys
    >>> run = count_blocks(count_keys, [np.array([3, 1, 3]), np.array([1, 1])], max_keys=10)
    >>> [part.tolist() for part in run]
    [[1, 3], [3, 2]]
    """

    def merge(run: Run, more: Run) -> Run:
        keys, counts = merge_runs(*run, *more)
        if len(keys) > max_keys:
            kept = counts > rarity_limit(counts, max_keys)
            keys, counts = keys[kept], counts[kept]
        return keys, counts

    run: Run | None = reduced(summarize, merge, blocks, n_jobs, progress)
    return (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)) if run is None else run


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
