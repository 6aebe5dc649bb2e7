"""Condense taggers and parsers without losing accuracy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from handful.data.chunks import spans
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
from handful.tagging.crf import CRF, has_spans
from handful.tagging.evaluation import score_tags

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
        that is dropped with all of them, since its name takes more room than they do. Weights are rounded to multiples of
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
    """Return a slimmed tagger whose weights are learned once more, near to what they were.

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
        Told of the training.

    Returns
    -------
    CRF
        A new one, with no further features.

    Notes
    -----
    The weights that are left take over from those that are gone: the likelihood of the tags, less the squared distance from
    the weights that `small` has, is maximized. So weights of which the sentences say nothing new stay.

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


def is_there(model: Any, drop: float) -> bool:
    """Tell whether a tagger has weights that are surely left by `slimmed`."""
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
    """Tell which weights are of observations that weigh enough; pairs of labels (-1) have no name to save."""
    of, place = np.unique(observations, return_inverse=True)
    together = np.sqrt(np.bincount(place, weights**2, minlength=len(of)))
    return np.asarray((together[place] >= _WORTH_A_NAME * drop) | (observations < 0))


Way = Literal["bins", "kept", "rounded"]

_FINER = 4.0  # bins in place of one, where base weights are kept
_DROPS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1)  # more costs more than held-out sentences can tell
_FEW, _DROPS_BY_FEW = 1_000, (0.01, 0.02)  # answers there; fewer cannot tell what more would cost
_SURE, _LIKELY = 3.0, 1.0  # standard errors
_LOSS = 0.002  # of what there is to be found in the held-out sentences
_CHANGED, _SURELY_CHANGED = 0.03, 2.0  # of the answers there, and standard errors


