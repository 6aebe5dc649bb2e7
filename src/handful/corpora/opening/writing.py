"""Files that appear whole or not at all, packed where the name asks for it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from handful.core.errors import DataError
from handful.core.files import atomic_writer
from handful.corpora.opening.packing import FilePath, packing


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
    with atomic_writer(path) as file, packing(path, file) as packed:
        yield packed


@contextmanager
def write_text_file(path: FilePath, line_end: str = "\n") -> Iterator[IO[str]]:
    r"""Open a UTF-8 text file that replaces `path` when the block ends well; packed as by `write_bytes`.

    Parameters
    ----------
    path : path-like
        Where the finished file goes.
    line_end : str
        What a ``\n`` becomes.

    Yields
    ------
    file
        A text file to write to.

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
        text = io.TextIOWrapper(cast(Any, file), encoding="utf-8", newline=line_end, write_through=False)
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
