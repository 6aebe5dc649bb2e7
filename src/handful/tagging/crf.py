"""Conditional random fields."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from handful.data.chunks import Scheme, convert, detect_scheme, from_spans, spans
from handful.data.labels import codes_among
from handful.data.records import Explanation
from handful.errors import DataError, ParameterError, Progress
from handful.linear.batch import log_loss, minimize
from handful.linear.chain import ChainStructure
from handful.linear.chain_layout import ChainLayout, build_layout, labels_before
from handful.linear.online import OnlineRule, train_online
from handful.linear.recorder import Recorder
from handful.linear.structure import Tied, Ties
from handful.parallel import jobs_of
from handful.params import AtLeast, Count, Jobs, Positive, Range, check_params
from handful.persistence.schema import Array, IfThere, Names, Number, Text, stored
from handful.preprocessing.extractor import Extractor, Predicates
from handful.preprocessing.templates import Tokens, has_column, parse_templates, ready_set, runs_of_sentences
from handful.registry import method
from handful.tagging.base import ProbabilisticTagger, check_sentences, encode_tags, explain_crf
from handful.tagging.crf_features import ChainSpace
from handful.tagging.recipes import train_crf

Constraints = Literal["iob2", "iobes", "seen"]


def allowed_pairs(labels: Sequence[str], scheme: Literal["iob2", "iobes"]) -> tuple[np.ndarray, np.ndarray]:
    """Return the legal label pairs and the legal first labels of a span encoding.

    Parameters
    ----------
    labels : sequence of str
        ``O`` and labels such as ``B-PER``.
    scheme : {"iob2", "iobes"}
        ``iob2``: a span is B I*. ``iobes``: a span is S, or B I* E.

    Returns
    -------
    pairs : ndarray of bool, shape (n_labels, n_labels)
        Whether the second label may follow the first.
    first : ndarray of bool, shape (n_labels,)
        Whether a sentence may start with the label.

    Examples
    --------
    >>> pairs, first = allowed_pairs(["B-X", "I-X", "O"], "iob2")
    >>> pairs.tolist(), first.tolist()
    ([[True, True, True], [True, True, True], [True, False, True]], [True, False, True])
    """
    split = [_parted(label, scheme) for label in labels]
    first = np.array([mark not in ("I", "E") for mark, _ in split])
    pairs = np.empty((len(labels), len(labels)), dtype=bool)
    for i, (mark, kind) in enumerate(split):
        open_span = mark in ("B", "I") if scheme == "iobes" else False
        for j, (next_mark, next_kind) in enumerate(split):
            inside = next_mark in ("I", "E")
            joins = mark in ("B", "I") and kind == next_kind
            pairs[i, j] = joins if inside else not open_span
    return pairs, first


def _parted(label: str, scheme: Literal["iob2", "iobes"]) -> tuple[str, str]:
    """Return mark and kind of a label."""
    marks = "BI" if scheme == "iob2" else "BIES"
    mark, _, kind = label.partition("-")
    if label != "O" and (mark not in marks or not mark or not kind):
        raise DataError(
            f"CRF: with constraints={scheme!r} every tag must be O or start with one of "
            f"{', '.join(m + '-' for m in marks)}, got {label!r}."
        )
    return mark, kind


def seen_pairs(n_labels: int, before: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the label pairs and first labels that occur in data; see `allowed_pairs`.

    Examples
    --------
    >>> pairs, first = seen_pairs(2, np.array([-1, 0]), np.array([0, 1]))
    >>> pairs.tolist(), first.tolist()
    ([[False, True], [False, False]], [True, False])
    """
    pairs = np.zeros((n_labels, n_labels), dtype=bool)
    inner = before >= 0
    pairs[before[inner], codes[inner]] = True
    first = np.zeros(n_labels, dtype=bool)
    first[codes[~inner]] = True
    return pairs, first


