"""Many-to-one mapping and confusions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from papers.haghighi2006.plans import confusions, mapped_accuracy


def test_no_other_mapping_is_better():
    rng = np.random.default_rng(0)
    for _ in range(20):
        gold = [rng.choice(["a", "b", "c"], size=12).tolist()]
        predicted = [rng.choice(["1", "2", "3"], size=12).tolist()]
        best = max(
            np.mean(
                [
                    true == dict(zip("123", target, strict=True))[label]
                    for true, label in zip(gold[0], predicted[0], strict=True)
                ]
            )
            for target in product("abc", repeat=3)
        )
        assert mapped_accuracy(gold, predicted) == pytest.approx(best)


def test_confusions_are_ranked_and_share_the_mistakes():
    gold, predicted = [list("aaabbc")], [list("abbbac")]
    assert confusions(gold, predicted) == [("a", "b", 2, 2 / 3), ("b", "a", 1, 1 / 3)]
    assert confusions(gold, predicted, top=1) == [("a", "b", 2, 2 / 3)]
    assert confusions(gold, gold) == []
