"""Parquet and Excel tables."""

from __future__ import annotations

import io
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from handful.data.csv import (
    BATCH,
    MAX_CELLS,
    MAX_TABLE,
    default_names,
    read_bounded,
    refuse_cells,
    refuse_width,
    table_names,
)
from handful.data.files import CHUNK, FilePath, Source, as_source, shown, write_bytes
from handful.data.formats import Format, Head, format_for
from handful.errors import DataError, FormatError, require

if TYPE_CHECKING:
    import polars as pl

    from handful.data.table import Table


_TRY = """
import io, sys, polars
most, size = map(int, sys.argv[1:3])
lazy = polars.scan_parquet(sys.argv[3] if sys.argv[3:] else io.BytesIO(sys.stdin.buffer.read()))
rows = lazy.select(polars.len()).collect().item()
for start in range(0, rows if rows * len(lazy.collect_schema()) <= most else 0, size):
    frame = lazy.slice(start, size).collect()
    assert all(len(column) == len(frame) for column in frame.iter_columns())
"""


def _try_parquet(path: FilePath, place: Path | io.BytesIO, most: int, size: int) -> None:
    """Raise unless a process that reads all rows comes to its end; it reads nothing if there are too many cells.

    A damaged file can make polars panic, or ask for more memory than there is, and then the whole process is aborted. So a
    separate process reads the file first; that takes a sixth of a second, and as long as reading does.
    """
    name, data = ([str(place)], None) if isinstance(place, Path) else ([], place.getvalue())
    command = [sys.executable, "-P", "-c", _TRY, str(most), str(size), *name]
    if subprocess.run(command, input=data, capture_output=True, check=False).returncode:
        raise FormatError(path, None, "the Parquet data is damaged. Copy or write the file again.")


def read_parquet(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    """Read a Parquet file.

    Parameters
    ----------
    path : path-like
        The file.
    bounded : bool
        Whether to read it into memory as a whole, and to refuse what is too large for that.

    Yields
    ------
    polars.DataFrame
        Rows; at least one frame.
    """
    import polars as pl

    source = as_source(path)
    is_file = not source.is_compressed and not source.is_stream
    place = Path(source) if is_file and not bounded else io.BytesIO(read_bounded(source))
    most, size = (MAX_CELLS, MAX_TABLE) if bounded else (sys.maxsize, BATCH)
    _try_parquet(source, place, most, size)
    lazy = pl.scan_parquet(place)
    schema = lazy.collect_schema()
    _check_schema(source, schema)
    n_rows = lazy.select(pl.len()).collect().item()
    if bounded:  # a few bytes of Parquet can mean any number of equal cells
        refuse_cells(source, None, n_rows * len(schema))
    for start in range(0, max(n_rows, 1), size):
        yield lazy.slice(start, size).collect()


def _check_schema(path: FilePath, schema: Mapping[str, Any]) -> None:
    """Raise if a typed table has too many columns, one without a name, or one of lists, structures or raw bytes."""
    import polars as pl

    refuse_width(path, len(schema))
    for place, (name, dtype) in enumerate(schema.items(), start=1):
        if not name.strip():
            raise FormatError(path, None, f"expected a name for every column, got none for column {place}. Name it.")
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration):
            raise FormatError(path, None, f"expected plain values in column {shown(name)}, got {dtype}.")


def write_parquet(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames as Parquet; they are held in memory until all of them are there."""
    write_whole(path, frames, lambda frame, buffer: frame.write_parquet(buffer))


def write_whole(path: FilePath, frames: Iterable[pl.DataFrame], write: Any) -> None:
    """Write all frames as one, in a format that cannot be written row by row."""
    import polars as pl

    buffer = io.BytesIO()
    write(pl.concat(list(frames), how="vertical_relaxed"), buffer)
    with write_bytes(path) as file:
        file.write(buffer.getbuffer())


def is_parquet(head: Head) -> bool:
    """Whether a file has the mark of Parquet, or its name, so that a damaged file has the right message."""
    return head.data.startswith(b"PAR1") or head.suffix == ".parquet"


PARQUET_FORMAT = Format("parquet", "table", is_parquet, read_parquet, write_parquet, (".parquet",), is_text=False)


_LOOK = 200
_MOST_USED = 5 * 10**7  # cells between the first and the last of a sheet
_FAR = 2**31
_LONGEST_TAG = 256
_CELL = re.compile(rb'<(?:row|c)\b[^>]{0,200}?\br="([A-Z]*)([0-9]+)"')
_PLAIN_NUMBER = r"^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,17})?$"  # others may be codes
_FIRST_YEAR = 1900  # a time without a day is one of the day before it


def read_excel(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    """Read the largest sheet of a workbook; columns of numbers, dates or truth values keep their type.

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
    Empty rows and columns around the table are dropped. Where there are several sheets with cells, a note names the one
    that was read. The range of the cells that are there is measured before anything is read, whatever the sheet declares.
    """
    source = as_source(path)
    fastexcel = require("fastexcel", extra="excel", why="a workbook (.xlsx)")
    data = read_bounded(source)
    _check_used_range(source, data)
    try:
        book = fastexcel.read_excel(data)
        sheets = [book.load_sheet(name, header_row=None, dtypes="string") for name in book.sheet_names]
    except (fastexcel.FastExcelError, OSError, ValueError):
        raise FormatError(source, None, "the workbook is damaged, or not of the .xlsx kind. Save it again.") from None
    sheets = [sheet for sheet in sheets if sheet.width and sheet.height]
    if not sheets:
        raise FormatError(source, None, "no cells. Is this the right workbook?")
    largest = max(sheets, key=lambda sheet: sheet.width * sheet.height)
    if len(sheets) > 1:
        source.notes.append(f"The workbook has {len(sheets)} sheets; {largest.name!r}, the largest, was read.")
    cells = _named(source, largest.to_polars())
    yield cells.with_columns(_retyped(column) for column in cells.get_columns())


def _check_used_range(source: Source, data: bytes) -> None:
    """Raise if the cells of a sheet span more than can be held; a few far cells are enough for that."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                    with archive.open(name) as sheet:
                        _check_sheet(source, sheet)
    except FormatError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, OSError, RuntimeError, ValueError):
        raise FormatError(source, None, "the workbook is damaged, or not of the .xlsx kind. Save it again.") from None


