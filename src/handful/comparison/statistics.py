"""Paired tests, intervals, and scores of methods over repeated splits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from handful.errors import DataError, ParameterError
from handful.report.content import Difference, MethodScore

_SCALE = 1_000_000  # rows as which a ratio of test to training rows is passed on
_N_SAMPLES = 4_000  # of the posterior, for the probability to be the best


def corrected_paired_t(differences: np.ndarray, n_train: int, n_test: int, *, least_variance: float = 0.0) -> float:
    """Return the two-sided p-value of the corrected resampled t-test (Nadeau and Bengio 2003).

    Scores over repeated splits of the same rows are not independent; the plain t-test would find differences
    everywhere. The correction widens the variance by the ratio of test to training rows.

    Parameters
    ----------
    differences : array-like of float
        Score of one method minus score of the other, one number per split.
    n_train, n_test : int
        Rows used for training and for testing in each split.
    least_variance : float
        Variance of one difference that is certain beforehand; few splits may happen to agree more than they can.

    Returns
    -------
    float
        The p-value; 1.0 if all differences are zero.

    Examples
    --------
    >>> p = corrected_paired_t([0.02, 0.03, 0.025, 0.02, 0.03], n_train=90, n_test=10)
    >>> p < 0.01
    True
    """
    from scipy.stats import t

    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        raise DataError(f"corrected_paired_t: at least two splits are needed, got {len(values)}.")
    _check_sizes("corrected_paired_t", n_train, n_test)
    if not values.any():
        return 1.0
    variance = max(values.var(ddof=1), least_variance) * (1 / len(values) + n_test / n_train)
    if variance == 0:
        return 0.0
    return float(2 * t.sf(abs(values.mean()) / math.sqrt(variance), len(values) - 1))


def corrected_interval(
    values: np.ndarray, n_train: int, n_test: int, level: float = 0.95, *, least_variance: float = 0.0
) -> tuple[float, float]:
    """Return a confidence interval of the mean over splits, with the correction of `corrected_paired_t`.

    Parameters
    ----------
    values : array-like of float
        One number per split.
    n_train, n_test : int
        Rows used for training and for testing in each split.
    level : float
        Confidence level.
    least_variance : float
        Variance of one value that is certain beforehand.

    Returns
    -------
    low, high : float
        Bounds.

    Examples
    --------
    >>> low, high = corrected_interval([0.8, 0.9], n_train=10, n_test=10)
    >>> low < 0.85 < high
    True
    """
    from scipy.stats import t

    _check_sizes("corrected_interval", n_train, n_test)
    if not 0 < level < 1:
        raise ParameterError(f"corrected_interval: level must be between 0 and 1, got {level}.")
    sample = np.asarray(values, dtype=float)
    mean = float(sample.mean())
    if len(sample) < 2:
        return mean, mean
    width = math.sqrt(max(sample.var(ddof=1), least_variance) * (1 / len(sample) + n_test / n_train)) * float(
        t.ppf(0.5 + level / 2, len(sample) - 1)
    )
    return mean - width, mean + width


def binomial_interval(proportion: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return the exact confidence interval of a binomial proportion (Clopper and Pearson 1934).

    Parameters
    ----------
    proportion : float
        Proportion of successes.
    n : float
        Number of trials; an effective number need not be whole.
    level : float
        Confidence level.

    Returns
    -------
    low, high : float
        Bounds.

    Examples
    --------
    >>> low, high = binomial_interval(1.0, 8)
    >>> round(low, 3), high
    (0.631, 1.0)
    """
    from scipy.special import betaincinv

    successes, failures, tail = proportion * n, (1 - proportion) * n, (1 - level) / 2
    low = float(betaincinv(successes, failures + 1, tail)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures > 0 else 1.0
    return low, high


def _check_sizes(function: str, n_train: int, n_test: int) -> None:
    if n_train < 1 or n_test < 0:
        raise ParameterError(
            f"{function}: n_train must be at least 1 and n_test at least 0, got {n_train} and {n_test}."
        )


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjust p-values for multiple comparisons (Holm 1979).

    Parameters
    ----------
    p_values : array-like of float
        One for each comparison.

    Returns
    -------
    ndarray
        Adjusted p-values, in the order given.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p_values, dtype=float)
    if not ((raw >= 0) & (raw <= 1)).all():
        raise DataError("holm: p-values must lie between 0 and 1.")
    order = np.argsort(raw, kind="stable")
    scaled = raw[order] * np.arange(len(raw), 0, -1)
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


