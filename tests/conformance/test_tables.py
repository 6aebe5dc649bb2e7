"""scikit-learn's contract, and ours, for every table method of the catalogue."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

import handful
from handful.registry import all_methods, get_method, method_names

# Settings under which a method is quick to check; the method stays the same.
QUICK = {"ensemble": {"quick": True, "n_trees": 3}}

# Methods that read directions and counts of words, of which the rows below have none.
FOR_TEXTS = {"complement-nb", "naive-bayes-em"}

# Every check that contradicts the unlabeled convention, with the reason.
EXPECTED = {
    "check_classifiers_classes": "fits labels {-1, +1}, which are ambiguous here: -1 also marks an unlabeled row",
}


def made(name, n_features=3):
    return get_method(name, "table").make_estimator(n_features, 0, QUICK.get(name, {}))


OURS = [made(spec.name) for spec in all_methods("table") if spec.cls is not None]


def expected(estimator):
    """Return the checks that must fail, and one of the first 1.7 that takes a mean from whole numbers in place."""
    if get_tags(estimator).input_tags.categorical and parse_version(sklearn.__version__) < parse_version("1.8"):
        return {**EXPECTED, "check_positive_only_tag_during_fit": "broken for methods that take names, mended later"}
    return EXPECTED


@pytest.mark.filterwarnings("ignore::handful.neighbors.rows.ScalingWarning")
@parametrize_with_checks(OURS, expected_failed_checks=expected)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def problem():
    rng = np.random.default_rng(5)
    truth = np.arange(60) % 3
    X = rng.normal(size=(60, 3)) + 3 * truth[:, None]
    return np.abs(X), np.where(np.arange(60) < 15, truth, -1), truth


def seen(name, X, y):
    """Return the rows that a method gets: all, or those with a label."""
    rows = slice(None) if get_method(name, "table").uses_unlabeled else y >= 0
    return X[rows], y[rows]


def fitted(name, X, y):
    return made(name, X.shape[1]).fit(*seen(name, X, y))


@pytest.mark.parametrize("name", method_names("table"))
def test_it_learns_inputs_stay_and_a_second_fit_gives_the_same(name):
    X, y, truth = problem()
    rows, labels = seen(name, X, y)
    X_before, rows_before, labels_before = X.copy(), rows.copy(), labels.copy()
    model = made(name, X.shape[1]).fit(rows, labels)
    assert np.array_equal(rows, rows_before)
    assert np.array_equal(labels, labels_before)
    if name not in FOR_TEXTS:
        assert (model.predict(X) == truth).mean() > 0.6
    first = model.predict_proba(X)
    np.testing.assert_allclose(first.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[first.argmax(axis=1)], model.predict(X))
    assert np.array_equal(X, X_before)
    assert np.array_equal(fitted(name, X, y).predict_proba(X), first)


@pytest.mark.parametrize("name", [spec.name for spec in all_methods("table") if spec.cls is not None])
def test_names_of_labels_do_not_matter(name):
    X, y, _ = problem()
    other = np.array(["10", "11", "12", None], dtype=object)  # in the same order
    plain, renamed = made(name).fit(X, y), made(name).fit(X, other[y])
    assert other[plain.predict(X)].tolist() == renamed.predict(X).tolist()


@pytest.mark.parametrize("name", method_names("table"))
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_saved_and_loaded_it_answers_the_same(name, convert, tmp_path):
    from handful.models.table_model import TableModel

    X, y, _ = problem()
    # A classifier of scikit-learn is saved inside a table model.
    own = get_method(name, "table").cls is not None
    model = fitted(name, convert(X), y) if own else TableModel(name).fit(X, y)
    handful.save(model, tmp_path / "model.handful")
    loaded = handful.load(tmp_path / "model.handful")
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X), rtol=1e-12)  # memory order may differ
    assert loaded.get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("name", ["semi-supervised-condensed-nn", "ordinal-knn", "tri-training"])
def test_given_labels_never_change(name):
    X, y, _ = problem()
    y[:3] = [1, 2, 0]  # wrong on purpose
    model = made(name).fit(X, y)
    assert model.transduction_[:15].tolist() == y[:15].tolist()
    assert (model.labeled_iter_[:15] == 0).all()
    assert (model.labeled_iter_[15:] != 0).all()
    assert set(model.transduction_) <= set(model.classes_)
