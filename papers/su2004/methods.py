"""Every method of word senses on the same contexts, as the tables of the paper compare them."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from joblib import Parallel, delayed

from handful.data.records import Occurrence
from handful.errors import DataError, Progress, Step
from handful.neighbors.kernel_pca import CompositeKernelPCA
from handful.parallel import Watched
from handful.registry import method_names
from handful.senses.classifier import SenseClassifier
from handful.senses.features import Context, context_features
from handful.senses.scoring import SenseScore, score_senses
from handful.senses.word_models import WordModel, reads_embeddings, settle_senses

ALL_METHODS = tuple(name for name in method_names("occurrences") if not reads_embeddings(name))


@dataclass
class MethodAnswers:
    """What one method answered.

    Parameters
    ----------
    method : str
        The method.
    answers : dict of str to str
        Sense of each instance.
    seconds : float
        Time of training and answering, added up over words; that of a semi-supervised model which the composite has
        trained along is counted there.
    sources : dict of str to str
        Branch that answered each instance; of the composite only.
    """

    method: str
    answers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    sources: dict[str, str] = field(default_factory=dict)

    def add(self, part: MethodAnswers) -> None:
        """Add the answers to further instances."""
        self.answers.update(part.answers)
        self.sources.update(part.sources)
        self.seconds += part.seconds

    def score(
        self, test: Iterable[Occurrence], words: Iterable[str], sense_map: Mapping[str, str] | None = None
    ) -> SenseScore:
        """Score the answers to the instances of some words."""
        chosen = set(words)
        key = {o.id: o.senses for o in test if o.word in chosen}
        return score_senses(key, {i: sense for i, sense in self.answers.items() if i in key}, sense_map)


def compare_methods(
    train: Sequence[Context],
    test: Sequence[Context],
    unlabeled: Sequence[Context] = (),
    *,
    methods: Sequence[str] = ALL_METHODS,
    model: SenseClassifier | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> dict[str, MethodAnswers]:
    """Train every method on every word and answer the test contexts.

    Parameters
    ----------
    train, test, unlabeled : sequence of Context
        See `handful.senses.features.make_contexts`. Senses of test and unlabeled contexts are not looked at.
    methods : sequence of str
        What to compare.
    model : SenseClassifier or None
        Holds the parameters of the kernel methods and of the features; None is the default.
    n_jobs : int or None
        Processes; None is 1.
    progress : callable or None
        Receives the number of finished words.

    Returns
    -------
    dict of str to MethodAnswers
        Answers of each method.

    Notes
    -----
    The composite holds the supervised and the semi-supervised model, so the three are trained once where all are asked
    for. Memory stays small: the models of a word are let go when its contexts are answered.

    Examples
    --------
    >>> from handful.senses.features import make_contexts
    >>> def of(number, text, *senses):
    ...     tokens = tuple(text.split())
    ...     return Occurrence("bank.n", number, tokens, tokens.index("bank"), senses)
    >>> train = make_contexts([of("1", "the bank lent money", "a"), of("2", "the bank of a river", "b")])
    >>> results = compare_methods(train, make_contexts([of("3", "on the bank of the river")]), methods=["linear-svm"])
    >>> results["linear-svm"].answers
    {'3': 'b'}
    """
    model = model or SenseClassifier(n_neighbors=25)
    groups = list(map(_by_word, (train, test, unlabeled)))
    words = sorted(groups[1])
    missing = sorted(groups[1].keys() - groups[0].keys())
    if missing:
        raise DataError(f"compare_methods: every test word must have training contexts, got none of {missing[0]!r}.")
    jobs = Parallel(n_jobs=n_jobs or 1, return_as="generator")(
        delayed(Watched(_answer_word))(model, methods, *[group.get(word, []) for group in groups]) for word in words
    )
    answers: dict[str, MethodAnswers] = {name: MethodAnswers(name) for name in methods}
    for done, answered in enumerate(jobs, start=1):
        for name, part in answered.items():
            answers[name].add(part)
        if progress is not None:
            progress(Step("words", done, len(words)))
    return answers


def largest_words(occurrences: Iterable[Occurrence], part: str, n_words: int) -> list[str]:
    """Return the words of a part of speech with the most instances, the most frequent first, then by name.

    Examples
    --------
    >>> largest_words([Occurrence(w, "1", ("x",), 0) for w in ("a.v", "b.v", "b.v", "c.n")], "v", 1)
    ['b.v']
    """
    counts = Counter(o.word for o in occurrences if o.word.endswith(f".{part}"))
    return sorted(counts, key=lambda word: (-counts[word], word))[:n_words]


def _by_word(contexts: Sequence[Context]) -> dict[str, list[Context]]:
    groups: dict[str, list[Context]] = defaultdict(list)
    for context in contexts:
        groups[context.occurrence.word].append(context)
    return groups


def _answer_word(
    model: SenseClassifier,
    methods: Sequence[str],
    train: Sequence[Context],
    test: Sequence[Context],
    unlabeled: Sequence[Context],
) -> dict[str, MethodAnswers]:
    parts = [[context_features(c) for c in part] for part in (train, test, unlabeled)]
    senses = settle_senses([c.occurrence.senses for c in train])
    ids = [c.occurrence.id for c in test]
    of_method: dict[str, MethodAnswers] = {}
    branches: dict[str, Any] = {}
    for name in sorted(methods, key=lambda m: m != "composite-kernel-pca"):
        start = time.perf_counter()
        answered = MethodAnswers(name)
        if name in branches:
            answers = branches[name]
        else:
            word_model = WordModel(name, model.settings_of(name)).fit(parts[0], senses, parts[2])
            answers = word_model.predict(parts[1])
            composite = word_model.classifier_
            if isinstance(composite, CompositeKernelPCA):
                rows = word_model.rows(parts[1])
                answered.sources = dict(zip(ids, map(str, composite.predict_source(rows)), strict=True))
                branches = {
                    "kernel-pca": composite.classes_[composite.supervised_.predict(rows)],
                    "semi-supervised-kernel-pca": composite.classes_[composite.semi_supervised_.predict(rows)],
                }
        answered.answers = dict(zip(ids, map(str, answers), strict=True))
        answered.seconds = time.perf_counter() - start
        of_method[name] = answered
    return of_method
