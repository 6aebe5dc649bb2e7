"""Train taggers on few tagged sentences and much raw text, with settings chosen by cross-validation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from handful.data.records import Sentence
from handful.errors import Progress
from handful.params import AtLeast, Count, Jobs, Positive, Range
from handful.registry import MethodSpec, Resource, register

_ITERATIONS = 300
_TOLERANCE = 3e-4  # less takes a third more iterations and makes no difference in F1
_PREFIXES = (2, 4, 6, 8, 10, 12, 14, 20)
_RESOLUTION = 16.0
_MOST_CLUSTERS = 500
_FEWEST_TOKENS = 5  # for each different word of raw text, case and digits aside; fewer make clusters of chance
_FEWEST_TUNED, _MOST_TUNED = 6, 3_000
_FEW = 400
_MOST_COMPARED = 1_000
_FIELD_LENGTH = 1.15  # tokens with one tag in a row: parts of speech have 1.05 to 1.12, fields of texts 1.2 and more
_MOST_FIELDS = 40
_TRIED = ("general", "wide")
_STRENGTH = 0.03
_STRONG = 2.0  # penalty that suits some corpora of many sentences better than the usual one
_MOST_TRIED, _TRIED_LONGER = 8_000, 150
_BETTER = 2.0  # standard errors

Sentences = Sequence[Sentence]
Tags = Sequence[Sequence[str]]


@dataclass(frozen=True)
class ClusterCandidate:
    """Clusters of words that a CRF may read.

    Parameters
    ----------
    name : str
        Where they come from.
    lookups : mapping or None
        Tables for `CRF`; None is no clusters.
    margin : float
        Standard errors by which the score must exceed that of the best candidate before.
    """

    name: str
    lookups: Mapping[str, Any] | None
    margin: float = 0.0


class ClusterChoice(NamedTuple):
    """The chosen clusters, and the cross-validated score (F1 of spans, or accuracy) of each candidate, by name."""

    name: str
    lookups: Mapping[str, Any] | None
    scores: dict[str, float]


class TaggerSetup:
    """Settings of a CRF, with clusters that are made once.

    Parameters
    ----------
    templates : {"auto", "general", "wide", "pos", "chunk", "ner"}, default="auto"
        What a CRF observes around a token. auto takes the better of general and wide in cross-validation.
    encoding : {"auto", "as-is", "iob2", "iobes"}, default="auto"
        How tags of spans (B-X, I-X, O) are written for training; auto is iobes. Other tags are left as they are.
    outside_bias : float or "auto", default="auto"
        Added to the weight of the label O of spans; auto takes the value with the best F1 in cross-validation.
    penalty : {"l2", "l1"}, default="l2"
        Penalty on the weights; l1 makes a small model.
    strength : float or None, default=None
        Strength of the penalty; by default 0.03, and more for wide where there are many sentences: then 0.4, or 2 if
        the F1 of held-out sentences is better by two standard errors with it.
    n_clusters : int or None, default=None
        Clusters of the words in raw text, in lower case and with digits as 0; by default one for every ten different ones, from
        2 to 500, and none where the text has less than five tokens for each.
    max_iter : int or None, default=None
        Iterations of training at most.
    columns : sequence of str, default=()
        Columns of the sentences other than the tokens.
    n_jobs : int or None, default=None
        Threads.
    random_state : int, default=0
        Seed.

    Notes
    -----
    Beyond 3,000 sentences auto is wide and a bias of 0, and only two strengths are compared, on a fifth of the sentences.
    With clusters, tags that go on for several tokens and are no spans (fields) depend on two labels before (order 2).

    Examples
    --------
    >>> setup = TaggerSetup(strength=0.1)
    >>> setup.fit_crf([["a", "dog"]], [["D", "N"]]).predict([["a", "dog"]])
    [['D', 'N']]
    """

    def __init__(
        self,
        templates: Literal["auto", "general", "wide", "pos", "chunk", "ner"] = "auto",
        encoding: Literal["auto", "as-is", "iob2", "iobes"] = "auto",
        outside_bias: Annotated[float, Range(-50, 50)] | Literal["auto"] = "auto",
        *,
        penalty: Literal["l2", "l1"] = "l2",
        strength: Positive | None = None,
        n_clusters: Annotated[int, AtLeast(2)] | None = None,
        max_iter: Count | None = None,
        columns: Sequence[str] = (),
        n_jobs: Jobs = None,
        random_state: Annotated[int, AtLeast(0)] = 0,
    ) -> None:
        self.templates = templates
        self.encoding = encoding
        self.outside_bias = outside_bias
        self.penalty = penalty
        self.strength = strength
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.columns = tuple(columns)
        self.n_jobs = n_jobs
        self.random_state = random_state
        self._clusters: dict[bool, tuple[Sentences, Any]] = {}

    def crf(self, lookups: Mapping[str, Any] | None = None, templates: str | None = None, n_sentences: int = 0) -> Any:
        """Return a new CRF that leaves tags as they are, with templates that read the lookups."""
        from handful.preprocessing.templates import lookup_templates, ready_set
        from handful.tagging.crf import CRF

        name = templates or (_TRIED[0] if self.templates == "auto" else self.templates)
        texts: Any = name
        if lookups is not None:
            absent = {"pos", "chunk"} - set(self.columns)
            texts = [text for text in ready_set(name) if not _mentions(text, absent)]
            texts += [text for table in lookups for text in lookup_templates(table, _PREFIXES)]
        return CRF(
            texts,
            penalty=self.penalty,
            strength=self.strength or _default_strength(name, n_sentences),
            max_iter=self.max_iter or _ITERATIONS,
            tol=_TOLERANCE,
            lookups=lookups,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def tuned_crf(
        self,
        sentences: Sentences,
        tags: Tags,
        lookups: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Return a new CRF whose settings, where they are auto, are chosen by these sentences."""
        from handful.tagging.selection import BIASES, choose_tagger, has_spans

        with_spans, n = has_spans(tags), len(sentences)
        many = n > _MOST_TUNED
        taggers = [self.crf(lookups, name, n) for name in self._tried_templates(n)]
        if with_spans and many and self._strength_is_free():
            taggers.append(self.crf(lookups, _TRIED[-1], n).set_params(strength=_STRONG))
        taggers = [tagger.set_params(**self._for_tags(tags, with_spans, lookups)) for tagger in taggers]
        biases = self._tried_biases(n, BIASES) if with_spans else (0.0,)
        if len(taggers) * len(biases) == 1:
            return taggers[0].set_params(outside_bias=biases[0])
        folds = _folds(n)
        if many:  # which penalty is best depends on the number of training sentences, so nearly all are used
            folds = (5, 1)
            step = -(-n // _MOST_TRIED)
            sentences, tags = sentences[::step], tags[::step]
        return choose_tagger(
            taggers,
            sentences,
            tags,
            biases=biases,
            folds=folds,
            n_errors=_BETTER if many else 0.0,
            max_iter=_TRIED_LONGER if many else None,  # a weak penalty takes longer to show what it can do
            progress=progress,
        ).tagger

    def _for_tags(self, tags: Tags, with_spans: bool, lookups: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return parameters of a CRF that depend on the kind of tags."""
        if with_spans:
            encoding = {"auto": "iobes", "as-is": None}.get(self.encoding, self.encoding)
            # Of a handful of sentences, whose bias is not tuned, shared weights make no span likely enough.
            share_types = self.penalty == "l2" and len(tags) >= _FEWEST_TUNED
            return {"encoding": encoding, "share_types": share_types}
        return {"order": 2} if lookups is not None and _are_fields(tags) else {}

    def choose_clusters(
        self,
        sentences: Sentences,
        tags: Tags,
        candidates: Sequence[ClusterCandidate],
        progress: Progress | None = None,
    ) -> ClusterChoice:
        """Compare a CRF without clusters and with each of some by cross-validation on tagged sentences.

        Parameters
        ----------
        sentences, tags
            Tagged sentences; of more than 1,000 an even sample is taken.
        candidates : sequence of ClusterCandidate
            Clusters to try, in turn; each must do better than the best before it by its `margin`.
        progress : callable, optional
            Called after each training.

        Returns
        -------
        ClusterChoice
            Without scores, and with the last candidate, where there are less than six sentences.

        Examples
        --------
        >>> text, tags = [["in", "Rome"], ["in", "Bonn"], ["to", "Oslo"]] * 4, [["O", "B-LOC"]] * 12
        >>> clusters = ClusterCandidate("example", {"brown": {"Rome": "01", "Bonn": "01"}})
        >>> sorted(TaggerSetup().choose_clusters(text, tags, [clusters]).scores)
        ['example', 'none']
        """
        from handful.tagging.selection import BIASES, choose_tagger, has_spans

        if len(sentences) < _FEWEST_TUNED:
            return ClusterChoice(candidates[-1].name, candidates[-1].lookups, {})
        step = -(-len(sentences) // _MOST_COMPARED)
        inputs, labels = sentences[::step], tags[::step]
        with_spans = has_spans(labels)
        best: ClusterCandidate | None = None
        scores: dict[str, float] = {}
        parts = np.zeros(0)
        for candidate in (ClusterCandidate("none", None), *candidates):
            tagger = self.crf(candidate.lookups, None, len(inputs))
            trial = choose_tagger(
                [tagger.set_params(**self._for_tags(labels, with_spans, candidate.lookups))],
                inputs,
                labels,
                biases=BIASES,
                folds=_folds(len(inputs)),
                progress=progress,
            )
            error = float(np.linalg.norm(trial.parts - parts)) if best is not None else 0.0
            scores[candidate.name] = trial.score
            if best is None or trial.score > scores[best.name] + candidate.margin * error:
                best, parts = candidate, trial.parts
        assert best is not None
        return ClusterChoice(best.name, best.lookups, scores)

    def _tried_templates(self, n_sentences: int) -> Sequence[str]:
        if self.templates != "auto":
            return [self.templates]
        if n_sentences > _MOST_TUNED:
            return _TRIED[-1:]
        return _TRIED if n_sentences >= _FEWEST_TUNED else _TRIED[:1]

    def _strength_is_free(self) -> bool:
        return self.penalty == "l2" and self.templates in ("auto", _TRIED[-1]) and self.strength is None

    def _tried_biases(self, n_sentences: int, usual: tuple[float, ...]) -> tuple[float, ...]:
        if self.outside_bias != "auto":
            return (float(self.outside_bias),)
        return usual if _FEWEST_TUNED <= n_sentences <= _MOST_TUNED else (0.0,)

    def fit_crf(
        self,
        sentences: Sentences,
        tags: Tags,
        lookups: Mapping[str, Any] | None = None,
        *,
        progress: Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Return a fitted CRF; see `tuned_crf`."""
        tagger = self.tuned_crf(sentences, tags, lookups, progress)
        return tagger.fit(list(sentences), _lists(tags), progress=progress, checkpoint=checkpoint)

    def clusters(self, sentences: Sentences, *, folded: bool = False) -> Any:
        """Return Brown clusters of untagged sentences; the last result is kept.

        Folded clusters are of words in lower case, digits as 0; a CRF looks up every word in this form.
        """
        from handful.representations.brown import BrownClusters

        kept = self._clusters.get(folded)
        if kept is None or kept[0] is not sentences:
            text: Any = _folded(sentences) if folded else list(sentences)
            n_clusters = self.n_clusters or max(2, min(_MOST_CLUSTERS, len(_types(text)) // 10))
            kept = self._clusters[folded] = (sentences, BrownClusters(n_clusters).fit(text))
        return kept[1]

    def lookups(self, sentences: Sentences) -> dict[str, Any] | None:
        """Return the clusters of untagged sentences for `fit_crf`; None where the text is too short for clusters.

        Examples
        --------
        >>> TaggerSetup().lookups([["every", "word", "once"]]) is None
        True
        """
        enough = _FEWEST_TOKENS * len(_types(_folded(sentences)))
        if self.n_clusters is None and sum(map(len, sentences)) < enough:
            return None
        return {"brown": self.clusters(sentences, folded=True).paths_}


def _default_strength(templates: str, n_sentences: int) -> float:
    # best with wide templates at 50, 200 and 1,000 sentences
    return min(0.4, max(0.05, n_sentences / 2500)) if templates == "wide" else _STRENGTH


def _folds(n_sentences: int) -> tuple[int, int]:
    """Return the number of folds and of those held out; one half of many sentences is enough."""
    return (3, 3) if n_sentences <= _FEW else (2, 1)


def train_crf(setup: TaggerSetup, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    """Return a CRF of the tagged sentences alone."""
    return setup.fit_crf(sentences, tags)


def train_prototypes(setup: TaggerSetup, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    """Return prototype taggers with lists from the tagged sentences, mixed with a CRF of these."""
    from handful.tagging.prototypes.ensemble import PrototypeEnsemble
    from handful.tagging.prototypes.lists import extract_prototypes

    lists = extract_prototypes([tuple(sentence) for sentence in sentences], tags)
    known: list[Any] = [*_lists(tags), *[None] * len(unlabeled)]
    ensemble = PrototypeEnsemble(
        lists, fields=False, similarity="place-roots", max_iter=30, random_state=setup.random_state
    )
    return ensemble.fit([list(sentence) for sentence in [*sentences, *unlabeled]], known)


def train_crf_with_clusters(setup: TaggerSetup, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    """Return a CRF that also reads the clusters of words in the untagged sentences."""
    return setup.fit_crf(sentences, tags, {"brown": setup.clusters(unlabeled, folded=True).paths_})


def train_crf_condensed(setup: TaggerSetup, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    """Return a CRF whose features are condensed by its decisions on the untagged sentences."""
    from handful.representations.condensed_features import CondensedFeatures

    # Templates may only read columns that the raw text has too.
    shared = set(getattr(unlabeled[0], "columns", ()))
    inputs = [_only(sentence, shared) for sentence in sentences]
    features = CondensedFeatures(setup.fit_crf(inputs, tags), resolution=_RESOLUTION)
    return features.fit(list(unlabeled), labeled=inputs).retrain(inputs, _lists(tags), max_iter=_ITERATIONS)


def train_stacked(setup: TaggerSetup, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    """Return a CRF that semi-supervised condensed nearest neighbors correct."""
    from handful.neighbors.condensed import SemiSupervisedCondensedNN
    from handful.tagging.stacked import StackedTagger

    clusters = setup.clusters(unlabeled)
    tagger = StackedTagger(setup.tuned_crf(sentences, tags), SemiSupervisedCondensedNN(), clusters=clusters)
    return tagger.fit(list(sentences), _lists(tags), unlabeled=list(unlabeled))


def _are_fields(tags: Tags) -> bool:
    """Return whether tags, which are no spans, go on for several tokens, as the fields of addresses and lists do."""
    n_runs = sum(1 for row in tags for _ in groupby(row))
    few = len(set().union(*tags)) <= _MOST_FIELDS
    return few and sum(map(len, tags)) >= _FIELD_LENGTH * max(1, n_runs)


def _folded(sentences: Sentences) -> list[list[str]]:
    from handful.preprocessing.word_tables import fold

    return [[fold(token) for token in sentence] for sentence in sentences]


def _types(sentences: Sentences | Sequence[list[str]]) -> set[str]:
    return {token for sentence in sentences for token in sentence}


def _lists(tags: Tags) -> list[list[str]]:
    return [list(sentence_tags) for sentence_tags in tags]


def _only(sentence: Any, names: set[str]) -> Sentence:
    columns = getattr(sentence, "columns", {})
    return Sentence(tuple(sentence), {name: cells for name, cells in columns.items() if name in names})


def _mentions(template: str, columns: set[str]) -> bool:
    from handful.preprocessing.templates import parse_templates

    return any(atom.column in columns for atom in parse_templates([template])[0].atoms)


def _register(name: str, summary: str, train: Any, *resources: Resource, **fields: Any) -> None:
    fields = {"supervised_control": "crf", "cost": "slow", **fields}
    register(
        MethodSpec(name, "sentences", uses_unlabeled=True, summary=summary, train=train, resources=resources, **fields)
    )


_register(
    "prototypes",
    "An ensemble of prototype taggers, with a CRF of the tagged sentences.",
    train_prototypes,
    *("raw text", "prototypes"),
    paper="haghighi2006",
    supervised_control=None,
)
_register(
    "crf+clusters",
    "A CRF that also reads Brown clusters of the words in raw text.",
    train_crf_with_clusters,
    *("raw text", "clusters"),
    cost="fair",
)
_register(
    "crf+condensed-features",
    "A CRF whose features are condensed by its own decisions on raw text.",
    train_crf_condensed,
    "raw text",
    paper="suzuki2011",
)
_register(
    "crf+stacked-condensed-nn",
    "A CRF that semi-supervised condensed nearest neighbors correct.",
    train_stacked,
    *("raw text", "clusters"),
    paper="sogaard2011",
)
