from __future__ import annotations

import numpy as np
import pytest
from oracles.energy_shares import best_share

from handful.core.errors import ParameterError
from handful.methods.class_shares import (
    PULL,
    agreed_shift,
    known_shift,
    picked_by_class,
    scarce_classes,
    shares_by_answers,
    shares_by_distance,
    usual_class,
    usual_shift,
)


@pytest.mark.parametrize("seed", range(8))
def test_shares_are_those_of_the_nearest_mixture(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(4, 2)), rng.normal(size=(3 + seed % 3, 2)) + 2
    unlabeled = np.concatenate([rng.normal(size=(12, 2)), rng.normal(size=(3 * seed, 2)) + 2])
    codes = np.repeat([0, 1], [len(first), len(second)])
    shares = shares_by_distance(np.concatenate([first, second]), codes, unlabeled, 2)
    expected = best_share(first.tolist(), second.tolist(), unlabeled.tolist(), PULL)
    assert shares[0] == pytest.approx(expected, abs=2e-3)
    assert shares.sum() == pytest.approx(1)


def test_the_frequent_class_is_seen_and_its_name_does_not_matter():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    rows = np.repeat(centers, 5, axis=0) + rng.normal(size=(15, 2))
    codes = np.repeat([0, 1, 2], 5)
    unlabeled = np.repeat(centers, [300, 60, 40], axis=0) + rng.normal(size=(400, 2))
    shares = shares_by_distance(rows, codes, unlabeled, 3)
    assert shares.argmax() == 0
    assert shares[0] > 0.55
    swapped = shares_by_distance(rows, np.array([2, 0, 1])[codes], unlabeled, 3)
    np.testing.assert_allclose(swapped[[2, 0, 1]], shares, atol=1e-4)


def test_rows_that_are_all_alike_and_classes_with_one_label_give_shares_too():
    assert shares_by_distance(np.ones((4, 2)), np.array([0, 0, 1, 1]), np.ones((9, 2)), 2).tolist() == [0.5, 0.5]
    shares = shares_by_distance(np.array([[0.0], [1.0], [9.0]]), np.array([0, 0, 1]), np.full((9, 1), 0.5), 2)
    assert 0.5 < shares[0] < 1


def test_labels_picked_by_class_are_told_from_labels_as_they_come():
    assert picked_by_class(np.repeat([0, 1, 2], [5, 5, 2]), 3)
    assert not picked_by_class(np.repeat([0, 1, 2], [9, 5, 2]), 3)
    assert not picked_by_class(np.array([0, 1]), 2)
    for counts in ([5, 5, 5], [5, 5, 3], [20, 20], [5, 5, 5, 5], [5, 5, 5, 2], [3, 3, 2, 2], [5, 5, 5, 3, 2, 1]):
        assert picked_by_class(np.repeat(np.arange(len(counts)), counts), len(counts)), counts
    for counts in ([14, 14, 9, 3], [6, 6, 4, 4]):  # two that are alike by chance
        assert not picked_by_class(np.repeat(np.arange(4), counts), 4), counts


def test_answers_tell_shares_and_a_class_that_is_never_sure_is_rare():
    prior = np.array([0.5, 0.5])
    sure = np.log(np.array([[0.95, 0.05]] * 60 + [[0.45, 0.55]] * 40))
    shares = shares_by_answers(sure, prior)
    assert shares[0] > 0.8
    assert shares.sum() == pytest.approx(1)


def test_answers_are_moved_no_farther_than_both_estimates_say():
    rng = np.random.default_rng(0)
    for _ in range(50):
        first, second, prior = rng.dirichlet(np.ones(4), size=3)
        shift = agreed_shift(first, second, prior)
        for estimate in (first, second):
            move = np.log(estimate / prior) - np.log(estimate / prior).mean()
            assert (np.abs(shift) <= np.abs(move) + 1e-12).all()
            assert (shift * move >= 0).all()
    np.testing.assert_allclose(agreed_shift(first, first, prior), np.log(first / prior) - np.log(first / prior).mean())


@pytest.mark.parametrize(
    ("names", "usual"),
    [
        (["no", "yes"], 0),
        (["Yes", "No "], 1),
        ([True, False], 1),
        (["y", "n"], 1),
        (["m", "f"], None),
        ([0, 1], 0),
        ([1, 2], 0),
        (["1.0", "2.0"], 0),
        (["1.0", "2.0", "3.0"], None),
        ([-1, 1], 0),
        ([0, 1, 2], None),
        (list(range(10)), None),
        ([2, 4], None),
        ([0.5, 1], None),
        (["+", "-"], 1),
        (["primary", "negative", "secondary"], 1),
        (["none", "good", "bad"], None),
        (["no_churn", "churn"], 0),
        (["north", "south"], None),
        (["", ""], None),
    ],
)
def test_the_usual_class_is_told_by_its_name(names, usual):
    assert usual_class(names) == usual
    assert (usual_shift(names) > 0).sum() == (usual is not None)


def test_known_shares_undo_those_of_the_labels():
    shift = known_shift({"a": 0.2, 7: 0.8}, ["a", 7], np.array([6, 2]))
    odds = np.exp(shift) * [0.75, 0.25]
    np.testing.assert_allclose(odds / odds.sum(), [0.2, 0.8])
    rounded = known_shift({"a": 0.33, "b": 0.33, "c": 0.33}, ["a", "b", "c"], np.array([5, 5, 5]))
    np.testing.assert_allclose(rounded, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ({"a": 1.0}, "every class must have its share"),
        ({"a": 0.5, "b": 0.5, "c": 0.0}, "every class must have its share"),
        ({"a": 0.5, "b": 0.6}, "add up to 1"),
        ({"a": 1.0, "b": 0.0}, "above 0"),
        ({"a": float("nan"), "b": 0.5}, "above 0"),
    ],
)
def test_wrong_shares_are_refused(shares, told):
    with pytest.raises(ParameterError, match=told):
        known_shift(shares, ["a", "b"], np.array([5, 5]))


def test_classes_with_half_as_many_labels_are_scarce():
    assert scarce_classes(np.array([5, 3, 2, 1])).tolist() == [False, False, True, True]
