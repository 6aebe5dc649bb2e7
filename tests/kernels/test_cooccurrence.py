from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from handful.kernels.brown import END, follower_keys, window_keys
from handful.kernels.hashing import merge_sums


@pytest.mark.parametrize("sizes", [(0, 0), (0, 5), (5, 0), (30, 30), (1, 200)])
def test_runs_add_up_as_counters_do(sizes):
    random = np.random.default_rng(sum(sizes))
    one, two = (random.integers(-9, 10, size) for size in sizes)
    keys, counts = merge_sums(*np.unique(one, return_counts=True), *np.unique(two, return_counts=True))
    expected = Counter(one.tolist()) + Counter(two.tolist())
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == expected
    assert (np.diff(keys) > 0).all()


def test_pairs_do_not_reach_over_a_negative_number():
    words = np.array([3, -1, 0, 1, -2, 2, 2], dtype=np.int32)
    assert follower_keys(words, 10).tolist() == [1, 22]


def literal_windows(words, context, start_mark, stop_mark, window, kinds):
    n_kinds = max(kinds) + 1
    found = Counter()
    for i, word in enumerate(words):
        if word < 0:
            continue
        for step in (-1, 1):
            for distance in range(1, window + 1):
                j = i + step * distance
                if not 0 <= j < len(words):
                    break
                near = (start_mark if step < 0 else stop_mark) if words[j] == END else context[j]
                if near >= 0:
                    found[word, near * n_kinds + kinds[window + step * distance]] += 1
                if words[j] == END:
                    break
    return found


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("window", [1, 2, 4])
def test_windows_are_counted_as_by_hand_whatever_the_blocks(seed, window):
    random = np.random.default_rng(seed)
    words = np.concatenate(([END], random.integers(-2, 4, 40), [END])).astype(np.int32)
    context = np.where(words == END, -1, random.integers(-1, 3, len(words))).astype(np.int32)
    kinds = np.zeros(2 * window + 1, dtype=np.int64) if seed % 2 else np.arange(2 * window + 1)
    marks = (3, 4) if seed % 3 else (-1, 4)
    expected = literal_windows(words.tolist(), context.tolist(), *marks, window, kinds.tolist())
    for cut in (len(words), 7, 20):
        found = Counter()
        for low, high, first in ((0, cut, 0), (max(cut - window, 0), len(words), min(cut, window))):
            keys = window_keys(words[low:high], first, context[low:high], *marks, window, kinds, 1000)
            found.update(divmod(key, 1000) for key in keys.tolist())
        assert found == expected
