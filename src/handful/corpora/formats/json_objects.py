"""JSON objects, one a line or in one array."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from handful.core.errors import FormatError
from handful.corpora.formats.format import Head
from handful.corpora.formats.shown import shown
from handful.corpora.formats.strict_json import parse_json
from handful.corpora.opening import FilePath, as_source, read_lines, read_whole, write_text_file

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


def write_objects(path: FilePath, rows: Iterable[dict[str, Any]]) -> None:
    """Write objects, one a line."""
    with write_text_file(path) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


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
