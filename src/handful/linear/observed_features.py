"""The features of one kind (with labels, or with label pairs) of a chain, ready for fast sums over tokens."""

from __future__ import annotations

import numpy as np

from handful.features import Predicates
from handful.kernels.chain_features import (
    add_from_rows,
    add_to_rows,
    count_block,
    count_dense,
    merge_rows,
    score_block,
    score_dense,
)

_MOST_DENSE = 40


class Side:
    """Predicates of tokens together with the features of one kind.

    Parameters
    ----------
    observed : Predicates
        What was observed at each token.
    offsets, targets : ndarray
        Features of each predicate; see `handful.kernels.chain_features`.
    skip : int
        First position of a sentence that has such features.

    Attributes
    ----------
    used : ndarray of int64
        Targets that any feature has, rising; scores and marginals hold these alone.

    Notes
    -----
    With few targets, all rows become lines of one dense table; with many, rows stay sparse unless they have a third of
    all targets.

    Examples
    --------
    >>> observed = Predicates.of(np.array([[0], [-1]]), np.array([0, 2]))
    >>> side = Side(observed, np.array([0, 1]), np.array([1], dtype=np.int32), 0)
    >>> scores = np.zeros((2, 1, 1))
    >>> side.score(np.array([0]), np.array([2]), np.array([5.0]), side.merge(np.array([5.0])), scores)
    >>> side.used.tolist(), scores[:, :, 0].tolist()
    ([1], [[5.0], [0.0]])
    """

    def __init__(self, observed: Predicates, offsets: np.ndarray, targets: np.ndarray, skip: int) -> None:
        self.observed = observed
        self.skip = skip
        there = np.zeros(int(targets.max(initial=-1)) + 1, dtype=bool)
        there[targets] = True
        self.used = np.flatnonzero(there)
        self._offsets, self._targets = offsets, (np.cumsum(there, dtype=np.int32) - 1)[targets]
        self._dense = len(self.used) <= _MOST_DENSE
        rows, row_offsets, row_ids, direct = observed.rows, observed.row_offsets, observed.row_ids, observed.direct
        if self._dense:
            rows, row_offsets, row_ids = _as_rows(observed, len(offsets) - 1)
            direct = direct[:, :0]
            merged_offsets, merged_targets = np.arange(len(row_offsets)) * len(self.used), self._targets[:0]
        else:
            third = -(-len(self.used) // 3)
            merged_offsets, merged_targets = merge_rows(
                row_offsets, row_ids, offsets, self._targets, len(self.used), third
            )
        self._row_offsets, self._row_ids = row_offsets, row_ids
        self._merged_offsets, self._merged_targets = merged_offsets, merged_targets
        self.n_merged = int(merged_offsets[-1])
        self._rows, self._direct = np.ascontiguousarray(rows), np.ascontiguousarray(direct)

    @property
    def fires(self) -> bool:
        """Whether any feature of this kind can fire."""
        return len(self.used) > 0 and self._rows.shape[1] + self._direct.shape[1] > 0

    def merge(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights of merged rows."""
        merged = np.zeros(self.n_merged)
        add_to_rows(*self._rows_and_features(), weights, merged)
        return merged

    def unmerge(self, merged_counts: np.ndarray, counts: np.ndarray) -> None:
        """Add the counts of merged rows to those of their features; the reverse of `merge`."""
        add_from_rows(*self._rows_and_features(), merged_counts, counts)

    def _rows_and_features(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
        features = self._offsets, self._targets, self._merged_offsets, self._merged_targets
        return self._row_offsets, self._row_ids, *features, len(self.used)

    def score(
        self, first_rows: np.ndarray, lengths: np.ndarray, weights: np.ndarray, merged: np.ndarray, scores: np.ndarray
    ) -> None:
        """Add up the weights at each position of a block; see `score_block`."""
        block = first_rows, lengths
        if self._dense:
            score_dense(self._rows, *block, merged.reshape(-1, len(self.used)), self.skip, scores)
            return
        score_block(self._rows, *block, self._merged_offsets, self._merged_targets, merged, self.skip, scores)
        score_block(self._direct, *block, self._offsets, self._targets, weights, self.skip, scores)

    def count(
        self,
        first_rows: np.ndarray,
        lengths: np.ndarray,
        marginals: np.ndarray,
        counts: np.ndarray,
        merged_counts: np.ndarray,
    ) -> None:
        """Add expected counts under the marginals of a block; see `count_block`."""
        block = first_rows, lengths
        if self._dense:
            count_dense(self._rows, *block, marginals, self.skip, merged_counts.reshape(-1, len(self.used)))
            return
        count_block(self._rows, *block, self._merged_offsets, self._merged_targets, marginals, self.skip, merged_counts)
        count_block(self._direct, *block, self._offsets, self._targets, marginals, self.skip, counts)


def _as_rows(observed: Predicates, n_predicates: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give every direct predicate a row of its own, and one empty row to the tokens that have none."""
    n_rows = len(observed.row_offsets) - 1
    seen = np.zeros(n_predicates + 1, dtype=bool)
    seen[observed.direct] = True
    own = np.flatnonzero(seen[:-1])
    number = np.full(n_predicates + 1, n_rows + len(own), dtype=np.int32)
    number[own] = n_rows + np.arange(len(own))
    rows = np.concatenate([observed.rows, number[observed.direct]], axis=1)
    end = observed.row_offsets[-1]
    offsets = np.concatenate([observed.row_offsets, end + np.arange(1, len(own) + 1), [end + len(own)]])
    return rows, offsets, np.concatenate([observed.row_ids, own.astype(np.int32)])
