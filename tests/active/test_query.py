from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.telling import open_share
from scipy import sparse

from handful.active.estimates import encode_table
from handful.active.merge import SELECTION, merge_labels
from handful.active.query import KNOWN_CLUSTER, NEW_CLUSTER, OUTLIER, RANDOM, ActiveLearner, suggest
from handful.active.strategies import (
    STRATEGIES,
    as_points,
    choose_expected,
    choose_informative,
    margins,
    nearness,
    query_strategy,
)
from handful.data.table import as_table
from handful.errors import DataError, ParameterError
from handful.models.table_model import TableModel
from handful.preprocessing.table_encoder import Rows

CENTERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])


def clouds(n_each: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    codes = np.repeat(np.arange(4), n_each)
    return CENTERS[codes] + np.random.default_rng(seed).normal(size=(4 * n_each, 2)), codes


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3), st.integers(0, 2)), min_size=1, max_size=8),
    st.lists(st.integers(0, 7), max_size=3),
    st.integers(1, 6),
)
def test_each_choice_leaves_the_least_open(points, labeled, n):
    places, weights, free = (np.array(column) for column in zip(*points, strict=True))
    near = nearness(places[:, None].astype(float))
    known = [at for at in labeled if at < len(points)]
    n_labels = np.bincount(np.array(known, dtype=int), minlength=len(points))
    chosen = choose_informative(near, weights.astype(float), n_labels, free, n)
    assert len(chosen) == min(n, free.sum())
    left = free.copy()
    for number, point in enumerate(chosen):
        before = known + chosen[:number]
        open_ = {at: open_share(near, weights, [*before, at], 0.1) for at in np.flatnonzero(left > 0).tolist()}
        assert open_[point] <= min(open_.values()) + 1e-8
        left[point] -= 1


def test_nearness_falls_with_distance_and_equal_points_are_near():
    near = nearness(np.array([[0.0], [1.0], [3.0]]))
    assert near.diagonal().tolist() == [1.0, 1.0, 1.0]
    assert near[0, 1] > near[1, 2] > near[0, 2]
    assert near[1, 2] == pytest.approx(np.exp(-0.5))
    assert nearness(np.ones((3, 2))).tolist() == [[1.0] * 3] * 3


def test_without_labels_every_region_comes_first():
    X, codes = clouds()
    picks = suggest(X, n=4)
    assert {codes[pick.row] for pick in picks} == {0, 1, 2, 3}
    assert all(pick.suggestion is None and pick.confidence is None for pick in picks)
    assert {pick.reason for pick in picks} <= {NEW_CLUSTER, OUTLIER}


def test_the_region_without_a_label_is_chosen():
    X, codes = clouds()
    y = [None] * len(X)
    for code in range(3):
        for row in np.flatnonzero(codes == code)[:2]:
            y[row] = "abc"[code]
    pick = suggest(X, y, n=1)[0]
    assert codes[pick.row] == 3


def test_margin_chooses_between_two_classes_and_says_so():
    X = np.linspace(0, 10, 101)[:, None]
    y = [None] * 101
    y[0] = y[1] = "low"
    y[99] = y[100] = "high"
    picks = [one for one in suggest(X, y, n=4, strategy="margin") if not one.random]
    assert all(25 < pick.row < 75 for pick in picks)
    assert {pick.reason for pick in picks} <= {"uncertain: low or high", "uncertain: high or low"}
    assert all(0.3 < pick.confidence < 0.9 for pick in picks)


def test_suggestions_follow_the_labels():
    X, codes = clouds()
    y = np.full(len(X), None, dtype=object)
    for code in range(4):
        y[np.flatnonzero(codes == code)[:3]] = f"class {code}"
    loop = ActiveLearner(X, y)
    told = loop.suggest(range(len(X)))
    right = [pick.suggestion == f"class {code}" for pick, code in zip(told, codes, strict=True)]
    assert np.mean(right) > 0.97


