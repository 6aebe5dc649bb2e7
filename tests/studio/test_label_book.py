"""The label book: what is read and refused, renaming, merging and deleting with undo, keys, notes; for tables and texts."""

from __future__ import annotations

import pytest
from studio_client import fixed

from handful.errors import DataError, FormatError
from handful.studio.annotations import AnnotationLog
from handful.studio.label_book import LabelBook, Setup, label_book_toml, read_label_book
from handful.studio.text_session import TaggingTask, TextSession

BOOK = """
guidelines = "First topic wins."
[[label]]
name = "billing"
key = "b"
color = "#8a3ffc"
description = "Invoices."
examples = ["charged twice"]
[[label]]
name = "login"
"""


def names_keys(session):
    return [(one["name"], one["key"]) for one in session.view()["labels"]]


def test_a_book_is_read_and_written(tmp_path):
    path = tmp_path / "labels.toml"
    path.write_text(BOOK)
    book = read_label_book(path)
    assert book.guidelines == "First topic wins."
    assert book.entries["billing"]["examples"] == ["charged twice"]
    path.write_text(label_book_toml(book.entries, book.guidelines))
    assert read_label_book(path) == book


@pytest.mark.parametrize(
    "text",
    [
        "[[label",
        "label = 3",
        "[[label]]\nkey = 'a'",
        "[[label]]\nname = 'a'\nkey = 'ab'",
        "[[label]]\nname = 'a'\ncolor = 'red'",
        "[[label]]\nname = 'a'\nexamples = 'x'",
        "[[label]]\nname = 'a'\nkey = 'k'\n[[label]]\nname = 'b'\nkey = 'k'",
        "guidelines = 3",
    ],
)
def test_a_bad_book_is_refused_in_a_sentence(tmp_path, text):
    (tmp_path / "labels.toml").write_text(text)
    with pytest.raises(FormatError, match=r"labels\.toml"):
        read_label_book(tmp_path / "labels.toml")


def test_labels_of_the_book_come_first_with_their_keys(make_session, tmp_path):
    (tmp_path / "labels.toml").write_text(BOOK)
    session = make_session(
        given=["other", "login", *[None] * 58], setup=Setup(book=read_label_book(tmp_path / "labels.toml"))
    )
    assert names_keys(session) == [("billing", "b"), ("login", "2"), ("other", "3")]
    assert session.view()["labels"][0]["color"] == "#8a3ffc"
    assert session.label_book()["entries"]["billing"]["description"] == "Invoices."


def test_renaming_keeps_place_and_key_and_can_be_undone(make_session):
    session = make_session(given=["one", "two", "three", *[None] * 57])
    session.act({"do": "label", "items": [5], "label": "one"})
    before = names_keys(session)
    session.act({"do": "rename", "label": "one", "to": "new"})
    assert names_keys(session) == [("new", before[0][1]), *before[1:]]
    assert [session.labels[row] for row in (0, 5, 1)] == ["new", "new", "two"]
    session.act({"do": "rename", "label": "new", "to": "one"})
    assert names_keys(session) == before
    session.act({"do": "undo"})
    session.act({"do": "undo"})
    assert names_keys(session) == before
    assert session.labels == {0: "one", 1: "two", 2: "three", 5: "one"}


def test_merging_and_deleting_move_no_other_key(make_session):
    session = make_session(given=["first", "second", "third", *[None] * 57])
    keys = dict(names_keys(session))
    session.act({"do": "rename", "label": "first", "to": "third"})
    assert session.labels == {0: "third", 1: "second", 2: "third"}
    assert dict(names_keys(session)) == {name: keys[name] for name in ("second", "third")}
    session.act({"do": "delete", "label": "third"})
    assert session.labels == {1: "second"}
    session.close()
    again = make_session(given=["first", "second", "third", *[None] * 57])
    assert again.labels == {1: "second"}  # the file still says otherwise
    assert names_keys(again) == [("second", keys["second"])]
    again.act({"do": "undo"})
    again.act({"do": "undo"})
    assert again.labels == {0: "first", 1: "second", 2: "third"}
    again.act({"do": "delete", "label": "third"})
    again.act({"do": "name", "name": "third"})  # a new one of the same name has no rows
    assert 2 not in again.labels
    assert "third" in again.label_names()


