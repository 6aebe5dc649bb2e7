"""Words to numbers, one part of a text at a time."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from handful.compute import file_identity
from handful.core.errors import DataError, FileError, FormatError
from handful.corpora.opening import first_chunk, open_bytes

SENTENCE_END = 0
"""Number that ends every sentence; words are numbered from 1 on."""

Numbered: TypeAlias = tuple[list[str], np.ndarray]

_CHUNK_BYTES = 1 << 20
_SENTENCES_PER_PART = 1 << 15
_BLANKS = bytes(32 if byte in b"\t\r\x0b\x0c" else byte for byte in range(256))


@dataclass(frozen=True)
class TextPart:
    """A stretch of a plain text file with one sentence a line, tokens between blanks.

    Parameters
    ----------
    path : str
        The file, not packed.
    start, stop : int
        First byte, and the byte after the last; both must be the start of a line.
    """

    path: str
    start: int
    stop: int

    def identity(self) -> str:
        """Return what tells this part from others in a checkpoint: name, place and content."""
        return f"{file_identity(self.path, self.start, self.stop)} {self.start}"


def text_parts(path: str | os.PathLike[str], *, part_bytes: int = 32 << 20) -> list[TextPart]:
    r"""Divide a text file at line ends, so that it can be counted in parts.

    Parameters
    ----------
    path : path-like
        A UTF-8 text file, one sentence a line; not packed.
    part_bytes : int
        Size of a part.

    Returns
    -------
    list of TextPart
        The parts in file order; together the whole file.

    Raises
    ------
    FileError
        If the file cannot be read.
    FormatError
        If the file is empty or packed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_bytes(b"one two\nthree\nfour\n")
    >>> [(part.start, part.stop) for part in text_parts(target, part_bytes=9)]
    [(0, 14), (14, 19)]
    """
    parts = []
    with open_bytes(path) as file:
        if not isinstance(file.raw, io.FileIO):
            raise FormatError(
                path, None, "expected plain text, got a packed file, which has no parts. Unpack it first."
            )
        first_chunk(path, file, size=64)
        file.seek(0)
        start = len(codecs.BOM_UTF8) if file.read(3) == codecs.BOM_UTF8 else 0
        size = file.seek(0, os.SEEK_END)
        while start < size:
            file.seek(start + part_bytes)
            file.readline()
            stop = min(file.tell(), size)
            parts.append(TextPart(os.fspath(path), start, stop))
            start = stop
    return parts


def sentence_parts(sentences: Iterable[Any], who: str) -> Iterator[list[Any]]:
    """Divide sentences into lists of some thousand."""
    if isinstance(sentences, str | bytes):
        raise DataError(f"{who}: sentences must be lists of tokens, got a {type(sentences).__name__}. Split it first.")
    try:
        source = iter(sentences)
    except TypeError:
        raise DataError(f"{who}: sentences must be lists of tokens, got {type(sentences).__name__}.") from None
    while part := list(islice(source, _SENTENCES_PER_PART)):
        yield part


class _Numbers(dict[Any, int]):
    """Gives every new key the next number."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


def numbered(who: str, part: Any) -> Numbered:
    """Give the words of one part numbers.

    Parameters
    ----------
    who : str
        Name of the caller, for errors.
    part : TextPart or iterable of sentences
        The text.

    Returns
    -------
    words, numbers : list of str and ndarray of int32
        The words, numbered from 1 on, and the text as numbers with `SENTENCE_END` after each sentence that has words.

    Examples
    --------
    >>> words, numbers = numbered("fit", [["a", "b", "a"], [], ["b"]])
    >>> words, numbers.tolist()
    (['a', 'b'], [1, 2, 1, 0, 2, 0])
    """
    words, numbers = _numbered_text(part) if isinstance(part, TextPart) else _numbered_sentences(who, part)
    ends = numbers == SENTENCE_END
    empty = ends & np.concatenate((np.ones(min(len(ends), 1), dtype=bool), ends[:-1]))
    return words, numbers[~empty]


def _numbered_sentences(who: str, sentences: Iterable[Any]) -> Numbered:
    end = object()
    index = _Numbers({end: SENTENCE_END})
    flat: list[Any] = []
    for sentence in sentences:
        if isinstance(sentence, str):
            raise DataError(
                f"{who}: each sentence must be a list of tokens, got the string {sentence[:40]!r}. Split it."
            )
        if not isinstance(sentence, Iterable):
            raise DataError(f"{who}: each sentence must be a list of tokens, got {type(sentence).__name__}.")
        flat.extend(sentence)
        flat.append(end)
    try:
        numbers = np.fromiter(map(index.__getitem__, flat), dtype=np.int32, count=len(flat))
        words = list(index)[1:]
    except TypeError:  # a token that cannot be looked up at all, such as a list
        words = [token for token in flat if token is not end]
    for word in words:
        if not isinstance(word, str) or not word:
            raise DataError(f"{who}: tokens must be strings that are not empty, got {word!r}.")
    return words, numbers


def _numbered_text(part: TextPart) -> Numbered:
    # Bytes are looked up as they are; only the words of the part are decoded, once each.
    index = _Numbers({b"\n": SENTENCE_END, b"": 1})
    parts = []
    try:
        with open(part.path, "rb") as file:
            file.seek(part.start)
            left, rest = part.stop - part.start, b""
            while left > 0:
                data = rest + file.read(min(_CHUNK_BYTES, left))
                left -= _CHUNK_BYTES
                end = len(data) if left <= 0 else data.rfind(b"\n") + 1
                data, rest = data[:end], data[end:]
                if left <= 0 and not data.endswith(b"\n"):
                    data += b"\n"
                if b"\0" in data:
                    raise FormatError(part.path, None, "expected text, got a binary file (it holds NUL bytes).")
                tokens = data.translate(_BLANKS).replace(b"\n", b" \n ").split(b" ")
                parts.append(np.fromiter(map(index.__getitem__, tokens), dtype=np.int32, count=len(tokens)))
    except OSError as error:
        raise FileError(f"{part.path}: cannot be read ({error.strerror}).") from None
    numbers = np.concatenate(parts)
    numbers = numbers[numbers != 1]
    words = []
    for word in list(index)[2:]:
        try:
            words.append(word.decode())
        except UnicodeDecodeError:
            raise FormatError(part.path, None, f"expected UTF-8 text, got the token {word[:40]!r}.") from None
    return words, np.where(numbers > 1, numbers - 1, numbers).astype(np.int32)