def _check_sheet(source: Source, sheet: IO[bytes]) -> None:
    rows, columns = [_FAR, 0], [_FAR, 0]
    rest, n_bytes = b"", 0
    while chunk := sheet.read(CHUNK):
        n_bytes += len(chunk)
        rest += chunk
        for letters, digits in _CELL.findall(rest):
            row, column = int(digits[:9]), 0
            for letter in letters[:4]:
                column = 26 * column + letter - 64
            rows = [min(rows[0], row), max(rows[1], row)]
            columns = [min(columns[0], column), max(columns[1], column)]
        rest = rest[-_LONGEST_TAG:]
        if n_bytes > MAX_TABLE or (rows[1] - rows[0] + 1) * (columns[1] - columns[0] + 1) > _MOST_USED:
            raise FormatError(
                source,
                None,
                f"the cells of a sheet span more than {_MOST_USED:,} cells. Delete cells far from the table.",
            )


def _retyped(cells: pl.Series) -> pl.Series:
    """Return text as numbers, dates, times or truth values where all filled cells are such: a workbook is read as text."""
    import polars as pl

    filled = cells.drop_nulls()
    if not len(filled):
        return cells
    if filled.is_in(["true", "false"]).all():
        return cells == "true"
    if filled.str.contains(_PLAIN_NUMBER).all():
        return cells.cast(pl.Float64 if filled.str.contains(".", literal=True).any() else pl.Int64)
    for pattern in ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d"):
        dates = cells.str.to_datetime(pattern, strict=False)
        if dates.null_count() == cells.null_count():
            is_time = (dates.dt.year().drop_nulls() < _FIRST_YEAR).all()
            is_date = (dates.dt.time().drop_nulls() == time(0)).all()
            return dates.dt.time() if is_time else dates.dt.date() if is_date else dates
    return cells


def _named(source: Source, cells: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    cells = cells.select(column for column in cells.get_columns() if column.null_count() < cells.height)
    cells = cells.filter(pl.any_horizontal(pl.all().is_not_null()))
    rows = [["" if cell is None else cell for cell in row] for row in cells.head(_LOOK).iter_rows()]
    names = table_names(source, None, rows[0], rows[1:])
    cells = cells[1:] if names else cells
    cells.columns = names or default_names(cells.width)
    return cells


def write_excel(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames as a workbook of one sheet; they are held in memory until all of them are there."""
    require("xlsxwriter", extra="excel", why="a workbook (.xlsx)")

    import polars as pl

    # Numbers are shown as they are: no three places after the point, no commas in years.
    formats: Any = {pl.Int64: "General", pl.Float64: "General"}
    write_whole(path, frames, lambda frame, buffer: frame.write_excel(buffer, worksheet="rows", dtype_formats=formats))


def is_excel(head: Head) -> bool:
    """Whether a file is a zip archive with the parts of a workbook, or its name."""
    is_archive = head.data.startswith(b"PK\x03\x04")
    return is_archive and (head.suffix == ".xlsx" or b"[Content_Types].xml" in head.data or b"xl/" in head.data)


EXCEL_FORMAT = Format("excel", "table", is_excel, read_excel, write_excel, (".xlsx",), is_text=False)


def write_table(path: FilePath, table: Table) -> None:
    """Write the cells of a table.

    Parameters
    ----------
    path : path-like
        The ending chooses the format: ``.csv``, ``.tsv``, ``.jsonl``, ``.parquet`` or ``.xlsx``, with
        ``.gz``, ``.bz2`` or ``.xz`` after it to compress it.
    table : Table
        What to write.

    Raises
    ------
    ParameterError
        If the name has another ending.
    DataError
        If there are no columns, or infinite numbers are to go into JSON. NaN becomes a missing cell there.
    """
    write_frames(path, [table.cells])


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before texts and column names that a spreadsheet would take for a formula; numbers stay.

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
        Pieces with the same columns; Parquet and workbooks hold them in memory until the last one.

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
