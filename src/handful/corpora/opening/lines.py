"""Lines of text files: one tokeniser of lines for all readers, always bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from handful.core.errors import FormatError
from handful.core.store import MAGIC
from handful.corpora.opening.packing import CHUNK, FilePath
from handful.corpora.opening.source import open_bytes

MAX_LINE = 16 * 2**20
"""Longest line in bytes that a reader accepts; no real text comes near it."""

MAX_BLANK = 2**20
"""Empty lines in a row after which a file is no text."""

MAX_LINES = 2**18
"""Most lines that one record may have, so that a file without blank lines cannot fill the memory."""

_FOREIGN = (
    (MAGIC, "a model of handful. Name the data, not the model."),
    (b"PK\x03\x04", "a zip archive. Unpack it first."),
    (b"\x28\xb5\x2f\xfd", "a zstd file. Unpack it first (zstd -d)."),
    (b"\x1f\x9d", "a compress file. Unpack it first (uncompress)."),
)
_WIDE = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def read_lines(path: FilePath) -> Iterator[tuple[int, str]]:
    r"""Lines of a UTF-8 text file, one after the other, in constant memory.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are unpacked.

    Yields
    ------
    (int, str)
        One-based line number and the line without its end (``\n`` or ``\r\n``; no other character ends a line).
        A byte order mark is dropped. A file whose only line ends are ``\r`` (old Macs) is refused.

    Raises
    ------
    FileError
        If the file is missing, is a folder or may not be read.
    FormatError
        If the file is empty, binary, not UTF-8, damaged, has a line of more than `MAX_LINE` bytes, or far more than
        `MAX_BLANK` empty lines in a row, as a small packed file may.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_bytes(b"one\r\ntwo")
    >>> list(read_lines(target))
    [(1, 'one'), (2, 'two')]
    """
    with open_bytes(path) as file:
        number, n_blank, is_utf8 = 1, 0, False
        rest = first_chunk(path, file)
        refuse_lone_returns(path, rest)
        while True:
            end = rest.rfind(b"\n") + 1
            if end:
                text = decoded(path, number, rest[:end], after_utf8=is_utf8)
                is_utf8 = is_utf8 or not text.isascii()
                if "\r" in text:
                    text = text.replace("\r\n", "\n")
                lines = text.split("\n")
                lines.pop()
                n_blank = 0 if text.strip() else n_blank + len(lines)
                if n_blank > MAX_BLANK:
                    raise FormatError(path, number, f"expected text, got more than {MAX_BLANK:,} empty lines in a row.")
                yield from enumerate(lines, number)
                number += len(lines)
                rest = rest[end:]
            elif len(rest) > MAX_LINE:
                raise FormatError(path, number, f"expected a line of at most {MAX_LINE:,} bytes, got a longer one.")
            chunk = file.read(CHUNK)
            if not chunk:
                break
            rest += chunk
        if rest:
            yield number, decoded(path, number, rest, after_utf8=is_utf8).removesuffix("\r")


def read_whole(path: FilePath, limit: int = MAX_LINE) -> str:
    r"""Text of a small file, with ``\n`` line ends.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are unpacked.
    limit : int
        Number of characters that is too much.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_bytes(b"one\r\ntwo\r\n")
    >>> read_whole(target)
    'one\ntwo'
    """
    lines = []
    size = 0
    for _, line in read_lines(path):
        size += len(line) + 1
        if size > limit:
            raise FormatError(path, None, f"expected at most {limit:,} characters, got more.")
        lines.append(line)
    return "\n".join(lines)


def first_chunk(path: FilePath, file: IO[bytes], size: int = CHUNK) -> bytes:
    r"""First bytes of a text file, without a byte order mark.

    Parameters
    ----------
    path : path-like
        Name of the file, for messages.
    file : binary file
        As `open_bytes` gives it.
    size : int
        How many bytes to read.

    Returns
    -------
    bytes
        At least one byte.

    Raises
    ------
    FormatError
        If there are none, or they are the start of a model, of an archive or of UTF-16 or UTF-32 text.

    Examples
    --------
    >>> import io
    >>> first_chunk("a.txt", io.BytesIO("\ufeffRome".encode()))
    b'Rome'
    """
    chunk = file.read(size)
    if not chunk:
        raise FormatError(path, None, "the file is empty.")
    for magic, what in _FOREIGN:
        if chunk.startswith(magic):
            raise FormatError(path, None, f"expected text, got {what}")
    for mark, name in _WIDE:
        if chunk.startswith(mark):
            raise FormatError(path, 1, f"expected UTF-8, got {name}. {_conversion(name)}")
    chunk = chunk.removeprefix(b"\xef\xbb\xbf")
    if not chunk:
        raise FormatError(path, None, "the file is empty.")
    return chunk


def refuse_lone_returns(path: FilePath, chunk: bytes) -> None:
    r"""Raise if all line ends are single carriage returns, since the whole file would count as one line.

    Parameters
    ----------
    path : path-like
        Name of the file, for messages.
    chunk : bytes
        How it starts.

    Raises
    ------
    FormatError
        If there is a carriage return before the last byte, but no line feed.

    Examples
    --------
    >>> refuse_lone_returns("a.txt", b"one\r\ntwo\r\n")
    """
    if b"\n" not in chunk and b"\r" in chunk[:-1]:
        raise FormatError(
            path,
            1,
            r"expected lines that end in \n or \r\n, got \r alone (old Mac). "
            r"Convert the file, for example with: tr '\r' '\n' < OLD > NEW",
        )


def decoded(path: FilePath, number: int, data: bytes, *, after_utf8: bool = False) -> str:
    """Return lines of a file as text.

    Parameters
    ----------
    path : path-like
        Name of the file, for messages.
    number : int
        Number of the first of the lines, from 1 on.
    data : bytes
        The lines.
    after_utf8 : bool
        Whether lines above have letters that only UTF-8 writes so.

    Returns
    -------
    str
        The text.

    Raises
    ------
    FormatError
        If they are not UTF-8, or hold NUL bytes.

    Examples
    --------
    >>> decoded("a.txt", 1, b"Rome")
    'Rome'
    """
    if b"\0" in data:
        line = number + data.count(b"\n", 0, data.index(b"\0"))
        raise FormatError(path, line, "expected text, got a binary file (it holds NUL bytes).")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = number + data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        byte = data[error.start]
        is_mixed = after_utf8 or not data.decode("utf-8", errors="ignore").isascii()
        what_to_do = (
            "Other letters of the file are UTF-8, so it has two encodings; write this line anew."
            if is_mixed
            else _conversion("LATIN1")
        )
        raise FormatError(
            path, line, f"expected UTF-8, got byte 0x{byte:02x} at byte {column} of the line. {what_to_do}"
        ) from None


def _conversion(encoding: str) -> str:
    return f"Convert the file, for example with: iconv -f {encoding} -t UTF-8 OLD > NEW"
