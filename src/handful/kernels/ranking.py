"""Ordinal labeling: waiting rows are taken by distance factor, labeled by their neighbors, and become neighbors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.kernels import njit
from handful.kernels.distances import TILE, WORTH_THREADS, Metric, Rows
from handful.kernels.nearest import Near
from handful.kernels.pool import Pool, leave, meet_parallel, meet_tiles, new_pool
from handful.kernels.votes import TIED, cast

CLOSE = 1e-9  # distance factors that differ by less are tied


@njit(cache=True)
def _first(pool: Pool, alive: int) -> int:
    """Return the slot with the smallest factor, of tied ones the slot of the lowest row."""
    n_tiles = (alive + TILE - 1) // TILE
    limit = pool.least[0]
    for t in range(n_tiles):
        limit = min(limit, pool.least[t])
    limit += CLOSE
    best = -1
    for t in range(n_tiles):
        if pool.least[t] <= limit:
            for b in range(TILE):
                slot = t * TILE + b
                if pool.factor[t, b] <= limit and (best < 0 or pool.row[slot] < pool.row[best]):
                    best = slot
    return best


@njit(cache=True)
def _confidence(near: Near, u: int, codes: np.ndarray, label: int) -> float:
    """Return CF(x): the part of the summed distances that belongs to agreeing neighbors, literally as printed."""
    agreeing, total, n_agreeing, m = 0.0, 0.0, 0, 0
    for e in range(near.distance.shape[1]):
        pos = near.pos[u, e, 0]
        if pos < 0:
            break
        m += 1
        total += near.distance[u, e]
        if codes[pos] == label:
            agreeing += near.distance[u, e]
            n_agreeing += 1
    return agreeing / total if total > 0.0 else n_agreeing / m


class Steps(NamedTuple):
    """What happened at each step; see `rank_and_label`."""

    taken: np.ndarray
    codes: np.ndarray
    confidence: np.ndarray
    factors: np.ndarray
    stored_at: np.ndarray
    parents: np.ndarray


def rank_and_label(
    rows: Rows,
    labeled: np.ndarray,
    labeled_codes: np.ndarray,
    waiting: np.ndarray,
    order: np.ndarray,
    near: Near,
    n_classes: int,
    metric: Metric,
    vote: int,
    sigma: float,
    min_confidence: float,
    batch: int,
    answers: np.ndarray,
) -> Steps:
    """Label the waiting rows one after the other.

    Parameters
    ----------
    rows : Rows
        All rows, dense.
    labeled : ndarray of int64
        Labeled rows, in the order of storing.
    labeled_codes : ndarray of int32
        Their codes.
    waiting : ndarray of int64
        Rows without a label, ascending.
    order : ndarray of int64
        Positions in `waiting` in the order of processing; empty for the order of the distance factor.
    near : Near
        Memory of the waiting rows, empty; its width is the number of neighbors.
    n_classes : int
        Number of classes.
    metric, vote
        See `handful.kernels.distances` and `handful.kernels.votes`.
    sigma : float
        Width of the kernel.
    min_confidence : float
        A row is stored with its prediction if its confidence reaches this.
    batch : int
        Rows taken between two updates; 1 is exact.
    answers : ndarray of int32
        Empty; or a code for every waiting row, stored with it instead of the prediction.

    Returns
    -------
    taken : ndarray of int64
        Positions in `waiting` in the order of processing.
    codes : ndarray of int32
        Prediction at each step.
    confidence, factors : ndarray of float64
        Confidence and distance factor at each step.
    stored_at : ndarray of int64
        Position in the store that the step's row was given, or -1 if it was not stored.
    parents : ndarray of int32
        Position in the store of the nearest voter for the prediction.
    """
    n_labeled, n = len(labeled), len(waiting)
    spread = 0.5 / (sigma * sigma)
    stored = np.empty(n_labeled + n, dtype=np.int64)
    stored_codes = np.empty(n_labeled + n, dtype=np.int32)
    stored[:n_labeled], stored_codes[:n_labeled] = labeled, labeled_codes
    steps = Steps(
        taken=np.empty(n, dtype=np.int64),
        codes=np.empty(n, dtype=np.int32),
        confidence=np.empty(n),
        factors=np.empty(n),
        stored_at=np.full(n, -1, dtype=np.int64),
        parents=np.empty(n, dtype=np.int32),
    )
    pool = new_pool(rows, waiting, n_classes)
    slot_of, share = np.arange(n), np.empty(n_classes)
    counts = np.array([0, n_labeled, n])  # stored rows that all have met, stored rows, waiting rows
    while counts[2] > 0:
        shown, n_stored, alive = counts.tolist()
        if _is_much(n_stored - shown, alive, rows.dense.shape[1]):
            meet_parallel(pool, alive, rows, stored, stored_codes, shown, n_stored, near, metric, spread)
            counts[0] = n_stored
        _label_alone(
            rows, stored, stored_codes, waiting, order, near, metric, vote, spread, min_confidence, batch, answers,
            pool, slot_of, share, counts, steps,
        )  # fmt: skip
    return steps


@njit(cache=True)
def _is_much(n_new: int, alive: int, n_columns: int) -> bool:
    return n_new * alive * n_columns > WORTH_THREADS


@njit(cache=True)
def _label_alone(
    rows: Rows, stored: np.ndarray, stored_codes: np.ndarray, waiting: np.ndarray, order: np.ndarray, near: Near,
    metric: Metric, vote: int, spread: float, min_confidence: float, batch: int, answers: np.ndarray,
    pool: Pool, slot_of: np.ndarray, share: np.ndarray, counts: np.ndarray, steps: Steps,
) -> None:  # fmt: skip
    """Label waiting rows until none is left, or so many are to be met that threads are worth it."""
    shown, n_stored, alive = counts[0], counts[1], counts[2]
    step = len(waiting) - alive
    while alive > 0:
        if shown < n_stored:
            if _is_much(n_stored - shown, alive, rows.dense.shape[1]):
                break
            n_tiles = (alive + TILE - 1) // TILE
            meet_tiles(0, n_tiles, pool, alive, rows, stored, stored_codes, shown, n_stored, near, metric, spread)
            shown = n_stored
        for _ in range(batch if batch < alive else alive):
            slot = _first(pool, alive) if len(order) == 0 else slot_of[order[step]]
            u = pool.row[slot]
            label, parent = cast(near, u, near.distance.shape[1], stored_codes, vote, False, share)
            steps.taken[step], steps.codes[step], steps.parents[step] = u, label, parent
            steps.factors[step] = pool.factor[slot // TILE, slot % TILE]
            confidence = _confidence(near, u, stored_codes, label)
            steps.confidence[step] = confidence
            if confidence >= min_confidence * (1.0 - TIED):
                stored[n_stored], stored_codes[n_stored] = waiting[u], answers[u] if len(answers) else label
                steps.stored_at[step] = n_stored
                n_stored += 1
            alive -= 1
            leave(pool, slot, alive, slot_of)
            step += 1
    counts[0], counts[1], counts[2] = shown, n_stored, alive
