"""Compare models of word senses on contexts, few of them labeled."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from handful.core.errors import DataError
from handful.core.records import Occurrence
from handful.corpora.occurrences import read_occurrences
from handful.corpora.opening import bare_stem
from handful.corpora.sentences import read_sentences
from handful.evaluation.ranking import Setting
from handful.experiment.arena_corpora import CorpusArena, CorpusDraws
from handful.experiment.compare_corpora import CorpusComparison, compare_corpus
from handful.experiment.session import Session
from handful.experiment.trial import Outcome, Task
from handful.senses import SenseClassifier

_LEAST = 10


class SenseArena(CorpusArena):
    """Trials of models of word senses on contexts whose senses are known.

    Parameters
    ----------
    name : str
        Name of the sample.
    occurrences : sequence of Occurrence
        Words in context, each with a sense.
    unlabeled : sequence of Occurrence
        Contexts without; if there are none, those whose senses are hidden serve as such.
    draws : CorpusDraws
        Which contexts are learned from and tested.
    seed : int
        Seed.
    """

    takes = "occurrences"

    def __init__(
        self,
        name: str,
        occurrences: Sequence[Occurrence],
        unlabeled: Sequence[Occurrence],
        draws: CorpusDraws,
        seed: int,
    ) -> None:
        super().__init__(name, "accuracy of senses", draws, seed)
        # Tokens and features do not depend on what is learned from, so they are made once.
        ready = SenseClassifier()
        self.contexts = ready.contexts(occurrences)
        self.unlabeled = ready.contexts(unlabeled)

    @property
    def setting(self) -> Setting:
        """What the scores are scores of."""
        n_test = len(self.draws.parts(0, self.draws.n_labels)[2])
        return Setting(
            self.draws.pool_share,
            n_test,
            self.draws.n_labels,
            "unlabeled contexts",
            "labeled contexts",
            metric=self.metric,
        )

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a report says of the sample."""
        senses = {(c.occurrence.word, sense) for c in self.contexts for sense in c.occurrence.senses}
        return {
            "contexts with a sense": len(self.contexts),
            "contexts without": len(self.unlabeled),
            "words": len({word for word, _ in senses}),
            "senses": len(senses),
        }

    @property
    def key(self) -> Sequence[Any]:
        """All that outcomes depend on."""
        told = [[repr(c.occurrence) for c in contexts] for contexts in (self.contexts, self.unlabeled)]
        return [told, self.draws.n_labels, self.seed]

    def _run(self, task: Task) -> Outcome:
        start = time.perf_counter()
        train, hidden, test = self.draws.parts(task.draw, task.n_labels)
        labeled, tested = ([self.contexts[i] for i in part] for part in (train, test))
        raw = self.unlabeled or [
            replace(context, occurrence=replace(context.occurrence, senses=()))
            for context in (self.contexts[i] for i in hidden)
        ]
        began = time.perf_counter()
        model = SenseClassifier(task.method, random_state=self.seed)
        model.fit_contexts(labeled, [] if task.labels_only else raw)
        fitted = time.perf_counter()
        # A word whose contexts were all drawn for testing cannot be answered, and that is wrong.
        known = [place for place, context in enumerate(tested) if context.occurrence.word in model.models_]
        answers = dict(zip(known, model.predict_contexts([tested[place] for place in known]), strict=True))
        done = time.perf_counter()
        right = [answers.get(place) in context.occurrence.senses for place, context in enumerate(tested)]
        return Outcome(
            task,
            sum(right) / len(right),
            seconds=time.perf_counter() - start,
            fit_seconds=fitted - began,
            predict_seconds=(done - fitted) / len(right) * 1_000,
            n_bytes=len(pickle.dumps(model, protocol=5)),
        )


def compare_senses(
    path: str | os.PathLike[str],
    *,
    unlabeled: str | os.PathLike[str] | None = None,
    labels: str | int | None = None,
    methods: Sequence[str] | None = None,
    session: Session | None = None,
    **limits: Any,
) -> CorpusComparison:
    r"""Compare models of word senses.

    Parameters
    ----------
    path : path-like
        Words in context with their senses: Senseval XML, or a table with text, word and sense. Contexts without a sense
        are unlabeled ones.
    unlabeled : path-like, optional
        Raw text to take more contexts from. Without any, contexts whose senses are hidden serve as such.
    labels : str or int, optional
        Labeled contexts to learn from: ``"10%"`` or ``20``; by default all that are not tested.
    methods : sequence of str, optional
        Names of methods; all by default. The plain ones always take part.
    session, **limits
        As for `handful.compare`; ``unlabeled_rows`` counts contexts of a word.

    Returns
    -------
    CorpusComparison
        Ranking, gains, verdict and reports.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from handful.corpora.formats import format_named
    >>> from handful.corpora.make import make_sense_contexts
    >>> made = make_sense_contexts({"bank.n": 2}, n_labeled=60, random_state=0)
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "bank.tsv"
    >>> format_named("sense-table").write(target, made)
    >>> compare_senses(target, methods=["naive-bayes"], trials=8, n_jobs=1).ranking.ranks[0].n_draws > 0
    True
    """
    session = Session.of(session, limits)
    occurrences = list(read_occurrences(path))
    labeled = [occurrence for occurrence in occurrences if occurrence.senses]
    if len(labeled) < _LEAST:
        raise DataError(f"{path}: at least {_LEAST} contexts with a sense are needed to compare, got {len(labeled)}.")
    rest = [occurrence for occurrence in occurrences if not occurrence.senses]
    if unlabeled is not None:
        rest += _harvested(unlabeled, occurrences, session.unlabeled_rows)
    draws = CorpusDraws.of(labels, len(labeled), session.seed, "contexts")
    return compare_corpus(SenseArena(bare_stem(path), labeled, rest, draws, session.seed), methods, session)


def _harvested(path: str | os.PathLike[str], known: Sequence[Occurrence], limit: int) -> list[Occurrence]:
    from handful.senses import harvest

    words = {occurrence.word for occurrence in known}
    return harvest(read_sentences(path), words, limit=limit, exclude=known)
