"""Reasons, passes and budgets of condensed sets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from handful.errors import DataError
from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN
from handful.neighbors.ordinal import OrdinalKNN
from handful.persistence.model_file import read_model, write_model


def overlapping(n=200):
    rng = np.random.default_rng(1)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + y[:, None], np.array(["no", "yes"])[y]


def test_reasons_and_passes():
    X, y = overlapping()
    model = CondensedNN(3, min_confidence=0.7, max_passes=None).fit(X, y)
    assert model.reasons_[0] == "first"
    assert set(model.reasons_[1:]) == {"wrong", "unsure"}
    assert model.passes_[0] == 1
    assert (np.diff(model.passes_) >= 0).all()
    assert model.termination_condition_ == "no_change"
    assert model.passes_.max() == model.n_iter_ - 1
    assert set(CondensedNN().fit(X, y).reasons_[1:]) == {"wrong"}
    assert CondensedNN().fit(X, y).termination_condition_ == "max_passes"


def test_sweeps_to_convergence_predict_every_training_row():
    X, y = overlapping()
    assert CondensedNN().fit(X, y).score(X, y) < 1
    assert CondensedNN(max_passes=None).fit(X, y).score(X, y) == 1


def test_the_weakened_rule_is_never_chosen_with_fewer_than_three_neighbors():
    X = np.repeat(np.arange(20.0), 3)[:, None] * 10
    y = np.repeat(np.arange(20) % 2, 3)
    X[::3] += 0.1
    assert CondensedNN(n_neighbors="cv").fit(X, y).n_neighbors_ == 1
    assert CondensedNN(n_neighbors="cv", min_confidence=0.55).fit(X, y).n_neighbors_ == 3


@pytest.mark.parametrize("method", [CondensedNN(), SemiSupervisedCondensedNN(), OrdinalKNN()])
@pytest.mark.parametrize("scale", [1e152, 1e200])
def test_values_whose_distances_overflow_are_refused(method, scale):
    X, y = overlapping(40)
    model = method.fit(X, y)
    with pytest.raises(DataError, match=r"a value of .* is too large: distances overflow above"):
        clone(method).fit(X * scale, y)
    with pytest.raises(DataError, match="is too large"):
        model.predict(X * scale)


def test_a_forged_file_is_refused(tmp_path):
    X, y = overlapping()
    model = CondensedNN().fit(X, y)
    model.stored_codes_ = model.stored_codes_ + 7  # points outside the classes
    write_model(model, tmp_path / "model")
    with pytest.raises(Exception, match="stored_codes_ must hold numbers below"):
        read_model(tmp_path / "model", lambda _: CondensedNN)
