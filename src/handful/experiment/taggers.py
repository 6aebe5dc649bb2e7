"""Trials of taggers that are made from few tagged sentences and much raw text."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from handful.core.catalogue import get_card
from handful.core.errors import HandfulError, ParameterError
from handful.core.records import Sentence
from handful.corpora.tagged import Tagged
from handful.experiment.tagged import score_tags
from handful.experiment.trial import Outcome, Task, quiet_single_thread
from handful.tagging.recipes import TaggerSetup

Sentences = Sequence[Sentence]


class TaggerBench:
    """The place where trials of taggers are made.

    Parameters
    ----------
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

    def __init__(self, data: Tagged, unlabeled: Sentences, draws: SentenceDraws, templates: str, seed: int) -> None:
        self.data = data
        self.unlabeled = list(unlabeled)
        self.draws = draws
        self.templates = templates
        self.seed = seed
        self.spans = data.has_spans
        self.setup = TaggerSetup(cast(Any, templates), tuple(data.sentences[0].columns), seed)

    @property
    def metric(self) -> str:
        """What is scored."""
        return "F1 of spans" if self.spans else "accuracy of tags"

    def run(self, task: Task) -> Outcome:
        """Make one trial; a recipe that fails is an outcome too."""
        try:
            with quiet_single_thread():
                return self._run(task)
        except (HandfulError, MemoryError) as error:
            return Outcome(task, None, error=str(error) or "ran out of memory.")
        except Exception as error:
            return Outcome(task, None, error=f"{type(error).__name__}: {error}"[:300])

    def _run(self, task: Task) -> Outcome:
        card = get_card(task.method, "sentences")
        if card.train is None:
            raise ParameterError(f"compare: {task.method} must be fitted by hand, it has no recipe.")
        train, hidden, test = self.draws.parts(task.draw, task.n_labels)
        sentences = [self.data.sentences[i] for i in train]
        tags = [self.data.tags[i] for i in train]
        # The file of untagged sentences is one object, so that its clusters are learned once.
        raw = self.unlabeled or [Sentence(self.data.sentences[i].tokens) for i in hidden]
        start = time.perf_counter()
        tagger = card.train(self.setup, sentences, tags, [] if task.labels_only else raw)
        fitted = time.perf_counter()
        found = tagger.predict([self.data.sentences[i] for i in test])
        done = time.perf_counter()
        gold = [self.data.tags[i] for i in test]
        scores = score_tags(gold, found, self.spans)
        n_tokens = sum(map(len, gold))
        return Outcome(
            task,
            scores["f1" if self.spans else "accuracy"],
            fit_seconds=fitted - start,
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
