"""Comparisons of taggers and of sense models."""

from __future__ import annotations

import os
import pickle
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

import numpy as np

from handful.comparison.compare import Comparison
from handful.comparison.search import SuccessiveHalving, run_search
from handful.comparison.splits import LabelCount, Splits
from handful.comparison.statistics import Design
from handful.comparison.trials import Experiment, Limits, Trial, TrialResult, compared_methods
from handful.data.chunks import spans
from handful.data.files import as_source, bare_stem
from handful.data.records import Occurrence, Sentence
from handful.data.senses import read_occurrences
from handful.data.tagged import Tagged, read_sentences, read_tagged, read_untagged
from handful.data.text import cut_as_trained
from handful.errors import DataError, ParameterError
from handful.preprocessing.sentence_encoders import installed_encoder
from handful.registry import MethodSpec, TaskName, all_methods, get_method
from handful.report.content import MethodScore
from handful.senses.classifier import SenseClassifier
from handful.tagging.evaluation import sentence_values
from handful.tagging.recipes import TaggerSetup


def corpus_splits(labels: str | int | None, n_units: int, seed: int, units: str) -> Splits:
    """Return splits of sentences or contexts with as many labels as were asked for; by default all that are not tested."""
    count = None if labels is None else LabelCount.parse(labels)
    if count is not None and count.unit == "per class":
        raise ParameterError(f"labels must be like 10% or 20 for {units}, got {labels!r}.")
    splits = Splits(np.zeros(n_units, dtype=np.int64), count, seed)
    if splits.n_labels < 2:
        raise ParameterError(f"labels must be at least 2 {units}, got {splits.n_labels}.")
    splits.sizes = [size for size in splits.sizes if size >= 2]
    return splits


class CorpusExperiment(Experiment):
    """Trials on one corpus.

    Parameters
    ----------
    name : str
        Name of the corpus.
    metric : str
        What is scored.
    splits : Splits
        What is for training and testing.
    seed : int
        Seed.
    """

    task: TaskName

    def __init__(self, name: str, metric: str, splits: Splits, seed: int) -> None:
        super().__init__(name, metric, seed)
        self.splits = splits

    def lines(self, methods: Sequence[str] | None) -> tuple[MethodScore, ...]:
        """Return the methods to compare; see `compared_methods`."""
        known = {spec.name: spec for spec in all_methods(self.task) if spec.train is not None or spec.build is not None}
        known = {name: spec for name, spec in known.items() if self.suits(spec) or name in (methods or ())}
        chosen = None if methods is None else [get_method(name, self.task).name for name in methods]
        for name in chosen or ():
            if name not in known:
                raise ParameterError(f"methods: {name} cannot be compared. Use 'handful fit' for it.")
        return compared_methods(known, chosen)

    def suits(self, spec: MethodSpec) -> bool:
        """Tell whether a method can be compared on this corpus."""
        return True

    def parts(self, trial: Trial) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what to train on, what has its labels hidden, and what is tested."""
        split = self.splits[trial.split]
        return *split.training(trial.n_labels), split.test

    @abstractmethod
    def _fit(self, trial: Trial, train: np.ndarray, hidden: np.ndarray) -> Any:
        """Return a model of the training part; `hidden` are those whose labels are hidden."""

    @abstractmethod
    def _predict(self, model: Any, test: np.ndarray) -> Any:
        """Return predictions."""

    @abstractmethod
    def _score(self, test: np.ndarray, predicted: Any) -> tuple[float, int]:
        """Return the score of predictions, and of how many items it is."""

    def _run(self, trial: Trial) -> TrialResult:
        start = time.perf_counter()
        train, hidden, test = self.parts(trial)
        began = time.process_time()
        model = self._fit(trial, train, hidden)
        fitted = time.process_time()
        predicted = self._predict(model, test)
        done = time.process_time()
        score, n_items = self._score(test, predicted)
        return TrialResult(
            trial,
            score,
            seconds=time.perf_counter() - start,
            fit_seconds=fitted - began,
            predict_seconds=(done - fitted) / n_items * 1_000,
            n_bytes=len(pickle.dumps(model, protocol=5)),
        )


def compare_corpus(experiment: CorpusExperiment, methods: Sequence[str] | None, limits: Limits) -> Comparison:
    """Compare methods on a corpus; all by default."""
    lines = experiment.lines(methods)
    search = SuccessiveHalving(lines, experiment.design, limits.splits, sizes=experiment.splits.sizes)
    return Comparison(experiment, search, run_search(experiment, search, limits), limits.command)


_LEAST = 10  # labeled sentences or contexts


class TaggerExperiment(CorpusExperiment):
    """Trials of taggers on one corpus.

    Parameters
    ----------
    name : str
        Name of the corpus.
    data : Tagged
        The tagged sentences.
    unlabeled : sequence of Sentence
        Untagged ones; if there are none, sentences whose tags are hidden serve as such.
    splits : Splits
        Which sentences are for training and testing.
    templates : {"auto", "general", "wide", "pos", "chunk", "ner"}
        Feature templates of a CRF.
    seed : int
        Seed.
    """

    task = "sentences"

    def __init__(
        self, name: str, data: Tagged, unlabeled: Sequence[Sentence], splits: Splits, templates: str, seed: int
    ) -> None:
        super().__init__(name, "F1 of spans" if data.has_spans else "accuracy of tags", splits, seed)
        self.data = data
        self.unlabeled = list(unlabeled)
        self.templates = templates
        self.setup = TaggerSetup(cast(Any, templates), columns=tuple(data.sentences[0].columns), random_state=seed)

    @property
    def design(self) -> Design:
        """How scores are measured; tested are tags, or spans."""
        counts = [len(spans(tags)) if self.data.has_spans else len(tags) for tags in self.data.tags]
        splits = self.splits
        n_test = max(float(np.mean(counts)) * splits.n_test, 1.0)
        return Design(
            splits.test_ratio,
            n_test,
            splits.n_folds,
            splits.n_labels,
            "tagged sentences",
            "untagged sentences",
            self.metric,
        )

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts on the corpus for a report."""
        return {
            "tagged sentences": len(self.data.sentences),
            "untagged sentences": len(self.unlabeled),
            "tags": len({tag for tags in self.data.tags for tag in tags}),
        }

    @property
    def columns(self) -> Mapping[str, str]:
        """Columns other than the tokens."""
        return dict.fromkeys(self.data.sentences[0].columns, "column")

    @property
    def key(self) -> Sequence[Any]:
        """All that results depend on."""
        tokens = [[s.tokens for s in sentences] for sentences in (self.data.sentences, self.unlabeled)]
        return [self.data.tags, tokens, self.splits.n_labels, self.templates, self.seed]

    def prepare(self, report: Callable[[str], Any]) -> None:
        """Learn the clusters of the untagged sentences, which are the same for all splits."""
        if self.unlabeled:
            for folded in (False, True):
                self.setup.clusters(self.unlabeled, folded=folded)

    def _fit(self, trial: Trial, train: np.ndarray, hidden: np.ndarray) -> Any:
        spec = get_method(trial.method, "sentences")
        assert spec.train is not None
        # The untagged sentences are one object, so that its clusters are learned once.
        raw = self.unlabeled or [Sentence(self.data.sentences[i].tokens) for i in hidden]
        sentences, tags = [self.data.sentences[i] for i in train], [self.data.tags[i] for i in train]
        return spec.train(self.setup, sentences, tags, [] if trial.supervised else raw)

    def _predict(self, model: Any, test: np.ndarray) -> Any:
        return model.predict([self.data.sentences[i] for i in test])

    def _score(self, test: np.ndarray, predicted: Any) -> tuple[float, int]:
        gold = [self.data.tags[i] for i in test]
        return float(sentence_values(gold, predicted, self.data.has_spans).mean()), sum(map(len, gold))


