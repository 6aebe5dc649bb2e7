"""A table on the session: labels, keys, lists, rows alike, exports; through the server, as the page does it."""

from __future__ import annotations

import json
import threading

import polars as pl
import pytest
from studio_client import small_table

from handful.active.query import ActiveLearner
from handful.errors import DataError
from handful.studio.label_book import COMMANDS, keys_of
from handful.studio.session import Worker


def act(client, route, **body):
    reply = client.post(route, json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


JSON = {"content-type": "application/json"}


def test_every_label_has_a_key_of_its_own():
    names = [f"class {n}" for n in range(60)]
    taken = COMMANDS.values()
    keys = keys_of(names, taken=taken)
    used = [key for key in keys.values() if key]
    assert len(used) == len(set(used)) > 50
    assert not set(used) & set(taken)
    more = keys_of([*names, "one more"], taken=taken)
    assert {name: more[name] for name in names} == keys  # a new label does not move the others
    assert keys_of([str(n) for n in range(10)]) == {str(n): str(n) for n in range(10)}


def test_labeling_moves_on_and_undo_comes_back(client):
    first = client.get("view").json()["queue"][0]
    view = act(client, "labels", items=[first["row"]], label="a")
    assert view["n_labeled"] == 1
    assert view["queue"][0]["row"] != first["row"]
    assert view["labels"] == [{"name": "a", "key": "a", "count": 1, "hue": 0, "color": ""}]
    view = act(client, "undo")
    assert view["n_labeled"] == 0
    assert view["queue"][0]["row"] == first["row"]
    assert view["labels"] == []
    assert not view["can_undo"]
    assert client.post("undo", json={}).status_code == 400


def test_skipped_rows_come_back_last(client):
    seen = []
    for number in range(60):
        view = client.get("view").json()
        seen.append(view["queue"][0]["row"])
        act(client, "skips" if number % 2 else "unsure", item=seen[-1])
    assert sorted(seen) == list(range(60))
    view = client.get("view").json()
    assert view["queue"][0]["reason"] == "skipped before"
    marks = client.studio.session.state["marks"]
    assert sorted(marks.values()) == ["skipped"] * 30 + ["unsure"] * 30
    act(client, "labels", items=[7], label="a")
    assert len(marks) == 59


def test_a_table_without_an_open_row_is_done(client):
    view = act(client, "labels", items=list(range(60)), label="a")
    assert view["queue"] == []
    assert act(client, "undo")["n_labeled"] == 0


def test_suggestions_and_rows_alike(client):
    act(client, "labels", items=[0, 2], label="even")
    act(client, "labels", items=[1, 3], label="odd")
    client.studio.session.refresh()
    queue = client.get("view").json()["queue"]
    assert len(queue) == 10
    for item in queue:
        expected = None if item["random"] else ("even" if item["row"] % 2 == 0 else "odd")
        assert item["suggestion"] == expected
    alike = client.get("items/4/alike").json()["rows"]
    assert len(alike) > 10
    assert all(row["row"] % 2 == 0 for row in alike)
    view = act(client, "labels", items=[4, *(row["row"] for row in alike)], label="even")
    assert view["n_labeled"] == 5 + len(alike)
    assert act(client, "undo")["n_labeled"] == 4  # all at once


def test_a_request_never_waits_for_the_model(client, monkeypatch):
    session, started, go_on = client.studio.session, threading.Event(), threading.Event()

    def slow(*_, **__):
        started.set()
        assert go_on.wait(20)
        return []

    monkeypatch.setattr(ActiveLearner, "next", slow)
    thread = threading.Thread(target=session.refresh)
    thread.start()
    assert started.wait(20)
    try:
        for number in range(15):  # more than are queued
            queue = client.get("view").json()["queue"]
            assert len(queue) == 10
            view = act(client, "labels", items=[queue[0]["row"]], label="a")
            assert view["n_labeled"] == number + 1
    finally:
        go_on.set()
        thread.join()


def test_random_rows_are_remembered_and_come_without_a_suggestion(make_session):
    session = make_session()
    session.learner.model = "logistic-regression"
    session.refresh()
    n_random = 0
    for number in range(20):
        item = session.queue()[0]
        assert item["random"] == (number % 5 == 4)
        n_random += item["random"]
        label = "even" if item["row"] % 2 == 0 else "odd"
        session.act({"do": "label", "items": [item["row"]], "label": label, "random": item["random"]})
        if item["random"]:
            assert item["suggestion"] is None
        session.refresh()
    assert n_random == len(session.random_rows) == 4
    others = [row for row in range(60) if row not in session.labels]
    session.act({"do": "label", "items": others[:3], "label": "odd", "random": True})
    chosen = next(row for row in others[3:] if row not in {item["row"] for item in session.queue()})
    session.act({"do": "label", "items": [chosen], "label": "odd", "random": True})
    assert len(session.random_rows) == 4


def test_there_is_no_figure_below_20_random_rows(make_session):
    from handful.studio.table_session import TableStudio

    session = make_session(small_table(400))
    studio = TableStudio(session)
    session.refresh()
    for row in session.learner.shuffled[:19].tolist():
        session.state["audits"][str(row)] = {"said": None}
        session.act({"do": "label", "items": [row], "label": "even" if row % 2 == 0 else "odd"})
    studio.measure_accuracy()
    studio.measure_curve()
    assert (session.panel["audit"], session.panel["n_needed"]) == (None, 1)
    assert session.panel["curve"] is None
    row = int(session.learner.shuffled[19])
    session.state["audits"][str(row)] = {"said": None}
    session.act({"do": "label", "items": [row], "label": "even" if row % 2 == 0 else "odd"})
    studio.measure_accuracy()
    assert session.panel["audit"]["n_rows"] == 20
    assert session.panel["audit"]["accuracy"] > 0.9


def test_random_rows_only_on_request(client):
    assert client.post("strategy", json={"strategy": "best"}).status_code == 400
    view = client.post("strategy", json={"strategy": "random"}).json()
    assert view["strategy"] == "random"
    assert all(item["random"] for item in view["queue"])  # at once: the page shows it before the next key
    client.studio.session.refresh()
    assert all(item["random"] for item in client.get("view").json()["queue"])


def test_random_rows_of_the_file_count(make_session):
    cells = small_table().with_columns(pl.Series("next_selection", ["random"] * 25 + ["chosen"] * 35))
    session = make_session(cells, given=["a", "b"] * 15 + [None] * 30)
    assert len(session.random_rows) == 25


def test_a_row_is_not_both_labeled_and_skipped(client):
    act(client, "labels", items=[5], label="a")
    assert client.post("skips", json={"item": 5}).status_code == 400
    assert client.studio.session.state["marks"] == {}


def test_a_failing_thread_says_so_and_goes_on(make_session, caplog):
    session = make_session()
    done = threading.Event()
    worker = Worker(lambda: 1 / 0, done.set, failed=lambda error: session.publish(error=str(error)))
    worker.start()
    worker.wake()
    assert done.wait(20)
    worker.end()
    worker.join(20)
    assert "division by zero" in session.panel["error"]
    assert "work of the studio failed" in caplog.text


def test_a_failing_request_is_logged_and_answered(client, monkeypatch, caplog):
    monkeypatch.setattr(type(client.studio.session), "item", lambda *_: 1 / 0)
    reply = client.get("items/1")
    assert reply.status_code == 500
    assert "ZeroDivisionError" in reply.json()["error"]
    assert "a request of the studio failed" in caplog.text


def test_search_with_a_filter_scans_the_table_once(client, monkeypatch):
    session, scans = client.studio.session, []
    holding = session._holding
    monkeypatch.setattr(session, "_holding", lambda query: scans.append(query) or holding(query))
    assert session.rows("row 5", "unlabeled")["n"] == 10
    assert scans == ["row 5"]


def test_lists_search_and_filters(client):
    act(client, "labels", items=[3], label="bad <b>")
    act(client, "skips", item=4)

    def rows(**query):
        return [row["row"] for row in client.get("rows", params=query).json()["rows"]]

    assert rows() == list(range(50))
    assert rows(page="1") == list(range(50, 60))
    assert rows(query="ROW 5") == [5 + 45, *range(51, 60)]
    assert rows(query="<SCRIPT>") == [3]
    assert rows(show="labeled") == rows(show="label:bad <b>") == [3]
    assert rows(show="skipped") == [4]
    assert rows(show="skipped", query="row 5") == []
    assert 3 not in rows(show="unlabeled")
    assert client.get("rows?page=x").status_code == 400
    assert client.get("items/60").status_code == 400
    assert client.get("items/-1").status_code == 400


@pytest.mark.parametrize("label", ["", "  ", None, 3, ["a"], "a\nb", "x" * 101, "\ud800"])
def test_bad_labels_are_refused(client, label):
    assert client.post("labels", content=json.dumps({"items": [0], "label": label}), headers=JSON).status_code == 400


@pytest.mark.parametrize("items", [[], [60], [-1], ["0"], [True], "0", None, [0.5]])
def test_bad_rows_are_refused(client, items):
    assert client.post("labels", json={"items": items, "label": "a"}).status_code == 400


def test_a_new_label_is_made_once(client):
    assert act(client, "names", name=" cat ")["labels"][0]["name"] == "cat"
    assert client.post("names", json={"name": "cat"}).status_code == 400


def test_labels_of_the_file_stay_unless_changed(make_session):
    session = make_session(given=["a", "b", *[None] * 58])
    assert session.label_names() == ["a", "b"]
    session.act({"do": "label", "items": [0], "label": "b"})
    assert session.labels[0] == "b"
    session.act({"do": "undo"})
    assert session.labels == {0: "a", 1: "b"}


def test_reopening_goes_on_where_it_stopped(make_session):
    session = make_session()
    session.view()
    session.act({"do": "label", "items": [4], "label": "a"})
    session.act({"do": "skip", "item": 5})
    before = session.view()
    session.close()
    again = make_session()
    assert again.labels == again.learner.labels == {4: "a"}
    after = again.view()
    assert {k: v for k, v in after.items() if k != "queue"} == {k: v for k, v in before.items() if k != "queue"}
    again.act({"do": "undo"})
    again.act({"do": "undo"})
    assert again.labels == {}


def test_a_huge_cell_is_clipped(make_session):
    cells = small_table().with_columns(pl.lit("x" * 1_000_000).alias("huge"))
    session = make_session(cells)
    name, text, more = session.item(0)["cells"][-1]
    assert (name, len(text), more) == ("huge", 2_000, 998_000)
    assert all(len(row["text"]) <= 200 for row in session.rows()["rows"])


def test_exports_are_whole_files_beside_the_data(client, tmp_path):
    act(client, "labels", items=[*range(0, 20, 2)], label="even, or <so>")
    act(client, "labels", items=[*range(1, 21, 2)], label="odd")
    act(client, "unsure", item=40)
    assert client.post("exports", json={"what": "labels"}).json()["files"] == [str(tmp_path / "small.labels.csv")]
    labels = pl.read_csv(tmp_path / "small.labels.csv")
    assert labels["label"][:4].to_list() == ["even, or <so>", "odd"] * 2
    assert labels["label"].null_count() == 40
    assert labels["next_selection"][:2].to_list() == ["chosen", "chosen"]
    assert labels["studio mark"][40] == "unsure"
    assert labels["note"].to_list() == small_table()["note"].to_list()
    client.post("exports", json={"what": "predictions"}).raise_for_status()
    told = pl.read_csv(tmp_path / "small.predictions.csv")
    assert (told["prediction"] == pl.Series(["even, or <so>", "odd"] * 30)).mean() > 0.95
    assert told["confidence"].is_between(0, 1).all()
    client.post("exports", json={"what": "model"}).raise_for_status()
    from handful.persistence.model_file import load

    assert load(tmp_path / "small.handful").predict(small_table()).tolist()[1] == "odd"
    for what in ("", "../x", "log", "report"):
        assert client.post("exports", json={"what": what}).status_code == 400
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"small.csv.studio", "small.labels.csv", "small.predictions.csv", "small.handful"}


def test_a_model_needs_two_classes(client):
    assert "two classes" in client.post("exports", json={"what": "model"}).json()["error"]


def test_no_action_is_made_of_nonsense(make_session):
    session = make_session()
    for body in ({"do": "skip"}, {"do": "skip", "item": 99}, {"do": "label"}):
        with pytest.raises(DataError):
            session.act(body)
    assert session.state.n_actions == 0


@pytest.mark.parametrize("name", ["small.labels.csv", ".labels.csv", "small.csv"])
def test_an_export_never_lands_on_the_data(make_session, name, tmp_path):
    assert make_session(name=name).export_path("labels.csv") != tmp_path / name
