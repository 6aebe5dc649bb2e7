from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.telling import open_share
from oracles.typical import typical_rows
from scipy import sparse

from handful.core.errors import DataError, ParameterError
from handful.corpora.tables import table_of
from handful.features.rows import Rows
from handful.labeling import LabelLoop, next_rows
from handful.labeling.expected import choose_expected
from handful.labeling.loop import AUDIT, CONFIRMING, TYPICAL
from handful.labeling.space import as_matrix, as_points, neighborhood, telling_columns, typicality_within
from handful.labeling.strategies import choose_margin, choose_telling, choose_typical, margins, nearness

CENTERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])


def clouds(n_each: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    codes = np.repeat(np.arange(4), n_each)
    return CENTERS[codes] + np.random.default_rng(seed).normal(size=(4 * n_each, 2)), codes


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.booleans()), min_size=1, max_size=25),
    st.integers(1, 8),
)
def test_typical_choice_is_that_of_the_paper(rows, n):
    clusters, typicality, labeled = (list(column) for column in zip(*rows, strict=True))
    chosen = choose_typical(np.array(clusters), np.array(typicality, dtype=float), np.array(labeled), n)
    assert chosen == typical_rows(clusters, typicality, labeled, n)


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
    chosen = choose_telling(near, weights.astype(float), n_labels, free, n)
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
    picks = next_rows(X, n=4)
    assert {codes[pick.row] for pick in picks} == {0, 1, 2, 3}
    assert all(pick.suggestion is None and pick.confidence is None for pick in picks)
    assert {pick.reason for pick in picks} <= {"typical of a region without labels", "unlike the others"}
    typical = next_rows(X, n=4, strategy="typical")
    assert {codes[pick.row] for pick in typical} == {0, 1, 2, 3}
    assert {pick.reason for pick in typical} == {"typical of a region without labels"}


def test_the_region_without_a_label_is_chosen():
    X, codes = clouds()
    y = [None] * len(X)
    for code in range(3):
        for row in np.flatnonzero(codes == code)[:2]:
            y[row] = "abc"[code]
    pick = next_rows(X, y, n=1, strategy="typical")[0]
    assert codes[pick.row] == 3


def test_margin_chooses_between_two_classes_and_says_so():
    X = np.linspace(0, 10, 101)[:, None]
    y = [None] * 101
    y[0] = y[1] = "low"
    y[99] = y[100] = "high"
    picks = next_rows(X, y, n=3, strategy="margin")
    assert all(25 < pick.row < 75 for pick in picks)
    assert {pick.reason for pick in picks} <= {"between low and high", "between high and low"}
    assert all(0.3 < pick.confidence < 0.9 for pick in picks)


def test_suggestions_follow_the_labels():
    X, codes = clouds()
    y = np.full(len(X), None, dtype=object)
    for code in range(4):
        y[np.flatnonzero(codes == code)[:3]] = f"class {code}"
    loop = LabelLoop(X, y)
    told = loop.suggest(range(len(X)))
    right = [pick.suggestion == f"class {code}" for pick, code in zip(told, codes, strict=True)]
    assert np.mean(right) > 0.97


def test_auto_keeps_a_tenth_for_audits_also_one_by_one():
    X, codes = clouds()
    loop, audits = LabelLoop(X), 0
    for _ in range(40):
        pick = loop.next(1)[0]
        assert pick.row not in loop.labels
        audits += pick.reason == AUDIT
        loop.label(pick.row, int(codes[pick.row]))
    assert audits == 4
    assert sum(pick.reason == AUDIT for pick in loop.next(20)) == 2


def test_picks_are_new_distinct_and_repeatable():
    X, codes = clouds()
    y = np.full(len(X), -1)
    y[::7] = codes[::7]
    for strategy in ("auto", "typical", "margin", "random"):
        picks = next_rows(X, y, n=30, strategy=strategy, random_state=3)
        rows = [pick.row for pick in picks]
        assert len(set(rows)) == 30
        assert not set(rows) & set(range(0, len(X), 7))
        assert picks == next_rows(X, y, n=30, strategy=strategy, random_state=3)


def test_a_label_can_be_taken_back():
    X, _ = clouds()
    loop = LabelLoop(X)
    before = loop.next(3)
    loop.update({0: "a", 40: "b"})
    assert loop.classes == ["a", "b"]
    loop.update({0: None, 40: None})
    assert loop.next(3) == before
    with pytest.raises(DataError, match="row must be one of the 120 rows, got 120"):
        loop.label(120, "a")


def test_fewer_rows_than_asked_are_all_chosen():
    assert sorted(pick.row for pick in next_rows([[0.0], [1.0], [2.0]], ["a", None, None], n=20)) == [1, 2]


def test_all_labeled_none_labeled_and_wrong_use_are_told():
    with pytest.raises(DataError, match="at least one row must be unlabeled, got 2 rows that all have labels"):
        next_rows([[0.0], [1.0]], ["a", "b"])
    assert len(next_rows([[0.0], [1.0]], [None, None])) == 2
    with pytest.raises(DataError, match="at least one row is needed"):
        next_rows(np.zeros((0, 3)))
    with pytest.raises(DataError, match="of one length, got 2 rows and 1 label"):
        next_rows([[0.0], [1.0]], ["a"])
    with pytest.raises(ParameterError, match="n must be at least 1, got 0"):
        next_rows([[0.0], [1.0]], n=0)
    with pytest.raises(ParameterError, match="strategy must be one of auto"):
        next_rows([[0.0], [1.0]], strategy="best")
    with pytest.raises(DataError, match="X must be a table of rows and columns, or texts, got shape"):
        next_rows(np.zeros(3))


