"""The classifier of tables by condensed features: scikit-learn's contract, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import handful
from handful.errors import ParameterError
from handful.representations.condensed_classifier import CondensedFeatureClassifier

EXPECTED = {
    "check_classifiers_classes": "fits labels {-1, +1}, which are ambiguous here: -1 also marks an unlabeled row",
}


@parametrize_with_checks([CondensedFeatureClassifier()], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def texts(seed=0, n=400, n_words=300, n_classes=3):
    """Bags of words; every class has its own favorite words."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    taste = rng.dirichlet(np.full(n_words, 0.05), size=n_classes) * 0.6 + 0.4 / n_words
    X = np.stack([rng.multinomial(20, taste[k]) for k in y]).astype(float)
    labels = np.array(["arts", "news", "sport"], dtype=object)[y]
    few = labels.copy()
    few[30:] = None
    return X, few, labels


@pytest.mark.parametrize("estimator", [None, LinearSVC(), LogisticRegression(C=10.0)])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_a_few_weights_do_the_work_of_many(estimator, convert, tmp_path):
    X, few, labels = texts()
    model = CondensedFeatureClassifier(estimator, resolution=2.0).fit(convert(X), few)
    supervised = LogisticRegression().fit(X[:30], few[:30].astype(str))
    assert model.n_active_ < 60 < supervised.coef_.size
    assert model.score(convert(X[30:]), labels[30:]) > supervised.score(X[30:], labels[30:].astype(str)) - 0.05
    assert np.allclose(model.predict_proba(convert(X)).sum(axis=1), 1.0)
    handful.save(model, tmp_path / "model")
    loaded = handful.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_signed_columns_are_taken_apart():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3))
    X[:, 1] += 3.0 * (2 * y - 1)
    few = y.astype(float)
    few[20:] = np.nan
    for rows in (X, sp.csr_matrix(X)):
        model = CondensedFeatureClassifier().fit(rows, few)
        assert model.split_.tolist() == [0, 1, 2]
        assert model.score(rows, y) > 0.95


def test_one_class_and_everything_dropped():
    X, few, _ = texts(n=60)
    few[few != "news"] = None
    assert set(CondensedFeatureClassifier().fit(X, few).predict(X)) == {"news"}
    X, few, _ = texts(n=60)
    model = CondensedFeatureClassifier(discount=1e9).fit(X, few)
    assert model.n_active_ == 0
    assert set(model.predict(X)) == {"arts"}


def test_only_linear_estimators_are_taken():
    X, few, _ = texts(n=60)
    with pytest.raises(ParameterError, match="linear classifier with coef_"):
        CondensedFeatureClassifier(GaussianNB()).fit(X, few)
