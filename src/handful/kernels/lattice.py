"""Sums over all sentences of a length and all their labelings, for every length up to a longest, in one pass.

Observations are independent given the labels, so all words at a position act as one: ``emission[y]`` is the sum over the
vocabulary of the potentials of a word with label y. The lattice of length l is that of length l - 1 with one more step,
and may be closed after any step.

``weights[l - 1]`` says how much length l counts; the counts returned are the gradient of
``sum(weights * log_sums)`` with respect to log potentials.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handful.kernels import njit
from handful.kernels.clamped_pairs import PairCounts, PairPotentials

_SUMS = {"reassoc", "contract", "nsz"}


@dataclass(frozen=True, eq=False)
class Lattice:
    """What a forward pass leaves: rescaled sums, the scales, and the log sum of each length."""

    alpha: np.ndarray
    scale: np.ndarray
    ends: np.ndarray
    log_sums: np.ndarray


def chain_lattice(emission: np.ndarray, start: np.ndarray, pair: np.ndarray, stop: np.ndarray, longest: int) -> Lattice:
    """Sum over all sentences of 1 to `longest` words, first order.

    Parameters
    ----------
    emission, start, stop : ndarray of shape (labels,)
        Potentials of a label, of a first and of a last label.
    pair : ndarray of shape (labels, labels)
        Potential of the second label after the first.
    longest : int
        Longest length.

    Returns
    -------
    Lattice
        For `chain_lattice_counts`; ``log_sums[l - 1]`` is the log of the sum over sentences of l words.

    Examples
    --------
    >>> one, two = np.ones(2), np.ones((2, 2))
    >>> np.exp(chain_lattice(3 * one, one, two, one, 3).log_sums).round().tolist()
    [6.0, 36.0, 216.0]
    """
    alpha = np.empty((longest, len(start)))
    scale = np.empty(longest)
    for t in range(longest):
        alpha[t] = emission * (start if t == 0 else alpha[t - 1] @ pair)
        scale[t] = alpha[t].sum()
        alpha[t] /= scale[t]
    ends = alpha @ stop
    with np.errstate(divide="ignore", invalid="ignore"):
        return Lattice(alpha, scale, ends, np.cumsum(np.log(scale)) + np.log(ends))


def chain_lattice_counts(
    lattice: Lattice, emission: np.ndarray, pair: np.ndarray, stop: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return expected counts of labels, first labels, pairs and last labels, first order.

    Parameters
    ----------
    lattice : Lattice
        From `chain_lattice` with the same potentials.
    emission, pair, stop : ndarray
        See `chain_lattice`.
    weights : ndarray of shape (longest,)
        How much each length counts.

    Returns
    -------
    emission, start, pair, stop : ndarray
        Expected counts.

    Examples
    --------
    >>> one, two = np.ones(2), np.ones((2, 2))
    >>> lattice = chain_lattice(one, one, two, one, 2)
    >>> [c.tolist() for c in chain_lattice_counts(lattice, one, two, one, np.array([0.0, 1.0]))]
    [[1.0, 1.0], [0.5, 0.5], [[0.25, 0.25], [0.25, 0.25]], [0.5, 0.5]]
    """
    alpha = lattice.alpha
    labels, pairs = np.zeros_like(stop), np.zeros_like(pair)
    shares = weights / lattice.ends
    beta = np.zeros_like(stop)
    for t in range(len(alpha) - 1, -1, -1):
        if t + 1 < len(alpha):
            ahead = emission * beta / lattice.scale[t + 1]
            pairs += np.outer(alpha[t], ahead)
            beta = pair @ ahead
        beta = beta + shares[t] * stop
        labels += alpha[t] * beta
    return labels, alpha[0] * beta, pairs * pair, (shares @ alpha) * stop


