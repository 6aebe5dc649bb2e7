from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_wine

import handful
from handful.core.errors import DataError, ModelFileError, ParameterError
from handful.methods.specialists import lowered_voices
from handful.methods.team import TABLE_TEAM, TREES, Team
from handful.methods.views import TableViews, find_blocks


def wine(per_class=4, seed=0):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(seed)
    kept = np.concatenate([rng.choice(np.flatnonzero(y == c), per_class, replace=False) for c in range(3)])
    few = np.full(len(y), -1)
    few[kept] = y[kept]
    return X, few, y


def test_a_team_is_the_mean_of_the_logarithms_of_its_members():
    X, few, _ = wine()
    team = Team(["kernel-ridge", "shrunk-lda@rank", "logistic-regression@clip C=0.1"], share_power=0.0).fit(X, few)
    odds = [Team([name], share_power=0.0).fit(X, few)._odds(X) for name in team.members_]
    expected = np.exp(np.mean(odds, axis=0))
    np.testing.assert_allclose(team.predict_proba(X), expected / expected.sum(axis=1, keepdims=True))
    assert not team.shift_.any()


def test_rare_classes_are_answered_less_where_labels_were_picked_by_class():
    rng = np.random.default_rng(1)
    y = (rng.random(400) < 0.1).astype(int)
    X = rng.normal(size=(400, 3)) + 1.6 * y[:, None]
    few = np.full(400, -1)
    for c in (0, 1):
        few[np.flatnonzero(y == c)[:5]] = c
    members = ["kernel-ridge", "shrunk-bayes"]
    moved, even = (Team(members, share_power=power).fit(X, few) for power in (1.0, 0.0))
    assert moved.shift_[1] < 0 < moved.shift_[0]
    assert (moved.predict(X) == y).mean() > (even.predict(X) == y).mean()
    # labels as they come tell the shares themselves
    few = np.where(np.arange(400) < 40, y, -1)
    assert not Team(members).fit(X, few).shift_.any()


def test_a_balanced_team_finds_more_of_a_rare_class(tmp_path):
    rng = np.random.default_rng(2)
    y = (rng.random(600) < 0.1).astype(int)
    X = rng.normal(size=(600, 3)) + 1.2 * y[:, None]
    few = np.where(np.arange(600) < 60, y, -1)
    members = ["kernel-ridge", "logistic-regression@clip C=0.1 class_weight=null"]
    usual, balanced = (Team(members, balance=balance).fit(X, few) for balance in (0.0, 0.75))
    found = [(team.predict(X[60:])[y[60:] == 1] == 1).mean() for team in (usual, balanced)]
    assert found[1] > found[0] + 0.2
    odds = np.log(usual.predict_proba(X)) + balanced.balance_shift_
    np.testing.assert_allclose(
        balanced.predict_proba(X), np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True), rtol=1e-6
    )
    handful.save(balanced, tmp_path / "m.handful")
    np.testing.assert_array_equal(handful.load(tmp_path / "m.handful").predict(X), balanced.predict(X))


def test_the_default_team_beats_chance_by_far_and_survives_a_file(tmp_path):
    X, few, y = wine()
    team = Team(n_trees=20).fit(X, few)
    assert (team.predict(X) == y)[few < 0].mean() > 0.9
    assert len(team.members_) == 13
    handful.save(team, tmp_path / "team.handful")
    assert np.array_equal(handful.load(tmp_path / "team.handful").predict_proba(X), team.predict_proba(X))


def test_a_class_called_no_is_taken_to_be_more_frequent():
    X, few, _ = wine()
    kept = few != 2
    X, few = X[kept], few[kept]
    words = np.array(["yes", "no", None], dtype=object)[few]
    told = Team(["shrunk-bayes"]).fit(X, words)
    codes = np.where(few < 0, -1, 1 - few)  # no is 0, as in told.classes_
    silent = Team(["shrunk-bayes"]).fit(X, codes)
    named = Team(["shrunk-bayes"], class_names=["no", "yes"]).fit(X, codes)
    np.testing.assert_allclose(told.shift_ - silent.shift_, [0.5, 0.0])
    np.testing.assert_allclose(named.shift_, told.shift_)


