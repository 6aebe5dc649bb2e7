"""Sentences as dependency trees: the best tree, the marginals, and the features of its parts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from handful.core.errors import DataError
from handful.kernels.tree_parts import count_parts, decode, parts_of_tree, score_parts
from handful.kernels.trees import pair_starts
from handful.kernels.trees_inside import tree_marginals
from handful.linear.matrix_tree import crossing_marginals

_N_SHARDS = 2
_NO_STARTS = np.empty((0, 0), dtype=np.int64)


class PartFeatures(NamedTuple):
    """Features of all parts of a sentence.

    Parameters
    ----------
    ids : ndarray of int32
        Features of the parts, one part after the other.
    values : ndarray of float64
        Amount of each; empty if all are 1.
    begins, ends : ndarray of int32 or int64, shape (n_parts,)
        Where the features of each part start and end. Arc ``(h, m)`` of n words is part ``h * (n + 1) + m``; with order 2,
        the pairs come after the arcs, numbered as by `handful.kernels.trees.pair_starts`.
    """

    ids: np.ndarray
    values: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


class Tree:
    """Encoded sentences whose parts are arcs and, with order 2, pairs of neighboring children of one head.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_inputs + 1,)
        Where the words of each sentence start.
    features : callable
        From the number of a sentence to its `PartFeatures`; called from several threads.
    n_features : int
        Number of features.
    order : {1, 2}
        Whether arcs alone have features, or pairs too.
    projective : bool
        Whether arcs may not cross; order 2 needs it.
    single_root : bool
        Whether the root has exactly one child.
    n_jobs : int
        Threads.

    Notes
    -----
    An output is one array of heads over all words: positions in the sentence from 1 on, 0 for the root.

    Sentences are cut into two shards whose sums are added in a fixed order: results do not depend on `n_jobs`.

    Examples
    --------
    >>> offsets, begins = np.array([0, 2]), np.arange(9)
    >>> trees = Tree(offsets, lambda number: PartFeatures(np.arange(9), np.empty(0), begins, begins + 1), 9)
    >>> trees.best(np.array([0.0, 1.0, 2.0, 0.0, 0.0, 5.0, 0.0, 3.0, 0.0])).tolist()
    [0, 1]
    """

    def __init__(
        self,
        offsets: np.ndarray,
        features: Callable[[int], PartFeatures],
        n_features: int,
        *,
        order: int = 1,
        projective: bool = True,
        single_root: bool = True,
        n_jobs: int = 1,
    ) -> None:
        self.offsets = offsets
        self.features = features
        self.n_features = n_features
        self.second = order == 2
        self.projective = projective
        self.single_root = single_root
        self.n_jobs = n_jobs
        self.n_inputs = len(offsets) - 1
        self._starts: dict[int, np.ndarray] = {}

    def with_features(self, features: Callable[[int], PartFeatures], n_features: int) -> Tree:
        """Return the same sentences with other features."""
        return Tree(
            self.offsets,
            features,
            n_features,
            order=2 if self.second else 1,
            projective=self.projective,
            single_root=self.single_root,
            n_jobs=self.n_jobs,
        )

    def starts(self, n: int) -> np.ndarray:
        """Return the number of the first pair of each arc of n words."""
        if not self.second:
            return _NO_STARTS
        if n not in self._starts:
            self._starts[n] = pair_starts(n, self.single_root)[0]
        return self._starts[n]

    def best(self, weights: np.ndarray) -> np.ndarray:
        """Return the best head of every word; ties are told at `handful.kernels.trees.best_tree`."""
        return self.best_by(lambda number: score_parts(*self.features(number), weights))

    def best_by(self, scores_of: Callable[[int], np.ndarray]) -> np.ndarray:
        """Return the best head of every word, given the scores of the parts of each sentence by its number."""
        out = np.empty(int(self.offsets[-1]), dtype=np.int32)

        def work(number: int) -> None:
            words = slice(self.offsets[number], self.offsets[number + 1])
            n = len(out[words])
            rules = self.second, self.projective, self.single_root
            out[words] = decode(scores_of(number), n, self.starts(n), *rules)[0]

        self._run(work)
        return out

    def marginals(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the summed log partition of all sentences and the expected count of every feature."""
        totals = np.zeros(self.n_inputs)

        def shares(number: int, n: int, features: PartFeatures) -> np.ndarray:
            totals[number], found = self.part_shares(score_parts(*features, weights), n)
            return found

        counts = self._count(shares)
        return float(totals.sum()), counts

    def part_shares(self, scores: np.ndarray, n: int) -> tuple[float, np.ndarray]:
        """Return the log partition of n words and the probability of each part, given the scores of all parts."""
        size = n + 1
        arcs = scores[: size * size].reshape(size, size)
        if self.projective:
            rules = self.second, self.single_root
            total, arc_shares, pair_shares = tree_marginals(arcs, scores[size * size :], self.starts(n), *rules)
        else:
            total, arc_shares = crossing_marginals(arcs, self.single_root)
            pair_shares = np.empty(0)
        if not np.isfinite(total):
            raise DataError("Tree: every sentence must have a tree with a finite score.")
        return float(total), np.concatenate([arc_shares.ravel(), pair_shares])

    def parts(self, outputs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return features of parts and how much of each; see `Structure.parts`.

        Arcs and pairs are two kinds of parts, each with its own share when `outputs` is None: n of n * n arcs, and n of all
        pairs.
        """

        def even(number: int, n: int, features: PartFeatures) -> np.ndarray:
            return self.even_shares(n, len(features.begins))

        def chosen(number: int, n: int, features: PartFeatures) -> np.ndarray:
            assert outputs is not None
            heads = outputs[self.offsets[number] : self.offsets[number + 1]]
            amounts = np.zeros(len(features.begins))
            amounts[parts_of_tree(heads, self.starts(n), self.second)] = 1.0
            return amounts

        return np.arange(self.n_features), self._count(even if outputs is None else chosen)

    def even_shares(self, n: int, n_parts: int) -> np.ndarray:
        """Return the weight of each part of n words if none is chosen; see `parts`."""
        amounts = np.full(n_parts, 1.0 / max(n, 1))
        n_arcs = (n + 1) ** 2
        amounts[n_arcs:] = n / max(n_parts - n_arcs, 1)
        return amounts

    def _count(self, shares: Callable[[int, int, PartFeatures], np.ndarray]) -> np.ndarray:
        """Add up how much there is of every feature, given how much there is of every part."""
        n_shards = min(_N_SHARDS, max(self.n_inputs, 1))
        counts = np.zeros((n_shards, self.n_features))

        def work(shard: int) -> None:
            for number in range(shard, self.n_inputs, n_shards):
                features = self.features(number)
                n = int(self.offsets[number + 1] - self.offsets[number])
                count_parts(*features, shares(number, n, features), counts[shard])

        self._run(work, n_shards)
        total: np.ndarray = counts.sum(axis=0)
        return total

    def _run(self, work: Callable[[int], None], n_tasks: int | None = None) -> None:
        tasks = range(self.n_inputs if n_tasks is None else n_tasks)
        if self.n_jobs == 1:
            for task in tasks:
                work(task)
            return
        with ThreadPoolExecutor(self.n_jobs) as pool:
            for _ in pool.map(work, tasks):
                pass
