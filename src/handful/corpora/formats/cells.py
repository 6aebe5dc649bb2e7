"""Rows of text tables (separated columns, JSON lines) as a frame of raw cells, with the line of every trouble."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, NoReturn

from handful.core.errors import FormatError
from handful.corpora.formats.shown import shown
from handful.corpora.formats.strict_json import parse_json
from handful.corpora.opening import MAX_LINE, FilePath, bare_suffix, read_lines

if TYPE_CHECKING:
    import polars as pl

MAX_TABLE = 2**31
"""Characters (or bytes of Parquet) that are too much for a table, which is held in memory."""

MAX_CELLS = 2 * 10**8
"""Cells that are too many."""

MAX_CELL = MAX_LINE
"""Characters of the longest cell of a separated table; a quote that is never closed is found out there at the latest."""

DELIMITED = (".csv", ".tsv", ".tab")
"""Endings of names that promise separated columns, be it a single one."""

_BATCH = 2**15
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
_DECIMAL = re.compile(r"[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?")
_QUOTED = re.compile('(?<![^,;\t])"(?:[^"]|"")*+("|$)')


def read_delimited(path: FilePath, *, one_column: bool) -> pl.DataFrame:
    r"""Read columns separated by commas, semicolons or tabs, with a header; all cells stay text.

    Parameters
    ----------
    path : path-like
        The file.
    one_column : bool
        Whether a header without any separator is a table of one column, and not a text that is no table.

    Returns
    -------
    polars.DataFrame
        Columns of strings.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("a;b\n1;x\n")
    >>> read_delimited(target, one_column=False).rows()
    [('1', 'x')]
    """
    import polars as pl

    return pl.concat(list(delimited_frames(path, one_column=one_column)))


def delimited_frames(path: FilePath, *, one_column: bool, bounded: bool = True) -> Iterator[pl.DataFrame]:
    r"""Read the same as `read_delimited`, some ten thousand rows at a time.

    Parameters
    ----------
    path, one_column
        As for `read_delimited`.
    bounded : bool
        Whether to refuse a file that is too large to be held in memory.

    Yields
    ------
    polars.DataFrame
        Columns of strings; at least one frame, which has no rows where the file has none.

    Notes
    -----
    The separator is the one that the header has most of (of equally many a tab before a semicolon before a comma);
    in a file named ``.tsv`` or ``.tab`` it is a tab wherever the header has one. Blank lines are skipped, but in a
    table of one column a blank line above a filled one is a row with an empty cell.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("a;b\n1;x\n")
    >>> [frame.shape for frame in delimited_frames(target, one_column=False)]
    [(1, 2)]
    """
    import polars as pl

    lines = _Numbered(path, bounded)
    header_line = next((line for line in lines if line.strip()), "")
    bare = _QUOTED.sub("", header_line)
    separator = "\t" if "\t" in bare and bare_suffix(path) in (".tsv", ".tab") else max("\t;,", key=bare.count)
    if separator not in bare and not one_column:
        raise FormatError(
            path, lines.number, "expected a table with columns separated by commas, semicolons or tabs, got one column."
        )
    rows = _rows(path, lines, header_line, separator)
    names = _check_header(path, lines.number, next(rows, []))
    batch: list[list[str]] = []
    size = max(1, _BATCH // max(1, len(names) // 100))
    n_rows = 0

    def packed() -> pl.DataFrame:
        if not batch:
            return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        cells = zip(*batch, strict=True)
        return pl.DataFrame([pl.Series(n, c, dtype=pl.String) for n, c in zip(names, cells, strict=True)])

    for row in _without_blank(rows, len(names)):
        if len(row) != len(names):
            raise FormatError(path, lines.number, f"expected {len(names)} columns as in the header, got {len(row)}.")
        batch.append(row)
        n_rows += 1
        if len(batch) == size:
            yield packed()
            batch = []
            if bounded and n_rows * len(names) > MAX_CELLS:
                lines.refuse_size(f"{MAX_CELLS:,} cells")
    if batch or n_rows == 0:
        yield packed()


class _Numbered:
    """Lines of a file that remembers the number of the last one."""

    def __init__(self, path: FilePath, bounded: bool = True) -> None:
        self._path = path
        self._lines = read_lines(path)
        self._bounded = bounded
        self._size = 0
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.number, line = next(self._lines)
        self._size += len(line)
        if self._bounded and self._size > MAX_TABLE:
            self.refuse_size(f"{MAX_TABLE:,} characters")
        return line + "\n"

    def refuse_size(self, limit: str) -> NoReturn:
        raise FormatError(self._path, self.number, f"expected a table of at most {limit}, got more.")


def _rows(path: FilePath, lines: _Numbered, first: str, separator: str) -> Iterator[list[str]]:
    start = lines.number
    record: list[str] = []

    def all_lines() -> Iterator[str]:
        record.append(first)
        yield first
        for line in lines:
            record.append(line)
            yield line

    # The limit of the csv module holds for the whole process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
    try:
        for row in csv.reader(all_lines(), delimiter=separator, strict=True):
            record.clear()
            yield row
            start = lines.number + 1
    except csv.Error as error:
        trouble = str(error)
        if "end of data" in trouble or "field limit" in trouble:
            end = "the end of the file" if "end of data" in trouble else f"more than {MAX_CELL:,} characters"
            number = start + _lines_before_last_cell("".join(record), separator)
            raise FormatError(
                path, number, f"expected a closing quote for the cell that opens here, got {end}."
            ) from None
        if "new-line character" in trouble:
            trouble = r"a carriage return (\r) outside quotes"
        raise FormatError(path, lines.number, f"expected cells with closed quotes, got an error ({trouble}).") from None


def _lines_before_last_cell(record: str, separator: str) -> int:
    """Count the lines of a record above that on which its last cell, whose quote is not closed, begins."""
    whole_cell = re.compile(f'("(?:[^"]|"")*+"|[^"{separator}][^{separator}]*+)?{separator}')
    place = 0
    while found := whole_cell.match(record, place):
        place = found.end()
    return record.count("\n", 0, place)


def _without_blank(rows: Iterable[list[str]], n_columns: int) -> Iterator[list[str]]:
    """Rows without blank lines, unless there is one column: then these are empty cells, but for those at the end."""
    blank = 0
    for row in rows:
        if not row:
            blank += n_columns == 1
            continue
        yield from repeat([""], blank)
        blank = 0
        yield row


def _check_header(path: FilePath, number: int, names: list[str]) -> list[str]:
    names = [name.strip() for name in names]
    if names and all(_NUMBER.fullmatch(name) for name in names):
        raise FormatError(
            path,
            number,
            f"expected names of columns, got only numbers ({shown(','.join(names))}), as if the header line were missing. Add one.",
        )
    n_decimals = sum(bool(_DECIMAL.fullmatch(name)) for name in names)
    seen: set[str] = set()
    for place, name in enumerate(names, start=1):
        if not name:
            raise FormatError(path, number, f"expected a name for every column, got none for column {place}. Name it.")
        if n_decimals > 1 and _DECIMAL.fullmatch(name):
            raise FormatError(path, number, f"expected names of columns, got the number {name}. Add a header line.")
        if name in seen:
            raise FormatError(path, number, f"expected each column name once, got {shown(name)} again.")
        seen.add(name)
    return names


def refuse_nameless(path: FilePath, names: Iterable[str]) -> None:
    """Raise if a column has no name.

    Parameters
    ----------
    path : path-like
        The file, for the message.
    names : iterable of str
        Names of all columns.

    Examples
    --------
    >>> refuse_nameless("a.parquet", ["x", "label"])
    """
    for place, name in enumerate(names, start=1):
        if not name.strip():
            raise FormatError(path, None, f"expected a name for every column, got none for column {place}. Name it.")


def read_json_lines(path: FilePath) -> pl.DataFrame:
    r"""Read one JSON object a line; a key that a line lacks is a missing cell.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    polars.DataFrame
        Columns in order of first appearance: truth values, integers, floats, or else strings.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = target.write_text('{"x": 1, "label": "a"}\n{"x": 2.5}\n')
    >>> read_json_lines(target).rows()
    [(1.0, 'a'), (2.5, None)]
    """
    import polars as pl

    return next(iter(json_line_frames(path, batch=None)), pl.DataFrame())


def json_line_frames(path: FilePath, *, batch: int | None = _BATCH) -> Iterator[pl.DataFrame]:
    """Read the same as `read_json_lines`, a number of rows at a time.

    Parameters
    ----------
    path : path-like
        The file.
    batch : int or None
        Rows of a frame; None reads all into one, and refuses a file that is too large for that.

    Yields
    ------
    polars.DataFrame
        With the columns that occur in these rows; at least one frame.
    """
    import polars as pl

    columns: dict[str, list[Any]] = {}
    n_rows = n_frames = 0
    lines = _Numbered(path, bounded=batch is None)

    def packed() -> pl.DataFrame:
        for column in columns.values():
            column.extend([None] * (n_rows - len(column)))
        return pl.DataFrame([_series(name, column) for name, column in columns.items()])

    for line in lines:
        if not line.strip():
            continue
        for name, value in _parse_object(path, lines.number, line).items():
            column = columns.setdefault(name, [])
            column.extend([None] * (n_rows - len(column)))
            column.append(value)
        n_rows += 1
        if batch is None and n_rows * len(columns) > MAX_CELLS:
            lines.refuse_size(f"{MAX_CELLS:,} cells")
        if n_rows == batch:
            yield packed()
            columns, n_rows, n_frames = {}, 0, n_frames + 1
    if not columns and n_frames == 0:
        raise FormatError(path, None, "expected JSON objects with columns, got none.")
    if n_rows:
        yield packed()


def _parse_object(path: FilePath, number: int, line: str) -> dict[str, Any]:
    found = parse_json(path, number, line)
    if not isinstance(found, dict):
        raise FormatError(path, number, f"expected a JSON object on each line, got {shown(line.strip())}.")
    for name, value in found.items():
        if isinstance(value, dict | list):
            raise FormatError(path, number, f"expected a plain value in column {shown(name)}, got a list or an object.")
        if not name.strip():
            raise FormatError(path, number, "expected a name for every column, got an empty one.")
    return found


def _series(name: str, values: list[Any]) -> pl.Series:
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(name, [None if value is None else _as_float(value) for value in values], dtype=pl.Float64)
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pl.Series(name, texts, dtype=pl.String)


def _as_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
