from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from handful.comparison.statistics import (
    corrected_interval,
    corrected_paired_t,
    error_reduction,
    holm,
    mcnemar,
)
from handful.errors import DataError, ParameterError


def test_mcnemar_is_the_sign_test_on_the_differing_items():
    a = np.array([1, 1, 1, 1, 1, 0, 1, 0, 1], dtype=bool)
    b = np.array([0, 0, 0, 0, 0, 1, 1, 0, 1], dtype=bool)
    # 5 against 1 of 6: 2 * (C(6,0) + C(6,1)) / 2^6
    assert mcnemar(a, b) == pytest.approx(2 * 7 / 64)
    assert mcnemar(a, b) == mcnemar(b, a)
    assert mcnemar(a, a) == 1.0
    for odd in (["a", "b"], [2, 1], [[True]], [0.5]):
        with pytest.raises(DataError, match="True or False"):
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
    with pytest.raises(DataError, match="two splits"):
        corrected_paired_t([0.1], 10, 10)


def test_the_interval_excludes_zero_exactly_when_the_test_rejects():
    rng = np.random.default_rng(1)
    outcomes = set()
    for _ in range(50):
        values = rng.normal(0.5, 1.0, size=10)
        low, high = corrected_interval(values, 90, 10)
        rejects = corrected_paired_t(values, 90, 10) < 0.05
        assert (low > 0 or high < 0) == rejects
        outcomes.add(rejects)
    assert outcomes == {True, False}


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
