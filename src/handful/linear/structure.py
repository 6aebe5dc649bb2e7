"""Protocol of structured linear models, and structures whose features share weights."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

S = TypeVar("S")
T = TypeVar("T")


class Structure(Protocol):
    """Inputs whose outputs consist of parts with features, all at once or one at a time.

    Batch learners need `expected_counts` and `joint_features`, online learners the methods that take the number of an
    input, condensed features `argmax` and `joint_features`. The inputs are those of structured prediction: the score of an
    output is the product of the weights and its joint features (Tsochantaridis et al. 2005).
    """

    n_inputs: int
    n_features: int

    def argmax(self, weights: np.ndarray) -> np.ndarray:
        """Return the best output of every input."""
        ...

    def expected_counts(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the summed log partition and the expected count of every feature."""
        ...

    def joint_features(self, outputs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return features of parts and how much of each.

        Parameters
        ----------
        outputs : ndarray or None
            Count the parts of these outputs; with None all parts of every input, each with the weight that the parts of
            one output have among them (their number by the number of all parts).

        Returns
        -------
        ids : ndarray of int64
            Features; one may stand there several times.
        values : ndarray of float64
            Amounts.
        """
        ...

    def loss_augmented_argmax(self, number: int, weights: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the output of one input with the highest score plus cost against the right one, and that cost."""
        ...

    def joint_features_at(self, number: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of one output and their amounts."""
        ...

    def possible_features(self, number: int) -> np.ndarray:
        """Return every feature that any output of an input may have."""
        ...

    def take(self, number: int, outputs: np.ndarray) -> np.ndarray:
        """Return the output of one input out of those of all."""
        ...

    def in_order(self, order: np.ndarray) -> Iterable[int]:
        """Yield the numbers of inputs that are asked for one at a time next, perhaps prepared ahead in threads."""
        ...


def feature_counts(structure: Structure, outputs: np.ndarray | None = None) -> np.ndarray:
    """Add up `Structure.joint_features` feature by feature.

    Parameters
    ----------
    structure : Structure
        The inputs.
    outputs : ndarray or None
        Passed on.

    Returns
    -------
    ndarray of float64, shape (n_features,)
        Amount of each feature.

    Examples
    --------
    >>> from handful.linear.multiclass import Multiclass
    >>> feature_counts(Multiclass(np.array([[1.0, 2.0]]), 2), np.array([1])).tolist()
    [0.0, 1.0, 0.0, 2.0]
    """
    ids, values = structure.joint_features(outputs)
    return np.bincount(ids, weights=values, minlength=structure.n_features)


_AHEAD = 4  # results a thread that may wait for their turn


def map_ahead(function: Callable[[S], T], items: Iterable[S], n_threads: int) -> Iterator[T]:
    """Yield the results of a function in the order of the items, computed ahead in threads; 0 threads compute nothing ahead.

    Examples
    --------
    >>> list(map_ahead(abs, [-3, 2, -1], 2))
    [3, 2, 1]
    """
    if n_threads == 0:
        yield from map(function, items)
        return
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > _AHEAD * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@dataclass(frozen=True, eq=False)
class Ties:
    """Which weights the features of a structure have in common.

    Feature n has the weight ``w[group[n]] + value[n] * w[extra[n]]``.

    Parameters
    ----------
    n_tied : int
        Length of the weight vector w.
    group : ndarray of int64, shape (n_features,)
        Group of each feature.
    extra : ndarray of int64, shape (n_features,)
        Second weight of each feature.
    value : ndarray of float64, shape (n_features,)
        How much of it.

    Examples
    --------
    >>> ties = Ties(3, np.array([0, 1, 1]), np.array([2, 2, 2]), np.array([1.0, -2.0, -2.0]))
    >>> ties.spread(np.array([0.5, 0.0, 1.0])).tolist()
    [1.5, -2.0, -2.0]
    >>> ties.gather(np.array([1.0, 1.0, 1.0])).tolist()
    [1.0, 2.0, -3.0]
    """

    n_tied: int
    group: np.ndarray
    extra: np.ndarray
    value: np.ndarray

    def spread(self, weights: np.ndarray) -> np.ndarray:
        """Return the weight of every feature."""
        return np.asarray(weights[self.group] + self.value * weights[self.extra])

    def gather(self, amounts: np.ndarray) -> np.ndarray:
        """Add up amounts of features by what they share; the transpose of `spread`."""
        direct = np.bincount(self.group, weights=amounts, minlength=self.n_tied)
        return np.asarray(direct + np.bincount(self.extra, weights=amounts * self.value, minlength=self.n_tied))

    def tie(self, ids: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return amounts of features as amounts of what they share."""
        return (
            np.concatenate([self.group[ids], self.extra[ids]]),
            np.concatenate([values, values * self.value[ids]]),
        )


class Tied:
    """A structure seen through `Ties`; see `handful.linear.structure.Structure`.

    Parameters
    ----------
    structure : Structure
        The inputs.
    ties : Ties
        What their features share.

    Notes
    -----
    One at a time, only the features that an input can have are given their weights, so a step costs no more than decoding.

    Examples
    --------
    >>> from handful.linear.multiclass import Multiclass
    >>> ties = Ties(2, np.array([0, 0, 0, 0]), np.array([1, 1, 1, 1]), np.array([1.0, -1.0, -1.0, 1.0]))
    >>> rows = Tied(Multiclass(np.eye(2), 2), ties)
    >>> rows.argmax(np.array([0.0, 2.0])).tolist(), rows.n_features
    ([0, 1], 2)
    """

    def __init__(self, structure: Structure, ties: Ties) -> None:
        self.structure = structure
        self.ties = ties
        self.n_inputs = structure.n_inputs
        self.n_features = ties.n_tied
        self._weights = np.zeros(structure.n_features)
        self._reach: tuple[int, np.ndarray] | None = None

    def argmax(self, weights: np.ndarray) -> np.ndarray:
        """Return the best output of every input."""
        return self.structure.argmax(self.ties.spread(weights))

    def expected_counts(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the summed log partition and the expected amount of every tied feature."""
        log_partition, expected = self.structure.expected_counts(self.ties.spread(weights))
        return log_partition, self.ties.gather(expected)

    def joint_features(self, outputs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return tied features of parts and how much of each."""
        return self.ties.tie(*self.structure.joint_features(outputs))

    def loss_augmented_argmax(self, number: int, weights: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the output with the highest score plus cost against the right one, and that cost."""
        reach, ties = self._reach_of(number), self.ties
        self._weights[reach] = weights[ties.group[reach]] + ties.value[reach] * weights[ties.extra[reach]]
        return self.structure.loss_augmented_argmax(number, self._weights, gold)

    def joint_features_at(self, number: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the tied features of one output and their amounts."""
        return self.ties.tie(*self.structure.joint_features_at(number, output))

    def possible_features(self, number: int) -> np.ndarray:
        """Return every tied feature that any output of an input may have."""
        reach = self._reach_of(number)
        if len(reach) >= self.n_features:
            return np.arange(self.n_features)
        return np.concatenate([self.ties.group[reach], self.ties.extra[reach]])

    def take(self, number: int, outputs: np.ndarray) -> np.ndarray:
        """Return the output of one input out of those of all."""
        return self.structure.take(number, outputs)

    def in_order(self, order: np.ndarray) -> Iterable[int]:
        """Yield the numbers of inputs; see `Structure`."""
        return self.structure.in_order(order)

    def _reach_of(self, number: int) -> np.ndarray:
        if self._reach is None or self._reach[0] != number:
            self._reach = number, self.structure.possible_features(number).copy()
        return self._reach[1]


def rounded(weights: np.ndarray, fraction: float) -> np.ndarray:
    """Round weights to multiples of a fraction of their root mean square (over those that are not 0).

    Examples
    --------
    >>> rounded(np.array([3.0, 0.1, 0.0, -3.0]), 0.5).round(2).tolist()
    [2.45, 0.0, 0.0, -2.45]
    """
    active = weights[weights != 0.0]
    if not fraction or not len(active):
        return weights
    step = fraction * float(np.sqrt((active**2).mean()))
    return np.asarray(np.round(weights / step) * step + 0.0)  # no zero with a minus
