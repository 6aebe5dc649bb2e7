"""Delimited text: CSV, TSV and relatives."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn

from handful.data.files import (
    MAX_LINE,
    FilePath,
    Source,
    as_source,
    bare_suffix,
    decoded,
    line_blocks,
    open_bytes,
    refuse_mark,
    shown,
    text_chunks,
    write_bytes,
)
from handful.data.formats import Format, Head
from handful.errors import FormatError, counted

if TYPE_CHECKING:
    import polars as pl

MAX_CELL = MAX_LINE
"""Characters of the longest cell of a separated table; a quote that is never closed is noticed there at the latest."""

MAX_TABLE = 2**31
"""Characters (or bytes of a binary table) that are too much for a table, which is held in memory."""

MAX_CELLS = 2 * 10**8
"""Cells that are too many."""

MAX_COLUMNS = 50_000
"""Columns that are too many: each is examined separately."""

BATCH = 2**15
"""Rows of a frame, about."""

BLOCK = 2**22
"""Bytes of a piece, about."""

TIMESTAMP = "%Y-%m-%d %H:%M:%S%.f"
"""How dates with a time are written: without a fraction of a second where it is zero."""


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
    """Divide lines into cells.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    lines : Numbered
        Its lines.
    separator : str
        The character between cells.
    n_columns : int or None
        Number of cells that every row must have; None takes them as they are.

    Yields
    ------
    list of str
        Cells of a row. Empty lines are skipped.

    Raises
    ------
    FormatError
        With ``path:line:``, if a quote is not closed or a row has another number of cells.

    Examples
    --------
    >>> list(separated_rows("a.csv", Numbered([(1, 'x,"y, z"')]), ","))
    [['x', 'y, z']]
    """
    # The limit of the csv module holds for the whole process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        start = lines.number + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _quote_error(path, start, lines.number, str(error)) from None
        if row and n_columns is not None and len(row) != n_columns:
            raise FormatError(
                path, lines.number, f"expected {counted(n_columns, 'column')} as in the header, got {len(row)}."
            )
        if row:
            yield row


def _quote_error(path: FilePath, start: int, number: int, error: str) -> FormatError:
    if "end of data" in error or "field limit" in error:
        end = "the end of the file" if "end of data" in error else f"more than {MAX_CELL:,} characters"
        return FormatError(path, start, f"expected a closing quote for a cell of this row, got {end}.")
    error = r"a carriage return (\r) outside quotes" if "new-line character" in error else error
    return FormatError(path, number, f"expected cells with closed quotes, got an error ({error}).")


def text_blocks(source: Source) -> Generator[tuple[int, str]]:
    r"""Read the text of a table.

    Parameters
    ----------
    source : Source
        The file: UTF-8, UTF-16 with its mark, or Windows-1252, which a note then says. Text that is none of them by its looks,
        such as KOI8-R or Shift-JIS, is refused.

    Yields
    ------
    (int, str)
        Number of the first line, and whole lines with ``\n`` ends; the last may lack its end.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_bytes("x,y\r\n1,é\r\n".encode("cp1252"))
    >>> source = Source(target)
    >>> list(text_blocks(source)), len(source.notes)
    ([(1, 'x,y\n1,é\n')], 1)
    """
    chunks = _wide_chunks(source) if _is_wide(source) else text_chunks(source, BLOCK)
    is_utf8 = is_legacy = False  # an encoding is chosen at the first line that is not plain ASCII
    with closing(line_blocks(source, chunks)) as blocks:
        for number, data in blocks:
            if not (is_utf8 or is_legacy or data.isascii()) and _is_legacy(data):
                is_legacy = True
                if not _is_western(data):
                    what = "the text is neither UTF-8 nor Western European (Windows-1252)."
                    raise FormatError(source, None, f"{what} Save it as UTF-8: iconv -f ENCODING -t UTF-8 {source}")
                source.notes.append(
                    "The file is not UTF-8; its text is read as Windows-1252 (Latin-1). If letters are wrong, save it as UTF-8."
                )
            if is_legacy:
                text = data.decode("cp1252", errors="replace")
            else:
                text = decoded(source, number, data, after_utf8=is_utf8)
                is_utf8 = is_utf8 or not text.isascii()
            yield number, text.replace("\r\n", "\n")


def _wide_chunks(source: Source) -> Generator[bytes]:
    """Yield a file in UTF-16 as UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        with source.open() as file:
            while chunk := decoder.decode(file.read(BLOCK)).encode("utf-8", errors="replace"):
                yield chunk
    except UnicodeDecodeError:
        raise FormatError(source, None, "the file begins as UTF-16, but the rest is not. Save it as UTF-8.") from None


