"""Large text as a stream of word numbers, counted in bounded memory."""

from __future__ import annotations

import codecs
import io
import os
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from handful.data.files import first_chunk, open_bytes
from handful.errors import DataError, FileError, FormatError, Progress
from handful.kernels.hashing import merge_sums
from handful.parallel import Engine, file_identity, map_parts, open_engine
from handful.params import check_params
from handful.persistence.model_file import Storable

SENTENCE_END = 0
"""Number that ends every sentence; words are numbered from 1 on."""

Numbered: TypeAlias = tuple[list[str], np.ndarray]

_CHUNK_BYTES = 1 << 20
_SENTENCES_PER_PART = 1 << 15
_BLANKS = bytes(32 if byte in b"\t\r\x0b\x0c" else byte for byte in range(256))


@dataclass(frozen=True)
class TextPart:
    """A stretch of a plain text file with one sentence a line, tokens between spaces.

    Parameters
    ----------
    path : str
        The file, not compressed.
    start, stop : int
        First byte, and the byte after the last; both must be the start of a line.
    """

    path: str
    start: int
    stop: int

    def identity(self) -> str:
        """Return what distinguishes this part from others in a checkpoint: name, place and content."""
        return f"{file_identity(self.path, self.start, self.stop)} {self.start}"


def text_parts(path: str | os.PathLike[str], *, part_bytes: int = 32 << 20) -> list[TextPart]:
    r"""Divide a text file at line ends, so that it can be counted in parts.

    Parameters
    ----------
    path : path-like
        A UTF-8 text file, one sentence a line; not compressed.
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
        If the file is empty or compressed.

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
                path, None, "expected plain text, got a compressed file, which has no parts. Decompress it first."
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


Counts: TypeAlias = dict[str, np.ndarray]


@dataclass(frozen=True)
class Counting:
    """Where counting runs, and its progress.

    Parameters
    ----------
    n_jobs, engine, checkpoint, progress
        As for `handful.parallel.map_parts`.
    """

    n_jobs: int | None = None
    engine: Engine = None
    checkpoint: str | os.PathLike[str] | None = None
    progress: Progress | None = None

    @contextmanager
    def opened(self) -> Iterator[Counting]:
        """Open the engine once for all passes over the text."""
        with open_engine(self.engine, self.n_jobs) as engine:
            yield replace(self, engine=engine)

    def summaries(
        self, summarize: Callable[[Any], Any], parts: Iterable[Any], fingerprint: str
    ) -> Generator[Any, None, None]:
        """Return the summaries of the parts in order.

        Examples
        --------
        >>> list(Counting().summaries(len, ["one", "three"], "lengths"))
        [3, 5]
        """
        where: dict[str, Any] = {
            "n_jobs": self.n_jobs,
            "engine": self.engine,
            "checkpoint": self.checkpoint,
            "progress": self.progress,
        }
        return map_parts(summarize, parts, fingerprint=fingerprint, **where)


def count_blocks(
    summarize: Callable[[Any], Counts], blocks: Iterable[Any], *, max_keys: int, fingerprint: str, counting: Counting
) -> tuple[np.ndarray, np.ndarray, int]:
    """Count keys over blocks.

    Parameters
    ----------
    summarize : callable
        Turns a block into ``{"keys", "counts"}``, a sorted run of distinct keys and their counts.
    blocks : iterable
        The blocks.
    max_keys : int
        When more than this many distinct keys are held, the rarest are dropped: all that were counted once, then
        all that were counted twice, and so on, until at most three quarters of that number are left. A key that comes
        again after it was dropped starts from zero.
    fingerprint : str
        What the counts of a block depend on besides the block, for the checkpoint.
    counting : Counting
        Where it runs.

    Returns
    -------
    keys, counts : ndarray of int64
        Distinct keys in increasing order, and their counts.
    n_forgotten : int
        How often keys were counted that were dropped again.

    Examples
    --------
    >>> def summarize(block):
    ...     return dict(zip(("keys", "counts"), np.unique(block, return_counts=True)))
    >>> blocks = [np.array([3, 1, 3]), np.array([1, 1])]
    >>> count_blocks(summarize, blocks, max_keys=10, fingerprint="numbers", counting=Counting())
    (array([1, 3]), array([3, 2]), 0)
    """
    keys, counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    n_forgotten = 0
    with closing(counting.summaries(summarize, blocks, fingerprint)) as runs:
        for more in runs:
            keys, counts = merge_sums(keys, counts, more["keys"], more["counts"])
            if len(keys) > max_keys:
                kept = counts > rarity_limit(counts, max_keys)
                n_forgotten += int(counts[~kept].sum())
                keys, counts = keys[kept], counts[kept]
    return keys, counts, n_forgotten


def rarity_limit(counts: np.ndarray, size: int) -> int:
    """Return a count such that at most three quarters of `size` items were counted more often.

    Examples
    --------
    >>> rarity_limit(np.array([1, 5, 1, 2, 9]), 4)
    1
    """
    keep = max(3 * size // 4, 1)
    return int(np.partition(counts, len(counts) - keep - 1)[len(counts) - keep - 1])


def overlapping(blocks: Iterable[np.ndarray], overlap: int, start: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Put the end of each block before the next one, so that no neighbors are lost between them.

    Parameters
    ----------
    blocks : iterable of ndarray
        The blocks.
    overlap : int
        How many items to carry over.
    start : ndarray
        What stands before the first block.

    Yields
    ------
    n_carried, block : int and ndarray
        How many items at the start of the block were there before.

    Examples
    --------
    >>> blocks = [np.array([1, 2, 3]), np.array([4])]
    >>> [(n, block.tolist()) for n, block in overlapping(blocks, 2, np.array([0]))]
    [(1, [0, 1, 2, 3]), (2, [2, 3, 4])]
    """
    tail = start
    for block in blocks:
        joined = np.concatenate((tail, block))
        yield len(tail), joined
        tail = joined[max(len(joined) - overlap, 0) :]


