"""Is one method better than another, or was it luck: paired tests and intervals."""

from __future__ import annotations

import math

import numpy as np

from handful.core.errors import DataError, ParameterError

_USUAL_LUCK = 0.04  # standard deviation of a draw's mean that is owed to its labels, before any is seen
_WEIGHT_OF_USUAL = 3  # draws that this guess counts as


def mcnemar(correct_a: np.ndarray, correct_b: np.ndarray) -> float:
    """Return the two-sided exact p-value of McNemar's test.

    Parameters
    ----------
    correct_a, correct_b : array-like of bool
        Whether each method got each item right.

    Returns
    -------
    float
        Probability of a split at least this uneven among the items on which they differ, if both were equally good.

    Examples
    --------
    >>> round(mcnemar([True] * 8 + [False], [False] * 8 + [True]), 4)
    0.0391
    """
    from scipy.stats import binomtest

    a, b = _as_verdicts(correct_a), _as_verdicts(correct_b)
    if a.shape != b.shape:
        raise DataError(f"mcnemar: both methods must be judged on the same items, got {a.size} and {b.size}.")
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    if only_a + only_b == 0:
        return 1.0
    return float(binomtest(only_a, only_a + only_b).pvalue)


def _as_verdicts(correct: np.ndarray) -> np.ndarray:
    verdicts = np.asarray(correct)
    if verdicts.ndim != 1 or verdicts.dtype.kind not in "bi" or not np.isin(verdicts, (0, 1)).all():
        raise DataError("mcnemar: both arguments must tell right from wrong for each item, as True and False.")
    return verdicts.astype(bool)


def corrected_paired_t(differences: np.ndarray, n_train: int, n_test: int, *, least_variance: float = 0.0) -> float:
    """Return the two-sided p-value of the corrected resampled t-test (Nadeau and Bengio 2003).

    Scores over repeated draws from the same rows are not independent; the plain t-test would find differences
    everywhere. The correction widens the variance by the ratio of test to training rows.

    Parameters
    ----------
    differences : array-like of float
        Score of one method minus score of the other, one number per draw.
    n_train, n_test : int
        Rows used for training and for testing in each draw.
    least_variance : float
        Variance of one difference that is certain beforehand; few draws may happen to agree more than they can.

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
        raise DataError(f"corrected_paired_t: at least two draws are needed, got {len(values)}.")
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
    """Return a confidence interval of the mean over draws, with the correction of `corrected_paired_t`.

    Parameters
    ----------
    values : array-like of float
        One number per draw.
    n_train, n_test : int
        Rows used for training and for testing in each draw.
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


def crossed_mean(
    values: np.ndarray, rows: np.ndarray, draws: np.ndarray, luck_correlation: float = 0.0
) -> tuple[float, float, float]:
    """Return the mean of values that belong to rows and to draws, its variance and its degrees of freedom.

    A row may be tested in several draws, and a draw tests many rows: the values are not independent in either way. The
    variance of their mean has two parts. That of the rows is estimated with rows as clusters. That of the draws is their luck
    with the labels they learn from: the variance of the means of draws beyond what the rows in them account for. Few draws
    tell little of it, so that it starts from a guess: a standard deviation of four points counts as three draws.

    Parameters
    ----------
    values : ndarray of float
        For instance, 1 where only one method is right, -1 where only the other is, and 0.
    rows, draws : ndarray of int
        Where each value comes from.
    luck_correlation : float
        Correlation of the luck of two draws that is owed to labels they learn from in common.

    Returns
    -------
    mean, variance : float
        Estimates.
    freedom : float
        Degrees of freedom of the variance (Satterthwaite 1946).

    Examples
    --------
    >>> values = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    >>> mean, variance, freedom = crossed_mean(values, np.array([0, 1, 2, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 1]))
    >>> round(mean, 3), variance > 0, freedom > 1
    (0.333, True, True)
    """
    n = len(values)
    mean = float(values.mean())
    by_row = np.bincount(np.unique(rows, return_inverse=True)[1], values - mean)
    places = np.unique(draws, return_inverse=True)[1]
    sizes = np.bincount(places)
    of_draw = np.bincount(places, values) / sizes
    n_rows, n_draws = len(by_row), len(sizes)
    of_rows = float((by_row**2).sum()) / n**2 * n_rows / max(n_rows - 1, 1)
    # A single row that may yet come out otherwise: where all agree, the variance is not nothing.
    of_rows = max(of_rows, 1 / (n + 2) / n_rows)
    inside = float(((values - of_draw[places]) ** 2).sum()) / max(n - n_draws, 1) * float((1 / sizes).mean())
    told = n_draws - 1 + _WEIGHT_OF_USUAL
    between = (float(((of_draw - of_draw.mean()) ** 2).sum()) + _WEIGHT_OF_USUAL * (inside + _USUAL_LUCK**2)) / told
    each = (1 + (n_draws - 1) * luck_correlation) / n_draws
    luck = max(between - inside, 0.0)
    variance = of_rows + each * luck
    doubt = luck if n_draws == 1 else between  # one draw measures no luck, the guess stands as it is
    freedom = variance**2 / (of_rows**2 / max(n_rows - 1, 1) + (each * doubt) ** 2 / told)
    return mean, variance, max(freedom, 1.0)


