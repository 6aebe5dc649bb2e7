from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel

from handful.core.errors import DataError, ParameterError
from handful.evaluation.significance import (
    corrected_interval,
    corrected_paired_t,
    crossed_mean,
    error_reduction,
    holm,
    mcnemar,
    mean_interval,
    share_interval,
)


def test_mcnemar_is_the_sign_test_on_the_differing_items():
    a = np.array([1, 1, 1, 1, 1, 0, 1, 0, 1], dtype=bool)
    b = np.array([0, 0, 0, 0, 0, 1, 1, 0, 1], dtype=bool)
    # 5 against 1 of 6: 2 * (C(6,0) + C(6,1)) / 2^6
    assert mcnemar(a, b) == pytest.approx(2 * 7 / 64)
    assert mcnemar(a, b) == mcnemar(b, a)
    assert mcnemar(a, a) == 1.0
    for odd in (["a", "b"], [2, 1], [[True]], [0.5]):
        with pytest.raises(DataError, match="tell right from wrong"):
            mcnemar(odd, odd)
    with pytest.raises(DataError, match="same items, got 9 and 8"):
        mcnemar(a, b[:8])


def test_without_test_rows_the_corrected_test_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 12))
    assert corrected_paired_t(a - b, n_train=100, n_test=0) == pytest.approx(ttest_rel(a, b).pvalue)
    assert corrected_paired_t(a - b, 100, 50) > corrected_paired_t(a - b, 100, 10)
    assert corrected_paired_t([0.0, 0.0, 0.0], 10, 10) == 1.0
    assert corrected_paired_t([0.1, 0.1, 0.1], 10, 10) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(DataError, match="two draws"):
        corrected_paired_t([0.1], 10, 10)


def test_the_interval_excludes_zero_exactly_when_the_test_rejects():
    rng = np.random.default_rng(1)
    verdicts = set()
    for _ in range(50):
        values = rng.normal(0.5, 1.0, size=10)
        low, high = corrected_interval(values, 90, 10)
        rejects = corrected_paired_t(values, 90, 10) < 0.05
        assert (low > 0 or high < 0) == rejects
        verdicts.add(rejects)
    assert verdicts == {True, False}


def test_impossible_numbers_are_refused():
    with pytest.raises(ParameterError, match="level must be between 0 and 1, got 95"):
        corrected_interval([0.1, 0.2], 10, 10, level=95)
    with pytest.raises(ParameterError, match="n_train must be at least 1"):
        corrected_paired_t([0.1, 0.2], 0, 10)
    with pytest.raises(DataError, match="p-values must lie between 0 and 1"):
        holm([-0.1, 0.5])
    with pytest.raises(ParameterError, match=r"between 0 and 1, got 97\.5"):
        error_reduction(97.5, 95.79)


def test_holm_is_monotone_and_never_smaller():
    p = np.array([0.04, 0.001, 0.5, 0.02])
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert adjusted.tolist() == pytest.approx([0.08, 0.004, 0.5, 0.06])
    assert holm([]).tolist() == []


def test_error_reduction_of_a_perfect_baseline_is_zero():
    assert error_reduction(1.0, 1.0) == 0.0
    assert error_reduction(0.9, 0.8) == pytest.approx(0.5)


@pytest.mark.parametrize(("n_rows", "n_draws", "luck"), [(60, 5, 0.0), (60, 20, 0.03), (500, 5, 0.03), (500, 10, 0.06)])
def test_an_interval_of_crossed_values_holds_the_truth_as_often_as_it_says(n_rows: int, n_draws: int, luck: float):
    """Five folds dealt anew each round; a value has a part of its row, of its draw and of chance."""
    rng = np.random.default_rng(0)
    held, widths = [], []
    for _ in range(300):
        of_row = 0.3 * rng.standard_normal(n_rows)
        folds = np.concatenate([rng.permutation(n_rows).reshape(5, -1) for _ in range(-(-n_draws // 5))])[:n_draws]
        values = of_row[folds] + luck * rng.standard_normal((n_draws, 1)) + 0.3 * rng.standard_normal(folds.shape)
        draws = np.repeat(np.arange(n_draws), folds.shape[1])
        low, high = mean_interval(*crossed_mean(values.ravel(), folds.ravel(), draws))
        held.append(low <= 0 <= high)
        widths.append(high - low)
    exact = 2 * 1.96 * np.sqrt(0.09 / n_rows + 0.09 / folds.size + luck**2 / n_draws)
    assert 0.91 <= np.mean(held) <= 0.995
    assert exact * 0.9 < np.mean(widths) < exact * 1.6


def test_labels_in_common_widen_an_interval():
    rng = np.random.default_rng(0)
    draws = np.repeat(np.arange(6), 20)
    values, rows = 0.1 * draws + rng.standard_normal(120), np.tile(np.arange(20), 6)
    mean, apart, freedom = crossed_mean(values, rows, draws)
    same, alike, _ = crossed_mean(values, rows, draws, 0.2)
    assert mean == same
    assert alike > apart
    assert freedom > 1


@pytest.mark.parametrize(("right", "n"), [(0, 5), (3, 5), (8, 8), (55, 58)])
def test_the_interval_of_a_share_is_the_exact_one(right: int, n: int):
    exact = binomtest(right, n).proportion_ci(method="exact")
    assert share_interval(right / n, n) == pytest.approx((exact.low, exact.high))
