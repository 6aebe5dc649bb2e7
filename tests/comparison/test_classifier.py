from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import handful
from handful.comparison.splits import LabeledKFold
from handful.models.ensemble import Ensemble
from handful.registry import get_method

TINY = get_method("ensemble", "table").make_estimator(3, 0, {"n_trees": 3})

# Checks that contradict how unlabeled rows are marked, or how tables are read.
EXPECTED = {
    "check_classifiers_classes": "fits labels {-1, +1}, which are ambiguous here: -1 also marks an unlabeled row",
}


@parametrize_with_checks(
    [handful.HandfulClassifier(TINY, estimate=False)], expected_failed_checks=lambda estimator: EXPECTED
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def few():
    X, y = load_wine(return_X_y=True)
    return X, y, np.where(np.arange(len(y)) % 4 == 0, y, -1)


def test_it_fits_estimates_and_is_saved(few, tmp_path):
    X, y, labels = few
    model = handful.HandfulClassifier("logistic-regression").fit(X, labels)
    assert model.score(X, y) > 0.85
    assert model.estimate_["low"] < model.estimate_["value"] < model.estimate_["high"]
    handful.save(model.model_, tmp_path / "m.handful")
    assert handful.load(tmp_path / "m.handful").predict(X).tolist() == model.predict(X).tolist()


def test_the_default_is_the_ensemble(few):
    X, _, labels = few
    model = handful.HandfulClassifier(estimate=False).fit(X, labels)
    assert isinstance(model.model_.estimator_, Ensemble)
    assert model.estimate_ is None


def test_frames_with_names_and_missing_cells(few):
    X, y, labels = few
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 2, "high", None), "c": X[:, 6]})
    model = handful.HandfulClassifier("k-nn", estimate=False).fit(frame, labels)
    assert model.n_features_in_ == 3
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.score(frame, y) > 0.6
    texts = ["good film", "bad film", "good play", "bad play"] * 5
    signs = ["+", "-"] * 2 + [None] * 16
    text_model = handful.HandfulClassifier("k-nn", estimate=False).fit(texts, signs)
    assert set(text_model.predict(["a bad day"])) <= {"+", "-"}


def test_it_works_in_cross_validation(few):
    X, _, labels = few
    model = handful.HandfulClassifier("k-nn", estimate=False)
    scores = cross_val_score(model, X, labels, cv=LabeledKFold(3))
    assert scores.mean() > 0.5
