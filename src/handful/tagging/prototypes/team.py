"""Prototype taggers that choose their own settings and answer together, with a CRF where sentences are tagged."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from handful.core.errors import DataError
from handful.core.explanation import Explanation
from handful.core.labels import code_of
from handful.core.params import AtLeast, Count, Jobs, Positive, Range, check_params
from handful.core.progress import Progress
from handful.core.registry import method
from handful.core.schema import IfThere, ListOf, Maybe, Model, Names, Number, Plain, Text, stored
from handful.features.columns import Tokens
from handful.tagging.base import ProbabilisticTagger, check_sentences
from handful.tagging.prototypes.boundaries import fill_marks, find_marks, marks_follow
from handful.tagging.prototypes.checks import check_given, check_lists
from handful.tagging.prototypes.choosing import Setting, Trial, choose_setting
from handful.tagging.prototypes.labeled import learn_mixture, mix
from handful.tagging.prototypes.quality import STEPS
from handful.tagging.prototypes.similarities import Kind, learn_similarity
from handful.tagging.prototypes.tagger import PrototypeTagger

_START_NOISE = 0.03
_STICKY = (4.0, 2.0, 0.0)
_FIELD_KINDS: tuple[Kind, ...] = ("nearby-roots", "nearby", "places", "place-roots", "none")
_MUCH_TEXT = 500_000  # tokens; in less, most of what a decomposition of counts finds is chance
_MUCH_KINDS: tuple[Kind, ...] = ("places", "nearby", "none")
_LITTLE_KINDS: tuple[Kind, ...] = ("place-roots", "nearby-roots", "none")
_FEWEST_TAGGED = 5
_NEAR = 0.05  # of the probability of hidden labels; samples of one text differ by about as much
_STILL_RISING = 120  # iterations, where the most that were tried did best
_MARK = "(mark between fields)"  # the label of marks that the text itself tells; no answer has it

Tags = Sequence[Sequence[str | None] | None]


@method("prototype-team", paper="haghighi2006", takes="sentences", learns_from=("prototypes", "unlabeled", "labels"))
class PrototypeTeam(ProbabilisticTagger):
    """Tag sentences after learning from raw text and a few typical words for each label, with settings that suit the text.

    Use it when there are no tagged sentences, or a few: it tries kinds of similarity and other settings by hiding some of
    the prototypes and looking whether they get their label all the same, and lets several taggers answer together.

    Parameters
    ----------
    prototypes : dict of str to list of str, or None, default=None
        For each label words that are typical of it; three or more let the choice of settings be a good one.
    fields : bool, default=False
        Labels go on for several words, as the fields of ads and references do; otherwise they are like parts of speech.
    similarity : {"auto", "none", "places", "nearby", "place-roots", "nearby-roots"}, default="auto"
        How words are linked to prototypes: by what stands before and after them at which distance (places) or anywhere
        within three words (nearby); roots are for less text. auto tries all; without `fields`,
        roots and none in less than half a million tokens, and the others in more.
    threshold : float or "auto", default="auto"
        Words less similar than this are not linked. auto is 0.35, and 0.45 for roots.
    min_count : int or None, default=None
        Words that occur less often are not linked; by default 1, and for roots one for every 6,000 tokens, 5 to 20.
    spelling : bool or "auto", default="auto"
        Whether to look at suffixes, capitals, hyphens and digits.
    sticky : float or "auto", default="auto"
        How much a label is drawn to go on; auto is 0, and with `fields` 4, 2 or 0.
    order : {1, 2} or None, default=None
        How many labels before the present one count; by default 2, and 1 for `fields`.
    variance : float, default=0.5
        Variance of the Gaussian prior on the weights.
    max_iter : int or "auto", default="auto"
        Iterations of a tagger; auto is as many as let hidden prototypes get their label, 20 to 60, and 20 more; without
        `fields` 120 where 60 were best, for then more are better still.
    n_starts : int, default=3
        Taggers that learn from different first weights; the mean of what they think decides. With `fields` they take turns with
        all settings that are as good as the best, as far as hidden prototypes can tell.
    n_links : int, default=5
        Most prototypes a word is linked to.
    labels : list of str or None, default=None
        Further labels, without prototypes.
    word_lists : dict of str to list of str, or None, default=None
        Words that carry only the labels they are listed under, as prototypes do, but that no other word is linked to.
    boundary : str or None, default=None
        A label for marks between fields. After decoding such a token takes the label of the token before it.
    marks : bool, default=True
        With `fields` and without `boundary`, commas, brackets and the like that are frequent and stand in no list are taken for
        marks between fields. Not where a label has no prototypes, or where tagged sentences give marks labels of their own.
    suffix_length : int, default=3
        Longest suffix that counts as spelling.
    random_state : int, default=0
        Seed of first weights and of the text that settings are tried on.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors.

    Attributes
    ----------
    classes_ : ndarray of str
        The labels, sorted.
    members_ : list of PrototypeTagger
        The taggers.
    trials_ : list of dict
        Settings that were tried, the best first: ``similarity``, ``threshold``, ``spelling``, ``sticky``, ``n_iter``,
        ``recovered``, how probable the labels of hidden prototypes became (None if nothing was or could be tried), and
        ``taggers``, how many of `members_` have them. What is recovered tells, without labels, how good to expect the tagger
        to be, and puts settings in order.
    crf_ : CRF or None
        What wholly tagged sentences taught.
    crf_weight_ : float
        How much it counts beside the prototype taggers, 0 to 1.
    marks_ : list of str
        What was taken for marks between fields.

    Notes
    -----
    Haghighi and Klein (2006) train one tagger with fixed settings: `PrototypeTagger`. Beyond them: the choice of settings,
    several starts and settings, and a CRF of the sentences that are tagged. Hidden prototypes are few, so settings that let
    their labels become less probable by up to 0.05 may be the better ones: with `fields`, where samples of one text
    would choose differently, taggers of the best such settings answer together in place of one that chance picks. The CRF
    and the prototypes are mixed by a weight that cross-validation over the tagged sentences chooses; see
    `handful.tagging.prototypes.labeled`.

    Cost: six to eight trials, each of three short trainings at order 1 on 8,000 tokens, then `n_starts` trainings.

    Examples
    --------
    >>> text = [f"{d} {n} {v}".split() for d in ("the", "a") for n in ("dog", "cat", "cow") for v in ("sat", "ran")]
    >>> team = PrototypeTeam({"D": ["the", "a"], "N": ["dog", "cat"], "V": ["sat", "ran"]}, order=1).fit(text)
    >>> team.predict([["the", "cow", "sat"]])
    [['D', 'N', 'V']]
    """

    classes_: np.ndarray
    members_: list[PrototypeTagger]
    trials_: list[dict[str, Any]]
    crf_: Any
    crf_weight_: float
    marks_: list[str]

    STATE = stored(
        classes_=Names("k", only_text=True),
        members_=ListOf(Model("PrototypeTagger"), "members"),
        trials_=Plain(),
        crf_=Maybe(Model("CRF")),
        crf_weight_=Number(float, low=0, high=1),
        marks_=IfThere(ListOf(Text())),
    )

    def __init__(
        self,
        prototypes: Mapping[str, Sequence[str]] | None = None,
        fields: bool = False,
        similarity: Literal["auto", "none", "places", "nearby", "place-roots", "nearby-roots"] = "auto",
        threshold: Annotated[float, Range(-1, 1)] | Literal["auto"] = "auto",
        min_count: Count | None = None,
        spelling: bool | Literal["auto"] = "auto",
        sticky: Annotated[float, Range(0, 20)] | Literal["auto"] = "auto",
        order: Literal[1, 2] | None = None,
        variance: Positive = 0.5,
        max_iter: Count | Literal["auto"] = "auto",
        n_starts: Count = 3,
        *,
        n_links: Count = 5,
        labels: Sequence[str] | None = None,
        word_lists: Mapping[str, Sequence[str]] | None = None,
        boundary: str | None = None,
        marks: bool = True,
        suffix_length: Annotated[int, Range(0, 9)] = 3,
        random_state: Annotated[int, AtLeast(0)] = 0,
        n_jobs: Jobs = None,
    ) -> None:
        self.prototypes = prototypes
        self.fields = fields
        self.similarity = similarity
        self.threshold = threshold
        self.min_count = min_count
        self.spelling = spelling
        self.sticky = sticky
        self.order = order
        self.variance = variance
        self.max_iter = max_iter
        self.n_starts = n_starts
        self.n_links = n_links
        self.labels = labels
        self.word_lists = word_lists
        self.boundary = boundary
        self.marks = marks
        self.suffix_length = suffix_length
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
            Told of trials and iterations.
        checkpoint : path-like, optional
            As for `PrototypeTagger`; every start has a file of its own, with a number behind this name.

        Returns
        -------
        PrototypeTeam
            Itself.
        """
        check_params(self)
        who = type(self).__name__
        sentences, offsets = check_sentences(sentences, who)
        given = check_given(tags, offsets, "tags") or [None] * len(sentences)
        whole = [i for i, tags_of in enumerate(given) if tags_of is not None and len(tags_of) and None not in tags_of]
        whole = whole if len(whole) >= _FEWEST_TAGGED else []
        kept = set(whole)
        named = {*(self.labels or ()), *(tag for tags_of in given for tag in tags_of or () if tag)}
        self.marks_ = self._marks(sentences, given, named)
        partial = [
            None if i in kept or tags_of is None else self._without_marks(sentences[i], tags_of)
            for i, tags_of in enumerate(given)
        ]
        text = [*sentences, *more_text]
        n_tokens = sum(map(len, text))

        @cache
        def similarities(kind: Kind) -> Any:
            return learn_similarity(kind, text, n_tokens, self.min_count)

        def make(setting: Setting) -> PrototypeTagger:
            return self._member(named, **setting.parameters(similarities))

        trials = self._choose(make, sentences, n_tokens, progress)
        near = self._near(trials)
        turns = [near[number % len(near)] for number in range(self.n_starts)]
        self.trials_ = [{**_facts(trial), "taggers": turns.count(trial)} for trial in trials]
        self.members_ = []
        for number, trial in enumerate(turns):
            member = make(trial.setting).set_params(
                order=self.order or (1 if self.fields else 2),
                max_iter=self._iterations(trial),
                start_noise=_START_NOISE if self.n_starts > 1 else None,
                random_state=self.random_state + number,
            )
            state = None if checkpoint is None else f"{os.fspath(checkpoint)}-{number}"
            self.members_.append(member.fit(sentences, partial, progress=progress, checkpoint=state))
        self.classes_ = self._answers(self.members_[0])
        self.crf_, self.crf_weight_ = None, 0.0
        if whole:
            inputs, answers = [sentences[i] for i in whole], [[str(tag) for tag in given[i] or ()] for i in whole]
            self.crf_, self.crf_weight_ = learn_mixture(
                inputs, answers, self.predict_proba(inputs), self.classes_, self.random_state, progress
            )
        return self

    def read(self, sentences: Sequence[Tokens]) -> Iterator[_Reading]:
        """Ask all taggers about sentences; see `ProbabilisticTagger.read`.

        Boundary marks have the probabilities of the token before them.
        """
        check_is_fitted(self, "members_")
        sentences, _ = check_sentences(sentences, type(self).__name__)
        several = [member.predict_proba(sentences) for member in self.members_]
        means = [np.mean(rows, axis=0) for rows in zip(*several, strict=True)]
        if (boundary := self._boundary) is not None:
            classes = self.members_[0].classes_
            mark = code_of(classes)[boundary]
            means = [rows[fill_marks(rows.argmax(axis=1) == mark)] for rows in means]
            if self.marks_:
                means = [_without_column(rows, mark) for rows in means]
        yield _Reading(self.classes_, mix(self.crf_, self.crf_weight_, sentences, means, self.classes_))

    def explain(self, sentence: Tokens) -> list[Explanation]:
        """Tell why the tokens of a sentence get their tags, by the first tagger of the team."""
        check_is_fitted(self, "members_")
        return self.members_[0].explain(sentence)

    @property
    def links_(self) -> dict[str, list[str]]:
        """Prototypes each word is linked to."""
        return self.members_[0].links_

    @property
    def lexicon_(self) -> dict[str, list[str]]:
        """Labels of words that may not carry every label."""
        return self.members_[0].lexicon_

    def _marks(
        self, sentences: Sequence[Tokens], given: Sequence[Sequence[str | None] | None], named: set[str]
    ) -> list[str]:
        """Return what stands between fields, where that is left to the text."""
        lists = check_lists(self.prototypes, "prototypes")
        if not self.fields or not self.marks or self.boundary is not None or not named <= lists.keys():
            return []
        listed = {word for words in (*lists.values(), *(self.word_lists or {}).values()) for word in words}
        if len(lists) < 2 or not any(token in listed for sentence in sentences for token in sentence):
            return []  # nothing can be learned, which the taggers tell
        marks = find_marks(map(tuple, sentences), listed)
        return marks if marks_follow(map(tuple, sentences), given, marks) else []

    def _without_marks(self, sentence: Tokens, tags: Sequence[str | None]) -> list[str | None]:
        return [None if token in self.marks_ else tag for token, tag in zip(sentence, tags, strict=True)]

    @property
    def _boundary(self) -> str | None:
        """The label that marks have while taggers learn."""
        return _MARK if self.marks_ else self.boundary

    def _answers(self, member: PrototypeTagger) -> np.ndarray:
        """Return the labels of a tagger without that of marks which nobody named."""
        return member.classes_[member.classes_ != _MARK] if self.marks_ else member.classes_

    def _choose(self, make: Any, sentences: Sequence[Tokens], n_tokens: int, progress: Progress | None) -> list[Trial]:
        like_words = _MUCH_KINDS if n_tokens >= _MUCH_TEXT else _LITTLE_KINDS
        kinds: Sequence[Kind] = (
            (_FIELD_KINDS if self.fields else like_words) if self.similarity == "auto" else (self.similarity,)
        )
        spellings = (True, False) if self.spelling == "auto" else (self.spelling,)
        stickies = (_STICKY if self.fields else (0.0,)) if self.sticky == "auto" else (self.sticky,)
        threshold = None if self.threshold == "auto" else self.threshold
        first = Setting(kinds[0], threshold, spellings[0], stickies[0])
        grid = {"sticky": stickies, "similarity": kinds, "spelling": spellings}
        if all(len(values) == 1 for values in grid.values()) and self.max_iter != "auto":
            return [Trial(first, self.max_iter, float("nan"))]
        return choose_setting(first, grid, make, sentences, random_state=self.random_state, progress=progress)

    def _near(self, trials: list[Trial]) -> list[Trial]:
        """Return the settings that taggers get in turn: the best one, and for fields those that chance may have put below."""
        best = trials[0]
        if not self.fields:
            return [best]
        return [trial for trial in trials if trial is best or trial.recovered >= best.recovered - _NEAR]

    def _iterations(self, trial: Trial) -> int:
        if self.max_iter != "auto":
            return self.max_iter
        return _STILL_RISING if trial.n_iter == STEPS[-1] and not self.fields else trial.n_iter + STEPS[0]

    def _member(self, named: set[str], **settings: Any) -> PrototypeTagger:
        lists = check_lists(self.prototypes, "prototypes")
        return PrototypeTagger(
            {**lists, _MARK: self.marks_} if self.marks_ else lists,
            variance=self.variance,
            n_links=self.n_links,
            labels=sorted(named),
            word_lists=self.word_lists,
            boundary=self._boundary,
            suffix_length=self.suffix_length,
            n_jobs=self.n_jobs,
            **settings,
        )

    def _check_state(self) -> None:
        self.marks_ = self.__dict__.get("marks_") or []  # files of earlier versions have none
        labels = set(self.classes_.tolist())
        whole = [
            all(np.array_equal(self._answers(member), self.classes_) for member in self.members_),
            not self.marks_ or all(_MARK in member.classes_ for member in self.members_),
            self.crf_ is None or set(self.crf_.classes_) <= labels,
            self.boundary is None or self.boundary in labels,
        ]
        if not all(whole):
            raise DataError("PrototypeTeam: the stored model is damaged.")


@dataclass(frozen=True, eq=False)
class _Reading:
    """What the taggers say of sentences together."""

    classes: np.ndarray
    means: list[np.ndarray]

    def tags(self) -> list[list[str]]:
        return [self.classes[rows.argmax(axis=1)].tolist() for rows in self.means]

    def shares(self) -> list[np.ndarray]:
        return self.means


def _without_column(rows: np.ndarray, column: int) -> np.ndarray:
    """Return shares without those of one label; where there are no others, all have the same."""
    others = np.delete(rows, column, axis=1)
    total = others.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, others / np.where(total > 0.0, total, 1.0), 1.0 / others.shape[1])


def _facts(trial: Trial) -> dict[str, Any]:
    setting = trial.setting.parameters(lambda kind: kind)
    recovered = None if np.isnan(trial.recovered) else trial.recovered
    return {**setting, "n_iter": trial.n_iter, "recovered": recovered}
