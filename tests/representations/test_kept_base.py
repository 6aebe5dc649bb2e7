"""Condensed features that keep the weights of the base model: the definition row by row, carrying, files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import handful
from handful.errors import ParameterError
from handful.parsing.parser import DependencyParser
from handful.representations.condensed_features import CondensedFeatures
from papers.generated_english import make_tagged_sentences

STEP, TYPES = 0.25, [0] * 6


def table(seed=0, n=90, n_columns=6, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.poisson(0.4, size=(n, n_columns)).astype(float)
    X[np.arange(n), y] += rng.poisson(1.5, size=n)
    return X, np.array(["a", "b", "c"])[y]


def fitted(X, y, counted):
    base = LogisticRegression(fit_intercept=False).fit(X, y)
    return CondensedFeatures(base, 0.5, 2.0, base_step=STEP).fit(counted)


def design(features, X):
    """Amounts of what is learned, for every row with every label: a number a (type, bin), then one per type."""
    bins = features.bins_.reshape(6, 3)
    levels = np.rint(features.base_model.coef_.T / STEP)
    kept = (bins != 0) | (levels != 0)
    pairs = sorted({(TYPES[c], bins[c, k]) for c, k in np.argwhere(kept)})
    amounts = np.zeros((len(X), 3, len(pairs) + 1))
    for row, x in enumerate(X):
        for column, label in np.argwhere(kept):
            kind = TYPES[column]
            amounts[row, label, pairs.index((kind, bins[column, label]))] += x[column]
            amounts[row, label, len(pairs) + kind] += x[column] * levels[column, label] * STEP
    return amounts, len(pairs)


def test_a_condensed_feature_is_a_type_a_bin_and_a_rounded_weight():
    X, y = table()
    features = fitted(X[:30], y[:30], X)
    levels = np.rint(features.base_model.coef_.T.ravel() / STEP)
    bins, kinds = features.bins_, np.repeat(TYPES, 3)
    expected = {(t, b, level) for t, b, level in zip(kinds, bins, levels, strict=True) if b or level}
    parts = features.condensed_types_, features.condensed_bins_, features.condensed_levels_
    assert list(zip(*parts, strict=True)) == sorted(expected)
    assert len(set(zip(*parts[:2], strict=True))) < features.n_condensed_
    for number, feature in enumerate(features.kept_):
        m = features.members_[number]
        assert (kinds[feature], bins[feature], levels[feature]) == tuple(part[m] for part in parts)


def test_features_near_chance_are_kept_for_their_base_weight():
    X, y = table()
    features = fitted(X[:30], y[:30], X).rebin(discount=1e6)
    assert set(features.condensed_bins_) == {0}
    assert len(features.kept_) == np.count_nonzero(np.rint(features.base_model.coef_ / STEP))


def test_what_is_learned_is_the_optimum_over_all_rows():
    X, y = table()
    features = fitted(X[:30], y[:30], X)
    amounts, _ = design(features, X[30:])
    right = np.searchsorted(["a", "b", "c"], y[30:])

    def loss(w):
        scores = amounts @ w
        chance = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        rows = np.arange(len(right))
        slope = np.einsum("rk,rkf->f", chance, amounts) - amounts[rows, right].sum(axis=0) + 2.0 * w
        return -np.log(chance[rows, right]).sum() + w @ w, slope

    best = minimize(loss, np.zeros(amounts.shape[2]), jac=True, tol=1e-12)
    model = features.retrain(X[30:], y[30:], strength=1.0, tol=1e-12)
    np.testing.assert_allclose(model.tied_weights_, best.x, atol=1e-4)
    np.testing.assert_allclose(model.decision_function(X), design(features, X)[0] @ best.x, atol=1e-3)
    assert len(best.x) < features.n_condensed_ + 1


@pytest.mark.parametrize("phi_scale", [1.0, 0.1])
def test_training_starts_with_the_rounded_base_weights(phi_scale):
    X, y = table()
    features = fitted(X, y, X)
    hardly = {"algorithm": "fobos", "rate": 1e-9, "strength": 1e-3, "max_iter": 1, "phi_scale": phi_scale}
    rounded = np.rint(features.base_model.coef_ / STEP) * STEP
    np.testing.assert_allclose(features.retrain(X, y, **hardly).decision_function(X), X @ rounded.T, atol=1e-5)
    assert not features.retrain(X, y, start="zero", **hardly).decision_function(X).round(5).any()
    with pytest.raises(ParameterError, match='start must be "base" or "zero" with base_step'):
        features.retrain(X, y, start="potency")


def test_carried_numbers_meet_the_base_weights_of_the_other():
    X, y = table(n=120)
    early, whole = fitted(X[:50], y[:50], X), fitted(X, y, X)
    learned = early.retrain(X[50:], y[50:])
    assert np.array_equal(early.carry(learned, early).condensed_weights_, learned.condensed_weights_)
    model = whole.carry(learned, early)
    firsts = {}
    for place, number in enumerate(zip(early.condensed_types_, early.condensed_bins_, strict=True)):
        firsts.setdefault(number, place)
    n_known = 0
    for number in range(whole.n_condensed_):
        kind, bin_, level = (
            part[number] for part in (whole.condensed_types_, whole.condensed_bins_, whole.condensed_levels_)
        )
        if (kind, bin_) in firsts:
            at = firsts[kind, bin_]
            scale = learned.tied_weights_[-1 + kind]
            own = learned.condensed_weights_[at] - scale * early.condensed_levels_[at] * STEP
            assert model.condensed_weights_[number] == pytest.approx(own + scale * level * STEP)
            n_known += 1
    assert n_known
    plain = CondensedFeatures(whole.base_model, 0.5, 2.0).fit(X)
    with pytest.raises(ParameterError, match="learned with base_step cannot be carried to features without base_step"):
        plain.carry(learned, early)
    with pytest.raises(ParameterError, match="learned without base_step cannot be carried to features with base_step"):
        whole.carry(plain.retrain(X, y), plain)


def test_models_and_weights_of_others_are_refused():
    X, y = table(n=120)
    early, whole = fitted(X[:50], y[:50], X), fitted(X, y, X).rebin(resolution=20.0)
    learned = early.retrain(X[50:], y[50:])
    assert early._tying.n_tied != whole._tying.n_tied
    for model, features in [(learned, whole), (whole.base_model, early), (None, early)]:
        with pytest.raises(ParameterError, match="must be what retrain of these features returned"):
            whole.carry(model, features)
    with pytest.raises(ParameterError, match="must be CondensedFeatures, got LogisticRegression"):
        whole.carry(learned, whole.base_model)
    n = early._tying.n_tied
    for weights in (np.zeros(3), np.zeros(n - 1), np.full(n, np.nan), np.zeros((n, 1))):
        with pytest.raises(ParameterError, match=f"weights must be {n} finite numbers"):
            early.fold(weights)
    for wrong in ({"strength": float("nan")}, {"strength": 0.0}, {"rate": 0.0}, {"phi_scale": -1.0}):
        with pytest.raises(ParameterError, match="must be above 0"):
            early.retrain(X, y, **wrong)


def test_files_hold_the_step_and_what_was_learned(tmp_path):
    trees = make_tagged_sentences(60, random_state=0)
    parser = DependencyParser(algorithm="fobos", rate=0.05, max_iter=3).fit(trees[:20])
    features = CondensedFeatures(parser, base_step=0.02, vocabulary="all", min_count=2)
    features.fit([tree.sentence for tree in trees[40:]], labeled=trees[:20])
    handful.save(features, tmp_path / "features.handful")
    again = handful.load(tmp_path / "features.handful")
    assert np.array_equal(again.condensed_levels_, features.condensed_levels_)
    assert again.condensed_levels_.any()
    model = features.retrain(trees[20:40], None, algorithm="fobos", rate=0.01, max_iter=2)
    assert model.n_active_condensed_ <= features.n_condensed_ < parser.n_active_
    handful.save(model, tmp_path / "model.handful")
    loaded = handful.load(tmp_path / "model.handful")
    assert loaded.predict(trees[40:]) == model.predict(trees[40:])
    carried, same = (features.carry(m, features).condensed_weights_ for m in (loaded, model))
    assert np.array_equal(carried, same)
