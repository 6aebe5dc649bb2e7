"""From scores over draws to a ranking with honest gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from handful.evaluation.best_bet import Bet, place_bets
from handful.evaluation.significance import corrected_interval, corrected_paired_t, holm

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
    """

    name: str
    scores: Mapping[int, float]
    uses_unlabeled: bool = False
    plain: bool = False
    twin: str | None = None
    ranked: bool = True
    favorite: bool = False


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
    """

    test_share: float
    n_test: int
    n_labels: int
    unlabeled: str = "unlabeled rows"
    labels: str = "labels"


@dataclass(frozen=True)
class Gain:
    """A difference of scores over the draws that two methods share.

    Parameters
    ----------
    twin : str
        The other method.
    mean, low, high : float
        Difference of the scores, with its interval.
    """

    twin: str
    mean: float
    low: float
    high: float

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
        Measured mean, with its interval.
    expected : float
        The measured mean, shrunk toward what was expected beforehand; the ranking is by it.
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
    """

    name: str
    score: float
    low: float
    high: float
    expected: float
    p_best: float
    n_draws: int
    against: Gain | None = None
    p: float | None = None
    gain: Gain | None = None
    uses_unlabeled: bool = False

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
    P-values are those of the corrected resampled t-test over the draws that both finished, adjusted by Holm's rule.

    Examples
    --------
    >>> plain = Entry("k-nn", {0: 0.70, 1: 0.72, 2: 0.71}, plain=True)
    >>> more = Entry("ordinal-knn", {0: 0.80, 1: 0.82, 2: 0.80}, uses_unlabeled=True, twin="k-nn")
    >>> found = rank([plain, more], Setting(test_share=0.25, n_test=500, n_labels=20))
    >>> found.baseline, found.ranks[0].name, found.ranks[0].helped
    ('k-nn', 'ordinal-knn', True)
    """
    ranked = [entry for entry in entries if entry.ranked and entry.scores]
    favorite = next((entry.name for entry in ranked if entry.favorite), None)
    bets = place_bets(
        {entry.name: entry.scores for entry in ranked},
        test_share=setting.test_share,
        n_test=setting.n_test,
        favorite=favorite,
    )
    by_name = {entry.name: entry for entry in entries}
    # One lucky draw makes no baseline, if others have been measured more often.
    plain = [bet for bet in bets if by_name[bet.name].plain]
    baseline = max(plain, key=lambda bet: (min(bet.n_draws, LEAST_DRAWS), bet.measured), default=None)
    p_values = _p_values(ranked, None if baseline is None else by_name[baseline.name], setting)
    ranks = tuple(
        _rank(bet, by_name, None if baseline is None else baseline.name, p_values.get(bet.name), setting)
        for bet in bets
    )
    n_draws = max((bet.n_draws for bet in bets), default=0)
    return Ranking(ranks, None if baseline is None else baseline.name, n_draws)


def _rank(bet: Bet, by_name: Mapping[str, Entry], baseline: str | None, p: float | None, setting: Setting) -> Rank:
    entry = by_name[bet.name]
    own = np.array(list(entry.scores.values()))
    low, high = score_interval(own, setting.test_share, setting.n_test)
    shift = bet.measured - float(own.mean())
    against = difference(entry, by_name[baseline], setting) if baseline not in (None, bet.name) else None
    gain = None
    if entry.uses_unlabeled and entry.twin is not None and entry.twin in by_name:
        gain = difference(entry, by_name[entry.twin], setting)
    return Rank(
        bet.name,
        min(max(bet.measured, 0.0), 1.0),
        max(low + shift, 0.0),
        min(high + shift, 1.0),
        bet.score,
        bet.p_best,
        bet.n_draws,
        against,
        p,
        gain,
        entry.uses_unlabeled,
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
    least = _least_variance(differences, setting.test_share, setting.n_test)
    low, high = corrected_interval(differences, _MANY, round(_MANY * setting.test_share), least_variance=least)
    return Gain(other.name, float(differences.mean()), low, high)


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
    n_tested = _n_tested(test_share, n_test)
    # Two more rows of each kind (Agresti and Coull 1998): a score of 1 does not mean that errors are impossible.
    share = (float(np.mean(scores)) * n_tested + 2) / (n_tested + 4)
    least = share * (1 - share) / n_test
    if len(scores) < 2:
        width = 1.96 * float(np.sqrt(least * (1 + test_share)))
        low, high = float(np.mean(scores)) - width, float(np.mean(scores)) + width
    else:
        low, high = corrected_interval(scores, _MANY, round(_MANY * test_share), least_variance=least)
    return max(low, 0.0), min(high, 1.0)


def _differences(one: Entry, other: Entry) -> np.ndarray:
    shared = sorted(set(one.scores) & set(other.scores))
    return np.array([one.scores[draw] - other.scores[draw] for draw in shared])


def _p_values(ranked: Sequence[Entry], baseline: Entry | None, setting: Setting) -> dict[str, float]:
    if baseline is None:
        return {}
    raw = {}
    for entry in ranked:
        differences = _differences(entry, baseline)
        if entry.name != baseline.name and len(differences) >= LEAST_DRAWS:
            least = _least_variance(differences, setting.test_share, setting.n_test)
            share = round(_MANY * setting.test_share)
            raw[entry.name] = corrected_paired_t(differences, _MANY, share, least_variance=least)
    return dict(zip(raw, holm(np.array(list(raw.values()))).tolist(), strict=True)) if raw else {}


def _n_tested(test_share: float, n_test: int) -> int:
    return n_test * max(round(1 / test_share) + 1, 1)


def _least_variance(differences: np.ndarray, test_share: float, n_test: int) -> float:
    # Two classifiers whose accuracies differ by d disagree on a share d of the rows at least; if they never did, they
    # may on the next row.
    d = max(abs(float(differences.mean())), 1 / (_n_tested(test_share, n_test) + 2))
    return min(d, 1.0) * max(1 - d, 0.0) / n_test
