"""Ways to make a tagger from few tagged sentences and much raw text, and trials of them."""

from __future__ import annotations

import pickle
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.core.errors import HandfulError
from handful.core.records import Sentence
from handful.corpora.tagged import Tagged
from handful.experiment.tagged import score_tags
from handful.experiment.trial import Outcome, Task, quiet_single_thread
from handful.features.template_sets import lookup_templates, ready_set

_ITERATIONS = 60
_PREFIXES = (4, 6, 10, 20)
_RESOLUTION = 16.0
Sentences = Sequence[Sentence]
Tags = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Recipe:
    """One way to make a tagger.

    Parameters
    ----------
    name : str
        Name in tables.
    make : callable
        ``make(bench, sentences, tags, unlabeled)`` returns a fitted tagger.
    uses_unlabeled : bool
        Whether it learns from untagged sentences.
    twin : str or None
        Recipe that does the same from tags alone; None is itself, without the untagged sentences.
    plain : bool
        Whether it is a baseline.
    """

    name: str
    make: Callable[[TaggerBench, Sentences, Tags, Sentences], Any]
    uses_unlabeled: bool = False
    twin: str | None = None
    plain: bool = False


class FrequentTag:
    """Give each word its most frequent tag, and the most frequent of all to a word that is new.

    Examples
    --------
    >>> FrequentTag().fit([["a", "b"]], [["X", "Y"]]).predict([["b", "c"]])
    [['Y', 'X']]
    """

    def fit(self, sentences: Sequence[Any], tags: Tags) -> FrequentTag:
        """Count tags."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for sentence, mine in zip(sentences, tags, strict=True):
            for token, tag in zip(sentence, mine, strict=True):
                counts[token][tag] += 1
        self.tag_of_ = {token: found.most_common(1)[0][0] for token, found in counts.items()}
        self.usual_ = Counter(tag for mine in tags for tag in mine).most_common(1)[0][0]
        return self

    def predict(self, sentences: Sequence[Any]) -> list[list[str]]:
        """Tag sentences."""
        return [[self.tag_of_.get(token, self.usual_) for token in sentence] for sentence in sentences]


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
        self._clusters: tuple[Sentences, Any] | None = None

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

    def clusters(self, sentences: Sentences) -> Any:
        """Return Brown clusters of untagged sentences; those of the last ones are kept."""
        from handful.representations import BrownClusters

        if self._clusters is None or self._clusters[0] is not sentences:
            types = len({token for sentence in sentences for token in sentence.tokens})
            self._clusters = (sentences, BrownClusters(max(2, min(200, types // 10))).fit(list(sentences)))
        return self._clusters[1]

    def crf(self, lookups: dict[str, Any] | None = None) -> Any:
        """Return a new CRF, with templates that read the lookups."""
        from handful.tagging import CRF

        if lookups is None:
            return CRF(self.templates, max_iter=_ITERATIONS)
        known = self.data.sentences[0].columns
        texts = [t for t in ready_set(self.templates) if not _mentions(t, {"pos", "chunk"} - set(known))]
        return CRF([*texts, *lookup_templates("brown", _PREFIXES)], max_iter=_ITERATIONS, lookups=lookups)

    def _run(self, task: Task) -> Outcome:
        recipe = RECIPES[task.method]
        train, hidden, test = self.draws.parts(task.draw, task.n_labels)
        sentences = [self.data.sentences[i] for i in train]
        tags = [self.data.tags[i] for i in train]
        # The file of untagged sentences is one object, so that its clusters are learned once.
        raw = self.unlabeled or [Sentence(self.data.sentences[i].tokens) for i in hidden]
        start = time.perf_counter()
        tagger = recipe.make(self, sentences, tags, [] if task.labels_only else raw)
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


def _mentions(template: str, columns: set[str]) -> bool:
    from handful.features import parse_templates

    return any(atom.column in columns for atom in parse_templates([template])[0].atoms)


def _frequent(bench: TaggerBench, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    return FrequentTag().fit(sentences, tags)


def _crf(bench: TaggerBench, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    return bench.crf().fit(list(sentences), [list(mine) for mine in tags])


def _crf_with_clusters(bench: TaggerBench, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    paths = bench.clusters(unlabeled).paths_
    return bench.crf({"brown": paths}).fit(list(sentences), [list(mine) for mine in tags])


def _crf_condensed(bench: TaggerBench, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    from handful.representations import CondensedFeatures

    # Templates may only read what the raw text has too.
    shared = set(unlabeled[0].columns)
    mine = [Sentence(s.tokens, {name: c for name, c in s.columns.items() if name in shared}) for s in sentences]
    given = [list(found) for found in tags]
    features = CondensedFeatures(bench.crf().fit(mine, given), resolution=_RESOLUTION)
    return features.fit(list(unlabeled), labeled=mine).retrain(mine, given, max_iter=_ITERATIONS)


def _prototypes(bench: TaggerBench, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    from handful.tagging import PrototypeTagger
    from handful.tagging.prototypes.lists import extract_prototypes

    lists = extract_prototypes([sentence.tokens for sentence in sentences], tags)
    everything = [*sentences, *unlabeled]
    given: list[Any] = [*map(list, tags), *[None] * len(unlabeled)]
    labels = sorted({tag for mine in tags for tag in mine})
    tagger = PrototypeTagger(lists, order=1, max_iter=30, labels=labels, random_state=bench.seed)
    return tagger.fit([list(sentence.tokens) for sentence in everything], given)


def _stacked(bench: TaggerBench, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    from handful.neighbors import SemiSupervisedCondensedNN
    from handful.tagging.stacked import StackedTagger

    clusters = bench.clusters(unlabeled)
    tagger = StackedTagger(bench.crf(), SemiSupervisedCondensedNN(), clusters=clusters)
    return tagger.fit(list(sentences), [list(mine) for mine in tags], unlabeled=list(unlabeled))


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("frequent-tag", _frequent, plain=True),
        Recipe("crf", _crf, plain=True),
        Recipe("crf+clusters", _crf_with_clusters, uses_unlabeled=True, twin="crf"),
        Recipe("crf+condensed-features", _crf_condensed, uses_unlabeled=True, twin="crf"),
        Recipe("prototypes", _prototypes, uses_unlabeled=True),
        Recipe("crf+stacked-condensed-nn", _stacked, uses_unlabeled=True, twin="crf"),
    )
}
