"""Separated columns, written in the manner of another file."""

from __future__ import annotations

import codecs
import io
import tempfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from handful.corpora.formats.text_blocks import BLOCK, KEPT, MARKS, encoding_of
from handful.corpora.opening import FilePath, Source, bare_suffix

if TYPE_CHECKING:
    import polars as pl

_HELD = 2**26  # bytes of a table that is written anew and held in memory, at most


class Manner(NamedTuple):
    """How a file of separated cells is written: between cells, at the end of a line, and in which encoding."""

    separator: str = ","
    line_end: str = "\n"
    encoding: str = "utf-8"


def write_delimited(path: FilePath, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames as separated columns: commas or (``.tsv``, ``.tab``) tabs, in UTF-8.

    Parameters
    ----------
    path : path-like
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are packed.
    frames : iterable of polars.DataFrame
        Rows; a missing cell is left empty.
    """
    write_like(path, frames, Manner("," if bare_suffix(path) == ".csv" else "\t"))


def manner_of(source: Source) -> Manner:
    r"""Tell how a file of separated cells is written.

    Parameters
    ----------
    source : Source
        The file.

    Returns
    -------
    Manner
        The separator by its first line; for the encoding see `encoding_of`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_bytes("a;b\r\n1;é\r\n".encode("cp1252"))
    >>> manner_of(Source(target))
    Manner(separator=';', line_end='\r\n', encoding='cp1252')
    """
    encoding = encoding_of(source)
    head = source.head.decode(encoding, errors="replace")
    first = next(filter(str.strip, head.split("\n", 99)), "")
    separator = max(",;\t", key=first.count) if source.suffix == ".csv" else ","
    return Manner(separator, "\r\n" if head.partition("\n")[0].endswith("\r") else "\n", encoding)


def write_like(path: FilePath, frames: Iterable[pl.DataFrame], manner: Manner) -> str | None:
    """Write frames as separated columns in the manner of another file.

    Parameters
    ----------
    path : path-like
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are packed.
    frames : iterable of polars.DataFrame
        Rows; a missing cell is left empty.
    manner : Manner
        With semicolons, numbers get decimal commas where texts of the first frame have them.

    Returns
    -------
    str or None
        The first character that the encoding has not, for which the file was written in UTF-8 with a byte order mark.
    """
    from handful.corpora.opening import write_bytes

    encoding = manner.encoding
    if encoding in ("utf-8", "utf-8-sig"):
        with write_bytes(path) as file:
            file.write(codecs.BOM_UTF8 if encoding == "utf-8-sig" else b"")
            for piece in _written(frames, manner):
                file.write(piece)
        return None
    missing = None
    # Whether all of it can be written is known at the end, and rows come once.
    with tempfile.SpooledTemporaryFile(max_size=_HELD) as held:
        for piece in _written(frames, manner):
            held.write(piece)
            if missing is None:
                missing = _missing(piece.decode(), encoding)
        held.seek(0)
        told = encoding if missing is None else "utf-8-sig"
        with write_bytes(path) as file:
            file.write(next((mark for mark, name in MARKS.items() if name == told), b""))
            recode = codecs.getincrementaldecoder("utf-8")()
            while block := held.read(BLOCK):
                file.write(recode.decode(block).encode(told.removesuffix("-sig"), errors=_errors(told)))
    return missing


def _errors(encoding: str) -> str:
    return KEPT if encoding == "cp1252" else "strict"


def _missing(text: str, encoding: str) -> str | None:
    """Return the first character of a text that an encoding has not."""
    try:
        text.encode(encoding, errors=_errors(encoding))
    except UnicodeEncodeError as error:
        return text[error.start]
    return None


def _written(frames: Iterable[pl.DataFrame], manner: Manner) -> Iterator[bytes]:
    """Yield frames as they are written, in UTF-8."""
    from handful.corpora.opening import refuse_mark

    commas = False
    for number, frame in enumerate(frames):
        if number == 0:
            refuse_mark("write_table", frame.columns[0])
            commas = manner.separator == ";" and _has_commas(frame)
        # In a table of one column a bare empty cell would be a blank line.
        empty = '""' if frame.width == 1 else None
        told = _with_commas(frame) if commas else frame
        piece = io.BytesIO()
        told.write_csv(
            piece,
            include_header=number == 0,
            separator=manner.separator,
            null_value=empty,
            line_terminator=manner.line_end,
        )
        yield piece.getvalue()


def _with_commas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return numbers as texts with decimal commas, which early versions of polars do not write."""
    import polars.selectors as cs

    return frame.with_columns(cs.float().cast(str).str.replace(".", ",", literal=True))


def _has_commas(frame: pl.DataFrame) -> bool:
    """Tell whether numbers in texts are written as in 1,5 or 1.234,5."""
    import polars as pl

    texts = frame.select(pl.col(pl.String))
    return any(column.str.contains(r"^\s*-?\d[\d.]*,\d+\s*$").any() for column in texts)
