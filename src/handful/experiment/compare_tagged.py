"""Compare taggers on tagged sentences and raw text."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from handful.core.errors import DataError, ParameterError
from handful.core.records import Sentence
from handful.corpora.tagged import Tagged, read_tagged, read_untagged
from handful.experiment.arena_taggers import SentenceDraws, TaggedArena
from handful.experiment.contest import hold
from handful.experiment.journal import digest_of
from handful.experiment.race import Race
from handful.experiment.result import Result
from handful.experiment.session import Session
from handful.experiment.splits import Budget
from handful.reports.content import Content

_LEAST = 10


class TaggerComparison(Result):
    """What came of a comparison of taggers.

    Parameters
    ----------
    arena : TaggedArena
        Where trials were made.
    race : Race
        What was tried, and what came of it.
    state : {"finished", "out of time", "out of trials", "interrupted", "planned"}
        How it ended.
    command : str
        How to do it again.
    """

    def __init__(self, arena: TaggedArena, race: Race, state: str, command: str) -> None:
        super().__init__(arena.name, race, state, command)
        self.arena = arena

    @cached_property
    def content(self) -> Content:
        """All that a report says."""
        from handful.experiment.summary import describe_tagged

        return describe_tagged(self)


def compare_tagged(
    path: str | os.PathLike[str],
    *,
    unlabeled: str | os.PathLike[str] | None = None,
    labels: str | int | None = None,
    layout: Sequence[str] = (),
    templates: str | None = None,
    methods: Sequence[str] | None = None,
    session: Session | None = None,
    **limits: Any,
) -> TaggerComparison:
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
    templates : {"pos", "chunk", "ner"}, optional
        What a CRF observes; by default ``ner`` where tags are spans, else ``pos``.
    methods : sequence of str, optional
        Names of taggers; all by default. The plain ones always take part.
    session, **limits
        As for `handful.compare`; ``unlabeled_rows`` counts sentences.

    Returns
    -------
    TaggerComparison
        Ranking, gains, verdict and reports.
    """
    session = Session.of(session, limits)
    data = read_tagged(path, layout)
    if len(data.sentences) < _LEAST:
        raise DataError(f"{path}: at least {_LEAST} tagged sentences are needed to compare, got {len(data.sentences)}.")
    n_labels = _n_labels(labels, len(data.sentences))
    raw = [] if unlabeled is None else _raw(unlabeled, data, session.unlabeled_rows)
    chosen = templates or ("ner" if data.has_spans else "pos")
    draws = SentenceDraws(len(data.sentences), n_labels, session.seed)
    arena = TaggedArena(Path(path).name.split(".")[0], data, raw, draws, chosen, session.seed)
    race = Race(
        arena.entrants(methods),
        arena.setting,
        n_labels,
        draws=session.draws,
        round_size=draws.n_folds,
        curve=tuple(draws.sizes),
    )
    state = hold(arena, race, session, key=lambda: _key(arena))
    return TaggerComparison(arena, race, state, session.command)


def _key(arena: TaggedArena) -> str:
    tokens = [[s.tokens for s in sentences] for sentences in (arena.data.sentences, arena.unlabeled)]
    return digest_of([arena.data.tags, tokens, arena.draws.n_labels, arena.templates, arena.seed])


def _n_labels(labels: str | int | None, n_sentences: int) -> int:
    pool = n_sentences - math.ceil(n_sentences / SentenceDraws.n_folds)
    if labels is None:
        return pool
    budget = Budget.parse(labels)
    if budget.unit == "per class":
        raise ParameterError("labels must be like 10% or 20 for sentences, got so many of each class.")
    wanted = round(budget.amount * n_sentences if budget.unit == "share" else budget.amount)
    if not 2 <= wanted <= pool:
        raise ParameterError(f"labels must be between 2 and the training part of the sentences ({pool}), got {wanted}.")
    return int(wanted)


def _raw(path: str | os.PathLike[str], data: Tagged, limit: int) -> list[Sentence]:
    sentences = islice(read_untagged(path, data.layout, data.tag), limit)
    return [Sentence(sentence.tokens) for sentence, _ in sentences]
