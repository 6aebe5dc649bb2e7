"""A table as methods see it: its columns are learned once, and its rows encoded when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from handful.core.labels import Labels
from handful.core.records import Kind
from handful.features.tables import TableEncoder

if TYPE_CHECKING:
    import polars as pl


@dataclass(eq=False)
class EncodedTable:
    """Rows with labels, and an encoder for them.

    Parameters
    ----------
    frame : polars.DataFrame
        The rows.
    labels : Labels
        Their labels, encoded.
    encoder : TableEncoder
        Knows the columns.

    Examples
    --------
    >>> import polars as pl
    >>> from handful.core.labels import encode_labels
    >>> frame = pl.DataFrame({"size": [1.0, 3.0, 2.0]})
    >>> table = EncodedTable.learn(frame, {"size": "numeric"}, encode_labels(["a", "b", None]))
    >>> table[np.array([0, 1])].round(2).tolist()
    [[-1.22], [1.22]]
    """

    frame: pl.DataFrame
    labels: Labels
    encoder: TableEncoder

    @classmethod
    def learn(cls, frame: pl.DataFrame, kinds: Mapping[str, Kind], labels: Labels, *, text: Any = "lsa") -> Self:
        """Learn the columns from all rows; see `TableEncoder.learn`."""
        return cls(frame, labels, TableEncoder.learn(frame, kinds, text=text))

    @cached_property
    def everything(self) -> Any:
        """All rows, encoded."""
        return self.encoder.transform(self.frame)

    def __getitem__(self, rows: np.ndarray) -> Any:
        """Return some rows, encoded; all are encoded at once where that costs little more."""
        whole = len(rows) == self.frame.height
        # What was made of texts while their column was learned is still there for all rows.
        if whole or "everything" in self.__dict__ or "text" in self.encoder.kinds.values():
            return self.everything if whole and np.array_equal(rows, np.arange(len(rows))) else self.everything[rows]
        return self.encoder.transform(self.frame[rows])