def _is_wide(source: Source) -> bool:
    """Whether a file has the mark of UTF-16, and not that of UTF-32."""
    return source.head.startswith((b"\xff\xfe", b"\xfe\xff")) and not source.head.startswith(b"\xff\xfe\0\0")


def _is_legacy(data: bytes) -> bool:
    """Whether the first character that is not ASCII is not UTF-8 either."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start].isascii() and b"\0" not in data
    return False


_HIGH = re.compile(rb"[\x80-\xff]")
_NOT_WESTERN = re.compile(
    rb"[^\0-\x7f\x85\x91-\x94\x96\x97\xa0\xab\xbb]{4,}"  # but for punctuation
    rb"|(?<=[a-z\xdf-\xf6\xf8-\xff])[\xc0-\xd6\xd8-\xde\x8a\x8c\x8e\x9f]"  # a capital after a small letter
    rb"|[\x83\x88\x89\x98\x99\x9b\xa4\xa6\xa8\xac\xaf\xb8](?=[A-Za-z\xc0-\xff])"  # signs inside words
    rb"|(?<=[A-Za-z\xc0-\xff])[\x82-\x84\x88\x89\x8b\x98\xa4\xa6\xa8\xac\xaf\xb8]"
    rb"|[\x81\x8d\x8f\x90\x9d]"  # no characters
)
_STRANGE = 0.25


def _is_western(data: bytes) -> bool:
    """Whether bytes look like text in Windows-1252.

    Cyrillic or Greek text has runs of letters that are not ASCII; multi-byte encodings have capitals and signs inside words.
    """
    strange = sum(len(match.group()) for match in _NOT_WESTERN.finditer(data))
    return strange <= _STRANGE * len(_HIGH.findall(data))


def separator_of(path: FilePath) -> str:
    r"""Return the separator of a file, by its first line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("a;b\n1;2\n")
    >>> separator_of(path)
    ';'
    """
    first = next(filter(str.strip, Head.of(as_source(path)).text.split("\n", 99)), "")
    return max(",;\t", key=first.count)


def write_delimited(path: FilePath, frames: Iterable[pl.DataFrame], separator: str | None = None) -> None:
    """Write frames as separated columns in UTF-8.

    Parameters
    ----------
    path : path-like
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are compressed.
    frames : iterable of polars.DataFrame
        Rows; a missing cell is left empty.
    separator : str, optional
        By default a comma, or a tab for ``.tsv`` and ``.tab``.
    """
    separator = separator or ("," if bare_suffix(path) == ".csv" else "\t")
    with write_bytes(path) as file:
        for number, frame in enumerate(frames):
            if number == 0:
                refuse_mark("write_table", frame.columns[0])
            # In a table of one column a bare empty cell would be a blank line.
            empty = '""' if frame.width == 1 else None
            text = frame.write_csv(
                include_header=number == 0, separator=separator, null_value=empty, datetime_format=TIMESTAMP
            )
            file.write(text.encode())


_NUMBER = re.compile(
    r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*|\s*[+-]?(nan|inf|infinity)\s*", re.IGNORECASE
)
_EMPTY = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-"})


def is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row of a table holds the names of its columns.

    Parameters
    ----------
    first : sequence of str
        Cells of the first row.
    rows : sequence of sequences of str
        Cells of some rows below it.

    Returns
    -------
    bool
        True if it differs from a column of numbers, False if it looks like the rows below: numbers above numbers, or
        names that recur in their columns. Numbers that count up, such as years, are names.

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
    """Return whether a cell of the first row is a name above numbers, or data like the cells below."""
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


def table_names(source: Source, number: int | None, first: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names in the first row of a table, or an empty list and a note if it looks like data."""
    if source.names & {cell.strip() for cell in first} or is_header(first, rows):
        return check_names(source, number, first)
    source.notes.append(
        f"The first row looks like data, so the columns are named column1 to column{len(first)}; "
        "add a line of names if you have them."
    )
    return []