def test_picks_are_new_distinct_and_repeatable():
    X, codes = clouds()
    y = np.full(len(X), -1)
    y[::7] = codes[::7]
    for strategy in ("auto", "margin", "random"):
        picks = suggest(X, y, n=30, strategy=strategy, random_state=3)
        rows = [pick.row for pick in picks]
        assert len(set(rows)) == 30
        assert not set(rows) & set(range(0, len(X), 7))
        assert picks == suggest(X, y, n=30, strategy=strategy, random_state=3)


def test_a_label_can_be_taken_back():
    X, _ = clouds()
    loop = ActiveLearner(X)
    before = loop.next(3)
    loop.update({0: "a", 40: "b"})
    assert loop.classes == ["a", "b"]
    loop.update({0: None, 40: None})
    assert loop.next(3) == before
    with pytest.raises(DataError, match="row must be one of the 120 rows, got 120"):
        loop.label(120, "a")


def test_fewer_rows_than_asked_are_all_chosen():
    assert sorted(pick.row for pick in suggest([[0.0], [1.0], [2.0]], ["a", None, None], n=20)) == [1, 2]


def test_all_labeled_none_labeled_and_wrong_use_are_told():
    with pytest.raises(DataError, match="at least one row must be unlabeled, got 2 rows that all have labels"):
        suggest([[0.0], [1.0]], ["a", "b"])
    assert len(suggest([[0.0], [1.0]], [None, None])) == 2
    with pytest.raises(DataError, match=r"[Aa]t least one row is needed"):
        suggest(np.zeros((0, 3)))
    with pytest.raises(DataError, match="of one length, got 2 and 1"):
        suggest([[0.0], [1.0]], ["a"])
    with pytest.raises(ParameterError, match="n must be at least 1, got 0"):
        suggest([[0.0], [1.0]], n=0)
    with pytest.raises(ParameterError, match="strategy must be one of auto"):
        suggest([[0.0], [1.0]], strategy="best")
    with pytest.raises(DataError, match="rows must have two dimensions"):
        suggest(np.zeros(3))


def test_a_long_table_is_sampled_and_audits_reach_beyond():
    X, _ = clouds(100)
    loop = ActiveLearner(X, max_pool=50)
    assert len({pick.row for pick in loop.next(400)}) == 400
    loop.label(0, "a")
    loop.label(399, "b")
    assert any(pick.suggestion is None for pick in loop.suggest(range(400)))


def test_texts_tables_and_sparse_rows_are_taken():
    texts = ["the cat sat on the mat", "the cat sat up", "stocks fell again", "stocks fell, then rose"] * 6
    y = [None] * 24
    y[0], y[2] = "pets", "money"
    told = ActiveLearner(texts, y).suggest(range(24))
    assert [pick.suggestion for pick in told[:4]] == ["pets", "pets", "money", "money"]
    frame = pl.DataFrame({"size": range(24), "color": ["red", "blue"] * 12, "name": [f"n{i}" for i in range(24)]})
    assert len(suggest(frame, n=3)) == 3
    assert len(suggest(sparse.random(30, 50, 0.2, format="csr", random_state=0), n=3)) == 3


def test_rows_of_texts_alone_are_directions_without_what_all_have_in_common():
    parts = np.array([[3.0, 1.0, 0.0], [3.0, -1.0, 0.0], [3.0, 0.0, 2.0], [3.0, 0.0, -2.0]])
    texts = as_points(Rows.of(parts, {"lsa": (0, 2), "letters": (2, 3)}, None), 0)
    assert texts.tolist() == [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    beside_other_columns = as_points(Rows.of(parts, {"lsa": (0, 2)}, None), 0)
    assert beside_other_columns.tolist() == parts.tolist()


def test_margins_are_the_lead_of_the_best_class():
    assert margins(np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])).round(6).tolist() == [0.2, 1.0]


