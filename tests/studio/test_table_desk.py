"""A table on the desk: labels, keys, lists, rows alike, exports; through the server, as the page does it."""

from __future__ import annotations

import polars as pl
import pytest
from studio_client import small_table

from handful.core.errors import DataError
from handful.studio.desk import RESERVED, keys_of


def act(client, **body):
    reply = client.post("do/act", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_every_label_has_a_key_of_its_own():
    names = [f"class {n}" for n in range(60)]
    keys = keys_of(names)
    used = [key for key in keys.values() if key]
    assert len(used) == len(set(used)) > 25
    assert not set(used) & set(RESERVED)
    more = keys_of([*names, "one more"])
    assert {name: more[name] for name in names} == keys  # a new label does not move the others
    assert keys_of([str(n) for n in range(10)]) == {str(n): str(n) for n in range(10)}


def test_labeling_moves_on_and_undo_comes_back(client):
    first = client.get("ask/view").json()["item"]
    view = act(client, do="label", items=[first["row"]], label="a")
    assert view["n_labeled"] == 1
    assert view["item"]["row"] != first["row"]
    assert view["labels"] == [{"name": "a", "key": "a", "count": 1}]
    view = act(client, do="undo")
    assert view["n_labeled"] == 0
    assert view["item"]["row"] == first["row"]
    assert view["labels"] == []
    assert not view["can_undo"]
    assert client.post("do/act", json={"do": "undo"}).status_code == 400


def test_skipped_rows_come_back_last(client):
    seen = []
    for number in range(60):
        view = client.get("ask/view").json()
        seen.append(view["item"]["row"])
        act(client, do="skip" if number % 2 else "unsure", item=seen[-1])
    assert sorted(seen) == list(range(60))
    view = client.get("ask/view").json()
    assert view["item"]["reason"] == "skipped before"
    assert view["n_marked"] == {"skipped": 30, "unsure": 30}
    view = act(client, do="label", items=[7], label="a")
    assert sum(view["n_marked"].values()) == 59


def test_a_table_without_an_open_row_is_done(client):
    view = act(client, do="label", items=list(range(60)), label="a")
    assert view["item"] is None
    assert act(client, do="undo")["n_labeled"] == 0


def test_suggestions_and_rows_alike(client):
    act(client, do="label", items=[0, 2], label="even")
    view = act(client, do="label", items=[1], label="odd")
    assert view["item"]["suggestion"] == ("even" if view["item"]["row"] % 2 == 0 else "odd")
    alike = client.get("ask/alike?row=4").json()["rows"]
    assert len(alike) > 10
    assert all(row["row"] % 2 == 0 for row in alike)
    view = act(client, do="label", items=[4, *(row["row"] for row in alike)], label="even")
    assert view["n_labeled"] == 4 + len(alike)
    assert act(client, do="undo")["n_labeled"] == 3  # all at once


def test_lists_search_and_filters(client):
    act(client, do="label", items=[3], label="bad <b>")
    act(client, do="skip", item=4)

    def rows(**query):
        return [row["row"] for row in client.get("ask/rows", params=query).json()["rows"]]

    assert rows() == list(range(50))
    assert rows(page="1") == list(range(50, 60))
    assert rows(query="ROW 5") == [5 + 45, *range(51, 60)]
    assert rows(query="<SCRIPT>") == [3]
    assert rows(show="labeled") == rows(show="label:bad <b>") == [3]
    assert rows(show="skipped") == [4]
    assert rows(show="skipped", query="row 5") == []
    assert 3 not in rows(show="unlabeled")
    assert client.get("ask/rows?page=x").status_code == 400
    assert client.get("ask/row?row=60").status_code == 400
    assert client.get("ask/row?row=-1").status_code == 400


@pytest.mark.parametrize("label", ["", "  ", None, 3, ["a"], "a\nb", "x" * 101])
def test_bad_labels_are_refused(client, label):
    assert client.post("do/act", json={"do": "label", "items": [0], "label": label}).status_code == 400


@pytest.mark.parametrize("items", [[], [60], [-1], ["0"], [True], "0", None, [0.5]])
def test_bad_rows_are_refused(client, items):
    assert client.post("do/act", json={"do": "label", "items": items, "label": "a"}).status_code == 400


def test_a_new_label_is_made_once(client):
    assert act(client, do="name", name=" cat ")["labels"][0]["name"] == "cat"
    assert client.post("do/act", json={"do": "name", "name": "cat"}).status_code == 400


def test_audit_rows_are_remembered(client):
    view = client.get("ask/view").json()
    reasons = []
    for _ in range(22):
        row = view["item"]["row"]
        reasons.append(view["item"]["reason"])
        view = act(client, do="label", items=[row], label="even" if row % 2 == 0 else "odd")
    assert sum("audit" in reason for reason in reasons) == 2
    assert len(client.studio.desk.audits) == 2


def test_labels_of_the_file_stay_unless_changed(make_desk):
    desk = make_desk(given=["a", "b", *[None] * 58])
    assert desk.label_names() == ["a", "b"]
    desk.act({"do": "label", "items": [0], "label": "b"})
    assert desk.labels[0] == "b"
    desk.act({"do": "undo"})
    assert desk.labels == {0: "a", 1: "b"} == desk.loop.labels


def test_reopening_goes_on_where_it_stopped(make_desk):
    desk = make_desk()
    desk.view()
    desk.act({"do": "label", "items": [4], "label": "a"})
    desk.act({"do": "skip", "item": 5})
    before = desk.view()
    desk.close()
    again = make_desk()
    assert again.labels == again.loop.labels == {4: "a"}
    after = again.view()
    assert {k: v for k, v in after.items() if k != "item"} == {k: v for k, v in before.items() if k != "item"}
    again.act({"do": "undo"})
    again.act({"do": "undo"})
    assert again.labels == {}


def test_a_huge_cell_is_clipped(make_desk):
    cells = small_table().with_columns(pl.lit("x" * 1_000_000).alias("huge"))
    desk = make_desk(cells)
    name, text, more = desk.row(0)["cells"][-1]
    assert (name, len(text), more) == ("huge", 2_000, 998_000)
    assert all(len(row["text"]) <= 200 for row in desk.rows()["rows"])


def test_exports_are_whole_files_beside_the_data(client, tmp_path):
    act(client, do="label", items=[*range(0, 20, 2)], label="even, or <so>")
    act(client, do="label", items=[*range(1, 21, 2)], label="odd")
    act(client, do="unsure", item=40)
    assert client.post("do/export", json={"what": "labels"}).json()["files"] == [str(tmp_path / "small.labels.csv")]
    labels = pl.read_csv(tmp_path / "small.labels.csv")
    assert labels["label"][:4].to_list() == ["even, or <so>", "odd"] * 2
    assert labels["label"].null_count() == 40
    assert labels["studio mark"][40] == "unsure"
    assert labels["note"].to_list() == small_table()["note"].to_list()
    client.post("do/export", json={"what": "predictions"}).raise_for_status()
    told = pl.read_csv(tmp_path / "small.predictions.csv")
    assert (told["prediction"] == pl.Series(["even, or <so>", "odd"] * 30)).mean() > 0.95
    assert told["confidence"].is_between(0, 1).all()
    client.post("do/export", json={"what": "model"}).raise_for_status()
    from handful import load

    assert load(tmp_path / "small.handful").predict(small_table()).tolist()[1] == "odd"
    assert "Start one first" in client.post("do/export", json={"what": "report"}).json()["error"]
    for what in ("", "../x", "journal"):
        assert client.post("do/export", json={"what": what}).status_code == 400
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"small.csv.studio", "small.labels.csv", "small.predictions.csv", "small.handful"}


def test_a_model_needs_two_classes(client):
    assert "two classes" in client.post("do/export", json={"what": "model"}).json()["error"]


def test_no_action_is_made_of_nonsense(make_desk):
    desk = make_desk()
    for body in ({}, {"do": None}, {"do": "fly"}, {"do": "skip"}, {"do": "skip", "item": 99}, {"do": "label"}):
        with pytest.raises(DataError):
            desk.act(body)
    assert desk.state.n_actions == 0


@pytest.mark.parametrize("name", ["small.labels.csv", ".labels.csv", "small.csv"])
def test_an_export_never_lands_on_the_data(make_desk, name, tmp_path):
    from handful.studio.table_exports import export_path

    assert export_path(make_desk(name=name), "labels.csv") != tmp_path / name