def test_keys_of_commands_can_be_changed_or_switched_off(make_session):
    session = make_session()
    session.act({"do": "key", "command": "skip", "key": "k"})
    session.act({"do": "key", "command": "undo", "key": ""})
    assert session.view()["keys"]["skip"] == "k"
    assert session.view()["keys"]["undo"] == ""
    with pytest.raises(DataError, match="key of 'skip'"):
        session.act({"do": "key", "command": "find", "key": "k"})
    session.act({"do": "name", "name": "cat"})
    session.act({"do": "entry", "label": "cat", "key": "u"})
    assert session.view()["keys"]["unsure"] == ""  # a label's key wins
    session.act({"do": "name", "name": "dog"})
    with pytest.raises(DataError, match="key of 'cat'"):
        session.act({"do": "entry", "label": "dog", "key": "u"})


@pytest.mark.parametrize(
    "body",
    [
        {"do": "entry", "label": "nobody"},
        {"do": "entry", "label": "a", "color": "url(x)"},
        {"do": "entry", "label": "a", "key": "ab"},
        {"do": "entry", "label": "a", "examples": "x"},
        {"do": "entry", "label": "a", "description": "\ud800"},
        {"do": "rename", "label": "a", "to": "a"},
        {"do": "rename", "label": "a", "to": ""},
        {"do": "rename", "label": "b", "to": "c"},
        {"do": "delete", "label": "b"},
        {"do": "note", "item": 99, "text": ""},
        {"do": "note", "item": 0, "text": None},
        {"do": "key", "command": "fly", "key": "k"},
        {"do": "guidelines"},
    ],
)
def test_nonsense_is_refused(make_session, body):
    session = make_session(given=["a", *[None] * 59])
    with pytest.raises(DataError):
        session.act(body)
    assert session.state.n_actions == 0


def test_guidelines_and_notes_are_kept_and_exported(client, tmp_path):
    def act(route, **body):
        assert client.post(route, json=body).status_code == 200

    act("guidelines", text="Look twice.")
    act("labels", items=[3], label="a")
    act("notes", item=3, text=" odd ")
    act("entries", label="a", description="The first letter")
    assert client.get("items/3").json()["note"] == "odd"
    assert [row["row"] for row in client.get("rows?show=notes").json()["rows"]] == [3]
    assert client.get("book").json()["guidelines"] == "Look twice."
    client.post("exports", json={"what": "book"}).raise_for_status()
    assert read_label_book(tmp_path / "small.labels.toml").entries["a"]["description"] == "The first letter"
    client.post("exports", json={"what": "labels"}).raise_for_status()
    assert "odd" in (tmp_path / "small.labels.csv").read_text()
    act("notes", item=3, text="")
    assert client.get("rows?show=notes").json()["n"] == 0


@pytest.mark.parametrize("spans", [True, False])
def test_labels_of_a_text_are_renamed_merged_and_deleted(tmp_path, spans):
    log = AnnotationLog(tmp_path / "log", fixed("key"))
    task = TaggingTask({"PER": ["Ann"], "LOC": ["Rome"]}, spans=spans)
    session = TextSession("t.txt", [("Ann", "saw", "New", "York")], log, tmp_path, task)
    session.act({"do": "span", "item": 0, "start": 2, "stop": 4, "label": "LOC"})
    session.act({"do": "rename", "label": "LOC", "to": "PLACE"})
    assert session.item(0)["tags"][2:] == (["B-PLACE", "I-PLACE"] if spans else ["PLACE", "PLACE"])
    assert session.lists == {"PER": ["Ann"], "PLACE": ["Rome"]}
    session.act({"do": "rename", "label": "PLACE", "to": "PER"})
    assert session.lists == {"PER": ["Ann", "Rome"]}
    session.act({"do": "delete", "label": "PER"})
    assert session.item(0)["tags"][2:] == (["O", "O"] if spans else [None, None])
    for _ in range(3):
        session.act({"do": "undo"})
    assert session.lists == {"PER": ["Ann"], "LOC": ["Rome"]}
    session.close()


def test_labels_of_tagged_sentences_are_renamed_in_their_file(tmp_path):
    task = TaggingTask(tagged=[(("Ann",), ["B-PER"])], spans=True)
    session = TextSession("t.txt", [("Ann",)], AnnotationLog(tmp_path / "log", fixed("key")), tmp_path, task)
    with pytest.raises(DataError, match="in their file"):
        session.act({"do": "rename", "label": "PER", "to": "NAME"})
    session.close()


def test_five_hundred_labels_have_places_and_sixty_one_have_keys(make_session):
    session = make_session(setup=Setup(book=LabelBook({f"label {n}": {"key": "", "color": ""} for n in range(500)})))
    labels = session.view()["labels"]
    assert len(labels) == 500
    keys = [one["key"] for one in labels if one["key"]]
    assert len(keys) == len(set(keys)) == 62 - len(session.command_keys())
