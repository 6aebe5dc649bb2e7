from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from handful.comparison.statistics import (
    corrected_interval,
    corrected_paired_t,
    holm,
)
from handful.errors import DataError, ParameterError


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


def test_holm_is_monotone_and_never_smaller():
    p = np.array([0.04, 0.001, 0.5, 0.02])
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert adjusted.tolist() == pytest.approx([0.08, 0.004, 0.5, 0.06])
    assert holm([]).tolist() == []
