"""Which method to bet on when scores are few and noisy: a Bayesian two-way model of scores over draws."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

SPREAD = 0.03
"""Standard deviation of the true differences between methods, before any score is seen."""

HANDICAP = 0.04
"""How far a single method is expected behind the favorite, before any score is seen. With five labels per class, scores of the
few rows that can be tested hardly tell one method from another, so that what is known beforehand must count."""

_USUAL_DISAGREEMENT = 0.2  # share of rows on which two methods differ, before any score is seen
_USUAL_LUCK = 0.03  # standard deviation of a score that is owed to the training rows, before any score is seen
_WEIGHT_OF_USUAL = 4.0  # these guesses count as so many residuals
_SAMPLES = 4_000
_WIDTHS = {1: 6.0, 2: 3.0}


@dataclass(frozen=True)
class Bet:
    """What is believed of one method.

    Parameters
    ----------
    name : str
        Name of the method.
    score : float
        Expected score. Of the first that may be recommended it is the mean of all measured ones, weighted by the chance to be
        the best; others are below it (or above) by the difference that is believed.
    measured : float
        Mean score over its own draws.
    leveled : float
        The same as if it had been measured on all draws: raised where its draws were hard for the others, lowered where easy.
    sd : float
        Standard deviation of its difference to the leader; of the leader, to the next best.
    p_best : float
        Probability that it is the best of all that may be recommended.
    hope : float
        Expected gain over the leader from measuring both without end; next to nothing where a method is beaten, or
        where the labels are too few to tell more.
    beaten : bool
        Whether its leveled score is below the leader's by two standard errors or more; by three after two draws and by
        six after one, when the noise is not well known.
    n_draws : int
        Draws it was measured on.
    """

    name: str
    score: float
    measured: float
    leveled: float
    sd: float
    p_best: float
    hope: float
    beaten: bool
    n_draws: int


def place_bets(
    scores: Mapping[str, Mapping[int, float]],
    *,
    test_share: float,
    n_test: int,
    favorite: str | None = None,
    candidates: Collection[str] | None = None,
) -> list[Bet]:
    """Say which method is expected to be the best, from scores on draws that need not be the same for all.

    Parameters
    ----------
    scores : mapping of str to mapping of int to float
        Draw to score, for each method; methods without a score are left out.
    test_share : float
        Rows tested for each row that labels could be drawn from: the correction for draws that overlap.
    n_test : int
        Rows tested in a draw.
    favorite : str, optional
        The method that is the best bet before anything is measured; all others have a handicap of four points.
    candidates : collection of str, optional
        Methods that may be recommended, by default all; the others are held against them, and have no chance to be the best.

    Returns
    -------
    list of Bet
        The best bet first.

    Notes
    -----
    The score of method i on draw d is theta_i + beta_d + noise of variance v: how hard a draw is concerns all methods
    alike. Draws share their rows, so that theta_i itself misses the true mean mu_i by an error of variance v times
    `test_share`, which no number of draws removes (the correction of Nadeau and Bengio 2003). The true means are
    expected around the prior ones with a standard deviation of three points. All is normal, so that the posterior is
    had in closed form: with kappa^2 = tau^2 + v * share, the precision of theta is Lambda + I / kappa^2, where Lambda
    adds up the centering matrices of the draws over v; mu follows by shrinking with tau^2 / kappa^2.

    Examples
    --------
    >>> scores = {"team": {0: 0.80, 1: 0.82}, "tree": {0: 0.81, 1: 0.83}, "stump": {0: 0.3, 1: 0.2}}
    >>> [bet.name for bet in place_bets(scores, test_share=0.25, n_test=30, favorite="team")]
    ['team', 'tree', 'stump']
    """
    scores = {name: by_draw for name, by_draw in scores.items() if by_draw}
    if not scores:
        return []
    names = list(scores)
    table = _table(scores)
    share = max(test_share, 1e-9)
    prior = _prior(names, favorite)
    by_method, by_draw, variance = _two_way(table, n_test)
    tau2 = SPREAD**2
    kappa2 = tau2 + variance * share
    theta, covariance = _posterior(table, prior, variance, kappa2)
    shrink = tau2 / kappa2
    means = prior + shrink * (theta - prior)
    # What further draws can teach is theta; the rest of the doubt about mu stays.
    learnable = shrink**2 * covariance
    total = learnable + tau2 * (1 - shrink) * np.eye(len(names))
    leader = int(np.argmax(means))
    measured, leveled = np.nanmean(table, axis=1), by_method + by_draw.mean()
    eligible = np.array([candidates is None or name in candidates for name in names])
    best = _chances(means, total, eligible)
    # The first is expected at what those score that may be the best, each by its chance: its own score alone would flatter the
    # luckiest, and a mean over all methods would count those that are not in question.
    first = int(np.argmax(np.where(eligible | ~eligible.any(), means, -np.inf)))
    level = float(best @ leveled - means[first])
    order = np.argsort(-means, kind="stable")
    second = int(order[1]) if len(order) > 1 else leader
    bets = []
    for i in order:
        other = second if i == leader else leader
        sd = math.sqrt(max(_of_difference(total, i, other), 0.0))
        hope = 0.0 if i == leader else _expected_excess(means[i] - means[leader], _of_difference(learnable, i, leader))
        n_draws = int((~np.isnan(table[i])).sum())
        error = math.sqrt(2 * variance * (1 / n_draws + share))
        beaten = bool(leveled[i] - leveled[leader] < -_WIDTHS.get(n_draws, 2.0) * error)
        expected, own, level_own = (float(score) for score in (means[i] + level, measured[i], leveled[i]))
        bets.append(Bet(names[i], expected, own, level_own, sd, float(best[i]), hope, beaten, n_draws))
    return bets


def _table(scores: Mapping[str, Mapping[int, float]]) -> np.ndarray:
    """Return the scores by method and draw, NaN where there is none."""
    draws = sorted({draw for by_draw in scores.values() for draw in by_draw})
    return np.array([[by_draw.get(draw, np.nan) for draw in draws] for by_draw in scores.values()])


def _prior(names: Sequence[str], favorite: str | None) -> np.ndarray:
    return np.array([0.0 if name == favorite or favorite not in names else -HANDICAP for name in names])


def _two_way(table: np.ndarray, n_test: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the effects of methods and draws, and the variance that is left, which starts from a guess."""
    known = ~np.isnan(table)
    filled = np.where(known, table, 0.0)
    rows, columns = known.sum(axis=1), known.sum(axis=0)
    by_method, by_draw = np.zeros(len(table)), np.zeros(table.shape[1])
    for _ in range(30):  # least squares of an incomplete table, by turns
        by_draw = ((filled - by_method[:, None]) * known).sum(axis=0) / columns
        by_method = ((filled - by_draw) * known).sum(axis=1) / rows
    squares = float((((filled - by_draw - by_method[:, None]) * known) ** 2).sum())
    freedom = max(int(known.sum()) - len(rows) - len(columns) + 1, 0)
    usual = _USUAL_DISAGREEMENT / 2 / max(n_test, 1) + _USUAL_LUCK**2
    return by_method, by_draw, (squares + _WEIGHT_OF_USUAL * usual) / (freedom + _WEIGHT_OF_USUAL)


