"""JSON: one array of objects, as exported from data bases and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from handful.core.errors import FormatError
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.frames import MAX_CELLS, MAX_TABLE, refuse_size
from handful.corpora.formats.json_lines import add_object, frame_of
from handful.corpora.formats.shown import shown
from handful.corpora.formats.strict_json import parse_json
from handful.corpora.opening import FilePath, read_whole, write_text_file

if TYPE_CHECKING:
    import polars as pl


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
    """Say what stands where an object should."""
    other = next((row for row in rows if not isinstance(row, dict)), "") if isinstance(rows, list) else rows
    return shown(str(other))


def write_json_array(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames as one array of objects.

    Parameters
    ----------
    path : path-like
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are packed.
    frames : iterable of polars.DataFrame
        Rows.
    """
    import json

    from handful.core.errors import DataError

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


FORMAT = Format("json", "table", is_json_array, read_json_array, write_json_array, (".json",))
