"""Where models of word senses are tried."""

from __future__ import annotations

import pickle
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from handful.core.records import Occurrence
from handful.evaluation.ranking import Setting
from handful.experiment.arena_corpora import CorpusArena, CorpusDraws
from handful.experiment.trial import Outcome, Task
from handful.senses import SenseClassifier


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
    metric = "accuracy of senses"

    def __init__(
        self,
        name: str,
        occurrences: Sequence[Occurrence],
        unlabeled: Sequence[Occurrence],
        draws: CorpusDraws,
        seed: int,
    ) -> None:
        super().__init__(name, draws, seed)
        # Tokens and features do not depend on what is learned from, so they are made once.
        ready = SenseClassifier()
        self.contexts = ready.contexts(occurrences)
        self.unlabeled = ready.contexts(unlabeled)

    @property
    def setting(self) -> Setting:
        """What the scores are scores of."""
        n_test = len(self.draws.parts(0, self.draws.n_labels)[2])
        return Setting(self.draws.pool_share, n_test, self.draws.n_labels, "unlabeled contexts", "labeled contexts")

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
