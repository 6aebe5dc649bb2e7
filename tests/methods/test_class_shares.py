from __future__ import annotations

import numpy as np
import pytest
from oracles.energy_shares import best_share

from handful.methods.class_shares import PULL, agreed_shift, picked_by_class, shares_by_answers, shares_by_distance


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
