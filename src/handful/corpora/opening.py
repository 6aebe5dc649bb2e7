"""Bytes and lines of a file: packed or plain, always bounded, each kind of trouble with its own sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from handful.core.errors import DataError, FileError, FormatError
from handful.core.files import atomic_writer

FilePath: TypeAlias = str | PathLike[str]

MAX_LINE = 16 * 2**20
"""Longest line in bytes that a reader accepts; no real text comes near it."""

MAX_LINES = 2**18
"""Most lines that one record may have, so that a file without blank lines cannot fill the memory."""

_CHUNK = 2**18
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError, ValueError)
_PACKED: tuple[tuple[bytes, str, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", "gzip", lambda file: gzip.GzipFile(fileobj=file, mode="rb")),
    (b"BZh", "bzip2", bz2.BZ2File),
    (b"\xfd7zXZ\x00", "xz", lzma.LZMAFile),
)
_FOREIGN = (
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


def open_bytes(path: FilePath) -> io.BufferedReader:
    """Open a file for reading; gzip, bzip2 and xz are unpacked, told by content and not by name.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    file
        A binary file to read from; close it, or use it in a ``with`` block.

    Raises
    ------
    FileError
        If the file is missing, is a folder or may not be read.
    FormatError
        While reading, if packed data is cut off or damaged.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "no-suffix"
    >>> _ = target.write_bytes(gzip.compress(b"packed"))
    >>> with open_bytes(target) as file:
    ...     file.read()
    b'packed'
    """
    try:
        file = open(path, "rb")  # noqa: SIM115 (closed by the reader that is handed out)
    except FileNotFoundError:
        raise FileError(f"{path}: no such file.") from None
    except IsADirectoryError:
        raise FileError(f"{path}: is a folder. Name a file to read.") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise FileError(f"{str(path)!r}: cannot be read ({error}).") from None
    try:
        start = file.peek(8)[:8]
    except OSError as error:
        file.close()
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from None
    for magic, _, unpack in _PACKED:
        if start.startswith(magic):
            return io.BufferedReader(_Unpacked(path, file, unpack(file)), _CHUNK)
    return file


class _Unpacked(io.RawIOBase):
    """Packed data as a raw file whose only trouble is a `FormatError`."""

    def __init__(self, path: FilePath, file: IO[bytes], unpacked: Any) -> None:
        self._path = path
        self._file = file
        self._unpacked = unpacked

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return cast(int, self._unpacked.readinto(buffer))
        except EOFError:
            raise FormatError(
                self._path, None, "the packed data is cut off. Copy or download the file again."
            ) from None
        except _DAMAGE:
            raise FormatError(
                self._path, None, "the packed data is damaged. Copy or download the file again."
            ) from None

    def close(self) -> None:
        if not self.closed:
            self._unpacked.close()
            self._file.close()
        super().close()


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
        If the file is empty, binary, not UTF-8, damaged, or has a line of more than `MAX_LINE` bytes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_bytes(b"one\r\ntwo")
    >>> list(read_lines(target))
    [(1, 'one'), (2, 'two')]
    """
    with open_bytes(path) as file:
        number = 1
        rest = first_chunk(path, file)
        refuse_lone_returns(path, rest)
        while True:
            end = rest.rfind(b"\n") + 1
            if end:
                text = decoded(path, number, rest[:end])
                if "\r" in text:
                    text = text.replace("\r\n", "\n")
                lines = text.split("\n")
                lines.pop()
                yield from enumerate(lines, number)
                number += len(lines)
                rest = rest[end:]
            elif len(rest) > MAX_LINE:
                raise FormatError(path, number, f"expected a line of at most {MAX_LINE:,} bytes, got a longer one.")
            chunk = file.read(_CHUNK)
            if not chunk:
                break
            rest += chunk
        if rest:
            yield number, decoded(path, number, rest).removesuffix("\r")


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


def first_chunk(path: FilePath, file: IO[bytes], size: int = _CHUNK) -> bytes:
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
        If there are none, or they are the start of an archive or of UTF-16 or UTF-32 text.

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


def refuse_mark(who: str, text: str) -> None:
    r"""Raise if text that is to start a file would lose its first character when read.

    Parameters
    ----------
    who : str
        The function that writes, for the message.
    text : str
        The first line.

    Raises
    ------
    DataError
        If it starts with U+FEFF, the byte order mark.

    Examples
    --------
    >>> refuse_mark("write_text", "Rome")
    """
    if text.startswith("\ufeff"):
        raise DataError(f"{who}: a file must not start with U+FEFF, which is read as a byte order mark. Remove it.")


def decoded(path: FilePath, number: int, data: bytes) -> str:
    """Return lines of a file as text.

    Parameters
    ----------
    path : path-like
        Name of the file, for messages.
    number : int
        Number of the first of the lines, from 1 on.
    data : bytes
        The lines.

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
        raise FormatError(
            path, line, f"expected UTF-8, got byte 0x{byte:02x} at byte {column} of the line. {_conversion('LATIN1')}"
        ) from None


def _conversion(encoding: str) -> str:
    return f"Convert the file, for example with: iconv -f {encoding} -t UTF-8 OLD > NEW"


@contextmanager
def write_bytes(path: FilePath) -> Iterator[IO[bytes]]:
    r"""Open a binary file that replaces `path` when the block ends well; ``.gz``, ``.bz2`` and ``.xz`` are packed.

    Parameters
    ----------
    path : path-like
        Where the finished file goes.

    Yields
    ------
    file
        A binary file to write to. Equal content gives equal bytes, since no time is stored.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.gz"
    >>> with write_bytes(target) as file:
    ...     _ = file.write(b"packed")
    >>> target.read_bytes()[:2]
    b'\x1f\x8b'
    """
    with atomic_writer(path) as file, _packing(path, file) as packed:
        yield packed


def bare_suffix(path: FilePath) -> str:
    """Return the ending of a file name in lower case, before the one that tells how it is packed.

    Parameters
    ----------
    path : path-like
        The name.

    Returns
    -------
    str
        With its dot, or empty.

    Examples
    --------
    >>> bare_suffix("iris.CSV.gz")
    '.csv'
    """
    name = Path(path)
    return (Path(name.stem) if name.suffix.lower() in (".gz", ".bz2", ".xz") else name).suffix.lower()


def _packing(path: FilePath, file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    match Path(path).suffix.lower():
        case ".gz":
            return cast(IO[bytes], gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0))
        case ".bz2":
            return cast(IO[bytes], bz2.BZ2File(file, "wb"))
        case ".xz":
            return cast(IO[bytes], lzma.LZMAFile(file, "wb"))
    return nullcontext(file)


@contextmanager
def write_text_file(path: FilePath) -> Iterator[IO[str]]:
    r"""Open a UTF-8 text file that replaces `path` when the block ends well; packed as by `write_bytes`.

    Parameters
    ----------
    path : path-like
        Where the finished file goes.

    Yields
    ------
    file
        A text file to write to; line ends stay ``\n``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with write_text_file(target) as file:
    ...     _ = file.write("one\n")
    >>> target.read_bytes()
    b'one\n'
    """
    with write_bytes(path) as file:
        text = io.TextIOWrapper(cast(Any, file), encoding="utf-8", newline="\n", write_through=False)
        try:
            yield text
            text.flush()
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise DataError(
                f"{path}: UTF-8 cannot hold the lone surrogate {character!r}. Remove it from the text."
            ) from None
        finally:
            # The wrapper must not close the file below it, which the outer block still needs.
            text.detach()
