"""Rows of numbers that remember where their columns come from, and carry the words of their texts along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Span = tuple[int, int]


class Rows(np.ndarray):
    """A dense matrix of rows, with spans of columns by name and, beside it, counts of the words in the rows' texts.

    Everything that takes an array takes it; who knows more about text asks for `spans` and `words`. Choosing rows
    (``rows[numbers]``) keeps both; any other operation gives a plain array's worth of knowledge.

    Attributes
    ----------
    spans : dict of str to (int, int)
        First column and the one behind the last of ``"lsa"``, ``"letters"`` and ``"vectors"``.
    words : csr_matrix or None
        How often each word stands in the texts of each row.

    Examples
    --------
    >>> rows = Rows.of(np.arange(6.0).reshape(3, 2), {"lsa": (0, 2)}, None)
    >>> rows[[0, 2]].spans, rows[:, 0].spans
    ({'lsa': (0, 2)}, {})
    """

    spans: dict[str, Span]
    words: Any

    @classmethod
    def of(cls, matrix: np.ndarray, spans: Mapping[str, Span], words: Any) -> Rows:
        """Put a matrix and what is known of it together."""
        rows = np.asarray(matrix).view(cls)
        rows.spans, rows.words = dict(spans), words
        return rows

    def without(self, name: str) -> Rows:
        """Return the rows without the columns of a span; the same rows if there is none of that name.

        Examples
        --------
        >>> rows = Rows.of(np.arange(6.0).reshape(2, 3), {"vectors": (0, 2), "lsa": (2, 3)}, None)
        >>> rows.without("vectors").tolist(), rows.without("vectors").spans
        ([[2.0], [5.0]], {'lsa': (0, 1)})
        """
        if name not in self.spans:
            return self
        start, stop = self.spans[name]
        left = {
            other: (a - (stop - start) * (a >= stop), b - (stop - start) * (a >= stop))
            for other, (a, b) in self.spans.items()
            if other != name
        }
        return Rows.of(np.delete(np.asarray(self), slice(start, stop), axis=1), left, self.words)

    @classmethod
    def stack(cls, first: Rows, second: Rows) -> Rows:
        """Put rows of the same columns below each other."""
        from scipy import sparse

        words = None if first.words is None else sparse.csr_matrix(sparse.vstack([first.words, second.words]))
        return cls.of(np.vstack([np.asarray(first), np.asarray(second)]), first.spans, words)

    def __array_finalize__(self, obj: Any) -> None:
        self.spans, self.words = {}, None

    def __getitem__(self, key: Any) -> Any:
        chosen = super().__getitem__(key)
        if isinstance(chosen, Rows) and chosen.ndim == 2 and not isinstance(key, tuple):
            chosen.spans = self.spans
            chosen.words = None if self.words is None else self.words[key]
        return chosen

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows.of, (np.asarray(self), self.spans, self.words)
