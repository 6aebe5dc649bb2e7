"""JSON arrays and JSON lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from handful.data.csv import BATCH, MAX_COLUMNS, MAX_TABLE, refuse_cells, refuse_size, refuse_width
from handful.data.files import FilePath, as_source, read_lines, read_whole, shown, write_bytes
from handful.data.formats import Format, Head
from handful.errors import DataError, FormatError

if TYPE_CHECKING:
    import polars as pl


def parse_json(path: FilePath, line: int | None, text: str) -> Any:
    """Parse JSON text.

    Parameters
    ----------
    path : path-like
        Where the text came from, for messages.
    line : int or None
        Line that the text stands on, if it is a single line.
    text : str
        The text.

    Returns
    -------
    object
        What it holds.

    Raises
    ------
    FormatError
        If it is no JSON, too deep, or a key comes twice in one object.

    Examples
    --------
    >>> parse_json("a.json", None, '{"NN": ["year"]}')
    {'NN': ['year']}
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
            raise FormatError(path, line, f"expected each key once, got {shown(twice)} again.")
        return content

    try:
        content = json.loads(text, object_pairs_hook=once)
        if "\\u" in text:
            json.dumps(content, ensure_ascii=False).encode()
        return content
    except json.JSONDecodeError as error:
        message = f"expected JSON, got an error at column {error.colno}: {error.msg}."
        raise FormatError(path, line or error.lineno, message) from None
    except UnicodeEncodeError:
        raise FormatError(
            path, line, "expected whole characters, got half of a surrogate pair (\\ud800 to \\udfff)."
        ) from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(path, line, "expected JSON, got lists too deep or a number too long.") from None


LARGEST_ARRAY = 2**30


def json_objects(path: FilePath) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """Read objects.

    Parameters
    ----------
    path : path-like
        JSON lines, or an array of objects.

    Yields
    ------
    (int or None, dict)
        Number of the line, where there is one, and the object.
    """
    source = as_source(path)
    if source.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        for row in parse_json(source, None, read_whole(source, LARGEST_ARRAY)):
            yield None, _object(path, None, row)
        return
    with closing(read_lines(source)) as lines:
        for number, line in lines:
            if line.strip():
                yield number, _object(path, number, parse_json(source, number, line))


def _object(path: FilePath, number: int | None, row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise FormatError(path, number, f"expected a JSON object, got {shown(str(row))}.")
    return row


def first_object(head: Head) -> dict[str, Any]:
    """Return the first object at the start of a file, empty if there is none.

    Examples
    --------
    >>> first_object(Head(b'[{"text": "Rome"}, {'))
    {'text': 'Rome'}
    """
    text = head.text.lstrip().removeprefix("[").lstrip()
    if not text.startswith("{"):
        return {}
    try:
        row, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


def text_of(path: FilePath, number: int | None, row: dict[str, Any]) -> str:
    """Return the text of an object, or refuse it."""
    text = row.get("text")
    if not isinstance(text, str):
        raise FormatError(path, number, f"expected text under 'text', got {shown(text)}.")
    return text


def read_json(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    r"""Read JSON lines, or an array of objects.

    Parameters
    ----------
    path : path-like
        The file; an object is a row, and a key that it lacks is a missing cell.
    bounded : bool
        Whether to read it as one frame, and to refuse what is too large for that; an array is held in memory in any case.

    Yields
    ------
    polars.DataFrame
        Columns of truth values, integers, floats, or else strings; at least one frame.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = target.write_text('{"x": 1, "label": "a"}\n{"x": 2.5}\n')
    >>> [frame.rows() for frame in read_json(target)]
    [[(1.0, 'a'), (2.5, None)]]
    """
    columns: dict[str, list[Any]] = {}
    n_rows = n_frames = n_chars = 0
    for number, row in json_objects(path):
        _add(path, number, row, columns, n_rows)
        n_rows += 1
        if bounded:
            n_chars += sum(len(value) for value in row.values() if type(value) is str)
            refuse_cells(path, number, n_rows * len(columns))
            if n_chars > MAX_TABLE:
                refuse_size(path, number, f"{MAX_TABLE:,} characters")
        elif n_rows == BATCH:
            yield _frame_of(columns, n_rows)
            columns, n_rows, n_frames = {}, 0, n_frames + 1
    if not columns and n_frames == 0:
        raise FormatError(path, None, "expected JSON objects with columns, got none.")
    if n_rows:
        yield _frame_of(columns, n_rows)


def _add(path: FilePath, number: int | None, row: Mapping[str, Any], columns: dict[str, list[Any]], n: int) -> None:
    """Add the values of an object to columns that have n rows."""
    for name, value in row.items():
        if isinstance(value, dict | list):
            raise FormatError(path, number, f"expected a plain value in column {shown(name)}, got a list or an object.")
        if not name.strip():
            raise FormatError(path, number, "expected a name for every column, got an empty one.")
        column = columns.setdefault(name, [])
        column += [None] * (n - len(column))
        column.append(value)
    if len(columns) > MAX_COLUMNS:
        refuse_width(path, len(columns))


def _frame_of(columns: dict[str, list[Any]], n: int) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([series_of(name, cells + [None] * (n - len(cells))) for name, cells in columns.items()])


def series_of(name: str, values: list[Any]) -> pl.Series:
    """Return values out of JSON as a column: truth values, integers, floats, or else strings.

    Integers that 64 bits cannot hold are strings, since floats would make neighbors equal.

    Examples
    --------
    >>> series_of("x", [1, None, 2.5]).to_list(), series_of("y", ["a", 3]).to_list()
    ([1.0, None, 2.5], ['a', '3'])
    """
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    fits = all(abs(value) < 2**63 for value in values if type(value) is int)
    if kinds <= {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds <= {int, float} and fits:
        return pl.Series(name, values, dtype=pl.Int64 if kinds == {int} else pl.Float64, strict=False)
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pl.Series(name, texts, dtype=pl.String)


def is_json_lines(head: Head) -> bool:
    """Whether a file holds JSON objects, by its first character or its name."""
    return head.text.lstrip().startswith("{") or head.suffix in (".jsonl", ".ndjson")


def write_json_lines(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames as one JSON object a line; NaN becomes a missing cell, and infinite numbers are refused."""
    with write_bytes(path) as file:
        for frame in frames:
            _refuse_infinite(frame)
            frame.write_ndjson(file)


def _refuse_infinite(frame: pl.DataFrame) -> None:
    for column in frame.get_columns():
        if column.dtype.is_float() and column.is_infinite().any():
            raise DataError(
                f"write_table: JSON has no infinite numbers, got one in column {shown(column.name)}. "
                f"Name the file .csv or .parquet."
            )


def is_json_array(head: Head) -> bool:
    """Whether a file starts with an array of objects, or, if its name ends in .json, with one of anything but arrays."""
    text = head.text.lstrip()
    first = text[1:].lstrip()[:1]
    return text.startswith("[") and (first == "{" or (first != "[" and head.suffix == ".json"))


JSON_LINES_FORMAT = Format("json-lines", "table", is_json_lines, read_json, write_json_lines, (".jsonl", ".ndjson"))
JSON_ARRAY_FORMAT = Format("json", "table", is_json_array, read_json)
