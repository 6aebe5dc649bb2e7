"""Packed data: gzip, bzip2 and xz, read by content and written by name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from handful.core.errors import FormatError

FilePath: TypeAlias = str | PathLike[str]

CHUNK = 2**18
"""Bytes that are read at a time."""

_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError, ValueError)
_PACKED: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file, mode="rb")),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)


def unpacked(path: FilePath, file: io.BufferedReader) -> io.BufferedReader:
    """Return a file that gives the data as it was before packing; a plain file is given back as it is.

    Parameters
    ----------
    path : path-like
        Name of the file, for messages.
    file : binary file
        At its start.

    Returns
    -------
    binary file
        To be closed in place of `file`.
    """
    start = file.peek(8)[:8]
    for magic, unpack in _PACKED:
        if start.startswith(magic):
            return io.BufferedReader(_Unpacked(path, file, unpack(file)), CHUNK)
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
    return _unpacked_name(path).suffix.lower()


def bare_stem(path: FilePath) -> str:
    """Return the name of a file without its folder, its ending and the one that tells how it is packed.

    Parameters
    ----------
    path : path-like
        The name.

    Returns
    -------
    str
        An ending has letters alone: those of ``sales.2023`` and ``notes.v2`` belong to their names.

    Examples
    --------
    >>> bare_stem("data/sales.2023.csv.gz"), bare_stem("sales.2023"), bare_stem("train.tsv")
    ('sales.2023', 'sales.2023', 'train')
    """
    name = _unpacked_name(path)
    return name.stem if name.suffix[1:].isalpha() else name.name


def _unpacked_name(path: FilePath) -> Path:
    name = Path(path)
    return Path(name.stem) if name.suffix.lower() in (".gz", ".bz2", ".xz") else name


def packing(path: FilePath, file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    """Return a file that packs what is written to it, as the name asks for.

    Parameters
    ----------
    path : path-like
        The name; ``.gz``, ``.bz2`` and ``.xz`` are packed.
    file : binary file
        Where the packed data goes.

    Returns
    -------
    context manager of a binary file
        Equal content gives equal bytes, since no time is stored.
    """
    match Path(path).suffix.lower():
        case ".gz":
            return cast(IO[bytes], gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0))
        case ".bz2":
            return cast(IO[bytes], bz2.BZ2File(file, "wb"))
        case ".xz":
            return cast(IO[bytes], lzma.LZMAFile(file, "wb"))
    return nullcontext(file)
