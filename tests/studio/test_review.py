"""Suggestions that are reviewed in groups, with the error measured on random rows; two people, kappa, conflicts."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score
from studio_client import small_table

from handful.errors import DataError
from handful.studio.label_book import Setup


def reviewed_table(n: int = 400, seed: int = 0):
    """Rows, true labels, and suggestions that are wrong more often where the confidence is low."""
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n) % 2 == 0, "even", "odd")
    confidence = rng.random(n)
    wrong = rng.random(n) > 0.5 + confidence / 2
    other = np.where(truth == "even", "odd", "even")
    suggested = np.where(wrong, other, truth)
    return small_table(n).with_columns(pl.Series("said", suggested), pl.Series("sure", confidence.round(3))), truth


@pytest.fixture
def review(make_session):
    cells, truth = reviewed_table()
    session = make_session(cells, setup=Setup("ann", review="said", confidence="sure"))
    session.truth = truth
    return session


def test_suggestions_are_hidden_from_who_labels(review):
    names = [name for name, *_ in review.item(0)["cells"]]
    assert names == ["x", "y", "note"]
    assert set(review.label_names()) == {"even", "odd"}


def test_a_group_is_accepted_and_undone(review):
    rows = review.rows(show="review:odd", threshold=0.8)
    expected = [
        row
        for row, (said, sure) in enumerate(review.cells.select("said", "sure").iter_rows())
        if said == "odd" and sure >= 0.8
    ]
    assert rows["n"] == len(expected) > 20
    review.act({"do": "reject", "items": expected[:2]})
    assert review.rows(show="review:odd", threshold=0.8)["n"] == len(expected) - 2
    review.act({"do": "accept", "items": expected[2:4], "label": "odd", "threshold": 0.8})
    assert sorted(review.labels) == expected[2:4]
    review.act({"do": "accept", "label": "odd", "threshold": 0.8})
    assert sorted(review.labels) == expected[2:]
    assert review.random_rows == []  # they measure nothing
    for body in ({"items": expected[:1]}, {"label": "odd", "threshold": 0.8}, {"threshold": "x"}):
        with pytest.raises(DataError):
            review.act({"do": "accept" if "label" in body or "threshold" in body else "reject", **body})
    review.act({"do": "undo"})
    assert sorted(review.labels) == expected[2:4]


def test_the_error_of_a_group_counts_random_rows_of_it_alone(review):
    session = review
    session.strategy, session.audited = "review", {"of": ["odd", 0.8]}
    session._queue = [(row, "random check") for row in session.review.sample()]
    n_wrong = 0
    for item in session.queue()[:8]:
        row = item["row"]
        assert item["suggestion"] is None
        assert session.cells["sure"][row] >= 0.8
        session.act({"do": "label", "items": [row], "label": str(session.truth[row]), "random": True})
        n_wrong += session.truth[row] != "odd"
    audit = session.rows(show="review:odd", threshold=0.8)["audit"]
    assert (audit["n"], audit["wrong"]) == (8, n_wrong)
    assert session.rows(show="review:odd", threshold=0.9)["audit"]["n"] <= 8
    assert session.rows(show="review:odd", threshold=0.5)["audit"]["n"] == 0  # these were a part of that group
    assert session.rows(show="review:even", threshold=0.8)["audit"]["n"] == 0
    assert session.random_rows == []  # nor are they random rows of the table


def test_the_audited_error_is_unbiased(make_session):
    errors, true_errors = [], []
    for seed in range(30):
        cells, truth = reviewed_table(seed=seed)
        session = make_session(
            cells, setup=Setup("ann", review="said", confidence="sure", seed=seed), name=f"t{seed}.csv"
        )
        session.audited = {"of": ["", 0.5]}
        for _ in range(4):
            session._queue = [(row, "random check") for row in session.review.sample()]
            for item in session.queue():
                row = item["row"]
                session.act({"do": "label", "items": [row], "label": str(truth[row]), "random": True})
        audit = session.rows(show="review:", threshold=0.5)["audit"]
        errors.append(audit["wrong"] / audit["n"])
        left = session.review.group("", 0.5)
        true_errors.append(np.mean([session.cells["said"][row] != truth[row] for row in left]))
    assert audit["n"] == 40
    assert abs(np.mean(errors) - np.mean(true_errors)) < 0.03


def test_renamed_labels_are_suggested_by_their_new_name(review):
    n = review.rows(show="review:odd")["n"]
    review.act({"do": "rename", "label": "odd", "to": "uneven"})
    assert review.rows(show="review:uneven")["n"] == n
    review.act({"do": "rename", "label": "uneven", "to": "even"})
    assert review.rows(show="review:even")["n"] == 400
    review.act({"do": "delete", "label": "even"})
    assert review.rows(show="review:")["n"] == 0


@pytest.fixture
def pair(make_session):
    return make_session(small_table(200), setup=Setup("ann", second_share=0.5))


def label_all(session, labels, n=60):
    for row in range(n):
        session.act({"do": "label", "items": [row], "label": labels[row % len(labels)]})


def test_a_second_person_labels_a_share_blind_and_kappa_is_right(pair):
    label_all(pair, ["a", "b"])
    assert all("again" not in item for item in pair.queue("ann"))
    rng, first, other = np.random.default_rng(0), [], []
    for _ in range(100):
        item = pair.queue("ben")[0]
        if "again" not in item:
            break
        assert (item["label"], item["suggestion"], item["random"]) == (None, None, True)
        label = "a" if rng.random() < 0.7 else "b"
        first.append(pair.labels[item["row"]])
        other.append(label)
        pair.act({"do": "label", "items": [item["row"]], "label": label, "again": True, "by": "ben"})
    assert 20 < len(first) < 40
    facts = pair.view("ben")["agreement"]
    assert facts["n"] == len(first)
    assert facts["kappa"] == pytest.approx(cohen_kappa_score(first, other))
    assert pair.labels == {row: "ab"[row % 2] for row in range(60)}  # the first label stays
    conflicts = [row["row"] for row in pair.rows(show="conflicts")["rows"]]
    assert len(conflicts) == facts["n_conflicts"] == sum(a != b for a, b in zip(first, other, strict=True))
    pair.act({"do": "label", "items": [conflicts[0]], "label": "b", "by": "eve"})
    after = pair.view("eve")["agreement"]
    assert after["n_conflicts"] == facts["n_conflicts"] - 1
    assert after["kappa"] == facts["kappa"]  # settling changes no measurement


def test_nobody_labels_a_row_of_their_own_again(pair):
    label_all(pair, ["a"])
    row = pair.queue("ben")[0]["row"]
    pair.act({"do": "label", "items": [row], "label": "b", "again": True, "by": "ann"})
    assert pair.labels[row] == "b"  # a correction, no second label
    assert pair.view("ann")["agreement"] is None


def test_kappa_of_one_label_is_undefined(pair):
    label_all(pair, ["a"])
    row = pair.queue("ben")[0]["row"]
    pair.act({"do": "label", "items": [row], "label": "a", "again": True, "by": "ben"})
    assert pair.view()["agreement"]["kappa"] is None


def test_who_and_when_are_in_the_log_and_only_the_own_action_is_undone(make_session, tmp_path):
    session = make_session(setup=Setup("ann"))
    session.act({"do": "label", "items": [1], "label": "a"})
    session.act({"do": "label", "items": [2], "label": "b", "by": "ben"})
    lines = [json.loads(line) for line in (tmp_path / "small.csv.studio").read_text().splitlines()[1:]]
    assert [line["by"] for line in lines] == ["ann", "ben"]
    assert all(line["at"].endswith("+00:00") for line in lines)
    with pytest.raises(DataError, match="ben"):
        session.act({"do": "undo"})
    session.act({"do": "undo", "by": "ben"})
    session.act({"do": "undo"})
    assert session.labels == {}
    from handful.studio.table_session import labels_frame

    assert "studio annotator" not in labels_frame(session).columns
    session.act({"do": "label", "items": [1], "label": "a"})
    session.act({"do": "label", "items": [2], "label": "b", "by": "ben"})
    assert labels_frame(session)["studio annotator"][:4].to_list() == [None, "ann", "ben", None]
