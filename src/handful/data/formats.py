"""File formats: registry and detection by content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Any, Literal, TypeAlias

from handful.data.files import FilePath, Source, as_source, first_chunk
from handful.errors import FormatError, ParameterError

Yields: TypeAlias = Literal["table", "sentences", "trees", "occurrences", "text", "prototypes", "clusters"]

_SPACES = " \t"


@dataclass(frozen=True)
class Head:
    r"""Start of a file, for the detection of formats.

    Parameters
    ----------
    data : bytes
        The first 64 KiB, decompressed.
    suffix : str
        Ending of the name, in lower case; it only decides where content cannot.
    is_whole : bool
        Whether the file is no longer.

    Examples
    --------
    >>> Head(b"Rome\tNNP\n\n", ".tsv", True).lines
    ('Rome\tNNP', '')
    """

    data: bytes
    suffix: str = ""
    is_whole: bool = True

    @classmethod
    def of(cls, source: Source) -> Head:
        """Return the head of an open file."""
        return cls(source.head, source.suffix, source.is_whole)

    @cached_property
    def text(self) -> str:
        r"""The text, with ``\n`` line ends; what is not UTF-8 (or UTF-16 with a byte order mark) becomes U+FFFD."""
        if self.data.startswith((b"\xff\xfe", b"\xfe\xff")):
            text = self.data[: len(self.data) // 2 * 2].decode("utf-16", errors="replace")
        else:
            text = self.data.decode("utf-8", errors="replace").removeprefix("\ufeff")
        return text.replace("\r\n", "\n")

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """All complete lines."""
        lines = self.text.split("\n")
        if not lines[-1] or (len(lines) > 1 and not self.is_whole):
            lines.pop()
        return tuple(lines)

    @cached_property
    def filled(self) -> tuple[str, ...]:
        """Lines with more than whitespace."""
        return tuple(line for line in self.lines if line.strip(_SPACES))

    @property
    def has_blank(self) -> bool:
        """Whether one of the lines is blank."""
        return len(self.filled) < len(self.lines)

    @property
    def has_blank_inside(self) -> bool:
        """Whether a blank line precedes a filled one."""
        return self.lines[: len(self.filled)] != self.filled


@dataclass(frozen=True)
class Format:
    """A way of writing records into a file.

    Parameters
    ----------
    name : str
        Name for users.
    yields : {"table", "sentences", "trees", "occurrences", "text", "prototypes", "clusters"}
        Result of `read`: ``table``, an iterator of polars frames of raw cells; ``sentences`` and ``text``, an iterator
        of `Sentence` (with columns of tags, and without); ``trees``, of `Tree`; ``occurrences``, of `Occurrence`;
        ``clusters``, of `ClusterRow`; ``prototypes``, a mapping of labels to words.
    detect : callable
        From a `Head` to whether the file is of this format.
    read : callable
        From a path (or an open `Source`) to what the format yields.
    write : callable or None
        From a path and records (for tables, an iterable of frames) to a file.
    suffixes : tuple of str
        Endings of names that ask for this format when writing.
    is_text : bool
        Whether such a file is text, so that a binary one cannot be of this format.

    Examples
    --------
    >>> from handful.data.formats import format_named
    >>> format_named("conllu").yields
    'trees'
    """

    name: str
    yields: Yields
    detect: Callable[[Head], bool]
    read: Callable[..., Any]
    write: Callable[..., None] | None = None
    suffixes: tuple[str, ...] = ()
    is_text: bool = True


# The module of this package and the name of each format in it. The first that recognizes a file reads it, so special
# formats precede general ones. A new format is added by a line here: its place, and the start of such files (after
# whitespace) or the ending of their names, where that is sure. The module is only imported for files that fit.
FORMATS: dict[tuple[str, str], tuple[str, ...]] = {
    ("tabular", "PARQUET_FORMAT"): ("PAR1", ".parquet"),
    ("tabular", "EXCEL_FORMAT"): ("PK",),
    ("senses", "SENSEVAL_FORMAT"): ("<",),
    ("spans", "SPANS_FORMAT"): ("{", "["),
    ("spans", "TOKEN_LISTS_FORMAT"): ("{", "["),
    ("json_records", "JSON_ARRAY_FORMAT"): ("[",),
    ("json_records", "JSON_LINES_FORMAT"): ("{", ".jsonl", ".ndjson"),
    ("conll", "CONLLU_FORMAT"): ("#", *"0123456789"),
    ("word_lists", "CLUSTERS_FORMAT"): ("0", "1"),
    ("word_lists", "PROTOTYPES_FORMAT"): (),
    ("senses", "SENSE_TABLE_FORMAT"): (),
    ("csv", "DELIMITED_FORMAT"): (),
    ("conll", "CONLL_FORMAT"): (),
    ("text", "RAW_FORMAT"): (),
    ("text", "PLAIN_FORMAT"): (),
}


@cache
def all_formats() -> tuple[Format, ...]:
    """Return all formats, in the order in which they are tried.

    Returns
    -------
    tuple of Format
        The special ones first.

    Examples
    --------
    >>> [format.name for format in all_formats() if format.yields == "trees"]
    ['conllu']
    """
    return tuple(map(_format_in, FORMATS))


def _format_in(place: tuple[str, str]) -> Format:
    module, name = place
    format: Format = getattr(import_module(f"handful.data.{module}"), name)
    return format


def _candidates(head: Head) -> Iterator[Format]:
    """Yield the formats that a file may have, by its first characters and its name, in the order of detection."""
    start = head.text.lstrip()
    for place, signs in FORMATS.items():
        if not signs or start.startswith(signs) or head.suffix in signs:
            yield _format_in(place)


def format_named(name: str) -> Format:
    """Return the format of a name.

    Parameters
    ----------
    name : str
        Such as ``"conllu"``.

    Returns
    -------
    Format
        How to read and write it.

    Examples
    --------
    >>> format_named("conll").yields
    'sentences'
    """
    for format in all_formats():
        if format.name == name:
            return format
    names = ", ".join(format.name for format in all_formats())
    raise ParameterError(f"formats: the name must be one of {names}, got {name!r}.")


def format_for(path: FilePath, yields: Yields) -> Format:
    """Return the format for a file to be written, by the ending of its name.

    Parameters
    ----------
    path : path-like
        The name.
    yields : str
        Kind of records to write.

    Returns
    -------
    Format
        One that can write it.

    Examples
    --------
    >>> format_for("answers.parquet", "table").name
    'parquet'
    """
    from handful.data.files import bare_suffix

    suffix = bare_suffix(path)
    able = [format for format in all_formats() if format.yields == yields and format.write is not None]
    for format in able:
        if suffix in format.suffixes:
            return format
    endings = ", ".join(ending for format in able for ending in format.suffixes)
    raise ParameterError(f"{path}: the name of a {yields} must end in {endings}, got {suffix or 'no ending'}.")


def format_of(path: FilePath) -> Format:
    r"""Guess the format of a file from its first 64 KiB.

    Parameters
    ----------
    path : path-like
        The file, or a `Source`, which is then not opened again; gzip, bzip2 and xz are decompressed.

    Returns
    -------
    Format
        The first of `all_formats` that recognizes it; plain text where no other does.

    Raises
    ------
    FileError
        If the file is missing or a folder.
    FormatError
        If it is empty, or binary and of no binary format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a"
    >>> _ = target.write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> format_of(target).name
    'conll'
    """
    head = Head.of(as_source(path))
    is_checked = False
    for format in _candidates(head):
        # Formats of binary files come first; all others must be text.
        if format.is_text and not is_checked:
            _refuse_binary(path, head)
            is_checked = True
        if format.detect(head):
            return format
    raise AssertionError("plain text is any text")


def _refuse_binary(path: FilePath, head: Head) -> None:
    import io

    is_wide = head.data.startswith((b"\xff\xfe", b"\xfe\xff")) and not head.data.startswith(b"\xff\xfe\0\0")
    if is_wide and _format_in(("csv", "DELIMITED_FORMAT")).detect(head):
        return
    data = first_chunk(path, io.BytesIO(head.data))
    if b"\0" in data:
        raise FormatError(path, None, "expected text, got a binary file (it holds NUL bytes).")


def detect(path: FilePath) -> str:
    """Return the name of a file's format, or ``table`` for every kind of table; see `format_of`.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    str
        The name.
    """
    format = format_of(path)
    return "table" if format.yields == "table" else format.name
