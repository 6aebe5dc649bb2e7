"""Kernel PCA classifiers: the printed toy tables, the literal oracle, and what must hold of any kernel PCA."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from oracles.kernel_pca import composite, nearest_label, projector
from sklearn.datasets import load_digits, make_classification
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import check_estimator

from handful.errors import DataError, ParameterError
from handful.neighbors.kernel_pca import CompositeKernelPCA, KernelPCAClassifier
from handful.persistence.model_file import load, save


def up_to_sign(found, printed):
    """Turn each column of `found` so that it points the way of `printed`."""
    return found * np.sign((found * printed).sum(axis=0))


def problem(seed, unlabeled=0.0):
    """Draw a small table from a grid, with many identical rows."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 12)), int(rng.integers(1, 4))
    X = rng.integers(-1, 3, size=(n, d)).astype(float)
    y = np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, size=n)]
    hidden = rng.random(n) < unlabeled
    hidden[:2] = False
    y[hidden] = None
    return X, y, rng.integers(-1, 3, size=(4, d)).astype(float)


# -- the oracle -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_equals_the_oracle(seed, degree):
    X, y, new = problem(seed, unlabeled=0.4)
    model = KernelPCAClassifier(degree=degree).fit(X, y)
    values, project = projector(X.tolist(), degree)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-7, atol=1e-9)
    rows = np.vstack([X, new])
    literal = np.array([project(row) for row in rows.tolist()]).reshape(len(rows), len(values))
    found = model.project(rows)
    # components of equal eigenvalues may be turned, dot products may not
    np.testing.assert_allclose(found @ found.T, literal @ literal.T, rtol=1e-6, atol=1e-6 * max(values, default=1.0))
    known = np.flatnonzero([label is not None for label in y])
    expected = [nearest_label(row, literal[known], y[known]) for row in literal]
    assert model.predict(rows).tolist() == expected


@pytest.mark.parametrize("seed", range(60))
def test_composite_equals_the_oracle(seed):
    X, y, new = problem(seed, unlabeled=0.4)
    model = CompositeKernelPCA(margin=0.1).fit(X, y)
    answers, sources = model.predict(new), model.predict_source(new)
    for row, answer, source in zip(new.tolist(), answers, sources, strict=True):
        expected, branch, distance = composite(row, X.tolist(), y.tolist(), 2, 0.1)
        if abs(distance) > 1e-9:
            assert (answer, source) == (expected, branch)
    np.testing.assert_array_equal(model.predict_proba(new).argmax(axis=1) >= 0, True)


def test_composite_branches_are_the_two_models():
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, weights=[0.6, 0.2], random_state=1)
    labels = y.astype(float)
    labels[40:] = np.nan
    model = CompositeKernelPCA(kernel="rbf", n_neighbors=3).fit(X, labels)
    source = model.predict_source(X)
    assert set(source) == {"supervised", "semi-supervised"}
    alone = KernelPCAClassifier(kernel="rbf", n_neighbors=3, use_unlabeled=False).fit(X, labels)
    both = KernelPCAClassifier(kernel="rbf", n_neighbors=3).fit(X, labels)
    expected = np.where(source == "supervised", alone.predict(X), both.predict(X))
    assert (model.predict(X) == expected).all()
    share = np.bincount(y[:40]).max() / 40
    assert model.threshold_ == pytest.approx(1 - share + 0.05)
    assert model.most_frequent_ == np.bincount(y[:40]).argmax()


# -- properties -------------------------------------------------------------------------------------------------------


def test_distances_are_those_of_the_feature_space():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    model = KernelPCAClassifier(kernel="rbf", gamma=0.5).fit(X, ["a", "b"] * 15)
    Y = model.project(X)
    kernel = rbf_kernel(X, gamma=0.5)
    gaps = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(gaps, 2 - 2 * kernel, atol=1e-8)


def test_same_space_as_scikit_learn():
    X, _ = load_digits(return_X_y=True)
    X = X[:120] / 16
    theirs = KernelPCA(5, kernel="rbf", gamma=0.05).fit(X[:100])
    ours = KernelPCAClassifier(kernel="rbf", gamma=0.05, n_components=5).fit(X[:100], [0, 1] * 50)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    reference = theirs.transform(X)
    np.testing.assert_allclose(up_to_sign(ours.project(X), reference), reference, atol=1e-8)


def test_neighbors_come_from_labeled_rows_only():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    model = KernelPCAClassifier(kernel="linear").fit(X, ["near", None, None, "far"])
    assert model.predict(X).tolist() == ["near", "near", "near", "far"]
    assert model.projected_.shape == (2, 1)


def test_without_unlabeled_rows_it_is_the_supervised_model():
    rng = np.random.default_rng(2)
    X, new = rng.normal(size=(40, 5)), rng.normal(size=(10, 5))
    y = np.array(["a", "b", None, None] * 10, dtype=object)
    known = y != None  # noqa: E711
    with_rest = KernelPCAClassifier(use_unlabeled=False).fit(X, y)
    alone = KernelPCAClassifier().fit(X[known], y[known])
    np.testing.assert_array_equal(with_rest.project(new), alone.project(new))
    assert len(KernelPCAClassifier(kernel="rbf").fit(X, y).eigenvalues_) > len(alone.eigenvalues_)


@pytest.mark.parametrize("kernel", ["poly", "linear", "rbf", "cosine"])
def test_sparse_rows_are_the_same(kernel):
    rng = np.random.default_rng(4)
    X = (rng.random((40, 12)) < 0.3) * rng.random((40, 12))
    y = rng.integers(0, 3, 40)
    y[::3] = -1
    for model in (KernelPCAClassifier(3, kernel, gamma=0.7, vote="distance"), CompositeKernelPCA(3, kernel, gamma=0.7)):
        dense = model.fit(X[:30], y[:30]).predict_proba(X)
        np.testing.assert_allclose(
            model.fit(sp.csr_array(X[:30]), y[:30]).predict_proba(sp.csr_array(X)), dense, atol=1e-8
        )


