"""Taggers that learn from a few words for each label and raw text."""

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
from handful.errors import DataError, ParameterError, Progress, Step
from handful.linear.batch import minimize
from handful.linear.recorder import Recorder
from handful.params import AtLeast, Count, Jobs, Positive, Range, check_params
from handful.persistence.schema import Array, DictOf, ListOf, Names, Number, Text, stored
from handful.preprocessing.templates import Column, Tokens, read_column, runs_of_sentences
from handful.registry import method
from handful.tagging.base import ProbabilisticTagger, check_sentences, explain_prototypes
from handful.tagging.prototypes.chains import TokenArrays
from handful.tagging.prototypes.features import (
    LengthNorm,
    PrototypeField,
    feature_table,
    fill_sentences,
    link_words,
    word_predicates,
)
from handful.tagging.prototypes.lists import check_given, check_labels, check_lists, flat_codes, flat_tags, merge_lists

_CHUNK_TOKENS = 50_000
_NOISE = 0.01


@method("prototype-tagger", paper="haghighi2006", task="sentences", uses_unlabeled=True, resources=("prototypes",))
class PrototypeTagger(ProbabilisticTagger):
    """Tag sentences after learning from raw text and a few typical words for each label.

    Use it when there are no tagged sentences, or hardly any: name three words for each label, and let the text do the
    rest. Tagged and partly tagged sentences and word lists help where they are to be had.

    Parameters
    ----------
    prototypes : dict of str to list of str, or None, default=None
        For each label words that are typical of it. A prototype carries no other label than those it is listed under.
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
    length_norm : {"histogram", "mean"}, default="histogram"
        What a sentence is normalized over: all sentences of its own length, or (as the authors' toolkit) all that are not
        longer than the mean.
    decode : {"posterior", "viterbi"}, default="posterior"
        Choose the most probable label at each token, or the most probable labeling of the sentence.
    labels : list of str or None, default=None
        Further labels, without prototypes. With no prototypes at all these are the unnamed states of the paper's BASE.
    word_lists : dict of str to list of str, or None, default=None
        Words that carry only the labels they are listed under, as prototypes do, but that no other word is linked to.
    boundary : str or None, default=None
        A label for marks between fields. After decoding such a token takes the label of the token before it.
    spelling : bool, default=True
        Whether to look at suffixes, capitals, hyphens and digits.
    suffix_length : int, default=3
        Longest suffix.
    sticky : float, default=0.0
        What the weight of a label after itself starts from and is drawn to, in place of 0; above 0 for fields that go on
        for several words.
    clip : float, default=25.0
        Weights beyond this count as this; at most 50, so that no sum underflows.
    tol : float, default=1e-5
        Stop when ten iterations improve the objective by less than this share.
    start_noise : float or None, default=None
        Standard deviation of the first weights. None: 0, or 0.01 where several labels have no supervision at all and
        could never be told apart.
    random_state : int, default=0
        Seed of that noise.
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

    After Haghighi and Klein (2006). Deviations: sentences are normalized by length (``length_norm="histogram"``), where
    the paper sums over lengths up to an unnamed bound; transitions out of the start have weights, which their toolkit
    leaves at 0; the posterior is that of labels, not of label pairs. A word that is labeled by hand otherwise than its
    prototype list says may carry both labels. A sentence of nothing but boundary marks keeps them.

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
        length_norm: LengthNorm = "histogram",
        decode: Literal["posterior", "viterbi"] = "posterior",
        *,
        labels: Sequence[str] | None = None,
        word_lists: Mapping[str, Sequence[str]] | None = None,
        boundary: str | None = None,
        spelling: bool = True,
        suffix_length: Annotated[int, Range(0, 9)] = 3,
        sticky: Annotated[float, Range(0, 20)] = 0.0,
        clip: Annotated[float, Range(0, 50, open_low=True)] = 25.0,
        tol: Annotated[float, AtLeast(0)] = 1e-5,
        start_noise: Annotated[float, AtLeast(0)] | None = None,
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
        self.length_norm = length_norm
        self.decode = decode
        self.labels = labels
        self.word_lists = word_lists
        self.boundary = boundary
        self.spelling = spelling
        self.suffix_length = suffix_length
        self.sticky = sticky
        self.clip = clip
        self.tol = tol
        self.start_noise = start_noise
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        sentences: Sequence[Tokens],
        tags: Sequence[Sequence[str | None] | None] | None = None,
        *,
        gold: Sequence[Sequence[str | None] | None] | None = None,
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
        gold : list of lists of str, optional
            Correct labels, None where not known; only to report the accuracy on the way.
        progress : callable, optional
            Told the objective after every iteration, and with `gold` the accuracy in percent and the mean probability of
            the correct label, for which every word counts once.
        checkpoint : path-like, optional
            File to save the state of training to now and then; if it is there already, training goes on from it, with
            the same result as without the interruption.

        Returns
        -------
        PrototypeTagger
            Itself.
        """
        check_params(self)
        who = type(self).__name__
        prototypes = check_lists(self.prototypes, "prototypes")
        lists = merge_lists(prototypes, check_lists(self.word_lists, "word_lists"))
        sentences, offsets = check_sentences(sentences, who)
        column = read_column(sentences, "word", who)
        given = check_given(tags, offsets, "tags")
        named = set(lists) | check_labels(self.labels) | {tag for row in given or () for tag in row or () if tag}
        if self.boundary is not None and self.boundary not in named:
            raise ParameterError(
                f"{who}: boundary must be one of the labels, got {self.boundary!r}. The labels are "
                f"{', '.join(sorted(named))}."
            )
        if len(named) < 2:
            raise DataError(
                f"{who}: there must be at least two labels, got {len(named)}. "
                "Name them by prototypes, lists of words, tags or labels."
            )
        if offsets[-1] == 0:
            raise DataError(f"{who}: at least one sentence with a token is needed, got none.")
        self.classes_ = np.array(sorted(named))
        fixed = flat_codes(given, offsets, self.classes_)
        self.lexicon_ = self._lexicon(lists, column.values, column.ids, fixed)
        self.links_ = self._links(prototypes, sentences)
        self._check_reach(lists, column.values, fixed)
        observed = [self.observe(word) for word in column.values]
        self.predicates_ = list(dict.fromkeys(p for of_word in observed for p in of_word))
        field = self._field(column.values, observed)
        tokens = _token_arrays(column, offsets, fixed)
        true = None if gold is None else flat_tags(check_given(gold, offsets, "gold"), offsets)
        watch = _Watch(self, tokens, true, progress)
        drawn_to = field.self_transitions(self.sticky)
        fitted = minimize(
            lambda weights: watch.evaluate(field, drawn_to + weights),
            self._start(field.size, lists, fixed),
            l2=1.0 / (2.0 * self.variance),
            max_iter=self.max_iter,
            tol=self.tol,
            recorder=Recorder(None if progress is None else watch.report, checkpoint, self._fingerprint(field, tokens)),
        )
        self.weights_ = np.clip(drawn_to + fitted.weights, -self.clip, self.clip)
        self.objective_, self.n_iter_ = fitted.value, fitted.n_iter
        return self

    def read(self, sentences: Sequence[Tokens]) -> Iterator[_Reading]:
        """Read the features of sentences, some thousands of sentences at a time; see `ProbabilisticTagger.read`.

        Probabilities speak of boundary marks as of other tokens; tags have them filled.
        """
        check_is_fitted(self)
        who = type(self).__name__
        sentences, offsets = check_sentences(sentences, who)
        for run in runs_of_sentences(offsets, _CHUNK_TOKENS):
            column = read_column(sentences[run], "word", who)
            field = self._field(column.values, [self.observe(word) for word in column.values])
            own_offsets = offsets[run.start : run.stop + 1] - offsets[run.start]
            yield _Reading(self, field, _token_arrays(column, own_offsets), np.cumsum(np.diff(own_offsets)))

    def explain(self, sentence: Tokens) -> list[Explanation]:
        """Tell why the tokens of a sentence get their tags; see `handful.tagging.base.explain_prototypes`."""
        check_is_fitted(self)
        return explain_prototypes(self, sentence)

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
        """Refuse lists that say nothing about the text."""
        listed = [word for several in lists.values() for word in several]
        if not listed or (fixed >= 0).any():
            return
        if not any(word in self.lexicon_ or word in self.links_ for word in words):
            raise DataError(
                f"{type(self).__name__}: at least one prototype or listed word must occur in the sentences, got none of "
                f"{len(listed)}, such as {listed[0]!r}. Check spelling, case and how the text is cut into tokens."
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
        noise = self.start_noise
        if noise is None:
            noise = _NOISE if len(self.classes_) - len(supervised) > 1 else 0.0
        return noise * np.random.default_rng(self.random_state).standard_normal(size)

    def _fingerprint(self, field: PrototypeField, tokens: TokenArrays) -> str:
        settings = f"{self.order}|{self.length_norm}|{self.clip}|{self.start_noise}|{self.random_state}"
        settings += f"|{self.sticky}" if self.sticky else ""
        digest = hashlib.sha256(settings.encode())
        digest.update("\0".join([*self.classes_, "", *self.predicates_]).encode("utf-8", "surrogatepass"))
        digest.update(repr(sorted(self.lexicon_.items())).encode())
        for array in (*field.feature_arrays, tokens.words, tokens.offsets, tokens.fixed):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def filled(self, codes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Return the labels of all tokens, with those of boundary marks filled.

        Parameters
        ----------
        codes : ndarray of int, shape (n_tokens,)
            Label of each token, an index into `classes_`.
        offsets : ndarray of int64
            Where each sentence starts.

        Returns
        -------
        ndarray of int
            The same where there are no boundary marks.
        """
        return codes if self.boundary is None else fill_sentences(codes, offsets, code_of(self.classes_)[self.boundary])

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "similarity": None}

    def _check_state(self) -> None:
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
class _Reading:
    """Sentences with the features of their words, and what a tagger says of them."""

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
        labels = tagger.classes_[tagger.filled(codes, self.tokens.offsets)]
        return [row.tolist() for row in np.split(labels, self.ends[:-1])]

    def shares(self) -> list[np.ndarray]:
        return np.split(self.marginals, self.ends[:-1])


class _Watch:
    """Evaluates the objective and remembers how good its labels were."""

    def __init__(
        self,
        tagger: PrototypeTagger,
        tokens: TokenArrays,
        gold: np.ndarray | None,
        progress: Progress | None,
    ) -> None:
        self._tagger, self._tokens, self._progress, self._gold = tagger, tokens, progress, gold
        self._figures: dict[str, float] = {}

    def evaluate(self, field: PrototypeField, weights: np.ndarray) -> tuple[float, np.ndarray]:
        tagger = self._tagger
        clipped = np.clip(weights, -tagger.clip, tagger.clip)
        value, gradient, shares = field.objective(clipped, self._tokens, tagger.length_norm, tagger.n_jobs or 1)
        gradient[clipped != weights] = 0.0
        if self._gold is not None:
            codes = tagger.filled(shares.argmax(axis=1), self._tokens.offsets)
            known = np.flatnonzero(self._gold != None)  # noqa: E711  (element by element)
            answers = self._gold[known]
            self._figures["accuracy"] = 100.0 * float(np.mean(tagger.classes_[codes[known]] == answers))
            self._figures["share"] = self._share(shares, known, answers)
        return value, gradient

    def report(self, step: Step) -> None:
        if self._progress is None:
            return
        figures = {"objective": step.figures["objective"], **self._figures}
        self._progress(Step(step.stage, step.done, step.total, figures))

    def _share(self, shares: np.ndarray, known: np.ndarray, answers: np.ndarray) -> float:
        """Return the mean probability of the correct labels, every word counting once however often it occurs."""
        codes = code_of(self._tagger.classes_)
        given = np.array([shares[i, codes[a]] if a in codes else 0.0 for i, a in zip(known, answers, strict=True)])
        _, word = np.unique(self._tokens.words[known], return_inverse=True)
        return float(np.mean(np.bincount(word, weights=given) / np.bincount(word)))
