"""Open, decompress, decode and atomically write files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, suppress
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from handful.errors import DataError, FileError, FormatError


@contextmanager
def atomic_writer(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces `path` only when the block ends well.

    Parameters
    ----------
    path : path-like
        Where the finished file goes; its folder must exist.

    Yields
    ------
    file
        A binary file in the same folder, moved to `path` at the end and removed on an error.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with atomic_writer(target) as file:
    ...     _ = file.write(b"whole")
    >>> target.read_bytes()
    b'whole'
    """
    if "\0" in os.fspath(path):
        raise FileError(f"{path!r}: is not a path that this system can have.")
    target = Path(os.path.abspath(path))  # a link is replaced like any other file: what it names may lie anywhere
    if target.is_dir():
        raise FileError(f"{path}: is a folder. Name a file to write to.")
    # /dev/stdout is a link, and leads to an ordinary file where the shell says so; the link must stay.
    if str(target.parent) in ("/dev", "/dev/fd", "/proc/self/fd") or (target.exists() and not target.is_file()):
        raise FileError(f"{path}: is no ordinary file. Name a file to write to.")
    name = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")
    try:
        handle = _open_private(name)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}).") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if not name.exists():
                _give_name(file.fileno(), name)
        # The finished file gets the rights that a plain open() would give.
        os.chmod(name, _mode_for(target))
        os.replace(name, target)
    except BaseException as error:
        name.unlink(missing_ok=True)
        if isinstance(error, OSError):
            # errors of other libraries have a text and no number
            raise FileError(f"{path}: cannot be written ({error.strerror or ' '.join(str(error).split())}).") from error
        raise


def _open_private(name: Path) -> int:
    """Open a new file for writing, without its name where the system can: so a process that is killed leaves nothing."""
    with suppress(AttributeError, OSError):
        return os.open(name.parent, os.O_TMPFILE | os.O_WRONLY, 0o600)
    return os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)


def _give_name(handle: int, name: Path) -> None:
    folder = os.open(name.parent, os.O_RDONLY)
    try:  # with a folder, Python follows the link to the open file
        os.link(f"/proc/self/fd/{handle}", name.name, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _is_endless(handle: int) -> bool:
    """Whether an open file is a device, such as ``/dev/zero``, that may never come to an end; ``/dev/null`` is not."""
    status = os.fstat(handle)
    if not (stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)) or os.isatty(handle):
        return False
    return not os.path.samestat(status, os.stat(os.devnull))


def lock(handle: int) -> bool:
    """Lock an open file until this process ends; False if another process has it."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _mode_for(target: Path) -> int:
    if target.exists() and not target.is_symlink():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


FilePath: TypeAlias = str | PathLike[str]

CHUNK = 2**18
"""Bytes that are read at a time."""

_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError, ValueError)
_MAGIC: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file, mode="rb")),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)


def decompressed(path: FilePath, file: io.BufferedReader) -> io.BufferedReader:
    """Return a file with the decompressed content of an open one, which a plain file is itself."""
    start = file.peek(8)[:8]
    for magic, decompress in _MAGIC:
        if start.startswith(magic):
            return io.BufferedReader(_Decompressed(path, file, decompress(file)), CHUNK)
    return file


class _Decompressed(io.RawIOBase):
    """Compressed data as a raw file whose only error is a `FormatError`."""

    def __init__(self, path: FilePath, file: IO[bytes], content: Any) -> None:
        self._path, self._file, self._content = path, file, content

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return cast(int, self._content.readinto(buffer))
        except _DAMAGE as error:
            what = "cut off" if isinstance(error, EOFError) else "damaged"
            raise FormatError(
                self._path, None, f"the compressed data is {what}. Copy or download the file again."
            ) from None

    def close(self) -> None:
        if not self.closed:
            self._content.close()
            self._file.close()
        super().close()


def bare_suffix(path: FilePath) -> str:
    """Return the ending of a file name in lower case, with its dot, without that of compression.

    Examples
    --------
    >>> bare_suffix("iris.CSV.gz")
    '.csv'
    """
    return _bare_name(path).suffix.lower()


def bare_stem(path: FilePath) -> str:
    """Return the name of a file without folder and endings; an ending has letters alone.

    Examples
    --------
    >>> bare_stem("data/sales.2023.csv.gz"), bare_stem("sales.2023"), bare_stem("train.tsv")
    ('sales.2023', 'sales.2023', 'train')
    """
    name = _bare_name(path)
    return name.stem if name.suffix[1:].isalpha() else name.name


def _bare_name(path: FilePath) -> Path:
    name = Path(path)
    return Path(name.stem) if name.suffix.lower() in (".gz", ".bz2", ".xz") else name


def compressing(path: FilePath, file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    """Return a file that compresses what is written to it if the name ends in ``.gz``, ``.bz2`` or ``.xz``."""
    match Path(path).suffix.lower():
        case ".gz":
            return cast(IO[bytes], gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0))
        case ".bz2":
            return cast(IO[bytes], bz2.BZ2File(file, "wb"))
        case ".xz":
            return cast(IO[bytes], lzma.LZMAFile(file, "wb"))
    return nullcontext(file)


HEAD = 2**16
"""Bytes at the start of a file that decide its format."""


class Source:
    r"""An open file with its name and its first bytes.

    It is a path itself, so every reader takes one instead of a path. The first reader goes on with the open file, which
    is opened again only if it is read a second time.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are decompressed, by content and not by name. ``-`` is the standard input.

    Attributes
    ----------
    head : bytes
        The first 64 KiB of the decompressed content.
    is_whole : bool
        Whether the head is the whole content.
    notes : list of str
        What a user should know about how the file was read, such as its encoding.
    names : frozenset of str
        Columns that a table is known to have, which tell its header from data.

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
        self.names: frozenset[str] = frozenset()
        raw = _open(path)
        self._file: io.BufferedReader | None = decompressed(self, raw)
        self.is_compressed = self._file is not raw
        self.head = self._file.read(HEAD)
        self.is_whole = len(self.head) < HEAD

    def __fspath__(self) -> str:
        return str(self._path)

    def __str__(self) -> str:
        return "standard input" if self.is_stream else str(self._path)

    __repr__ = __str__

    @property
    def is_stream(self) -> bool:
        """Whether it is the standard input, which can be read once only."""
        return _is_standard_input(self._path)

    @property
    def suffix(self) -> str:
        """Ending of the name, without that of compression."""
        return bare_suffix(self._path)

    def open(self) -> io.BufferedReader:
        """Return a binary file with the decompressed content; close it, or use it in a ``with`` block."""
        file, self._file = self._file, None
        if file is None:
            if self.is_stream:
                raise FileError("standard input: can be read only once. Save it in a file first.")
            return decompressed(self, _open(self._path))
        if self.is_compressed or self.is_stream or not file.seekable():
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
    """Return the source that a path is, or a new one."""
    return path if isinstance(path, Source) else Source(path)


