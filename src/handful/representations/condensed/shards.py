"""Unlabeled inputs in shards: sentences, files of text, or rows of a matrix."""

from __future__ import annotations

import codecs
import hashlib
import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from handful.core.errors import FileError, FormatError
from handful.corpora.formats.detection import detect
from handful.corpora.opening import (
    MAX_LINE,
    Source,
    as_source,
    decoded,
    first_chunk,
    open_bytes,
    refuse_lone_returns,
    unpacked,
)
from handful.representations.numbered_text import TextPart, sentence_parts, text_parts

_PART_BYTES = 1 << 20
_SHARD_SENTENCES = 1 << 13
_SHARD_ROWS = 1 << 16
_PREPARED = 2_000
_TRIED_PIECES = 4
Prepare = Callable[[list[Any]], Iterable[Any]]
Preparing = Prepare | Sequence[Prepare]


@dataclass(frozen=True)
class Ready:
    """Inputs that need no preparation, such as labeled ones that are counted too.

    Parameters
    ----------
    inputs : Any
        The inputs.
    """

    inputs: Any


@dataclass(frozen=True)
class UnpackedPart:
    """Lines of a packed file; they travel to the worker, so that the file is unpacked only once.

    Parameters
    ----------
    path : str
        The file.
    first : int
        Number of the first line, from 1 on.
    data : bytes
        The lines.
    """

    path: str
    first: int
    data: bytes = field(repr=False)

    def identity(self) -> str:
        """Return what tells this part from others in a checkpoint: name, place and content."""
        return f"{Path(self.path).name} {self.first} {len(self.data)} {hashlib.sha256(self.data).hexdigest()}"


def shards_of(unlabeled: Any, who: str) -> Iterator[Any]:
    """Cut unlabeled inputs into shards.

    Parameters
    ----------
    unlabeled : list of sentences, path or list of paths, or matrix
        A file holds one sentence a line, tokens between blanks. Text is cut about every million bytes, packed or not,
        and lists every 8,192 sentences.
    who : str
        Name of the caller, for errors.

    Yields
    ------
    shard
        For `Reading`.

    Examples
    --------
    >>> [len(shard) for shard in shards_of([["Rome", "fell"], ["Yes"]], "example")]
    [2]
    """
    if is_files(unlabeled):
        for path in [unlabeled] if isinstance(unlabeled, str | os.PathLike) else unlabeled:
            yield from _file_parts(as_source(path))
        return
    if hasattr(unlabeled, "shape") and len(unlabeled.shape) == 2:
        rows = unlabeled.tocsr() if hasattr(unlabeled, "tocsr") else unlabeled
        for start in range(0, rows.shape[0], _SHARD_ROWS):
            yield rows[start : start + _SHARD_ROWS]
        return
    for part in sentence_parts(unlabeled, who):
        for start in range(0, len(part), _SHARD_SENTENCES):
            yield part[start : start + _SHARD_SENTENCES]


def _file_parts(source: Source) -> Iterable[TextPart | UnpackedPart]:
    _refuse_columns(source)
    if source.is_packed or source.is_stream:
        return unpacked_parts(source)
    return text_parts(source, part_bytes=_PART_BYTES)


def is_files(unlabeled: Any) -> bool:
    """Tell whether unlabeled inputs are the path of a text file, or several.

    Examples
    --------
    >>> is_files("news.txt"), is_files(["a.txt", "b.txt"]), is_files([["Rome", "fell"]])
    (True, True, False)
    """
    several = isinstance(unlabeled, list | tuple) and len(unlabeled) > 0
    paths = unlabeled if several else [unlabeled]
    return all(isinstance(path, str | os.PathLike) for path in paths)


def expected_pieces(unlabeled: Any) -> int | None:
    """Return about how many shards there will be, for a clock; None where nothing tells.

    Notes
    -----
    Of a packed file the first pieces are unpacked, and the rest is taken to be packed as well as they are.
    """
    if not is_files(unlabeled):
        return None
    total = 0
    for path in [unlabeled] if isinstance(unlabeled, str | os.PathLike) else unlabeled:
        if not os.path.isfile(path):  # a stream can be read once only; what is missing is told when it is read
            return None
        try:
            size = float(os.path.getsize(path))
            with open(path, "rb") as packed, unpacked(path, packed) as file:
                if file is not packed:
                    size *= len(file.read(_TRIED_PIECES * _PART_BYTES)) / max(packed.tell(), 1)
        except (OSError, FileError):
            return None
        total += math.ceil(size / _PART_BYTES)
    return total


