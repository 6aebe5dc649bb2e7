"""Tri-training: the conditions of the paper, by hand, and any classifier."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from handful.errors import ParameterError
from handful.neighbors import tri_training
from handful.neighbors.condensed import CondensedNN
from handful.neighbors.tri_training import TriTraining, _admit, _bootstrap, _error


def clouds(n=400, n_labeled=20):
    rng = np.random.default_rng(0)
    codes = np.arange(n) % 2
    X = rng.normal(size=(n, 4)) + 1.2 * codes[:, None]
    truth = np.array(["no", "yes"])[codes]
    y = truth.astype(object)
    y[n_labeled:] = None
    return X, y, truth


def test_error_counts_agreement_only():
    first, second, truth = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0]), np.array([0, 0, 1, 0])
    assert _error(first, second, truth) == pytest.approx(1 / 3)
    assert _error(np.array([0]), np.array([1]), np.array([0])) == 0.5


def test_conditions_by_hand():
    random, agreed = np.random.RandomState(0), np.arange(100)
    # e = 0.1, e' = 0.5, first time: l' = floor(0.1 / 0.4 + 1) = 1, and 0.1 * 100 is not below 0.5 * 1;
    # l' = 1 > 0.25, so L is cut to ceil(0.5 * 1 / 0.1 - 1) = 4.
    taught = _admit(random, agreed, 0.1, 0.5, 0)
    assert len(taught) == len(set(taught.tolist())) == 4
    # 0.1 * 100 < 0.2 * 60: all of them
    assert np.array_equal(_admit(random, agreed, 0.1, 0.2, 60), agreed)
    # not more than last time
    assert _admit(random, agreed, 0.1, 0.2, 100) is None
    # l' = 4 is not above 0.19 / 0.01 = 19: no subsample could be small enough and still grow
    assert _admit(random, agreed, 0.19, 0.20, 4) is None
    # no error at all: everything is welcome
    assert np.array_equal(_admit(random, agreed, 0.0, 0.5, 0), agreed)


@pytest.mark.parametrize("error", [0.002, 0.01, 0.046, 0.2])
def test_the_bound_takes_few_rows_at_first_and_fewer_the_larger_the_error(error):
    taught = _admit(np.random.RandomState(0), np.arange(100_000), error, 0.5, 0)
    assert len(taught) == np.ceil(0.5 / error - 1) < 0.5 / error


def test_all_rows_on_which_the_others_agree_are_taken_until_nothing_changes():
    X, y, truth = clouds()
    model = TriTraining(GaussianNB(), random_state=1, admit="agreed").fit(X, y)
    n_rows = [int(h.class_count_.sum()) for h in model.estimators_]
    votes = model._votes(X[20:])
    assert model.termination_condition_ == "no_change"
    # a last round without a change: what each learned is what the two others still agree on
    assert n_rows == [20 + int((votes[(i + 1) % 3] == votes[(i + 2) % 3]).sum()) for i in range(3)]
    assert min(n_rows) > max(
        h.class_count_.sum() for h in TriTraining(GaussianNB(), random_state=0).fit(X, y).estimators_
    )
    assert (model.transduction_ == truth).mean() > 0.65


def test_rounds_that_never_agree_come_to_an_end(monkeypatch):
    monkeypatch.setattr(tri_training, "_agreed", lambda on_rest, heard: {0: np.arange(3)})
    X, y, _ = clouds()
    model = TriTraining(GaussianNB(), random_state=0, admit="agreed").fit(X, y)
    assert (model.n_iter_, model.termination_condition_) == (10, "max_iter")


def test_bootstrap_has_two_classes():
    truth = np.array([0] * 30 + [1])
    for seed in range(20):
        assert set(truth[_bootstrap(np.random.RandomState(seed), truth)]) == {0, 1}


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), LogisticRegression(), DecisionTreeClassifier(max_depth=3), CondensedNN(3)]
)
def test_any_classifier_learns_from_unlabeled_rows(estimator):
    X, y, truth = clouds()
    model = TriTraining(estimator, random_state=1).fit(X, y)
    assert len(model.estimators_) == 3
    assert (model.transduction_ == truth).mean() > 0.65
    assert model.transduction_[:20].tolist() == truth[:20].tolist()
    again = TriTraining(estimator, random_state=1).fit(X, y)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert model.labeled_iter_.max() <= model.n_iter_


def test_classifiers_are_trained_on_what_the_others_agree_on():
    X, y, _ = clouds()
    model = TriTraining(GaussianNB(), random_state=0).fit(X, y)
    taught = int((model.labeled_iter_ > 0).sum())
    sizes = [h.class_count_.sum() for h in model.estimators_]
    assert taught > 0
    assert max(sizes) > 20  # more than a bootstrap sample of the labeled rows
    assert max(sizes) <= 20 + taught


def test_sparse_rows_and_nothing_unlabeled():
    X, y, truth = clouds()
    sparse = TriTraining(LogisticRegression(), random_state=0).fit(sp.csr_array(X), y)
    dense = TriTraining(LogisticRegression(), random_state=0).fit(X, y)
    assert (sparse.predict(sp.csr_array(X)) == dense.predict(X)).mean() > 0.99
    full = TriTraining(GaussianNB(), random_state=0).fit(X, truth)
    assert full.n_iter_ == 1
    assert full.transduction_.tolist() == truth.tolist()


def test_what_is_no_classifier_is_refused():
    with pytest.raises(ParameterError, match="estimator must be a classifier"):
        TriTraining("tree").fit(np.zeros((2, 1)), ["a", "b"])
