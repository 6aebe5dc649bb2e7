"""What models of the words of a text share: how a text is read, and which of its words are known."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

from sklearn.base import BaseEstimator

from handful.compute import Engine
from handful.core.errors import DataError
from handful.core.params import check_params
from handful.core.progress import Progress
from handful.core.store import Storable
from handful.representations.counting import Counting
from handful.representations.numbered_text import sentence_parts
from handful.representations.token_stream import TokenStream, read_tokens


class TextModel(Storable, BaseEstimator):  # type: ignore[misc]
    """A model that learns of words from raw text; one adds `_count` and `_learn`."""

    min_count: int
    n_jobs: int | None
    max_types: int

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
            Lists of tokens, or `handful.core.records.Sentence`; read once, never held as a whole.
        y : None
            Not used.
        engine : None, "dask", "tcp://host:port" or distributed.Client
            Where the text is counted; see `handful.compute.map_reduce`. The result does not depend on it.
        checkpoint : path-like, optional
            A folder for what was counted, so that a run that was stopped goes on where it was. It grows by about 4 bytes
            for each token and 16 for each pair that was counted in a block.
        progress : callable, optional
            Told of parts read, blocks counted and, for clusters, words clustered.

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
        who = type(self).__name__
        with planned.opened() as counting:
            stream = read_tokens(parts, who=who, max_types=self.max_types, counting=counting)
            words = stream.vocabulary(self.min_count)
            if not words:
                raise DataError(
                    f"{who}: at least one word must occur min_count={self.min_count} times, got none. Lower min_count."
                )
            return self._count(stream, words, counting)

    @abstractmethod
    def _count(self, stream: TokenStream, words: list[str], counting: Counting) -> Any:
        """Return what is to be known of these words; the stream is gone afterwards."""

    @abstractmethod
    def _learn(self, counted: Any, progress: Progress | None) -> None:
        """Learn from what was counted."""
