"""Trees one sentence at a time, for online learners."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from handful.kernels.tree_parts import add_costs, decode, parts_of_tree, score_parts, tree_step
from handful.linear.shared_weights import Ties
from handful.linear.structure import Lazy
from handful.linear.tree import PartFeatures, Tree

_AHEAD = 4


class TreeSteps:
    """The sentences of a `Tree`, one at a time; see `handful.linear.structure.Stepwise`.

    Parameters
    ----------
    tree : Tree
        The sentences.

    Notes
    -----
    With several threads, the features of the next sentences are prepared while a step is made; the steps themselves
    follow one another, so that results do not depend on the number of threads.

    Examples
    --------
    >>> begins = np.arange(4)
    >>> found = PartFeatures(np.arange(4), np.empty(0), begins, begins + 1)
    >>> steps = TreeSteps(Tree(np.array([0, 1]), lambda number: found, 4))
    >>> steps.parts_at(0, np.array([0]))[0].tolist()
    [1]
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.n_inputs = tree.n_inputs
        self.n_features = tree.n_features
        self._last: tuple[int, PartFeatures] | None = None

    def best_at(self, number: int, weights: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the tree of one sentence with the highest score plus number of wrong heads, and that number."""
        scores = score_parts(*self._features(number), weights)
        add_costs(scores, gold)
        starts = self.tree.starts(len(gold))
        rules = self.tree.second, self.tree.projective, self.tree.single_root
        heads, _ = decode(scores, len(gold), starts, *rules)
        return heads, float((heads != gold).sum())

    def parts_at(self, number: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of the tree of one sentence and their amounts."""
        ids, values, begins, ends = self._features(number)
        chosen = parts_of_tree(output, self.tree.starts(len(output)), self.tree.second)
        places = np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(begins[p], ends[p]) for p in chosen)])
        amounts = values[places] if len(values) else np.ones(len(places))
        return ids[places].astype(np.int64), amounts

    def reach_at(self, number: int) -> np.ndarray:
        """Return every feature that any tree of a sentence may have."""
        return self._features(number).ids.astype(np.int64)

    def take(self, number: int, outputs: np.ndarray) -> np.ndarray:
        """Return the heads of one sentence."""
        return np.asarray(outputs[self.tree.offsets[number] : self.tree.offsets[number + 1]])

    def sweep(self, order: np.ndarray, outputs: np.ndarray, lazy: Lazy, size: float, passive: bool) -> float:
        """Make a step for each sentence in order; return the summed loss. See `handful.linear.structure.Sweeping`."""
        scratch = np.zeros(self.n_features)
        rules = self.tree.second, self.tree.projective, self.tree.single_root
        loss = 0.0
        for step, (number, features) in enumerate(self._prepared(order), start=lazy.n_steps):
            gold = self.take(number, outputs)
            starts = self.tree.starts(len(gold))
            weights = lazy.weights, lazy.sums, lazy.steps
            loss += tree_step(*features, gold, starts, *rules, passive, size, lazy.shrink, step, *weights, scratch)
        return loss

    def tied(self, ties: Ties) -> TreeSteps:
        """Return the same sentences with shared weights: in place of each feature stand its group and its extra."""
        features = self.tree.features

        def shared(number: int) -> PartFeatures:
            ids, values, begins, ends = features(number)
            both, amounts = np.empty((len(ids), 2), dtype=np.int32), np.empty((len(ids), 2))
            both[:, 0], both[:, 1] = ties.group[ids], ties.extra[ids]
            amounts[:, 0] = values if len(values) else 1.0
            amounts[:, 1] = ties.value[ids] * amounts[:, 0]
            return PartFeatures(both.ravel(), amounts.ravel(), 2 * begins, 2 * ends)

        return TreeSteps(self.tree.with_features(shared, ties.n_tied))

    def _features(self, number: int) -> PartFeatures:
        # A step asks several times for the same sentence.
        if self._last is None or self._last[0] != number:
            self._last = int(number), self.tree.features(number)
        return self._last[1]

    def _prepared(self, order: np.ndarray) -> Iterator[tuple[int, PartFeatures]]:
        if self.tree.n_jobs == 1:
            yield from ((number, self.tree.features(number)) for number in order)
            return
        waiting: deque[tuple[int, Future[PartFeatures]]] = deque()
        with ThreadPoolExecutor(self.tree.n_jobs) as pool:
            for number in order:
                waiting.append((number, pool.submit(self.tree.features, number)))
                if len(waiting) > _AHEAD * self.tree.n_jobs:
                    ready, features = waiting.popleft()
                    yield ready, features.result()
            while waiting:
                ready, features = waiting.popleft()
                yield ready, features.result()
