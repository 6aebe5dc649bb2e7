"""scikit-learn's contract, and ours, for the classifiers of tables."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from handful.core.store import read_model, write_model
from handful.neighbors import CondensedNN, OrdinalKNN, SemiSupervisedCondensedNN, TriTraining

STORED = [CondensedNN(), SemiSupervisedCondensedNN(), OrdinalKNN()]
ESTIMATORS = [*STORED, TriTraining(DecisionTreeClassifier(), random_state=0)]
SAVED = [*STORED, TriTraining(GaussianNB(), random_state=0)]

# Every check that contradicts the unlabeled convention, with the reason.
EXPECTED = {
    "check_classifiers_classes": "fits labels {-1, +1}, which are ambiguous here: -1 also marks an unlabeled row",
}


def expected_failures(estimator):
    return EXPECTED


@pytest.mark.filterwarnings("ignore::handful.neighbors.rows.ScalingWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def problem():
    rng = np.random.default_rng(5)
    truth = np.array(["no", "yes", "maybe"])[np.arange(60) % 3]
    X = rng.normal(size=(60, 3)) + 3 * (np.arange(60) % 3)[:, None]
    y = truth.astype(object)
    y[12:] = None
    return X, y, truth


def named(estimator):
    return type(estimator).__name__


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_inputs_are_not_mutated_and_a_second_fit_gives_the_same(estimator):
    X, y, _ = problem()
    X_before, y_before = X.copy(), y.copy()
    model = clone(estimator).fit(X, y)
    first = model.predict_proba(X)
    assert np.array_equal(X, X_before)
    assert y.tolist() == y_before.tolist()
    assert np.array_equal(clone(estimator).fit(X, y).predict_proba(X), first)
    assert np.array_equal(model.fit(X, y).predict_proba(X), first)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_names_of_labels_do_not_matter(estimator):
    X, y, _ = problem()
    other = {"maybe": "10", "no": "11", "yes": "12"}  # in the same order
    renamed = np.array([None if v is None else other[v] for v in y], dtype=object)
    plain = clone(estimator).fit(X, y).predict(X)
    assert [other[v] for v in plain] == clone(estimator).fit(X, renamed).predict(X).tolist()


@pytest.mark.parametrize("estimator", ESTIMATORS[1:], ids=named)
def test_given_labels_never_change(estimator):
    X, y, _ = problem()
    y[:3] = ["yes", "maybe", "no"]  # wrong on purpose
    model = clone(estimator).fit(X, y)
    assert model.transduction_[:12].tolist() == y[:12].tolist()
    assert (model.labeled_iter_[:12] == 0).all()
    assert (model.labeled_iter_[12:] != 0).all()
    assert set(model.transduction_) <= set(model.classes_)


@pytest.mark.parametrize("estimator", SAVED, ids=named)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_saved_and_loaded_predicts_the_same(estimator, convert, tmp_path):
    X, y, _ = problem()
    if convert is not np.asarray and isinstance(estimator, TriTraining):
        pytest.skip("Gaussian naive Bayes takes no sparse rows")
    model = clone(estimator).fit(convert(X), y)
    write_model(model, tmp_path / "model")
    loaded = read_model(tmp_path / "model", lambda _: type(estimator))
    assert np.array_equal(loaded.predict_proba(convert(X)), model.predict_proba(convert(X)))
    assert loaded.get_params().keys() == model.get_params().keys()
