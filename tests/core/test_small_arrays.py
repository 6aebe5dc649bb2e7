"""Rising numbers as bytes, and back; what no rising numbers are written like is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.persistence.arrays import from_rising_bytes, rising_bytes


@given(st.sets(st.integers(0, 2**63 - 1), min_size=512, max_size=600))
def test_numbers_come_back(numbers):
    keys = np.array(sorted(numbers), dtype=np.int64)
    found = from_rising_bytes(rising_bytes(keys))
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, keys)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(511),
        np.arange(600)[::-1],
        np.zeros(600, dtype=np.int64),
        np.arange(-1, 600),
        np.arange(600, dtype=np.int32),
        np.arange(600.0),
        np.arange(1200).reshape(2, 600),
    ],
)
def test_other_arrays_are_left_alone(array):
    assert rising_bytes(array) is None


def test_short_arrays_are_left_alone():
    assert rising_bytes(np.arange(20) * 3) is None
    assert rising_bytes(np.empty(0, dtype=np.int64)) is None


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
