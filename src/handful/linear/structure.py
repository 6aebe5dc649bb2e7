"""What a learner needs to know of a structure: its best output, its marginals, and the features of its parts."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np


class Structure(Protocol):
    """Inputs whose outputs consist of parts; `Flat` and `Chain` are such.

    Batch learners need `marginals` and `parts`, condensed features `best` and `parts`.
    """

    n_inputs: int
    n_features: int

    def best(self, weights: np.ndarray) -> np.ndarray:
        """Return the best output of every input."""
        ...

    def marginals(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the summed log partition and the expected count of every feature."""
        ...

    def parts(self, outputs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
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


class Stepwise(Protocol):
    """Inputs handed out one at a time, for online learners; `Flat` and `ChainSteps` do so."""

    n_inputs: int
    n_features: int

    def best_at(self, number: int, weights: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the output with the highest score plus cost against the right one, and that cost."""
        ...

    def parts_at(self, number: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of one output and their amounts."""
        ...

    def reach_at(self, number: int) -> np.ndarray:
        """Return every feature that any output of an input may have."""
        ...

    def take(self, number: int, outputs: np.ndarray) -> np.ndarray:
        """Return the output of one input out of those of all."""
        ...


class Lazy(NamedTuple):
    """Weights of an online learner, each brought up to date when it is read; see `handful.kernels.online`.

    Parameters
    ----------
    weights, sums : ndarray of float64
        Weights, and the sum of each over all steps.
    steps : ndarray of int64
        Step to which each weight is up to date.
    n_steps : int
        Steps made before.
    shrink : float
        How far each step pulls every weight towards zero.
    """

    weights: np.ndarray
    sums: np.ndarray
    steps: np.ndarray
    n_steps: int
    shrink: float


@runtime_checkable
class Sweeping(Protocol):
    """Inputs that make a whole pass of online learning themselves, faster than step by step; `TreeSteps` are such."""

    def sweep(self, order: np.ndarray, outputs: np.ndarray, lazy: Lazy, size: float, passive: bool) -> float:
        """Make a step for each input in order; return the summed loss.

        Parameters
        ----------
        order : ndarray of int64
            The inputs.
        outputs : ndarray
            Right outputs of all inputs.
        lazy : Lazy
            The weights; changed in place.
        size : float
            Size of a step.
        passive : bool
            Whether a step is the smallest that makes up for the loss, at most `size`.
        """
        ...


def counts(structure: Structure, outputs: np.ndarray | None = None) -> np.ndarray:
    """Add up `Structure.parts` feature by feature.

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
    >>> from handful.linear.flat import Flat
    >>> counts(Flat(np.array([[1.0, 2.0]]), 2), np.array([1])).tolist()
    [0.0, 1.0, 0.0, 2.0]
    """
    ids, values = structure.parts(outputs)
    return np.bincount(ids, weights=values, minlength=structure.n_features)
