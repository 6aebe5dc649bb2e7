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
from handful.representations.condensing import Condensing, take
from handful.representations.potency import DISCOUNTS, FINE
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


def survives(model: Any, drop: float) -> bool:
    """Return whether `slimmed` certainly leaves some weights of a tagger."""
    return bool((np.abs(model.weights_) >= _WORTH_A_NAME * drop).any())


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

_FINER = 4.0  # times as many bins, where base weights are kept
_DROPS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1)  # more costs more than held-out sentences can show
_FEW, _DROPS_OF_FEW = 1_000, (0.01, 0.02)  # held-out spans or tags; fewer cannot show the cost of more
_SURE, _LIKELY = 3.0, 1.0  # standard errors
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
        See `condense_tagger`.
    errors : dict of str to float
        Errors of each mode that was tried, and of the base model (``base``), in the held-out sentences: wrong tags, or
        missed and wrong spans, divided by the true ones.
    bins : dict of str to float
        Discount and resolution; empty for ``rounded``.
    dropped : Dropped, optional
        Which weights of a tagger were left out, and what that cost.
    """

    model: Any
    mode: Mode
    errors: dict[str, float]
    bins: dict[str, float]
    dropped: Dropped | None = None


@dataclass(frozen=True)
class Dropped:
    """Which weights were left out, and what that cost in the held-out sentences.

    Parameters
    ----------
    below : float
        Weights nearer to 0 are left out; see `slimmed`.
    errors_before, errors : float
        Errors with all weights and without the light ones, as in `CondensedTagger`; of the second tagger, which was trained
        without the held-out sentences, except for bins if base weights are kept. If these are refitted, of one half of the
        sentences, which nothing was trained on.
    changed, changed_at_most : float
        Predictions that change without the light weights, counted as errors are, and two standard errors more.
    again : bool
        Whether the other weights were refitted (see `refitted`).
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
    again: bool = False
    metric: str = "f1"
    score_before: float = math.nan
    score: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n_sentences: int = 0


def bins_of(features: Any) -> dict[str, float]:
    """Return discount and resolution of condensed features."""
    return {"discount": features.discount, "resolution": features.resolution}


def condense_tagger(
    condensing: Condensing,
    mode: Mode | None = None,
    drop: float | None = None,
    *,
    progress: Progress | None = None,
) -> CondensedTagger:
    """Condense a tagger in the mode that loses nothing on held-out sentences.

    Parameters
    ----------
    condensing : Condensing
        Of a tagger, with held-out sentences and raw text counted.
    mode : {"bins", "kept", "rounded"}, optional
        bins is the method of Suzuki et al. (2011), bins of potency alone; kept adds weights of bins to those of the base
        model; rounded has the base model's weights alone. By default the one with the fewest errors, where another than
        rounded must be significantly better.
    drop : float, optional
        Features with weights nearer to 0 are dropped; by default as many as cost no errors and change few predictions.
        If you name it, the others are refitted where that has fewer errors, by more than one standard error. Kept weights
        always are, unless that has more errors by as much.
    progress : callable, optional
        Called after each training.

    Returns
    -------
    CondensedTagger
        The small tagger.

    Notes
    -----
    Every mode is tried with the second base model, which was trained without the held-out sentences. Bins are trained on one
    half of these and scored on the other, and vice versa; discount and resolution are the best on the first half, and bins
    alone take that discount too. A mode is better than rounded if it has fewer errors by more than three standard errors of
    the difference over sentences: the second base model has seen fewer sentences than the first, so it has more to gain.
    Larger and larger drops are tried until errors grow, or more than 3% of the predictions may change (with two standard
    errors). Fewer than 1,000 held-out spans or tags show too little for a drop of more than 0.02.
    Bins on top of kept weights were trained with the second base model and need not suit the first, so the sum is refitted
    on all sentences. That is left out where the second model, with one half of the held-out sentences, has more errors by
    it in the other half, by more than one standard error.
    The weights of the result are rounded, to 0.1 at most, so that the file compresses well, and tables that it reads, such
    as clusters, keep hashes instead of words (`CRF.with_small_lookups`).
    """
    if mode != "rounded":
        condensing.check()
    second = condensing.features[1]
    held = _HeldOut(*condensing.held, with_spans=has_spans(condensing.labeled[1]))
    trained = _Training(condensing, held, progress)
    errors = {"rounded": held.errors(second.base_model)}
    models: dict[str, Any] = {"rounded": second.base_model}
    if mode in (None, "kept"):
        errors["kept"] = trained.choose()
        models["kept"] = trained.kept(condensing.held)
    if mode in (None, "bins"):
        models["bins"] = trained.bins(second, condensing.rest)
        errors["bins"] = held.errors(models["bins"])
    chosen = mode or _better(errors)
    dropped = _choose_drop(condensing, held, models[chosen], drop, may_refit=chosen != "kept")
    if chosen == "kept":
        dropped = trained.settled(condensing.rest, dropped)
    result, bins = trained.result(chosen, models[chosen], condensing.labeled)
    small = slimmed(result, dropped.below)
    if dropped.again:
        small = refitted(small, dropped.below, *condensing.labeled, progress)
    rates = {"base" if name == "rounded" else name: held.rate(wrong) for name, wrong in errors.items()}
    return CondensedTagger(small.with_small_lookups(), chosen, rates, bins, dropped)


