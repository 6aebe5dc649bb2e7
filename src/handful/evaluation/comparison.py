"""From scores over draws to a ranking, honest gains and a verdict in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from handful.evaluation.significance import corrected_interval, corrected_paired_t, holm

LEVEL = 0.05


@dataclass(frozen=True)
class Entry:
    """One method in a comparison, with its score on every draw.

    Parameters
    ----------
    name : str
        Name of the method.
    scores : mapping of int to float
        Draw to score.
    uses_unlabeled : bool
        Whether it learned from unlabeled rows.
    plain : bool
        Whether it is a supervised baseline.
    twin : str or None
        Name of the entry that does the same from labels alone.
    ranked : bool
        False for an entry that is there only as another's twin.
    """

    name: str
    scores: Mapping[int, float]
    uses_unlabeled: bool = False
    plain: bool = False
    twin: str | None = None
    ranked: bool = True


@dataclass(frozen=True)
class Gain:
    """What unlabeled rows brought a method, against its twin that saw labels alone.

    Parameters
    ----------
    twin : str
        The twin.
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
        Mean over the draws, with its interval.
    difference : float
        Against the supervised baseline.
    p : float or None
        Of the corrected paired test against the baseline, adjusted for the number of methods; None for the baseline.
    gain : Gain or None
        Against its own twin; None for a method that learns from labels alone.
    """

    name: str
    score: float
    low: float
    high: float
    difference: float
    p: float | None
    gain: Gain | None = None

    @property
    def better(self) -> bool:
        """Whether it beats the baseline beyond chance."""
        return self.p is not None and self.p < LEVEL and self.difference > 0


@dataclass(frozen=True)
class Verdict:
    """What to do, in plain words.

    Parameters
    ----------
    use : str
        The method to use.
    text : str
        One or two sentences.
    unlabeled_help : bool
        Whether unlabeled rows help here.
    warnings : tuple of str
        One sentence for each method that unlabeled rows harm.
    """

    use: str
    text: str
    unlabeled_help: bool
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """All methods, the best first.

    Parameters
    ----------
    ranks : tuple of Rank
        Sorted by score; of equal scores the one listed first.
    baseline : str
        The supervised baseline: the better of the plain ones.
    draws : tuple of int
        The draws that every method finished.
    verdict : Verdict
        What to do.
    """

    ranks: tuple[Rank, ...]
    baseline: str
    draws: tuple[int, ...]
    verdict: Verdict


def rank(
    entries: Sequence[Entry],
    *,
    test_share: float,
    n_test: int,
    n_labels: int,
    unlabeled: str = "unlabeled rows",
    labels: str = "labels",
) -> Ranking:
    """Rank methods by their mean score over the draws that all of them finished.

    Parameters
    ----------
    entries : sequence of Entry
        The methods; at least one of them plain.
    test_share : float
        Rows tested for each row that labels could be drawn from: the correction for draws that overlap.
    n_test : int
        Rows tested in a draw, from which follows how much scores differ by chance at the very least.
    n_labels : int
        Number of labels, for the words of the verdict.
    unlabeled, labels : str
        What they are called.

    Returns
    -------
    Ranking
        Ranks, baseline and verdict.

    Notes
    -----
    The baseline is the plain method with the best mean, which makes it harder to beat than one chosen beforehand.
    P-values are those of the corrected resampled t-test, adjusted by Holm's rule. A method is *better* below 0.05.
    Unlabeled rows *help* if a method that uses them is better than the baseline, its gain over its own twin has an
    interval above zero, and no method that sees labels alone scores higher.

    Examples
    --------
    >>> plain = Entry("k-nn", {0: 0.70, 1: 0.72, 2: 0.71}, plain=True)
    >>> more = Entry("ordinal-knn", {0: 0.80, 1: 0.82, 2: 0.80}, uses_unlabeled=True, twin="k-nn")
    >>> found = rank([plain, more], test_share=0.25, n_test=500, n_labels=20)
    >>> found.verdict.text
    'Unlabeled rows help here: +9.7 points with 20 labels (ordinal-knn 80.7, k-nn 71.0). Use ordinal-knn.'
    """
    draws = tuple(sorted(set.intersection(*(set(entry.scores) for entry in entries))))
    scores = {entry.name: np.array([entry.scores[draw] for draw in draws]) for entry in entries}
    plain = [entry.name for entry in entries if entry.plain]
    baseline = max(plain, key=lambda name: float(scores[name].mean()) if draws else 0.0)
    rivals = [entry for entry in entries if entry.ranked and entry.name != baseline]
    p_values: dict[str, float] = {}
    if len(draws) > 1:
        raw = [_p_value(scores[e.name] - scores[baseline], test_share, n_test) for e in rivals]
        p_values = dict(zip((e.name for e in rivals), holm(np.array(raw)).tolist(), strict=True)) if rivals else {}
    ranks = []
    for entry in entries if draws else ():
        if not entry.ranked:
            continue
        low, high = score_interval(scores[entry.name], test_share, n_test)
        gain = _gain(entry, scores, test_share, n_test) if entry.uses_unlabeled else None
        mean = float(scores[entry.name].mean())
        difference = mean - float(scores[baseline].mean())
        ranks.append(Rank(entry.name, mean, low, high, difference, p_values.get(entry.name), gain))
    ranks.sort(key=lambda rank: -rank.score)
    alone = {entry.name for entry in entries if not entry.uses_unlabeled}
    verdict = _verdict(ranks, baseline, len(draws), alone, f"{n_labels} {labels}", unlabeled)
    return Ranking(tuple(ranks), baseline, draws, verdict)


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
    low, high = corrected_interval(
        scores, _MANY, round(_MANY * test_share), least_variance=share * (1 - share) / n_test
    )
    return max(low, 0.0), min(high, 1.0)


_MANY = 1_000_000


def _n_tested(test_share: float, n_test: int) -> int:
    return n_test * max(round(1 / test_share) + 1, 1)


def _least_variance(differences: np.ndarray, test_share: float, n_test: int) -> float:
    # Two classifiers whose accuracies differ by d disagree on a share d of the rows at least; if they never did, they
    # may on the next row.
    d = max(abs(float(differences.mean())), 1 / (_n_tested(test_share, n_test) + 2))
    return d * (1 - d) / n_test


def _p_value(differences: np.ndarray, test_share: float, n_test: int) -> float:
    least = _least_variance(differences, test_share, n_test)
    return corrected_paired_t(differences, _MANY, round(_MANY * test_share), least_variance=least)


def _gain(entry: Entry, scores: Mapping[str, np.ndarray], test_share: float, n_test: int) -> Gain | None:
    if entry.twin is None or entry.twin not in scores:
        return None
    differences = scores[entry.name] - scores[entry.twin]
    least = _least_variance(differences, test_share, n_test)
    low, high = corrected_interval(differences, _MANY, round(_MANY * test_share), least_variance=least)
    return Gain(entry.twin, float(differences.mean()), low, high)


def _verdict(
    ranks: Sequence[Rank], baseline: str, n_draws: int, alone: set[str], labels: str, unlabeled: str
) -> Verdict:
    some = unlabeled.capitalize()
    warnings = tuple(
        f"{some} do harm to {r.name}: {_signed(r.gain.mean)} points "
        f"({_signed(r.gain.low)} to {_signed(r.gain.high)}) against {r.gain.twin}."
        for r in ranks
        if r.gain is not None and n_draws > 1 and r.gain.harms
    )
    if n_draws < 2:
        text = f"Too few draws were finished to tell methods apart ({n_draws}). Give it more time, or use {baseline}."
        return Verdict(baseline, text, False)
    by_name = {r.name: r for r in ranks}
    base = by_name[baseline]
    better = [r for r in ranks if r.better]
    best_alone = max((r.score for r in ranks if r.name in alone), default=0.0)
    helped = [r for r in better if r.gain is not None and r.gain.helps and r.score >= best_alone]
    if helped:
        r = helped[0]
        text = (
            f"{some} help here: {_signed(r.difference)} points with {labels} "
            f"({r.name} {_percent(r.score)}, {baseline} {_percent(base.score)}). Use {r.name}."
        )
        return Verdict(r.name, text, True, warnings)
    if better:
        r = better[0]
        lead = f"{r.name} is better than {baseline}: {_signed(r.difference)} points with {labels}"
        if r.gain is None:
            text = f"{some} do not help here. {lead}, from the labels alone. Use {r.name}."
        else:
            text = (
                f"{lead}; whether that is owed to {unlabeled} is not certain ({_signed(r.gain.mean)} points, "
                f"{_signed(r.gain.low)} to {_signed(r.gain.high)}, against {r.gain.twin}). Use {r.name}."
            )
        return Verdict(r.name, text, False, warnings)
    rivals = [r for r in ranks if r.name != baseline]
    tried = ""
    if rivals:
        top = rivals[0]
        tried = f" The best of the others, {top.name}, is at {_signed(top.difference)} points, which may be chance."
    text = f"Nothing helps here: no method beats {baseline} beyond chance with {labels}.{tried} Use {baseline}."
    return Verdict(baseline, text, False, warnings)


def _signed(difference: float) -> str:
    text = f"{100 * difference:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def _percent(score: float) -> str:
    return f"{100 * score:.1f}"
