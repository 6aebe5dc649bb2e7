"""Raw text, read up to some amount of tokens."""

from __future__ import annotations

from collections.abc import Iterator

from handful.data.files import open_bytes
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