def check_names(path: FilePath, number: int | None, names: Sequence[str]) -> list[str]:
    """Return names of columns without whitespace around them, all different; one without a name gets one.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    number : int or None
        Line of the names.
    names : sequence of str
        As they are written.

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


def refuse_width(path: FilePath, n_columns: int) -> None:
    """Raise if a table has no columns, or too many."""
    if n_columns == 0:
        raise FormatError(path, None, "no columns. Is the file empty?")
    if n_columns > MAX_COLUMNS:
        advice = "Are rows and columns exchanged?"
        raise FormatError(path, None, f"{n_columns:,} columns, at most {MAX_COLUMNS:,} are possible. {advice}")


def refuse_size(path: FilePath, number: int | None, limit: str) -> NoReturn:
    """Raise because a table is too large."""
    raise FormatError(path, number, f"expected a table of at most {limit}, got more.")


def read_bounded(path: FilePath) -> bytes:
    """Return the bytes of a file that must be held in memory as a whole."""
    with open_bytes(path) as file:
        data = file.read(MAX_TABLE + 1)
    if len(data) > MAX_TABLE:
        refuse_size(path, None, f"{MAX_TABLE:,} bytes")
    return data


def refuse_cells(path: FilePath, number: int | None, n_cells: int) -> None:
    """Raise if a table has too many cells."""
    if n_cells > MAX_CELLS:
        refuse_size(path, number, f"{MAX_CELLS:,} cells")


_NAMES = (".csv", ".tsv", ".tab")
_SEPARATORS = "\t;,|"
_NAMED_SEPARATOR = {".tsv": "\t", ".tab": "\t"}
_QUOTED = re.compile('(?<![^,;\t|])"(?:[^"]|"")*+("|$)')
_HAS_NO_OTHER_COMMA = re.compile("(?:[^;,]*|[^;,0-9]*[0-9]+,[0-9]+[^;,]*)(?:;(?:[^;,]*|[^;,0-9]*[0-9]+,[0-9]+[^;,]*))*")
_LOOK = 200  # rows that decide separator and header


class _Layout(NamedTuple):
    """How the rows of a file are divided into cells and named."""

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
    first row looks like data, columns are called ``column1`` and so on. Empty lines are skipped. Polars reads the rows;
    from the first piece on that has odd quotes, empty lines or another number of columns they are read one by one, which
    finds the line of any error.

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
            if bounded:
                refuse_cells(source, None, n_rows * piece.width)
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
        yield from enumerate(text.removesuffix("\n").split("\n"), number)


def _layout(source: Source, text: str) -> _Layout:
    lines = text.split("\n", _LOOK + 1)[: _LOOK + 1]
    filled = [line for line in lines if line.strip()]
    if not filled:
        return _Layout(",", [], True)
    separator = _separator(source, filled)
    refuse_width(source, _QUOTED.sub("", filled[0]).count(separator) + 1)  # before rows are cut into cells
    rows: list[list[str]] = []
    try:
        for row in islice(separated_rows(source, Numbered(enumerate(lines, 1)), separator), _LOOK):
            rows.append(row)
    except FormatError:  # below the header, reading the rows will come to it
        if not rows:
            raise
    first, below = rows[0], rows[1:]
    number = next(number for number, line in enumerate(lines, 1) if line.strip())
    names = table_names(source, number, first, below)
    if not names:
        return _Layout(separator, default_names(len(first)), False)
    # R leaves the name of the row names out.
    if below and all(len(row) == len(first) + 1 for row in below):
        names = check_names(source, number, ["", *first])
    return _Layout(separator, names, True)


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


def _fast(block: str, layout: _Layout, *, skip_first: bool) -> pl.DataFrame | None:
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


def _slow(source: Source, lines: Numbered, layout: _Layout, *, skip_first: bool) -> Iterator[pl.DataFrame]:
    import polars as pl

    names = layout.names
    if skip_first:  # the header is read separately, since in R's way it has one cell less
        next(separated_rows(source, lines, layout.separator), None)
    rows = separated_rows(source, lines, layout.separator, len(names) or None)
    size = max(1, BATCH // max(1, len(names) // 100))
    while batch := list(islice(rows, size)):
        if not names:
            raise FormatError(source, 1, "expected the names of columns, got none.")
        cells = zip(*batch, strict=True)
        yield pl.DataFrame([pl.Series(n, c, dtype=pl.String) for n, c in zip(names, cells, strict=True)])
    yield pl.DataFrame(schema=dict.fromkeys(names, pl.String))


def is_delimited(head: Head) -> bool:
    """Whether a file holds separated columns: equally many on each line, without sentences between empty lines."""
    lines = [line for line in head.filled if line.strip()]
    if not lines or head.has_blank_inside:
        return False
    # Tabs with a blank line at the end are one tagged sentence.
    separators = _SEPARATORS.replace("\t", "") if head.has_blank else _SEPARATORS
    return any(equal_width(lines, one) for one in separators)


DELIMITED_FORMAT = Format("delimited", "table", is_delimited, read_delimited, write_delimited, _NAMES)
