"""Sequences of different lengths as one flat array with offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from handful.core.errors import DataError
from handful.core.schema import is_rising


@dataclass(frozen=True, eq=False)
class Ragged:
    """Many short arrays stored end to end.

    Parameters
    ----------
    values : ndarray
        All items, one sequence after the other along the first axis.
    offsets : ndarray of int64, shape (n + 1,)
        Sequence i is ``values[offsets[i]:offsets[i + 1]]``.

    Examples
    --------
    >>> r = Ragged.of([[1, 2], [], [3]])
    >>> len(r), r[0].tolist(), r.lengths.tolist()
    (3, [1, 2], [2, 0, 1])
    """

    values: np.ndarray
    offsets: np.ndarray

    def __post_init__(self) -> None:
        if np.asarray(self.offsets).dtype.kind not in "iu":
            raise DataError("Ragged: offsets must be integers.")
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        object.__setattr__(self, "offsets", offsets)
        if offsets.ndim != 1 or len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(self.values):
            raise DataError(f"Ragged: offsets must run from 0 to the number of values ({len(self.values)}).")
        if not is_rising(offsets, strictly=False):
            raise DataError("Ragged: offsets must never decrease.")

    @classmethod
    def of(
        cls, sequences: Iterable[Sequence[int] | Sequence[float] | np.ndarray], dtype: DTypeLike | None = None
    ) -> Ragged:
        """Build from a collection of sequences."""
        arrays = [np.asarray(s, dtype=dtype) for s in sequences]
        offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
        np.cumsum([len(a) for a in arrays], out=offsets[1:])
        filled = [a for a in arrays if len(a)]
        values = np.concatenate(filled) if filled else np.empty(0, dtype=dtype if dtype is not None else np.int64)
        return cls(values, offsets)

    @property
    def lengths(self) -> np.ndarray:
        """Length of each sequence."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> np.ndarray:
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[i] for i in range(len(self)))
