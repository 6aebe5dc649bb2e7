"""The first row of a table: names of columns, or data already."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

from handful.core.errors import FormatError
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath

_NUMBER = re.compile(
    r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*|\s*[+-]?(nan|inf|infinity)\s*", re.IGNORECASE
)
_EMPTY = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-"})


def is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row of a table holds the names of its columns.

    Parameters
    ----------
    first : sequence of str
        Cells of the first row.
    rows : sequence of sequences of str
        Cells of some rows below it.

    Returns
    -------
    bool
        True if it stands out in a column of numbers, False if it looks like the rows below: numbers above numbers, or
        names that come again in their columns. Numbers that count up, such as years, are names.

    Examples
    --------
    >>> is_header(["size", "color"], [["1", "red"], ["2", "blue"]])
    True
    >>> is_header(["3", "red"], [["1", "red"], ["2", "blue"]])
    False
    """
    if len(first) == 1:
        return not _NUMBER.fullmatch(first[0])
    numbers = [bool(_NUMBER.fullmatch(cell)) for cell in first]
    if all(numbers):
        return False
    values = [float(cell) for cell, is_number in zip(first, numbers, strict=True) if is_number]
    counts_up = len(values) > 1 and all(b - a == 1 for a, b in pairwise(values))
    signs = [_sign(cell, _filled(rows, place), counts_up) for place, cell in enumerate(first)]
    return "name" in signs or "data" not in signs


def _filled(rows: Sequence[Sequence[str]], place: int) -> list[str]:
    cells = [row[place].strip() for row in rows if place < len(row)]
    return [cell for cell in cells if cell.lower() not in _EMPTY]


def _sign(cell: str, below: Sequence[str], counts_up: bool) -> Literal["name", "data", "nothing"]:
    """Tell what the cells below say of a cell in the first row: a name among numbers, or data like the others."""
    if not below or cell.strip().lower() in _EMPTY:
        return "nothing"
    if not all(map(_NUMBER.fullmatch, below)):
        return "data" if cell.strip() in below else "nothing"
    if not _NUMBER.fullmatch(cell):
        return "name"
    values = list(map(float, below))
    return "data" if not counts_up and min(values) <= float(cell) <= max(values) else "nothing"


def default_names(n: int) -> list[str]:
    """Return names for columns that have none.

    Examples
    --------
    >>> default_names(2)
    ['column1', 'column2']
    """
    return [f"column{place}" for place in range(1, n + 1)]


def note_of(n: int) -> str:
    """Return what to tell about a table without a header.

    Examples
    --------
    >>> note_of(3)
    'The first row looks like data, so the columns are named column1 to column3; add a line of names if you have them.'
    """
    return (
        f"The first row looks like data, so the columns are named column1 to column{n}; "
        "add a line of names if you have them."
    )


def check_names(path: FilePath, number: int | None, names: Sequence[str]) -> list[str]:
    """Return the names of columns without blanks around them, all of them different; one without a name gets one.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    number : int or None
        Line of the names.
    names : sequence of str
        As they stand.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> check_names("a.csv", 1, ["size ", "color"])
    ['size', 'color']
    """
    bare = [name.strip() or default for name, default in zip(names, default_names(len(names)), strict=True)]
    seen: set[str] = set()
    for name in bare:
        if name in seen:
            raise FormatError(path, number, f"expected each column name once, got {shown(name)} again.")
        seen.add(name)
    return bare


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
