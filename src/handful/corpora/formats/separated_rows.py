"""Rows of separated columns, read with the line of every trouble: slow, and used where the fast way is not sure."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import repeat

from handful.core.counted import counted
from handful.core.errors import FormatError
from handful.corpora.opening import MAX_LINE, FilePath

MAX_CELL = MAX_LINE
"""Characters of the longest cell of a separated table; a quote that is never closed is found out there at the latest."""


class Numbered:
    """Lines that remember the number of the last one."""

    def __init__(self, lines: Iterable[tuple[int, str]]) -> None:
        self._lines = iter(lines)
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.number, line = next(self._lines)
        return line + "\n"


def separated_rows(
    path: FilePath, lines: Numbered, separator: str, n_columns: int | None = None
) -> Iterator[list[str]]:
    """Cut lines into cells.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    lines : Numbered
        Its lines.
    separator : str
        What stands between cells.
    n_columns : int or None
        Number of cells that every row must have; None takes them as they are.

    Yields
    ------
    list of str
        Cells of a row. Blank lines are skipped, but in a table of one column a blank line above a filled one is a row
        with an empty cell.

    Raises
    ------
    FormatError
        With ``path:line:``, if a quote is not closed or a row has another number of cells.

    Examples
    --------
    >>> list(separated_rows("a.csv", Numbered([(1, 'x,"y, z"')]), ","))
    [['x', 'y, z']]
    """
    for row in _without_blank(_rows(path, lines, separator), n_columns):
        if n_columns is not None and len(row) != n_columns:
            raise FormatError(
                path, lines.number, f"expected {counted(n_columns, 'column')} as in the header, got {len(row)}."
            )
        yield row


def _rows(path: FilePath, lines: Numbered, separator: str) -> Iterator[list[str]]:
    start = lines.number + 1
    record: list[str] = []

    def all_lines() -> Iterator[str]:
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
    cut = re.escape(separator)
    whole_cell = re.compile(f'("(?:[^"]|"")*+"|[^"{cut}][^{cut}]*+)?{cut}')
    place = 0
    while cell := whole_cell.match(record, place):
        place = cell.end()
    return record.count("\n", 0, place)


def _without_blank(rows: Iterable[list[str]], n_columns: int | None) -> Iterator[list[str]]:
    """Rows without blank lines, unless there is one column: then these are empty cells, but for those at the end."""
    blank = 0
    for row in rows:
        if not row:
            blank += n_columns == 1
            continue
        yield from repeat([""], blank)
        blank = 0
        yield row
