"""How condensed features come by their weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from handful.linear.shared_weights import Ties
from handful.representations.condensed.potency import Condensed


@dataclass(frozen=True, eq=False)
class Tying:
    """What is learned of condensed features: a number for each pair of type and bin, then some that many of them share.

    The weight of a condensed feature is the number of its pair, plus its amount times its shared number: phi with the
    potency of its bin as the amount, or the trust in the base model with the rounded base weight.

    Parameters
    ----------
    condensed : Condensed
        The condensed features.
    amounts : ndarray of float64, shape (n_condensed,)
        How much of its shared number each has.
    n_types : int
        Feature types: each has a shared number of its own.
    one : bool
        Whether there is one shared number for all types instead.

    Examples
    --------
    >>> from handful.representations.condensed.potency import condense
    >>> condensed = condense(np.array([0, 0, 1]), np.array([2, 2, -1]), np.array([0, 3, 0]))
    >>> tying = Tying(condensed, np.array([0.0, 0.3, 0.0]), 2, False)
    >>> tying.n_pairs, tying.n_tied
    (2, 4)
    >>> tying.fold(np.array([1.0, 2.0, 10.0, 20.0])).tolist()
    [1.0, 4.0, 2.0]
    """

    condensed: Condensed
    amounts: np.ndarray
    n_types: int
    one: bool

    @cached_property
    def pair_of(self) -> np.ndarray:
        """Pair of each condensed feature."""
        return self.condensed.pair_of

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.pair_of[-1]) + 1 if len(self.pair_of) else 0

    @property
    def n_tied(self) -> int:
        """Number of all that is learned."""
        return self.n_pairs + (1 if self.one else self.n_types)

    def ties(self, group: np.ndarray) -> Ties:
        """Return the ties of original features, given the condensed feature of each."""
        return Ties(self.n_tied, self.pair_of[group], self.n_pairs + self._shared[group], self.amounts[group])

    def fold(self, weights: np.ndarray) -> np.ndarray:
        """Return the weight of each condensed feature."""
        # w'_m = w_m + w_phi u_m / delta, where the amount is u_m / delta.
        return np.asarray(weights[self.pair_of] + self.shares(weights[self.n_pairs :]))

    def shares(self, shared: np.ndarray) -> np.ndarray:
        """Return what the shared numbers add to each condensed feature."""
        return np.asarray(shared[self._shared] * self.amounts)

    @cached_property
    def _shared(self) -> np.ndarray:
        return np.zeros_like(self.condensed.types) if self.one else self.condensed.types
