"""Tables to files of any kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from handful.core.errors import DataError
from handful.core.records import Table
from handful.corpora.formats import format_for
from handful.corpora.opening import FilePath

if TYPE_CHECKING:
    import polars as pl


def write_table(path: FilePath, table: Table) -> None:
    """Write a table; an unlabeled row gets an empty cell.

    Parameters
    ----------
    path : path-like
        The ending tells the format: ``.csv``, ``.tsv``, ``.jsonl``, ``.json``, ``.parquet``, ``.arrow`` or ``.xlsx``, with
        ``.gz``, ``.bz2`` or ``.xz`` after it to pack it.
    table : Table
        What to write.

    Raises
    ------
    ParameterError
        If the name has another ending.
    DataError
        If there are no columns, or infinite numbers are to go into JSON. NaN becomes a missing cell there.

    Examples
    --------
    >>> import pathlib, polars as pl, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> write_table(target, Table(pl.DataFrame({"x": [1, 2], "label": ["a", None]}), {"x": "numeric"}, "label"))
    >>> target.read_text().split()
    ['x,label', '1,a', '2,']
    """
    write_frames(path, [table.frame])


def write_frames(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write rows that come in pieces.

    Parameters
    ----------
    path : path-like
        As for `write_table`.
    frames : iterable of polars.DataFrame
        Pieces with the same columns; Parquet, Arrow and workbooks hold them in memory until the last one.

    Raises
    ------
    ParameterError
        If the name has another ending; before the first piece is asked for.
    """
    format = format_for(path, "table")

    def checked() -> Iterable[pl.DataFrame]:
        for frame in frames:
            if not frame.width:
                raise DataError("write_table: the table must have columns, got none.")
            yield frame

    assert format.write is not None, "format_for gives formats that can write"
    format.write(path, checked())
