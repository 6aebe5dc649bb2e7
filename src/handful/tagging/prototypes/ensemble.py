"""Ensembles of prototype taggers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, product
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from handful.data.labels import code_of
from handful.data.records import Explanation
from handful.errors import DataError, Progress, Step
from handful.params import AtLeast, Count, Jobs, Range, check_params
from handful.persistence.schema import Flag, IfThere, ListOf, Maybe, Model, Names, Number, Plain, Text, stored
from handful.preprocessing.templates import Tokens
from handful.registry import method
from handful.tagging.base import ProbabilisticTagger, add_columns, check_sentences
from handful.tagging.prototypes.features import (
    Kind,
    even_sample,
    find_separators,
    frequent_words,
    label_sources,
    learn_similarity,
    sample_sentences,
    separators_follow,
    usual_threshold,
)
from handful.tagging.prototypes.lists import check_lists, check_tags
from handful.tagging.prototypes.tagger import PrototypeTagger
from handful.tagging.recipes import TaggerSetup

# `python benchmarks/prototype_ensembles.py --members` compares these with single settings.
_MUCH_KINDS: tuple[Kind, ...] = ("places", "nearby", "none")
_KINDS: tuple[Kind, ...] = ("place-roots", "nearby-roots")
_MUCH_TEXT = 500_000  # tokens; in less, most of what a decomposition of counts finds is chance
_STICKY = (4.0, 6.0)
# Tokens with one label in a row: parts of speech of six treebanks have 1.02 to 1.12, fields of five sets 1.32 to 2.9.
_LONG_RUN = 1.2
_PROBE_TOKENS, _PROBE_ITERATIONS = 8_000, 20
_N_OUTSIDE = 200  # words; F1 of spans in five corpora is 22.0 with 100 and 24.0 with 200
_FEWEST_TAGGED = 5
_SEPARATOR = "(mark between fields)"  # the label of separators that nobody named; no prediction has it

MOST_TEXT = 5_000_000
"""Tokens of a text that similarity is learned from, at most."""

Tags = Sequence[Sequence[str | None] | None]


@method("prototype-ensemble", paper="haghighi2006", task="sentences", uses_unlabeled=True, resources=("prototypes",))
class PrototypeEnsemble(ProbabilisticTagger):
    """Tag sentences after learning from raw text and prototypes, a few example words for each label.

    Use it when there are no tagged sentences, or a few: taggers with several kinds of word similarity vote, since no label
    can show which of them suits a text.

    Parameters
    ----------
    prototypes : dict of str to list of str, or None, default=None
        Prototypes of each label; three or more are best.
    fields : bool or None, default=None
        Whether labels go on for several words, as the fields of ads and references do, or are like parts of speech. None:
        fields if labels go on for 1.2 tokens in the mean, in 8,000 tokens that a first tagger has tagged.
    similarity : {"auto", "none", "places", "nearby", "place-roots", "nearby-roots"}, default="auto"
        How words are linked to prototypes: by the words before and after them at each distance (places) or anywhere within
        three words (nearby); roots are for less text. auto is both roots; if labels are no fields
        and the text has half a million tokens, the others.
    spelling : bool, default=True
        Whether to look at suffixes, capitals, hyphens and digits.
    sticky : float or "auto", default="auto"
        How much more probable it is that a label goes on; auto is 0, and for fields both 4 and 6 if labels go on for 1.2 tokens
        or more in the mean.
    max_iter : int, default=60
        Iterations of each tagger.
    labels : list of str or None, default=None
        Further labels, without prototypes.
    outside : str or None, default=None
        A label for tokens outside of all spans, such as O. Its prototypes are the 200 most frequent words that no label lists.
    boundary : str or None, default=None
        A label of separators between fields. After decoding such a token takes the label of the token before it.
    separators : bool, default=True
        Whether, with `fields`, frequent punctuation that is not listed separates fields. Not where a label has no
        prototypes, or where tagged sentences give punctuation its own labels.
    suffix_length : int, default=3
        Longest suffix that is looked at; 0 for languages without suffixes.
    max_tokens : int, default=200000
        A tagger is trained on a random sample of about this number of tokens, together with tagged sentences and at least one
        sentence of each prototype. Similarity is learned from five million tokens at most, evenly spread over the text.
    random_state : int, default=0
        Seed of the sample and of random starts.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of str
        The labels, sorted.
    members_ : list of PrototypeTagger
        The taggers.
    settings_ : list of dict
        ``similarity`` and ``sticky`` of each tagger.
    fields_ : bool
        Whether labels are taken for fields.
    crf_ : CRF or None
        Trained on wholly tagged sentences.
    crf_weight_ : float
        Its weight in the mean with the prototype taggers, 0 to 1.
    separators_ : list of str
        Punctuation that separates fields.

    Notes
    -----
    Haghighi and Klein (2006) train one tagger with fixed settings: `PrototypeTagger`. Here the probabilities of several are
    averaged, and a CRF of the tagged sentences joins them with a weight that cross-validation over these chooses; see
    `learn_mixture`. To rank settings by prototypes that are hidden from training was tried, and does not: the order by
    accuracy was another.

    Cost: one training for each setting on at most `max_tokens`; similarity is linear in the size of the text, up to five
    million tokens.

    Examples
    --------
    >>> text = [f"{d} {n} {v}".split() for d in ("the", "a") for n in ("dog", "cat", "cow") for v in ("sat", "ran")]
    >>> tagger = PrototypeEnsemble({"D": ["the", "a"], "N": ["dog", "cat"], "V": ["sat", "ran"]}).fit(text)
    >>> tagger.predict([["the", "cow", "sat"]])
    [['D', 'N', 'V']]
    """

    classes_: np.ndarray
    members_: list[PrototypeTagger]
    settings_: list[dict[str, Any]]
    fields_: bool
    crf_: Any
    crf_weight_: float
    separators_: list[str]

    STATE = stored(
        classes_=Names("k", only_text=True),
        members_=ListOf(Model("PrototypeTagger"), "members"),
        settings_=Plain(),
        fields_=Flag(),
        crf_=Maybe(Model("CRF")),
        crf_weight_=Number(float, low=0, high=1),
        separators_=IfThere(ListOf(Text())),
    )

    def __init__(
        self,
        prototypes: Mapping[str, Sequence[str]] | None = None,
        fields: bool | None = None,
        similarity: Literal["auto", "none", "places", "nearby", "place-roots", "nearby-roots"] = "auto",
        spelling: bool = True,
        sticky: Annotated[float, Range(0, 20)] | Literal["auto"] = "auto",
        max_iter: Count = 60,
        *,
        labels: Sequence[str] | None = None,
        outside: str | None = None,
        boundary: str | None = None,
        separators: bool = True,
        suffix_length: Annotated[int, Range(0, 9)] = 3,
        max_tokens: Count = 200_000,
        random_state: Annotated[int, AtLeast(0)] = 0,
        n_jobs: Jobs = None,
    ) -> None:
        self.prototypes = prototypes
        self.fields = fields
        self.similarity = similarity
        self.spelling = spelling
        self.sticky = sticky
        self.max_iter = max_iter
        self.labels = labels
        self.outside = outside
        self.boundary = boundary
        self.separators = separators
        self.suffix_length = suffix_length
        self.max_tokens = max_tokens
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        sentences: Sequence[Tokens],
        tags: Tags | None = None,
        *,
        more_text: Iterable[Tokens] = (),
        progress: Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from sentences.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.
        tags : list of (list of (str or None) or None), optional
            Labels that are known: None for a sentence or a token without one. From five wholly tagged sentences on, a
            CRF learns from them; tags of others hold for the prototype taggers.
        more_text : iterable of lists of str
            Further raw text, that similarity alone is learned from.
        progress : callable, optional
            Called with the iterations of each tagger.
        checkpoint : path-like, optional
            As for `PrototypeTagger`; every tagger has its own file, with a number after this name.

        Returns
        -------
        PrototypeEnsemble
            Itself.
        """
        check_params(self)
        sentences, offsets = check_sentences(sentences, type(self).__name__)
        known = check_tags(tags, offsets, "tags") or [None] * len(sentences)
        whole = [i for i, row in enumerate(known) if row is not None and len(row) and None not in row]
        whole = whole if len(whole) >= _FEWEST_TAGGED else []
        lists = self._lists(sentences)
        labels = {*(self.labels or ()), *(tag for row in known for tag in row or () if tag)}
        stickies = self._choose_fields(lists, sentences, known, labels)
        partial = self._partial(sentences, known, set(whole))
        text, _ = even_sample(chain(sentences, more_text), MOST_TEXT)
        n_tokens = sum(map(len, text))
        kinds = self._kinds(n_tokens)
        similarities = {kind: learn_similarity(kind, text, n_tokens) for kind in kinds}
        self.settings_ = [{"similarity": kind, "sticky": sticky} for kind, sticky in product(kinds, stickies)]
        words, tagged = set(chain(*lists.values())), [i for i, row in enumerate(partial) if row is not None]
        self.members_ = []
        for number, (kind, sticky) in enumerate(product(kinds, stickies)):
            member = self._member(lists, labels, kind, similarities[kind], sticky)
            chosen = sample_sentences(sentences, self.max_tokens, words, self.random_state + number, tagged)
            state = None if checkpoint is None else f"{os.fspath(checkpoint)}-{number}"
            inputs, rows = [sentences[i] for i in chosen], [partial[i] for i in chosen]
            self.members_.append(member.fit(inputs, rows, progress=progress, checkpoint=state))
        self.classes_ = self._predicted(self.members_[0])
        self._fit_crf([sentences[i] for i in whole], [[str(tag) for tag in known[i] or ()] for i in whole], progress)
        return self

    def _fit_crf(self, sentences: list[Tokens], tags: list[list[str]], progress: Progress | None) -> None:
        """Learn from wholly tagged sentences, if there are enough of them."""
        self.crf_, self.crf_weight_ = None, 0.0
        if sentences:
            guessed = self.predict_proba(sentences)
            self.crf_, self.crf_weight_ = learn_mixture(
                sentences, tags, guessed, self.classes_, self.random_state, progress
            )

    def read(self, sentences: Sequence[Tokens]) -> Iterator[_EnsembleReading]:
        """Average the probabilities of all taggers; see `ProbabilisticTagger.read`.

        Separators have the probabilities of the token before them.
        """
        check_is_fitted(self, "members_")
        sentences, _ = check_sentences(sentences, type(self).__name__)
        several = [member.predict_proba(sentences) for member in self.members_]
        means = [np.mean(rows, axis=0) for rows in zip(*several, strict=True)]
        if (boundary := self._boundary) is not None:
            separator = code_of(self.members_[0].classes_)[boundary]
            means = [rows[label_sources(rows.argmax(axis=1) == separator)] for rows in means]
            if self.separators_:
                means = [_without_column(rows, separator) for rows in means]
        yield _EnsembleReading(self.classes_, mix(self.crf_, self.crf_weight_, sentences, means, self.classes_))

    def explain(self, sentence: Tokens) -> list[Explanation]:
        """Explain the tags of a sentence by the first tagger of the ensemble."""
        check_is_fitted(self, "members_")
        return self.members_[0].explain(sentence)

    @property
    def links_(self) -> dict[str, list[str]]:
        """Prototypes each word is linked to, by the first tagger of the ensemble."""
        return self.members_[0].links_

    @property
    def lexicon_(self) -> dict[str, list[str]]:
        """Labels of words that may not carry every label."""
        return self.members_[0].lexicon_

    def _lists(self, sentences: Sequence[Tokens]) -> dict[str, list[str]]:
        """Return the prototypes of each label, with those of what is outside."""
        lists = check_lists(self.prototypes, "prototypes")
        if self.outside is not None:
            words = frequent_words(map(tuple, sentences), set(chain(*lists.values())), _N_OUTSIDE)
            lists[self.outside] = [*lists.get(self.outside, ()), *words]
        return lists

    def _choose_fields(
        self, lists: Mapping[str, list[str]], sentences: Sequence[Tokens], known: Tags, labels: set[str]
    ) -> Sequence[float]:
        """Settle whether labels are fields, and which punctuation separates these; return how sticky labels are."""
        self.separators_ = [] if self.fields is False else self._separators(lists, sentences, known, labels)
        wanted = self.fields is None or (self.fields and self.sticky == "auto")
        long = bool(wanted) and self._run_length(lists, sentences, labels) >= _LONG_RUN
        self.fields_ = long if self.fields is None else self.fields
        if not self.fields_:
            self.separators_ = []
        if self.sticky != "auto":
            return (self.sticky,)
        return _STICKY if long else (0.0,)

    def _separators(
        self, lists: Mapping[str, list[str]], sentences: Sequence[Tokens], known: Tags, labels: set[str]
    ) -> list[str]:
        """Return the punctuation that separates fields, where that is left to the text."""
        if not self.separators or self.boundary is not None or not labels <= lists.keys():
            return []
        listed = set(chain(*lists.values()))
        if len(lists) < 2 or not any(map(listed.intersection, sentences)):
            return []  # nothing can be learned, as the taggers will report
        separators = find_separators(map(tuple, sentences), listed)
        return separators if separators_follow(map(tuple, sentences), known, separators) else []

    def _partial(self, sentences: Sequence[Tokens], known: Tags, whole: set[int]) -> list[list[str | None] | None]:
        """Return the labels that prototype taggers learn from: none of wholly tagged sentences, and of separators."""
        return [
            None
            if i in whole or row is None
            else [None if token in self.separators_ else tag for token, tag in zip(sentences[i], row, strict=True)]
            for i, row in enumerate(known)
        ]

    def _kinds(self, n_tokens: int) -> Sequence[Kind]:
        if self.similarity != "auto":
            return (self.similarity,)
        return _MUCH_KINDS if n_tokens >= _MUCH_TEXT and not self.fields_ else _KINDS

    def _run_length(self, lists: Mapping[str, list[str]], sentences: Sequence[Tokens], labels: set[str]) -> float:
        """Return for how many tokens in the mean labels go on in a part of the text."""
        chosen = sample_sentences(sentences, _PROBE_TOKENS, set(chain(*lists.values())), self.random_state)
        part = [sentences[i] for i in chosen]
        probe = self._member(lists, labels, "none", None, 0.0).set_params(max_iter=_PROBE_ITERATIONS)
        tags = probe.fit(part).predict(part)
        return sum(map(len, tags)) / max(sum(1 for row in tags for _ in groupby(row)), 1)

    def _member(
        self, lists: Mapping[str, list[str]], labels: set[str], kind: Kind, similarity: Any, sticky: float
    ) -> PrototypeTagger:
        return PrototypeTagger(
            {**lists, _SEPARATOR: self.separators_} if self.separators_ else lists,
            order=1,  # 2 is slower, and was less accurate on three of four small treebanks
            similarity=similarity,
            threshold=usual_threshold(kind),
            max_iter=self.max_iter,
            labels=sorted(labels),
            boundary=self._boundary,
            spelling=self.spelling,
            suffix_length=self.suffix_length,
            sticky=sticky,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    @property
    def _boundary(self) -> str | None:
        """The label that separators have while taggers learn."""
        return _SEPARATOR if self.separators_ else self.boundary

    def _predicted(self, member: PrototypeTagger) -> np.ndarray:
        """Return the labels of a tagger without that of separators which nobody named."""
        return member.classes_[member.classes_ != _SEPARATOR] if self.separators_ else member.classes_

    @classmethod
    def _from_state(cls, state: Mapping[str, Any]) -> Self:
        # names before version 0.3
        kept = {_RENAMED.get(name, name): value for name, value in state.items() if name not in _DROPPED}
        kept |= {"separators_": kept.get("separators_") or [], "fields_": kept.get("fields_", bool(kept["fields"]))}
        kept["spelling"] = kept["spelling"] is not False
        kept["max_iter"] = 60 if kept["max_iter"] == "auto" else kept["max_iter"]
        return super()._from_state(kept)

    def _check_state(self) -> None:
        check_lists(self.prototypes, "prototypes")
        labels = set(self.classes_.tolist())
        whole = [
            all(np.array_equal(self._predicted(member), self.classes_) for member in self.members_),
            not self.separators_ or all(_SEPARATOR in member.classes_ for member in self.members_),
            self.crf_ is None or set(self.crf_.classes_) <= labels,
            self.boundary is None or self.boundary in labels,
        ]
        if not all(whole):
            raise DataError("PrototypeEnsemble: the stored model is damaged.")


_RENAMED = {"marks": "separators", "marks_": "separators_", "trials_": "settings_"}
_DROPPED = ("threshold", "min_count", "order", "variance", "n_starts", "n_links", "word_lists")


@dataclass(frozen=True, eq=False)
class _EnsembleReading:
    """The mean probabilities of labels in some sentences."""

    classes: np.ndarray
    means: list[np.ndarray]

    def tags(self) -> list[list[str]]:
        return [self.classes[rows.argmax(axis=1)].tolist() for rows in self.means]

    def proba(self) -> list[np.ndarray]:
        return self.means


def _without_column(rows: np.ndarray, column: int) -> np.ndarray:
    """Return probabilities without those of one label; where there are no others, all are equal."""
    others = np.delete(rows, column, axis=1)
    total = others.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, others / np.where(total > 0.0, total, 1.0), 1.0 / others.shape[1])


