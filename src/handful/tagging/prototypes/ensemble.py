"""Ensembles of prototype taggers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import chain
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from handful.data.labels import code_of
from handful.data.records import Explanation
from handful.errors import DataError, Progress, Step
from handful.params import AtLeast, Count, Jobs, Positive, Range, check_params
from handful.persistence.schema import IfThere, ListOf, Maybe, Model, Names, Number, Plain, Text, stored
from handful.preprocessing.templates import Tokens
from handful.registry import method
from handful.tagging.base import ProbabilisticTagger, check_sentences
from handful.tagging.prototypes.features import (
    Kind,
    fill_marks,
    find_marks,
    learn_mixture,
    learn_similarity,
    marks_follow,
    mix,
    usual_threshold,
)
from handful.tagging.prototypes.lists import check_given, check_lists
from handful.tagging.prototypes.tagger import PrototypeTagger

STEPS = (20, 40, 60)
"""After how many iterations hidden prototypes are looked for."""


def recovered_shares(
    tagger: Any,
    sentences: Sequence[Tokens],
    *,
    n_folds: int = 3,
    max_tokens: int = 8_000,
    steps: Sequence[int] = STEPS,
    random_state: int = 0,
) -> dict[int, float]:
    """Hide some prototypes, learn from the others, and tell how often the hidden ones get their label all the same.

    No labels are needed, and a tagger that gives hidden prototypes their label is likely to be right about other words
    too: settings are put in order by it.

    Parameters
    ----------
    tagger : PrototypeTagger
        Not fitted, with a fitted similarity or none. It is learned at order 1, which takes a fraction of the time.
    sentences : list of lists of str
        The text.
    n_folds : int, default=3
        Every prototype is hidden once, in one of so many turns; the only word of a label never is.
    max_tokens : int, default=8000
        The sample of the text that is learned from is no larger.
    steps : sequence of int
        Numbers of iterations to look after.
    random_state : int, default=0
        Seed of the sample.

    Returns
    -------
    dict of int to float
        For each of `steps`: the mean probability that hidden prototypes get of their label, every word counting once
        however often it occurs. NaN where nothing can be hidden.

    Examples
    --------
    >>> from handful.tagging.prototypes.ensemble import PrototypeTagger
    >>> text = [f"{d} {n} {v}".split() for d in ("the", "a") for n in ("dog", "cat", "cow") for v in ("sat", "ran")]
    >>> lists = {"D": ["the", "a"], "N": ["dog", "cat"], "V": ["sat", "ran"]}
    >>> round(recovered_shares(PrototypeTagger(lists, spelling=False), text, steps=(20,))[20], 1)
    1.0
    """
    lists = check_lists(tagger.prototypes, "prototypes")
    sample = _sample(sentences, max_tokens, random_state)
    occurring = {word for sentence in sample for word in sentence}
    recovered, total = np.zeros(len(steps)), 0
    for fold in range(n_folds):
        hidden = _hidden(lists, tagger.boundary, fold, n_folds)
        hidden = {word: label for word, label in hidden.items() if word in occurring}
        rest = {label: [word for word in words if word not in hidden] for label, words in lists.items()}
        if not hidden or occurring.isdisjoint(chain.from_iterable(rest.values())):
            continue
        recovered += len(hidden) * _learned_without(hidden, rest, tagger, sample, steps)
        total += len(hidden)
    shares = recovered / total if total else np.full(len(steps), np.nan)
    return dict(zip(steps, shares.tolist(), strict=True))


def _learned_without(
    hidden: Mapping[str, str],
    rest: Mapping[str, Sequence[str]],
    tagger: Any,
    sample: Sequence[Sequence[str]],
    steps: Sequence[int],
) -> np.ndarray:
    """Learn from the other prototypes; return the shares that hidden ones get of their labels after so many steps."""
    told: list[float] = []
    learner = clone(tagger, safe=False)
    learner.set_params(
        prototypes=rest,
        similarity=tagger.similarity,
        labels=sorted({*rest, *(tagger.labels or ())}),
        order=1,
        max_iter=max(steps),
    )
    gold = [[hidden.get(word) for word in sentence] for sentence in sample]
    learner.fit(sample, gold=gold, progress=lambda step: told.append(step.figures["share"]))
    if not told:  # nothing is left to learn, and every label is as likely as another
        return np.full(len(steps), 1.0 / len(learner.classes_))
    return np.array([told[min(step, len(told)) - 1] for step in steps])


def _sample(sentences: Sequence[Tokens], max_tokens: int, random_state: int) -> list[list[str]]:
    chosen: list[list[str]] = []
    size = 0
    for number in np.random.default_rng(random_state).permutation(len(sentences)).tolist():
        words = list(sentences[number])
        if words and (size + len(words) <= max_tokens or not chosen):
            chosen.append(words)
            size += len(words)
    return chosen


def _hidden(lists: Mapping[str, Sequence[str]], boundary: str | None, fold: int, n_folds: int) -> dict[str, str]:
    """Return the words to hide in a turn, with their label; those of several labels and those of boundaries stay."""
    labels_of = Counter(word for words in lists.values() for word in words)
    return {
        word: label
        for label, words in lists.items()
        if label != boundary and len(words) > 1
        for number, word in enumerate(words)
        if number % n_folds == fold and labels_of[word] == 1
    }


@dataclass(frozen=True)
class Setting:
    """What is tried: how words are linked, whether their spelling counts, how sticky labels are.

    Parameters
    ----------
    similarity : str
        One of `handful.tagging.prototypes.features.KINDS`.
    threshold : float or None
        Words less similar are not linked; None is what is usual for the kind.
    spelling : bool
        Whether the spelling counts.
    sticky : float
        See `PrototypeTagger`.
    """

    similarity: Kind
    threshold: float | None
    spelling: bool
    sticky: float

    def parameters(self, similarities: Callable[[Kind], Any]) -> dict[str, Any]:
        """Return the parameters of a `PrototypeTagger`."""
        threshold = usual_threshold(self.similarity) if self.threshold is None else self.threshold
        return {**asdict(self), "similarity": similarities(self.similarity), "threshold": threshold}


@dataclass(frozen=True)
class Trial:
    """How a setting did.

    Parameters
    ----------
    setting : Setting
        What was tried.
    n_iter : int
        Iterations after which it did best.
    recovered : float
        How probable the label of hidden prototypes became; see `handful.tagging.prototypes.ensemble.recovered_shares`.
    """

    setting: Setting
    n_iter: int
    recovered: float


def choose_setting(
    first: Setting,
    grid: Mapping[str, Sequence[Any]],
    make: Callable[[Setting], Any],
    sentences: Sequence[Any],
    *,
    steps: Sequence[int] = STEPS,
    random_state: int = 0,
    progress: Progress | None = None,
) -> list[Trial]:
    """Try settings one field after the other, each time going on from the best so far.

    Parameters
    ----------
    first : Setting
        Where to begin.
    grid : mapping of str to sequence
        Values to try of each field of `Setting`, in this order; of values that do equally well the first wins.
    make : callable
        From a setting to an unfitted `PrototypeTagger` with a fitted similarity.
    sentences : list of lists of str
        The text.
    steps, random_state
        See `recovered_shares`.
    progress : callable, optional
        Told of every trial.

    Returns
    -------
    list of Trial
        The best first. Where no prototype can be hidden, the first setting alone.

    Examples
    --------
    >>> from handful.tagging.prototypes.ensemble import PrototypeTagger
    >>> text = [f"{d} {n} {v}".split() for d in ("the", "a") for n in ("dog", "cat", "cow") for v in ("sat", "ran")]
    >>> lists = {"D": ["the", "a"], "N": ["dog", "cat"], "V": ["sat", "ran"]}
    >>> def make(setting):
    ...     return PrototypeTagger(lists, spelling=setting.spelling)
    >>> first = Setting("none", None, True, 0.0)
    >>> trials = choose_setting(first, {"spelling": (True, False)}, make, text, steps=(20,))
    >>> len(trials), round(trials[0].recovered, 1)
    (2, 1.0)
    """
    total = 1 + sum(len(values) - 1 for values in grid.values())
    trials: dict[Setting, Trial] = {}

    def attempt(setting: Setting) -> Trial:
        if setting not in trials:
            shares = recovered_shares(make(setting), sentences, steps=steps, random_state=random_state)
            best = max(steps, key=lambda step: shares[step])
            trials[setting] = Trial(setting, best, shares[best])
            if progress is not None:
                progress(Step("settings", len(trials), total))
        return trials[setting]

    best = attempt(first)
    if np.isnan(best.recovered):
        return [best]
    for name, values in grid.items():
        tried = [attempt(replace(best.setting, **{name: value})) for value in values]
        best = max([best, *tried], key=lambda trial: trial.recovered)
    return sorted(trials.values(), key=lambda trial: -trial.recovered)


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


@method("prototype-ensemble", paper="haghighi2006", task="sentences", uses_unlabeled=True, resources=("prototypes",))
class PrototypeEnsemble(ProbabilisticTagger):
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
    max_tokens : int, default=200000
        Each tagger learns from the tagged sentences and a random sample of the others of at most this many tokens, so that
        cost does not grow with the text beyond that. Similarity of words is learned from all of it.
    random_state : int, default=0
        Seed of first weights and of samples of the text.
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
    `handful.tagging.prototypes.features`.

    Cost: six to eight trials, each of three short trainings at order 1 on 8,000 tokens, then `n_starts` trainings on at most
    `max_tokens`; reading the text and learning similarity are linear in its size.

    Examples
    --------
    >>> text = [f"{d} {n} {v}".split() for d in ("the", "a") for n in ("dog", "cat", "cow") for v in ("sat", "ran")]
    >>> team = PrototypeEnsemble({"D": ["the", "a"], "N": ["dog", "cat"], "V": ["sat", "ran"]}, order=1).fit(text)
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
        max_tokens: Count = 200_000,
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
            Told of trials and iterations.
        checkpoint : path-like, optional
            As for `PrototypeTagger`; every start has a file of its own, with a number behind this name.

        Returns
        -------
        PrototypeEnsemble
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
            chosen = self._sample(sentences, partial, self.random_state + number)
            inputs, labels = [sentences[i] for i in chosen], [partial[i] for i in chosen]
            self.members_.append(member.fit(inputs, labels, progress=progress, checkpoint=state))
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

    def _sample(self, sentences: Sequence[Tokens], tags: Tags, seed: int) -> list[int]:
        """Return which sentences a tagger learns from: all tagged ones, a random sample, and one for each rare prototype."""
        if sum(map(len, sentences)) <= self.max_tokens:
            return list(range(len(sentences)))
        chosen = {i for i, row in enumerate(tags) if row is not None}
        n_tokens = sum(len(sentences[i]) for i in chosen)
        missing = {word for words in check_lists(self.prototypes, "prototypes").values() for word in words}
        for i in np.random.default_rng(seed).permutation(len(sentences)).tolist():
            if i not in chosen and (n_tokens < self.max_tokens or not missing.isdisjoint(sentences[i])):
                chosen.add(i)
                n_tokens += len(sentences[i])
                missing.difference_update(sentences[i])
        return sorted(chosen)

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
            raise DataError("PrototypeEnsemble: the stored model is damaged.")


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
