"""JSON lines: one object a line; a key that a line lacks is a missing cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from handful.core.errors import DataError, FormatError
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.frames import BATCH, MAX_CELLS, MAX_TABLE, refuse_size, series_of
from handful.corpora.formats.shown import shown
from handful.corpora.formats.strict_json import parse_json
from handful.corpora.opening import FilePath, read_lines, write_bytes

if TYPE_CHECKING:
    import polars as pl


def read_json_lines(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    r"""Read objects, some ten thousand at a time.

    Parameters
    ----------
    path : path-like
        The file.
    bounded : bool
        Whether to refuse a file that is too large to be held in memory; then all rows come in one frame.

    Yields
    ------
    polars.DataFrame
        Columns in order of first appearance: truth values, integers, floats, or else strings; at least one frame.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = target.write_text('{"x": 1, "label": "a"}\n{"x": 2.5}\n')
    >>> [frame.rows() for frame in read_json_lines(target)]
    [[(1.0, 'a'), (2.5, None)]]
    """
    columns: dict[str, list[Any]] = {}
    n_rows = n_frames = n_chars = 0
    for number, line in read_lines(path):
        if not line.strip():
            continue
        n_chars += len(line)
        add_object(path, number, parse_json(path, number, line), columns, n_rows)
        n_rows += 1
        if bounded:
            _check_size(path, number, n_chars, n_rows * len(columns))
        elif n_rows == BATCH:
            yield frame_of(columns, n_rows)
            columns, n_rows, n_frames = {}, 0, n_frames + 1
    if not columns and n_frames == 0:
        raise FormatError(path, None, "expected JSON objects with columns, got none.")
    if n_rows:
        yield frame_of(columns, n_rows)


def _check_size(path: FilePath, number: int, n_chars: int, n_cells: int) -> None:
    if n_chars > MAX_TABLE:
        refuse_size(path, number, f"{MAX_TABLE:,} characters")
    if n_cells > MAX_CELLS:
        refuse_size(path, number, f"{MAX_CELLS:,} cells")


def add_object(path: FilePath, number: int | None, row: Any, columns: dict[str, list[Any]], n_rows: int) -> None:
    """Add the values of an object to the columns, which hold so many rows already."""
    if not isinstance(row, dict):
        raise FormatError(path, number, f"expected a JSON object on each line, got {shown(str(row))}.")
    for name, value in row.items():
        if isinstance(value, dict | list):
            raise FormatError(path, number, f"expected a plain value in column {shown(name)}, got a list or an object.")
        if not name.strip():
            raise FormatError(path, number, "expected a name for every column, got an empty one.")
        column = columns.setdefault(name, [])
        column.extend([None] * (n_rows - len(column)))
        column.append(value)


def frame_of(columns: dict[str, list[Any]], n_rows: int) -> pl.DataFrame:
    """Return columns of values, filled up with missing cells, as a frame."""
    import polars as pl

    for column in columns.values():
        column.extend([None] * (n_rows - len(column)))
    return pl.DataFrame([series_of(name, column) for name, column in columns.items()])


def is_json_lines(head: Head) -> bool:
    """Tell whether a file holds JSON objects: by its first sign, or by its name."""
    return head.text.lstrip().startswith("{") or head.suffix in (".jsonl", ".ndjson")


def write_json_lines(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames as one JSON object a line; NaN becomes a missing cell.

    Parameters
    ----------
    path : path-like
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are packed.
    frames : iterable of polars.DataFrame
        Rows.

    Raises
    ------
    DataError
        If a number is infinite.
    """
    with write_bytes(path) as file:
        for frame in frames:
            for column in frame.get_columns():
                if column.dtype.is_float() and column.is_infinite().any():
                    raise DataError(
                        f"write_table: JSON has no infinite numbers, got one in column {shown(column.name)}. "
                        f"Name the file .csv or .parquet."
                    )
            frame.write_ndjson(file)


FORMAT = Format("json-lines", "table", is_json_lines, read_json_lines, write_json_lines, (".jsonl", ".ndjson"))
