"""Text as a stream of numbers: words are numbered once, in parts, and the numbers wait on disk for later passes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import IO, Any

import numpy as np

from handful.core.errors import DataError
from handful.representations.counting import Counting, rarity_limit
from handful.representations.numbered_text import numbered

_BLOCK = 1 << 22
_SPILL_BYTES = 64 << 20


class TokenStream:
    """Sentences as numbers, with the vocabulary behind them.

    Attributes
    ----------
    index : dict of str to int
        Number of each word that is still known.
    counts : ndarray of int64
        How often each number occurs; ``counts[SENTENCE_END]`` is the number of sentences that have words.
    """

    _file: IO[bytes] | None = None

    def __init__(self, words: Sequence[str], numbers: np.ndarray) -> None:
        self.index = {word: number for number, word in enumerate(words, start=1)}
        self.counts = np.bincount(numbers, minlength=len(words) + 1).astype(np.int64)
        self._blocks = [numbers]

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

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
        if sum(block.nbytes for block in self._blocks) > _SPILL_BYTES:
            self._spill()
        if len(index) > max_types:
            self._forget_rare(max_types)
        return self

    def blocks(self, size: int = _BLOCK) -> Iterator[np.ndarray]:
        """Yield the numbers in blocks of at most `size`, in text order."""
        if self._file is not None:
            self._file.seek(0)
            while len(block := np.frombuffer(self._file.read(4 * size), dtype=np.int32)):
                yield block
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

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="handful-")  # noqa: SIM115 (lives as long as the stream)
        self._file.seek(0, os.SEEK_END)
        for block in self._blocks:
            self._file.write(block.tobytes())
        self._blocks = []

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
