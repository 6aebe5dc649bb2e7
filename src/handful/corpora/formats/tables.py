"""Tables: CSV, TSV, JSON lines and Parquet, with the kind of each column told by a plain rule."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from handful.core.errors import DataError, FormatError, ParameterError
from handful.core.records import Kind, Table
from handful.corpora.formats.cells import (
    DELIMITED,
    MAX_CELLS,
    MAX_TABLE,
    read_delimited,
    read_json_lines,
    refuse_nameless,
)
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, bare_suffix, open_bytes, refuse_mark, write_bytes

if TYPE_CHECKING:
    import polars as pl

_MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null")
_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
_LEADING_ZERO = r"^[+-]?0[0-9]"
_DECIMAL_COMMA = r"^[+-]?[0-9]+(,[0-9]+)?$"
_BLOCK = 256  # columns that one query treats; more queries cost time, fewer cost memory


def read_table(
    path: FilePath,
    target: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    unlabeled_marks: Sequence[str] = (),
) -> Table:
    r"""Read a table of rows with named columns.

    Parameters
    ----------
    path : path-like
        Parquet and JSON lines are told by content, everything else is read as columns with a header line, separated
        by commas, semicolons or tabs (whichever the header has most of; in ``.tsv`` and ``.tab`` tabs, if it has one).
        gzip, bzip2 and xz are unpacked.
    target : str or None
        Column of labels. An empty cell or NaN there is an unlabeled row. Labels that are all whole numbers are integers;
        others stay as they stand in the file.
    kinds : mapping of str to {"numeric", "nominal", "text"} or None
        Kinds of feature columns that override the rule below.
    unlabeled_marks : sequence of str
        Labels that mean unlabeled too, such as ``"?"``.

    Returns
    -------
    Table
        With one kind for each feature column.

    Raises
    ------
    FormatError
        If rows are ragged (``path:line:``), names come twice, are all numbers, so that the header seems to be missing,
        the target is not there, or there are no rows.

    Warns
    -----
    UserWarning
        If a column has nothing but numbers with a decimal comma: it is read as nominal, since ``1,234`` may as well be
        one thousand and more. Write a decimal point, or give the kind of the column.

    Notes
    -----
    A feature column is *numeric* if every cell is a number or missing (empty, ``?``, ``NA``, ``N/A``, ``NaN``,
    ``nan``, ``null``) and no number has a leading zero, as codes have. Another column is *text* if its cells have
    three or more words on average and more than half of them differ; all else is *nominal*. In nominal and text
    columns only an empty cell is missing. Blanks around cells do not count. In a table of one column, a blank line
    above a filled one is a missing cell.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("size,color,label\n1.5,red,1\n2,blue,\n")
    >>> table = read_table(target, "label")
    >>> table.kinds, table.labels.tolist()
    ({'size': 'numeric', 'color': 'nominal'}, [1, None])
    """
    return table_of(path, _read_frame(path), target, kinds, unlabeled_marks)


def table_of(
    path: FilePath,
    frame: pl.DataFrame,
    target: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    unlabeled_marks: Sequence[str] = (),
) -> Table:
    """Make a table of a frame of raw cells, by the rules of `read_table`.

    Parameters
    ----------
    path : path-like
        Where the cells came from, for errors and for the name of the table.
    frame : polars.DataFrame
        The cells.
    target, kinds, unlabeled_marks
        As for `read_table`.

    Returns
    -------
    Table
        With one kind for each feature column.

    Examples
    --------
    >>> import polars as pl
    >>> table_of("a.csv", pl.DataFrame({"x": ["1", "?"], "label": ["a", ""]}), "label").kinds
    {'x': 'numeric'}
    """
    if frame.width == 0:
        raise FormatError(path, None, "expected columns, got none.")
    if frame.height == 0:
        raise FormatError(path, None, "expected rows below the header, got none.")
    wanted = dict(kinds or {})
    for name, kind in wanted.items():
        if kind not in get_args(Kind):
            raise ParameterError(f"read_table: a kind must be one of {', '.join(get_args(Kind))}, got {shown(kind)}.")
        _check_column(path, frame, name)
    if target is not None:
        _check_column(path, frame, target)
        if target in wanted:
            raise ParameterError(f"read_table: kinds are for feature columns, got one for the target {shown(target)}.")
    columns = []
    found: dict[str, Kind] = {}
    if target is not None:
        columns.append(_as_labels(path, frame[target], unlabeled_marks))
    names = [name for name in frame.columns if name != target]
    for start in range(0, len(names), _BLOCK):
        for series, kind in _as_features(path, frame.select(names[start : start + _BLOCK]), wanted):
            columns.append(series)
            found[series.name] = kind
    in_order = {name: found[name] for name in names}
    return Table(frame.with_columns(columns), in_order, target, name=Path(path).name.split(".")[0])


def _check_column(path: FilePath, frame: pl.DataFrame, name: str) -> None:
    if name in frame.columns:
        return
    close = get_close_matches(name, frame.columns, n=1) or [
        column for column in frame.columns if column.lower() == name.lower()
    ]
    names = ", ".join(map(shown, frame.columns[:10])) + (", ..." if frame.width > 10 else "")
    hint = f"Did you mean {shown(close[0])}? " if close else ""
    raise FormatError(
        path, None, f"expected a column {shown(name)}, got none of that name. {hint}The columns are: {names}."
    )


def _read_frame(path: FilePath) -> pl.DataFrame:
    with open_bytes(path) as file:
        start = file.peek(64)[:64]
    if start.startswith(b"PAR1"):
        return _read_parquet(path)
    if bare_suffix(path) == ".parquet":
        what = "an empty file" if not start else "another kind of file"
        raise FormatError(path, None, f"expected Parquet, as the name says, got {what}.")
    if bare_suffix(path) in (".jsonl", ".ndjson", ".json") or start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(
        b"{"
    ):
        return read_json_lines(path)
    return read_delimited(path, one_column=bare_suffix(path) in DELIMITED)


def _read_parquet(path: FilePath) -> pl.DataFrame:
    import polars as pl
    from polars.exceptions import PanicException, PolarsError

    with open_bytes(path) as file:
        data = file.read(MAX_TABLE + 1)
    if len(data) > MAX_TABLE:
        raise FormatError(path, None, f"expected a Parquet file of at most {MAX_TABLE:,} bytes, got more.")
    try:
        lazy = pl.scan_parquet(io.BytesIO(data))
        schema = lazy.collect_schema()
        refuse_nameless(path, schema)
        n_rows = lazy.select(pl.len()).collect().item()
        for name, dtype in schema.items():
            if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration):
                raise FormatError(path, None, f"expected plain values in column {shown(name)}, got {dtype}.")
        # A few bytes of Parquet can stand for any number of equal cells.
        if n_rows * len(schema) > MAX_CELLS:
            raise FormatError(path, None, f"expected a table of at most {MAX_CELLS:,} cells, got more.")
        return pl.read_parquet(io.BytesIO(data))
    except (PolarsError, PanicException, OSError, ValueError, OverflowError, MemoryError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(path, None, "the Parquet data is damaged. Copy or write the file again.") from None


def _as_labels(path: FilePath, series: pl.Series, marks: Sequence[str]) -> pl.Series:
    import polars as pl

    if series.dtype.is_float() or series.dtype.is_decimal():
        series = series.cast(pl.Float64).fill_nan(None)
    elif series.dtype in (pl.Categorical, pl.Enum) or series.dtype.is_temporal():
        series = series.cast(pl.String)
    if series.dtype == pl.String:
        series = series.str.strip_chars(" \t")
        series = series.set(series.is_in(["", "NaN", "nan"]), None)
    for mark in marks:
        series = series.set(series.cast(pl.String) == mark, None)
    if (
        series.dtype == pl.String
        and series.drop_nulls().str.contains(_INTEGER).all()
        and series.null_count() < len(series)
    ):
        series = series.cast(pl.Int64)
    if series.dtype.is_float() and ((series == series.round()) & (series.abs() < 2**53)).all():
        series = series.cast(pl.Int64)
    return series


def _as_features(path: FilePath, frame: pl.DataFrame, wanted: Mapping[str, Kind]) -> Iterator[tuple[pl.Series, Kind]]:
    """Give each feature column with its kind; some hundred columns at once, since every query has a price."""
    import polars as pl
    import polars.selectors as cs

    texts = frame.select((~cs.numeric()).cast(pl.String).str.strip_chars(" \t"))
    texts = texts.select(pl.when(pl.all() != "").then(pl.all()))
    bare = texts.select(pl.all().str.strip_chars())
    bare = bare.select(pl.when(~pl.all().is_in(_MISSING)).then(pl.all()))
    codes = _where(bare, pl.all().str.contains(_LEADING_ZERO).any())
    strings = set(texts.columns)
    others: list[str] = []
    for name in frame.columns:
        kind = wanted.get(name)
        if name not in strings:
            yield (frame[name], "numeric") if kind in (None, "numeric") else (frame[name].cast(pl.String), kind)
            continue
        numbers = _numbers(bare[name]) if kind in (None, "numeric") else None
        if numbers is not None and (kind == "numeric" or name not in codes):
            yield numbers, "numeric"
        elif kind == "numeric":
            bad = bare[name].filter(bare[name].cast(pl.Float64, strict=False).is_null() & bare[name].is_not_null())[0]
            raise FormatError(path, None, f"expected numbers in column {shown(name)}, got {shown(bad)}.")
        else:
            others.append(name)
    if not others:
        return
    free = [name for name in others if name not in wanted]
    commas = pl.all().str.contains(_DECIMAL_COMMA).all() & pl.all().str.contains(",", literal=True).any()
    for name in _where(bare.select(free), commas):
        warnings.warn(
            f"{path}: column {shown(name)} has numbers with a decimal comma and is read as nominal. "
            f"Write them with a point, or give the column's kind.",
            stacklevel=4,
        )
    filled = pl.all().drop_nulls()
    n_words = filled.str.count_matches(r"\S+").sum()
    long = _where(texts.select(free), (n_words >= 3 * filled.len()) & (2 * filled.n_unique() > filled.len()))
    for name in others:
        yield texts[name], wanted.get(name) or ("text" if name in long else "nominal")


def _where(frame: pl.DataFrame, condition: pl.Expr) -> list[str]:
    """Columns for which an expression of one value is true."""
    return [column.name for column in frame.select(condition).get_columns() if column[0]]


def _numbers(cells: pl.Series) -> pl.Series | None:
    import polars as pl

    for dtype in (pl.Int64, pl.Float64):
        numbers = cells.cast(dtype, strict=False)
        if numbers.null_count() == cells.null_count():
            return numbers
    return None


def write_table(path: FilePath, table: Table) -> None:
    """Write a table; an unlabeled row gets an empty cell.

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet``, with ``.gz``, ``.bz2`` or ``.xz`` after it to pack it.
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
    # In a table of one column a bare empty cell would be a blank line.
    empty = '""' if table.frame.width == 1 else None
    writers: dict[str, Any] = {
        ".csv": lambda file: table.frame.write_csv(file, null_value=empty),
        ".tsv": lambda file: table.frame.write_csv(file, separator="\t", null_value=empty),
        ".jsonl": lambda file: table.frame.write_ndjson(file),
        ".parquet": lambda file: table.frame.write_parquet(file),
    }
    suffix = bare_suffix(path)
    if suffix not in writers:
        raise ParameterError(
            f"{path}: the name of a table must end in {', '.join(writers)}, got {suffix or 'no ending'}."
        )
    if not table.frame.width:
        raise DataError("write_table: the table must have columns, got none.")
    if suffix in (".csv", ".tsv"):
        refuse_mark("write_table", table.frame.columns[0])
    if suffix == ".jsonl":
        for column in table.frame.get_columns():
            if column.dtype.is_float() and column.is_infinite().any():
                raise DataError(
                    f"write_table: JSON has no infinite numbers, got one in column {shown(column.name)}. "
                    f"Name the file .csv or .parquet."
                )
    buffer = io.BytesIO()
    writers[suffix](buffer)
    with write_bytes(path) as file:
        file.write(buffer.getbuffer())