def test_auto_goes_where_models_are_unsure_once_there_are_two_classes():
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [9.0, 0.0], [4.5, 0.0]], [60, 60, 20], axis=0)
    X = places + rng.normal(scale=0.7, size=(140, 2))
    loop = ActiveLearner(X)
    loop.update(dict.fromkeys(range(6), "left"))
    assert loop.next(1)[0].row >= 60  # nothing is known of the right
    loop.update(dict.fromkeys(range(60, 66), "right"))
    between = [pick for pick in loop.next(4) if pick.row >= 120]
    assert between


def test_progress_tells_of_the_preparation():
    told = []
    suggest(clouds()[0], n=1, progress=told.append)
    assert [(step.stage, step.done, step.total) for step in told] == [("prepare", at, 4) for at in (1, 2, 3, 4)]


def imagined_shares(near, labels, usual):
    """Means of a Gaussian process, fitted anew, as shares."""
    rows, codes = [row for row, _ in labels], [label for _, label in labels]
    inner = np.linalg.inv(near[np.ix_(rows, rows)] + 0.1 * np.eye(len(rows)))
    told = np.maximum(near[:, rows] @ inner @ (np.eye(len(usual))[codes] - usual) + usual, 1e-3)
    return told / told.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(5))
def test_what_a_label_is_expected_to_change_is_that_of_models_fitted_with_it(seed):
    rng = np.random.default_rng(seed)
    near, weights = nearness(rng.normal(size=(30, 3))), rng.integers(1, 4, 30).astype(float)
    labels = [(row, row % 3) for row in range(6)]
    counts = np.zeros((30, 3), dtype=np.int64)
    counts[np.arange(6), np.arange(6) % 3] = 1
    usual = (counts.sum(axis=0) + 1 / 3) / 7
    now = imagined_shares(near, labels, usual)
    sure, telling = [], []
    unsure = weights * (1.001 - margins(now))
    left = near - near[:, :6] @ np.linalg.inv(near[:6, :6] + 0.1 * np.eye(6)) @ near[:6]
    for row in range(6, 30):
        after = [imagined_shares(near, [*labels, (row, label)], usual).max(axis=1) @ weights for label in range(3)]
        sure.append(now[row] @ after)
        telling.append((unsure @ left[row] ** 2) / (left[row, row] + 0.1))
    worth = sum((np.array(part) - np.mean(part)) / np.std(part) for part in (sure, telling))
    assert choose_expected(near, weights, counts, 1 - counts.sum(axis=1), 1, 0) == [6 + int(np.argmax(worth))]


def test_expected_choices_are_free_and_as_many_as_there_are():
    near = nearness(np.random.default_rng(0).normal(size=(400, 2)))
    counts = np.zeros((400, 5), dtype=np.int64)
    counts[np.arange(10), np.arange(10) % 5] = 1
    free = np.zeros(400, dtype=np.int64)
    free[[20, 30]] = [2, 1]
    for n, n_chosen in ((2, 2), (9, 3)):
        chosen = choose_expected(near, np.ones(400), counts, free, n, 0)
        assert len(chosen) == n_chosen
        assert all(chosen.count(point) <= free[point] for point in chosen)


def test_reasons_tell_whether_the_nearest_rows_have_labels():
    X, codes = clouds()
    loop = ActiveLearner(X)
    for code in range(3):
        for row in np.flatnonzero(codes == code)[:4]:
            loop.label(int(row), f"class {code}")
    for pick in loop.next(8):
        labeled = any(int(row) in loop.labels for row in loop.near[pick.row])
        assert pick.reason != NEW_CLUSTER or not labeled
        assert pick.reason != KNOWN_CLUSTER or labeled
    assert codes[loop.next(1)[0].row] == 3
    assert {pick.reason for pick in ActiveLearner(X, ["a", *[None] * (len(X) - 1)]).next(9)} >= {NEW_CLUSTER}
    most = ["a" if row % 3 else None for row in range(len(X))]
    assert {pick.reason for pick in suggest(X, most, n=5)} <= {KNOWN_CLUSTER, OUTLIER, RANDOM}


