from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful.comparison.splits import LabelCount, Splits
from handful.errors import DataError, ParameterError


@pytest.mark.parametrize("text", ["", "0", "-3", "100%", "0%", "5 per", "1.5", "five", "10%%", "0-per-class"])
def test_a_wrong_number_of_labels_is_refused(text):
    with pytest.raises(ParameterError, match="labels must be like"):
        LabelCount.parse(text)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-1, 3), min_size=12, max_size=60).filter(
        lambda codes: len({c for c in codes if c >= 0}) > 1 and max(map(codes.count, {c for c in codes if c >= 0})) > 1
    ),
    st.integers(0, 99),
)
def test_splits_part_the_rows_and_are_nested(codes, seed):
    codes = np.array(codes)
    _, codes[codes >= 0] = np.unique(codes[codes >= 0], return_inverse=True)
    splits = Splits(codes, None, seed)
    tested = []
    for number in range(splits.n_folds):
        split = splits[number]
        tested.extend(split.test)
        everything = np.concatenate([split.order, split.rest, split.test])
        assert sorted(everything) == list(range(len(codes)))
        assert (codes[split.rest] == -1).all()
        assert (codes[split.test] >= 0).all()
        smaller: set[int] = set()
        for size in splits.sizes:
            labeled, spare = split.training(size, 1_000)
            assert len(labeled) == size
            assert smaller <= set(labeled)
            assert set(codes[labeled]) == set(codes[codes >= 0])
            assert not set(labeled) & set(spare)
            assert not (set(labeled) | set(spare)) & set(split.test)
            smaller = set(labeled)
    # Five folds test each row once, but for classes of one row, which are never tested.
    counts = np.bincount(codes[codes >= 0])
    assert sorted(tested) == sorted(np.flatnonzero((codes >= 0) & (counts[np.maximum(codes, 0)] > 1)))


def test_so_many_of_each_class():
    codes = np.repeat([0, 1, 2], [50, 20, 10])
    splits = Splits(codes, LabelCount.parse("4-per-class"), seed=1)
    assert splits.n_labels == 12
    for size, each in zip(splits.sizes, (1, 2, 4, 8), strict=True):
        labeled, _ = splits[0].training(size, 100)
        assert np.bincount(codes[labeled]).tolist() == [each] * 3


def test_a_seed_gives_the_same_splits_and_another_seed_others():
    codes = np.arange(100) % 3
    first, again, other = (Splits(codes, LabelCount.parse("20%"), seed)[2].order.tolist() for seed in (0, 0, 1))
    assert first == again != other


def test_labels_that_cannot_be_tested_are_refused():
    with pytest.raises(DataError, match="at least one class needs two labeled rows"):
        Splits(np.array([0, 1, 2, -1, -1]), None, 0)
    with pytest.raises(ParameterError, match="between the number of classes \\(2\\) and the rows that are not tested"):
        Splits(np.array([0, 1] * 10), LabelCount.parse(19), 0)


def test_more_labels_per_class_than_there_are_is_told():
    codes = np.array([0, 1] * 5)
    with pytest.raises(ParameterError, match="at most 4 per class"):
        Splits(codes, LabelCount.parse("50-per-class"), seed=0)
