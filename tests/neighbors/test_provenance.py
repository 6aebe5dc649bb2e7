"""Pseudo-labels can be traced to a given label."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from handful.neighbors.condensed import SemiSupervisedCondensedNN
from handful.neighbors.ordinal import OrdinalKNN
from handful.persistence.model_file import load, save


def chain():
    """Two chains of rows from two seeds; a third seed with a wrong label sits at the end of the first."""
    X = np.array([[0.0], [20.0], [1.0], [2.0], [19.0], [6.0], [5.5], [18.0]])
    return X, np.array(["a", "b", None, None, None, "b", None, None], dtype=object)


def test_ordinal_labels_descend_from_seeds():
    X, y = chain()
    model = OrdinalKNN().fit(X, y)
    assert model.lineage(3) == (2, 0)
    assert model.lineage(6) == (5,)
    assert model.lineage(0) == ()
    assert model.labeled_iter_[3] == model.order_.tolist().index(3) + 1
    assert model.origin_.tolist() == [0, 1, 0, 0, 1, 5, 5, 1]
    for row in range(len(X)):
        lineage = model.lineage(row)
        assert (lineage[-1] if lineage else row) == model.origin_[row]
        assert model.transduction_[row] == model.transduction_[model.origin_[row]]


def test_untrusted_rows_have_no_children():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + np.arange(60)[:, None] % 3
    y = np.array([*"abcabcabc", *[None] * 51], dtype=object)
    model = OrdinalKNN(3, min_confidence=0.7).fit(X, y)
    untrusted = np.flatnonzero(model.labeled_iter_ == -1)
    assert 0 < len(untrusted) < 51
    assert model.termination_condition_ == "all_visited"
    assert not set(model.parent_.tolist()) & set(untrusted.tolist())
    assert len(model.stored_codes_) == 60 - len(untrusted)


def test_semi_supervised_labels_come_straight_from_seeds():
    X, y = chain()
    model = SemiSupervisedCondensedNN(n_neighbors=1).fit(X, y)
    assert model.parent_.tolist() == [-1, -1, 0, 0, 1, -1, 5, 1]
    assert model.lineage(6) == (5,)
    assert model.confidence_[6] == 1.0
    three = SemiSupervisedCondensedNN(n_neighbors=3).fit(X, y)
    assert three.confidence_[6] == pytest.approx(2 / 3)
    assert three.labeled_iter_[6] == -1
    assert three.termination_condition_ == "max_iter"


@pytest.mark.parametrize("method", [OrdinalKNN(), SemiSupervisedCondensedNN(n_neighbors=1)])
def test_the_training_table_is_not_carried_along(method, tmp_path):
    X, y = chain()
    model = method.fit(X, y)
    save(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model", lambda _: type(method))):
        assert copy.lineage(6) == model.lineage(6)
