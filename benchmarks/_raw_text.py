"""Raw text for `scale.py --only curve`: read up to some amount of tokens, all of it or what is near to labeled text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

import numpy as np

from handful.data.files import open_bytes
from handful.data.records import Sentence
from papers.corpora import load
from papers.suzuki2011.texts import NEWS, mixed

LONGEST = 128
_SHARD = 32_768


def raw_sentences(path: str) -> Iterator[list[str]]:
    """Read raw text, one sentence a line; ``news`` is that of the paper's page."""
    if path == "news":
        yield from mixed([[list(s.tokens) for s in load(name) if len(s) <= LONGEST] for name in NEWS])
        return
    with open_bytes(path) as file:
        for line in file:
            tokens = line.decode().split()
            if 0 < len(tokens) <= LONGEST:
                yield tokens


def nearest(labeled: Sequence[Sentence], sentences: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield the sentences whose words are likelier in the labeled text, by the limit of the nearest third of the first ones."""
    first = list(islice(sentences, 20_000))
    inside = Counter(word.lower() for sentence in labeled for word in sentence.tokens)
    outside = Counter(word.lower() for sentence in first for word in sentence)
    more = np.log((outside.total() + 1.0) / (inside.total() + 1.0))

    def nearness(sentence: list[str]) -> float:
        words = [word.lower() for word in sentence]
        return float(np.mean([np.log((inside[w] + 0.1) / (outside[w] + 0.1)) for w in words]) + more)

    least = np.quantile([nearness(sentence) for sentence in first], 2 / 3)
    yield from (sentence for sentence in chain(first, sentences) if nearness(sentence) >= least)


class Text:
    """Raw text that is read once, up to one amount of tokens after the other."""

    def __init__(self, sentences: Iterator[list[str]]) -> None:
        self.n_tokens = 0
        self._sentences = sentences

    def until(self, n_tokens: int) -> Iterator[list[list[str]]]:
        """Yield sentences, in blocks, until `n_tokens` tokens have been read."""
        shard: list[list[str]] = []
        for sentence in self._sentences:
            shard.append(sentence)
            self.n_tokens += len(sentence)
            if len(shard) == _SHARD or self.n_tokens >= n_tokens:
                yield shard
                shard = []
            if self.n_tokens >= n_tokens:
                return
        if shard:
            yield shard
