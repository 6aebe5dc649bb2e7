"""Condensed features of flat classifiers: the definitions by enumeration, folding, shards, files, inspection."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import handful
from handful.errors import DataError, ModelFileError, ParameterError
from handful.representations import counts as shards_module
from handful.representations.condensed_features import CondensedFeatures
from handful.representations.potency import condense_levels, discounted, quantized


@pytest.mark.parametrize(
    ("chosen", "even", "potency", "bin_1", "bin_10"),
    [(10, 4, log(9) - log(4), 1, 9), (1, 6, log(2) - log(6), -2, -11), (5, 4.5, 0, 0, 0), (0, 0, 0, 0, 0)],
)
def test_potency_of_one_feature(chosen, even, potency, bin_1, bin_10):
    found = discounted(np.array([chosen], float), np.array([even], float), 1.0)
    assert found[0] == pytest.approx(potency, abs=1e-12)
    assert quantized(found, 1.0)[0] == bin_1
    assert quantized(found, 10.0)[0] == bin_10


def test_without_discount_a_feature_that_is_never_chosen_stays_finite():
    found = discounted(np.array([0.0]), np.array([2.0]), 0.0)
    assert found[0] == pytest.approx(log(1e-6) - log(2))


def test_rounding_of_sums_does_not_decide():
    even = sum([0.1] * 30)  # a hair beside 3
    assert discounted(np.array([4.0, 2.0]), np.array([even, even]), 1.0).tolist() == [0.0, 0.0]
    assert quantized(np.array([1.0 + 1e-15, -1.0 - 1e-15, 1e-12]), 3.0).tolist() == [3, -3, 1]


def test_bins_of_different_types_stay_apart():
    found = condense_levels(np.array([0, 1, 0, 1]), np.array([5, 5, -5, 5]))
    assert list(zip(found.types.tolist(), found.bins.tolist(), strict=True)) == [(0, -5), (0, 5), (1, 5)]
    assert found.member_of.tolist() == [1, 2, 0, 2]


def table(seed=0, n=60, n_columns=6, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.poisson(0.4, size=(n, n_columns)).astype(float)
    X[np.arange(n), y] += rng.poisson(1.5, size=n)
    return X, np.array(["a", "b", "c", "d"])[y]


def by_definition(X, answers, n_labels):
    """V+, V-, R and A of every (column, label): a sum over all outputs of all rows."""
    plus, minus, chosen, even = np.zeros((4, X.shape[1], n_labels))
    for x, best in zip(X, answers, strict=True):
        share = 1 / n_labels
        for label in range(n_labels):
            r = float(label == best)
            chosen[:, label] += r * x
            even[:, label] += share * x
            if label == best:
                plus[:, label] += x * (r - share)
            else:
                minus[:, label] -= x * (r - share)
    return [part.ravel() for part in (plus, minus, chosen, even)]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(), LogisticRegression(fit_intercept=False)])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_counts_are_those_of_the_definition(n_classes, estimator, convert):
    X, y = table(n_classes=n_classes)
    base = estimator.fit(X[:20], y[:20])
    features = CondensedFeatures(base, discount=0.5, resolution=2.0).fit(convert(X))
    whole = np.hstack([X, np.ones((len(X), 1))]) if base.fit_intercept else X
    answers = np.searchsorted(base.classes_, base.predict(X))
    plus, minus, chosen, even = by_definition(whole, answers, n_classes)
    ids = np.arange(len(chosen))
    R, A = features.counts_.of(features._space, ids)
    assert np.array_equal(R, chosen)
    assert np.allclose(A, even, atol=1e-12)
    assert np.allclose(R - A, plus - minus, atol=1e-12)
    expected = [
        log(r - 0.5) - log(a) if r - a > 0.5 else log(r + 0.5) - log(a) if r - a < -0.5 else 0.0
        for r, a in zip(chosen, even, strict=True)
    ]
    assert np.allclose(features.potency_, expected, atol=1e-12)
    assert ((features.bins_ == 0) == (np.array(expected) == 0)).all()
    assert features.n_condensed_ == len(
        set(zip(features._space.types(ids), features.bins_, strict=True)) - zeros(features)
    )


def zeros(features):
    return {(t, 0) for t in range(len(features.type_names_))}


def test_scores_on_original_features_are_those_on_condensed_ones():
    X, y = table(1)
    features = CondensedFeatures(LogisticRegression().fit(X, y), 0.5, 3.0)
    features.fit(X)
    n_phi = 2  # of the columns and of the intercept
    w = np.random.default_rng(0).normal(size=features.n_condensed_ + n_phi)
    model = features.fold(w)
    scores = model.decision_function(X)
    for label in range(3):
        H = features.transform(X, np.full(len(X), model.classes_[label]))
        assert H.shape == (60, features.n_condensed_ + n_phi)
        assert np.allclose(H @ w, scores[:, label], atol=1e-10)
        parts = H.toarray()[:, : features.n_condensed_] * features.condensed_bins_ / 3.0
        for t in range(n_phi):
            mine = features.condensed_types_ == t
            assert np.allclose(H.toarray()[:, features.n_condensed_ + t], parts[:, mine].sum(axis=1))


def test_weights_are_carried_by_type_and_potency():
    X, y = table(1, n=120)
    base = LogisticRegression().fit(X, y)
    first = CondensedFeatures(base, 0.5, 2.0).fit(X[:40])
    model = first.fold(np.random.default_rng(0).normal(size=first.n_condensed_ + 2))
    assert np.array_equal(first.carry(model, first).condensed_weights_, model.condensed_weights_)
    second = CondensedFeatures(base, 0.5, 4.0).fit(X)
    carried = second.carry(model, first).condensed_weights_
    places = zip(first.condensed_types_, first.condensed_bins_ / 2.0, strict=True)
    known = dict(zip(places, model.condensed_weights_, strict=True))
    n_between = 0
    for t, potency, weight in zip(second.condensed_types_, second.condensed_bins_ / 4.0, carried, strict=True):
        mine = sorted(p for kind, p in known if kind == t)
        below, above = [p for p in mine if p <= potency], [p for p in mine if p >= potency]
        ends = [known[t, p] for p in (below[-1:] + above[:1])]
        assert min(ends, default=0.0) - 1e-12 <= weight <= max(ends, default=0.0) + 1e-12
        n_between += potency not in mine
    assert n_between
    with pytest.raises(ParameterError, match="same types"):
        CondensedFeatures(LogisticRegression(fit_intercept=False).fit(X, y)).fit(X).carry(model, first)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("start", ["potency", "base"])
def test_the_start_changes_the_way_but_not_the_end(penalty, start):
    X, y = table(2, n=120)
    features = CondensedFeatures(LogisticRegression().fit(X, y), discount=0.5).fit(X)
    one, other = (features.retrain(X, y, penalty=penalty, start=s, tol=1e-10) for s in ("zero", start))
    assert np.allclose(one.decision_function(X), other.decision_function(X), atol=1e-2)
    short, ahead = (features.retrain(X, y, penalty=penalty, start=s, max_iter=1) for s in ("zero", start))
    assert not np.allclose(short.decision_function(X), ahead.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("start", ["potency", "base"])
def test_online_learners_start_there_too(start):
    X, y = table(2, n=120)
    features = CondensedFeatures(LogisticRegression().fit(X, y), 0.5, 4.0).fit(X)
    hardly = {"algorithm": "fobos", "rate": 1e-9, "strength": 1e-3, "max_iter": 1}
    for phi_scale in (1.0, 0.1):
        model = features.retrain(X, y, start=start, phi_scale=phi_scale, **hardly)
        first = features._first_weights(start)
        np.testing.assert_allclose(model.condensed_weights_, features.fold(first).condensed_weights_, atol=1e-6)


def test_a_bin_starts_with_the_mean_weight_of_its_members():
    X, y = table(2, n=120)
    base = LogisticRegression(fit_intercept=False).fit(X, y)
    features = CondensedFeatures(base, discount=0.5, resolution=2.0).fit(X)
    first = features._first_weights("base")
    sizes = X.sum(axis=0)  # every class is as likely by chance
    for number in range(features.n_condensed_):
        column, label = np.divmod(features.kept_[features.members_ == number], 3)
        expected = np.average(base.coef_[label, column], weights=sizes[column])
        assert first[number] == pytest.approx(expected)
    assert np.bincount(features.members_).max() > 1


@pytest.mark.parametrize(
    "learner", [{}, {"penalty": "l1"}, {"algorithm": "pa"}, {"algorithm": "fobos", "strength": 0.1}], ids=str
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_retraining_gives_a_small_model_of_the_same_kind(learner, n_classes, tmp_path):
    X, y = table(2, n=120, n_classes=n_classes)
    base = LogisticRegression().fit(X[:30], y[:30])
    features = CondensedFeatures(base, discount=0.5).fit(X)
    model = features.retrain(X[:30], y[:30], **learner)
    assert type(model) is LogisticRegression
    assert 0 < model.n_active_condensed_ <= features.n_condensed_
    folded = model.condensed_weights_
    assert model.n_active_condensed_ == np.count_nonzero(folded)
    assert set(np.round(folded[features.members_], 12)) <= set(np.round(folded, 12))
    assert model.score(X, y) > base.score(X, y) - 0.1
    assert not np.array_equal(model.coef_, base.coef_)


def test_more_resolution_gives_more_condensed_features_and_counts_nothing_again():
    X, y = table(3)
    features = CondensedFeatures(LogisticRegression().fit(X, y), 0.5).fit(X)
    finer = features.rebin(resolution=50.0)
    again = CondensedFeatures(features.base_model, 0.5, 50.0).fit(X)
    assert finer.n_condensed_ == again.n_condensed_ > features.n_condensed_
    assert np.array_equal(finer.bins_, again.bins_)
    assert finer.counts_ is features.counts_
    assert features.rebin(discount=1e9).n_condensed_ == 0


def test_counts_do_not_depend_on_workers_and_hardly_on_shards(monkeypatch):
    X, y = table(4, n=300)
    X = X * np.random.default_rng(0).random(X.shape)
    base = LogisticRegression().fit(X, y)
    whole = CondensedFeatures(base).fit(X)
    monkeypatch.setattr(shards_module, "_SHARD_ROWS", 70)
    one, two = CondensedFeatures(base).fit(X), CondensedFeatures(base).fit(X, n_jobs=2)
    assert one.counts_.n_shards_ == 5
    assert np.array_equal(one.potency_, two.potency_)
    assert np.allclose(one.potency_, whole.potency_, rtol=0, atol=1e-12)
    assert np.array_equal(one.bins_, whole.bins_)


def test_yesterdays_counts_and_todays_rows_are_a_full_run(tmp_path, monkeypatch):
    monkeypatch.setattr(shards_module, "_SHARD_ROWS", 40)
    X, y = table(5, n=200)
    X = X * np.random.default_rng(0).random(X.shape)
    base = LogisticRegression().fit(X, y)
    whole = CondensedFeatures(base).fit(X)
    early, late = CondensedFeatures(base).fit(X[:120]), CondensedFeatures(base).fit(X[120:])
    early.save_counts(tmp_path / "early")
    late.save_counts(tmp_path / "late")
    both = CondensedFeatures(base).fit_counts([tmp_path / "early", tmp_path / "late"])
    assert np.allclose(both.potency_, whole.potency_, rtol=0, atol=1e-12)
    assert both.counts_.size == 200
    early = CondensedFeatures(base).fit_counts(tmp_path / "early")
    assert np.allclose(early.extend(X[120:]).potency_, whole.potency_, rtol=0, atol=1e-12)
    other = LogisticRegression(C=0.01).fit(X, y)
    with pytest.raises(DataError, match="another"):
        CondensedFeatures(other).fit_counts(tmp_path / "early")


def test_saved_and_loaded(tmp_path):
    X, y = table(6)
    features = CondensedFeatures(LogisticRegression().fit(X, y)).fit(X)
    handful.save(features, tmp_path / "model")
    loaded = handful.load(tmp_path / "model")
    assert np.array_equal(loaded.bins_, features.bins_)
    assert np.array_equal(loaded.retrain(X, y).coef_, features.retrain(X, y).coef_)
    features.save_counts(tmp_path / "counts")
    with pytest.raises(ModelFileError):
        handful.load(tmp_path / "counts")


def test_inspection_tells_what_fell_where():
    X, y = table(7)
    features = CondensedFeatures(LogisticRegression().fit(X, y), 0.5).fit(X)
    records = list(features.features())
    assert len(records) == len(features.kept_)
    assert [r.bin for r in records] == features.bins_[features.kept_].tolist()
    best = features.top("columns", 3)
    ranked = sorted((r for r in records if r.type == "columns"), key=lambda r: -r.potency)
    assert best == ranked[:3]
    assert features.top("columns", 1, lowest=True) == ranked[-1:]
    with pytest.raises(ParameterError, match="type must be one of"):
        features.top("nothing")


def test_what_cannot_be_counted_is_refused():
    X, y = table(8)
    base = LogisticRegression().fit(X, y)
    with pytest.raises(DataError, match="must not be negative"):
        CondensedFeatures(base).fit(-X)
    with pytest.raises(DataError, match="6 columns"):
        CondensedFeatures(base).fit(X[:, :2])
    with pytest.raises(DataError, match="there must be unlabeled inputs"):
        CondensedFeatures(base).fit(X[:0])
    with pytest.raises(DataError, match="coef_"):
        CondensedFeatures(LogisticRegression()).fit(X)
    with pytest.raises(ParameterError, match="labeled inputs"):
        CondensedFeatures(base, count_labeled=True).fit(X)
    with pytest.raises(DataError, match="labels must be those"):
        CondensedFeatures(base).fit(X).retrain(X, ["z"] * len(X))