def test_solvers_agree():
    X, y = load_digits(return_X_y=True)
    X = X[:400] / 16
    exact = KernelPCAClassifier(kernel="rbf", gamma=0.02, n_components=8, solver="dense").fit(X, y[:400])
    other = KernelPCAClassifier(
        kernel="rbf", gamma=0.02, n_components=8, solver="nystrom", n_landmarks=400, random_state=0
    ).fit(X, y[:400])
    assert other.solver_ == "nystrom"
    np.testing.assert_allclose(other.eigenvalues_, exact.eigenvalues_, rtol=1e-4)
    reference = exact.project(X)
    np.testing.assert_allclose(up_to_sign(other.project(X), reference), reference, atol=0.02)


def test_the_solver_follows_the_size():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = rng.integers(0, 2, 60)
    model = KernelPCAClassifier(kernel="rbf", n_landmarks=20, random_state=0)
    assert model.fit(X, y).solver_ == "dense"
    many = np.tile(X, (70, 1))
    fitted = model.fit(many, np.tile(y, 70))
    assert fitted.solver_ == "nystrom"
    assert len(fitted.basis_rows_) == 20


@pytest.mark.slow
def test_nystrom_is_nearly_as_good_on_digits():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    exact = KernelPCAClassifier(kernel="rbf", gamma=0.05).fit(X[:1200], y[:1200])
    rough = KernelPCAClassifier(kernel="rbf", gamma=0.05, solver="nystrom", n_landmarks=300, random_state=0)
    assert rough.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) > exact.score(X[1200:], y[1200:]) - 0.01


def test_cross_validation_finds_the_signal():
    rng = np.random.default_rng(5)
    y = np.repeat(["a", "b"], 40)
    X = rng.normal(size=(80, 30))
    X[:, 0] += np.where(y == "a", -6, 6)
    model = KernelPCAClassifier("cv", "linear", n_components="cv", random_state=0).fit(X, y)
    assert model.cv_scores_[model.n_components_, model.n_neighbors_] == max(model.cv_scores_.values())
    assert model.n_components_ < 10
    assert model.score(X, y) > 0.95
    fixed = KernelPCAClassifier(3, "linear", n_components="cv", random_state=0).fit(X, y)
    assert {k for _, k in fixed.cv_scores_} == {3}


@pytest.mark.parametrize("vote", ["uniform", "distance", "gaussian", "rank", "dudani", "literal"])
def test_votes_sum_to_one(vote):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(50, 3))
    shares = KernelPCAClassifier(7, "rbf", vote=vote).fit(X, rng.integers(0, 3, 50)).predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize("model", [KernelPCAClassifier(3), CompositeKernelPCA(3)])
def test_one_row_one_class_and_identical_rows(model):
    assert model.fit([[1.0, 2.0]], ["a"]).predict([[5.0, 5.0]]).tolist() == ["a"]
    assert model.fit([[1.0]] * 4, ["b", "a", "b", None]).predict([[1.0]]).tolist() == ["b"]


@pytest.mark.parametrize("cls", [KernelPCAClassifier, CompositeKernelPCA])
def test_file_brings_the_model_back(cls, tmp_path):
    rng = np.random.default_rng(7)
    X = sp.csr_array((rng.random((40, 12)) < 0.3).astype(float))
    y = np.array(["a", "b", None, None] * 10, dtype=object)
    model = cls(3).fit(X, y)
    save(model, tmp_path / "m")
    known = {"kernel-pca": KernelPCAClassifier, "composite-kernel-pca": CompositeKernelPCA}
    again = load(tmp_path / "m", known.get)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


# -- contract and errors ----------------------------------------------------------------------------------------------


NOT_OURS = {
    "check_classifiers_classes": "its labels are {-1, +1}, and -1 means unlabeled here",
}


@pytest.mark.parametrize("cls", [KernelPCAClassifier, CompositeKernelPCA])
def test_scikit_learn_contract(cls):
    check_estimator(cls(), expected_failed_checks=NOT_OURS, on_fail="raise", on_skip=None)


def test_errors_say_what_to_do():
    X = np.eye(4)
    y = ["a", "b", "a", "b"]
    with pytest.raises(ParameterError, match="n_neighbors must be an integer of at least 1 or 'cv', got 0"):
        KernelPCAClassifier(0).fit(X, y)
    with pytest.raises(ParameterError, match="Did you mean 'poly'"):
        KernelPCAClassifier(kernel="polly").fit(X, y)
    with pytest.raises(DataError, match="at least one row must have a label"):
        KernelPCAClassifier().fit(X, [None] * 4)
    with pytest.raises(DataError, match="lower the degree"):
        KernelPCAClassifier(degree=300).fit(X * 1e3, y)
    with pytest.raises(DataError, match="got 4 and 3"):
        KernelPCAClassifier().fit(X, y[:3])
    with pytest.raises(DataError, match="at least 2 labeled rows"):
        KernelPCAClassifier("cv").fit(X, ["a", None, None, None])


@pytest.mark.parametrize("model", [KernelPCAClassifier(n_neighbors=2), CompositeKernelPCA(n_neighbors=2)])
def test_a_tied_vote_is_decided_alike_by_predict_and_predict_proba(model):
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    model.fit(X, ["a", "b"])
    asked = np.array([[0.1, 0.9], [0.9, 0.1]])
    assert model.predict(asked).tolist() == ["a", "b"]
    assert model.classes_[model.predict_proba(asked).argmax(axis=1)].tolist() == ["a", "b"]