_COLUMN = "typical"
_TEMPLATES = [f"{_COLUMN}[0]", f"{_COLUMN}[-1]|{_COLUMN}[0]", f"{_COLUMN}[0]|{_COLUMN}[1]"]
_WEIGHTS = (0.7, 0.6, 0.85, 1.0)  # the CRF also reads the labels of prototypes, so its weight is never the smaller one
_SMOOTHING = 0.02  # of the probability is spread evenly before logarithms are compared: no error must decide alone
_MOST_FOLDS = 10

Proba = Sequence[np.ndarray]


def learn_mixture(
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    guessed: Proba,
    classes: np.ndarray,
    random_state: int = 0,
    progress: Progress | None = None,
) -> tuple[Any, float]:
    """Learn a CRF from tagged sentences, and choose its weight in the mean with prototype taggers.

    Parameters
    ----------
    sentences : list of lists of str
        The tokens.
    tags : list of lists of str
        One tag per token.
    guessed : list of ndarray
        Probabilities by prototype taggers, which have not seen these tags.
    classes : ndarray of str
        Labels of the columns of `guessed`.
    random_state : int
        Seed.
    progress : callable, optional
        Called after each training.

    Returns
    -------
    crf : CRF
        Fitted. Its templates also read the labels by prototypes.
    weight : float
        Weight of the CRF in the mean, 0.6 to 1.

    Notes
    -----
    Ten-fold cross-validation over the tagged sentences compares four weights. The highest mean logarithm of the correct
    tag's probability wins: with ten sentences the accuracy is too much due to chance, and so are weights below 0.6.

    Examples
    --------
    >>> sentences, tags = [["a", "cat"], ["the", "dog"]] * 3, [["D", "N"]] * 6
    >>> guessed = [np.array([[0.9, 0.1], [0.2, 0.8]])] * 6
    >>> crf, weight = learn_mixture(sentences, tags, guessed, np.array(["D", "N"]))
    >>> [rows.argmax(axis=1).tolist() for rows in mix(crf, weight, [["a", "dog"]], guessed[:1], np.array(["D", "N"]))]
    [[0, 1]]
    """
    inputs = _with_guesses(sentences, guessed, classes)
    setup = TaggerSetup(encoding="as-is", random_state=random_state)
    base = setup.tuned_crf(inputs, tags, progress=progress).fit(inputs, tags)
    pattern = clone(base).set_params(templates=[*base.templates_, *_TEMPLATES])
    n_folds = min(_MOST_FOLDS, len(sentences))
    by_crf = list(guessed)  # where nothing can be learned from the other folds
    for fold in range(n_folds):
        held_out = range(fold, len(sentences), n_folds)
        rest = [i for i in range(len(sentences)) if i not in held_out]
        if len({tag for i in rest for tag in tags[i]}) > 1:
            fitted = clone(pattern).fit([inputs[i] for i in rest], [tags[i] for i in rest])
            by_crf[fold::n_folds] = _aligned(fitted, inputs[fold::n_folds], classes)
        if progress is not None:
            progress(Step("labels", fold + 1, n_folds))
    codes = code_of(classes)
    correct = np.array([codes[tag] for row in tags for tag in row])
    tokens = np.arange(len(correct))
    ours, theirs = np.concatenate(by_crf)[tokens, correct], np.concatenate(guessed)[tokens, correct]

    def quality(weight: float) -> float:
        mean = weight * ours + (1.0 - weight) * theirs
        return float(np.log((1.0 - _SMOOTHING) * mean + _SMOOTHING / len(classes)).mean())

    return clone(pattern).fit(inputs, tags), max(_WEIGHTS, key=quality)