def test_a_class_with_few_labels_among_classes_with_many_is_rare():
    rng = np.random.default_rng(0)
    centers = np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]], [200, 200, 6], axis=0)
    X, y = centers + rng.normal(size=(406, 2)), np.repeat([0, 1, 2], [200, 200, 6])
    few = np.full(406, -1)
    for c, n in ((0, 6), (1, 6), (2, 2)):
        few[np.flatnonzero(y == c)[:n]] = c
    team = Team(["kernel-ridge", "shrunk-bayes"]).fit(X, few)
    assert team.shift_[2] == pytest.approx(np.log(2 / 6))
    assert team.shift_[:2].max() < 0.5


def test_members_that_cannot_learn_stay_out():
    X, _, y = wine()
    few = np.full(len(y), -1)
    few[[0, 60, 150]] = y[[0, 60, 150]]  # one label per class is too few for a covariance
    team = Team(["shrunk-lda", "kernel-ridge"]).fit(X, few)
    assert team.members_[-1] == "kernel-ridge"
    with pytest.raises(DataError, match="at least one member must be able to learn"):
        Team(["logistic-regression"]).fit(X[:5], ["a", "a", None, None, None])


def test_wrong_members_are_told():
    X, few, _ = wine()
    with pytest.raises(ParameterError, match="Did you mean 'extra-trees'"):
        Team(["extra-tree"]).fit(X, few)
    with pytest.raises(ParameterError, match="a view must be one of plain, clip, rank, white, got 'ranks'"):
        Team(["k-nn@ranks"]).fit(X, few)
    with pytest.raises(ParameterError, match=r"must be like C=0\.1, got 'C'"):
        Team(["k-nn C"]).fit(X, few)


def test_blocks_are_told_from_values():
    rng = np.random.default_rng(0)
    one, two = np.eye(3)[rng.integers(0, 3, 50)], np.eye(4)[rng.integers(0, 4, 50)]
    X = np.hstack([rng.normal(size=(50, 2)), 0.7 * one, 0.7 * two, rng.normal(size=(50, 1))])
    blocks = find_blocks(X)
    assert blocks.numeric.tolist() == [0, 1, 9]
    assert [b.tolist() for b in blocks.nominal] == [[2, 3, 4], [5, 6, 7, 8]]


def test_views_of_new_rows_follow_those_of_the_old():
    rng = np.random.default_rng(0)
    X = np.hstack([rng.lognormal(size=(200, 1)), np.eye(3)[rng.integers(0, 3, 200)]])
    views = TableViews.learn(X)
    rank, clip = views.transform(X, "rank"), views.transform(X, "clip")
    np.testing.assert_allclose(rank[:, 0].std(), 1.0)
    assert abs(rank[:, 0]).max() < 4 > clip[:, 0].max()
    assert (np.argsort(rank[:, 0]) == np.argsort(X[:, 0])).all()
    np.testing.assert_allclose(clip[:, 1:].var(axis=0).sum(), 1.0)
    far = views.transform(np.array([[1e9, 0, 0, 0]]), "rank")
    assert far[0, 0] == rank[:, 0].max()


@pytest.mark.parametrize("change", ["feature", "left_child", "right_child", "sizes"])
def test_a_forest_that_could_not_have_been_grown_is_refused(change):
    from sklearn.ensemble import ExtraTreesClassifier

    from handful.core.forests import forest_from, forest_state

    X, _, y = wine()
    forest = ExtraTreesClassifier(3, random_state=0).fit(X, y)
    state = forest_state(forest)
    again = forest_from("ExtraTreesClassifier", state)
    assert np.array_equal(again.predict_proba(X), forest.predict_proba(X))
    inner = int(np.flatnonzero(state["left_child"] >= 0)[1])
    state[change] = state[change].copy()
    state[change][1 if change == "sizes" else inner] = {"feature": 99, "sizes": 0}.get(change, 0)
    with pytest.raises((ModelFileError, DataError), match=r"could not have been grown|cut off|must hold numbers"):
        forest_from("ExtraTreesClassifier", state)