def _is_standard_input(path: FilePath) -> bool:
    return not isinstance(path, bytes) and str(path) == "-"


def open_bytes(path: FilePath) -> io.BufferedReader:
    """Open a file for reading; gzip, bzip2 and xz are decompressed, by content and not by name.

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
        While reading, if compressed data is cut off or damaged.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "no-suffix"
    >>> _ = target.write_bytes(gzip.compress(b"small"))
    >>> with open_bytes(target) as file:
    ...     file.read()
    b'small'
    """
    return path.open() if isinstance(path, Source) else decompressed(path, _open(path))


def _open(path: FilePath) -> io.BufferedReader:
    if _is_standard_input(path):
        # A separate buffer, so that closing it leaves the standard input of the process alone.
        stdin: Any = sys.stdin.buffer
        return io.BufferedReader(_Replayed(b"", stdin), CHUNK)
    try:
        with ExitStack() as failed:
            file = failed.enter_context(open(path, "rb"))
            if _is_endless(file.fileno()):
                raise FileError(f"{path}: is a device. Name a file to read.")
            file.peek(8)
            failed.pop_all()  # closed by the reader that is handed out
    except FileNotFoundError:
        raise FileError(f"{path}: no such file.") from None
    except IsADirectoryError:
        raise FileError(f"{path}: is a folder. Name a file to read.") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise FileError(f"{str(path)!r}: cannot be read ({error}).") from None
    return file


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


MAX_LINE = 16 * 2**20
"""Longest line in bytes that a reader accepts; no real text comes near it."""

MAX_BLANK = 2**20
"""Empty lines in a row after which a file is no text."""

MAX_LINES = 2**18
"""Most lines that one record may have, so that a file without blank lines cannot fill the memory."""