@dataclass(frozen=True)
class Design:
    """How scores of a comparison were measured.

    Parameters
    ----------
    test_ratio : float
        Tested rows per row that labels are drawn from.
    n_test : float
        Tested rows of a split, or what they are worth where classes count alike.
    n_folds : int
        Splits after which every labeled row was tested once.
    n_labels : int
        Labels used for training.
    unit, unlabeled : str
        What is labeled and unlabeled.
    metric : str
        What is scored.
    """

    test_ratio: float
    n_test: float
    n_folds: int
    n_labels: int
    unit: str = "labels"
    unlabeled: str = "unlabeled rows"
    metric: str = "accuracy"

    def least_variance(self, proportion: float, n_splits: int) -> float:
        """Return the binomial variance of a split's score, with two more rows of each kind (Agresti and Coull 1998)."""
        n_tested = self.n_test * min(n_splits, self.n_folds)
        proportion = (proportion * n_tested + 2) / (n_tested + 4)
        return proportion * (1 - proportion) / self.n_test


def score_interval(scores: np.ndarray, design: Design, level: float = 0.95) -> tuple[float, float]:
    """Return a confidence interval of the mean score over repeated random splits.

    Parameters
    ----------
    scores : array-like of float
        Scores between 0 and 1, one for each split.
    design : Design
        How they were measured.
    level : float
        Confidence level.

    Returns
    -------
    low, high : float
        Bounds.

    Notes
    -----
    The variance of a split's score, at least the binomial one, is divided by the number of splits without a row in common and
    multiplied by 1 + n_test / n_train: for five folds this is the correction of Nadeau and Bengio (2003) for many
    repetitions, which share all their rows. It gives an effective number of tested rows, for which the exact binomial
    interval is taken (Korn and Graubard 1998): few rows all correct do not mean that errors are impossible.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52.

    Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data. Survey Methodology 24.

    Examples
    --------
    >>> low, high = score_interval([1.0, 1.0, 1.0], Design(0.25, 10, 5, 40))
    >>> low < 0.95, high
    (True, 1.0)
    """
    values = np.clip(np.asarray(scores, dtype=float), 0.0, 1.0)
    mean, n = float(values.mean()), len(values)
    least = design.least_variance(mean, n)
    spread = max(values.var(ddof=1) if n > 1 else 0.0, least)
    variance = spread * (1 + design.test_ratio) / min(n, design.n_folds)
    smoothed = least * design.n_test  # proportion * (1 - proportion)
    return binomial_interval(mean, smoothed / variance, level)


def paired_difference(one: MethodScore, other: MethodScore, design: Design) -> Difference | None:
    """Return the mean difference of two methods over shared splits; None for less than two."""
    shared = sorted(set(one.scores) & set(other.scores))
    if len(shared) < 2:
        return None
    values = np.array([one.scores[split] - other.scores[split] for split in shared])
    # Methods whose accuracies differ by d disagree on a proportion d of the rows at least.
    disagreement = max(abs(float(values.mean())), 1 / (design.n_test * design.n_folds + 2))
    least = min(disagreement, 1.0) * max(1 - disagreement, 0.0) / design.n_test
    sizes = _SCALE, round(_SCALE * design.test_ratio)
    p_value = corrected_paired_t(values, *sizes, least_variance=least)
    low, high = corrected_interval(values, *sizes, least_variance=least)
    return Difference(other.method, float(values.mean()), max(low, -1.0), min(high, 1.0), p_value, len(shared))


