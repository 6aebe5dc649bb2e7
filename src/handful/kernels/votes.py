"""The vote of the nearest stored rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.kernels import njit
from handful.kernels.nearest import FARTHEST, Near

UNIFORM, DISTANCE, GAUSSIAN, RANK, DUDANI, LITERAL, EXPONENTIAL = range(7)
TIED = 1e-12  # masses that differ by less than this part of the larger are tied
_LN_1000 = np.log(1000.0)


@njit(cache=True)
def weight(vote: int, distance: float, nearest: float, farthest: float, rank: int, n_ranks: int) -> Any:
    """Weigh one voter; weights of one vote may share a common factor, which the share of the votes does not feel."""
    if vote == DISTANCE:
        if nearest == 0.0:
            return 1.0 if distance == 0.0 else 0.0
        return nearest / distance
    if vote == GAUSSIAN:
        if farthest == 0.0:
            return 1.0
        return np.exp(-_LN_1000 * (distance / farthest) ** 2)
    if vote == RANK:
        if n_ranks == 1:
            return 1.0
        return np.exp(-_LN_1000 * ((rank + 1) / n_ranks) ** 2)
    if vote == DUDANI:
        if farthest == nearest:
            return 1.0
        return (farthest - distance) / (farthest - nearest)
    if vote == LITERAL:
        return 1.0 if farthest == 0.0 else distance / farthest
    if vote == EXPONENTIAL:
        return np.exp(nearest - distance)
    return 1.0


@njit(cache=True, error_model="numpy")
def cast(
    near: Near, u: int, k: int, labels: np.ndarray, vote: int, all_ties: bool, share: np.ndarray
) -> tuple[int, int]:
    """Let the k nearest of row `u` vote.

    Parameters
    ----------
    near : Near
        The memory, at least `k` wide; something must be stored.
    u : int
        The row.
    k : int
        Number of neighbors, or of distinct distances.
    labels : ndarray of int32
        Code of each stored row.
    vote : int
        How voters are weighed: a code of this module.
    all_ties : bool
        See `handful.kernels.nearest`.
    share : ndarray of float64, shape (n_labels,)
        Receives the share of each label.

    Returns
    -------
    label, pos : int
        The winner, and the position in the store of the nearest voter for it. Of labels whose masses are equal up to
        rounding the one with the nearest voter wins.
    """
    known = near.distance[u]
    m = 0
    while m < k and known[m] <= FARTHEST:
        m += 1
    nearest, farthest = known[0], known[m - 1]
    for label in range(len(share)):
        share[label] = 0.0
    total = 0.0
    for e in range(m):
        w = weight(vote, known[e], nearest, farthest, e + 1, m)
        if all_ties:
            for label in range(len(share)):
                mass = w * near.counts[u, e, label]
                share[label] += mass
                total += mass
        else:
            share[labels[near.pos[u, e, 0]]] += w
            total += w
    most = share[0]
    for label in range(len(share)):
        most = max(most, share[label])
    enough = most * (1.0 - TIED)
    winner, winner_pos = -1, -1
    for e in range(m):
        for j in range(near.pos.shape[2]):
            pos = near.pos[u, e, j]
            if pos >= 0 and share[labels[pos]] >= enough and (winner_pos < 0 or pos < winner_pos):
                winner, winner_pos = labels[pos], pos
        if winner_pos >= 0:
            break
    for label in range(len(share)):
        share[label] /= total
    return winner, winner_pos


def cast_all(near: Near, k: int, labels: np.ndarray, n_labels: int, vote: int, all_ties: bool
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Let every row's neighbors vote; see `cast`.

    Returns
    -------
    winners : ndarray of int32
        Code of the winning label of each row.
    positions : ndarray of int32
        Position in the store of the nearest voter for it.
    shares : ndarray of shape (n_rows, n_labels)
        Share of the votes.
    """
    n = near.distance.shape[0]
    winners = np.empty(n, dtype=np.int32)
    positions = np.empty(n, dtype=np.int32)
    shares = np.empty((n, n_labels))
    _cast_rows(near, k, labels, vote, all_ties, winners, positions, shares)
    return winners, positions, shares


@njit(cache=True)
def _cast_rows(near: Near, k: int, labels: np.ndarray, vote: int, all_ties: bool, winners: np.ndarray,
               positions: np.ndarray, shares: np.ndarray) -> None:  # fmt: skip
    for u in range(len(winners)):
        winners[u], positions[u] = cast(near, u, k, labels, vote, all_ties, shares[u])
