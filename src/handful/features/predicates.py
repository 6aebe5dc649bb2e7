"""What was observed at every token, as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Predicates:
    """Predicates of the tokens of many sentences.

    Predicates that depend on one word at one distance always fire together; they are kept once for each such word (a
    row), and a token names its rows. Other predicates are named by the token itself.

    Parameters
    ----------
    rows : ndarray of int32, shape (n_tokens, n_groups)
        Rows of each token.
    row_offsets, row_ids : ndarray
        Row r stands for the predicates ``row_ids[row_offsets[r]:row_offsets[r + 1]]``.
    direct : ndarray of int32, shape (n_tokens, n_direct)
        Further predicates of each token; -1 for none.
    offsets : ndarray of int64, shape (n_sentences + 1,)
        Sentence i has the tokens from ``offsets[i]`` to ``offsets[i + 1]``.

    Examples
    --------
    >>> rows, direct = np.array([[0], [1]], dtype=np.int32), np.array([[7], [-1]], dtype=np.int32)
    >>> found = Predicates(rows, np.array([0, 2, 3]), np.array([4, 5, 6], dtype=np.int32), direct, np.array([0, 2]))
    >>> found.ids.tolist()
    [[4, 5, 7], [6, -1, -1]]
    """

    rows: np.ndarray
    row_offsets: np.ndarray
    row_ids: np.ndarray
    direct: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, ids: np.ndarray, offsets: np.ndarray) -> Predicates:
        """Build from a plain matrix of predicates a token, -1 for none."""
        none = np.empty((len(ids), 0), dtype=np.int32)
        return cls(none, np.zeros(1, dtype=np.int64), none.ravel(), np.asarray(ids, dtype=np.int32), offsets)

    @property
    def ids(self) -> np.ndarray:
        """All predicates as a matrix, one line per token, filled up with -1."""
        counts = np.diff(self.row_offsets)
        parts = [self.direct]
        for column in self.rows.T[::-1]:
            widest = int(counts[column].max(initial=0))
            place = np.arange(widest)
            at = self.row_offsets[column][:, None] + place
            inside = place < counts[column][:, None]
            parts.insert(0, np.where(inside, np.append(self.row_ids, -1)[np.where(inside, at, -1)], -1))
        return np.concatenate(parts, axis=1).astype(np.int32)

    def only(self, wanted: np.ndarray) -> Predicates:
        """Return some predicates alone.

        Parameters
        ----------
        wanted : ndarray of bool, shape (n_predicates,)
            Which to keep.
        """
        flags = np.append(wanted, False)
        kept = flags[self.row_ids]
        row_offsets = np.concatenate([[0], np.cumsum(kept)])[self.row_offsets]
        filled = np.diff(row_offsets) > 0
        groups = [bool(filled[column].any()) for column in self.rows.T]
        direct = np.where(flags[self.direct], self.direct, np.int32(-1))
        used = (direct >= 0).any(axis=0)
        return Predicates(self.rows[:, groups], row_offsets, self.row_ids[kept], direct[:, used], self.offsets)