def mix(crf: Any, weight: float, sentences: Sequence[Tokens], guessed: Proba, classes: np.ndarray) -> list[np.ndarray]:
    """Return the weighted mean of the probabilities by a CRF and by prototypes; see `learn_mixture`."""
    if crf is None or weight == 0.0:
        return list(guessed)
    by_crf = _aligned(crf, _with_guesses(sentences, guessed, classes), classes)
    return [weight * own + (1.0 - weight) * other for own, other in zip(by_crf, guessed, strict=True)]


def _with_guesses(sentences: Sequence[Tokens], guessed: Proba, classes: np.ndarray) -> list[Any]:
    best = [classes[rows.argmax(axis=1)].tolist() for rows in guessed]
    return [add_columns(sentence, {_COLUMN: labels}) for sentence, labels in zip(sentences, best, strict=True)]


def _aligned(crf: Any, sentences: Sequence[Any], classes: np.ndarray) -> list[np.ndarray]:
    """Return the probabilities of a CRF with a column for each of the classes."""
    codes = code_of(classes)
    columns = [codes[label] for label in crf.classes_.tolist()]
    aligned = []
    for rows in crf.predict_proba(sentences):
        wide = np.zeros((len(rows), len(classes)))
        wide[:, columns] = rows
        aligned.append(wide)
    return aligned
