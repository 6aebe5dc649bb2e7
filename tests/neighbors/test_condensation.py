"""Certificates, budgets and curves of condensed sets."""

from __future__ import annotations

import numpy as np
import pytest

from handful.core.errors import DataError
from handful.core.store import read_model, write_model
from handful.neighbors import CondensedNN, SemiSupervisedCondensedNN


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


def test_certificate_counts_what_is_wrong():
    X, y = overlapping()
    model = CondensedNN().fit(X, y)
    certificate = model.certify(X, y)
    assert certificate.wrong.tolist() == np.flatnonzero(model.predict(X) != y).tolist()
    assert certificate.accuracy == pytest.approx(model.score(X, y))
    assert not certificate.consistent
    assert certificate.n_kept == len(model.kept_) == sum(certificate.reasons.values())
    full = CondensedNN(max_passes=None).fit(X, y).certify(X, y)
    assert full.consistent
    assert full.accuracy == 1
    hidden = np.where(np.arange(200) < 50, y, None)
    assert model.certify(X, hidden).n_rows == 50
    assert model.certify(X, np.full(200, "never seen")).accuracy == 0


def test_budget_is_a_prefix():
    X, y = overlapping()
    whole = CondensedNN(max_passes=None).fit(X, y)
    for budget in (1, 10, len(whole.kept_)):
        model = CondensedNN(max_passes=None, max_kept=budget).fit(X, y)
        assert model.kept_.tolist() == whole.kept_[:budget].tolist()
        assert model.termination_condition_ == "max_kept"
    assert CondensedNN(max_passes=None, max_kept=200).fit(X, y).termination_condition_ == "no_change"


@pytest.mark.parametrize("method", [CondensedNN(max_passes=None), SemiSupervisedCondensedNN()])
def test_curve_is_what_smaller_budgets_give(method):
    X, y = overlapping()
    model = method.fit(X, y)
    sizes, accuracy = model.curve(X, y)
    assert sizes[0] == 1
    assert sizes[-1] == len(model.kept_)
    assert accuracy[-1] == pytest.approx(model.score(X, y))
    if isinstance(method, CondensedNN):
        few = CondensedNN(max_passes=None, max_kept=4).fit(X, y)
        assert accuracy[sizes.tolist().index(4)] == pytest.approx(few.score(X, y))
    with pytest.raises(DataError, match="sizes must lie between 1 and"):
        model.curve(X, y, [0])


def test_a_forged_file_is_refused(tmp_path):
    X, y = overlapping()
    model = CondensedNN().fit(X, y)
    model.stored_codes_ = model.stored_codes_ + 7  # points outside the classes
    write_model(model, tmp_path / "model")
    with pytest.raises(Exception, match="stored_codes_ must hold numbers below"):
        read_model(tmp_path / "model", lambda _: CondensedNN)
