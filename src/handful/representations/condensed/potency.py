"""Potency of features, and the bins it puts them into: the arithmetic of Suzuki, Isozaki & Nagata (2011)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from handful.core.params import Range

Discount = Annotated[float, Range(0, math.inf, open_high=True)]
Resolution = Annotated[float, Range(0, 1e9, open_low=True)]
"""Bins must fit into an integer of 64 bits."""
Step = Annotated[float, Range(1e-6, math.inf, open_high=True)]
"""So must base weights in steps."""

_LEAST = 1e-6
_TIED = 1e-9


def discounted(chosen: np.ndarray, even: np.ndarray, discount: float) -> np.ndarray:
    """Return the discounted potency V' of features.

    Parameters
    ----------
    chosen : ndarray of float64
        R: how much of each feature the model's own best outputs have.
    even : ndarray of float64
        A: how much there would be if outputs were picked evenly.
    discount : float
        C: features whose counts differ by no more than this have potency 0.

    Returns
    -------
    ndarray of float64
        The logarithm of the ratio of both, after the discount has moved `chosen` towards `even`.

    Notes
    -----
    With no discount a feature that is never chosen would have minus infinity; its count is taken as 1e-6 there. A
    feature that no output can have (even 0) has potency 0. A difference within 1e-9 (times `even`, where that is above
    1) of the discount counts as equal to it, so that the order of summation cannot show.

    Examples
    --------
    >>> discounted(np.array([10.0, 1.0, 5.0]), np.array([4.0, 6.0, 4.5]), 1.0).round(5).tolist()
    [0.81093, -1.09861, 0.0]
    """
    surplus, slack = chosen - even, _TIED * np.maximum(even, 1.0)
    potency = np.zeros(len(surplus))
    # V' = log(R - C) - log(A) where R - A > C, log(R + C) - log(A) where R - A < -C, and 0 between.
    more = (surplus > discount + slack) & (even > 0.0)
    less = (surplus < -discount - slack) & (even > 0.0)
    potency[more] = np.log(np.maximum(chosen[more] - discount, _LEAST)) - np.log(even[more])
    potency[less] = np.log(np.maximum(chosen[less] + discount, _LEAST)) - np.log(even[less])
    return potency


def quantized(potency: np.ndarray, resolution: float) -> np.ndarray:
    """Return the bin V* of each potency: rounded away from zero after scaling, so that only zero gives 0.

    Parameters
    ----------
    potency : ndarray of float64
        V'.
    resolution : float
        Bins per unit of potency.

    Returns
    -------
    ndarray of int64
        Bins. A value within 1e-9 of a whole number is that number.

    Examples
    --------
    >>> quantized(np.array([0.81093, -1.09861, 0.0]), 1.0).tolist()
    [1, -2, 0]
    >>> quantized(np.array([0.81093, -1.09861]), 10.0).tolist()
    [9, -11]
    """
    # V* = ceil(delta V') where V' > 0, floor(delta V') else.
    scaled = potency * resolution
    bins = np.where(scaled > 0.0, np.ceil(scaled - _TIED), np.floor(scaled + _TIED)).astype(np.int64)
    # A tiny potency must not be rounded to 0, for only potency 0 is dropped.
    lost = (bins == 0) & (potency != 0.0)
    bins[lost] = np.sign(potency[lost]).astype(np.int64)
    return bins


@dataclass(frozen=True, eq=False)
class Condensed:
    """Features put together by type, bin and level.

    Parameters
    ----------
    types, bins, levels : ndarray of int64, shape (n_condensed,)
        Type, bin and level of each condensed feature, rising by type, then by bin, then by level.
    member_of : ndarray of int64, shape (n_kept,)
        Condensed feature of each original feature that is kept.

    Examples
    --------
    >>> condensed = condense(np.array([1, 0, 1, 1]), np.array([2, -1, -3, 2]))
    >>> condensed.types.tolist(), condensed.bins.tolist(), condensed.member_of.tolist()
    ([0, 1, 1], [-1, -3, 2], [2, 0, 1, 2])
    >>> condensed = condense(np.array([1, 1, 1]), np.array([2, 2, 3]), np.array([0, -1, 0]))
    >>> condensed.levels.tolist(), condensed.pair_of.tolist(), condensed.firsts.tolist()
    ([-1, 0, 0], [0, 0, 1], [0, 2])
    """

    types: np.ndarray
    bins: np.ndarray
    levels: np.ndarray
    member_of: np.ndarray

    def __len__(self) -> int:
        return len(self.bins)

    @property
    def firsts(self) -> np.ndarray:
        """The first condensed feature of each pair of type and bin."""
        return np.unique(self.pair_of, return_index=True)[1]

    @property
    def pair_of(self) -> np.ndarray:
        """Number of each condensed feature's pair of type and bin."""
        if len(self) == 0:
            return np.empty(0, dtype=np.int64)
        new = (np.diff(self.types) != 0) | (np.diff(self.bins) != 0)
        return np.concatenate([[0], np.cumsum(new)])


def condense(types: np.ndarray, bins: np.ndarray, levels: np.ndarray | None = None) -> Condensed:
    """Put features of equal type, bin and level together.

    Parameters
    ----------
    types, bins : ndarray of int64
        Type and bin of each feature.
    levels : ndarray of int64, optional
        What else tells features of one bin apart; nothing by default.

    Returns
    -------
    Condensed
        The condensed features.
    """
    columns = [types.astype(np.int64), bins, np.zeros_like(bins) if levels is None else levels]
    values, codes = zip(*(np.unique(column, return_inverse=True) for column in columns), strict=True)
    shape = [max(len(distinct), 1) for distinct in values]
    keys, member_of = np.unique(np.ravel_multi_index(codes, shape), return_inverse=True)
    places = np.unravel_index(keys, shape)
    parts = [distinct[place] for distinct, place in zip(values, places, strict=True)]
    return Condensed(parts[0], parts[1], parts[2], member_of)
