"""A tagger condensed in the way that loses nothing, found on held-out sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from handful.core.progress import Progress
from handful.corpora.formats.iob import spans
from handful.experiment.tagger_slimming import is_there, refitted, slimmed
from handful.representations.condensed.condensing import Condensing, take
from handful.representations.condensed.settings import DISCOUNTS, FINE
from handful.tagging.crf.tuning import has_spans

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