def rank_methods(scores: Sequence[MethodScore], design: Design, preferred: str = "") -> tuple[MethodScore, ...]:
    """Fill in statistics of methods, and sort them by mean score.

    Parameters
    ----------
    scores : sequence of MethodScore
        The methods with their scores by split; those without a score are left out.
    design : Design
        How they were measured.
    preferred : str
        Method that is selected unless another one is better by more than one standard error.

    Returns
    -------
    tuple of MethodScore
        The listed methods, the best first; controls that are not listed take part in gains only.

    Notes
    -----
    The baseline is the supervised baseline with the best mean, so it is harder to beat than one chosen beforehand. P-values
    are those of the corrected resampled t-test, adjusted by Holm's method. The preferred method is selected by the
    one-standard-error rule (Breiman et al. 1984). The probability to be the best is that of correlated Bayesian t-tests
    against the leader (Corani and Benavoli 2015).

    Examples
    --------
    >>> design = Design(0.25, 500, 5, 20)
    >>> one = MethodScore("k-nn", scores={0: 0.70, 1: 0.72, 2: 0.71}, supervised_baseline=True)
    >>> two = MethodScore("ordinal-knn", scores={0: 0.80, 1: 0.82, 2: 0.80}, uses_unlabeled=True, control="k-nn")
    >>> [(score.method, score.is_baseline, score.is_better) for score in rank_methods([one, two], design)]
    [('ordinal-knn', False, True), ('k-nn', True, False)]
    """
    by_name = {score.method: score for score in scores if score.scores}
    listed = [score for score in by_name.values() if score.listed]
    if not listed:
        return ()
    n_splits = max(score.n_splits for score in listed)
    leader = max((score for score in listed if score.n_splits == n_splits), key=_mean)
    listed = [replace(score, mean=_adjusted_mean(score, leader)) for score in listed]
    baselines = [score for score in listed if score.supervised_baseline]
    baseline = max(baselines, key=lambda score: (min(score.n_splits, design.n_folds), score.mean), default=None)
    chosen = select(listed, design, preferred).method
    p_best = dict(zip([score.method for score in listed], _p_best(listed, leader, design), strict=True))
    filled = []
    for score in listed:
        low, high = score_interval(np.array(list(score.scores.values())), design)
        shift = score.mean - _mean(score)
        is_baseline = baseline is not None and score.method == baseline.method
        control = by_name.get(score.control or "")
        filled.append(
            replace(
                score,
                low=max(min(low + shift, score.mean), 0.0),
                high=min(max(high + shift, score.mean), 1.0),
                p_best=p_best[score.method],
                difference=None if baseline is None or is_baseline else paired_difference(score, baseline, design),
                gain=None if control is None or not score.uses_unlabeled else paired_difference(score, control, design),
                is_baseline=is_baseline,
                is_selected=score.method == chosen,
            )
        )
    return tuple(sorted(_adjusted_p(filled), key=lambda score: -score.mean))


def select(scores: Sequence[MethodScore], design: Design, preferred: str = "") -> MethodScore:
    """Return the candidate with the best mean, or the preferred one if it is within one standard error of that."""
    candidates = [score for score in scores if score.candidate] or list(scores)
    best = max(candidates, key=lambda score: score.mean)
    favorite = next((score for score in candidates if score.method == preferred), best)
    behind = paired_difference(best, favorite, design)
    if favorite is best or (behind is not None and behind.mean > _standard_error(behind)):
        return best
    return favorite


def _mean(score: MethodScore) -> float:
    return float(np.mean(list(score.scores.values())))


def _adjusted_mean(score: MethodScore, leader: MethodScore) -> float:
    """Return the mean score, or the leader's plus the difference to it on shared splits where there are fewer splits."""
    shared = [split for split in score.scores if split in leader.scores]
    if score.n_splits == leader.n_splits or not shared:
        return _mean(score)
    behind = float(np.mean([score.scores[split] - leader.scores[split] for split in shared]))
    return min(max(_mean(leader) + behind, 0.0), 1.0)


def _standard_error(difference: Difference) -> float:
    from scipy.stats import t

    width = max(difference.high - difference.mean, difference.mean - difference.low)  # one bound may be cut at 1
    return width / float(t.ppf(0.975, difference.n_splits - 1))


def _p_best(scores: Sequence[MethodScore], leader: MethodScore, design: Design) -> np.ndarray:
    rng = np.random.default_rng(0)
    sampled = np.full((_N_SAMPLES, len(scores)), -np.inf)
    candidates = [score.candidate for score in scores]
    spread = math.sqrt(design.least_variance(_mean(leader), 1) * (1 + design.test_ratio))
    for place, score in enumerate(scores):
        if score.candidate or not any(candidates):
            behind = paired_difference(score, leader, design) if score.method != leader.method else None
            error = _standard_error(behind) if behind is not None else spread if score.n_splits < 2 else 0.0
            freedom = max(score.n_splits - 1, 1)
            sampled[:, place] = score.mean + error * rng.standard_t(freedom, _N_SAMPLES)
    return np.bincount(sampled.argmax(axis=1), minlength=len(scores)) / _N_SAMPLES


def _adjusted_p(scores: Sequence[MethodScore]) -> list[MethodScore]:
    p_values = [score.difference.p_value for score in scores if score.difference is not None]
    adjusted = iter(holm(np.array(p_values)).tolist())
    return [score if score.difference is None else replace(score, p_value=next(adjusted)) for score in scores]
