"""Sense classifier: one model per word, and a comparison of all methods."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from handful.data.records import Occurrence
from handful.errors import DataError, Progress, Step
from handful.neighbors.kernel_pca import CompositeKernelPCA, SpaceMetric
from handful.neighbors.rows import Vote
from handful.parallel import Watched
from handful.params import Count, Positive, check_params
from handful.persistence.model_file import Storable
from handful.persistence.schema import DictOf, IfThere, Model, stored
from handful.registry import get_method, method_names
from handful.registry import method as registered
from handful.senses.features import Context, Tagger, context_features, make_contexts
from handful.senses.scoring import SenseScore, score_senses
from handful.senses.word_models import WordModel, pooled_neighbors, settle_senses

_SETTINGS = ("n_neighbors", "degree", "n_components", "vote", "metric", "margin", "random_state")


@registered("senses", paper="su2004", task="model", uses_unlabeled=True)
class SenseClassifier(Storable, BaseEstimator):  # type: ignore[misc]
    """Tell the sense of a word from its context, with one model per word.

    Use it when a few sense-tagged contexts of each word are there, and perhaps many untagged ones.

    Parameters
    ----------
    method : str, default="kernel-pca"
        Name of a method for occurrences, see ``handful methods``. ``"kernel-pca"`` learns from labeled contexts alone,
        ``"semi-supervised-kernel-pca"`` from unlabeled ones too, ``"composite-kernel-pca"`` asks the latter where the
        former is in doubt. ``"naive-bayes"``, ``"maximum-entropy"``, ``"linear-svm"`` and ``"most-frequent"`` are
        baselines on the same features.
    tagger : fitted tagger or None, default=None
        Something with ``predict(sentences)`` that gives Penn Treebank tags, such as a fitted `CRF`. Without it there
        are no features of parts of speech and syntax.
    window : int, default=35
        Words to either side that make up the bag.
    weights : dict of str to float, or None, default=None
        Values of feature groups, where they differ from `handful.senses.features.WEIGHTS`.
    n_neighbors : int or "cv", default="cv"
        Neighbors that vote in the kernel PCA space; "cv" by cross-validation of the contexts of a word and,
        the fewer it has the more, of those of all words; see `handful.senses.word_models.pooled_neighbors`.
    degree : int, default=2
        Degree of the polynomial kernel between contexts of length 1.
    n_components : int, "cv" or None, default=400
        Leading components kept, more than most words have labeled contexts; None keeps all.
    vote, metric : str, default="dudani", "cosine"
        See `KernelPCAClassifier`.
    margin : float or "calibrate", default=0.05
        See `CompositeKernelPCA`.
    strength : float or None, default=None
        Smoothing of naive Bayes, or the constant C of maximum entropy and linear SVM.
    n_jobs : int or None, default=None
        Processes; None is 1.
    random_state : int or None, default=0
        For the folds of ``"cv"`` and ``"calibrate"``.

    Attributes
    ----------
    models_ : dict of str to WordModel
        The model of each word.

    Notes
    -----
    Deviations: the paper names its features only by a reference; here they are those of the `features` module, and their
    weights, the window and the vote were chosen by cross-validation on the training part
    of Senseval-2. An instance with several correct senses is trained on the one most frequent for its word. ``P`` (proper
    name) and ``U`` (unassignable) are senses like any other.

    Cost: for each word one eigenproblem over its contexts, cubic in their number.

    Examples
    --------
    >>> def of(number, text, *senses):
    ...     tokens = tuple(text.split())
    ...     return Occurrence("bank.n", number, tokens, tokens.index("bank"), senses)
    >>> train = [of("1", "the bank lent money", "money"), of("2", "the muddy bank of a river", "river")]
    >>> train += [of("3", "a bank lent him cash", "money"), of("4", "the bank of the lake", "river")]
    >>> SenseClassifier(n_neighbors=1).fit(train).predict([of("5", "on the bank of the river")])
    ['river']
    """

    STATE = stored(tagger=IfThere(Model("Tagger")), models_=DictOf(WordModel.STATE))

    def __init__(
        self,
        method: str = "kernel-pca",
        *,
        tagger: Any = None,
        window: Count = 35,
        weights: dict[str, float] | None = None,
        n_neighbors: Count | Literal["cv"] = "cv",
        degree: Count = 2,
        n_components: Count | Literal["cv"] | None = 400,
        vote: Vote = "dudani",
        metric: SpaceMetric = "cosine",
        margin: float | Literal["calibrate"] = 0.05,
        strength: Positive | None = None,
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.method = method
        self.tagger = tagger
        self.window = window
        self.weights = weights
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.n_components = n_components
        self.vote = vote
        self.metric = metric
        self.margin = margin
        self.strength = strength
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        occurrences: Sequence[Occurrence],
        unlabeled: Sequence[Occurrence] = (),
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Train a model for every word that has labeled contexts.

        Parameters
        ----------
        occurrences : sequence of Occurrence
            Words in context; those without senses count as unlabeled.
        unlabeled : sequence of Occurrence
            Further contexts, whose senses, if any, are not looked at.
        progress : callable or None
            Receives the number of finished words.

        Returns
        -------
        self
        """
        check_params(self)
        get_method(self.method, "occurrences")  # says which one may have been meant, before contexts are read
        return self.fit_contexts(self.contexts(occurrences), self.contexts(unlabeled), progress=progress)

    def contexts(self, occurrences: Sequence[Occurrence]) -> list[Context]:
        """Tokenize and tag contexts once, for `fit_contexts` and `predict_contexts` of several classifiers."""
        tagger: Tagger | None = None if self.tagger is None else self.tagger.predict
        return make_contexts(list(occurrences), tagger)

    def fit_contexts(
        self, contexts: Sequence[Context], unlabeled: Sequence[Context] = (), *, progress: Progress | None = None
    ) -> Self:
        """Train on contexts that are ready; see `fit`."""
        check_params(self)
        labeled: dict[str, list[Context]] = defaultdict(list)
        rest: dict[str, list[Context]] = defaultdict(list)
        for context in contexts:
            (labeled if context.occurrence.senses else rest)[context.occurrence.word].append(context)
        for context in unlabeled:
            rest[context.occurrence.word].append(context)
        if not labeled:
            raise DataError(f"SenseClassifier: at least one context must have a sense, got {len(contexts)} without.")
        words = sorted(labeled)
        settings = self._settings_by_word(labeled)
        tasks = Parallel(n_jobs=self.n_jobs or 1, return_as="generator")(
            delayed(Watched(_train))(self.method, settings[word], labeled[word], rest[word], self.window, self.weights)
            for word in words
        )
        self.models_: dict[str, WordModel] = {}
        for word, model in zip(words, tasks, strict=True):
            self.models_[word] = model
            if progress is not None:
                progress(Step("train", len(self.models_), len(words)))
        return self

    def predict(self, occurrences: Sequence[Occurrence]) -> list[str]:
        """Return the sense of each word in context.

        Parameters
        ----------
        occurrences : sequence of Occurrence
            Contexts of words that were trained; senses they have are not looked at.

        Returns
        -------
        list of str
            One sense for each.
        """
        return self.predict_contexts(self.contexts(occurrences))

    def predict_contexts(self, contexts: Sequence[Context]) -> list[str]:
        """Return the sense of each context that is ready; see `predict`."""
        return self._ask("predict", contexts)

    def predict_source(self, contexts: Sequence[Context]) -> list[str]:
        """Tell which branch of the composite answers each context that is ready."""
        return self._ask("predict_source", contexts)

    def score(self, occurrences: Sequence[Occurrence], sense_map: Mapping[str, str] | None = None) -> float:
        """Return the share of contexts whose answer is one of their senses, coarsely with a sense map."""
        key = {str(i): occurrence.senses for i, occurrence in enumerate(occurrences)}
        answers = {str(i): sense for i, sense in enumerate(self.predict(occurrences))}
        return score_senses(key, answers, sense_map).recall

    def settings_of(self, method: str) -> dict[str, Any]:
        """Return the parameters of the classifier behind a method."""
        if get_method(method, "occurrences").unit_rows:
            return {name: getattr(self, name) for name in _SETTINGS}
        return {"strength": self.strength}

    def _settings_by_word(self, labeled: Mapping[str, Sequence[Context]]) -> dict[str, dict[str, Any]]:
        """Return the parameters of every word's classifier, with neighbors chosen where that is asked for."""
        settings = self.settings_of(self.method)
        if settings.get("n_neighbors") != "cv":
            return dict.fromkeys(labeled, settings)
        words = sorted(labeled)
        tried = Parallel(n_jobs=self.n_jobs or 1)(
            delayed(Watched(_train))("kernel-pca", settings, labeled[word], (), self.window, self.weights)
            for word in words
        )
        hits = {
            word: {k: share * len(labeled[word]) for (_, k), share in model.classifier_.cv_scores_.items()}
            for word, model in zip(words, tried, strict=True)
            if model.classifier_ is not None
        }
        chosen = pooled_neighbors(hits, {word: len(labeled[word]) for word in hits})
        return {word: {**settings, "n_neighbors": chosen.get(word, 1)} for word in words}

    def _ask(self, question: str, contexts: Sequence[Context]) -> list[str]:
        check_is_fitted(self)
        by_word: dict[str, list[int]] = defaultdict(list)
        for i, context in enumerate(contexts):
            by_word[context.occurrence.word].append(i)
        answers = np.empty(len(contexts), dtype=object)
        for word, places in by_word.items():
            if word not in self.models_:
                known = ", ".join(sorted(self.models_)[:5])
                raise DataError(
                    f"SenseClassifier: must be trained on a word to tell its senses, got {word!r}. It knows {known}."
                )
            features = [context_features(contexts[i], window=self.window, weights=self.weights) for i in places]
            answers[places] = getattr(self.models_[word], question)(features)
        return [str(answer) for answer in answers]

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "models_": {word: model.to_state() for word, model in self.models_.items()}}

    def _check_state(self) -> None:
        states: Mapping[str, Any] = self.models_
        self.models_ = {word: WordModel.from_state(state) for word, state in states.items()}