def _choose_drop(condensing: Condensing, held: _HeldOut, model: Any, drop: float | None, *, may_refit: bool) -> Dropped:
    """Return what a drop costs a model: the user's, or the largest one that costs nothing."""
    costs = held.costs(model, condensing.rest)
    if drop is None:
        return _costless(model, costs, _DROPS_OF_FEW if held.amount < _FEW else _DROPS)
    if not may_refit:
        return costs(drop)
    light = slimmed(model, drop)
    gain = held.errors(light) - held.errors(refitted(light, drop, *condensing.rest))
    return costs(drop, again=_is_sure(gain, _LIKELY))


class _HeldOut:
    """Held-out sentences, and the errors of taggers there: in spans, or tags."""

    def __init__(self, inputs: Any, gold: Any, *, with_spans: bool) -> None:
        self.inputs, self.gold, self.with_spans = inputs, gold, with_spans
        self.amount = max(1.0, float(sum(len(units(row, with_spans)) for row in gold)))
        numbers = range(len(gold))
        self.halves = [numbers[::2], numbers[1::2]] if len(gold) > 1 else []

    def part(self, numbers: Sequence[int]) -> tuple[Any, Any]:
        """Return some of the sentences with their tags."""
        return take(self.inputs, numbers), take(self.gold, numbers)

    def errors(self, model: Any, numbers: Sequence[int] | None = None) -> np.ndarray:
        """Count the errors in each sentence, or in each of some."""
        inputs, gold = self.part(range(len(self.gold)) if numbers is None else numbers)
        return self._differences(gold, model.predict(list(inputs)))

    def rate(self, differences: np.ndarray) -> float:
        """Return differences divided by the number of true spans or tags."""
        return float(differences.sum() / self.amount)

    def costs(self, full: Any, fitted_to: Any) -> Callable[..., Dropped]:
        """Return a function from a drop to its cost for a tagger, with the other weights refitted or as they are."""
        predicted = full.predict(list(self.inputs))

        def of(drop: float, *, again: bool = False) -> Dropped:
            small = slimmed(full, drop)
            small = refitted(small, drop, *fitted_to) if again else small
            return self.cost(predicted, small.predict(list(self.inputs)), drop, again=again)

        return of

    def cost(self, before: Any, after: Any, drop: float, *, again: bool) -> Dropped:
        """Compare the predictions with all weights with those without the light ones."""
        changed = self._differences(before, after)
        more = _CHANGED_ERRORS * np.sqrt(changed.sum() + 1.0)  # of a Poisson count
        metric = "f1" if self.with_spans else "accuracy"
        score_before, score = (score_tags(self.gold, tags, self.with_spans)[metric] for tags in (before, after))
        return Dropped(
            drop,
            self.rate(self._differences(self.gold, before)),
            self.rate(self._differences(self.gold, after)),
            self.rate(changed),
            self.rate(changed) + float(more) / self.amount,
            again,
            metric,
            score_before,
            score,
            *score_limits(self.gold, after, score, self.with_spans),
            len(self.gold),
        )

    def _differences(self, some: Any, others: Any) -> np.ndarray:
        pairs = zip(some, others, strict=True)
        counts = [len(units(a, self.with_spans) ^ units(b, self.with_spans)) for a, b in pairs]
        return np.array(counts, dtype=np.float64)


