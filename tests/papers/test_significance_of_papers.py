from __future__ import annotations

import numpy as np
import pytest

from papers.significance import error_reduction, mcnemar


def test_mcnemar_is_the_sign_test_on_the_differing_items():
    a = np.array([1, 1, 1, 1, 1, 0, 1, 0, 1], dtype=bool)
    b = np.array([0, 0, 0, 0, 0, 1, 1, 0, 1], dtype=bool)
    # 5 against 1 of 6: 2 * (C(6,0) + C(6,1)) / 2^6
    assert mcnemar(a, b) == pytest.approx(2 * 7 / 64)
    assert mcnemar(a, b) == mcnemar(b, a)
    assert mcnemar(a, a) == 1.0


def test_error_reduction_of_a_perfect_baseline_is_zero():
    assert error_reduction(1.0, 1.0) == 0.0
    assert error_reduction(0.9, 0.8) == pytest.approx(0.5)
