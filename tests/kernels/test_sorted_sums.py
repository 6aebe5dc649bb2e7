"""Sums by number of parts that come sorted."""

from __future__ import annotations

import numpy as np
import pytest

from handful.kernels.hashing import SortedSums


@pytest.mark.parametrize("sizes", [(), (0,), (5, 0, 5), (300, 3, 7, 1, 280, 40), (1,) * 20])
def test_sums_are_those_of_an_array(sizes):
    rng = np.random.default_rng(len(sizes))
    array, sums = np.zeros(400), SortedSums()
    for size in sizes:
        numbers = np.sort(rng.choice(400, size, replace=False))
        amounts = rng.integers(1, 9, size).astype(float)
        array[numbers] += amounts
        sums.add(numbers, amounts)
    numbers, found = sums.total()
    assert numbers.tolist() == np.flatnonzero(array).tolist()
    assert found.tolist() == array[numbers].tolist()
