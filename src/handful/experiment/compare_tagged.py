"""Compare taggers on tagged sentences and raw text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from handful.core.errors import DataError
from handful.core.records import Sentence
from handful.corpora.tagged import Tagged, read_tagged, read_untagged
from handful.experiment.arena_corpora import CorpusDraws
from handful.experiment.arena_taggers import TaggedArena
from handful.experiment.compare_corpora import CorpusComparison, compare_corpus
from handful.experiment.session import Session

_LEAST = 10


def compare_tagged(
    path: str | os.PathLike[str],
    *,
    unlabeled: str | os.PathLike[str] | None = None,
    labels: str | int | None = None,
    layout: Sequence[str] = (),
    templates: str = "auto",
    methods: Sequence[str] | None = None,
    session: Session | None = None,
    **limits: Any,
) -> CorpusComparison:
    """Compare taggers on few tagged sentences and much raw text.

    Parameters
    ----------
    path : path-like
        Tagged sentences, in columns or CoNLL-U.
    unlabeled : path-like, optional
        Untagged sentences: text, one a line, or columns. By default tagged ones whose tags are hidden.
    labels : str or int, optional
        Tagged sentences to learn from: ``"10%"`` or ``20``; by default all that are not tested.
    layout : sequence of str
        Names of the columns, as for `handful.corpora.tagged.read_tagged`.
    templates : {"auto", "general", "wide", "pos", "chunk", "ner"}, default="auto"
        What a CRF observes; auto is what 'handful fit tagger' takes, so that what wins here is what it makes.
    methods : sequence of str, optional
        Names of taggers; all by default. The plain ones always take part.
    session, **limits
        As for `handful.compare`; ``unlabeled_rows`` counts sentences.

    Returns
    -------
    CorpusComparison
        Ranking, gains, verdict and reports.
    """
    session = Session.of(session, limits)
    data = read_tagged(path, layout)
    if len(data.sentences) < _LEAST:
        raise DataError(f"{path}: at least {_LEAST} tagged sentences are needed to compare, got {len(data.sentences)}.")
    draws = CorpusDraws.of(labels, len(data.sentences), session.seed, "sentences")
    raw = [] if unlabeled is None else _raw(unlabeled, data, session.unlabeled_rows)
    arena = TaggedArena(Path(path).name.split(".")[0], data, raw, draws, templates, session.seed)
    return compare_corpus(arena, methods, session)


def _raw(path: str | os.PathLike[str], data: Tagged, limit: int) -> list[Sentence]:
    sentences = islice(read_untagged(path, data.layout, data.tag), limit)
    return [Sentence(sentence.tokens) for sentence, _ in sentences]