def compare_tagged(
    path: str | os.PathLike[str],
    *,
    unlabeled: str | os.PathLike[str] | None = None,
    labels: str | int | None = None,
    layout: Sequence[str] = (),
    templates: str = "auto",
    methods: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> Comparison:
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
        Names of the columns, as for `handful.data.tagged.read_tagged`.
    templates : {"auto", "general", "wide", "pos", "chunk", "ner"}, default="auto"
        Feature templates of a CRF; auto is the choice of 'handful fit tagger'.
    methods : sequence of str, optional
        Names of taggers; all by default. Supervised baselines are compared in any case.
    limits : Limits, optional
        Limits; ``max_unlabeled`` counts sentences.

    Returns
    -------
    Comparison
        Scores with intervals, the selected model, and reports.
    """
    limits = limits or Limits()
    data = read_tagged(path, layout)
    if len(data.sentences) < _LEAST:
        raise DataError(f"{path}: at least {_LEAST} tagged sentences are needed to compare, got {len(data.sentences)}.")
    splits = corpus_splits(labels, len(data.sentences), limits.seed, "sentences")
    raw = [] if unlabeled is None else _raw(unlabeled, data, limits.max_unlabeled)
    experiment = TaggerExperiment(bare_stem(path), data, raw, splits, templates, limits.seed)
    return compare_corpus(experiment, methods, limits)


def _raw(path: str | os.PathLike[str], data: Tagged, limit: int) -> list[Sentence]:
    source = as_source(path)
    cut = cut_as_trained(source, data.style)
    sentences = islice(read_untagged(source, data.layout, data.tag, cut=cut), limit)
    return [Sentence(tree.sentence.tokens) for tree, _ in sentences]


class SenseExperiment(CorpusExperiment):
    """Trials of models of word senses on contexts with senses.

    Parameters
    ----------
    name : str
        Name of the sample.
    occurrences : sequence of Occurrence
        Words in context, each with a sense.
    unlabeled : sequence of Occurrence
        Contexts without; if there are none, those whose senses are hidden serve as such.
    splits : Splits
        Which contexts are for training and testing.
    seed : int
        Seed.
    """

    task = "occurrences"

    def __init__(
        self,
        name: str,
        occurrences: Sequence[Occurrence],
        unlabeled: Sequence[Occurrence],
        splits: Splits,
        seed: int,
    ) -> None:
        super().__init__(name, "accuracy of senses", splits, seed)
        # Tokens and features do not depend on the training part, so they are made once.
        ready = SenseClassifier()
        self.contexts = ready.contexts(occurrences)
        self.unlabeled = ready.contexts(unlabeled)
        self._has_encoder = installed_encoder([" ".join(o.tokens) for o in occurrences]) is not None

    @property
    def design(self) -> Design:
        """How scores are measured."""
        splits = self.splits
        names = "labeled contexts", "unlabeled contexts", self.metric
        return Design(splits.test_ratio, splits.n_test, splits.n_folds, splits.n_labels, *names)

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts on the sample for a report."""
        senses = {(c.occurrence.word, sense) for c in self.contexts for sense in c.occurrence.senses}
        return {
            "contexts with a sense": len(self.contexts),
            "contexts without": len(self.unlabeled),
            "words": len({word for word, _ in senses}),
            "senses": len(senses),
        }

    @property
    def key(self) -> Sequence[Any]:
        """All that results depend on."""
        occurrences = [[repr(c.occurrence) for c in contexts] for contexts in (self.contexts, self.unlabeled)]
        return [occurrences, self.splits.n_labels, self.seed]

    def suits(self, spec: MethodSpec) -> bool:
        """Tell whether a method can be compared: embeddings need an encoder that knows the language."""
        return spec.views != ("vectors",) or self._has_encoder

    def _fit(self, trial: Trial, train: np.ndarray, hidden: np.ndarray) -> Any:
        raw = self.unlabeled or [
            replace(context, occurrence=replace(context.occurrence, senses=()))
            for context in (self.contexts[i] for i in hidden)
        ]
        model = SenseClassifier(trial.method, random_state=self.seed)
        return model.fit_contexts([self.contexts[i] for i in train], [] if trial.supervised else raw)

    def _predict(self, model: Any, test: np.ndarray) -> Any:
        # Words without a training context cannot be predicted, which counts as wrong.
        known = [i for i in test.tolist() if self.contexts[i].occurrence.word in model.models_]
        return dict(zip(known, model.predict_contexts([self.contexts[i] for i in known]), strict=True))

    def _score(self, test: np.ndarray, predicted: Any) -> tuple[float, int]:
        correct = [predicted.get(i) in self.contexts[i].occurrence.senses for i in test.tolist()]
        return sum(correct) / len(correct), len(correct)


def compare_senses(
    path: str | os.PathLike[str],
    *,
    unlabeled: str | os.PathLike[str] | None = None,
    labels: str | int | None = None,
    methods: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> Comparison:
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
        Names of methods; all by default. Supervised baselines are compared in any case.
    limits : Limits, optional
        Limits; ``max_unlabeled`` counts contexts of a word.

    Returns
    -------
    Comparison
        Scores with intervals, the selected model, and reports.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from handful.data.formats import format_named
    >>> from papers.generated_english import make_sense_contexts
    >>> made = make_sense_contexts({"bank.n": 2}, n_labeled=60, random_state=0)
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "bank.tsv"
    >>> format_named("sense-table").write(target, made)
    >>> compare_senses(target, methods=["naive-bayes"], limits=Limits(trials=8)).scores[0].n_splits > 0
    True
    """
    limits = limits or Limits()
    occurrences = list(read_occurrences(path))
    labeled = [occurrence for occurrence in occurrences if occurrence.senses]
    if len(labeled) < _LEAST:
        raise DataError(f"{path}: at least {_LEAST} contexts with a sense are needed to compare, got {len(labeled)}.")
    rest = [occurrence for occurrence in occurrences if not occurrence.senses]
    if unlabeled is not None:
        rest += _harvested(unlabeled, occurrences, limits.max_unlabeled)
    splits = corpus_splits(labels, len(labeled), limits.seed, "contexts")
    return compare_corpus(SenseExperiment(bare_stem(path), labeled, rest, splits, limits.seed), methods, limits)


def _harvested(path: str | os.PathLike[str], known: Sequence[Occurrence], limit: int) -> list[Occurrence]:
    from handful.senses.harvesting import harvest

    words = {occurrence.word for occurrence in known}
    return harvest(read_sentences(path), words, limit=limit, exclude=known)
