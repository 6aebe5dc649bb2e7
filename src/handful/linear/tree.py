"""Dependency tree structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from handful.errors import DataError
from handful.kernels.tree_features import add_costs, count_parts, decode, parts_of_tree, score_parts
from handful.kernels.trees import pair_starts, tree_marginals
from handful.linear.structure import map_ahead


def crossing_marginals(arcs: np.ndarray, single_root: bool) -> tuple[float, np.ndarray]:
    """Sum over all trees (Koo et al. 2007; Smith & Smith 2007).

    Parameters
    ----------
    arcs : ndarray of float64, shape (n + 1, n + 1)
        Score of each arc.
    single_root : bool
        Whether the root has exactly one child.

    Returns
    -------
    log_partition : float
        Log of the summed exponentials of all scores.
    marginals : ndarray of float64, shape (n + 1, n + 1)
        Probability of each arc.

    Examples
    --------
    >>> total, marginals = crossing_marginals(np.zeros((3, 3)), True)
    >>> round(float(np.exp(total)), 9), marginals.round(9).tolist()
    (2.0, [[0.0, 0.5, 0.5], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]])
    """
    size = len(arcs)
    marginals = np.zeros((size, size))
    n = size - 1
    if n == 0:
        return 0.0, marginals
    scores = arcs[:, 1:].copy()
    scores[np.arange(1, size), np.arange(n)] = -np.inf
    # Every tree has one arc into each word, so a shift of a word's arcs shifts all trees alike.
    tops = scores.max(axis=0)
    potentials = np.exp(scores - tops)
    root, inner = potentials[0], potentials[1:]
    laplacian = np.diag(inner.sum(axis=0)) - inner
    if single_root:
        laplacian[0] = root
    else:
        laplacian += np.diag(root)
    _, log_determinant = np.linalg.slogdet(laplacian)
    inverse = np.linalg.inv(laplacian)
    slopes = inverse.T  # derivative of the log determinant
    if single_root:
        marginals[0, 1:] = root * slopes[0]
        diagonal, slopes = np.diag(slopes).copy(), slopes.copy()
        diagonal[0], slopes[0] = 0.0, 0.0
        marginals[1:, 1:] = inner * (diagonal - slopes)
    else:
        marginals[0, 1:] = root * np.diag(slopes)
        marginals[1:, 1:] = inner * (np.diag(slopes) - slopes)
    return float(log_determinant + tops.sum()), marginals


_N_SHARDS = 2
_NO_STARTS = np.empty((0, 0), dtype=np.int64)


class PartFeatures(NamedTuple):
    """Features of all parts of a sentence.

    Parameters
    ----------
    ids : ndarray of int32
        Features of the parts, one part after the other.
    begins, ends : ndarray of int32 or int64, shape (n_parts,)
        Where the features of each part start and end. Arc ``(h, m)`` of n words is part ``h * (n + 1) + m``; with order 2,
        the pairs come after the arcs, numbered as by `handful.kernels.trees.pair_starts`.
    """

    ids: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


class TreeStructure:
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

    Sentences are cut into two shards whose sums are added in a fixed order, and the steps of online learning follow one
    another while features are prepared in threads: results do not depend on `n_jobs`.

    Examples
    --------
    >>> offsets, begins = np.array([0, 2]), np.arange(9)
    >>> trees = TreeStructure(offsets, lambda number: PartFeatures(np.arange(9), begins, begins + 1), 9)
    >>> trees.argmax(np.array([0.0, 1.0, 2.0, 0.0, 0.0, 5.0, 0.0, 3.0, 0.0])).tolist()
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
        self._last: tuple[int, PartFeatures] | None = None

    def starts(self, n: int) -> np.ndarray:
        """Return the number of the first pair of each arc of n words."""
        if not self.second:
            return _NO_STARTS
        if n not in self._starts:
            self._starts[n] = pair_starts(n, self.single_root)[0]
        return self._starts[n]

    def argmax(self, weights: np.ndarray) -> np.ndarray:
        """Return the best head of every word; for ties see `handful.kernels.trees.best_tree`."""
        return self.argmax_by(lambda number: score_parts(*self.features(number), weights))

    def argmax_by(self, scores_of: Callable[[int], np.ndarray]) -> np.ndarray:
        """Return the best head of every word, given the scores of the parts of each sentence by its number."""
        out = np.empty(int(self.offsets[-1]), dtype=np.int32)

        def work(number: int) -> None:
            words = slice(self.offsets[number], self.offsets[number + 1])
            n = len(out[words])
            rules = self.second, self.projective, self.single_root
            out[words] = decode(scores_of(number), n, self.starts(n), *rules)[0]

        self._run(work)
        return out

    def expected_counts(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the summed log partition of all sentences and the expected count of every feature."""
        totals = np.zeros(self.n_inputs)

        def marginals(number: int, n: int, features: PartFeatures) -> np.ndarray:
            totals[number], probabilities = self.part_marginals(score_parts(*features, weights), n)
            return probabilities

        counts = self._count(marginals)
        return float(totals.sum()), counts

    def part_marginals(self, scores: np.ndarray, n: int) -> tuple[float, np.ndarray]:
        """Return the log partition of n words and the probability of each part, given the scores of all parts."""
        size = n + 1
        arcs = scores[: size * size].reshape(size, size)
        if self.projective:
            rules = self.second, self.single_root
            total, arc_marginals, pair_marginals = tree_marginals(arcs, scores[size * size :], self.starts(n), *rules)
        else:
            total, arc_marginals = crossing_marginals(arcs, self.single_root)
            pair_marginals = np.empty(0)
        if not np.isfinite(total):
            raise DataError("TreeStructure: every sentence must have a tree with a finite score.")
        return float(total), np.concatenate([arc_marginals.ravel(), pair_marginals])

    def joint_features(self, outputs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return features of parts and how much of each; see `Structure.joint_features`.

        Arcs and pairs are two kinds of parts, each with its own weight when `outputs` is None: n of n * n arcs, and n of all
        pairs.
        """

        def even(number: int, n: int, features: PartFeatures) -> np.ndarray:
            return self.uniform_amounts(n, len(features.begins))

        def chosen(number: int, n: int, features: PartFeatures) -> np.ndarray:
            assert outputs is not None
            heads = outputs[self.offsets[number] : self.offsets[number + 1]]
            amounts = np.zeros(len(features.begins))
            amounts[parts_of_tree(heads, self.starts(n), self.second)] = 1.0
            return amounts

        return np.arange(self.n_features), self._count(even if outputs is None else chosen)

    def uniform_amounts(self, n: int, n_parts: int) -> np.ndarray:
        """Return the weight of each part of n words if none is chosen; see `joint_features`."""
        amounts = np.full(n_parts, 1.0 / max(n, 1))
        n_arcs = (n + 1) ** 2
        amounts[n_arcs:] = n / max(n_parts - n_arcs, 1)
        return amounts

    def loss_augmented_argmax(self, number: int, weights: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the tree of one sentence with the highest score plus number of wrong heads, and that number."""
        scores = score_parts(*self._features(number), weights)
        add_costs(scores, gold)
        starts = self.starts(len(gold))
        rules = self.second, self.projective, self.single_root
        heads, _ = decode(scores, len(gold), starts, *rules)
        return heads, float((heads != gold).sum())

    def joint_features_at(self, number: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of the tree of one sentence and their amounts."""
        ids, begins, ends = self._features(number)
        chosen = parts_of_tree(output, self.starts(len(output)), self.second)
        places = np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(begins[p], ends[p]) for p in chosen)])
        return ids[places].astype(np.int64), np.ones(len(places))

    def possible_features(self, number: int) -> np.ndarray:
        """Return every feature that any tree of a sentence may have."""
        return self._features(number).ids.astype(np.int64)

    def take(self, number: int, outputs: np.ndarray) -> np.ndarray:
        """Return the heads of one sentence."""
        return np.asarray(outputs[self.offsets[number] : self.offsets[number + 1]])

    def in_order(self, order: np.ndarray) -> Iterator[int]:
        """Yield the numbers of sentences, with their features made ahead in threads."""
        n_ahead = self.n_jobs if self.n_jobs > 1 else 0
        for number, features in zip(order, map_ahead(self.features, order, n_ahead), strict=True):
            self._last = int(number), features
            yield int(number)

    def _features(self, number: int) -> PartFeatures:
        # A step asks several times for the same sentence.
        if self._last is None or self._last[0] != number:
            self._last = int(number), self.features(number)
        return self._last[1]

    def _count(self, amounts: Callable[[int, int, PartFeatures], np.ndarray]) -> np.ndarray:
        """Add up how much there is of every feature, given how much there is of every part."""
        n_shards = min(_N_SHARDS, max(self.n_inputs, 1))
        counts = np.zeros((n_shards, self.n_features))

        def work(shard: int) -> None:
            for number in range(shard, self.n_inputs, n_shards):
                features = self.features(number)
                n = int(self.offsets[number + 1] - self.offsets[number])
                count_parts(*features, amounts(number, n, features), counts[shard])

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
