"""Condense taggers and parsers without losing accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from handful.data.files import FilePath
from handful.data.tagged import check_columns, read_tagged, read_treebank
from handful.errors import DataError, ParameterError, Progress
from handful.linear.batch import log_loss, minimize
from handful.linear.recorder import Recorder
from handful.preprocessing.templates import Tokens
from handful.registry import method_name_of
from handful.representations.condensing import Condensing
from handful.tagging.base import TagColumn
from handful.tagging.crf import CRF
from handful.tagging.evaluation import score_limits, score_tags
from handful.tagging.selection import has_spans, units

_COARSEST, _USUAL_STEP = 0.1, 0.02
_WORTH_A_NAME = 2.0  # times the least weight
_NEARNESS, _ITERATIONS, _TOLERANCE = 1.0, 100, 1e-3


def slimmed(model: Any, drop: float) -> Any:
    """Return a tagger whose weights are rounded, without those nearer to 0 than `drop`.

    Parameters
    ----------
    model : CRF
        Fitted.
    drop : float
        Least weight that is kept. An observation whose weights, together (root of the sum of squares), are less than twice
        that is dropped with all of them, since its name takes more bytes than they do. Weights are rounded to multiples of
        it, of 0.1 at most, and of 0.02 where it is 0.

    Returns
    -------
    CRF
        A new one.

    Examples
    --------
    >>> from handful.tagging import CRF
    >>> tagger = CRF(strength=0.1).fit([["a", "dog"], ["the", "cat"]], [["D", "N"], ["D", "N"]])
    >>> slimmed(tagger, 0.1).n_active_ < tagger.n_active_
    True
    """
    step, space = _step(drop), model.feature_space()
    weights = space.base_weights(np.arange(space.n_features))
    heavy = np.flatnonzero((np.abs(weights) >= drop) & (np.rint(weights / step) != 0))
    ids = heavy[_worth_a_name(space.observations(heavy), weights[heavy], drop)]
    if len(ids) == 0:
        raise ParameterError(f"condense: drop={drop:g} drops every feature. Lower it.")
    return _built(space, ids, weights[ids], step)


def refitted(
    small: Any,
    drop: float,
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    progress: Progress | None = None,
) -> Any:
    """Return a slimmed tagger whose weights are trained once more, near to what they were.

    Parameters
    ----------
    small : CRF
        What `slimmed` made.
    drop : float
        By which it did: weights are rounded as there.
    sentences : list of lists of str, or of Sentence
        The tokens that it was fitted to.
    tags : list of lists of str
        Their tags.
    progress : callable, optional
        Called after each iteration.

    Returns
    -------
    CRF
        A new one, with no further features.

    Notes
    -----
    The remaining weights replace those that are gone: the likelihood of the tags, less the squared distance from the weights
    of `small`, is maximized.

    Examples
    --------
    >>> from handful.tagging import CRF
    >>> sentences, tags = [["a", "dog"], ["the", "cat"]], [["D", "N"], ["D", "N"]]
    >>> small = slimmed(CRF(strength=0.1).fit(sentences, tags), 0.3)
    >>> again = refitted(small, 0.3, sentences, tags)
    >>> again.n_active_ <= small.n_active_, again.predict(sentences) == tags
    (True, True)
    """
    space = small.feature_space()
    weights = space.base_weights(np.arange(space.n_features))
    ids = np.flatnonzero(weights)
    start = weights[ids]
    biased = np.zeros(len(ids))
    if small.outside_bias:  # was added when all was learned
        with suppress(ParameterError):  # dropped
            biased[small.outside_feature(space.extractor, space.layout(ids))] = small.outside_bias
    loss = log_loss(space.structure(ids, sentences), space.encode(sentences, tags))
    learned = minimize(
        lambda change: loss(start - biased + change),
        np.zeros(len(ids)),
        l2=_NEARNESS,
        max_iter=_ITERATIONS,
        tol=_TOLERANCE,
        recorder=Recorder(progress),
    )
    moved, step = start + learned.weights, _step(drop)
    here = np.rint(moved / step) != 0
    return _built(space, ids[here], moved[here], step)


def _step(drop: float) -> float:
    return min(_COARSEST, drop or _USUAL_STEP)


def _built(space: Any, ids: np.ndarray, weights: np.ndarray, step: float) -> Any:
    """Return a tagger with rounded weights."""
    steps = np.rint(weights / step)
    small = space.build(ids, steps * step)
    small.n_active_condensed_ = len(np.unique(steps))
    return small


def _worth_a_name(observations: np.ndarray, weights: np.ndarray, drop: float) -> np.ndarray:
    """Return which weights belong to heavy observations; pairs of labels (-1) have no name to save."""
    names, place = np.unique(observations, return_inverse=True)
    together = np.sqrt(np.bincount(place, weights**2, minlength=len(names)))
    return np.asarray((together[place] >= _WORTH_A_NAME * drop) | (observations < 0))


Mode = Literal["bins", "kept", "rounded"]

_DROPS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1)  # more costs more than held-out sentences can show
_FEW, _DROPS_OF_FEW = 1_000, (0.01, 0.02)  # held-out spans or tags; fewer cannot show the cost of more
_LOSS = 0.002  # of the held-out spans or tags
_CHANGED, _CHANGED_ERRORS = 0.03, 2.0  # of the predictions there, and standard errors


@dataclass(frozen=True)
class CondensedTagger:
    """A condensed tagger or parser, and how it was made.

    Parameters
    ----------
    model : CRF or DependencyParser
        The small model.
    mode : {"bins", "kept", "rounded"}
        Bins of potency alone (Suzuki et al. 2011), bins on top of the base model's weights (parsers), or the base model's
        weights, rounded (taggers).
    bins : dict of str to float
        Discount and resolution; empty for ``rounded``.
    dropped : Dropped, optional
        Which weights of a rounded tagger were left out, and what that cost.
    """

    model: Any
    mode: Mode
    bins: dict[str, float]
    dropped: Dropped | None = None


@dataclass(frozen=True)
class Dropped:
    """Which weights were left out, and what that cost in held-out sentences, with a tagger that was trained without them.

    Parameters
    ----------
    below : float
        Weights nearer to 0 are left out; see `slimmed`.
    errors_before, errors : float
        Wrong tags, or missed and wrong spans, divided by the true ones, with all weights and without the light ones.
    changed, changed_at_most : float
        Predictions that change without the light weights, counted as errors are, and two standard errors more.
    metric : {"f1", "accuracy"}
        Of the scores: F1 of spans, or accuracy of tags.
    score_before, score : float
        Score on the same sentences with all weights and without the light ones.
    low, high : float
        The 95% interval of the latter.
    n_sentences : int
        Number of these sentences.
    """

    below: float
    errors_before: float
    errors: float
    changed: float
    changed_at_most: float
    metric: str
    score_before: float
    score: float
    low: float
    high: float
    n_sentences: int


def condense_tagger(
    condensing: Condensing, drop: float | None = None, *, progress: Progress | None = None
) -> CondensedTagger:
    """Round the weights of a tagger and drop light ones.

    Parameters
    ----------
    condensing : Condensing
        Of a tagger, with held-out sentences; nothing needs to be counted.
    drop : float, optional
        Features with weights nearer to 0 are dropped, and the others refitted (see `refitted`); by default as many as cost
        no errors and change few predictions, and nothing is refitted.
    progress : callable, optional
        Called after each iteration of refitting.

    Returns
    -------
    CondensedTagger
        The small tagger.

    Notes
    -----
    Larger and larger drops are tried with a second base model, which was trained without the held-out sentences, until errors
    grow, or more than 3% of the predictions may change (with two standard errors). Fewer than 1,000 held-out spans or tags
    show too little for a drop of more than 0.02.
    The weights of the result are rounded, to 0.1 at most, so that the file compresses well, and tables that it reads, such
    as clusters, keep hashes instead of words (`CRF.with_small_lookups`).
    """
    base, second = (features.base_model for features in condensing.features)
    inputs, gold = condensing.held
    with_spans = has_spans(condensing.labeled[1])
    before = second.predict(list(inputs))

    def small_at(below: float, model: Any, data: tuple[Any, Any]) -> Any:
        small = slimmed(model, below)
        return small if drop is None else refitted(small, below, *data, progress)

    def cost(below: float) -> Dropped:
        after = small_at(below, second, condensing.rest).predict(list(inputs))
        return _cost(gold, before, after, below, with_spans)

    if drop is None:
        n_units = sum(len(units(row, with_spans)) for row in gold)
        dropped = _costless(second, cost, _DROPS_OF_FEW if n_units < _FEW else _DROPS)
    else:
        dropped = cost(drop)
    small = small_at(dropped.below, base, condensing.labeled)
    return CondensedTagger(small.with_small_lookups(), "rounded", {}, dropped)


def _cost(gold: Any, before: Any, after: Any, below: float, with_spans: bool) -> Dropped:
    """Compare the predictions with all weights with those without the light ones."""
    amount = max(1, sum(len(units(row, with_spans)) for row in gold))

    def differences(some: Any, others: Any) -> int:
        return sum(len(units(a, with_spans) ^ units(b, with_spans)) for a, b in zip(some, others, strict=True))

    changed = differences(before, after)
    more = _CHANGED_ERRORS * math.sqrt(changed + 1)  # of a Poisson count
    metric = "f1" if with_spans else "accuracy"
    score_before, score = (score_tags(gold, tags, with_spans)[metric] for tags in (before, after))
    low, high = score_limits(gold, after, score, with_spans)
    return Dropped(
        below,
        differences(gold, before) / amount,
        differences(gold, after) / amount,
        changed / amount,
        (changed + more) / amount,
        metric,
        score_before,
        score,
        low,
        high,
        len(gold),
    )


def _costless(model: Any, cost: Callable[[float], Dropped], drops: Sequence[float]) -> Dropped:
    """Return the last drop before errors grow or too many predictions change."""
    chosen = cost(drops[0])
    for drop in drops[1:]:
        if not (np.abs(model.weights_) >= _WORTH_A_NAME * drop).any():
            break  # perhaps no weight would be left
        dropped = cost(drop)
        if dropped.errors > chosen.errors_before + _LOSS or dropped.changed_at_most > _CHANGED:
            break
        chosen = dropped
    return chosen


HELD_OUT = 3
"""By default every third sentence of a tagger is held out."""


@dataclass(frozen=True)
class LabeledData:
    """The data a model was fitted to.

    Parameters
    ----------
    inputs : list
        Sentences or trees.
    outputs : list of lists of str, or None
        Tags; None for trees.
    score : callable
        From a model to its scores on the development data, or on the labeled data where there is none.
    """

    inputs: list[Any]
    outputs: list[list[str]] | None
    score: Callable[[Any], dict[str, float]]


def read_labeled(model: Any, labeled: FilePath, dev: FilePath | None = None) -> LabeledData:
    """Read the labeled data of a tagger or parser.

    Parameters
    ----------
    model : CRF or DependencyParser
        The model; its columns are read.
    labeled : path-like
        The file that it was fitted to.
    dev : path-like, optional
        Data to score on.

    Returns
    -------
    LabeledData
        Inputs, outputs and how to score.
    """
    if method_name_of(model) == "dependency-parser":
        train = read_treebank(labeled, model.columns_)
        held = train if dev is None else read_treebank(dev, model.columns_)
        return LabeledData(train, None, lambda other: dict(other.score(held).as_dict()))
    if not isinstance(model, CRF):
        raise DataError(
            f"condense: the model must be one of 'handful fit tagger' or 'handful fit parser', got {method_name_of(model)}."
        )
    training: dict[str, Any] = getattr(model, "training_", {})
    layout, tag = tuple(training.get("layout", ())), training.get("tag")
    tagged = read_tagged(labeled, layout, tag)
    test = tagged if dev is None else read_tagged(dev, layout, tag)
    for path, data in ((labeled, tagged), (dev or labeled, test)):
        check_columns(path, data.sentences[0], model.columns_[1:])

    def score(other: Any) -> dict[str, float]:
        return score_tags(test.tags, other.predict(list(test.sentences)), tagged.has_spans)

    return LabeledData(list(tagged.sentences), [list(row) for row in tagged.tags], score)


def tag_columns(model: Any, taggers: Sequence[Any]) -> list[TagColumn]:
    """Return what adds to raw text the columns that a model reads in addition to the words.

    Parameters
    ----------
    model : CRF or DependencyParser
        The model.
    taggers : sequence of taggers
        One per column. A tagger that was trained on a column of that name adds it, others in their order.

    Returns
    -------
    list of TagColumn
        To be applied one after the other.
    """
    columns = [column for column in model.columns_ if column != "word"]
    if len(taggers) != len(columns):
        raise ParameterError(_wrong_number(columns, named=bool(taggers)))
    of_column: dict[str, Any] = {}
    for tagger, column in zip(taggers, columns, strict=True):
        trained_on: Any = getattr(tagger, "training_", {}).get("tag")
        of_column[trained_on if trained_on in columns else column] = tagger
    if len(of_column) != len(columns):
        raise ParameterError(f"--pos must name one tagger for {' and one for '.join(columns)}, in this order.")
    return [TagColumn(tagger, column) for column, tagger in of_column.items()]


def _wrong_number(columns: Sequence[str], *, named: bool) -> str:
    if not columns:
        return "--pos is not needed: the model reads words alone."
    hint = f" Or fit the parser with --tags {columns[0]}." if len(columns) == 2 else ""
    names = " and ".join(columns)
    return f"--pos {'must' if named else 'is missing:'} name a tagger for each column of tags that the model reads ({names}).{hint}"


def choose_mode(mode: Mode | None, held_out: int | None, *, is_tagger: bool) -> tuple[Mode, int | None]:
    """Settle in which mode a model is condensed, and whether inputs are held out for that.

    Parameters
    ----------
    mode : {"bins", "rounded"} or None
        The user's choice.
    held_out : int or None
        Every how many-th labeled input is held out, if the user chose it.
    is_tagger : bool
        Or a parser.

    Returns
    -------
    mode : {"bins", "kept", "rounded"}
        See `CondensedTagger`.
    held_out : int or None
        Every how many-th labeled input is held out.

    Examples
    --------
    >>> choose_mode(None, None, is_tagger=True), choose_mode(None, None, is_tagger=False)
    (('rounded', 3), ('bins', None))
    >>> choose_mode(None, 5, is_tagger=False)
    ('kept', 5)
    """
    if mode == "bins" and held_out:
        raise ParameterError("condense: mode 'bins' holds nothing out.")
    if not is_tagger and mode == "rounded":
        raise ParameterError("condense: mode 'rounded' is for taggers.")
    if is_tagger and mode != "bins":
        return "rounded", held_out or HELD_OUT
    return ("kept", held_out) if held_out else ("bins", None)


def condense(condensing: Condensing, *, progress: Progress | None = None) -> CondensedTagger:
    """Condense a tagger or a parser.

    Parameters
    ----------
    condensing : Condensing
        A tagger with held-out sentences is rounded. Others need raw text that was counted; a parser with held-out trees keeps
        its weights.
    progress : callable, optional
        Called after each training.

    Returns
    -------
    CondensedTagger
        The small model, without what only further condensing would need.
    """
    settings = condensing.settings
    if settings.held_out is not None and condensing.labeled[1] is not None:
        return condense_tagger(condensing, None if settings.drop == "auto" else settings.drop, progress=progress)
    model, features = condensing.train(progress=progress), condensing.features[0]
    # the weights include those of bins, which would only make the file larger
    for name in ("condensed_weights_", "tied_weights_"):
        model.__dict__.pop(name, None)
    bins = {"discount": features.discount, "resolution": features.resolution}
    return CondensedTagger(model, "kept" if settings.held_out else "bins", bins)
