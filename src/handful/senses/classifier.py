"""Sense classifier: one model per word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from handful.data.records import Occurrence
from handful.errors import DataError, ParameterError, Progress, Step
from handful.neighbors.rows import stratified_folds
from handful.parallel import Watched
from handful.params import Count, check_params
from handful.persistence.model_file import Storable
from handful.persistence.schema import DictOf, IfThere, Model, stored
from handful.preprocessing.sentence_encoders import Encoder, check_mark, find_encoder, installed_encoder, known_encoder
from handful.preprocessing.table_encoder import ENCODER_MARK
from handful.registry import get_method
from handful.registry import method as registered
from handful.senses.features import Context, Tagger, context_features, make_contexts
from handful.senses.scoring import score_senses
from handful.senses.word_models import Features, WordModel, pooled_choice, reads_embeddings, settle_senses

_TRIED = ("naive-bayes", "linear-svm", "kernel-pca")  # and embeddings
_AROUND = 12  # words to either side that are encoded
_FOLDS = 5
# Chosen by five-fold cross-validation on the training part of Senseval-2, all words pooled.
_KERNEL_PCA: dict[str, Any] = {"degree": 2, "n_components": 400, "vote": "dudani", "metric": "cosine"}
_DROPPED = (*_KERNEL_PCA, "strength")  # parameters of training in files before version 0.3


@registered("senses", paper="su2004", task="model", uses_unlabeled=True)
class SenseClassifier(Storable, BaseEstimator):  # type: ignore[misc]
    """Tell the sense of a word from its context, with one model per word.

    Use it when a few sense-tagged contexts of each word are there, and perhaps many untagged ones.

    Parameters
    ----------
    method : str, default="auto"
        Name of a method for occurrences, see ``handful methods``. ``"auto"`` chooses among embeddings, naive
        Bayes, a linear SVM and kernel PCA for each word, by cross-validation of its contexts and, the fewer it has the
        more, of those of all words; see `handful.senses.word_models.pooled_choice`. ``"embeddings"`` is a linear SVM on
        the embedding of 12 words to either side. ``"kernel-pca"`` learns from labeled contexts alone,
        ``"semi-supervised-kernel-pca"`` from unlabeled ones too, ``"composite-kernel-pca"`` asks the latter where the
        former is in doubt. ``"naive-bayes"``, ``"maximum-entropy"``, ``"linear-svm"`` and ``"most-frequent"`` are
        baselines on the same features.
    tagger : fitted tagger or None, default=None
        Something with ``predict(sentences)`` that gives Penn Treebank tags, such as a fitted `CRF`. Without it there
        are no features of parts of speech and syntax.
    encoder : "auto", None, path or encoder, default="auto"
        Makes embeddings, see `handful.preprocessing.sentence_encoders.find_encoder`. ``"auto"`` is the default encoder, if
        one is installed and knows the language.
    n_neighbors : int or "cv", default="cv"
        Neighbors that vote in the kernel PCA space; "cv" by cross-validation, as for the method.
    margin : float, default=0.05
        See `CompositeKernelPCA`.
    n_jobs : int or None, default=None
        Processes; None is 1.
    random_state : int or None, default=0
        For the folds of ``"cv"``.

    Attributes
    ----------
    models_ : dict of str to WordModel
        The model of each word.
    encoder_ : dict or None
        Name and hash of the encoder, where a model of a word uses embeddings.

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

    DROPPED: ClassVar[dict[str, Any]] = {"weights": None, "window": 35}
    STATE = stored(tagger=IfThere(Model("Tagger")), models_=DictOf(WordModel.STATE), encoder_=IfThere(ENCODER_MARK))

    def __init__(
        self,
        method: str = "auto",
        *,
        tagger: Any = None,
        encoder: Any = "auto",
        n_neighbors: Count | Literal["cv"] = "cv",
        margin: float = 0.05,
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.method = method
        self.tagger = tagger
        self.encoder = encoder
        self.n_neighbors = n_neighbors
        self.margin = margin
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
        if self.method != "auto":
            get_method(self.method, "occurrences")  # an unknown name is an error before contexts are read
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
            raise DataError("SenseClassifier: no context has a sense. Give the senses of some.")
        labeled = {word: labeled[word] for word in sorted(labeled)}
        encoder, vectors = self._embed(labeled, progress)
        choices = self._choose(labeled, vectors)
        tasks = Parallel(n_jobs=self.n_jobs or 1, return_as="generator")(
            delayed(Watched(_train))(*choices[word], labeled[word], rest[word], vectors[word]) for word in labeled
        )
        self.models_: dict[str, WordModel] = {}
        for word, model in zip(labeled, tasks, strict=True):
            self.models_[word] = model
            if progress is not None:
                progress(Step("train", len(self.models_), len(labeled)))
        used = encoder is not None and any(reads_embeddings(method) for method, _ in choices.values())
        self.encoder_ = encoder.mark if encoder is not None and used else None
        return self

    def _embed(
        self, labeled: Mapping[str, Sequence[Context]], progress: Progress | None
    ) -> tuple[Encoder | None, dict[str, np.ndarray | None]]:
        """Return the encoder, if there is one to use, and the embeddings of the contexts of each word."""
        texts = _texts(list(chain.from_iterable(labeled.values())))
        encoder = self._find_encoder(texts)
        if encoder is None:
            return None, dict.fromkeys(labeled)
        report = None if progress is None else lambda n, total: progress(Step("encode", n, total))
        ends = np.cumsum([len(of_word) for of_word in labeled.values()])[:-1]
        return encoder, dict(zip(labeled, np.split(encoder.encode(texts, report), ends), strict=True))

    def _find_encoder(self, texts: Sequence[str]) -> Encoder | None:
        """Return the encoder, if the method may use embeddings of these texts."""
        is_default = isinstance(self.encoder, str) and self.encoder == "auto"
        if self.method == "auto" and (is_default or self.encoder is None):
            return installed_encoder(texts) if is_default else None
        if self.method != "auto" and not reads_embeddings(self.method):
            return None
        if self.encoder is None:
            raise ParameterError("encoder: method='embeddings' needs one, got None. Leave this parameter out.")
        return find_encoder(None if is_default else self.encoder)

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
        check_is_fitted(self)
        by_word: dict[str, list[int]] = defaultdict(list)
        for i, context in enumerate(contexts):
            by_word[context.occurrence.word].append(i)
        senses = np.empty(len(contexts), dtype=object)
        for word, places in by_word.items():
            if word not in self.models_:
                known = ", ".join(sorted(self.models_)[:5])
                raise DataError(f"SenseClassifier: no model of the word {word!r}. It was trained on {known}.")
            model, some = self.models_[word], [contexts[i] for i in places]
            if reads_embeddings(model.method) and self.encoder_ is not None:
                senses[places] = model.predict(known_encoder(self.encoder_).encode(_texts(some)))
            else:
                senses[places] = model.predict([context_features(context) for context in some])
        return [str(sense) for sense in senses]

    def score(self, occurrences: Sequence[Occurrence], sense_map: Mapping[str, str] | None = None) -> float:
        """Return the share of contexts whose answer is one of their senses, coarsely with a sense map."""
        key = {str(i): occurrence.senses for i, occurrence in enumerate(occurrences)}
        answers = {str(i): sense for i, sense in enumerate(self.predict(occurrences))}
        return score_senses(key, answers, sense_map).recall

    def settings_of(self, method: str) -> dict[str, Any]:
        """Return the parameters of the classifier behind a method."""
        if not get_method(method, "occurrences").unit_rows:
            return {}
        own = {name: getattr(self, name) for name in ("n_neighbors", "margin", "random_state")}
        return _KERNEL_PCA | own

    def _choose(
        self, labeled: Mapping[str, Sequence[Context]], vectors: Mapping[str, np.ndarray | None]
    ) -> dict[str, tuple[str, dict[str, Any]]]:
        """Return the method of every word and its parameters, chosen by cross-validation where that is asked for."""
        tried: tuple[str, ...] = ("kernel-pca",)
        if self.method == "auto":
            tried = _TRIED if any(embedded is None for embedded in vectors.values()) else ("embeddings", *_TRIED)
        if self.method != "auto" and self.settings_of(self.method).get("n_neighbors") != "cv":
            return dict.fromkeys(labeled, (self.method, self.settings_of(self.method)))
        settings = {method: self.settings_of(method) for method in tried}
        counts = Parallel(n_jobs=self.n_jobs or 1)(
            delayed(Watched(_count_correct))(settings, labeled[word], vectors[word]) for word in labeled
        )
        several = {word: correct for word, correct in zip(labeled, counts, strict=True) if correct}
        chosen = pooled_choice(several, {word: len(labeled[word]) for word in several})
        choices = {}
        for word in labeled:
            method, n_neighbors = chosen.get(word, ("most-frequent", 1))  # of a word with one sense
            name = method if self.method == "auto" else self.method
            own = self.settings_of(name)
            choices[word] = (name, own | {"n_neighbors": n_neighbors} if "n_neighbors" in own else own)
        return choices

    def _state(self) -> dict[str, Any]:
        state = super()._state() | {"models_": {word: model.to_state() for word, model in self.models_.items()}}
        return state | {"encoder": None if self.encoder is None else "auto"}  # the encoder's mark names another one

    @classmethod
    def _from_state(cls, state: Mapping[str, Any]) -> Self:
        return super()._from_state({name: value for name, value in state.items() if name not in _DROPPED})

    def _check_state(self) -> None:
        states: Mapping[str, Any] = self.models_
        self.models_ = {word: WordModel.from_state(state) for word, state in states.items()}
        encoder: Any = self.__dict__.setdefault("encoder_", None)
        embedded = [model.classifier_ for model in self.models_.values() if reads_embeddings(model.method)]
        if embedded and encoder is None:
            raise DataError("SenseClassifier: words with embeddings need an encoder, but the file names none.")
        for classifier in embedded:
            if classifier is not None:
                check_mark(encoder, classifier.n_features_in_)


def _texts(contexts: Sequence[Context]) -> list[str]:
    """Return the words around those of contexts, as an encoder reads them."""
    return [
        " ".join(o.tokens[max(0, o.target - _AROUND) : o.target + _AROUND + 1])
        for o in (context.occurrence for context in contexts)
    ]


def _train(
    method: str,
    settings: dict[str, Any],
    labeled: Sequence[Context],
    unlabeled: Sequence[Context],
    vectors: np.ndarray | None,
) -> WordModel:
    """Train the model of one word; a separate function so that it can run in another process."""
    senses = settle_senses([context.occurrence.senses for context in labeled])
    model = WordModel(method, settings)
    if vectors is not None and reads_embeddings(method):
        return model.fit(vectors, senses)
    features, extra = ([context_features(context) for context in part] for part in (labeled, unlabeled))
    with threadpool_limits(1, "blas"):  # for matrices of some hundred rows, threads cost more than they save
        return model.fit(features, senses, extra)


def _count_correct(
    settings: Mapping[str, dict[str, Any]], labeled: Sequence[Context], vectors: np.ndarray | None
) -> dict[tuple[str, int], float]:
    """Count for each method, and each number of neighbors, the contexts of a word that 5-fold cross-validation gets right."""
    features = [context_features(context) for context in labeled]
    senses = settle_senses([context.occurrence.senses for context in labeled])
    correct: dict[tuple[str, int], float] = {}
    if len(set(senses)) == 1:
        return correct
    codes = np.unique(senses, return_inverse=True)[1]
    folds = stratified_folds(codes, min(_FOLDS, len(codes)), np.random.RandomState(0))
    for method, own in settings.items():
        if method == "kernel-pca" and own["n_neighbors"] == "cv":
            with threadpool_limits(1, "blas"):
                kernel_pca: Any = WordModel(method, own).fit(features, senses).classifier_
            scores = kernel_pca.cv_scores_
            correct |= {(method, k): score * len(senses) for (_, k), score in scores.items()}
        else:
            read = vectors if vectors is not None and reads_embeddings(method) else features
            correct[method, own.get("n_neighbors", 1)] = sum(
                _correct_in(fold, folds, WordModel(method, own), read, senses) for fold in range(folds.max() + 1)
            )
    return correct


def _correct_in(fold: int, folds: np.ndarray, model: WordModel, features: Features, senses: Sequence[str]) -> int:
    """Count the contexts of a fold that a model of the other folds gets right."""

    def part(rows: list[int]) -> Features:
        return features[rows] if isinstance(features, np.ndarray) else [features[i] for i in rows]

    train, test = np.flatnonzero(folds != fold).tolist(), np.flatnonzero(folds == fold).tolist()
    predicted = model.fit(part(train), [senses[i] for i in train]).predict(part(test))
    return sum(sense == senses[i] for sense, i in zip(predicted, test, strict=True))
