"""Random draws that the generated samples share: one source of randomness, weighted pools, Zipf's law."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

import numpy as np

from handful.core.errors import ParameterError

T = TypeVar("T")

RandomState = int | np.random.Generator | np.random.RandomState | None


def generator(who: str, random_state: RandomState) -> np.random.Generator:
    """Return numpy's generator for a seed, or the generator that was passed.

    Parameters
    ----------
    who : str
        Name of the function that asks, for the error message.
    random_state : int, Generator, RandomState or None
        The seed; None draws a fresh one.

    Returns
    -------
    numpy.random.Generator
        Where all randomness of one sample comes from.

    Examples
    --------
    >>> generator("doc", 7).integers(100) == generator("doc", 7).integers(100)
    np.True_
    """
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{who}: random_state must be None, a non-negative integer or a numpy generator, got {random_state!r}."
        ) from None


def source(who: str, random_state: RandomState) -> random.Random:
    """Return a source of single draws; for these the standard library is far quicker than numpy.

    Parameters
    ----------
    who : str
        Name of the function that asks, for the error message.
    random_state : int, Generator, RandomState or None
        The seed; None draws a fresh one.

    Returns
    -------
    random.Random
        Seeded from `random_state`.

    Examples
    --------
    >>> source("doc", 7).random() == source("doc", 7).random()
    True
    """
    return random.Random(int(generator(who, random_state).integers(2**63)))


def check_count(who: str, name: str, value: int, least: int = 0) -> None:
    """Raise if a number of things to make is no integer of at least `least`.

    Parameters
    ----------
    who, name : str
        The function and its parameter, for the error message.
    value : int
        What was passed.
    least : int, default=0
        Smallest legal value.

    Examples
    --------
    >>> check_count("make_things", "n_things", 3)
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{who}: {name} must be an integer of at least {least}, got {value!r}.")


def zipf(n: int, exponent: float = 1.0, shift: float = 2.0) -> list[float]:
    """Return the weights ``1 / (rank + shift) ** exponent`` of `n` ranks (Zipf's law in Mandelbrot's form).

    Parameters
    ----------
    n : int
        Number of ranks.
    exponent, shift : float
        Steepness of the tail, flatness of the head.

    Returns
    -------
    list of float
        Weights that fall with the rank; not normalized.

    Examples
    --------
    >>> zipf(3, shift=0.0)
    [1.0, 0.5, 0.3333333333333333]
    """
    return [(rank + shift) ** -exponent for rank in range(1, n + 1)]


class Pool(Generic[T]):
    """Things to draw from, each with a weight.

    Parameters
    ----------
    items : iterable
        What can be drawn.
    weights : sequence of float or None
        As long as `items`; None means equal weights.

    Examples
    --------
    >>> Pool(["a", "b"], [1.0, 0.0]).pick(random.Random(0))
    'a'
    """

    __slots__ = ("_cumulative", "items")

    def __init__(self, items: Iterable[T], weights: Sequence[float] | None = None) -> None:
        self.items = tuple(items)
        self._cumulative = list(accumulate(weights or [1.0] * len(self.items)))

    def pick(self, rng: random.Random) -> T:
        """Draw one item.

        Parameters
        ----------
        rng : random.Random
            Source of randomness.

        Returns
        -------
        object
            One of `items`.
        """
        return self.items[bisect_right(self._cumulative, rng.random() * self._cumulative[-1])]