def pair_lattice(potentials: PairPotentials, longest: int) -> Lattice:
    """Sum over all sentences of 1 to `longest` words, second order.

    Parameters
    ----------
    potentials : PairPotentials
        As for sentences, with one row of ``node``: the emissions.
    longest : int
        Longest length.

    Returns
    -------
    Lattice
        For `pair_lattice_counts`.

    Examples
    --------
    >>> one, two, three = np.ones(2), np.ones((2, 2)), np.ones((2, 2, 2))
    >>> potentials = PairPotentials(np.full((1, 2), 3.0), one, two, three, two, one)
    >>> np.exp(pair_lattice(potentials, 3).log_sums).round().tolist()
    [6.0, 36.0, 216.0]
    """
    p = potentials
    n_labels = len(p.start)
    alpha = np.zeros((longest, n_labels, n_labels))
    scale, ends = np.empty(longest), np.empty(longest)
    # the one label of the first position stands on the diagonal
    first = p.node[0] * p.start
    scale[0] = first.sum()
    np.fill_diagonal(alpha[0], first / scale[0])
    ends[0] = first @ p.stop / scale[0]
    _pair_forward(p.node[0], p.start_pair, p.triple, p.stop_pair, alpha, scale, ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Lattice(alpha, scale, ends, np.cumsum(np.log(scale)) + np.log(ends))


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _pair_forward(
    emission: np.ndarray,
    start_pair: np.ndarray,
    triple: np.ndarray,
    stop_pair: np.ndarray,
    alpha: np.ndarray,
    scale: np.ndarray,
    ends: np.ndarray,
) -> None:
    longest, n_labels, _ = alpha.shape
    for t in range(1, longest):
        total = 0.0
        for b in range(n_labels):
            row = alpha[t, b]
            if t == 1:
                for c in range(n_labels):
                    row[c] = alpha[0, b, b] * start_pair[b, c]
            else:
                for a in range(n_labels):
                    weight = alpha[t - 1, a, b]
                    for c in range(n_labels):
                        row[c] += weight * triple[b, a, c]
            for c in range(n_labels):
                row[c] *= emission[c]
                total += row[c]
        scale[t] = total
        end = 0.0
        for b in range(n_labels):
            for c in range(n_labels):
                alpha[t, b, c] /= total
                end += alpha[t, b, c] * stop_pair[b, c]
        ends[t] = end


def pair_lattice_counts(
    lattice: Lattice, potentials: PairPotentials, weights: np.ndarray
) -> tuple[np.ndarray, PairCounts]:
    """Return expected counts of labels, and of label sequences, second order.

    Parameters
    ----------
    lattice : Lattice
        From `pair_lattice` with the same potentials.
    potentials : PairPotentials
        The same potentials.
    weights : ndarray of shape (longest,)
        How much each length counts.

    Returns
    -------
    labels : ndarray of shape (labels,)
        Expected number of each label.
    counts : PairCounts
        Expected counts of the rest.

    Examples
    --------
    >>> one, two, three = np.ones(2), np.ones((2, 2)), np.ones((2, 2, 2))
    >>> potentials = PairPotentials(np.ones((1, 2)), one, two, three, two, one)
    >>> labels, counts = pair_lattice_counts(pair_lattice(potentials, 3), potentials, np.array([0.0, 0.0, 1.0]))
    >>> labels.round(9).tolist(), float(counts.triple.sum().round(9))
    ([1.5, 1.5], 1.0)
    """
    p = potentials
    n_labels = len(p.start)
    counts = PairCounts.zeros(n_labels)
    shares = weights / lattice.ends
    labels, beta = _pair_backward(lattice.alpha, lattice.scale, shares, p.node[0], p.triple, p.stop_pair, counts.triple)
    counts.triple[...] *= p.triple
    first = np.diagonal(lattice.alpha[0])
    if len(lattice.alpha) > 1:
        pairs = lattice.alpha[1] * beta
        counts.start_pair[...] = pairs
        counts.start[...] = pairs.sum(axis=1)
        counts.stop_pair[...] = np.tensordot(shares[1:], lattice.alpha[1:], 1) * p.stop_pair
    counts.stop[...] = shares[0] * first * p.stop
    counts.start[...] += counts.stop
    return labels + counts.start, counts


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _pair_backward(
    alpha: np.ndarray,
    scale: np.ndarray,
    shares: np.ndarray,
    emission: np.ndarray,
    triple: np.ndarray,
    stop_pair: np.ndarray,
    triple_counts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, without those of the first position, and beta of the second; triple counts lack their potentials."""
    longest, n_labels, _ = alpha.shape
    labels = np.zeros(n_labels)
    beta = np.zeros((n_labels, n_labels))
    ahead = np.zeros((n_labels, n_labels))
    for t in range(longest - 1, 0, -1):
        if t + 1 < longest:
            for b in range(n_labels):
                for c in range(n_labels):
                    ahead[b, c] = beta[b, c] * emission[c] / scale[t + 1]
        for a in range(n_labels):
            for b in range(n_labels):
                value = 0.0
                weight = alpha[t, a, b]
                for c in range(n_labels):
                    value += ahead[b, c] * triple[b, a, c]
                    triple_counts[b, a, c] += weight * ahead[b, c]
                beta[a, b] = value + shares[t] * stop_pair[a, b]
                labels[b] += weight * beta[a, b]
    return labels, beta
