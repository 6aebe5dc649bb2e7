"""A graph-based dependency parser."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from handful.data.records import Sentence, Tree
from handful.errors import DataError, ParameterError, Progress, Step
from handful.linear.batch import log_loss, minimize
from handful.linear.online import OnlineRule, train_online
from handful.linear.recorder import Recorder
from handful.linear.structure import rounded
from handful.linear.tree import TreeStructure
from handful.parallel import jobs_of
from handful.params import AtLeast, Count, Jobs, Positive, check_params
from handful.parsing.arc_labels import ArcLabeler, PunctuationAttacher
from handful.parsing.encoding import TokenEncoder
from handful.parsing.inputs import (
    as_sentences,
    check_lengths,
    choose_columns,
    has_feats,
    read_trees,
    with_columns,
    without_some_feats,
)
from handful.parsing.part_features import CACHE_BYTES, SentenceFeatures, TreeFeatures
from handful.parsing.scoring import ParseScores, score_trees
from handful.parsing.templates import TemplateSet
from handful.parsing.tree_space import TreeSpace
from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, DictOf, IfThere, ListOf, Maybe, Names, Number, Text, stored
from handful.preprocessing.templates import runs_of_sentences, sentence_offsets
from handful.registry import method

_MAX_ITERATIONS, _MAX_PASSES = 100, 10
_LONGEST_STEP = 0.01
_CHUNK_WORDS = 50_000
# Order 2 skips an arc whose probability, by arcs alone, is below this fraction of that of another arc to the same word.
# Scores learned by margins are too small for log-odds, hence the scale. No head of the development trees of EWT changes.
_LEAST_LIKELY = 0.003
_MARGIN_SCALE = 0.3


@method("dependency-parser", paper="suzuki2011", task="trees")
class DependencyParser(Storable, BaseEstimator):  # type: ignore[misc]
    """Dependency parser: predicts the head of every word of tagged sentences, and the label of each arc.

    Use it if you have trees to learn from, and words have part-of-speech tags.

    Parameters
    ----------
    order : {1, 2}, default=2
        1 scores single arcs, 2 also pairs of neighboring children of one head on the same side.
    algorithm : {"pa", "fobos", "lbfgs"}, default="pa"
        ``pa`` is the averaged passive-aggressive learner. ``fobos`` is averaged forward-backward splitting with an L1
        penalty, which keeps fewer features. ``lbfgs`` maximizes the likelihood with an L2 penalty.
    strength : float, default=1.0
        Strength of the penalty: ``strength * sum(abs(w))`` on the summed loss for ``fobos``, ``strength * sum(w ** 2)`` for
        ``lbfgs``. For ``pa``, the longest step is ``0.01 / strength``.
    max_iter : int or None, default=None
        Passes over the trees (iterations of ``lbfgs``); None is 10 passes, or 100 iterations.
    rate : float, default=0.1
        Step size of ``fobos`` in its first pass.
    min_count : int, default=1
        Leave out features that the training trees have less often.
    projective : bool, default=True
        Whether arcs may not cross; False needs ``order=1``.
    single_root : bool, default=True
        Whether the root has exactly one child.
    clusters : mapping of str to str, BrownClusters or None, default=None
        Bit string of each word; adds templates with its first 4 bits, its first 6 bits, and all bits.
    labeled : bool, default=True
        Whether the labels of arcs are learned too, if the trees have more than one.
    templates : {"wide", "plain"}, default="wide"
        ``plain`` are the features of McDonald et al. 2005; ``wide`` adds coarse tags and words around the arc.
    rehang : bool, default=True
        Whether the heads of punctuation are chosen again, given the tree of the other words.
    rounding : float, default=0.5
        After training, weights are rounded to multiples of this fraction of their root mean square. Those below half of
        it become 0, and a model file needs about three bytes per feature. 0 keeps all weights.
    tags : {"xpos", "upos", "pos"} or None, default=None
        The only column that tags are read from; None reads ``xpos`` and ``upos`` where both are filled.
    feats : bool, default=True
        Whether morphological features (the column ``feats``) are used, if a fifth of the training words have them. Every
        fourth training sentence is used without them, so that text without them can be parsed, too.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. Results do not depend on it.
    random_state : int, default=0
        Seed of the order in which trees are seen.

    Attributes
    ----------
    columns_ : list of str
        Columns that tags are read from.
    templates_ : dict of lists of str
        Templates of ``"arcs"`` and ``"pairs"``; see `handful.parsing.templates`.
    weights_ : ndarray of float64
        Weights that are not zero.
    n_active_ : int
        Their number.
    n_iter_ : int
        Passes or iterations made.
    n_lifted_ : int
        Words of training trees that got another head, see Notes.
    objective_ : float
        Penalized objective at the end (``lbfgs`` only).

    Notes
    -----
    The score of a tree is the sum over its arcs (McDonald et al. 2005) and, with ``order=2``, over pairs of neighboring
    children (McDonald & Pereira 2006). Features are those that the training trees have; see
    `handful.parsing.templates`. Training adds the number of wrong heads to the score of a tree (margin rescaling).

    A projective parser cannot learn crossing arcs: training trees are made projective by attaching words to the head of
    their head, shortest arc first (Nivre & Nilsson 2005). With ``single_root``, further words at the root are attached to
    the first. Scores always use the original trees.

    A single arc does not show which phrase a comma belongs to. With ``rehang``, punctuation without children chooses among
    its neighbors and their ancestors, by a linear classifier with features of the tree. This adds no crossing arcs.

    Labels are chosen after the tree, by a linear classifier with features of the tree.

    Cost of a pass: O(n^3) a sentence to decode, and n^2 arcs (n^3 / 3 pairs) times the templates for features. Features are
    kept for the next pass up to 1 GiB. Prediction with order 2 uses pairs of likely arcs only, by the marginals of arcs.

    Examples
    --------
    >>> from handful.data.records import Sentence
    >>> sentence = Sentence(("the", "dog", "barks"), {"upos": ("DET", "NOUN", "VERB")})
    >>> trees = [Tree(sentence, heads=(2, 3, 0), labels=("det", "nsubj", "root"))] * 2
    >>> parser = DependencyParser().fit(trees)
    >>> parser.predict([[("the", "DET"), ("cat", "NOUN"), ("sleeps", "VERB")]])
    ([[2, 3, 0]], [['det', 'nsubj', 'root']])
    """

    learns_online = True

    STATE = stored(
        n_lifted_=Number(int, low=0),
        columns_=ListOf(Text("xpos", "upos", "pos"), "columns"),
        keys_=Array("i8", "n?", low=0, rising=True),
        weights_=Array("f8", "n?"),
        n_active_=Number(int, low=0),
        n_iter_=Number(int, low=0),
        objective_=IfThere(Number(float)),
        templates_=TemplateSet.STATE,
        values_=DictOf(Names("_", only_text=True)),
        marks_=Maybe(PunctuationAttacher.STATE),
        labels_=Maybe(ArcLabeler.STATE),
        n_active_condensed_=IfThere(Number(int, low=0)),
        condensed_weights_=IfThere(Array("f8", "_")),
        tied_weights_=IfThere(Array("f8", "_")),
    )

    def __init__(
        self,
        order: Literal[1, 2] = 2,
        algorithm: Literal["pa", "fobos", "lbfgs"] = "pa",
        *,
        strength: Positive = 1.0,
        max_iter: Count | None = None,
        rate: Positive = 0.1,
        min_count: Count = 1,
        projective: bool = True,
        single_root: bool = True,
        clusters: Any = None,
        labeled: bool = True,
        templates: Literal["wide", "plain"] = "wide",
        rehang: bool = True,
        rounding: Annotated[float, AtLeast(0)] = 0.5,
        tags: Literal["xpos", "upos", "pos"] | None = None,
        feats: bool = True,
        n_jobs: Jobs = None,
        random_state: Annotated[int, AtLeast(0)] = 0,
    ) -> None:
        self.order = order
        self.algorithm = algorithm
        self.strength = strength
        self.max_iter = max_iter
        self.rate = rate
        self.min_count = min_count
        self.projective = projective
        self.single_root = single_root
        self.clusters = clusters
        self.labeled = labeled
        self.templates = templates
        self.rehang = rehang
        self.rounding = rounding
        self.tags = tags
        self.feats = feats
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        trees: Iterable[Tree],
        y: None = None,
        *,
        progress: Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from trees.

        Parameters
        ----------
        trees : iterable of Tree
            Sentences with tags in the columns ``xpos`` and ``upos``, or one of them, or ``pos``; with heads and labels.
        y : None
            Not used.
        progress : callable, optional
            Receives the loss and the number of active features after every pass.
        checkpoint : path-like, optional
            File for the state of training after every pass. If it exists, training resumes from it, with the same result
            as without the interruption.

        Returns
        -------
        DependencyParser
            Itself.
        """
        check_params(self)
        if not self.projective and self.order == 2:
            raise ParameterError("DependencyParser: order 2 needs projective=True, got False. Use order=1.")
        known, heads, self.n_lifted_ = read_trees(trees, projective=self.projective, single_root=self.single_root)
        sentences = [tree.sentence for tree in known]
        check_lengths([len(sentence) for sentence in sentences], self.order)
        self.columns_ = list(choose_columns(sentences, self.tags))
        sentences = with_columns(sentences, self.columns_)
        clusters = self._paths()
        feats = self.feats and has_feats(sentences)
        if feats:
            sentences = without_some_feats(sentences)
        kinds = {"clusters": clusters is not None, "wide": self.templates == "wide", "feats": feats}
        templates, label_templates = TemplateSet.ready(order=self.order, **kinds), TemplateSet.for_labels(**kinds)
        later = (*label_templates.pairs, *TemplateSet.for_punctuation().pairs)
        all_templates = replace(templates, pairs=(*templates.pairs, *later))
        encoder = TokenEncoder.learn(sentences, self.columns_, clusters, all_templates)
        report: Progress = progress or (lambda step: None)
        report(Step("features", 0, 1))
        rules: dict[str, Any] = {"order": self.order, "single_root": self.single_root}
        features = TreeFeatures.learn(sentences, heads, templates, encoder, min_count=self.min_count, **rules)
        report(Step("features", 1, 1))
        structure = self.structure(features, SentenceFeatures(features, sentences, CACHE_BYTES))
        weights = rounded(self._learn(structure, features, heads, progress, checkpoint), self.rounding)
        active = weights != 0.0
        self._features = features.keep(active)
        self.keys_, self.weights_ = self._features.keys, weights[active]
        self.n_active_ = len(self.weights_)
        self.templates_ = templates.state()
        self.values_ = {name: np.array(strings, dtype=str) for name, strings in encoder.values.items()}
        self._attacher = (
            PunctuationAttacher.learn(encoder, sentences, heads, seed=self.random_state) if self.rehang else None
        )
        self.marks_ = None if self._attacher is None else self._attacher.state()
        self._labeler = self._learn_labels(encoder, label_templates, sentences, known) if self.labeled else None
        self.labels_ = None if self._labeler is None else self._labeler.state()
        return self

    def _learn_labels(
        self, encoder: TokenEncoder, templates: TemplateSet, sentences: list[Sentence], trees: list[Tree]
    ) -> ArcLabeler | None:
        labels = list(chain.from_iterable(tree.labels for tree in trees))
        if set(labels) == {"_"}:
            return None
        heads = np.concatenate([np.array(tree.heads, dtype=np.int32) for tree in trees])
        rules: dict[str, Any] = {"seed": self.random_state, "rounding": self.rounding}
        return ArcLabeler.learn(encoder, templates, sentences, heads, labels, **rules)

    def predict(self, sentences: Iterable[Any]) -> tuple[list[list[int]], list[list[str]]]:
        """Parse sentences.

        Parameters
        ----------
        sentences : iterable of Tree, of Sentence, or of lists of (word, tag) or (word, upos, xpos)
            With the columns of tags of training (`columns_`); heads are ignored. A parser of two columns needs both, one
            of a single column accepts (word, tag).

        Returns
        -------
        heads : list of lists of int
            Position of each word's head, from 1 on; 0 is the root.
        labels : list of lists of str
            Label of each arc; ``"_"`` if labels were not learned.
        """
        check_is_fitted(self)
        known = with_columns(as_sentences(sentences), self.columns_)
        check_lengths([len(sentence) for sentence in known], self.order)
        heads: list[list[int]] = []
        labels: list[list[str]] = []
        scale = 1.0 if self.algorithm == "lbfgs" else _MARGIN_SCALE
        for run in runs_of_sentences(sentence_offsets(known, "DependencyParser"), _CHUNK_WORDS):
            some = known[run]
            features = SentenceFeatures(self._features, some)
            structure = self.structure(self._features, features)
            best = structure.argmax_by(
                partial(features.scores, weights=self.weights_, scale=scale, least=_LEAST_LIKELY)
            )
            if self._attacher is not None:
                best = self._attacher.attach(some, best, features.codes)
            named = ["_"] * len(best)
            if self._labeler is not None:
                named = self._labeler.predict(some, best, features.codes)
            bounds = structure.offsets.tolist()
            heads += [best[a:b].tolist() for a, b in pairwise(bounds)]
            labels += [named[a:b] for a, b in pairwise(bounds)]
        return heads, labels

    def parse(self, sentences: Iterable[Any]) -> list[Tree]:
        """Parse sentences and return them as trees, with their other columns and comments.

        Parameters
        ----------
        sentences : iterable of Tree, of Sentence, or of lists of (word, tag) or (word, upos, xpos)
            See `predict`.

        Returns
        -------
        list of Tree
            One tree a sentence.
        """
        if isinstance(sentences, Iterable) and not isinstance(sentences, str | Tree):
            sentences = list(sentences)
        heads, labels = self.predict(sentences)
        extras = [item.extras if isinstance(item, Tree) else () for item in sentences]
        return list(map(Tree, as_sentences(sentences), map(tuple, heads), map(tuple, labels), extras))

    def score(self, trees: Iterable[Tree], y: None = None) -> ParseScores:
        """Parse the sentences of trees and compare.

        Parameters
        ----------
        trees : iterable of Tree
            Correct trees.
        y : None
            Not used.

        Returns
        -------
        ParseScores
            Unpacks as ``uas, las``; also has both without punctuation, LAS without subtypes, and the fraction of correct
            trees.
        """
        gold = list(trees) if isinstance(trees, Iterable) else [trees]
        if not all(isinstance(tree, Tree) for tree in gold) or isinstance(trees, Tree):
            raise DataError("DependencyParser: a list of trees is needed to score.")
        return score_trees(gold, *self.predict(gold))

    def top_features(self, n: int = 10) -> list[tuple[str, float]]:
        """Return the features with the largest weights.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        list of (str, float)
            Feature and weight, largest first.
        """
        check_is_fitted(self)
        heaviest = np.argsort(-self.weights_, kind="stable")[:n]
        return list(zip(self._features.names(heaviest), self.weights_[heaviest].tolist(), strict=True))

    def _paths(self) -> Mapping[str, str] | None:
        paths = getattr(self.clusters, "paths_", self.clusters)
        if paths is not None and not isinstance(paths, Mapping):
            raise ParameterError(
                "DependencyParser: clusters must be a mapping from word to bit string or fitted BrownClusters, "
                f"got {type(paths).__name__}."
            )
        return paths

    def feature_space(self, labeled: Iterable[Tree] | None = None) -> TreeSpace:
        """Return a numbering of all features that may have potency; see `handful.representations.potency`.

        Parameters
        ----------
        labeled : iterable of Tree or None
            The training trees: their features with weight 0 get numbers, too. None uses those with a weight.

        Returns
        -------
        TreeSpace
            The numbering.
        """
        check_is_fitted(self)
        return TreeSpace.of(self, labeled)

    def stored_space(self, state: Mapping[str, Any]) -> TreeSpace:
        """Return the space of a stored state.

        Parameters
        ----------
        state : dict
            Result of `TreeSpace.state`.

        Returns
        -------
        TreeSpace
            The same numbering.
        """
        check_is_fitted(self)
        keys = np.asarray(state["keys"], dtype=np.int64)
        if len(np.setdiff1d(self.keys_, keys)):
            raise DataError("CondensedFeatures: the stored vocabulary lacks features of the base model.")
        return TreeSpace(self, self._features.with_keys(keys))

    def with_features(self, features: TreeFeatures, weights: np.ndarray) -> DependencyParser:
        """Return a copy of the parser with other features and weights.

        Parameters
        ----------
        features : TreeFeatures
            The features.
        weights : ndarray of float64
            Their weights.

        Returns
        -------
        DependencyParser
            Fitted.
        """
        other = DependencyParser(**self.get_params(deep=False))
        kept = (
            "columns_",
            "templates_",
            "values_",
            "marks_",
            "labels_",
            "n_lifted_",
            "n_iter_",
            "_attacher",
            "_labeler",
        )
        for name in kept:
            setattr(other, name, getattr(self, name))
        other._features, other.keys_, other.weights_ = features, features.keys, weights
        other.n_active_ = len(weights)
        return other

    @property
    def features(self) -> TreeFeatures:
        """The features that have a weight."""
        check_is_fitted(self)
        return self._features

    def structure(self, features: TreeFeatures, of_sentences: SentenceFeatures) -> TreeStructure:
        """Return sentences as trees under the rules of this parser.

        Parameters
        ----------
        features : TreeFeatures
            The features.
        of_sentences : SentenceFeatures
            Those of the sentences.

        Returns
        -------
        TreeStructure
            Ready to be decoded or trained on.
        """
        return TreeStructure(
            of_sentences.offsets,
            of_sentences,
            features.n_features,
            order=self.order,
            projective=self.projective,
            single_root=self.single_root,
            n_jobs=jobs_of(self.n_jobs),
        )

    def _learn(
        self,
        structure: TreeStructure,
        features: TreeFeatures,
        heads: np.ndarray,
        progress: Progress | None,
        checkpoint: str | os.PathLike[str] | None,
    ) -> np.ndarray:
        problem = hashlib.sha256(heads.tobytes() + features.keys.tobytes()).hexdigest()
        recorder = Recorder(progress, checkpoint, problem)
        if self.algorithm == "lbfgs":
            fitted = minimize(
                log_loss(structure, heads),
                np.zeros(structure.n_features),
                l2=self.strength,
                max_iter=self.max_iter or _MAX_ITERATIONS,
                recorder=recorder,
            )
            self.objective_, self.n_iter_ = fitted.value, fitted.n_iter
            return fitted.weights
        learned = train_online(
            structure,
            heads,
            OnlineRule(self.algorithm, _LONGEST_STEP / self.strength, l1=self.strength, rate=self.rate),
            max_passes=self.max_iter or _MAX_PASSES,
            seed=self.random_state,
            recorder=recorder,
        )
        self.n_iter_ = learned.n_passes
        return learned.weights

    @classmethod
    def _from_state(cls, state: Mapping[str, Any]) -> Self:
        # files of earlier versions have the plain templates
        first = TemplateSet.ready(order=state["order"], clusters=state["clusters"] is not None, wide=False)
        before = {"templates": "plain", "templates_": first.state(), "rehang": False, "marks_": None, "feats": False}
        return super()._from_state({**before, **state})

    def _check_state(self) -> None:
        clusters = self._paths()
        known = {"word", "prefix", "pos", "coarse"} | ({"bits4", "bits6", "bits"} if clusters is not None else set())
        known |= {"feats", "form"} & self.values_.keys()
        if self.values_.keys() != known:
            raise DataError(f"DependencyParser: there must be values of {', '.join(sorted(known))}.")
        values = {name: strings.tolist() for name, strings in self.values_.items()}
        encoder = TokenEncoder(values, self.columns_, clusters)
        templates = TemplateSet.from_state(self.templates_)
        self._features = TreeFeatures(templates, encoder, self.keys_, order=self.order, single_root=self.single_root)
        self._attacher = None if self.marks_ is None else PunctuationAttacher.from_state(encoder, self.marks_)
        self._labeler = None if self.labels_ is None else ArcLabeler.from_state(encoder, self.labels_)
        if self.columns_ not in (["xpos"], ["upos"], ["pos"], ["xpos", "upos"]):
            raise DataError("DependencyParser: the stored columns of tags are none that it reads.")
