"""The ensemble: what must not change its answers, calibration, weights, priors, model files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons

from handful.models.classifiers import NaiveBayesEM
from handful.models.ensemble import Ensemble, content_order, estimate_priors, fit_temperature, fit_weights
from handful.models.table_model import TableModel
from handful.persistence.model_file import load, save


def _table(loader=load_wine, n_labeled=24, seed=0):
    X, y = loader(return_X_y=True)
    rng = np.random.default_rng(seed)
    X = np.column_stack([X, (X[:, 0] > np.median(X[:, 0])).astype(float), rng.integers(0, 2, len(X))])
    labels = np.full(len(y), -1)
    labeled = rng.permutation(len(y))[:n_labeled]
    labels[labeled] = y[labeled]
    return X, labels, y


@pytest.fixture(scope="module")
def fitted():
    X, _, y = _table()
    labels = np.full(len(y), -1)
    labeled = np.concatenate([np.flatnonzero(y == c)[:8] for c in range(3)])  # picked by class: priors are estimated
    labels[labeled] = y[labeled]
    return X, labels, Ensemble(n_trees=20).fit(X, labels)


def test_students_learn_from_confident_predictions_and_make_no_row_more_confident(fitted):
    X, _, model = fitted
    assert len(model.students_) == 2
    both = model.predict_proba(X)
    students, model.students_ = model.students_, []
    alone = model.predict_proba(X)
    model.students_ = students
    assert np.abs(both - alone).max() > 0.01
    assert (both.max(axis=1) <= alone.max(axis=1) + 1e-12).all()
    np.testing.assert_allclose(both.sum(axis=1), 1.0)
    uneven = np.concatenate([np.repeat([0, 1, 2], [16, 9, 5]), np.full(len(X) - 30, -1)])
    assert not Ensemble(n_trees=5).fit(X, uneven).students_  # class frequencies are those of the labels


def test_renaming_classes_changes_nothing(fitted):
    X, labels, model = fitted
    names = np.array(["b", "c", "a", None], dtype=object)  # another alphabetical order; the last is for -1
    renamed = Ensemble(n_trees=20).fit(X, names[labels])
    assert renamed.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(renamed.predict_proba(X)[:, [1, 2, 0]], model.predict_proba(X))


def test_permuting_rows_and_columns_changes_nothing(fitted):
    X, labels, model = fitted
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    permuted = Ensemble(n_trees=20).fit(X[rows][:, columns], labels[rows])
    np.testing.assert_allclose(permuted.predict_proba(X[:, columns]), model.predict_proba(X), atol=1e-9)


def test_rescaling_a_column_changes_nothing(fitted):
    X, labels, model = fitted
    scale = np.ones(X.shape[1])
    scale[3] = 1024.0
    scaled = Ensemble(n_trees=20).fit(X * scale, labels)
    np.testing.assert_allclose(scaled.predict_proba(X * scale), model.predict_proba(X), atol=1e-6)


def test_doubling_unlabeled_rows_changes_nothing(fitted):
    X, labels, model = fitted
    spare = labels == -1
    doubled = Ensemble(n_trees=20).fit(np.vstack([X, X[spare]]), np.r_[labels, labels[spare]])
    np.testing.assert_allclose(doubled.predict_proba(X), model.predict_proba(X), atol=1e-9)


def test_content_order_follows_the_columns():
    X, _, _ = _table()
    order, keys = content_order(X)
    permutation = np.random.default_rng(0).permutation(X.shape[1])
    again, same_keys = content_order(X[:, permutation])
    assert permutation[again].tolist() == order.tolist()
    assert same_keys.tolist() == keys.tolist()


def test_the_graph_has_the_say_where_labels_follow_a_manifold():
    X, y = make_moons(600, noise=0.06, random_state=0)
    labels = np.full(len(y), -1)
    labeled = np.random.default_rng(0).permutation(len(y))[:30]
    labels[labeled] = y[labeled]
    model = Ensemble(n_trees=20).fit(X, labels)
    graph = model.members_.index("label-spreading")
    linear = model.members_.index("logistic-regression")
    assert model.weights_[graph] > 1.5 * model.weights_[linear]
    assert (model.predict(X) == y).mean() > 0.95


def test_digits_with_five_labels_of_each_class():
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(3)
    labels = np.full(len(y), -1)
    for c in range(10):
        labels[rng.choice(np.flatnonzero(y == c), 5, replace=False)] = c
    model = Ensemble(n_trees=30).fit(X, labels)
    assert (model.predict(X)[labels == -1] == y[labels == -1]).mean() > 0.85


def test_confidence_is_capped_by_the_evidence():
    X, labels, _ = _table(load_breast_cancer, n_labeled=10)
    proba = Ensemble(n_trees=20).fit(X, labels).predict_proba(X)
    assert proba.max() <= 11 / 12
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_confidence_is_low_where_columns_tell_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 6)), rng.integers(0, 2, 400)
    labels = np.where(np.arange(400) < 40, y, -1)
    proba = Ensemble(n_trees=20).fit(X, labels).predict_proba(X[40:])
    assert (proba.max(axis=1) >= 0.8).mean() < 0.05


def test_temperature_of_calibrated_probabilities_is_near_one():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=4000)
    log_proba = np.log(np.column_stack([p, 1 - p]))
    codes = (rng.uniform(size=4000) > p).astype(int)
    assert fit_temperature(log_proba, codes) == pytest.approx(1.0, abs=0.1)
    assert fit_temperature(3 * log_proba, codes) == pytest.approx(1 / 3, abs=0.05)
    assert fit_temperature(log_proba[:0], codes[:0]) == 1.0


def test_weights_maximize_the_penalized_likelihood():
    likelihoods = np.random.default_rng(0).uniform(0.05, 1, size=(3, 50))
    weights = fit_weights(likelihoods, strength=10.0)

    def objective(w):
        return np.log(w @ likelihoods).sum() + 10 / 3 * np.log(w).sum()

    best = objective(weights)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        other = weights.copy()
        other[i] += 0.01
        other[j] -= 0.01
        assert objective(other) < best
    assert fit_weights(np.ones((4, 0))).tolist() == [0.25] * 4
    assert fit_weights(np.ones((3, 0)), [2.0, 1.0, 1.0]).tolist() == [0.5, 0.25, 0.25]


def test_few_rows_leave_weights_nearly_equal():
    likelihoods = np.vstack([np.full(10, 0.9), np.full(10, 0.5)])
    few, many = fit_weights(likelihoods), fit_weights(np.tile(likelihoods, 50))
    assert 0.5 < few[0] < 0.8 < many[0]


def test_priors_are_estimated_where_labels_were_picked_by_class():
    rng = np.random.default_rng(0)
    y = (rng.uniform(size=1000) < 0.15).astype(int)
    X = rng.normal(size=(1000, 4)) + 1.5 * y[:, None]
    labels = np.full(1000, -1)
    for c in (0, 1):
        labels[np.flatnonzero(y == c)[:10]] = c
    model = Ensemble(n_trees=20).fit(X, labels)
    assert model.priors_estimated_
    assert 0.15 < model.class_priors_[1] < 0.45
    fixed = Ensemble(n_trees=20, class_priors="labels").fit(X, labels)
    assert fixed.class_priors_.tolist() == [0.5, 0.5]
    assert (model.predict(X) == y).mean() >= (fixed.predict(X) == y).mean()


def test_estimated_priors_are_a_fixed_point():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1, 1], 200)
    frequencies, counts = np.full(3, 1 / 3), rng.integers(1, 4, 200)
    priors = estimate_priors(proba, frequencies, counts)
    posterior = proba * priors / frequencies
    posterior /= posterior.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(priors, (counts @ posterior / counts.sum() + frequencies) / 2, atol=1e-6)


def test_balance_predicts_rare_classes_more_often():
    X, labels, _ = _table(load_breast_cancer, n_labeled=40)
    labels[np.flatnonzero(labels == 0)[3:]] = -1
    plain, balanced = (Ensemble(n_trees=20, balance=b).fit(X, labels).predict(X) for b in (0.0, 1.0))
    assert (balanced == 0).sum() > (plain == 0).sum()


def test_quick_is_a_plain_mean_of_fewer_members():
    X, labels, _ = _table()
    model = Ensemble(n_trees=20, quick=True).fit(X, labels)
    assert model.members_ == ["extra-trees", "logistic-regression", "logistic-regression-rank"]
    assert model.weights_.tolist() == pytest.approx([1 / 3] * 3)
    assert len(model.oof_rows_) == 0


def test_one_label_per_class_and_one_class():
    X, labels, y = _table()
    first = np.array([np.flatnonzero(y == c)[0] for c in range(3)])
    single = np.full(len(y), -1)
    single[first] = y[first]
    assert Ensemble(n_trees=5).fit(X, single).predict_proba(X).shape == (len(X), 3)
    alone = np.where(labels == 1, "only", None)
    assert set(Ensemble(n_trees=5).fit(X, alone).predict(X)) == {"only"}


def test_model_file_answers_the_same(fitted, tmp_path):
    X, _, model = fitted
    save(model, tmp_path / "m.handful")
    np.testing.assert_allclose(load(tmp_path / "m.handful").predict_proba(X), model.predict_proba(X), atol=1e-12)


def _texts(n=120, seed=5):
    words = {
        "pet": ["dog", "cat", "fur", "paw", "tail", "bark"],
        "sea": ["boat", "wave", "salt", "sail", "tide", "crab"],
    }
    rng = np.random.default_rng(seed)
    names = ["pet", "sea"] * (n // 2)
    return [" ".join([*rng.choice(words[name], 3), "the"]) for name in names], names


def test_texts_and_other_columns_join(tmp_path):
    import polars as pl

    texts, names = _texts()
    number = np.random.default_rng(0).normal(size=len(texts))
    frame = pl.DataFrame({"text": texts, "number": number})
    labels = [name if i < 12 else None for i, name in enumerate(names)]
    kinds = {"text": "text", "number": "numeric"}
    model = TableModel("ensemble", kinds=kinds, params={"n_trees": 5}).fit(frame, labels)
    assert {"naive-bayes-em", "logistic-regression-lsa", "extra-trees"} <= set(model.estimator_.members_)
    assert (model.predict(frame)[12:] == np.array(names[12:])).mean() > 0.9
    save(model, tmp_path / "m.handful")
    np.testing.assert_allclose(load(tmp_path / "m.handful").predict_proba(frame), model.predict_proba(frame), atol=1e-9)


def test_naive_bayes_learns_words_from_unlabeled_rows():
    # "b" stands only beside "a" in rows without a label
    X = np.array([[3.0, 0, 0, 0], [0, 0, 3, 0], *[[1, 2, 0, 0]] * 8, *[[0, 0, 1, 2]] * 8])
    y = ["first", "second", *[None] * 16]
    new = np.array([[0.0, 2, 0, 0], [0, 0, 0, 2]])
    assert NaiveBayesEM().fit(X, y).predict(new).tolist() == ["first", "second"]
    alone = NaiveBayesEM().fit(X[:2], y[:2]).predict_proba(new)
    assert alone == pytest.approx(np.full((2, 2), 0.5), abs=0.05)
