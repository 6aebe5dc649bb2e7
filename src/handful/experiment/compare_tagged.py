"""Compare taggers on tagged sentences and raw text."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, cast

from handful.core.catalogue import get_card
from handful.core.errors import DataError
from handful.core.records import Sentence
from handful.corpora.opening import as_source, bare_stem
from handful.corpora.tagged import Tagged, read_tagged, read_untagged
from handful.corpora.token_style import cut_as_trained
from handful.evaluation.chunks import sentence_values
from handful.evaluation.ranking import Setting
from handful.experiment.arena_corpora import CorpusArena, CorpusDraws
from handful.experiment.compare_corpora import CorpusComparison, compare_corpus
from handful.experiment.session import Session
from handful.experiment.trial import Outcome, Task
from handful.tagging.recipes import TaggerSetup

_LEAST = 10
_USUAL_SCORE, _USUAL_ROWS = 0.6, 3  # of taggers that learned from few sentences, which counts as three tested ones


class TaggedArena(CorpusArena):
    """Trials of taggers on one corpus.

    Parameters
    ----------
    name : str
        Name of the corpus.
    data : Tagged
        The tagged sentences.
    unlabeled : sequence of Sentence
        Untagged ones; if there are none, sentences whose tags are hidden serve as such.
    draws : CorpusDraws
        Which sentences are learned from and tested.
    templates : {"auto", "general", "wide", "pos", "chunk", "ner"}
        What a CRF observes; auto is what 'handful fit tagger' takes.
    seed : int
        Seed.
    """

    takes = "sentences"

    def __init__(
        self, name: str, data: Tagged, unlabeled: Sequence[Sentence], draws: CorpusDraws, templates: str, seed: int
    ) -> None:
        super().__init__(name, "F1 of spans" if data.has_spans else "accuracy of tags", draws, seed)
        self.data = data
        self.unlabeled = list(unlabeled)
        self.templates = templates
        self.spans = data.has_spans
        self.setup = TaggerSetup(cast(Any, templates), columns=tuple(data.sentences[0].columns), random_state=seed)

    @property
    def setting(self) -> Setting:
        """What the scores are scores of."""
        draws = self.draws
        tested = cache(lambda draw: draws.parts(draw, draws.n_labels)[2])
        return Setting(
            draws.pool_share,
            len(tested(0)),
            draws.n_labels,
            "untagged sentences",
            "tagged sentences",
            tested=tested,
            fewest_draws=1,
            usual_score=_USUAL_SCORE,
            usual_rows=_USUAL_ROWS,
            metric=self.metric,
        )

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a report says of the corpus."""
        return {
            "tagged sentences": len(self.data.sentences),
            "untagged sentences": len(self.unlabeled),
            "tags": len({tag for tags in self.data.tags for tag in tags}),
        }

    @property
    def columns(self) -> Mapping[str, str]:
        """Columns beside the tokens."""
        return dict.fromkeys(self.data.sentences[0].columns, "column")

    @property
    def key(self) -> Sequence[Any]:
        """All that outcomes depend on."""
        tokens = [[s.tokens for s in sentences] for sentences in (self.data.sentences, self.unlabeled)]
        return [self.data.tags, tokens, self.draws.n_labels, self.templates, self.seed]

    def prepare(self) -> None:
        """Learn the clusters of the untagged sentences, which are the same for all draws."""
        if self.unlabeled:
            for folded in (False, True):
                self.setup.clusters(self.unlabeled, folded=folded)

    def _run(self, task: Task) -> Outcome:
        start = time.perf_counter()
        card = get_card(task.method, "sentences")
        assert card.train is not None
        train, hidden, test = self.draws.parts(task.draw, task.n_labels)
        sentences = [self.data.sentences[i] for i in train]
        tags = [self.data.tags[i] for i in train]
        # The file of untagged sentences is one object, so that its clusters are learned once.
        raw = self.unlabeled or [Sentence(self.data.sentences[i].tokens) for i in hidden]
        began = time.perf_counter()
        tagger = card.train(self.setup, sentences, tags, [] if task.labels_only else raw)
        fitted = time.perf_counter()
        answers = tagger.predict([self.data.sentences[i] for i in test])
        done = time.perf_counter()
        gold = [self.data.tags[i] for i in test]
        values = sentence_values(gold, answers, self.spans)
        n_tokens = sum(map(len, gold))
        return Outcome(
            task,
            float(values.mean()),
            seconds=time.perf_counter() - start,
            fit_seconds=fitted - began,
            predict_seconds=(done - fitted) / n_tokens * 1_000,
            n_bytes=len(pickle.dumps(tagger, protocol=5)),
            values=values.tolist(),
        )


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
    arena = TaggedArena(bare_stem(path), data, raw, draws, templates, session.seed)
    return compare_corpus(arena, methods, session)


def _raw(path: str | os.PathLike[str], data: Tagged, limit: int) -> list[Sentence]:
    source = as_source(path)
    cut = cut_as_trained(source, data.style)
    sentences = islice(read_untagged(source, data.layout, data.tag, cut=cut), limit)
    return [Sentence(sentence.tokens) for sentence, _ in sentences]
