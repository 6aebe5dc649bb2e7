"""ARFF, the tables of Weka: attributes first, then rows between commas."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from handful.core.errors import FormatError
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.frames import MAX_CELLS, refuse_size
from handful.corpora.formats.header import check_names
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, read_lines

if TYPE_CHECKING:
    import polars as pl

_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"[^"]*"|[^\s{]+)\s*(.*)""", re.IGNORECASE)


def read_arff(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    r"""Read a table of Weka; all cells are text, and ``?`` is a missing one.

    Parameters
    ----------
    path : path-like
        The file.
    bounded : bool
        Not used: the file is read as a whole in any case.

    Yields
    ------
    polars.DataFrame
        All rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.arff"
    >>> _ = target.write_text("@relation r\n@attribute x numeric\n@attribute 'the class' {a,b}\n@data\n1,a\n2,?\n")
    >>> [(frame.columns, frame.rows()) for frame in read_arff(target)]
    [(['x', 'the class'], [('1', 'a'), ('2', '?')])]
    """
    names: list[str] = []
    rows: list[list[str]] = []
    in_data = False
    for number, line in read_lines(path):
        bare = line.strip()
        if not bare or bare.startswith("%"):
            continue
        if in_data:
            rows.append(_row(path, number, bare, len(names)))
            if len(rows) * len(names) > MAX_CELLS:
                refuse_size(path, number, f"{MAX_CELLS:,} cells")
        elif bare.lower().startswith("@data"):
            in_data = True
        elif match := _ATTRIBUTE.fullmatch(bare):
            names.append(match[1].strip("'\""))
    if not in_data or not names:
        raise FormatError(path, None, "expected attributes and @data, got none.")
    yield _frame(check_names(path, None, names), rows)


def _frame(names: list[str], rows: list[list[str]]) -> pl.DataFrame:
    import polars as pl

    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return pl.DataFrame([pl.Series(name, column, dtype=pl.String) for name, column in zip(names, cells, strict=True)])


def _row(path: FilePath, number: int, line: str, width: int) -> list[str]:
    if line.startswith("{"):
        raise FormatError(path, number, "expected a cell for every attribute, got a sparse row. Write it out in full.")
    quote = "'" if "'" in line else '"'
    try:
        cells = next(csv.reader([line], quotechar=quote, escapechar="\\", skipinitialspace=True))
    except csv.Error:  # a return inside a cell
        cells = []
    if len(cells) != width:
        raise FormatError(path, number, f"expected {width} cells, one for each attribute, got {shown(line)}.")
    return [cell.strip() for cell in cells]


def is_arff(head: Head) -> bool:
    """Tell a file whose first line that is no comment names a relation."""
    first = next((line for line in head.filled if not line.startswith("%")), "")
    return first.lower().startswith("@relation")


FORMAT = Format("arff", "table", is_arff, read_arff)
