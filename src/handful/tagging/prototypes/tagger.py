"""Taggers that learn from a few example words for each label and raw text."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from handful.data.labels import UNLABELED, code_of
from handful.data.records import Explanation
from handful.errors import DataError, ParameterError, Progress
from handful.linear.batch import minimize
from handful.linear.recorder import Recorder
from handful.params import AtLeast, Count, Jobs, Positive, Range, check_params
from handful.persistence.schema import Array, DictOf, ListOf, Names, Number, Text, stored
from handful.preprocessing.templates import Column, Tokens, read_column, runs_of_sentences
from handful.registry import method
from handful.tagging.base import ProbabilisticTagger, check_sentences, explain_prototypes
from handful.tagging.prototypes.features import feature_table, fill_separators, link_words, word_predicates
from handful.tagging.prototypes.field import PrototypeField, TokenArrays
from handful.tagging.prototypes.lists import check_lists, check_tags, flat_codes

_CHUNK_TOKENS = 50_000
_NOISE = 0.01
_LARGEST = 25.0  # of the weights, so that no sum underflows
_DROPPED = ("length_norm", "clip", "start_noise", "word_lists")  # parameters in older files

Tags = Sequence[Sequence[str | None] | None]


@method("prototype-tagger", paper="haghighi2006", task="sentences", uses_unlabeled=True, resources=("prototypes",))
class PrototypeTagger(ProbabilisticTagger):
    """Tag sentences after learning from raw text and prototypes, a few example words for each label.

    Use it when there are no tagged sentences, or hardly any: name three words for each label, and let the text do the
    rest. Tagged and partly tagged sentences help where you have them.

    Parameters
    ----------
    prototypes : dict of str to list of str, or None, default=None
        Prototypes of each label. A prototype carries no other label than those it is listed under.
    order : {1, 2}, default=2
        How many labels before the present one count: 2 for parts of speech, 1 for long fields.
    similarity : ContextSimilarity or None, default=None
        Links every word to the prototypes it is like. If it is not fitted, it is fitted on the sentences given to `fit`.
    n_links : int, default=5
        Most prototypes a word is linked to.
    threshold : float, default=0.35
        Words less similar than this are not linked.
    variance : float, default=0.5
        Variance of the Gaussian prior on the weights, the paper's word; smaller keeps them closer to 0. As the strength of
        other models it would be ``1 / (2 * variance)``.
    max_iter : int, default=100
        Most iterations of the optimizer.
    decode : {"posterior", "viterbi"}, default="posterior"
        Choose the most probable label at each token, or the most probable labeling of the sentence.
    labels : list of str or None, default=None
        Further labels, without prototypes. With no prototypes at all these are the unnamed states of the paper's BASE.
    boundary : str or None, default=None
        A label of separators between fields. After decoding such a token takes the label of the token before it.
    spelling : bool, default=True
        Whether to look at suffixes, capitals, hyphens and digits.
    suffix_length : int, default=3
        Longest suffix.
    sticky : float, default=0.0
        Mean of the prior on the weight of a label after itself, from which it also starts; above 0 for fields of several
        words.
    tol : float, default=1e-5
        Stop when ten iterations improve the objective by less than this share.
    random_state : int, default=0
        Seed of the first weights (standard deviation 0.01) where several labels have no supervision at all and would stay
        alike; otherwise these are 0.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of str
        The labels, sorted.
    weights_ : ndarray of float64
        Weights of predicates with labels, then of label sequences.
    predicates_ : list of str
        What is observed of words.
    links_ : dict of str to list of str
        Prototypes each word is linked to.
    lexicon_ : dict of str to list of str
        Labels of words that may not carry every label.
    objective_ : float
        Minus the log-likelihood plus penalty, at the end.
    n_iter_ : int
        Iterations made.

    Notes
    -----
    ==========  =====================  ==================================================
    symbol      here                   meaning
    ==========  =====================  ==================================================
    theta       ``weights_``           weights
    Z_l         `PrototypeField`       sum over all sentences of l words and labelings
    S_w         ``links_``             prototypes that word w is linked to
    sigma^2     ``variance``           variance of the prior
    ==========  =====================  ==================================================

    After Haghighi and Klein (2006). Deviations: a sentence is normalized over all sentences of its length, where the paper
    sums over lengths up to an unnamed bound; transitions out of the start have weights, which their toolkit leaves at 0;
    the posterior is that of labels, not of label pairs. Weights beyond 25 count as 25, so that no sum underflows. A word
    that is labeled by hand otherwise than its prototype list says may carry both labels. A sentence of nothing but
    separators keeps their label.

    Among equally probable labels the one that sorts first wins. A model file keeps links, not the similarity, and
    scikit-learn's ``clone`` makes a similarity unfitted: it then learns from the sentences given to `fit`.
    Cost of an iteration: O(n_tokens * n_labels ** (order + 1)), less where neighboring tokens are prototypes.

    Examples
    --------
    >>> text = [s.split() for s in ["the dog barks", "a dog sleeps", "the cat sleeps", "a cat barks", "the cat runs"]]
    >>> tagger = PrototypeTagger({"D": ["the", "a"], "N": ["dog"], "V": ["barks"]}, order=1, spelling=False).fit(text)
    >>> tagger.predict([["the", "cat", "sleeps"]])
    [['D', 'N', 'V']]
    """

    classes_: np.ndarray
    weights_: np.ndarray
    predicates_: list[str]
    links_: dict[str, list[str]]
    lexicon_: dict[str, list[str]]
    objective_: float
    n_iter_: int

    STATE = stored(
        classes_=Names("k", only_text=True),
        lexicon_=DictOf(ListOf(Text())),
        links_=DictOf(ListOf(Text())),
        predicates_=ListOf(Text()),
        weights_=Array("f8", "f?"),
        objective_=Number(float),
        n_iter_=Number(int, low=0),
    )

    def __init__(
        self,
        prototypes: Mapping[str, Sequence[str]] | None = None,
        order: Literal[1, 2] = 2,
        similarity: Any = None,
        n_links: Count = 5,
        threshold: Annotated[float, Range(-1, 1)] = 0.35,
        variance: Positive = 0.5,
        max_iter: Count = 100,
        decode: Literal["posterior", "viterbi"] = "posterior",
        *,
        labels: Sequence[str] | None = None,
        boundary: str | None = None,
        spelling: bool = True,
        suffix_length: Annotated[int, Range(0, 9)] = 3,
        sticky: Annotated[float, Range(0, 20)] = 0.0,
        tol: Annotated[float, AtLeast(0)] = 1e-5,
        random_state: Annotated[int, AtLeast(0)] = 0,
        n_jobs: Jobs = None,
    ) -> None:
        self.prototypes = prototypes
        self.order = order
        self.similarity = similarity
        self.n_links = n_links
        self.threshold = threshold
        self.variance = variance
        self.max_iter = max_iter
        self.decode = decode
        self.labels = labels
        self.boundary = boundary
        self.spelling = spelling
        self.suffix_length = suffix_length
        self.sticky = sticky
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        sentences: Sequence[Tokens],
        tags: Tags | None = None,
        *,
        progress: Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from sentences.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens; columns of `Sentence` are not looked at.
        tags : list of (list of (str or None) or None), optional
            Labels that are known: None for a sentence or a token without one.
        progress : callable, optional
            Called with the objective after every iteration.
        checkpoint : path-like, optional
            File to save the state of training to now and then; if it is there already, training goes on from it, with
            the same result as without the interruption.

        Returns
        -------
        PrototypeTagger
            Itself.
        """
        check_params(self)
        lists = check_lists(self.prototypes, "prototypes")
        sentences, offsets = check_sentences(sentences, type(self).__name__)
        column = read_column(sentences, "word", type(self).__name__)
        tags = check_tags(tags, offsets, "tags")
        self.classes_ = self._all_labels(lists, tags, int(offsets[-1]))
        fixed = flat_codes(tags, offsets, self.classes_)
        self.lexicon_ = self._lexicon(lists, column.values, column.ids, fixed)
        self.links_ = self._links(lists, sentences)
        self._check_reach(lists, column.values, fixed)
        observed = [self.observe(word) for word in column.values]
        self.predicates_ = list(dict.fromkeys(p for of_word in observed for p in of_word))
        field = self._field(column.values, observed)
        tokens = _token_arrays(column, offsets, fixed)
        prior_mean = field.self_transitions(self.sticky)

        def loss(change: np.ndarray) -> tuple[float, np.ndarray]:
            weights = prior_mean + change
            clipped = np.clip(weights, -_LARGEST, _LARGEST)
            value, gradient, _ = field.objective(clipped, tokens, self.n_jobs or 1)
            gradient[clipped != weights] = 0.0
            return value, gradient

        fitted = minimize(
            loss,
            self._start(field.size, lists, fixed),
            l2=1.0 / (2.0 * self.variance),
            max_iter=self.max_iter,
            tol=self.tol,
            recorder=Recorder(progress, checkpoint, self._fingerprint(field, tokens)),
        )
        self.weights_ = np.clip(prior_mean + fitted.weights, -_LARGEST, _LARGEST)
        self.objective_, self.n_iter_ = fitted.value, fitted.n_iter
        return self

    def read(self, sentences: Sequence[Tokens]) -> Iterator[_PrototypeReading]:
        """Read the features of sentences, some thousands of sentences at a time; see `ProbabilisticTagger.read`.

        Separators have probabilities of their own, but take the tag of the token before.
        """
        check_is_fitted(self)
        sentences, offsets = check_sentences(sentences, type(self).__name__)
        for run in runs_of_sentences(offsets, _CHUNK_TOKENS):
            column = read_column(sentences[run], "word", type(self).__name__)
            field = self._field(column.values, [self.observe(word) for word in column.values])
            own_offsets = offsets[run.start : run.stop + 1] - offsets[run.start]
            yield _PrototypeReading(self, field, _token_arrays(column, own_offsets), np.cumsum(np.diff(own_offsets)))

    def explain(self, sentence: Tokens) -> list[Explanation]:
        """Explain the tags of a sentence; see `handful.tagging.base.explain_prototypes`."""
        check_is_fitted(self)
        return explain_prototypes(self, sentence)

    def _all_labels(self, lists: Mapping[str, Any], tags: Tags | None, n_tokens: int) -> np.ndarray:
        """Return the labels of lists, tags and parameters, sorted."""
        owner = type(self).__name__
        named = set(lists) | set(self.labels or ()) | {tag for row in tags or () for tag in row or () if tag}
        if self.boundary is not None and self.boundary not in named:
            raise ParameterError(
                f"{owner}: boundary must be one of the labels, got {self.boundary!r}. The labels are "
                f"{', '.join(sorted(named))}."
            )
        if len(named) < 2:
            raise DataError(
                f"{owner}: there must be at least two labels, got {len(named)}. "
                "Name them by prototypes, tags or labels."
            )
        if n_tokens == 0:
            raise DataError(f"{owner}: at least one sentence with a token is needed, got none.")
        return np.array(sorted(named))

    def _lexicon(
        self, lists: Mapping[str, Sequence[str]], words: Sequence[str], ids: np.ndarray, fixed: np.ndarray
    ) -> dict[str, list[str]]:
        """Labels of the words that may not carry every label."""
        lexicon: dict[str, list[str]] = {}
        for label, listed in lists.items():
            for word in listed:
                lexicon.setdefault(word, []).append(label)
        # A label given by hand must be possible.
        for word, code in dict.fromkeys(zip(ids[fixed >= 0].tolist(), fixed[fixed >= 0].tolist(), strict=True)):
            known = lexicon.get(words[word])
            if known is not None and self.classes_[code] not in known:
                known.append(str(self.classes_[code]))
        return lexicon

    def _links(self, prototypes: Mapping[str, Sequence[str]], sentences: Sequence[Tokens]) -> dict[str, list[str]]:
        if self.similarity is None:
            return {}
        similarity = self.similarity
        if isinstance(similarity, BaseEstimator) and not hasattr(similarity, "vectors_"):
            similarity = clone(similarity).fit(sentences)
        targets = [word for words in prototypes.values() for word in words]
        return link_words(similarity, targets, self.n_links, self.threshold)

    def _check_reach(self, lists: Mapping[str, Sequence[str]], words: Sequence[str], fixed: np.ndarray) -> None:
        """Refuse lists without a word of the text."""
        listed = [word for several in lists.values() for word in several]
        if not listed or (fixed >= 0).any() or any(word in self.lexicon_ or word in self.links_ for word in words):
            return
        raise DataError(
            f"{type(self).__name__}: at least one prototype must occur in the sentences, got none of "
            f"{len(listed)}, such as {listed[0]!r}. Check spelling, case and how the text is tokenized."
        )

    def observe(self, word: str) -> list[str]:
        """Return what is observed of a word: the word, its spelling, and the prototypes it is linked to.

        Parameters
        ----------
        word : str
            Any word.

        Returns
        -------
        list of str
            Predicates, known or not.
        """
        return word_predicates(word, self.links_.get(word, ()), self.spelling, self.suffix_length)

    def _field(self, words: Sequence[str], observed: Sequence[Sequence[str]]) -> PrototypeField:
        columns = {p: i for i, p in enumerate(self.predicates_)}
        codes = code_of(self.classes_)
        legal = np.ones((len(words), len(codes)), dtype=bool)
        for row, word in enumerate(words):
            if word in self.lexicon_:
                legal[row] = False
                legal[row, [codes[label] for label in self.lexicon_[word]]] = True
        return PrototypeField(feature_table(observed, columns), legal, self.order)

    def _start(self, size: int, lists: Mapping[str, Sequence[str]], fixed: np.ndarray) -> np.ndarray:
        supervised = set(lists) | set(self.classes_[np.unique(fixed[fixed >= 0])].tolist())
        noise = _NOISE if len(self.classes_) - len(supervised) > 1 else 0.0
        return noise * np.random.default_rng(self.random_state).standard_normal(size)

    def _fingerprint(self, field: PrototypeField, tokens: TokenArrays) -> str:
        settings = f"{self.order}|{self.random_state}|{self.sticky}"
        digest = hashlib.sha256(settings.encode())
        digest.update("\0".join([*self.classes_, "", *self.predicates_]).encode("utf-8", "surrogatepass"))
        digest.update(repr(sorted(self.lexicon_.items())).encode())
        for array in (*field.feature_arrays, tokens.words, tokens.offsets, tokens.fixed):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def labels_of(self, codes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Return the label of every token; separators take that of the token before.

        Parameters
        ----------
        codes : ndarray of int, shape (n_tokens,)
            Indices into `classes_`.
        offsets : ndarray of int64
            Where each sentence starts.

        Returns
        -------
        ndarray of str
            The labels.
        """
        if self.boundary is not None:
            codes = fill_separators(codes, offsets, code_of(self.classes_)[self.boundary])
        labels: np.ndarray = self.classes_[codes]
        return labels

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "similarity": None}

    @classmethod
    def _from_state(cls, state: Mapping[str, Any]) -> Self:
        return super()._from_state({name: value for name, value in state.items() if name not in _DROPPED})

    def _check_state(self) -> None:
        check_lists(self.prototypes, "prototypes")
        labels = set(self.classes_.tolist())
        whole = [
            len(labels) == len(self.classes_),
            len(set(self.predicates_)) == len(self.predicates_),
            self.weights_.shape == (self._field([], []).size,),
            all(allowed and set(allowed) <= labels for allowed in self.lexicon_.values()),
            self.boundary is None or self.boundary in labels,
        ]
        if not all(whole):
            raise DataError("PrototypeTagger: the stored model is damaged.")


def _token_arrays(column: Column, offsets: np.ndarray, fixed: np.ndarray | None = None) -> TokenArrays:
    """Return the tokens of a text; sentences without any are left out."""
    filled = np.append(offsets[:-1] < offsets[1:], True)
    free = np.full(len(column.ids), UNLABELED, dtype=np.int32)
    return TokenArrays(column.ids, offsets[filled], free if fixed is None else fixed)


@dataclass(eq=False)
class _PrototypeReading:
    """Sentences with the features of their words, and the probabilities of their labels."""

    tagger: PrototypeTagger
    field: PrototypeField
    tokens: TokenArrays
    ends: np.ndarray  # of all sentences, also of those without a token

    @cached_property
    def marginals(self) -> np.ndarray:
        return self.field.marginals(self.tagger.weights_, self.tokens, self.tagger.n_jobs or 1)

    def tags(self) -> list[list[str]]:
        tagger = self.tagger
        if tagger.decode == "viterbi":
            codes = self.field.best(tagger.weights_, self.tokens, tagger.n_jobs or 1)
        else:
            codes = self.marginals.argmax(axis=1)
        labels = tagger.labels_of(codes, self.tokens.offsets)
        return [row.tolist() for row in np.split(labels, self.ends[:-1])]

    def proba(self) -> list[np.ndarray]:
        return np.split(self.marginals, self.ends[:-1])