MAX_TYPES, MAX_PAIRS = 2_000_000, 20_000_000
"""Most words, and most pairs of words, that are held while counting; beyond it the rarest are forgotten."""
_BLOCK = 1 << 22


class TokenStream:
    """Sentences as numbers, with the vocabulary behind them.

    Attributes
    ----------
    index : dict of str to int
        Number of each word that is still known.
    counts : ndarray of int64
        How often each number occurs; ``counts[SENTENCE_END]`` is the number of sentences that have words.
    """

    def __init__(self, words: Sequence[str], numbers: np.ndarray) -> None:
        self.index = {word: number for number, word in enumerate(words, start=1)}
        self.counts = np.bincount(numbers, minlength=len(words) + 1).astype(np.int64)
        self._blocks = [numbers]

    @property
    def n_tokens(self) -> int:
        """Number of words in the text, forgotten ones included."""
        return int(self.counts[1:].sum())

    def append(self, other: TokenStream, max_types: int) -> TokenStream:
        """Add the sentences of another stream behind this one's, and return this one.

        If more than `max_types` words are known then, the rarest are forgotten (all that were seen once, then all that
        were seen twice, and so on) until at most three quarters of that number are left.
        """
        index = self.index
        size = len(self.counts)
        table = np.zeros(len(other.counts), dtype=np.int32)
        for word, number in other.index.items():
            known = index.get(word)
            if known is None:
                known = index[word] = size
                size += 1
            table[number] = known
        self.counts = np.concatenate((self.counts, np.zeros(size - len(self.counts), dtype=np.int64)))
        self.counts[table] += other.counts
        self._blocks.extend(table[block] for block in other._blocks)
        if len(index) > max_types:
            self._forget_rare(max_types)
        return self

    def blocks(self, size: int = _BLOCK) -> Iterator[np.ndarray]:
        """Yield the numbers in blocks of at most `size`, in text order."""
        for block in self._blocks:
            for start in range(0, len(block), size):
                yield block[start : start + size]

    def vocabulary(self, min_count: int) -> list[str]:
        """Return the words seen at least `min_count` times by decreasing count, equal counts in alphabetical order."""
        kept = [(-int(self.counts[number]), word) for word, number in self.index.items()]
        return [word for count, word in sorted(kept) if -count >= min_count]

    def numbering(self, words: Sequence[str]) -> np.ndarray:
        """Return for each number of the stream the place of its word in `words`, or -1."""
        places = np.full(len(self.counts), -1, dtype=np.int32)
        for place, word in enumerate(words):
            places[self.index[word]] = place
        return places

    def _forget_rare(self, max_types: int) -> None:
        # All words with the same count share one fate, so the order of words in the text does not matter.
        limit = rarity_limit(self.counts[list(self.index.values())], max_types)
        self.index = {word: number for word, number in self.index.items() if self.counts[number] > limit}


