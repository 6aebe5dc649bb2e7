"""JSON arrays and JSON lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from handful.data.csv import BATCH, MAX_CELLS, MAX_COLUMNS, MAX_TABLE, refuse_size, refuse_width, series_of
from handful.data.files import FilePath, as_source, read_lines, read_whole, shown, write_bytes, write_text_file
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
        rows = ((None, row) for row in parse_json(source, None, read_whole(source, LARGEST_ARRAY)))
    else:
        rows = ((n, parse_json(source, n, line)) for n, line in read_lines(source) if line.strip())  # type: ignore[misc]
    for number, row in rows:
        if not isinstance(row, dict):
            raise FormatError(path, number, f"expected a JSON object, got {shown(str(row))}.")
        yield number, row


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


def text_of(path: FilePath, number: int | None, row: dict[str, Any], key: str = "text") -> str:
    """Return the text of an object, or refuse it."""
    text = row.get(key)
    if not isinstance(text, str):
        raise FormatError(path, number, f"expected text under {shown(key)}, got {shown(text)}.")
    return text


def offset(path: FilePath, number: int | None, value: Any) -> int:
    """Return a place in a text, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise FormatError(path, number, f"expected a place in the text as a whole number, got {shown(value)}.")
    return value


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
    """Add the values of an object to the columns, which hold `n_rows` rows."""
    if not isinstance(row, dict):
        raise FormatError(path, number, f"expected a JSON object on each line, got {shown(str(row))}.")
    for name, value in row.items():
        if isinstance(value, dict | list):
            raise FormatError(path, number, f"expected a plain value in column {shown(name)}, got a list or an object.")
        if not name.strip():
            raise FormatError(path, number, "expected a name for every column, got an empty one.")
        column = columns.setdefault(name, [])
        if len(columns) > MAX_COLUMNS:
            refuse_width(path, len(columns))
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
        The file; ``.gz``, ``.bz2`` and ``.xz`` are compressed.
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


JSON_LINES_FORMAT = Format(
    "json-lines", "table", is_json_lines, read_json_lines, write_json_lines, (".jsonl", ".ndjson")
)


def read_json_array(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    """Read an array of objects.

    Parameters
    ----------
    path : path-like
        The file.
    bounded : bool
        Not used: an array is read as a whole in any case.

    Yields
    ------
    polars.DataFrame
        All rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = target.write_text('[{"x": 1, "label": "a"}, {"x": 2}]')
    >>> [frame.rows() for frame in read_json_array(target)]
    [[(1, 'a'), (2, None)]]
    """
    rows = parse_json(path, None, read_whole(path, MAX_TABLE))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FormatError(path, None, f"expected an array of JSON objects, one for each row, got {_other(rows)}.")
    columns: dict[str, list[Any]] = {}
    for number, row in enumerate(rows):
        add_object(path, None, row, columns, number)
        if (number + 1) * len(columns) > MAX_CELLS:
            refuse_size(path, None, f"{MAX_CELLS:,} cells")
    if not columns:
        raise FormatError(path, None, "expected JSON objects with columns, got none.")
    yield frame_of(columns, len(rows))


def _other(rows: Any) -> str:
    """Return the first value that is not an object, for a message."""
    other = next((row for row in rows if not isinstance(row, dict)), "") if isinstance(rows, list) else rows
    return shown(str(other))


def write_json_array(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames as one array of objects.

    Parameters
    ----------
    path : path-like
        The file; ``.gz``, ``.bz2`` and ``.xz`` are compressed.
    frames : iterable of polars.DataFrame
        Rows.
    """
    import json

    from handful.errors import DataError

    with write_text_file(path) as file:
        between = "["
        for frame in frames:
            for row in frame.iter_rows(named=True):
                plain = {name: None if value != value else value for name, value in row.items()}
                try:
                    file.write(f"{between}\n{json.dumps(plain, ensure_ascii=False, allow_nan=False, default=str)}")
                except ValueError:
                    raise DataError(
                        "write_table: JSON has no infinite numbers. Name the file .csv or .parquet."
                    ) from None
                between = ","
        file.write("\n]\n" if between == "," else "[]\n")


def is_json_array(head: Head) -> bool:
    """Tell whether a file starts with an array of objects; by its name, it should be one if it is one of anything but arrays."""
    text = head.text.lstrip()
    first = text[1:].lstrip()[:1]
    return text.startswith("[") and (first == "{" or (first != "[" and head.suffix == ".json"))


JSON_ARRAY_FORMAT = Format("json", "table", is_json_array, read_json_array, write_json_array, (".json",))
