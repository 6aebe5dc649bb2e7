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


def read_excel(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    """Read the largest sheet of a workbook; all cells are text.

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
    fastexcel = require("fastexcel", extra="excel", why="a workbook (.xlsx)")
    source = as_source(path)
    data = read_bounded(source)
    try:
        book = fastexcel.read_excel(data)
        sheets = [book.load_sheet(name, header_row=None, dtypes="string") for name in book.sheet_names]
    except (fastexcel.FastExcelError, OSError, ValueError):
        raise FormatError(path, None, "the workbook is damaged, or not of the .xlsx kind. Save it again.") from None
    sheets = [sheet for sheet in sheets if sheet.width and sheet.height]
    if not sheets:
        raise FormatError(path, None, "expected columns, got none.")
    chosen = max(sheets, key=lambda sheet: sheet.width * sheet.height)
    if len(sheets) > 1:
        source.notes.append(f"The workbook has {len(sheets)} sheets; {chosen.name!r}, the largest, was read.")
    if chosen.width * chosen.height > MAX_CELLS:
        refuse_size(path, None, f"{MAX_CELLS:,} cells")
    yield _named(source, chosen.to_polars())


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
    return cells.fill_null("")


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

    def write(frame: pl.DataFrame, buffer: Any) -> None:
        frame.write_excel(io.BytesIO() if buffer is None else buffer, worksheet="rows")

    write_whole(path, frames, write)


def is_excel(head: Head) -> bool:
    """Tell a workbook by the archive that it is and a name of its parts, or by its name."""
    is_archive = head.data.startswith(b"PK\x03\x04")
    return is_archive and (head.suffix == ".xlsx" or b"[Content_Types].xml" in head.data or b"xl/" in head.data)


FORMAT = Format("excel", "table", is_excel, read_excel, write_excel, (".xlsx",), is_text=False)
