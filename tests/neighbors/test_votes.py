"""The choice of k, and large questions in pieces."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from handful.neighbors import rows as votes
from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN
from handful.neighbors.ordinal import OrdinalKNN


def noisy(n=120):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] > 0).astype(int)
    flipped = rng.random(n) < 0.2
    return X, np.where(flipped, 1 - y, y)


def test_k_by_cross_validation_is_that_of_scikit_learn():
    X, y = noisy()
    fold = np.empty(len(y), dtype=int)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % 5
    correct = {}
    for k in votes.K_GRID:
        correct[k] = 0
        for f in range(5):
            plain = KNeighborsClassifier(k).fit(X[fold != f], y[fold != f])
            correct[k] += (plain.predict(X[fold == f]) == y[fold == f]).sum()
    best = max(correct, key=lambda k: (correct[k], -k))
    assert best > 1
    assert CondensedNN("cv").fit(X, y).n_neighbors_ == best
    assert OrdinalKNN("cv").fit(X, y).n_neighbors_ == best


def test_semi_supervised_needs_more_than_one_neighbor():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    y = ["a", "a", "b", "b"]
    assert CondensedNN("cv").fit(X, y).n_neighbors_ == 1
    assert SemiSupervisedCondensedNN("cv").fit(X, y).n_neighbors_ == 3
    assert CondensedNN("cv").fit(X[:1], y[:1]).n_neighbors_ == 1


@pytest.mark.parametrize("ties", ["first", "all"])
def test_questions_in_pieces_are_answered_alike(ties, monkeypatch):
    X, y = noisy()
    Q = np.random.default_rng(0).normal(size=(500, 2)).round(1)
    model = CondensedNN(3, ties=ties, vote="distance").fit(X, y)
    whole = model.predict_proba(Q)
    monkeypatch.setattr(votes, "_CHUNK", 70)
    assert np.array_equal(model.predict_proba(Q), whole)


@pytest.mark.parametrize("vote", ["uniform", "distance"])
def test_plain_nearest_neighbors_are_those_of_scikit_learn(vote):
    X, y = noisy()
    Q = np.random.default_rng(0).normal(size=(200, 2))
    model = OrdinalKNN(5, vote=vote).fit(X, y)  # nothing is unlabeled: plain nearest neighbors
    plain = KNeighborsClassifier(5, weights=vote, algorithm="brute").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(Q), plain.predict_proba(Q), atol=1e-6)


def test_largest_share_is_that_of_the_prediction():
    X, y = np.array([[0.0], [1.0], [2.0]]), ["c", "b", "a"]
    model = CondensedNN(3).fit(X, y)
    assert model.kept_.tolist() == [0, 1, 2]
    assert model.predict([[0.1], [1.9]]).tolist() == ["c", "a"]
    assert model.classes_[model.predict_proba([[0.1], [1.9]]).argmax(axis=1)].tolist() == ["c", "a"]