@dataclass(frozen=True)
class Condensed:
    """A condensed tagger, and how it came about.

    Parameters
    ----------
    model : CRF
        The small tagger.
    way : {"bins", "kept", "rounded"}
        The way that was gone.
    errors : dict of str to float
        Errors of each way that was tried, and of the base model (``base``), in the held-out sentences: tags that are
        wrong, or spans that are missed or made up, as a share of those that are there.
    bins : dict of str to float
        Discount and resolution of the way that was gone; empty for ``rounded``.
    dropped : Dropped, optional
        Which weights of a tagger were left out, and what that cost.
    """

    model: Any
    way: Way
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
        Errors with all weights and without the light ones, as in `Condensed`; of the second tagger, which has not seen the
        held-out sentences, but for what bins have learned from them if base weights are kept. If these are learned again, of
        one half of the sentences, from which nothing was learned.
    changed, changed_at_most : float
        Answers that are other ones without the light weights, counted as errors are, and two standard errors more.
    again : bool
        Whether the other weights were learned again (see `refitted`).
    """

    below: float
    errors_before: float
    errors: float
    changed: float
    changed_at_most: float
    again: bool = False


def bins_of(features: Any) -> dict[str, float]:
    """Return discount and resolution of condensed features."""
    return {"discount": features.discount, "resolution": features.resolution}


def condense_tagger(
    condensing: Condensing,
    way: Way | None = None,
    drop: float | None = None,
    *,
    progress: Progress | None = None,
) -> Condensed:
    """Condense a tagger in the way that loses nothing, found on held-out sentences.

    Parameters
    ----------
    condensing : Condensing
        Of a tagger, with held-out sentences and raw text counted.
    way : {"bins", "kept", "rounded"}, optional
        bins is the way of Suzuki et al. (2011), bins of potency alone; kept adds to the base model's weights what bins
        teach; rounded has the base model's weights alone. By default the one with the fewest errors, where rounded is
        beaten only by more than chance would do.
    drop : float, optional
        Features whose weight is nearer to 0 are dropped; by default as many as cost no errors and surely change few answers.
        If a drop is named, the others are learned again where that has fewer errors, by more than one standard error; kept
        weights always are, unless that has more errors by as much.
    progress : callable, optional
        Told of trainings.

    Returns
    -------
    Condensed
        The small tagger.

    Notes
    -----
    Each way is gone with the second base model, which has not seen the held-out sentences. What bins add is learned from
    one half of these and judged on the other, and the other way round; discount and resolution are the best on the first
    half, and bins alone take that discount too. A way is better than rounded if it has fewer errors
    by more than three standard errors of the difference over sentences: the second base model has seen fewer sentences than
    the first, so that it has more to gain. Larger and larger drops are tried until errors are lost, or more than 3 in 100 answers
    may be other ones: those that are, and two standard errors. Fewer than 1,000 answers tell too little for more than 0.02.
    What bins add to kept weights was learned beside the second base model and need not be right beside the first, which has
    seen more; so the sum is learned again from all sentences, near to what it was. That is left out where the second
    model, with one half of the held-out sentences, has more errors by it in the other, by more than one standard error. It
    need not have fewer, since the bins were learned beside it.
    The weights of the result are rounded, to 0.1 at most, so that the file packs well,
    and tables that it reads, such as clusters, keep hashes in place of words (`CRF.with_small_lookups`).
    """
    if way != "rounded":
        condensing.check()
    full, second = condensing.features
    held = _HeldOut(*condensing.held, with_spans=has_spans(condensing.labeled[1]))
    trained = _Training(condensing, held, progress)
    tried = {"rounded": held.errors(second.base_model)}
    models: dict[str, Any] = {"rounded": second.base_model}
    if way in (None, "kept"):
        tried["kept"] = trained.choose()
        models["kept"] = trained.kept(condensing.held)
    if way in (None, "bins"):
        models["bins"] = trained.bins(second, condensing.rest)
        tried["bins"] = held.errors(models["bins"])
    chosen = way or _better(tried)
    costs = held.costs(models[chosen], condensing.rest)
    if drop is None:
        dropped = _costless(models[chosen], costs, _DROPS_BY_FEW if held.amount < _FEW else _DROPS)
    elif chosen == "kept":
        dropped = costs(drop)
    else:
        light = slimmed(models[chosen], drop)
        gain = held.errors(light) - held.errors(refitted(light, drop, *condensing.rest))
        dropped = costs(drop, again=_is_sure(gain, _LIKELY))
    if chosen == "kept":
        dropped = trained.settled(condensing.rest, dropped)
    result, told = full.base_model, {}
    if chosen == "bins":
        result, told = trained.bins(full, condensing.labeled), trained.chosen | {"resolution": trained.fine}
    elif chosen == "kept":
        features = full.rebin(**trained.chosen)
        result, told = features.carry(models["kept"], second.rebin(**trained.chosen)), bins_of(features)
    shares = {"base" if name == "rounded" else name: held.share(wrong) for name, wrong in tried.items()}
    small = slimmed(result, dropped.below)
    if dropped.again:
        small = refitted(small, dropped.below, *condensing.labeled, progress)
    return Condensed(small.with_small_lookups(), chosen, shares, told, dropped)


class _HeldOut:
    """Held-out sentences, and what a tagger gets wrong there: spans, or tags."""

    def __init__(self, inputs: Any, gold: Any, *, with_spans: bool) -> None:
        self.inputs, self.gold, self.with_spans = inputs, gold, with_spans
        self.amount = max(1.0, float(sum(len(_found(row, with_spans)) for row in gold)))
        numbers = range(len(gold))
        self.halves = [numbers[::2], numbers[1::2]] if len(gold) > 1 else []

    def part(self, numbers: Sequence[int]) -> tuple[Any, Any]:
        """Return some of the sentences with their tags."""
        return take(self.inputs, numbers), take(self.gold, numbers)

    def errors(self, model: Any, numbers: Sequence[int] | None = None) -> np.ndarray:
        """Count the errors in each sentence, or in each of some."""
        inputs, gold = self.part(range(len(self.gold)) if numbers is None else numbers)
        return self._differences(gold, model.predict(list(inputs)))

    def share(self, differences: np.ndarray) -> float:
        """Return differences as a share of what there is to be found."""
        return float(differences.sum() / self.amount)

    def costs(self, full: Any, fitted_to: Any) -> Callable[..., Dropped]:
        """Return a function that tells what a drop costs a tagger, if the other weights are learned again or as they are."""
        answers = full.predict(list(self.inputs))

        def of(drop: float, *, again: bool = False) -> Dropped:
            small = slimmed(full, drop)
            small = refitted(small, drop, *fitted_to) if again else small
            return self.cost(answers, small.predict(list(self.inputs)), drop, again=again)

        return of

    def cost(self, answers: Any, found: Any, drop: float, *, again: bool) -> Dropped:
        """Compare the answers with all weights with those that are found without the light ones."""
        changed = self._differences(answers, found)
        more = _SURELY_CHANGED * np.sqrt(changed.sum() + 1.0)  # chance, as of any count
        return Dropped(
            drop,
            self.share(self._differences(self.gold, answers)),
            self.share(self._differences(self.gold, found)),
            self.share(changed),
            self.share(changed) + float(more) / self.amount,
            again,
        )

    def _differences(self, some: Any, others: Any) -> np.ndarray:
        pairs = zip(some, others, strict=True)
        found = [len(_found(a, self.with_spans) ^ _found(b, self.with_spans)) for a, b in pairs]
        return np.array(found, dtype=np.float64)


class _Training:
    """Trains a tagger in the ways that use bins; `chosen` are their discount and, where weights are kept, resolution."""

    def __init__(self, condensing: Condensing, held: _HeldOut, progress: Progress | None) -> None:
        self._settings, self._second = condensing.settings, condensing.features[1]
        self._held, self._progress = held, progress
        given = self._settings.discount
        self._discounts = DISCOUNTS if given is None else (given,)
        self.fine = self._settings.resolution or FINE
        self.chosen: dict[str, float] = {"discount": self._discounts[0]}

    def bins(self, features: Any, data: Any) -> Any:
        """Train with bins alone."""
        binned = features.rebin(discount=self.chosen["discount"], base_step=0, resolution=self.fine)
        return self._trained(binned, data)

    def kept(self, data: Any) -> Any:
        """Train what bins add to the weights of the second base model."""
        return self._trained(self._second.rebin(**self.chosen), data)

    def settled(self, rest: Any, dropped: Dropped) -> Dropped:
        """Tell what it costs to learn the weights again that a drop has left, unless that has likely more errors."""
        if not self._held.halves:
            return dropped
        asked, taught = self._held.halves
        part = self._held.part(taught)
        model = self.kept(part)
        if not is_there(model, dropped.below):
            return dropped
        light = slimmed(model, dropped.below)
        inputs, tags = ([*some, *others] for some, others in zip(rest, part, strict=True))
        again = refitted(light, dropped.below, inputs, tags)
        judge = _HeldOut(*self._held.part(asked), with_spans=self._held.with_spans)
        if _is_sure(judge.errors(again) - judge.errors(light), _LIKELY):
            return dropped
        answers, found = (each.predict(list(judge.inputs)) for each in (model, again))
        return judge.cost(answers, found, dropped.below, again=True)

    def choose(self) -> np.ndarray:
        """Choose by the errors of one half, and return those of both halves."""
        errors = np.zeros(len(self._held.gold))
        if not self._held.halves:
            return errors
        asked, taught = self._held.halves
        trials = [
            ({"discount": discount}, self._errors(asked, taught, discount=discount)) for discount in self._discounts
        ]
        best = min(trials, key=_wrong)
        if self._settings.resolution is None:
            finer = best[0] | {"resolution": _FINER}
            best = min(best, (finer, self._errors(asked, taught, **finer)), key=_wrong)
        self.chosen, errors[asked] = best
        errors[taught] = self._errors(taught, asked, **self.chosen)
        return errors

    def _errors(self, asked: Sequence[int], taught: Sequence[int], **bins: float) -> np.ndarray:
        learned = self._trained(self._second.rebin(**bins), self._held.part(taught))
        return self._held.errors(learned, asked)

    def _trained(self, features: Any, data: Any) -> Any:
        training = self._settings.training(features.base_model)
        return features.retrain(*data, progress=self._progress, **training)


def _wrong(trial: tuple[dict[str, float], np.ndarray]) -> float:
    return float(trial[1].sum())


def _better(tried: dict[str, np.ndarray]) -> Way:
    """Return the way with the fewest errors among those that are surely better than rounded."""
    best: Way = "rounded"
    for name in ("kept", "bins"):
        gain = tried["rounded"] - tried[name]
        if _is_sure(gain, _SURE) and tried[name].sum() < tried[best].sum():
            best = name
    return best


def _is_sure(gain: np.ndarray, n_errors: float) -> bool:
    """Tell whether the gain of all sentences is above so many standard errors."""
    error = gain.std(ddof=1) * np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    return bool(gain.sum() > n_errors * error)


def _costless(model: Any, costs: Callable[[float], Dropped], drops: Sequence[float]) -> Dropped:
    """Return the last drop before something is lost: errors, or more answers than may change."""
    chosen = costs(drops[0])
    for drop in drops[1:]:
        if not is_there(model, drop):
            break
        dropped = costs(drop)
        if dropped.errors > chosen.errors_before + _LOSS or dropped.changed_at_most > _CHANGED:
            break
        chosen = dropped
    return chosen


def _found(tags: Sequence[str], with_spans: bool) -> set[Any]:
    """Return what is counted: spans, or tags at their places."""
    return set(spans(tags)) if with_spans else set(enumerate(tags))


HELD_OUT = 3
"""One in so many sentences is held out, where nothing else is said."""


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
        The model; it says which columns are read.
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
    told: dict[str, Any] = getattr(model, "training_", {})
    layout, tag = tuple(told.get("layout", ())), told.get("tag")
    tagged = read_tagged(labeled, layout, tag)
    test = tagged if dev is None else read_tagged(dev, layout, tag)
    for path, data in ((labeled, tagged), (dev or labeled, test)):
        check_columns(path, data.sentences[0], model.columns_[1:])

    def score(other: Any) -> dict[str, float]:
        return score_tags(test.tags, other.predict(list(test.sentences)), tagged.has_spans)

    return LabeledData(list(tagged.sentences), [list(row) for row in tagged.tags], score)


def tag_columns(model: Any, taggers: Sequence[Any]) -> list[TagColumn]:
    """Return what adds to raw text the columns that a model reads beside the words.

    Parameters
    ----------
    model : CRF or DependencyParser
        The model.
    taggers : sequence of taggers
        One per column. A tagger that was fitted to a column of that name is taken for it, others in their order.

    Returns
    -------
    list of TagColumn
        To be applied one after the other.
    """
    columns = [column for column in model.columns_ if column != "word"]
    named = " and ".join(columns)
    if len(taggers) != len(columns):
        wanted = "is missing: name" if not taggers else "must name" if columns else "is not needed: the model reads"
        what = f"a tagger for each column of tags that the model reads ({named})" if columns else "words alone"
        hint = f" Or fit the parser with --tag {columns[0]}." if len(columns) == 2 else ""
        raise ParameterError(f"--pos {wanted} {what}.{hint}")
    of_column: dict[str, Any] = {}
    for tagger, column in zip(taggers, columns, strict=True):
        told: Any = getattr(tagger, "training_", {}).get("tag")
        of_column[told if told in columns else column] = tagger
    if len(of_column) != len(columns):
        raise ParameterError(f"--pos must name one tagger for {' and one for '.join(columns)}, in this order.")
    return [TagColumn(tagger, column) for column, tagger in of_column.items()]


def choose_way(way: Way | Literal["auto"], held_out: int | None, *, is_tagger: bool) -> tuple[Way | None, int | None]:
    """Settle in which way a model is condensed, and whether inputs are held out for that.

    Parameters
    ----------
    way : {"auto", "bins", "kept", "rounded"}
        What was asked for; see `condense_tagger`.
    held_out : int or None
        One in so many labeled inputs, if that was asked for.
    is_tagger : bool
        Or a parser, which has no tags that could be compared.

    Returns
    -------
    way : {"bins", "kept", "rounded"} or None
        None is still to be chosen, on held-out inputs.
    held_out : int or None
        One in so many, or none.

    Examples
    --------
    >>> choose_way("auto", None, is_tagger=True), choose_way("auto", None, is_tagger=False)
    ((None, 3), ('bins', None))
    >>> choose_way("auto", 5, is_tagger=True)
    ('kept', 5)
    """
    if way == "auto" and (held_out or not is_tagger):
        way = "kept" if held_out else "bins"
    if not is_tagger and (way == "rounded" or (way == "bins" and held_out)):
        why = "is for taggers" if way == "rounded" else "holds no trees out"
        raise ParameterError(f"condense: way={way!r} {why}.")
    if way == "bins" and not held_out:
        return way, None
    return None if way == "auto" else way, held_out or HELD_OUT


def condense(condensing: Condensing, way: Way | None = None, *, progress: Progress | None = None) -> Condensed:
    """Condense a tagger or a parser.

    Parameters
    ----------
    condensing : Condensing
        With raw text counted, and inputs held out unless bins alone are to carry weights.
    way : {"bins", "kept", "rounded"}, optional
        See `condense_tagger`; for a parser bins or kept.
    progress : callable, optional
        Told of trainings.

    Returns
    -------
    Condensed
        The small model, without what only further condensing would need.
    """
    settings = condensing.settings
    if settings.held_out is None or condensing.labeled[1] is None:
        gone: Way = "bins" if settings.held_out is None else "kept"
        result = Condensed(condensing.train(progress=progress), gone, {}, bins_of(condensing.features[0]))
    else:
        drop = None if settings.drop == "auto" else settings.drop
        result = condense_tagger(condensing, way, drop, progress=progress)
    # what was learned of bins is folded into the weights, and would only make the file larger
    for name in ("condensed_weights_", "tied_weights_"):
        result.model.__dict__.pop(name, None)
    return result