def read_tokens(parts: Iterable[Any], *, who: str, max_types: int, counting: Counting) -> TokenStream:
    """Give the words of all parts numbers, by map-reduce.

    Parameters
    ----------
    parts : iterable of TextPart or of iterables of sentences
        The text.
    who : str
        Name of the caller, for errors.
    max_types : int
        The rarest words are forgotten when more than this many are known; see `TokenStream.append`.
    counting : Counting
        Where it runs.

    Returns
    -------
    TokenStream
        The whole text.

    Raises
    ------
    DataError
        If there is no token at all, or one is not a string.
    """
    stream: TokenStream | None = None
    with closing(counting.summaries(partial(_numbered, who), parts, "words to numbers, 1")) as summaries:
        for summary in summaries:
            more = TokenStream(summary["words"], summary["numbers"])
            stream = more if stream is None else stream.append(more, max_types)
    if stream is None or stream.n_tokens == 0:
        raise DataError(f"{who}: the text must hold at least one token, got none.")
    return stream


def _numbered(who: str, part: Any) -> dict[str, Any]:
    words, numbers = numbered(who, part)
    return {"words": words, "numbers": numbers}


class TextModel(Storable, BaseEstimator):  # type: ignore[misc]
    """A model that learns of words from raw text; one adds `_count` and `_learn`."""

    min_count: int
    n_jobs: int | None
    DROPPED: ClassVar[dict[str, Any]] = {"max_types": MAX_TYPES, "max_pairs": MAX_PAIRS}

    def fit(
        self,
        sentences: Iterable[Iterable[str]],
        y: Any = None,
        *,
        engine: Engine = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from a text.

        Parameters
        ----------
        sentences : iterable of sentences
            Lists of tokens, or `handful.data.records.Sentence`; read once, never held as a whole.
        y : None
            Not used.
        engine : None, "dask", "tcp://host:port" or distributed.Client
            Where the text is counted; see `handful.parallel.map_parts`. The result does not depend on it.
        checkpoint : path-like, optional
            A folder for what was counted, so that a run that was stopped goes on where it was. It grows by about 4 bytes
            for each token and 16 for each pair that was counted in a block.
        progress : callable, optional
            Receives parts read, blocks counted and, for clusters, words clustered.

        Returns
        -------
        self
            The fitted model.
        """
        parts = sentence_parts(sentences, type(self).__name__)
        return self.fit_parts(parts, engine=engine, checkpoint=checkpoint, progress=progress)

    def fit_parts(
        self,
        parts: Iterable[Any],
        *,
        engine: Engine = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from a text that comes in parts, which `n_jobs` processes read.

        Parameters
        ----------
        parts : iterable
            Each a `TextPart` (see `text_parts`) or an iterable of sentences.
        engine, checkpoint, progress : optional
            As for `fit`.

        Returns
        -------
        self
            The fitted model.
        """
        check_params(self)
        self._learn(self._read(parts, Counting(self.n_jobs, engine, checkpoint, progress)), progress)
        return self

    def _read(self, parts: Iterable[Any], planned: Counting) -> Any:
        owner = type(self).__name__
        with planned.opened() as counting:
            stream = read_tokens(parts, who=owner, max_types=MAX_TYPES, counting=counting)
            words = stream.vocabulary(self.min_count)
            if not words:
                raise DataError(
                    f"{owner}: at least one word must occur min_count={self.min_count} times, got none. Lower min_count."
                )
            return self._count(stream, words, counting)

    @abstractmethod
    def _count(self, stream: TokenStream, words: list[str], counting: Counting) -> Any:
        """Return what is to be known of these words; the stream is gone afterwards."""

    @abstractmethod
    def _learn(self, counted: Any, progress: Progress | None) -> None:
        """Learn from what was counted."""
