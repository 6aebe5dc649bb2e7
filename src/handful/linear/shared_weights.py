"""Structures whose features share weights: each feature has the weight of its group, plus a share of another weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from handful.linear.structure import Stepwise, Structure


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

    def parts(self, ids: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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

    Examples
    --------
    >>> from handful.linear.flat import Flat
    >>> ties = Ties(2, np.array([0, 0, 0, 0]), np.array([1, 1, 1, 1]), np.array([1.0, -1.0, -1.0, 1.0]))
    >>> rows = Tied(Flat(np.eye(2), 2), ties)
    >>> rows.best(np.array([0.0, 2.0])).tolist(), rows.n_features
    ([0, 1], 2)
    """

    def __init__(self, structure: Structure, ties: Ties) -> None:
        self.structure = structure
        self.ties = ties
        self.n_inputs = structure.n_inputs
        self.n_features = ties.n_tied

    def best(self, weights: np.ndarray) -> np.ndarray:
        """Return the best output of every input."""
        return self.structure.best(self.ties.spread(weights))

    def marginals(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the summed log partition and the expected amount of every tied feature."""
        log_partition, expected = self.structure.marginals(self.ties.spread(weights))
        return log_partition, self.ties.gather(expected)

    def parts(self, outputs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return tied features of parts and how much of each."""
        return self.ties.parts(*self.structure.parts(outputs))


class TiedSteps:
    """Inputs one at a time, seen through `Ties`; see `handful.linear.structure.Stepwise`.

    Parameters
    ----------
    steps : Stepwise
        The inputs.
    ties : Ties
        What their features share.

    Notes
    -----
    Only the features that an input can have are given their weights, so a step costs no more than decoding.

    Examples
    --------
    >>> from handful.linear import Flat, OnlineRule, train_online
    >>> ties = Ties(2, np.array([0, 0, 0, 0]), np.array([1, 1, 1, 1]), np.array([1.0, -1.0, -1.0, 1.0]))
    >>> rows = TiedSteps(Flat(np.eye(2), 2), ties)
    >>> train_online(rows, np.array([0, 1]), OnlineRule("pa"), max_passes=3).weights[1] > 0
    np.True_
    """

    def __init__(self, steps: Stepwise, ties: Ties) -> None:
        self.steps = steps
        self.ties = ties
        self.n_inputs = steps.n_inputs
        self.n_features = ties.n_tied
        self._weights = np.zeros(steps.n_features)
        self._reach: tuple[int, np.ndarray] | None = None

    def best_at(self, number: int, weights: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the output with the highest score plus cost against the right one, and that cost."""
        reach, ties = self._reach_of(number), self.ties
        self._weights[reach] = weights[ties.group[reach]] + ties.value[reach] * weights[ties.extra[reach]]
        return self.steps.best_at(number, self._weights, gold)

    def parts_at(self, number: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the tied features of one output and their amounts."""
        return self.ties.parts(*self.steps.parts_at(number, output))

    def reach_at(self, number: int) -> np.ndarray:
        """Return every tied feature that any output of an input may have."""
        reach = self._reach_of(number)
        if len(reach) >= self.n_features:
            return np.arange(self.n_features)
        return np.concatenate([self.ties.group[reach], self.ties.extra[reach]])

    def take(self, number: int, outputs: np.ndarray) -> np.ndarray:
        """Return the output of one input out of those of all."""
        return self.steps.take(number, outputs)

    def _reach_of(self, number: int) -> np.ndarray:
        if self._reach is None or self._reach[0] != number:
            self._reach = number, self.steps.reach_at(number).copy()
        return self._reach[1]


@runtime_checkable
class Tieable(Protocol):
    """Steps that know a faster way through `Ties` than `TiedSteps`; `handful.linear.tree_steps.TreeSteps` are such."""

    def tied(self, ties: Ties) -> Stepwise:
        """Return the same steps with the weights that `ties` tells of."""
        ...


def tie_steps(steps: Stepwise, ties: Ties) -> Stepwise:
    """Return inputs one at a time, seen through ties, in the fastest way there is.

    Parameters
    ----------
    steps : Stepwise
        The inputs.
    ties : Ties
        What their features share.

    Returns
    -------
    Stepwise
        What ``steps.tied`` returns if there is such a method, else `TiedSteps`.

    Examples
    --------
    >>> from handful.linear.flat import Flat
    >>> ties = Ties(2, np.array([0, 0, 0, 0]), np.array([1, 1, 1, 1]), np.array([1.0, -1.0, -1.0, 1.0]))
    >>> type(tie_steps(Flat(np.eye(2), 2), ties)).__name__
    'TiedSteps'
    """
    return steps.tied(ties) if isinstance(steps, Tieable) else TiedSteps(steps, ties)
