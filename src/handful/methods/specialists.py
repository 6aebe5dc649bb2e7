"""How much say specialists have in a team, by their answers to labeled rows that they did not see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

N_FOLDS = 5
_WEIGHT_OF_EVIDENCE = 2.0  # answers that are mixed by their logarithms are less sure than they could be
_FULL_EVIDENCE = 40  # rows; fewer count the less, since the same few labels taught and judge
_QUIET = 0.3  # the share of members that speak as loudly as they like


@dataclass(frozen=True)
class Group:
    """Members of a team that answer together.

    Parameters
    ----------
    members : sequence of int
        Their places among all members.
    trust : float
        How much say they have before any row is answered; that of all groups adds up to 1.
    """

    members: Sequence[int]
    trust: float


def say_by_evidence(odds: np.ndarray, codes: np.ndarray, groups: Sequence[Group]) -> np.ndarray:
    """Return the weight of each member, from answers to rows that it did not see.

    Parameters
    ----------
    odds : ndarray of shape (n_members, n_rows, n_classes)
        Logarithms of the shares that each member gave to labeled rows.
    codes : ndarray of int, shape (n_rows,)
        Their classes.
    groups : sequence of Group
        Who answers with whom; a member may be in several.

    Returns
    -------
    ndarray of shape (n_members,)
        Weights, which add up to 1.

    Notes
    -----
    The answer of a group is the mean of the logarithms of its members' shares. Its say is its trust times the square of
    the probability that it gave to all labels, where there are 40 or more, and a lower power where there are fewer: a group
    must be far ahead of the others on twenty rows, or a little on hundreds, to be listened to alone.

    Examples
    --------
    >>> odds = np.log([[[0.5, 0.5]] * 20, [[0.9, 0.1]] * 20])
    >>> everyone, one = Group([0, 1], 0.9), Group([1], 0.1)
    >>> say_by_evidence(odds, np.zeros(20, dtype=int), [everyone, one]).round(2).tolist()
    [0.1, 0.9]
    >>> say_by_evidence(odds, np.ones(20, dtype=int), [everyone, one]).round(2).tolist()
    [0.5, 0.5]
    >>> say_by_evidence(odds[:, :5], np.zeros(5, dtype=int), [everyone, one]).round(2).tolist()
    [0.44, 0.56]
    """
    from scipy.special import log_softmax, softmax

    at = np.arange(len(codes))
    evidence = [float(log_softmax(odds[list(g.members)].mean(axis=0), axis=1)[at, codes].sum()) for g in groups]
    power = _WEIGHT_OF_EVIDENCE * min(1.0, len(codes) / _FULL_EVIDENCE)
    say = softmax(power * np.array(evidence) + np.log([group.trust for group in groups]))
    weights = np.zeros(len(odds))
    for group, share in zip(groups, say, strict=True):
        weights[list(group.members)] += share / len(group.members)
    return weights


def lowered_voices(odds: np.ndarray) -> np.ndarray:
    """Return by how much the answers of each member should be weakened, so that none drowns the others.

    Parameters
    ----------
    odds : ndarray of shape (n_members, n_rows, n_classes)
        Logarithms of the shares that each member gave to rows that it has no label of.

    Returns
    -------
    ndarray of shape (n_members,)
        Factors of the logarithms, at most 1.

    Notes
    -----
    How loud a member is, is the root mean square of its logarithms about their mean in each row. Those above the loudness
    that three of ten keep below are lowered to it. A method that learns from its own answers grows sure of them, right or
    wrong; forests of a few labels are never sure.

    Examples
    --------
    >>> quiet, loud = np.log([[0.6, 0.4]] * 3), np.log([[0.98, 0.02]] * 3)
    >>> lowered_voices(np.array([quiet, quiet, loud])).round(2).tolist()
    [1.0, 1.0, 0.1]
    """
    centered = odds - odds.mean(axis=2, keepdims=True)
    loudness = np.sqrt((centered**2).mean(axis=(1, 2)))
    allowed = np.quantile(loudness, _QUIET)
    return np.asarray(np.where(loudness > allowed, allowed / np.maximum(loudness, 1e-12), 1.0))


def label_folds(codes: np.ndarray, *, most: int, seed: int) -> Iterator[np.ndarray]:
    """Deal labeled rows into folds, class by class.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row; below 0 where there is no label.
    most : int
        Labeled rows that are dealt at most.
    seed : int
        Seed.

    Yields
    ------
    ndarray of int64
        Rows of a fold.

    Examples
    --------
    >>> [fold.tolist() for fold in label_folds(np.array([0, 0, -1, 1, 1]), most=10, seed=0)]
    [[0], [1], [3], [4]]
    """
    shuffled = np.random.default_rng(seed).permutation(np.flatnonzero(codes >= 0))[:most]
    dealt = shuffled[np.argsort(codes[shuffled], kind="stable")]
    for number in range(min(N_FOLDS, len(dealt))):
        yield np.sort(dealt[number::N_FOLDS])
