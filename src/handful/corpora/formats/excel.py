"""Workbooks (.xlsx): the sheet that holds most cells, with its names in the first filled row."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from handful.core.errors import FormatError
from handful.core.optional import require
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.frames import MAX_CELLS, read_bounded, refuse_size
from handful.corpora.formats.header import check_names, default_names, is_header, note_of
from handful.corpora.formats.parquet import write_whole
from handful.corpora.opening import FilePath, Source, as_source

if TYPE_CHECKING:
    import polars as pl

_LOOK = 200
_MIDNIGHT = " 00:00:00"
_FIRST_YEAR = 1900  # a time without a day is one of the day before it


def read_excel(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    """Read the largest sheet of a workbook; all cells are text, days without a time as in 2026-02-08.

    Parameters
    ----------
    path : path-like
        The workbook.
    bounded : bool
        Not used: a workbook is read as a whole in any case.

    Yields
    ------
    polars.DataFrame
        All rows of the sheet.

    Notes
    -----
    Blank rows and columns around the table are dropped. Where there are several sheets with cells, a note names the one
    that was read.
    """
    source = as_source(path)
    _, sheets = _filled_sheets(source)
    chosen = _largest(sheets)
    if len(sheets) > 1:
        source.notes.append(f"The workbook has {len(sheets)} sheets; {chosen.name!r}, the largest, was read.")
    if chosen.width * chosen.height > MAX_CELLS:
        refuse_size(path, None, f"{MAX_CELLS:,} cells")
    yield _named(source, chosen.to_polars())


def cell_types(path: FilePath) -> dict[str, Any]:
    """Tell which columns of a workbook hold numbers, dates or truth values, in all cells or none.

    Parameters
    ----------
    path : path-like
        The workbook.

    Returns
    -------
    dict of str to polars data type
        By name. Columns of text, and of text and numbers, are not there.
    """
    import polars as pl

    source = as_source(path)
    book, sheets = _filled_sheets(source)
    chosen = _largest(sheets)
    texts = chosen.to_polars()
    names = _named(source, texts).columns
    filled = [name for name in texts.columns if texts[name].null_count() < texts.height]
    top = int(texts.select(pl.any_horizontal(pl.all().is_not_null()).arg_max()).item())
    below = texts[top + 1 :]
    unsure = {name: "string" for name in texts.columns if below[name].null_count() == below.height}
    skipped = top + 1
    # Rows are skipped from the top of the sheet, cells are counted from the first that is filled.
    for _ in range(2):
        typed = book.load_sheet(
            chosen.name, header_row=None, skip_rows=skipped, schema_sample_rows=None, dtypes=unsure or None
        )
        skipped += typed.height - below.height
    if typed.height != below.height or typed.width != texts.width:
        return {}
    kinds = dict(zip(texts.columns, typed.to_polars().dtypes, strict=True))
    return {name: kinds[old] for name, old in zip(names, filled, strict=True) if kinds[old] != pl.String}


def with_numbers(path: FilePath, cells: pl.DataFrame) -> pl.DataFrame:
    """Return texts out of a workbook with the columns that are numbers there as such.

    Parameters
    ----------
    path : path-like
        The workbook.
    cells : polars.DataFrame
        What `read_excel` made of it.

    Returns
    -------
    polars.DataFrame
        The same rows; 55.125 in a column of numbers has no mark of thousands.
    """
    import polars as pl

    types = {name: kind for name, kind in cell_types(path).items() if kind.is_numeric() and name in cells.columns}
    filled = cells.select(pl.col(list(types)).replace({"": None}))
    return cells.with_columns(retyped(column, types[column.name]) for column in filled)


def retyped(cells: pl.Series, dtype: Any) -> pl.Series:
    """Return texts out of a workbook as what they were there, or as they are where one of them is something else.

    Parameters
    ----------
    cells : polars.Series
        Texts.
    dtype : polars data type
        What `cell_types` tells.

    Returns
    -------
    polars.Series
        Numbers, truth values, days, times of day, or days with a time.

    Examples
    --------
    >>> import polars as pl
    >>> retyped(pl.Series(["2", None, "0.5"]), pl.Float64).to_list(), retyped(pl.Series(["2", "?"]), pl.Float64).to_list()
    ([2.0, None, 0.5], ['2', '?'])
    """
    import polars as pl

    if dtype == pl.Boolean:
        typed = cells.replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean)
    elif dtype.is_temporal():
        typed = cells.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False)
        if typed.null_count() == len(typed):
            typed = cells.str.to_date("%Y-%m-%d", strict=False)
        elif (typed.dt.year().drop_nulls() < _FIRST_YEAR).all():
            typed = typed.dt.time()
    else:
        typed = cells.cast(dtype, strict=False)
        whole = typed.cast(pl.Int64, strict=False)
        typed = whole if (whole == typed).all() else typed
    return typed if typed.null_count() == cells.null_count() else cells


def _filled_sheets(source: Source) -> tuple[Any, list[Any]]:
    """Return a workbook, and its sheets that hold anything, read as text."""
    fastexcel = require("fastexcel", extra="excel", why="a workbook (.xlsx)")
    data = read_bounded(source)
    try:
        book = fastexcel.read_excel(data)
        sheets = [book.load_sheet(name, header_row=None, dtypes="string") for name in book.sheet_names]
    except (fastexcel.FastExcelError, OSError, ValueError):
        raise FormatError(source, None, "the workbook is damaged, or not of the .xlsx kind. Save it again.") from None
    sheets = [sheet for sheet in sheets if sheet.width and sheet.height]
    if not sheets:
        raise FormatError(source, None, "expected columns, got none.")
    return book, sheets


def _largest(sheets: list[Any]) -> Any:
    return max(sheets, key=lambda sheet: sheet.width * sheet.height)


def _named(source: Source, cells: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    cells = cells.select(column for column in cells.get_columns() if column.null_count() < cells.height)
    cells = cells.filter(pl.any_horizontal(pl.all().is_not_null()))
    rows = [["" if cell is None else cell for cell in row] for row in cells.head(_LOOK).iter_rows()]
    if is_header(rows[0], rows[1:]):
        names = check_names(source, None, rows[0])
        cells = cells[1:]
    else:
        names = default_names(cells.width)
        source.notes.append(note_of(cells.width))
    cells.columns = names
    at_midnight = pl.all().drop_nulls().str.ends_with(_MIDNIGHT).all()
    days = [column.name for column in cells.select(at_midnight).get_columns() if column[0]]
    return cells.with_columns(pl.col(days).str.strip_suffix(_MIDNIGHT)).fill_null("")


def write_excel(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames as a workbook of one sheet.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    frames : iterable of polars.DataFrame
        Rows; held in memory until all of them are there.
    """
    require("xlsxwriter", extra="excel", why="a workbook (.xlsx)")

    import polars as pl

    # Numbers are shown as they are: no three places after the point, no commas in years.
    shown: Any = {pl.Int64: "General", pl.Float64: "General"}

    def write(frame: pl.DataFrame, buffer: Any) -> None:
        frame.write_excel(io.BytesIO() if buffer is None else buffer, worksheet="rows", dtype_formats=shown)

    write_whole(path, frames, write)


def is_excel(head: Head) -> bool:
    """Tell a workbook by the archive that it is and a name of its parts, or by its name."""
    is_archive = head.data.startswith(b"PK\x03\x04")
    return is_archive and (head.suffix == ".xlsx" or b"[Content_Types].xml" in head.data or b"xl/" in head.data)


FORMAT = Format("excel", "table", is_excel, read_excel, write_excel, (".xlsx",), is_text=False)