def mean_test(mean: float, variance: float, freedom: float) -> float:
    """Return the two-sided p-value of Student's test that a mean is zero.

    Examples
    --------
    >>> round(mean_test(0.05, 0.0004, 19), 3)
    0.022
    """
    from scipy.stats import t

    return float(2 * t.sf(abs(mean) / math.sqrt(variance), freedom)) if mean else 1.0


def mean_interval(mean: float, variance: float, freedom: float, level: float = 0.95) -> tuple[float, float]:
    """Return a confidence interval of a mean.

    Examples
    --------
    >>> low, high = mean_interval(0.05, 0.0004, 19)
    >>> round(low, 3), round(high, 3)
    (0.008, 0.092)
    """
    from scipy.stats import t

    width = math.sqrt(variance) * float(t.ppf(0.5 + level / 2, freedom))
    return mean - width, mean + width


def share_interval(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return the exact confidence interval of a share of independent answers (Clopper and Pearson 1934).

    Parameters
    ----------
    share : float
        Share of the answers that are right.
    n : float
        How many answers; not a whole number where some count less than one.
    level : float
        Confidence level.

    Returns
    -------
    low, high : float
        Bounds.

    Examples
    --------
    >>> low, high = share_interval(1.0, 8)
    >>> round(low, 3), high
    (0.631, 1.0)
    """
    from scipy.special import betaincinv

    right, wrong, tail = share * n, (1 - share) * n, (1 - level) / 2
    low = float(betaincinv(right, wrong + 1, tail)) if right > 0 else 0.0
    high = float(betaincinv(right + 1, wrong, 1 - tail)) if wrong > 0 else 1.0
    return low, high


def _check_sizes(who: str, n_train: int, n_test: int) -> None:
    if n_train < 1 or n_test < 0:
        raise ParameterError(f"{who}: n_train must be at least 1 and n_test at least 0, got {n_train} and {n_test}.")


def holm(p_values: np.ndarray) -> np.ndarray:
    """Correct p-values for having asked several questions (Holm 1979).

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
    given = np.asarray(p_values, dtype=float)
    if not ((given >= 0) & (given <= 1)).all():
        raise DataError("holm: p-values must lie between 0 and 1.")
    order = np.argsort(given, kind="stable")
    scaled = given[order] * np.arange(len(given), 0, -1)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def error_reduction(accuracy: float, baseline: float) -> float:
    """Return the share of the baseline's errors that are gone; accuracies between 0 and 1.

    Examples
    --------
    >>> round(error_reduction(0.975, 0.9579), 3)
    0.406
    """
    if not (0 <= accuracy <= 1 and 0 <= baseline <= 1):
        raise ParameterError(f"error_reduction: accuracies must lie between 0 and 1, got {accuracy} and {baseline}.")
    return (accuracy - baseline) / (1 - baseline) if baseline < 1 else 0.0