_FOREIGN = (
    (b"HANDFUL\0", "a model of handful. Name the data, not the model."),
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


def read_lines(path: FilePath) -> Generator[tuple[int, str]]:
    r"""Lines of a UTF-8 text file, one after the other, in constant memory.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are decompressed.

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
        `MAX_BLANK` empty lines in a row, as a small compressed file may.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_bytes(b"one\r\ntwo")
    >>> list(read_lines(target))
    [(1, 'one'), (2, 'two')]
    """
    n_blank, is_utf8 = 0, False
    with closing(line_blocks(path, text_chunks(path))) as blocks:
        for number, data in blocks:
            text = decoded(path, number, data, after_utf8=is_utf8)
            is_utf8 = is_utf8 or not text.isascii()
            lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
            n_blank = 0 if text.strip() else n_blank + len(lines)
            if n_blank > MAX_BLANK:
                raise FormatError(path, number, f"expected text, got more than {MAX_BLANK:,} empty lines in a row.")
            yield from enumerate(lines, number)


def text_chunks(path: FilePath, size: int = CHUNK) -> Generator[bytes]:
    """Read a text file piece by piece, without a byte order mark; see `first_chunk` for what is refused."""
    with open_bytes(path) as file:
        chunk = first_chunk(path, file, size)
        while chunk:
            yield chunk
            chunk = file.read(size)


def line_blocks(path: FilePath, chunks: Generator[bytes]) -> Generator[tuple[int, bytes]]:
    """Put pieces of a file together to whole lines, and number the first of each block; the last may lack its end."""
    number, rest = 1, b""
    with closing(chunks):
        for chunk in chunks:
            rest += chunk
            end = rest.rfind(b"\n") + 1
            if end:
                yield number, rest[:end]
                number += rest.count(b"\n")
                rest = rest[end:]
            elif len(rest) > MAX_LINE:
                raise FormatError(path, number, f"expected a line of at most {MAX_LINE:,} bytes, got a longer one.")
    if rest:
        yield number, rest.removesuffix(b"\r")


def read_whole(path: FilePath, limit: int = MAX_LINE) -> str:
    r"""Text of a small file, with ``\n`` line ends; one with more characters than the limit is refused.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_bytes(b"one\r\ntwo\r\n")
    >>> read_whole(target)
    'one\ntwo'
    """
    lines, size = [], 0
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
        At its start.
    size : int
        How many bytes to read.

    Raises
    ------
    FormatError
        If there are none, they are the start of a model, of an archive or of UTF-16 or UTF-32 text, or all line ends are
        single carriage returns, so that the whole file would count as one line.

    Examples
    --------
    >>> import io
    >>> first_chunk("a.txt", io.BytesIO("\ufeffRome".encode()))
    b'Rome'
    """
    chunk = file.read(size)
    for magic, what in _FOREIGN:
        if chunk.startswith(magic):
            raise FormatError(path, None, f"expected text, got {what}")
    for mark, name in _WIDE:
        if chunk.startswith(mark):
            raise FormatError(path, 1, f"expected UTF-8, got {name}. {_conversion(name)}")
    chunk = chunk.removeprefix(b"\xef\xbb\xbf")
    if not chunk:
        raise FormatError(path, None, "the file is empty.")
    if b"\n" not in chunk and b"\r" in chunk[:-1]:
        advice = r"Convert the file, for example with: tr '\r' '\n' < OLD > NEW"
        raise FormatError(path, 1, rf"expected lines that end in \n or \r\n, got \r alone (old Mac). {advice}")
    return chunk


def decoded(path: FilePath, number: int, data: bytes, *, after_utf8: bool = False) -> str:
    """Return lines of a file as text, or refuse those that are not UTF-8 or hold NUL bytes.

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
        is_mixed = after_utf8 or not data.decode("utf-8", errors="ignore").isascii()
        mixed = "Other letters of the file are UTF-8, so it has two encodings; write this line anew."
        what = f"expected UTF-8, got byte 0x{data[error.start]:02x} at byte {column} of the line."
        raise FormatError(path, line, f"{what} {mixed if is_mixed else _conversion('LATIN1')}") from None


def _conversion(encoding: str) -> str:
    return f"Convert the file, for example with: iconv -f {encoding} -t UTF-8 OLD > NEW"


def refuse_mark(who: str, text: str) -> None:
    """Raise if text that is to start a file starts with U+FEFF, the byte order mark, which reading would drop."""
    if text.startswith("\ufeff"):
        raise DataError(f"{who}: a file must not start with U+FEFF, which is read as a byte order mark. Remove it.")


@contextmanager
def write_bytes(path: FilePath) -> Iterator[IO[bytes]]:
    r"""Open a binary file that replaces `path` when the block ends well; ``.gz``, ``.bz2`` and ``.xz`` are compressed.

    Equal content gives equal bytes, since no time is stored.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.gz"
    >>> with write_bytes(target) as file:
    ...     _ = file.write(b"text")
    >>> target.read_bytes()[:2]
    b'\x1f\x8b'
    """
    with atomic_writer(path) as file, compressing(path, file) as compressed:
        yield compressed


@contextmanager
def write_text_file(path: FilePath) -> Iterator[IO[str]]:
    r"""Open a UTF-8 text file that replaces `path` when the block ends well; compressed as by `write_bytes`.

    Parameters
    ----------
    path : path-like
        Where the finished file goes.

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
        text = io.TextIOWrapper(cast(Any, file), encoding="utf-8", newline="\n")
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


_LONGEST = 60


def shown(value: object) -> str:
    """Return a value as a message shows it: its `repr`, of at most some 60 characters.

    Examples
    --------
    >>> shown("Rome"), shown([1, 2]), shown("9" * 100) == repr("9" * 57 + "...")
    ("'Rome'", '[1, 2]', True)
    """
    text = value if isinstance(value, str) else repr(value)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return repr(text) if isinstance(value, str) else text
