"""What a format is: how a file of it is recognised, read and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from handful.core.errors import ParameterError
from handful.corpora.opening import Source

Yields: TypeAlias = Literal["table", "sentences", "trees", "occurrences", "text", "prototypes", "clusters"]

_BLANKS = " \t"


@dataclass(frozen=True)
class Head:
    r"""How a file starts, in the forms that tests of formats need.

    Parameters
    ----------
    data : bytes
        The first 64 KiB, unpacked.
    suffix : str
        Ending of the name, in lower case; content tells more, so it only decides where content cannot.
    is_whole : bool
        Whether that is all.

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
        r"""The text, with ``\n`` line ends; what is not UTF-8 (or UTF-16 with its mark) shows as U+FFFD."""
        if self.data.startswith((b"\xff\xfe", b"\xfe\xff")):
            text = self.data[: len(self.data) // 2 * 2].decode("utf-16", errors="replace")
        else:
            text = self.data.decode("utf-8", errors="replace").removeprefix("\ufeff")
        return text.replace("\r\n", "\n")

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """All lines that are surely whole."""
        lines = self.text.split("\n")
        if not lines[-1] or (len(lines) > 1 and not self.is_whole):
            lines.pop()
        return tuple(lines)

    @cached_property
    def filled(self) -> tuple[str, ...]:
        """Lines that hold more than blanks."""
        return tuple(line for line in self.lines if line.strip(_BLANKS))

    @property
    def has_blank(self) -> bool:
        """Whether one of the lines is blank."""
        return len(self.filled) < len(self.lines)

    @property
    def has_blank_inside(self) -> bool:
        """Whether a blank line stands above a filled one."""
        return self.lines[: len(self.filled)] != self.filled


@dataclass(frozen=True)
class Format:
    """A way of writing records into a file.

    Parameters
    ----------
    name : str
        What users call it.
    yields : {"table", "sentences", "trees", "occurrences", "text", "prototypes", "clusters"}
        What `read` gives: ``table``, an iterator of polars frames of raw cells; ``sentences`` and ``text``, an iterator
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
    >>> from handful.corpora.formats import format_named
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

    def __post_init__(self) -> None:
        if not all(suffix.startswith(".") for suffix in self.suffixes):
            raise ParameterError(f"Format {self.name}: suffixes must start with a dot, got {self.suffixes}.")
