"""From scores over draws to a ranking with honest gains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from handful.evaluation.best_bet import Bet, place_bets
from handful.evaluation.significance import (
    corrected_interval,
    corrected_paired_t,
    crossed_mean,
    holm,
    mean_interval,
    mean_test,
)

LEVEL = 0.05
LEAST_DRAWS = 3
"""Draws that two methods must share before anything is called proven."""

_MANY = 1_000_000


@dataclass(frozen=True)
class Entry:
    """One method in a comparison, with its score on every draw it was tried on.

    Parameters
    ----------
    name : str
        Name of the method.
    scores : mapping of int to float
        Draw to score.
    uses_unlabeled : bool
        Whether it learned from unlabeled rows.
    plain : bool
        Whether it is a supervised method that others are held against.
    twin : str or None
        Name of the entry that does the same from labels alone.
    ranked : bool
        False for an entry that is there only as another's twin.
    favorite : bool
        Whether it is the best bet before anything is measured.
    right : mapping of int to ndarray of bool or float
        Draw to which of the tested rows it was right on, where the score is their share; or numbers whose mean the score is.
    candidate : bool
        Whether it may be recommended; one that is there only to be held against may not.
    """

    name: str
    scores: Mapping[int, float]
    uses_unlabeled: bool = False
    plain: bool = False
    twin: str | None = None
    ranked: bool = True
    favorite: bool = False
    right: Mapping[int, np.ndarray] = field(default_factory=dict)
    candidate: bool = True


@dataclass(frozen=True)
class Setting:
    """What the scores of a comparison are scores of.

    Parameters
    ----------
    test_share : float
        Rows tested for each row that labels could be drawn from: the correction for draws that overlap.
    n_test : int
        Rows tested in a draw, from which follows how much scores differ by chance at the very least.
    n_labels : int
        Number of labels in training.
    unlabeled, labels : str
        What they are called.
    overlap : float
        Share of its labels that a draw has in common with another one, on average.
    tested : callable, optional
        Gives the tested rows of a draw.
    worth : float, optional
        How many rows the tested ones of a draw are worth, where that is not their number: scores that count classes alike hang on
        the few rows of the rare ones.
    even : bool
        Whether labels were picked class by class, so that scores are those of classes that are equally frequent.
    fewest_draws : int
        Draws from which on the rows in them tell how far a score may be off.
    usual_score, usual_rows : float
        Score of such methods on data of all kinds, and how many tested rows this guess counts as.
    metric : str
        What the score is, in words, such as accuracy.
    """

    test_share: float
    n_test: int
    n_labels: int
    unlabeled: str = "unlabeled rows"
    labels: str = "labels"
    overlap: float = 0.75
    tested: Callable[[int], np.ndarray] | None = None
    worth: float | None = None
    even: bool = False
    fewest_draws: int = 2
    usual_score: float = 0.75
    usual_rows: float = 2.0
    metric: str = "score"

    @property
    def bet_share(self) -> float:
        """What `test_share` is worth where draws have few labels in common."""
        return self.test_share * (0.4 + 0.6 * min(self.overlap / 0.75, 1.0))

    @property
    def n_worth(self) -> float:
        """How many rows those that are tested in a draw are worth."""
        return self.n_test if self.worth is None else self.worth

    def n_tested(self, n_draws: int) -> float:
        """Return how many rows count as tested after some draws of a method."""
        return self.n_worth * min(n_draws, _n_folds(self.test_share))

    @cached_property
    def luck_correlation(self) -> float:
        """Correlation of the luck of two draws with their labels; that of Nadeau and Bengio where all labels are used."""
        return self.test_share / (1 + self.test_share) * min(self.overlap / 0.75, 1.0)


@dataclass(frozen=True)
class Gain:
    """A difference of scores over the draws that two methods share.

    Parameters
    ----------
    twin : str
        The other method.
    mean, low, high : float
        Difference of the scores, with its interval.
    n_shared : int or None
        How many draws they share, where one of them has others beside these; None where both have the same.
    """

    twin: str
    mean: float
    low: float
    high: float
    n_shared: int | None = None

    @property
    def harms(self) -> bool:
        """Whether the whole interval lies below zero."""
        return self.high < 0

    @property
    def helps(self) -> bool:
        """Whether the whole interval lies above zero."""
        return self.low > 0


@dataclass(frozen=True)
class Rank:
    """One line of the ranking.

    Parameters
    ----------
    name : str
        Name of the method.
    score, low, high : float
        Mean score as if it had been measured on all draws, with its interval.
    measured : float
        Mean score over its own draws.
    expected : float
        The mean score, shrunk toward what was expected beforehand (and, where few rows were tested, toward the usual score);
        the ranking is by it.
    p_best : float
        Probability that it is the best.
    n_draws : int
        Draws it was measured on.
    against : Gain or None
        Difference to the best plain method; None for that method itself, or where they share less than two draws.
    p : float or None
        Of the corrected paired test of that difference, adjusted for the number of methods.
    gain : Gain or None
        Against its own twin; None for a method that learns from labels alone.
    uses_unlabeled : bool
        Whether it learned from unlabeled rows.
    candidate : bool
        Whether it may be recommended.
    """

    name: str
    score: float
    low: float
    high: float
    measured: float
    expected: float
    p_best: float
    n_draws: int
    against: Gain | None = None
    p: float | None = None
    gain: Gain | None = None
    uses_unlabeled: bool = False
    candidate: bool = True

    @property
    def difference(self) -> float:
        """Difference to the best plain method; 0 for that method itself."""
        return 0.0 if self.against is None else self.against.mean

    @property
    def better(self) -> bool:
        """Whether it beats the best plain method beyond chance."""
        return self.p is not None and self.p < LEVEL and self.difference > 0

    @property
    def helped(self) -> bool:
        """Whether unlabeled rows helped it beyond chance: better than the best plain method and than its twin."""
        return self.better and self.gain is not None and self.gain.helps


@dataclass(frozen=True)
class Ranking:
    """All methods that were measured, the best bet first.

    Parameters
    ----------
    ranks : tuple of Rank
        Sorted by expected score.
    baseline : str or None
        The best plain supervised method; None if none was measured.
    n_draws : int
        Draws of the method that was measured most.
    """

    ranks: tuple[Rank, ...]
    baseline: str | None
    n_draws: int

    @property
    def best(self) -> Rank:
        """The best bet: the first that may be recommended."""
        return next((rank for rank in self.ranks if rank.candidate), self.ranks[0])

    def rank_of(self, name: str) -> Rank | None:
        """Return the line of a method, if it was measured."""
        return next((rank for rank in self.ranks if rank.name == name), None)


def rank(entries: Sequence[Entry], setting: Setting) -> Ranking:
    """Rank methods by what is expected of them.

    Parameters
    ----------
    entries : sequence of Entry
        The methods. Those without a score are left out.
    setting : Setting
        What the scores are scores of.

    Returns
    -------
    Ranking
        Ranks and baseline.

    Notes
    -----
    The baseline is the plain method with the best mean, which makes it harder to beat than one chosen beforehand.
    Differences are tested over the draws that both methods finished. Where it is known which rows a method was right
    on, the variance has a part for rows and a part for draws (`handful.evaluation.significance.crossed_mean`);
    otherwise it is that of the corrected resampled t-test. P-values are adjusted by Holm's rule for the number of
    methods that are not plain; among the plain ones the best is taken as it is.

    Examples
    --------
    >>> plain = Entry("k-nn", {0: 0.70, 1: 0.72, 2: 0.71}, plain=True)
    >>> more = Entry("ordinal-knn", {0: 0.80, 1: 0.82, 2: 0.80}, uses_unlabeled=True, twin="k-nn")
    >>> ranking = rank([plain, more], Setting(test_share=0.25, n_test=500, n_labels=20))
    >>> ranking.baseline, ranking.ranks[0].name, ranking.ranks[0].helped
    ('k-nn', 'ordinal-knn', True)
    """
    ranked = [entry for entry in entries if entry.ranked and entry.scores]
    bets = bets_on(ranked, setting)
    by_name = {entry.name: entry for entry in entries}
    baseline = _baseline(bets, by_name)
    p_values = _p_values(ranked, None if baseline is None else by_name[baseline], setting)
    first = next((bet.name for bet in bets if by_name[bet.name].candidate), None)
    ranks = tuple(_rank(bet, by_name, baseline, p_values.get(bet.name), setting, bet.name == first) for bet in bets)
    return Ranking(ranks, baseline, max((bet.n_draws for bet in bets), default=0))


def bets_on(entries: Sequence[Entry], setting: Setting) -> list[Bet]:
    """Return what is believed of each method, the best bet first.

    Parameters
    ----------
    entries : sequence of Entry
        The methods; those without a score, or not ranked, are left out.
    setting : Setting
        What the scores are scores of.

    Returns
    -------
    list of Bet
        See `handful.evaluation.best_bet.place_bets`.
    """
    ranked = [entry for entry in entries if entry.ranked and entry.scores]
    return place_bets(
        {entry.name: entry.scores for entry in ranked},
        test_share=setting.bet_share,
        n_test=setting.n_test,
        favorite=next((entry.name for entry in ranked if entry.favorite), None),
        candidates=[entry.name for entry in ranked if entry.candidate],
    )


def _baseline(bets: Sequence[Bet], by_name: Mapping[str, Entry]) -> str | None:
    # One lucky draw makes no baseline, if others have been measured more often.
    plain = [bet for bet in bets if by_name[bet.name].plain]
    best = max(plain, key=lambda bet: (min(bet.n_draws, LEAST_DRAWS), bet.leveled), default=None)
    return None if best is None else best.name


def _rank(
    bet: Bet, by_name: Mapping[str, Entry], baseline: str | None, p: float | None, setting: Setting, is_first: bool
) -> Rank:
    entry = by_name[bet.name]
    against = difference(entry, by_name[baseline], setting) if baseline not in (None, bet.name) else None
    gain = None
    if entry.uses_unlabeled and entry.twin is not None and entry.twin in by_name:
        gain = difference(entry, by_name[entry.twin], setting)
    # As if some more rows had come out as rows usually do: all of a few tested rows right does not mean that all ever will be.
    n_tested = setting.n_tested(bet.n_draws)
    leveled, believed = (min(max(score, 0.0), 1.0) for score in (bet.leveled, bet.score))
    own, expected = (
        (score * n_tested + setting.usual_rows * setting.usual_score) / (n_tested + setting.usual_rows)
        for score in (leveled, believed)
    )
    # Around the best estimate: where one method is recommended, more than its own scores tell of it.
    center, width = expected if is_first else own, _half_width(entry, setting)
    return Rank(
        bet.name,
        leveled,
        max(min(center - width, leveled), 0.0),
        min(max(center + width, leveled), 1.0),
        bet.measured,
        expected,
        bet.p_best,
        bet.n_draws,
        against,
        p,
        gain,
        entry.uses_unlabeled,
        entry.candidate,
    )


def difference(one: Entry, other: Entry, setting: Setting) -> Gain | None:
    """Return the mean difference of two methods over the draws they share, with its 95 % interval.

    Parameters
    ----------
    one, other : Entry
        The methods.
    setting : Setting
        What the scores are scores of.

    Returns
    -------
    Gain or None
        None where they share less than two draws.
    """
    differences = _differences(one, other)
    if len(differences) < 2:
        return None
    n_shared = len(differences) if set(one.scores) != set(other.scores) else None
    crossed = _crossed(one, other, setting)
    if crossed is not None:
        return Gain(other.name, crossed[0], *mean_interval(*crossed), n_shared)
    least = _least_variance(differences, setting.test_share, setting.n_test)
    low, high = corrected_interval(differences, _MANY, round(_MANY * setting.test_share), least_variance=least)
    return Gain(other.name, float(differences.mean()), low, high, n_shared)


def score_interval(scores: np.ndarray, test_share: float, n_test: int) -> tuple[float, float]:
    """Return a 95 % interval of a mean score over draws.

    Parameters
    ----------
    scores : array-like of float
        One for each draw.
    test_share : float
        Rows tested for each row that labels could be drawn from.
    n_test : int
        Rows tested in a draw.

    Returns
    -------
    low, high : float
        Bounds, between 0 and 1. Even if all draws agree, the interval is as wide as so few tested rows demand.

    Examples
    --------
    >>> low, high = score_interval([1.0, 1.0, 1.0], 0.25, 10)
    >>> low < 0.95, high
    (True, 1.0)
    """
    mean, width = float(np.mean(scores)), _width_over_draws(np.asarray(scores), test_share, n_test)
    return max(mean - width, 0.0), min(mean + width, 1.0)


def _width_over_draws(scores: np.ndarray, test_share: float, n_test: float) -> float:
    """Return half the width of the interval of a mean score over draws."""
    n_tested = n_test * min(len(scores), _n_folds(test_share))
    # Two more rows of each kind (Agresti and Coull 1998): a score of 1 does not mean that errors are impossible.
    share = (float(np.mean(scores)) * n_tested + 2) / (n_tested + 4)
    least = share * (1 - share) / n_test
    if len(scores) < 2:
        return 1.96 * float(np.sqrt(least * (1 + test_share)))
    low, high = corrected_interval(scores, _MANY, round(_MANY * test_share), least_variance=least)
    return (high - low) / 2


def _half_width(entry: Entry, setting: Setting) -> float:
    """Return half the width of the interval of a method's mean score, from the rows it was right on where they are known."""
    crossed = _crossed(entry, None, setting)
    if crossed is None:
        return _width_over_draws(np.array(list(entry.scores.values())), setting.test_share, setting.n_worth)
    low, high = mean_interval(*crossed)
    return (high - low) / 2


