"""Text of a table in large pieces that end at line ends, in UTF-8 whatever the file is written in."""

from __future__ import annotations

import codecs
import io
from collections.abc import Generator
from contextlib import closing

from handful.core.errors import FormatError
from handful.corpora.opening import MAX_LINE, FilePath, Source, as_source, decoded, first_chunk, refuse_lone_returns

BLOCK = 2**22
"""Bytes of a piece, about."""

MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""Byte order marks, and the encodings that they tell."""

KEPT = "handful.kept"
"""How errors of Windows-1252 are met: the five bytes that it has no letter for are control characters, as Windows has it."""


def _kept(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeDecodeError):
        return error.object[error.start : error.end].decode("latin-1"), error.end
    if isinstance(error, UnicodeEncodeError) and error.object[error.start] in "\x81\x8d\x8f\x90\x9d":
        return error.object[error.start].encode("latin-1"), error.start + 1
    raise error


codecs.register_error(KEPT, _kept)


def text_blocks(source: Source) -> Generator[tuple[int, str]]:
    r"""Read the text of a table.

    Parameters
    ----------
    source : Source
        The file: UTF-8, UTF-16 with its mark, or Windows-1252, which a note then tells.

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
    decode = _Decoder(source)
    with closing(_line_blocks(source)) as blocks:
        for number, data in blocks:
            yield number, decode(number, data)


def encoding_of(path: FilePath) -> str:
    r"""Tell in which encoding the text of a table is written, as `text_blocks` reads it.

    Parameters
    ----------
    path : path-like
        The file; it is read up to its first letter that is not ASCII.

    Returns
    -------
    str
        ``utf-8``, ``utf-8-sig`` (with a byte order mark), ``utf-16-le`` or ``utf-16-be`` (with theirs), or ``cp1252``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_bytes("x,y\r\n1,é\r\n".encode("cp1252"))
    >>> encoding_of(target)
    'cp1252'
    """
    source = as_source(path)
    for mark, encoding in MARKS.items():
        if source.head.startswith(mark):
            return encoding
    with closing(_line_blocks(source)) as blocks:
        return "cp1252" if _is_legacy(next((data for _, data in blocks if not data.isascii()), b"")) else "utf-8"


def _line_blocks(source: Source) -> Generator[tuple[int, bytes]]:
    """Yield whole lines, those of UTF-16 as UTF-8, with the number of the first."""
    number = 1
    rest = b""
    with closing(_wide_chunks(source) if _is_wide(source) else _chunks(source)) as chunks:
        for chunk in chunks:
            rest += chunk
            end = rest.rfind(b"\n") + 1
            if end:
                yield number, rest[:end]
                number += rest.count(b"\n")
                rest = rest[end:]
            elif len(rest) > MAX_LINE:
                raise FormatError(source, number, f"expected a line of at most {MAX_LINE:,} bytes, got a longer one.")
    if rest:
        yield number, rest.removesuffix(b"\r")


def _chunks(source: Source) -> Generator[bytes]:
    with source.open() as file:
        chunk = first_chunk(source, io.BytesIO(file.read(BLOCK)), BLOCK)
        refuse_lone_returns(source, chunk)
        while chunk:
            yield chunk
            chunk = file.read(BLOCK)


def _wide_chunks(source: Source) -> Generator[bytes]:
    """Yield a file in UTF-16 as UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        with source.open() as file:
            while chunk := decoder.decode(file.read(BLOCK)).encode("utf-8", errors="replace"):
                yield chunk
    except UnicodeDecodeError:
        raise FormatError(
            source, None, "the file begins as UTF-16, but holds what is no text there. Save it as UTF-8."
        ) from None


def _is_wide(source: Source) -> bool:
    """Tell UTF-16, which its mark tells, from UTF-32."""
    return source.head.startswith((b"\xff\xfe", b"\xfe\xff")) and not source.head.startswith(b"\xff\xfe\0\0")


class _Decoder:
    """Decides on an encoding at the first line that is not plain ASCII."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._legacy: bool | None = None
        self._seen = False

    def __call__(self, number: int, data: bytes) -> str:
        if self._legacy is None and not data.isascii():
            self._legacy = _is_legacy(data)
            if self._legacy:
                self._source.notes.append("The file is not UTF-8; its text is read as Windows-1252 (Latin-1).")
        if self._legacy:
            text = data.decode("cp1252", errors=KEPT)
        else:
            text = decoded(self._source, number, data, after_utf8=self._seen)
            self._seen = self._seen or not text.isascii()
        return text.replace("\r\n", "\n")


def _is_legacy(data: bytes) -> bool:
    """Tell whether the first character that is not ASCII is none in UTF-8 either, so that nothing speaks for UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start].isascii() and b"\0" not in data
    return False
