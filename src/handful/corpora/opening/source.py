"""A file that is opened once: its start is looked at, then the same open file is read."""

from __future__ import annotations

import io
import sys
from typing import IO, Any

from handful.core.errors import FileError
from handful.core.files import is_endless
from handful.corpora.opening.packing import CHUNK, FilePath, bare_suffix, unpacked

HEAD = 2**16
"""Bytes at the start of a file that tell its format."""


class Source:
    r"""An open file that knows its name and how it starts.

    It is a path itself, so every reader of this room takes one in place of a path. The first reader goes on with the
    file that is already open; a file is opened anew only if it is read a second time.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are unpacked, told by content and not by name. ``-`` is the standard input.

    Attributes
    ----------
    head : bytes
        How the unpacked content starts, up to 64 KiB.
    notes : list of str
        What readers have to tell about the file, such as a guessed encoding.

    Raises
    ------
    FileError
        If the file is missing, is a folder or may not be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_bytes(b"Rome fell\n")
    >>> source = Source(target)
    >>> source.head, source.suffix
    (b'Rome fell\n', '.txt')
    >>> with source.open() as file:
    ...     file.read()
    b'Rome fell\n'
    """

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self.notes: list[str] = []
        raw = _open(path)
        self._file: io.BufferedReader | None = unpacked(self, raw)
        self.is_packed = self._file is not raw
        self.head = _read_up_to(self._file, HEAD)
        self.is_whole = len(self.head) < HEAD
        """Whether the head is all there is."""

    def __fspath__(self) -> str:
        return str(self._path)

    def __str__(self) -> str:
        return "standard input" if self.is_stream else str(self._path)

    __repr__ = __str__

    @property
    def is_stream(self) -> bool:
        """Whether it is the standard input, which can be read once only."""
        return is_standard_input(self._path)

    @property
    def suffix(self) -> str:
        """Ending of the name, before the one that tells how it is packed."""
        return bare_suffix(self._path)

    @property
    def line_end(self) -> str:
        """What its first line ends in: carriage return and line feed, or a line feed alone."""
        first, end, _ = self.head.partition(b"\n")
        return "\r\n" if end and first.endswith(b"\r") else "\n"

    def open(self) -> io.BufferedReader:
        """Return the content from its start on; close it, or use it in a ``with`` block.

        Returns
        -------
        binary file
            The file that was opened to look at its head, or a new one if that was handed out before.

        Raises
        ------
        FileError
            If the standard input is asked for twice.
        """
        file, self._file = self._file, None
        if file is None:
            if self.is_stream:
                raise FileError("standard input: can be read only once. Save it in a file first.")
            return unpacked(self, _open(self._path))
        if self.is_packed or self.is_stream or not file.seekable():
            return io.BufferedReader(_Replayed(self.head, file), CHUNK)
        file.seek(0)
        return file

    def close(self) -> None:
        """Close the file if nobody has asked for it."""
        if self._file is not None and not self.is_stream:
            self._file.close()
        self._file = None

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()


def as_source(path: FilePath) -> Source:
    """Return the source that a path is, or a new one.

    Parameters
    ----------
    path : path-like or Source
        The file.

    Returns
    -------
    Source
        An open file.
    """
    return path if isinstance(path, Source) else Source(path)


def is_standard_input(path: FilePath) -> bool:
    """Tell whether a name stands for the standard input.

    Examples
    --------
    >>> is_standard_input("-"), is_standard_input("a.csv")
    (True, False)
    """
    return not isinstance(path, bytes) and str(path) == "-"


def open_bytes(path: FilePath) -> io.BufferedReader:
    """Open a file for reading; gzip, bzip2 and xz are unpacked, told by content and not by name.

    Parameters
    ----------
    path : path-like
        The file, or a `Source`; ``-`` is the standard input.

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
    return path.open() if isinstance(path, Source) else unpacked(path, _open(path))


def _open(path: FilePath) -> io.BufferedReader:
    if is_standard_input(path):
        # A buffer of its own, so that closing it leaves the standard input of the process alone.
        stdin: Any = sys.stdin.buffer
        return io.BufferedReader(_Replayed(b"", stdin), CHUNK)
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
    if is_endless(file.fileno()):
        file.close()
        raise FileError(f"{path}: is a device. Name a file to read.")
    try:
        file.peek(8)
    except OSError as error:
        file.close()
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from None
    return file


def _read_up_to(file: IO[bytes], size: int) -> bytes:
    """Read until there is enough; a pipe or packed data may come in pieces."""
    pieces = []
    while size > 0 and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


class _Replayed(io.RawIOBase):
    """The head that was read already, then the rest of the file."""

    def __init__(self, head: bytes, file: io.BufferedReader) -> None:
        self._head = memoryview(head)
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            n = min(len(buffer), len(self._head))
            buffer[:n] = self._head[:n]
            self._head = self._head[n:]
            return n
        return self._file.readinto(buffer)

    def close(self) -> None:
        if not self.closed and self._file is not sys.stdin.buffer:
            self._file.close()
        super().close()