def unpacked_parts(path: str | os.PathLike[str]) -> Iterator[UnpackedPart]:
    """Divide a packed text file at line ends, where `text_parts` would divide the same text unpacked.

    Parameters
    ----------
    path : path-like
        The file.

    Yields
    ------
    UnpackedPart
        The parts in file order.
    """
    with open_bytes(path) as file:
        first, mark = 1, file.read(len(codecs.BOM_UTF8))
        rest = b"" if mark == codecs.BOM_UTF8 else mark
        while data := rest + file.read(_PART_BYTES - len(rest)) + file.readline(MAX_LINE + 1):
            yield UnpackedPart(os.fspath(path), first, data)
            first += data.count(b"\n")
            rest = b""


def digest_of(shard: Any) -> str | None:
    r"""Return the digest of the text of a piece of a file; None for what is no piece of a file.

    Examples
    --------
    >>> digest_of(UnpackedPart("a.txt.gz", 1, b"one\n")) == digest_of(UnpackedPart("b.txt.gz", 7, b"one\n"))
    True
    """
    if not isinstance(shard, TextPart | UnpackedPart):
        return None
    data = shard.data if isinstance(shard, UnpackedPart) else _bytes(shard)
    return hashlib.sha256(data).hexdigest()[:32]


def _refuse_columns(source: Source) -> None:
    """Raise if a file is no text at all, or has columns, of which all would be counted as words."""
    data = first_chunk(source, io.BytesIO(source.head))
    refuse_lone_returns(source, data)
    lines = [line for line in data.split(b"\n") if line.strip() and not line.startswith((b"#", b"-DOCSTART-"))]
    if not source.is_whole:
        del lines[-1:]
    if lines and all(b"\t" in line for line in lines) and detect(source) in ("conll", "conllu", "table"):
        raise FormatError(
            source, 1, "expected raw text, one sentence a line, got columns between tabs. Name a file of words alone."
        )


class Reading:
    """Turn a shard into inputs, prepared some thousand at a time; travels to workers.

    Parameters
    ----------
    prepare : callable or sequence of callables, optional
        From a list of sentences to sentences, for example with a column more; several are applied one after the other.

    Examples
    --------
    >>> list(Reading(lambda batch: [s[:1] for s in batch])([["Rome", "fell"], ["Yes"]]))
    [['Rome'], ['Yes']]
    """

    def __init__(self, prepare: Preparing | None = None) -> None:
        several = () if prepare is None else (prepare,) if callable(prepare) else tuple(prepare)
        self.prepare: tuple[Prepare, ...] = several

    def __call__(self, shard: Any) -> Any:
        """Return the inputs of a shard: rows, or an iterator of sentences."""
        if isinstance(shard, Ready):
            return shard.inputs
        if hasattr(shard, "shape"):
            return shard
        sentences = iter(_sentences(shard))
        return self._prepared(sentences) if self.prepare else sentences

    def _prepared(self, sentences: Iterator[Any]) -> Iterator[Any]:
        while batch := list(islice(sentences, _PREPARED)):
            for prepare in self.prepare:
                batch = list(prepare(batch))
            yield from batch

    @property
    def fingerprint(self) -> str:
        """Name of the preparation, for checkpoints."""
        return " ".join(
            str(getattr(one, "fingerprint", getattr(one, "__qualname__", repr(one)))) for one in self.prepare
        )


def _sentences(shard: Any) -> Iterable[Any]:
    return _lines(shard) if isinstance(shard, TextPart | UnpackedPart) else shard


def _lines(part: TextPart | UnpackedPart) -> Iterator[list[str]]:
    data = part.data if isinstance(part, UnpackedPart) else _bytes(part)
    try:
        text = decoded(part.path, 1, data)
    except FormatError:
        # The number of the line is looked for only where it is told.
        text = decoded(part.path, _first_line(part), data)
    for line in text.replace("\r\n", "\n").split("\n"):
        if len(line) > MAX_LINE:
            raise FormatError(part.path, None, f"expected lines of at most {MAX_LINE:,} bytes, got a longer one.")
        if tokens := [token for token in line.replace("\t", " ").split(" ") if token]:
            yield tokens


def _bytes(part: TextPart) -> bytes:
    with open(part.path, "rb") as file:
        file.seek(part.start)
        return file.read(min(part.stop - part.start, _PART_BYTES + MAX_LINE + 1))


def _first_line(part: TextPart | UnpackedPart) -> int:
    if isinstance(part, UnpackedPart):
        return part.first
    with open(part.path, "rb") as file:
        sizes = (min(_PART_BYTES, part.start - at) for at in range(0, part.start, _PART_BYTES))
        return 1 + sum(file.read(size).count(b"\n") for size in sizes)