def share_types(layout: ChainLayout, labels: Sequence[str]) -> tuple[ChainLayout, Ties]:
    """Give every observation, in addition to its weights with labels, one with each type of span, which its labels share.

    Parameters
    ----------
    layout : ChainLayout
        Numbering of the features.
    labels : sequence of str
        The labels: ``O``, ``B-PER``, ``I-PER`` and so on.

    Returns
    -------
    layout : ChainLayout
        Every observation that goes with one label of a type goes with all of them.
    ties : Ties
        The weight of an observation with a label is its own plus that with the type. Label pairs have their own only.

    Examples
    --------
    >>> none, label = np.empty(0, dtype=np.int64), np.array([0], dtype=np.int32)
    >>> seen = ChainLayout(3, np.array([0, 1]), label, np.array([0, 0]), none, none, none)
    >>> layout, ties = share_types(seen, ["B-PER", "I-PER", "O"])
    >>> layout.node_targets.tolist(), ties.spread(np.array([1.0, 0.0, 0.5])).tolist()
    ([0, 1], [1.5, 0.5])
    """
    n_labels = layout.n_labels
    names, type_of = np.unique([label.partition("-")[2] or label for label in labels], return_inverse=True)
    predicates = np.repeat(np.arange(layout.n_predicates), np.diff(layout.node_offsets))
    # All pairs of a seen (observation, type) and a label of this type, as rising keys of (observation, label).
    seen = np.unique(predicates * len(names) + type_of[layout.node_targets])
    rows, columns = np.nonzero((seen % len(names))[:, None] == type_of)
    keys = (seen // len(names))[rows] * n_labels + columns
    rising = np.argsort(keys)
    keys, rows = keys[rising], rows[rising]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(keys // n_labels, minlength=layout.n_predicates))])
    wider = ChainLayout(
        n_labels,
        offsets.astype(np.int64),
        (keys % n_labels).astype(np.int32),
        layout.edge_offsets,
        layout.edge_targets,
        layout.pairs,
        layout.triples,
    )
    n = wider.n_features
    shared, value = np.zeros(n, dtype=np.int64), np.zeros(n)
    shared[: len(keys)], value[: len(keys)] = n + rows, 1.0
    return wider, Ties(n + len(seen), np.arange(n), shared, value)


OUTSIDE = "O"
"""Label of tokens outside all spans."""

_CHUNK_TOKENS = 100_000
_MAX_ITERATIONS, _MAX_PASSES = 1000, 15


@method("crf", paper="suzuki2011", task="sentences", baseline=True, train=train_crf)
class CRF(ProbabilisticTagger):
    """Tag the tokens of sentences with a linear-chain conditional random field.

    Use it when whole sentences are tagged: parts of speech, chunks, named entities.

    Parameters
    ----------
    templates : {"pos", "chunk", "ner", "general", "wide"} or list of str, default="pos"
        What is observed at a token: a ready set, or templates (see `handful.preprocessing.templates`). A ready set leaves out
        templates of columns that the sentences do not have.
    penalty : {"l2", "l1"}, default="l2"
        ``l2`` adds ``strength * sum(w ** 2)`` to minus the log-likelihood, ``l1`` adds ``strength * sum(abs(w))``; the
        latter leaves few weights different from zero.
    strength : float, default=1.0
        Strength of the penalty. The same number as CRFsuite's ``c2`` or ``c1``. For ``algorithm="pa"`` the
        aggressiveness is 1 / strength.
    algorithm : {"lbfgs", "pa", "fobos"}, default="lbfgs"
        ``lbfgs`` maximizes the penalized likelihood (OWL-QN for ``l1``). ``pa`` is the averaged passive-aggressive
        learner and ``fobos`` averaged forward-backward splitting with an L1 penalty; both decode instead of summing.
    order : {1, 2}, default=1
        How many labels before the present one a label feature may see.
    max_iter : int or None, default=None
        Most iterations, or passes for ``pa`` and ``fobos``; None is 1000, or 15 passes.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. Results do not depend on it.
    extra_l2 : float, default=0.0
        With ``penalty="l1"``, an additional L2 penalty (CRFsuite's ``c1`` and ``c2`` together).
    tol : float, default=1e-5
        Stop when ten iterations improve the objective by less than this fraction.
    min_count : int, default=1
        Leave out observations that occur less often.
    hash_bits : int or None, default=None
        If given, observations are hashed into 2 to the power of this many buckets per template, and no vocabulary is kept.
    lookups : dict of str to mapping, or None, default=None
        Tables from a word to a string or several strings, such as cluster paths or name lists, that templates read by
        this name: ``brown.prefix4[0]``. In a table whose words have neither capitals nor digits but 0, words are looked up
        in lower case, digits as 0.
    constraints : {"iob2", "iobes", "seen"} or None, default=None
        Label pairs that are possible at all: by the rules of a span encoding, or those seen in training.
    encoding : {"iob2", "iobes"} or None, default=None
        Rewrite span tags (``B-PER``, ``I-PER``, ``O``) in this encoding for training, under its rules, and predictions
        back in the encoding of the training tags. `classes_` and probabilities are those of the inner labels.
    all_labels : bool, default=False
        Give every observation a weight with every label, not only with those seen together.
    share_types : bool, default=False
        Give every observation a weight with the type of a span (PER), which is added to those with its labels (B-PER,
        I-PER): what was seen at the beginning of a span then counts inside as well. Helps with few sentences.
    outside_bias : float, default=0.0
        Added to the weight of the label ``O`` after training. Taggers of spans that have seen few sentences leave too many
        tokens outside; below 0 they find more spans, of which more are wrong. See `handful.tagging.selection`.
    random_state : int, default=0
        Seed of the order in which ``pa`` and ``fobos`` see the sentences.

    Attributes
    ----------
    classes_ : ndarray of str
        The tags, sorted.
    weights_ : ndarray of float64
        Weights that are not zero.
    n_active_ : int
        Their number.
    objective_ : float
        Penalized objective at the end of training (``lbfgs`` only).
    n_iter_ : int
        Iterations or passes made.

    Notes
    -----
    Objective, penalties and the default set of features (observations and label pairs seen in training) are those of
    CRFsuite, so strengths carry over. There are no weights for the start and end of a sentence; templates that look
    outside the sentence observe ``<s>`` and ``</s>`` instead.

    Ties in decoding go to the label that sorts first, from the end of the sentence on.
    Cost of an iteration: O(n_tokens * (n_templates + n_labels ** (order + 1))).

    Examples
    --------
    >>> sentences = [["the", "dog", "barks"], ["a", "cat", "sleeps"]]
    >>> tagger = CRF(strength=0.1).fit(sentences, [["D", "N", "V"], ["D", "N", "V"]])
    >>> tagger.predict([["the", "cat", "barks"]])
    [['D', 'N', 'V']]
    """

    STATE = stored(
        classes_=Names("k", only_text=True),
        allowed_=Array("b1", "k", "k"),
        allowed_first_=Array("b1", "k"),
        weights_=Array("f8", "f?"),
        vocabulary_=Extractor.STATE,
        layout_=ChainLayout.STATE,
        n_active_=Number(int, low=0),
        n_iter_=IfThere(Number(int, low=0)),
        objective_=IfThere(Number(float)),
        scheme_=IfThere(Text()),
        n_active_condensed_=IfThere(Number(int, low=0)),
        condensed_weights_=IfThere(Array("f8", "_")),
        tied_weights_=IfThere(Array("f8", "_")),
    )

    def __init__(
        self,
        templates: Literal["pos", "chunk", "ner", "general", "wide"] | Sequence[str] = "pos",
        *,
        penalty: Literal["l2", "l1"] = "l2",
        strength: Positive = 1.0,
        algorithm: Literal["lbfgs", "pa", "fobos"] = "lbfgs",
        order: Literal[1, 2] = 1,
        max_iter: Count | None = None,
        n_jobs: Jobs = None,
        extra_l2: Annotated[float, AtLeast(0)] = 0.0,
        tol: Annotated[float, AtLeast(0)] = 1e-5,
        min_count: Count = 1,
        hash_bits: Annotated[int, Range(1, 24)] | None = None,
        lookups: Mapping[str, Any] | None = None,
        constraints: Constraints | None = None,
        encoding: Literal["iob2", "iobes"] | None = None,
        all_labels: bool = False,
        share_types: bool = False,
        outside_bias: Annotated[float, Range(-50, 50)] = 0.0,
        random_state: Annotated[int, AtLeast(0)] = 0,
    ) -> None:
        self.templates = templates
        self.penalty = penalty
        self.strength = strength
        self.algorithm = algorithm
        self.order = order
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.extra_l2 = extra_l2
        self.tol = tol
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.lookups = lookups
        self.constraints = constraints
        self.encoding = encoding
        self.all_labels = all_labels
        self.share_types = share_types
        self.outside_bias = outside_bias
        self.random_state = random_state

    def fit(
        self,
        sentences: Sequence[Tokens],
        tags: Sequence[Sequence[str]],
        *,
        progress: Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from tagged sentences.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens; `Sentence` brings columns along.
        tags : list of lists of str
            One tag per token.
        progress : callable, optional
            Called with objective, gradient norm and number of active features after every iteration.
        checkpoint : path-like, optional
            File to save the state of training to now and then; if it is there already, training goes on from it, with
            the same result as without the interruption.

        Returns
        -------
        CRF
            Itself.
        """
        check_params(self)
        sentences, offsets = check_sentences(sentences, "CRF")
        codes, self.classes_ = encode_tags(offsets, tags, "CRF")
        if self.encoding is not None:
            try:
                self.scheme_ = detect_scheme(tags)
            except DataError as error:
                raise DataError(f"CRF: encoding={self.encoding!r} needs tags of spans; {error}") from None
            codes, self.classes_ = encode_tags(offsets, self._inner(tags), "CRF")
        _check_memory(len(self.classes_), self.order)
        extractor = self._new_extractor(sentences)
        observed = extractor.fit_transform(sentences, who="CRF")
        self.allowed_, self.allowed_first_ = self._rules(offsets, codes)
        layout = build_layout(
            extractor.n_predicates,
            len(self.classes_),
            observed.only(extractor.predicates_with(pairs=False)),
            observed.only(extractor.predicates_with(pairs=True)),
            codes,
            order=self.order,
            pairs=any(t.pairs and not t.atoms for t in extractor.templates),
            all_labels=self.all_labels,
            allowed=self.allowed_,
        )
        ties = None
        if self.share_types:
            layout, ties = share_types(layout, self.classes_.tolist())
        weights = self._learn(self.chain(extractor, layout, observed), ties, codes, progress, checkpoint)
        if self.outside_bias:
            weights[self.outside_feature(extractor, layout)] += self.outside_bias
        active = weights != 0.0
        layout, left = layout.keep(active, all_predicates=self.hash_bits is not None)
        self._keep(extractor.keep(left), layout, weights[active])
        return self

    def read(self, sentences: Sequence[Tokens]) -> Iterator[_CRFReading]:
        """Read the features of sentences, some thousands of sentences at a time; see `ProbabilisticTagger.read`."""
        return (_CRFReading(self, chain) for chain in self.chains(sentences))

    def knows(self, tags: Sequence[str]) -> bool:
        """Return whether all tags of a sentence, in the encoding of the training tags, are among those of training."""
        check_is_fitted(self)
        try:
            inner = self._inner([tags])[0]
        except DataError:  # such as neighboring spans, where the training tags (IO) had none
            return False
        return set(self.classes_.tolist()).issuperset(inner)

    def explain(self, sentence: Tokens) -> list[Explanation]:
        """Explain the tags of a sentence; see `handful.tagging.base.explain_crf`."""
        check_is_fitted(self)
        return explain_crf(self, sentence)

    def top_features(self, label: str, n: int = 10) -> list[tuple[str, float]]:
        """Return the observations with the largest weights for a label.

        Parameters
        ----------
        label : str
            A tag.
        n : int
            How many.

        Returns
        -------
        list of (str, float)
            Observation and weight, heaviest first.
        """
        check_is_fitted(self)
        if label not in self.classes_:
            raise DataError(f"CRF: the label must be one of {', '.join(self.classes_)}, got {label!r}.")
        node_weights = self._layout.split(self.weights_)[0]
        places = np.flatnonzero(self._layout.node_targets == np.flatnonzero(self.classes_ == label)[0])
        heaviest = places[np.argsort(-node_weights[places], kind="stable")[:n]]
        predicates = np.searchsorted(self._layout.node_offsets, heaviest, side="right") - 1
        return list(zip(self._extractor.names(predicates), node_weights[heaviest].tolist(), strict=True))

    def outside_feature(self, extractor: Extractor, layout: ChainLayout) -> int:
        """Return the number of the feature that is nothing but the label ``O``.

        Parameters
        ----------
        extractor : Extractor
            Knows the observations.
        layout : ChainLayout
            Numbering of the features.

        Returns
        -------
        int
            Its number.
        """
        code = np.flatnonzero(self.classes_ == OUTSIDE)
        if not len(code) or () not in extractor.slots:
            raise ParameterError(
                "CRF: outside_bias needs tags of spans with the label O, and the template 'u'. Leave it at 0."
            )
        predicate = int(extractor.starts[extractor.slots.index(())])
        first, last = layout.node_offsets[predicate : predicate + 2]
        place = np.flatnonzero(layout.node_targets[first:last] == code[0])
        if not len(place):
            raise ParameterError(
                "CRF: outside_bias needs a weight of the label O, which training left out. Lower strength."
            )
        return int(first + place[0])

    @property
    def extractor(self) -> Extractor:
        """Knows the observations that have a weight."""
        check_is_fitted(self)
        return self._extractor

    @property
    def layout(self) -> ChainLayout:
        """Numbering of the features that have a weight."""
        check_is_fitted(self)
        return self._layout

    @property
    def templates_(self) -> list[str]:
        """Templates in use: those of a ready set whose columns the sentences had, or those that were given."""
        check_is_fitted(self)
        return [str(template) for template in self._extractor.templates]

    @property
    def columns_(self) -> list[str]:
        """Columns of a sentence that the templates read, ``word`` first."""
        check_is_fitted(self)
        return self._extractor.columns

    def transitions(self) -> dict[tuple[str, str], float]:
        """Return the weight of every label pair that has one, heaviest first.

        Returns
        -------
        dict of (str, str) to float
            Weight of the second label after the first.
        """
        check_is_fitted(self)
        n = len(self.classes_)
        weights = self._layout.split(self.weights_)[2]
        heaviest = np.argsort(-weights, kind="stable")
        pairs = [(str(self.classes_[p // n]), str(self.classes_[p % n])) for p in self._layout.pairs[heaviest]]
        return dict(zip(pairs, weights[heaviest].tolist(), strict=True))

    def feature_space(self, labeled: Sequence[Tokens] | None = None) -> ChainSpace:
        """Give numbers to all features that may gain potency; see `handful.representations.potency`.

        Parameters
        ----------
        labeled : list of lists of str, or of Sentence, or None
            The training sentences: also observations to which training gave weight 0 get numbers. None takes the
            observations that the model still knows.

        Returns
        -------
        ChainSpace
            The numbering.
        """
        check_is_fitted(self)
        return ChainSpace.of(self, labeled)

    def stored_space(self, state: Mapping[str, Any]) -> ChainSpace:
        """Return the space that wrote this state.

        Parameters
        ----------
        state : dict
            What `ChainSpace.state` returned.

        Returns
        -------
        ChainSpace
            The same numbering.
        """
        vocabulary = Extractor.from_state(state["vocabulary"], self.lookups)
        return ChainSpace(self, vocabulary)

    def with_features(self, extractor: Extractor, layout: ChainLayout, weights: np.ndarray) -> CRF:
        """Return a tagger with the same labels and rules, but other features.

        Parameters
        ----------
        extractor : Extractor
            Knows the observations.
        layout : ChainLayout
            Numbering of the features.
        weights : ndarray of float64
            Their weights.

        Returns
        -------
        CRF
            Fitted.
        """
        other = CRF(**self.get_params(deep=False))
        other.classes_, other.allowed_, other.allowed_first_ = self.classes_, self.allowed_, self.allowed_first_
        if self.encoding is not None:
            other.scheme_ = self.scheme_
        other._keep(extractor, layout, weights)
        return other

    def with_small_lookups(self) -> CRF:
        """Return a tagger with the same predictions and smaller tables.

        Returns
        -------
        CRF
            Itself, if it reads no tables; else one with a `handful.preprocessing.word_tables.HashedTable` instead of each.
        """
        if not self.lookups:
            return self
        other = copy(self)
        other._keep(self._extractor.with_small_lookups(), self._layout, self.weights_)
        other.lookups = other._extractor.lookups
        return other

    def _keep(self, extractor: Extractor, layout: ChainLayout, weights: np.ndarray) -> None:
        self.weights_ = weights
        self.n_active_ = len(weights)
        self.vocabulary_ = extractor.state()
        self.layout_ = layout.state()
        self._extractor, self._layout = extractor, layout

    def encode(self, sentences: Sequence[Tokens], tags: Sequence[Sequence[str]]) -> np.ndarray:
        """Return tags as codes of the labels that are known.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.
        tags : list of lists of str
            One tag per token.

        Returns
        -------
        ndarray of int32
            Codes of all tokens, one sentence after the other.
        """
        _, offsets = check_sentences(sentences, "CRF")
        codes, labels = encode_tags(offsets, self._inner(tags), "CRF")
        unknown = sorted(set(labels.tolist()) - set(self.classes_.tolist()))
        if unknown:
            raise DataError(f"CRF: tags must be those of the first training, got {unknown[0]!r} as well.")
        return np.asarray(codes_among(labels, self.classes_).astype(np.int32)[codes])

    def _inner(self, tags: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """Return tags in the encoding that is learned."""
        if self.encoding is None:
            return tags
        inner: Scheme = "IOB2" if self.encoding == "iob2" else "IOBES"
        return [convert(row, self.scheme_, inner) for row in tags]

    def _new_extractor(self, sentences: Sequence[Tokens]) -> Extractor:
        texts = self.templates
        if isinstance(texts, str):
            known = set(self.lookups or {})
            texts = [
                str(t)
                for t in parse_templates(ready_set(texts))
                if all(a.column in known or has_column(sentences, a.column) for a in t.atoms)
            ]
        return Extractor(texts, min_count=self.min_count, hash_bits=self.hash_bits, lookups=self.lookups)

    def _rules(self, offsets: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(self.classes_)
        before = labels_before(offsets, codes)
        pairs, first = seen_pairs(n, before, codes)
        if self.constraints == "seen":
            return pairs, first
        scheme = self.constraints or self.encoding
        if scheme is None:
            return np.ones((n, n), dtype=bool), np.ones(n, dtype=bool)
        legal, legal_first = allowed_pairs(self.classes_.tolist(), scheme)
        broken = np.argwhere(pairs & ~legal)
        if len(broken) or (first & ~legal_first).any():
            a, b = self.classes_[broken[0]] if len(broken) else ("the start", self.classes_[first & ~legal_first][0])
            raise DataError(
                f"CRF: with constraints={scheme!r} the tags must follow that encoding, but {b} follows {a}. "
                "Convert the tags, or use constraints='seen'."
            )
        return legal, legal_first

    def chain(self, extractor: Extractor, layout: ChainLayout, observed: Predicates) -> ChainStructure:
        """Return observed sentences as chains under the rules of this tagger.

        Parameters
        ----------
        extractor : Extractor
            Knows which observations go with labels, and which with label pairs.
        layout : ChainLayout
            Numbering of the features.
        observed : Predicates
            What was observed in the sentences.

        Returns
        -------
        ChainStructure
            Ready to be decoded or trained on.
        """
        return ChainStructure(
            layout,
            observed.only(extractor.predicates_with(pairs=False)),
            observed.only(extractor.predicates_with(pairs=True)),
            allowed=self.allowed_,
            allowed_first=self.allowed_first_,
            order=self.order,
            n_jobs=jobs_of(self.n_jobs),
        )

    def _learn(
        self,
        chain: ChainStructure,
        ties: Ties | None,
        codes: np.ndarray,
        progress: Progress | None,
        checkpoint: str | os.PathLike[str] | None,
    ) -> np.ndarray:
        """Return the weights of all features of a chain."""
        problem = hashlib.sha256(codes.tobytes() + chain.node.observed.row_ids.tobytes()).hexdigest()
        recorder = Recorder(progress, checkpoint, problem)
        if self.algorithm != "lbfgs":
            learned = train_online(
                chain if ties is None else Tied(chain, ties),
                codes,
                OnlineRule(self.algorithm, aggressiveness=1.0 / self.strength, l1=self.strength),
                max_passes=self.max_iter or _MAX_PASSES,
                seed=self.random_state,
                recorder=recorder,
            )
            self.n_iter_ = learned.n_passes
            return learned.weights if ties is None else ties.spread(learned.weights)
        structure = chain if ties is None else Tied(chain, ties)
        fitted = minimize(
            log_loss(structure, codes),
            np.zeros(structure.n_features),
            l1=self.strength if self.penalty == "l1" else 0.0,
            l2=self.strength if self.penalty == "l2" else self.extra_l2,
            max_iter=self.max_iter or _MAX_ITERATIONS,
            tol=self.tol,
            recorder=recorder,
        )
        self.objective_, self.n_iter_ = fitted.value, fitted.n_iter
        return fitted.weights if ties is None else ties.spread(fitted.weights)

    def chains(self, sentences: Sequence[Tokens]) -> Iterator[ChainStructure]:
        """Yield sentences, some thousands at a time, ready to be decoded with weights of this tagger.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.

        Yields
        ------
        ChainStructure
            The next sentences.
        """
        check_is_fitted(self)
        sentences, offsets = check_sentences(sentences, "CRF")
        for run in runs_of_sentences(offsets, _CHUNK_TOKENS):
            observed = self._extractor.transform(sentences[run], who="CRF")
            yield self.chain(self._extractor, self._layout, observed)

    @classmethod
    def _from_state(cls, state: Mapping[str, Any]) -> Self:
        return super()._from_state({name: value for name, value in state.items() if name != "bags"})  # of version 0.1

    def _check_state(self) -> None:
        self._extractor = Extractor.from_state(self.vocabulary_, self.lookups)
        self._layout = ChainLayout.from_state(self.layout_)
        n = len(self.classes_)
        whole = [
            self._layout.n_labels == n,
            self._layout.n_predicates == self._extractor.n_predicates,
            self.weights_.shape == (self._layout.n_features,),
        ]
        if not all(whole):
            raise DataError("CRF: the stored model is damaged.")


@dataclass(frozen=True, eq=False)
class _CRFReading:
    """Sentences with their features, for tags and probabilities."""

    tagger: CRF
    chain: ChainStructure

    def tags(self) -> list[list[str]]:
        tagger = self.tagger
        tags = tagger.classes_[self.chain.argmax(tagger.weights_)].tolist()
        rows = [tags[a:b] for a, b in pairwise(self.chain.offsets)]
        if tagger.encoding is not None:
            rows = [from_spans(spans(row), len(row), tagger.scheme_) for row in rows]
        return rows

    def proba(self) -> list[np.ndarray]:
        return np.split(self.chain.label_marginals(self.tagger.weights_), self.chain.offsets[1:-1])


def _check_memory(n_labels: int, order: int) -> None:
    """Refuse, before any work is done, more tags than memory has space for their pairs or triples."""
    import psutil

    needed = 100 * n_labels**2 + (24 * n_labels**3 if order == 2 else 0)
    free = psutil.virtual_memory().available
    if needed > free // 2:
        raise DataError(
            f"CRF: {n_labels:,} different tags take about {needed / 1e9:,.1f} GB for their {'triples' if order == 2 else 'pairs'}, "
            f"and {free / 1e9:,.1f} GB are free. Is it the right column?"
        )
