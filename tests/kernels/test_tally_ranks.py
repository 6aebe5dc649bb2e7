from __future__ import annotations

import numpy as np
import pytest

from handful.kernels.hashing import add_pairs, spread_rows

OWN = np.empty(0, dtype=np.int64)


@pytest.mark.parametrize("seed", range(20))
def test_amounts_are_added_one_by_one(seed):
    rng = np.random.default_rng(seed)
    n_numbers, n_targets = 5, 3
    ids = rng.integers(-1, n_numbers, (12, 4)).astype(np.int32)
    targets, amounts = rng.integers(-1, n_targets, 12), rng.random(12)
    for ranks in (OWN, rng.permutation(np.array([-1, 0, 1, 2, 3]))):
        out = rng.random(n_numbers * n_targets)
        expected = out.copy()
        for i in range(12):
            for number in ids[i]:
                rank = number if number < 0 or not len(ranks) else ranks[number]
                if rank >= 0 and targets[i] >= 0:
                    expected[rank * n_targets + targets[i]] += amounts[i]
        add_pairs(ids, targets, amounts, ranks, n_targets, out)
        assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize("seed", range(20))
def test_rows_give_their_sums_to_each_member_in_turn(seed):
    rng = np.random.default_rng(seed)
    n_numbers, n_targets, n_rows = 5, 3, 7
    lengths = rng.integers(0, 4, n_rows)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    members = rng.integers(0, n_numbers, offsets[-1])  # a number may stand in a row twice
    sums = rng.random(n_rows * n_targets) * rng.integers(0, 2, n_rows * n_targets)
    for ranks in (OWN, rng.permutation(np.array([-1, 0, 1, 2, 3]))):
        out = rng.random(n_numbers * n_targets)
        expected = out.copy()
        for r in range(n_rows):
            for z in range(n_targets):
                for number in members[offsets[r] : offsets[r + 1]]:
                    rank = ranks[number] if len(ranks) else number
                    if rank >= 0:
                        expected[rank * n_targets + z] += sums[r * n_targets + z]
        spent = sums.copy()
        spread_rows(spent, offsets, members, ranks, n_targets, out)
        assert out.tobytes() == expected.tobytes()
        assert not spent.any()
