"""A structure with some of its features only."""

from __future__ import annotations

from typing import Any

import numpy as np


class Subset:
    """A structure in which some features exist and all others have weight 0.

    Parameters
    ----------
    structure : Structure and Stepwise
        The inputs.
    ids : ndarray of int64
        The features that exist, rising; they are numbered anew from 0 on.

    Examples
    --------
    >>> from handful.linear.flat import Flat
    >>> rows = Subset(Flat(np.eye(2), 2), np.array([1, 2]))
    >>> rows.n_features, rows.best(np.array([1.0, 1.0])).tolist(), rows.parts(np.array([1, 0]))[0].tolist()
    (2, [1, 0], [0, 1])
    """

    def __init__(self, structure: Any, ids: np.ndarray) -> None:
        self.structure = structure
        self.ids = ids
        self.n_inputs = structure.n_inputs
        self.n_features = len(ids)
        self._weights = np.zeros(structure.n_features)
        self._place = np.full(structure.n_features, -1, dtype=np.int64)
        self._place[ids] = np.arange(len(ids))

    def best(self, weights: np.ndarray) -> np.ndarray:
        """Return the best output of every input."""
        return np.asarray(self.structure.best(self._all(weights)))

    def marginals(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the summed log partition and the expected count of every feature."""
        log_partition, expected = self.structure.marginals(self._all(weights))
        return log_partition, expected[self.ids]

    def parts(self, outputs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return features of parts and how much of each."""
        return self._some(*self.structure.parts(outputs))

    def best_at(self, number: int, weights: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the output with the highest score plus cost against the right one, and that cost."""
        reach = self.structure.reach_at(number)
        places = self._place[reach]
        self._weights[reach] = np.where(places >= 0, weights[places], 0.0)
        answer: tuple[np.ndarray, float] = self.structure.best_at(number, self._weights, gold)
        return answer

    def parts_at(self, number: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of one output and their amounts."""
        return self._some(*self.structure.parts_at(number, output))

    def reach_at(self, number: int) -> np.ndarray:
        """Return every feature that any output of an input may have."""
        places = self._place[self.structure.reach_at(number)]
        return np.asarray(places[places >= 0])

    def take(self, number: int, outputs: np.ndarray) -> np.ndarray:
        """Return the output of one input out of those of all."""
        return np.asarray(self.structure.take(number, outputs))

    def _all(self, weights: np.ndarray) -> np.ndarray:
        full = np.zeros(self.structure.n_features)
        full[self.ids] = weights
        return full

    def _some(self, ids: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = self._place[ids]
        return places[places >= 0], values[places >= 0]
