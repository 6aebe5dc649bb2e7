"""Unlabeled inputs in shards: sentences, files of text, or rows of a matrix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from handful.core.errors import DataError
from handful.corpora.formats.plain import read_text
from handful.corpora.opening import open_bytes
from handful.representations.numbering import TextPart, sentence_parts, text_parts

_PART_BYTES = 8 << 20
_SHARD_ROWS = 1 << 16
_PREPARED = 2_000
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


def shards_of(unlabeled: Any, who: str) -> Iterator[Any]:
    """Cut unlabeled inputs into shards.

    Parameters
    ----------
    unlabeled : list of sentences, path or list of paths, or matrix
        A file holds one sentence a line, tokens between blanks. A packed file is one shard, any other is cut every
        8 million bytes.
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
    if isinstance(unlabeled, str | os.PathLike):
        unlabeled = [unlabeled]
    if hasattr(unlabeled, "shape") and len(unlabeled.shape) == 2:
        rows = unlabeled.tocsr() if hasattr(unlabeled, "tocsr") else unlabeled
        for start in range(0, rows.shape[0], _SHARD_ROWS):
            yield rows[start : start + _SHARD_ROWS]
        return
    if isinstance(unlabeled, list | tuple) and unlabeled and all(isinstance(u, str | os.PathLike) for u in unlabeled):
        for path in unlabeled:
            with open_bytes(path) as file:
                packed = not hasattr(file.raw, "name")
            yield from [Path(path)] if packed else text_parts(path, part_bytes=_PART_BYTES)
        return
    yield from sentence_parts(unlabeled, who)


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
    if isinstance(shard, TextPart):
        return _lines(shard)
    if isinstance(shard, Path):
        return (sentence.tokens for sentence in read_text(shard))
    return shard  # type: ignore[no-any-return]


def _lines(part: TextPart) -> Iterator[list[str]]:
    with open(part.path, "rb") as file:
        file.seek(part.start)
        left = part.stop - part.start
        while left > 0 and (line := file.readline()):
            left -= len(line)
            try:
                tokens = [t for t in line.decode().replace("\t", " ").rstrip("\r\n").split(" ") if t]
            except UnicodeDecodeError:
                raise DataError(f"{part.path}: must be UTF-8 text, but is not near byte {part.stop - left}.") from None
            if tokens:
                yield tokens