def test_a_single_row_a_single_class_and_equal_rows_work():
    assert suggest([[1.0]])[0].row == 0
    assert suggest([[0.0], [1.0], [2.0]], ["a", None, None], n=1)[0].suggestion is None  # one class is no model
    assert len(suggest(np.column_stack([np.ones(30), np.arange(30) % 2]), n=7)) == 7


def test_every_fifth_row_is_random_without_a_suggestion_also_one_by_one():
    X, codes = clouds()
    learner, at_random = ActiveLearner(X, model="logistic-regression"), []
    for number in range(1, 21):
        one = learner.next(1)[0]
        assert one.row not in learner.labels
        assert (one.reason == RANDOM) == one.random == (number % 5 == 0)
        if one.random:
            at_random.append(one.row)
            assert one.suggestion is None
            assert one.confidence is None
        learner.label(one.row, int(codes[one.row]))
    assert [one.random for one in learner.next(10)] == [False, False, False, False, True] * 2
    first = [row for row in learner.shuffled.tolist() if row not in learner.labels or row in at_random][:4]
    assert at_random == first, "random rows do not depend on what a strategy chose"
    assert not any(one.random for one in ActiveLearner(X, random_every=0).next(20))


def test_suggestions_are_the_predictions_of_the_model_that_predicts():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 150)
    X = np.array([[0, 0], [2.0, 0], [0, 2.0]])[codes] + rng.normal(size=(150, 2))
    y = np.array([f"c{code}" for code in codes], dtype=object)
    y[30:] = None
    learner = ActiveLearner(X, y, "random-forest")
    table = as_table(X, y)
    model = TableModel("random-forest", random_state=0).fit(table.values(), y).calibrate(table.values(), y)
    labels, confidence = model.predict_with_confidence(table.values())
    suggested = learner.suggest(range(150))
    assert [one.suggestion for one in suggested] == labels.tolist()
    assert [one.confidence for one in suggested] == pytest.approx(confidence.tolist())
    fitted = ActiveLearner(X, y, model).suggest(range(150))
    assert [one.suggestion for one in fitted] == labels.tolist()


def test_kinds_of_columns_are_those_of_the_user():
    frame = pl.DataFrame({"code": [i % 7 for i in range(40)], "size": [1.5 * i for i in range(40)]})
    assert ActiveLearner(frame).rows.shape[1] == 2
    assert ActiveLearner(frame, columns={"code": "categorical"}).rows.shape[1] == 8


def test_a_strategy_is_added_in_one_place():
    @query_strategy("last")
    def choose_last(state, n):
        return np.flatnonzero(~state.labeled)[-n:].tolist()

    try:
        assert {one.row for one in suggest(clouds()[0], n=4, strategy="last")} == {116, 117, 118, 119}
    finally:
        del STRATEGIES["last"]


def test_how_rows_were_selected_is_kept_by_merge_and_no_feature():
    data = pl.DataFrame({"x": ["1", "2", "3"], "y": ["", "", ""]})
    came = pl.DataFrame({"x": ["1", "3"], "y": ["a", "b"], SELECTION: ["chosen", "random"]})
    merged = merge_labels(data, {"todo.csv": came}, "y").frame
    assert merged[SELECTION].to_list() == ["chosen", None, "random"]
    again = merge_labels(merged, {"more.csv": pl.DataFrame({"x": ["2"], "y": ["a"], SELECTION: ["random"]})}, "y").frame
    assert again[SELECTION].to_list() == ["chosen", "random", "random"]
    assert SELECTION not in as_table(again, "y").kinds


def test_missing_cells_become_finite_numbers():
    matrix, _ = encode_table(as_table(np.array([[1.0, np.nan], [3.0, 2.0], [np.nan, 4.0]])), who="test")
    assert np.isfinite(matrix).all()
    assert as_points(matrix, 0).shape == (3, matrix.shape[1])
