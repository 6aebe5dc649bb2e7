"""Rising numbers in model files before version 0.3; bytes that are none are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.persistence.arrays import from_rising_bytes


@given(st.binary(max_size=40))
def test_any_bytes_are_rising_numbers_or_refused(data):
    raw = np.frombuffer(data, dtype=np.uint8)
    try:
        numbers = from_rising_bytes(raw)
    except ValueError:
        return
    assert (numbers >= 0).all()
    assert (np.diff(numbers) > 0).all()


def test_sums_that_run_over_are_refused():
    step = [255] * 8 + [127]  # 2 ** 63 - 1
    with pytest.raises(ValueError, match="not rising"):
        from_rising_bytes(np.array(step * 3, dtype=np.uint8))