def _differences(one: Entry, other: Entry) -> np.ndarray:
    shared = sorted(set(one.scores) & set(other.scores))
    return np.array([one.scores[draw] - other.scores[draw] for draw in shared])


def _p_values(ranked: Sequence[Entry], baseline: Entry | None, setting: Setting) -> dict[str, float]:
    if baseline is None:
        return {}
    raw = {}
    for entry in ranked:
        if entry.name != baseline.name and len(set(entry.scores) & set(baseline.scores)) >= LEAST_DRAWS:
            raw[entry.name] = _p_value(entry, baseline, setting)
    rivals = [entry.name for entry in ranked if entry.name in raw and not entry.plain]
    adjusted = holm(np.array([raw[name] for name in rivals])).tolist() if rivals else []
    return {**raw, **dict(zip(rivals, adjusted, strict=True))}


def _p_value(entry: Entry, baseline: Entry, setting: Setting) -> float:
    crossed = _crossed(entry, baseline, setting)
    if crossed is not None:
        return mean_test(*crossed)
    differences = _differences(entry, baseline)
    least = _least_variance(differences, setting.test_share, setting.n_test)
    return corrected_paired_t(differences, _MANY, round(_MANY * setting.test_share), least_variance=least)


def _crossed(one: Entry, other: Entry | None, setting: Setting) -> tuple[float, float, float] | None:
    """Return the mean score or difference, its variance and degrees of freedom, where it is known which rows were right."""
    entries = [one] if other is None else [one, other]
    shared = sorted(set.intersection(*(set(entry.right) for entry in entries)))
    n_draws = len(set.intersection(*(set(entry.scores) for entry in entries)))
    if setting.tested is None or len(shared) < setting.fewest_draws or len(shared) < n_draws:
        return None
    rows = np.concatenate([setting.tested(draw) for draw in shared])
    draws = np.repeat(np.arange(len(shared)), [len(one.right[draw]) for draw in shared])
    values = np.concatenate([one.right[draw].astype(float) for draw in shared])
    if other is not None:
        values -= np.concatenate([other.right[draw].astype(float) for draw in shared])
    return crossed_mean(values, rows, draws, setting.luck_correlation)


def _n_folds(test_share: float) -> int:
    return max(round(1 / test_share) + 1, 1)


def _least_variance(differences: np.ndarray, test_share: float, n_test: int) -> float:
    # Two classifiers whose accuracies differ by d disagree on a share d of the rows at least; if they never did, they
    # may on the next row.
    d = max(abs(float(differences.mean())), 1 / (n_test * _n_folds(test_share) + 2))
    return min(d, 1.0) * max(1 - d, 0.0) / n_test
