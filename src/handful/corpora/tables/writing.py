"""Tables to files of any kind."""

from __future__ import annotations

import re
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


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows whose texts no spreadsheet takes for a formula: an apostrophe stands before what would begin one.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows.

    Returns
    -------
    polars.DataFrame
        The same with such cells and names of columns changed; numbers, also those in texts, stay as they are.

    Examples
    --------
    >>> import polars as pl
    >>> without_formulas(pl.DataFrame({"x": ["=1+1", "-2", "@a", "b"]}))["x"].to_list()
    ["'=1+1", '-2', "'@a", 'b']
    """
    import polars as pl

    formula = r"^\s*[=+\-@]|^[\t\r]"
    number = r"^\s*[+\-]?[0-9.,]+([eE][+\-]?[0-9]+)?\s*%?$"
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    cells = [
        pl.when(pl.col(name).str.contains(formula) & ~pl.col(name).str.contains(number))
        .then(pl.lit("'") + pl.col(name))
        .otherwise(pl.col(name))
        .alias(name)
        for name in texts
    ]
    return frame.with_columns(cells).rename({n: f"'{n}" for n in frame.columns if re.search(formula, n)})


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
