"""Columns separated by commas, semicolons, tabs or bars, with a header or without."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from handful.core.errors import FormatError
from handful.corpora.formats.delimited_writing import write_delimited
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.frames import BATCH, MAX_CELLS, MAX_TABLE, refuse_size
from handful.corpora.formats.header import check_names, default_names, is_header, note_of
from handful.corpora.formats.separated_rows import Numbered, separated_rows
from handful.corpora.formats.text_blocks import text_blocks
from handful.corpora.opening import FilePath, Source, as_source

if TYPE_CHECKING:
    import polars as pl

_NAMES = (".csv", ".tsv", ".tab")
_SEPARATORS = "\t;,|"
_NAMED_SEPARATOR = {".tsv": "\t", ".tab": "\t"}
_QUOTED = re.compile('(?<![^,;\t|])"(?:[^"]|"")*+("|$)')
_HAS_NO_OTHER_COMMA = re.compile("(?:[^;,]*|[^;,0-9]*[0-9]+,[0-9]+[^;,]*)(?:;(?:[^;,]*|[^;,0-9]*[0-9]+,[0-9]+[^;,]*))*")
_LOOK = 200  # rows that tell separator and header


class Layout(NamedTuple):
    """How the rows of a file are to be cut and named."""

    separator: str
    names: list[str]
    has_header: bool


def read_delimited(path: FilePath, *, bounded: bool = True) -> Iterator[pl.DataFrame]:
    r"""Read separated columns, some ten thousand rows at a time; all cells stay text.

    Parameters
    ----------
    path : path-like
        The file.
    bounded : bool
        Whether to refuse a file that is too large to be held in memory.

    Yields
    ------
    polars.DataFrame
        Columns of strings; at least one frame, which has no rows where the file has none.

    Notes
    -----
    The separator is the one of tab, semicolon, comma and bar that the first line has most of (the first of equals), if it
    cuts the first rows into equally many cells; semicolons between numbers with decimal commas come first. Where the
    first row looks like data, columns are called ``column1`` and so on. Blank lines are skipped, but in a table of one
    column a blank line above a filled one is a row with an empty cell. Polars reads the rows; from the first piece on
    that has odd quotes, blank lines or another number of columns they are read one by one, which finds the line of
    any trouble.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("a;b\n1;x\n")
    >>> [frame.rows() for frame in read_delimited(target)]
    [[('1', 'x')]]
    """
    source = as_source(path)
    with closing(text_blocks(source)) as blocks:
        n_rows = 0
        for piece in _pieces(source, blocks, MAX_TABLE if bounded else None):
            n_rows += piece.height
            if bounded and n_rows * piece.width > MAX_CELLS:
                refuse_size(source, None, f"{MAX_CELLS:,} cells")
            if piece.height:
                yield piece
        if not n_rows:
            yield piece


def _pieces(source: Source, blocks: Iterator[tuple[int, str]], limit: int | None) -> Iterator[pl.DataFrame]:
    """Read block by block with polars, and the rest row by row from the first block on that is not plain."""
    number, text = next(blocks, (1, ""))
    layout = _layout(source, text)
    n_chars = 0
    for start, block in chain([(number, text)], blocks):
        n_chars += len(block)
        if limit is not None and n_chars > limit:
            refuse_size(source, start, f"{limit:,} characters")
        skip_first = start == number and layout.has_header
        frame = _fast(block, layout, skip_first=skip_first)
        if frame is None:
            lines = Numbered(_lines(chain([(start, block)], blocks)))
            yield from _slow(source, lines, layout, skip_first=skip_first)
            return
        yield frame


def _lines(blocks: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for number, text in blocks:
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        yield from enumerate(lines, number)


def _layout(source: Source, text: str) -> Layout:
    lines = text.split("\n", _LOOK + 1)[: _LOOK + 1]
    filled = [line for line in lines if line.strip()]
    if not filled:
        return Layout(",", [], True)
    separator = _separator(source, filled)
    numbered = Numbered(enumerate(lines, 1))
    rows = list(islice(_tolerant(source, numbered, separator), _LOOK))
    first, below = rows[0], rows[1:]
    number = next(number for number, line in enumerate(lines, 1) if line.strip())
    has_header = is_header(first, below)
    if has_header:
        names = check_names(source, number, first)
        # R leaves the name of the row names out.
        if below and all(len(row) == len(first) + 1 for row in below):
            names = check_names(source, number, ["", *first])
    else:
        names = default_names(len(first))
        source.notes.append(note_of(len(first)))
    return Layout(separator, names, has_header)


def _tolerant(source: Source, lines: Numbered, separator: str) -> Iterator[list[str]]:
    """Rows up to the first trouble below the header, which the real reader will tell about."""
    rows = separated_rows(source, lines, separator)
    yield next(rows)
    try:
        yield from rows
    except FormatError:
        return


def _separator(source: Source, filled: list[str]) -> str:
    bare = _QUOTED.sub("", filled[0])
    present = [separator for separator in _SEPARATORS if separator in bare]
    if not present and source.suffix not in _NAMES:
        raise FormatError(
            source, 1, "expected a table with columns separated by commas, semicolons or tabs, got one column."
        )
    if not present:
        return ","
    named = _NAMED_SEPARATOR.get(source.suffix)
    return named if named in present else _likeliest(present, filled, bare)


def _likeliest(present: list[str], filled: list[str], first: str) -> str:
    equal = [one for one in present if equal_width(filled, one)] or present
    if ";" in equal and all(map(_HAS_NO_OTHER_COMMA.fullmatch, filled[1:])):
        return ";"
    return max(equal, key=first.count)


def equal_width(lines: Iterable[str], separator: str) -> int:
    """Return the number of columns that all lines have with a separator, 0 if it differs or is one.

    Examples
    --------
    >>> equal_width(["a,b", "1,2"], ","), equal_width(["a,b", "1"], ",")
    (2, 0)
    """
    try:
        widths = {len(row) for row in csv.reader((line + "\n" for line in lines), delimiter=separator)}
    except csv.Error:
        return 0
    return widths.pop() if len(widths) == 1 and widths != {1} else 0


def _fast(block: str, layout: Layout, *, skip_first: bool) -> pl.DataFrame | None:
    """Read a piece with polars, or None where it may not see it as the slow way does."""
    import polars as pl

    separator, names, _ = layout
    body = block.rstrip("\n")
    if len(names) < 2 or "\r" in body or not body:
        return None
    first = int(skip_first)
    bare = _unquoted(body, separator)
    lines = bare.split("\n")
    if '"' in bare or any(line.count(separator) != len(names) - 1 for line in lines[first:]):
        return None
    if len(lines) == first:
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    try:
        frame = pl.read_csv(
            io.BytesIO(body.encode()),
            has_header=False,
            separator=separator,
            infer_schema=False,
            skip_rows=0,
            new_columns=names,
        )
    except (pl.exceptions.PolarsError, OSError):  # the latter where text begins as a packed stream does
        return None
    if (frame.height, frame.width) != (len(lines), len(names)):
        return None
    return frame[first:].fill_null("")


def _unquoted(body: str, separator: str) -> str:
    """Leave out the quoted cells, which may hold separators and line ends."""
    if '"' not in body:
        return body
    cut = re.escape(separator)
    return re.sub(f'(?<![^{cut}\n])"(?:[^"]|"")*+"(?![^{cut}\n])', "", body)


def _slow(source: Source, lines: Numbered, layout: Layout, *, skip_first: bool) -> Iterator[pl.DataFrame]:
    import polars as pl

    names = layout.names
    rows = separated_rows(source, lines, layout.separator, len(names) or None)
    if skip_first:
        rows = chain(_below_header(source, lines, layout))
    size = max(1, BATCH // max(1, len(names) // 100))
    while batch := list(islice(rows, size)):
        if not names:
            raise FormatError(source, 1, "expected the names of columns, got none.")
        cells = zip(*batch, strict=True)
        yield pl.DataFrame([pl.Series(n, c, dtype=pl.String) for n, c in zip(names, cells, strict=True)])
    yield pl.DataFrame(schema=dict.fromkeys(names, pl.String))


def _below_header(source: Source, lines: Numbered, layout: Layout) -> Iterator[list[str]]:
    # The header is read as a row of its own, since in R's way it has one cell less.
    first = separated_rows(source, lines, layout.separator)
    next(first, None)
    yield from separated_rows(source, lines, layout.separator, len(layout.names) or None)


def is_delimited(head: Head) -> bool:
    """Tell whether a file holds separated columns: equally many on each line, without sentences between blank lines."""
    lines = [line for line in head.filled if line.strip()]
    if not lines or head.has_blank_inside:
        return False
    # Tabs with a blank line at the end are one tagged sentence.
    separators = _SEPARATORS.replace("\t", "") if head.has_blank else _SEPARATORS
    return any(equal_width(lines, one) for one in separators)


FORMAT = Format("delimited", "table", is_delimited, read_delimited, write_delimited, _NAMES)