class _Training:
    """Trains a tagger in the modes that use bins; `chosen` are their discount and, where weights are kept, resolution."""

    def __init__(self, condensing: Condensing, held: _HeldOut, progress: Progress | None) -> None:
        self._settings = condensing.settings
        self._full, self._second = condensing.features
        self._held, self._progress = held, progress
        discount = self._settings.discount
        self._discounts = DISCOUNTS if discount is None else (discount,)
        self.fine = self._settings.resolution or FINE
        self.chosen: dict[str, float] = {"discount": self._discounts[0]}

    def bins(self, features: Any, data: Any) -> Any:
        """Train with bins alone."""
        binned = features.rebin(discount=self.chosen["discount"], base_step=0, resolution=self.fine)
        return self._trained(binned, data)

    def kept(self, data: Any) -> Any:
        """Train what bins add to the weights of the second base model."""
        return self._trained(self._second.rebin(**self.chosen), data)

    def result(self, mode: Mode, model: Any, labeled: Any) -> tuple[Any, dict[str, float]]:
        """Return the tagger of a mode made from the first base model, with discount and resolution of its bins."""
        if mode == "rounded":
            return self._full.base_model, {}
        if mode == "bins":
            return self.bins(self._full, labeled), self.chosen | {"resolution": self.fine}
        features = self._full.rebin(**self.chosen)
        return features.carry(model, self._second.rebin(**self.chosen)), bins_of(features)

    def settled(self, rest: Any, dropped: Dropped) -> Dropped:
        """Return the cost of refitting the weights that a drop has left, unless that probably has more errors."""
        if not self._held.halves:
            return dropped
        scored, trained = self._held.halves
        part = self._held.part(trained)
        model = self.kept(part)
        if not survives(model, dropped.below):
            return dropped
        light = slimmed(model, dropped.below)
        inputs, tags = ([*some, *others] for some, others in zip(rest, part, strict=True))
        again = refitted(light, dropped.below, inputs, tags)
        half = _HeldOut(*self._held.part(scored), with_spans=self._held.with_spans)
        if _is_sure(half.errors(again) - half.errors(light), _LIKELY):
            return dropped
        before, after = (each.predict(list(half.inputs)) for each in (model, again))
        return half.cost(before, after, dropped.below, again=True)

    def choose(self) -> np.ndarray:
        """Choose by the errors of one half, and return those of both halves."""
        errors = np.zeros(len(self._held.gold))
        if not self._held.halves:
            return errors
        scored, trained = self._held.halves
        trials = [
            ({"discount": discount}, self._errors(scored, trained, discount=discount)) for discount in self._discounts
        ]
        best = min(trials, key=_wrong)
        if self._settings.resolution is None:
            finer = best[0] | {"resolution": _FINER}
            best = min(best, (finer, self._errors(scored, trained, **finer)), key=_wrong)
        self.chosen, errors[scored] = best
        errors[trained] = self._errors(trained, scored, **self.chosen)
        return errors

    def _errors(self, scored: Sequence[int], trained: Sequence[int], **bins: float) -> np.ndarray:
        model = self._trained(self._second.rebin(**bins), self._held.part(trained))
        return self._held.errors(model, scored)

    def _trained(self, features: Any, data: Any) -> Any:
        training = self._settings.training(features.base_model)
        return features.retrain(*data, progress=self._progress, **training)


