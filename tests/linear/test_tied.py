"""Tied features: the same model as the original features with equal weights, for batch and online learners."""

from __future__ import annotations

import numpy as np
import pytest

from handful.linear.batch import log_loss, minimize
from handful.linear.multiclass import Multiclass
from handful.linear.online import OnlineRule, train_online
from handful.linear.structure import Tied, Ties, feature_counts


def problem(seed=0, n_columns=5, n_labels=3, n_tied=4):
    rng = np.random.default_rng(seed)
    rows = Multiclass(rng.poisson(0.9, size=(30, n_columns)).astype(float), n_labels)
    group = rng.integers(0, n_tied - 1, size=rows.n_features)
    ties = Ties(n_tied, group, np.full(rows.n_features, n_tied - 1), rng.normal(size=rows.n_features))
    return rows, ties, rng.integers(0, n_labels, size=30)


def matrix(ties):
    """T of the definition, so that original weights are T w."""
    whole = np.zeros((len(ties.group), ties.n_tied))
    for n, (m, k, v) in enumerate(zip(ties.group, ties.extra, ties.value, strict=True)):
        whole[n, m] += 1.0
        whole[n, k] += v
    return whole


def test_spread_and_gather_are_the_matrix_and_its_transpose():
    rows, ties, _ = problem()
    w, x = np.random.default_rng(1).normal(size=ties.n_tied), np.random.default_rng(2).normal(size=rows.n_features)
    assert np.allclose(ties.spread(w), matrix(ties) @ w, atol=1e-14)
    assert np.allclose(ties.gather(x), matrix(ties).T @ x, atol=1e-13)


def test_gradient_equals_finite_differences():
    rows, ties, gold = problem(3)
    objective = log_loss(Tied(rows, ties), gold)
    w = np.random.default_rng(4).normal(size=ties.n_tied) * 0.3
    _, gradient = objective(w)
    for k in range(len(w)):
        step = np.zeros(len(w))
        step[k] = 1e-6
        assert (objective(w + step)[0] - objective(w - step)[0]) / 2e-6 == pytest.approx(gradient[k], abs=1e-5)


def test_parts_are_those_of_the_matrix():
    rows, ties, gold = problem(5)
    tied, steps = Tied(rows, ties), Tied(rows, ties)
    assert np.allclose(feature_counts(tied, gold), matrix(ties).T @ feature_counts(rows, gold))
    ids, values = steps.joint_features_at(7, steps.take(7, gold))
    whole = np.zeros(rows.n_features)
    np.add.at(whole, rows.joint_features_at(7, gold[7])[0], rows.joint_features_at(7, gold[7])[1])
    assert np.allclose(np.bincount(ids, values, minlength=ties.n_tied), matrix(ties).T @ whole)


def test_one_input_at_a_time_decodes_with_the_spread_weights():
    rows, ties, gold = problem(6)
    steps = Tied(rows, ties)
    w = np.random.default_rng(0).normal(size=ties.n_tied)
    for number in (3, 4, 3):
        expected = rows.loss_augmented_argmax(number, matrix(ties) @ w, gold[number])
        assert steps.loss_augmented_argmax(number, w, gold[number]) == expected
        reach = set(steps.possible_features(number).tolist())
        assert set(steps.joint_features_at(number, gold[number])[0].tolist()) <= reach


@pytest.mark.parametrize("algorithm", ["pa", "fobos"])
def test_online_learning_without_ties_is_the_plain_one(algorithm):
    rows, _, gold = problem(7)
    n = rows.n_features
    alone = Ties(n + 1, np.arange(n), np.full(n, n), np.zeros(n))
    settings = {"rule": OnlineRule(algorithm, l1=0.5), "max_passes": 4}
    tied = train_online(Tied(rows, alone), gold, **settings).weights
    assert np.allclose(tied[:n], train_online(rows, gold, **settings).weights, atol=1e-12)


def test_a_subset_is_the_whole_with_other_weights_zero():
    rows, _, gold = problem(8)
    kept = np.array([0, 2, 3, 7, 8, 11])
    some = Multiclass(rows.X, rows.n_labels, kept)
    w = np.random.default_rng(0).normal(size=len(kept))
    full = np.zeros(rows.n_features)
    full[kept] = w
    assert np.array_equal(some.argmax(w), rows.argmax(full))
    assert np.allclose(some.expected_counts(w)[1], rows.expected_counts(full)[1][kept])
    assert np.array_equal(feature_counts(some, gold), feature_counts(rows, gold)[kept])
    assert some.loss_augmented_argmax(4, w, gold[4]) == rows.loss_augmented_argmax(4, full, gold[4])
    found = minimize(log_loss(some, gold), np.zeros(len(kept)), l2=1.0)
    assert found.converged