def test_values_too_rare_to_be_seen_among_the_labels_are_left_out():
    rng = np.random.default_rng(0)
    codes = np.arange(400) % 2
    useful = rng.normal(size=400) + 3 * codes
    tickets = np.eye(100)[np.arange(400) % 100]  # each value in a hundredth of the rows
    frequent = (rng.random(400) < 0.5).astype(float)[:, None]
    X = np.hstack([useful[:, None], frequent, tickets])
    few = np.where(np.arange(400) < 10, codes, -1)
    for rows in (X, csr_matrix(X)):
        team = Team(["k-nn", "shrunk-bayes"]).fit(rows, few)
        assert team.kept_columns_.tolist() == [0, 1]
        assert (team.predict(rows) == codes).mean() > 0.85
    # With labels enough they count, and where there is nothing else they do.
    assert len(Team(["k-nn"]).fit(X, codes).kept_columns_) == 102
    assert len(Team(["k-nn"]).fit(tickets, few).kept_columns_) == 100


def crab_like(seed=0, n_rows=200):
    """Five measures that grow together; the classes differ in their proportions."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 4
    proportions = np.array([[0, 0, 0, 0, 0], [0, 0.1, 0, 0.02, 0], [0.1, 0.04, 0, 0, 0.06], [0.1, 0.14, 0, 0.02, 0.06]])
    size = 0.2 * rng.normal(size=(n_rows, 1))
    X = np.exp(size + proportions[y] + 0.02 * rng.normal(size=(n_rows, 5)))
    few = np.full(n_rows, -1)
    few[:20] = y[:20]
    return (X - X.mean(axis=0)) / X.std(axis=0), few, y


def test_decorrelated_columns_have_the_say_where_they_answer_far_better():
    X, few, y = crab_like()
    team = Team(n_trees=20).fit(X, few)
    say = {text: weight for text, weight in zip(team.members_, team.weights_, strict=True) if "@white" in text}
    assert sum(say.values()) > 0.9
    mean = Team(TABLE_TEAM).fit(X, few)
    hidden = few < 0
    assert (team.predict(X) == y)[hidden].mean() > (mean.predict(X) == y)[hidden].mean() + 0.2


def test_trees_have_the_say_where_only_they_see_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = (np.abs(X[:, 0]) < 0.7).astype(int)  # nothing for a linear model
    few = np.where(np.arange(300) < 120, y, -1)
    team = Team(n_trees=40).fit(X, few)
    say = sum(weight for text, weight in zip(team.members_, team.weights_, strict=True) if text in TREES)
    assert say > 0.9
    np.testing.assert_allclose(team.weights_.sum(), 1)


def test_no_specialist_has_a_say_of_its_own_without_evidence():
    X, few, _ = wine(per_class=1)
    team = Team(n_trees=20).fit(X, few)
    trees = {weight for text, weight in zip(team.members_, team.weights_, strict=True) if text in TREES}
    others = {weight for text, weight in zip(team.members_, team.weights_, strict=True) if text not in TREES}
    assert max(trees) < 3 * max(others)


def test_members_that_are_surer_than_most_are_toned_down():
    X, few, _ = wine(per_class=5)
    team = Team(n_trees=20).fit(X, few)
    assert team.voices_.shape == team.weights_.shape
    assert team.voices_.max() == 1
    loudest = {text for text, voice in zip(team.members_, team.voices_, strict=True) if voice == team.voices_.min()}
    assert loudest <= {text for text in team.members_ if "self-training" in text or "spreading" in text}
    np.testing.assert_array_equal(Team(["k-nn", "shrunk-bayes"]).fit(X, few).voices_, 1)


def test_a_member_that_is_sure_of_everything_does_not_drown_the_others():
    quiet = np.log(np.tile([0.6, 0.4], (50, 1)))
    loud = np.log(np.tile([0.02, 0.98], (50, 1)))
    odds = np.array([quiet, quiet, quiet, loud])
    assert odds.mean(axis=0)[0].argmax() == 1
    voices = lowered_voices(odds)
    assert (voices[:, None, None] * odds).mean(axis=0)[0].argmax() == 0
    np.testing.assert_array_equal(lowered_voices(np.zeros((3, 4, 2))), 1)  # nobody says anything


def test_the_white_view_is_uncorrelated_among_all_rows():
    X, _, _ = crab_like()
    views = TableViews.learn(X)
    assert views.is_collinear(X)
    assert not views.is_collinear(np.random.default_rng(0).normal(size=X.shape))
    white = views.transform(X, "white")
    assert white.shape[1] == views.width("white")
    np.testing.assert_allclose(np.corrcoef(white.T), np.eye(white.shape[1]), atol=1e-8)
    del views.state["directions"]  # as files of earlier versions have it
    np.testing.assert_allclose(views.transform(X, "white"), views.transform(X, "clip"))