def test_a_single_row_a_single_class_and_equal_rows_work():
    assert next_rows([[1.0]])[0].row == 0
    assert next_rows([[0.0], [1.0], [2.0]], ["a", None, None], n=1)[0].suggestion == "a"
    assert len(next_rows(np.ones((30, 2)), n=7)) == 7


def test_a_long_table_is_sampled_and_audits_reach_beyond():
    X, _ = clouds(100)
    loop = LabelLoop(X, max_pool=50)
    assert len({pick.row for pick in loop.next(400)}) == 400
    loop.label(0, "a")
    loop.label(399, "b")
    assert any(pick.suggestion is None for pick in loop.suggest(range(400)))


def test_texts_tables_and_sparse_rows_are_taken():
    texts = ["the cat sat on the mat", "the cat sat up", "stocks fell again", "stocks fell, then rose"] * 6
    y = [None] * 24
    y[0], y[2] = "pets", "money"
    told = LabelLoop(texts, y).suggest(range(24))
    assert [pick.suggestion for pick in told[:4]] == ["pets", "pets", "money", "money"]
    frame = pl.DataFrame({"size": range(24), "color": ["red", "blue"] * 12, "name": [f"n{i}" for i in range(24)]})
    assert len(next_rows(frame, n=3)) == 3
    assert len(next_rows(sparse.random(30, 50, 0.2, format="csr", random_state=0), n=3)) == 3


def test_columns_that_tell_nothing_are_left_out():
    frame = pl.DataFrame(
        {
            "size": [i * 1.5 for i in range(30)],
            "same": ["x"] * 30,
            "name": [f"n{i}" for i in range(30)],
            "note": ["y", *[None] * 29],
            "color": ["red", "blue"] * 15,
        }
    )
    assert telling_columns(table_of("X", frame)) == {"size": "numeric", "note": "nominal", "color": "nominal"}


def test_missing_and_endless_cells_become_the_mean():
    matrix = as_matrix(np.array([[1.0, np.inf], [3.0, 2.0], [np.nan, 4.0]]), who="test")
    assert matrix.tolist() == [[-1.0, 0.0], [1.0, -1.0], [0.0, 1.0]]
    assert as_points(matrix, 0).shape == (3, 2)


def test_rows_of_texts_alone_are_directions_without_what_all_have_in_common():
    parts = np.array([[3.0, 1.0, 0.0], [3.0, -1.0, 0.0], [3.0, 0.0, 2.0], [3.0, 0.0, -2.0]])
    texts = as_points(Rows.of(parts, {"lsa": (0, 2), "letters": (2, 3)}, None), 0)
    assert texts.tolist() == [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    beside_other_columns = as_points(Rows.of(parts, {"lsa": (0, 2)}, None), 0)
    assert beside_other_columns.tolist() == parts.tolist()


def test_typicality_is_one_by_the_mean_distance():
    around = neighborhood(np.array([[0.0], [1.0], [3.0]]), 2)
    assert around.typicality.round(6).tolist() == [0.5, round(2 / 3, 6), 0.4]


def test_typical_rows_are_so_within_their_cluster():
    points = np.array([[0.0], [1.0], [2.0], [2.2], [2.3], [2.4]])
    clusters = np.array([0, 0, 0, 1, 1, 1])
    assert typicality_within(points, clusters)[:3].argmax() == 1  # the third is near to the rows of the other cluster
    assert neighborhood(points, 2).typicality[:3].argmax() == 2


def test_margin_choices_are_spread_out():
    points = np.array([[0.0], [0.01], [0.02], [9.0], [9.01], [9.02]])
    lead = np.array([0.0, 0.01, 0.02, 0.3, 0.31, 0.32])
    assert choose_margin(points, lead, np.zeros(6, dtype=bool), 2, 0) == [0, 3]
    assert margins(np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])).round(6).tolist() == [0.2, 1.0]


def test_auto_goes_where_models_are_unsure_once_there_are_two_classes():
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [9.0, 0.0], [4.5, 0.0]], [60, 60, 20], axis=0)
    X = places + rng.normal(scale=0.7, size=(140, 2))
    loop = LabelLoop(X)
    loop.update(dict.fromkeys(range(6), "left"))
    assert loop.next(1)[0].row >= 60  # nothing is known of the right
    loop.update(dict.fromkeys(range(60, 66), "right"))
    between = [pick for pick in loop.next(4) if pick.row >= 120]
    assert len(between) == 2
    assert {pick.reason for pick in between} <= {"between left and right", "between right and left"}


def test_progress_tells_of_the_preparation():
    told = []
    next_rows(clouds()[0], n=1, progress=told.append)
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
    loop = LabelLoop(X)
    for code in range(3):
        for row in np.flatnonzero(codes == code)[:4]:
            loop.label(int(row), f"class {code}")
    for strategy in ("auto", "typical"):
        for pick in loop.next(8, strategy):
            labeled = any(int(row) in loop.labels for row in loop.around.near[pick.row])
            assert pick.reason != TYPICAL or not labeled
            assert pick.reason != CONFIRMING or labeled
    assert codes[loop.next(1)[0].row] == 3
    assert {pick.reason for pick in LabelLoop(X, ["a", *[None] * (len(X) - 1)]).next(9)} >= {TYPICAL}
    most = ["a" if row % 3 else None for row in range(len(X))]
    assert {pick.reason for pick in next_rows(X, most, n=5, strategy="typical")} <= {CONFIRMING, "unlike the others"}
