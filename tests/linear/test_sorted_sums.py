"""Sums by number of parts that come sorted."""

from __future__ import annotations

import numpy as np
import pytest

from handful.kernels.tally import emptied
from handful.linear.tally import SortedSums


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


def test_what_was_emptied_is_zero():
    rng = np.random.default_rng(0)
    sums = np.where(rng.random(1000) < 0.1, rng.normal(size=1000), 0.0)
    before = sums.copy()
    numbers, found = emptied(sums)
    assert not sums.any()
    assert numbers.tolist() == np.flatnonzero(before).tolist()
    assert found.tolist() == before[numbers].tolist()