def _posterior(table: np.ndarray, prior: np.ndarray, variance: float, kappa2: float) -> tuple[np.ndarray, np.ndarray]:
    precision = np.eye(len(prior)) / kappa2
    weighted = prior / kappa2
    for column in table.T:
        known = np.flatnonzero(~np.isnan(column))
        centering = np.eye(len(known)) - 1 / len(known)
        precision[np.ix_(known, known)] += centering / variance
        weighted[known] += centering @ column[known] / variance
    covariance = np.linalg.inv(precision)
    return covariance @ weighted, covariance


def _of_difference(covariance: np.ndarray, i: int, j: int) -> float:
    return float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])


def _expected_excess(gap: float, variance: float) -> float:
    """Return E[max(0, x)] of a normal x."""
    sd = math.sqrt(max(variance, 0.0))
    if sd == 0:
        return max(gap, 0.0)
    z = gap / sd
    density = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    return sd * density + gap * 0.5 * math.erfc(-z / math.sqrt(2))


def _chances(means: np.ndarray, covariance: np.ndarray, eligible: np.ndarray) -> np.ndarray:
    sampled = np.random.default_rng(0).multivariate_normal(means, covariance, size=_SAMPLES, method="cholesky")
    if eligible.any():
        sampled[:, ~eligible] = -np.inf
    return np.bincount(sampled.argmax(axis=1), minlength=len(means)) / _SAMPLES
