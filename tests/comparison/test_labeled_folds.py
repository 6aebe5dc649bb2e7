from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from handful.comparison.splits import LabeledKFold, few_labels
from handful.errors import DataError


class LabelsOnly(KNeighborsClassifier):
    """k-NN that drops unlabeled rows, as a semi-supervised method may."""

    def fit(self, X, y):
        return super().fit(X[y != -1], y[y != -1])


@pytest.fixture
def half_labeled():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) + 6 * np.eye(3)[y][:, :2]
    y[::3] = -1
    return X, y


def test_draws_hold_every_class_and_are_nested():
    codes = np.repeat([0, 1, 2, -1], [50, 5, 2, 30])
    draws = {n: few_labels(codes, n, np.random.default_rng(7)) for n in (3, 10, 57)}
    for n, rows in draws.items():
        assert len(set(rows.tolist())) == n
        assert set(codes[rows]) == {0, 1, 2}
    assert draws[10][:3].tolist() == draws[3].tolist()
    assert np.bincount(codes[draws[10]]).tolist() in ([8, 1, 1], [7, 2, 1])
    assert draws[10].tolist() != few_labels(codes, 10, np.random.default_rng(8)).tolist()


@pytest.mark.parametrize("n", [2, 58])
def test_impossible_draws_are_refused(n):
    with pytest.raises(DataError, match=r"number of classes \(3\) and the number of labeled rows \(57\)"):
        few_labels(np.repeat([0, 1, 2, -1], [50, 5, 2, 30]), n, np.random.default_rng(0))


def test_unlabeled_rows_stay_in_training_and_out_of_scoring(half_labeled):
    X, y = half_labeled
    tested = []
    for train, test in LabeledKFold(4).split(X, y):
        assert (y[test] != -1).all()
        assert set(np.flatnonzero(y == -1)) <= set(train)
        assert sorted([*train, *test]) == list(range(60))
        assert set(y[test]) == {0, 1, 2}
        tested.extend(test)
    assert sorted(tested) == np.flatnonzero(y != -1).tolist()


def test_it_works_as_cv_of_scikit_learn(half_labeled):
    X, y = half_labeled
    scores = cross_val_score(LabelsOnly(1), X, y, cv=LabeledKFold(4))
    assert scores.mean() > 0.9
    naive = cross_val_score(LabelsOnly(1), X, y, cv=4)
    assert naive.mean() < 0.75  # what scikit-learn says when unlabeled rows count as errors
    search = GridSearchCV(LabelsOnly(), {"n_neighbors": [1, 3]}, cv=LabeledKFold(4))
    assert search.fit(X, y).best_score_ > 0.9


def test_too_few_labels_for_the_folds_are_refused():
    with pytest.raises(DataError, match=r"as many labeled rows as folds \(5\), got 2"):
        list(LabeledKFold(5).split(np.zeros((3, 1)), [0, 1, None]))


@pytest.mark.parametrize("n_splits", [2, 3, 5])
def test_every_class_is_dealt_evenly_over_the_folds(n_splits):
    y = np.repeat([0, 1, 2, -1], [23, 10, 5, 12])
    for seed in range(20):
        folds = [test for _, test in LabeledKFold(n_splits, random_state=seed).split(None, y)]
        counts = np.array([np.bincount(y[test], minlength=3) for test in folds])
        assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
