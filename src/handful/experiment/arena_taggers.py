"""Where taggers are tried: what is learned from untagged sentences is learned once."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from handful.core.catalogue import cards, get_card
from handful.core.errors import HandfulError, ParameterError
from handful.core.records import Sentence
from handful.corpora.tagged import Tagged
from handful.evaluation.chunks import score_tags
from handful.evaluation.ranking import Setting
from handful.experiment.entrants import Entrant, choose_entrants
from handful.experiment.trial import Cost, Outcome, Pilot, Task, quiet_single_thread
from handful.tagging.recipes import TaggerSetup

_PILOT_SHARE = 10


class TaggedArena:
    """Trials of taggers on one corpus.

    Parameters
    ----------
    name : str
        Name of the corpus.
    data : Tagged
        The tagged sentences.
    unlabeled : sequence of Sentence
        Untagged ones; if there are none, sentences whose tags are hidden serve as such.
    draws : SentenceDraws
        Which sentences are learned from and tested.
    templates : {"pos", "chunk", "ner"}
        What a CRF observes.
    seed : int
        Seed.
    """

    def __init__(
        self, name: str, data: Tagged, unlabeled: Sequence[Sentence], draws: SentenceDraws, templates: str, seed: int
    ) -> None:
        self.name = name
        self.data = data
        self.unlabeled = list(unlabeled)
        self.draws = draws
        self.templates = templates
        self.seed = seed
        self.spans = data.has_spans
        self.setup = TaggerSetup(
            cast(Any, templates), "as-is", 0.0, columns=tuple(data.sentences[0].columns), random_state=seed
        )

    @property
    def metric(self) -> str:
        """What is scored."""
        return "F1 of spans" if self.spans else "accuracy of tags"

    @property
    def setting(self) -> Setting:
        """What the scores are scores of."""
        test = self.draws.parts(0, self.draws.n_labels)[2]
        n_test = sum(len(self.data.tags[i]) for i in test)
        return Setting(self.draws.pool_share, n_test, self.draws.n_labels, "untagged sentences", "tagged sentences")

    def entrants(self, methods: Sequence[str] | None) -> tuple[Entrant, ...]:
        """Return those who take part; see `choose_entrants`."""
        known = {card.name: card for card in cards("sentences") if card.train is not None}
        chosen = None if methods is None else [get_card(name, "sentences").name for name in methods]
        for name in chosen or ():
            if name not in known:
                raise ParameterError(f"compare: {name} must be fitted by hand, it has no recipe.")
        return choose_entrants(known, chosen)

    def prepare(self) -> None:
        """Learn the clusters of the untagged sentences, which are the same for all draws."""
        if self.unlabeled:
            self.setup.clusters(self.unlabeled)

    def run(self, task: Task) -> Outcome:
        """Make one trial; a tagger that fails is an outcome too.

        Parameters
        ----------
        task : Task
            The trial.

        Returns
        -------
        Outcome
            What came of it.
        """
        start = time.perf_counter()
        try:
            with quiet_single_thread():
                return self._run(task, start)
        except (HandfulError, MemoryError) as error:
            return Outcome(task, None, error=str(error) or "ran out of memory.")
        except Exception as error:
            return Outcome(task, None, error=f"{type(error).__name__}: {error}"[:300])

    def pilot(self, pilot: Pilot) -> Cost:
        """Try a tagger on a tenth of the sentences.

        Parameters
        ----------
        pilot : Pilot
            Which one.

        Returns
        -------
        Cost
            Ten times what that took, as a guess; memory is not measured.
        """
        few = max(2, self.draws.n_labels // _PILOT_SHARE)
        self.run(Task(pilot.method, pilot.labels_only, 0, 2))  # compiles what it needs
        outcome = self.run(Task(pilot.method, pilot.labels_only, 0, few))
        return Cost(outcome.seconds * self.draws.n_labels / few, 0)

    def _run(self, task: Task, start: float) -> Outcome:
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
        scores = score_tags(gold, answers, self.spans)
        n_tokens = sum(map(len, gold))
        return Outcome(
            task,
            scores["f1" if self.spans else "accuracy"],
            seconds=time.perf_counter() - start,
            fit_seconds=fitted - began,
            predict_seconds=(done - fitted) / n_tokens * 1_000,
            n_bytes=len(pickle.dumps(tagger, protocol=5)),
        )


class SentenceDraws:
    """Repeated draws of sentences: five folds are tested in turn, then dealt anew.

    Parameters
    ----------
    n_sentences : int
        Sentences in all.
    n_labels : int
        Tagged sentences to learn from.
    seed : int
        Seed.

    Examples
    --------
    >>> train, hidden, test = SentenceDraws(20, 8, 0).parts(0, 4)
    >>> len(train), len(hidden), len(test)
    (4, 12, 4)
    """

    n_folds = 5
    pool_share = 0.25

    def __init__(self, n_sentences: int, n_labels: int, seed: int) -> None:
        self.n_sentences = n_sentences
        self.n_labels = n_labels
        self._seed = seed
        self.sizes = sorted({size for size in (n_labels // 4, n_labels // 2, n_labels) if size >= 2})

    def parts(self, draw: int, n_labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the sentences to learn from, those whose tags are hidden, and the tested ones."""
        number, fold = divmod(draw, self.n_folds)
        order = np.random.default_rng([self._seed, number]).permutation(self.n_sentences)
        tested = np.arange(self.n_sentences) % self.n_folds == fold
        pool = np.random.default_rng([self._seed, number, fold]).permutation(order[~tested])
        return np.sort(pool[:n_labels]), np.sort(pool[n_labels:]), np.sort(order[tested])
