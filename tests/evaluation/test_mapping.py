"""Many-to-one mapping and confusions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from handful.errors import DataError
from handful.tagging.evaluation import confusions, many_to_one, mapped_accuracy


def test_no_other_mapping_is_better():
    rng = np.random.default_rng(0)
    for _ in range(20):
        gold = [rng.choice(["a", "b", "c"], size=12).tolist()]
        found = [rng.choice(["1", "2", "3"], size=12).tolist()]
        best = max(
            np.mean(
                [
                    true == dict(zip("123", target, strict=True))[mine]
                    for true, mine in zip(gold[0], found[0], strict=True)
                ]
            )
            for target in product("abc", repeat=3)
        )
        assert mapped_accuracy(gold, found) == pytest.approx(best)


def test_names_of_found_labels_mean_nothing():
    gold, found = [["a", "b"], ["a"]], [["x", "y"], ["x"]]
    assert mapped_accuracy(gold, found) == 1.0
    assert many_to_one(gold, found) == {"x": "a", "y": "b"}


def test_ties_go_to_the_label_that_sorts_first():
    assert many_to_one([["b", "a"]], [["x", "x"]]) == {"x": "a"}


def test_confusions_are_ranked_and_share_the_mistakes():
    gold, found = [list("aaabbc")], [list("abbbac")]
    assert confusions(gold, found) == [("a", "b", 2, 2 / 3), ("b", "a", 1, 1 / 3)]
    assert confusions(gold, found, top=1) == [("a", "b", 2, 2 / 3)]
    assert confusions(gold, gold) == []


def test_shapes_must_agree():
    with pytest.raises(DataError, match="same shape"):
        many_to_one([["a", "b"]], [["x"]])
    with pytest.raises(DataError, match="at least one token"):
        mapped_accuracy([], [])
