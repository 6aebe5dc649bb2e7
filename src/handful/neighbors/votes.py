"""How neighbors vote: the options by name, the question to a store, and the choice of k by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from handful.kernels import distances, votes
from handful.kernels.distances import TILE, Metric, Rows
from handful.kernels.nearest import Near, catch_up, no_neighbors
from handful.kernels.votes import cast_all
from handful.neighbors.rows import distinct, n_rows, same_type, take

Vote = Literal["uniform", "distance", "gaussian", "rank", "dudani", "literal", "exponential"]
Ties = Literal["first", "all"]
MetricName = Literal["euclidean", "manhattan", "chebyshev", "minkowski"]

K_GRID = (1, 3, 5, 7, 9, 11, 15)
N_FOLDS = 5
_CHUNK = 4096
_CHUNK_CELLS = 1 << 24


@dataclass(frozen=True)
class Rule:
    """Who votes and with what weight, as the kernels take it.

    Examples
    --------
    >>> Rule.of("manhattan", 2.0, "rank", "all").all_ties
    True
    """

    metric: Metric
    vote: int
    all_ties: bool

    @classmethod
    def of(cls, metric: MetricName, p: float, vote: Vote, ties: Ties) -> Rule:
        """Build from the names of the options."""
        return cls(Metric(getattr(distances, metric.upper()), float(p)), getattr(votes, vote.upper()), ties == "all")


class Answer(NamedTuple):
    """What a store answers: for each row the winning code, its nearest voter's position, and all shares."""

    codes: np.ndarray
    positions: np.ndarray
    shares: np.ndarray


def look(stored: Rows, codes: np.ndarray, n_labels: int, rows: Rows, k: int, rule: Rule) -> Near:
    """Find the `k` nearest stored rows (or distances) of every row."""
    n, n_stored = n_rows(rows), n_rows(stored)
    near = no_neighbors(n, min(k, n_stored), n_labels, rule.all_ties)
    n_tiles = (n + TILE - 1) // TILE
    dense = np.zeros((n_tiles, rows.dense.shape[1], TILE))
    nominal = np.zeros((n_tiles, rows.nominal.shape[1], TILE), dtype=np.int32)
    catch_up(
        stored, np.arange(n_stored), codes, n_stored, rows, np.arange(n), np.zeros(n, dtype=np.int64), dense, nominal,
        near, rule.metric, rule.all_ties,
    )  # fmt: skip
    return near


def ask(stored: Rows, codes: np.ndarray, n_labels: int, rows: Rows, k: int, rule: Rule) -> Answer:
    """Let the stored rows vote on other rows.

    Parameters
    ----------
    stored : Rows
        The store, in the order of storing; not empty.
    codes : ndarray of int32
        Their codes.
    n_labels : int
        Number of labels.
    rows : Rows
        The rows in question; identical ones are asked once.
    k : int
        Number of neighbors, or of distinct distances.
    rule : Rule
        Who votes and how.

    Returns
    -------
    Answer
        One entry for each row.
    """
    stored, rows = same_type(stored, rows)
    first, which = distinct(rows)
    if len(first) < n_rows(rows):
        rows = take(rows, first)
    cells = min(k, n_rows(stored)) * (n_labels if rule.all_ties else 1)
    chunk = max(TILE, min(_CHUNK, _CHUNK_CELLS // cells))
    parts = []
    for start in range(0, len(first), chunk):
        part = take(rows, np.arange(start, min(start + chunk, len(first))))
        near = look(stored, codes, n_labels, part, k, rule)
        parts.append(cast_all(near, near.distance.shape[1], codes, n_labels, rule.vote, rule.all_ties))
    if not parts:
        return Answer(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty((0, n_labels)))
    return Answer(*(np.concatenate(column)[which] for column in zip(*parts, strict=True)))


def choose_k(rows: Rows, codes: np.ndarray, n_labels: int, rule: Rule, least: int = 1) -> int:
    """Choose the number of neighbors by 5-fold cross-validation of plain nearest neighbors on labeled rows.

    Parameters
    ----------
    rows, codes
        The labeled rows.
    n_labels : int
        Number of labels.
    rule : Rule
        Who votes and how.
    least : int
        The smallest number to try.

    Returns
    -------
    int
        The number with the most correct predictions; of equally good ones the smallest.

    Notes
    -----
    Folds need no random numbers: rows sorted by label are dealt out in turn, so every fold has its share of each label.
    """
    grid = [k for k in K_GRID if k >= least]
    n_folds = min(N_FOLDS, len(codes))
    if n_folds < 2:
        return grid[0]
    fold = np.empty(len(codes), dtype=np.int64)
    fold[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % n_folds
    correct = np.zeros(len(grid), dtype=np.int64)
    for f in range(n_folds):
        inside, outside = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        kept_codes = codes[inside]
        stored = take(rows, inside)
        for start in range(0, len(outside), _CHUNK):
            asked = outside[start : start + _CHUNK]
            near = look(stored, kept_codes, n_labels, take(rows, asked), grid[-1], rule)
            for g, k in enumerate(grid):
                width = min(k, near.distance.shape[1])
                winners, _, _ = cast_all(near, width, kept_codes, n_labels, rule.vote, rule.all_ties)
                correct[g] += np.count_nonzero(winners == codes[asked])
    return grid[int(correct.argmax())]