def _train(
    method: str,
    settings: dict[str, Any],
    labeled: Sequence[Context],
    unlabeled: Sequence[Context],
    window: int,
    weights: Mapping[str, float] | None,
) -> WordModel:
    """Train the model of one word; a separate function so that it can run in another process."""
    features = [context_features(context, window=window, weights=weights) for context in labeled]
    extra = [context_features(context, window=window, weights=weights) for context in unlabeled]
    senses = settle_senses([context.occurrence.senses for context in labeled])
    return WordModel(method, settings).fit(features, senses, extra)


ALL_METHODS = tuple(method_names("occurrences"))


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
        See `handful.senses.make_contexts`. Senses of test and unlabeled contexts are not looked at.
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
    >>> from handful.senses import make_contexts
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
    parts = [
        [context_features(c, window=model.window, weights=model.weights) for c in part]
        for part in (train, test, unlabeled)
    ]
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
            if isinstance(word_model.classifier_, CompositeKernelPCA):
                sources = word_model.predict_source(parts[1])
                answered.sources = dict(zip(ids, map(str, sources), strict=True))
                branches = word_model.branch_answers(word_model.rows(parts[1]))
        answered.answers = dict(zip(ids, map(str, answers), strict=True))
        answered.seconds = time.perf_counter() - start
        of_method[name] = answered
    return of_method
