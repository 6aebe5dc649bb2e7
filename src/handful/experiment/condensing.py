"""What condensing a model file needs besides the model: its labeled data, scores, tags for raw text, and which way to go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from handful.core.errors import ParameterError
from handful.core.progress import Progress
from handful.corpora.formats.iob import spans
from handful.corpora.opening import FilePath
from handful.corpora.tagged import check_columns, read_tagged
from handful.corpora.treebank import read_treebank
from handful.evaluation.chunks import score_tags
from handful.parsing import DependencyParser
from handful.representations.condensed.condensing import Condensing, take
from handful.representations.condensed.settings import FINE
from handful.tagging import CRF, TagColumn
from handful.tagging.crf.tuning import has_spans

Way = Literal["bins", "kept", "rounded"]

HELD_OUT = 3
"""One in so many sentences is held out, where nothing else is said."""

_DROPS = (0.0, 0.02, 0.05, 0.1)  # more costs more than held-out sentences can tell
_COARSEST, _FINEST = 0.1, 0.02
_SURE = 3.0  # standard errors
_LOSS = 0.002  # of what there is to be found in the held-out sentences
_CHANGED = 0.05  # of the answers there


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
    if isinstance(model, DependencyParser):
        train = read_treebank(labeled, model.columns_)
        held = train if dev is None else read_treebank(dev, model.columns_)
        return LabeledData(train, None, lambda other: dict(other.score(held).as_dict()))
    if not isinstance(model, CRF):
        raise ParameterError(
            f"condense: the model must be one of 'handful fit tagger' or 'handful fit parser', got {type(model).__name__}."
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
    """

    model: Any
    way: Way
    errors: dict[str, float]


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
        result = Condensed(condensing.train(progress=progress), "bins" if settings.held_out is None else "kept", {})
    else:
        drop = None if settings.drop == "auto" else settings.drop
        result = condense_tagger(condensing, way, drop, progress=progress)
    # what was learned of bins is folded into the weights, and would only make the file larger
    for name in ("condensed_weights_", "tied_weights_"):
        result.model.__dict__.pop(name, None)
    return result


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
        Features whose weight is nearer to 0 are dropped; by default as many as cost no errors and change few answers.
    progress : callable, optional
        Told of trainings.

    Returns
    -------
    Condensed
        The small tagger.

    Notes
    -----
    Each way is gone with the second base model, which has not seen the held-out sentences. What bins add is learned from
    one half of these and judged on the other, and the other way round. A way is better than rounded if it has fewer errors
    by more than three standard errors of the difference over sentences: the second base model has seen fewer sentences than
    the first, so that it has more to gain. The weights of the result are rounded, to 0.1 at most, so that the file packs well.
    """
    if way != "rounded":
        condensing.check()
    full, second = condensing.features
    held, gold = condensing.held
    with_spans = has_spans(condensing.labeled[1])
    amount = max(1.0, float(sum(len(_found(row, with_spans)) for row in gold)))

    def differences(some: Any, others: Any) -> np.ndarray:
        pairs = zip(some, others, strict=True)
        return np.array([len(_found(a, with_spans) ^ _found(b, with_spans)) for a, b in pairs], dtype=np.float64)

    def errors(model: Any, inputs: Any, outputs: Any) -> np.ndarray:
        return differences(outputs, model.predict(list(inputs)))

    def costs(full: Any) -> Callable[[Any], tuple[float, float]]:
        answers = full.predict(list(held))

        def of(small: Any) -> tuple[float, float]:
            found = small.predict(list(held))
            return differences(gold, found).sum() / amount, differences(answers, found).sum() / amount

        return of

    def bins(features: Any, data: Any) -> Any:
        resolution = condensing.settings.resolution or FINE
        training = condensing.settings.training(features.base_model)
        return features.rebin(base_step=0, resolution=resolution).retrain(*data, progress=progress, **training)

    def kept(data: Any) -> Any:
        return second.retrain(*data, progress=progress, **condensing.settings.training(second.base_model))

    tried = {"rounded": errors(second.base_model, held, gold)}
    models: dict[str, Any] = {"rounded": second.base_model}
    if way in (None, "bins"):
        models["bins"] = bins(second, condensing.rest)
        tried["bins"] = errors(models["bins"], held, gold)
    if way in (None, "kept"):
        models["kept"] = kept(condensing.held)
        tried["kept"] = np.zeros(len(gold))
        halves = [range(0, len(gold), 2), range(1, len(gold), 2)]
        for asked, taught in (halves, halves[::-1]) if len(gold) > 1 else ():
            learned = kept((take(held, taught), take(gold, taught)))
            tried["kept"][asked] = errors(learned, take(held, asked), take(gold, asked))
    chosen = way or _better(tried)
    drop = _costless(models[chosen], costs(models[chosen])) if drop is None else drop
    result = full.base_model
    if chosen == "bins":
        result = bins(full, condensing.labeled)
    elif chosen == "kept":
        result = full.carry(models["kept"], second)
    told = {"base" if name == "rounded" else name: float(wrong.sum() / amount) for name, wrong in tried.items()}
    return Condensed(slimmed(result, drop), chosen, told)


def slimmed(model: Any, drop: float) -> Any:
    """Return a tagger whose weights are rounded, without those nearer to 0 than `drop`.

    Parameters
    ----------
    model : CRF
        Fitted.
    drop : float
        Least weight that is kept. Weights are rounded to multiples of it, of 0.1 at most and 0.02 at least.

    Returns
    -------
    CRF
        A new one.

    Examples
    --------
    >>> tagger = CRF(strength=0.1).fit([["a", "dog"], ["the", "cat"]], [["D", "N"], ["D", "N"]])
    >>> slimmed(tagger, 0.1).n_active_ < tagger.n_active_
    True
    """
    step = min(_COARSEST, max(_FINEST, drop))
    space = model.feature_space()
    weights = space.base_weights(np.arange(space.n_features))
    steps = np.where(np.abs(weights) < drop, 0.0, np.rint(weights / step))
    ids = np.flatnonzero(steps)
    if len(ids) == 0:
        raise ParameterError(f"condense: drop={drop:g} drops every feature. Lower it.")
    small = space.build(ids, steps[ids] * step)
    small.n_active_condensed_ = len(np.unique(steps[ids]))
    return small


def _better(tried: dict[str, np.ndarray]) -> Way:
    """Return the way with the fewest errors among those that are surely better than rounded."""
    best: Way = "rounded"
    for name in ("kept", "bins"):
        gain = tried["rounded"] - tried[name]
        error = gain.std(ddof=1) * np.sqrt(len(gain)) if len(gain) > 1 else np.inf
        if gain.sum() > _SURE * error and tried[name].sum() < tried[best].sum():
            best = name
    return best


def _costless(model: Any, costs: Callable[[Any], tuple[float, float]]) -> float:
    """Return the largest drop that hardly costs anything: neither in errors, nor in answers that change."""
    first, _ = costs(slimmed(model, _DROPS[0]))
    enough = [_DROPS[0]]
    for drop in _DROPS[1:]:
        wrong, changed = costs(slimmed(model, drop)) if _is_there(model, drop) else (np.inf, np.inf)
        if wrong <= first + _LOSS and changed <= _CHANGED:
            enough.append(drop)
    return max(enough)


def _is_there(model: Any, drop: float) -> bool:
    return bool((np.abs(model.weights_) >= drop).any())


def _found(tags: Sequence[str], with_spans: bool) -> set[Any]:
    """Return what is counted: spans, or tags at their places."""
    return set(spans(tags)) if with_spans else set(enumerate(tags))