def _wrong(trial: tuple[dict[str, float], np.ndarray]) -> float:
    return float(trial[1].sum())


def _better(tried: dict[str, np.ndarray]) -> Mode:
    """Return the mode with the fewest errors among those that are significantly better than rounded."""
    best: Mode = "rounded"
    for name in ("kept", "bins"):
        gain = tried["rounded"] - tried[name]
        if _is_sure(gain, _SURE) and tried[name].sum() < tried[best].sum():
            best = name
    return best


def _is_sure(gain: np.ndarray, n_errors: float) -> bool:
    """Return whether the gain of all sentences is above a number of standard errors."""
    error = gain.std(ddof=1) * np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    return bool(gain.sum() > n_errors * error)


def _costless(model: Any, costs: Callable[[float], Dropped], drops: Sequence[float]) -> Dropped:
    """Return the last drop before errors grow or too many predictions change."""
    chosen = costs(drops[0])
    for drop in drops[1:]:
        if not survives(model, drop):
            break
        dropped = costs(drop)
        if dropped.errors > chosen.errors_before + _LOSS or dropped.changed_at_most > _CHANGED:
            break
        chosen = dropped
    return chosen


HELD_OUT = 3
"""By default every third sentence is held out."""


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


def choose_mode(
    mode: Mode | Literal["auto"], held_out: int | None, *, is_tagger: bool
) -> tuple[Mode | None, int | None]:
    """Settle in which mode a model is condensed, and whether inputs are held out for that.

    Parameters
    ----------
    mode : {"auto", "bins", "kept", "rounded"}
        The user's choice; see `condense_tagger`.
    held_out : int or None
        Every how many-th labeled input is held out, if the user chose it.
    is_tagger : bool
        Or a parser, which has no tags that could be compared.

    Returns
    -------
    mode : {"bins", "kept", "rounded"} or None
        None is still to be chosen, on held-out inputs.
    held_out : int or None
        Every how many-th labeled input is held out.

    Examples
    --------
    >>> choose_mode("auto", None, is_tagger=True), choose_mode("auto", None, is_tagger=False)
    ((None, 3), ('bins', None))
    >>> choose_mode("auto", 5, is_tagger=True)
    ('kept', 5)
    """
    if mode == "auto" and held_out:
        mode = "kept"
    if not is_tagger:
        _check_parser_mode(mode, held_out)
        mode = "bins" if mode == "auto" else mode
    if mode == "bins":
        return mode, held_out
    return None if mode == "auto" else mode, held_out or HELD_OUT


def _check_parser_mode(mode: Mode | Literal["auto"], held_out: int | None) -> None:
    if mode == "rounded":
        raise ParameterError("condense: mode 'rounded' is for taggers.")
    if mode == "bins" and held_out:
        raise ParameterError("condense: mode 'bins' holds no trees out.")


def condense(condensing: Condensing, mode: Mode | None = None, *, progress: Progress | None = None) -> CondensedTagger:
    """Condense a tagger or a parser.

    Parameters
    ----------
    condensing : Condensing
        With raw text counted, and inputs held out unless bins alone are to carry weights.
    mode : {"bins", "kept", "rounded"}, optional
        See `condense_tagger`; for a parser bins or kept.
    progress : callable, optional
        Called after each training.

    Returns
    -------
    CondensedTagger
        The small model, without what only further condensing would need.
    """
    settings = condensing.settings
    if settings.held_out is None or condensing.labeled[1] is None:
        trained: Mode = "bins" if settings.held_out is None else "kept"
        bins = bins_of(condensing.features[0])
        result = CondensedTagger(condensing.train(progress=progress), trained, {}, bins)
    else:
        drop = None if settings.drop == "auto" else settings.drop
        result = condense_tagger(condensing, mode, drop, progress=progress)
    # the weights include those of bins, which would only make the file larger
    for name in ("condensed_weights_", "tied_weights_"):
        result.model.__dict__.pop(name, None)
    return result
