"""A text on the desk: spans, suggestions, the board of words, what an edit changed; through the server, as the page does."""

from __future__ import annotations

import random
import time

import pytest
from studio_client import OWN, TOKEN

from handful.core.errors import DataError
from handful.studio.journal import Journal
from handful.studio.text_desk import TextDesk
from handful.studio.text_studio import TextStudio

RNG = random.Random(0)
THINGS, DOING = ["dog", "cat", "horse", "bird"], ["barks", "sleeps", "runs", "sings"]
SENTENCES = [
    (RNG.choice(["the", "a"]), RNG.choice(THINGS), RNG.choice(DOING), RNG.choice(["loudly", "often"]), ".")
    for _ in range(120)
]
LISTS = {"D": ["the"], "N": ["dog", "cat"], "V": ["barks"], "X": ["."]}
TRAIN = [(("Ann", "went", "to", "New", "York"), ["B-PER", "O", "O", "B-LOC", "I-LOC"])] * 4 + [
    (("Bob", "came", "home"), ["B-PER", "O", "O"])
]


@pytest.fixture
def studio_of(tmp_path):
    from starlette.testclient import TestClient

    made = []

    def make(sentences=SENTENCES, **given):
        journal = Journal(tmp_path / "text.txt.studio", "key")
        studio = TextStudio(TextDesk("text.txt", list(sentences), journal, tmp_path, **given))
        client = TestClient(studio.app(TOKEN), base_url=f"http://127.0.0.1:8000/{TOKEN}/", headers=OWN)
        client.studio = studio
        made.append(studio)
        return client

    yield make
    for studio in made:
        studio.close()
        studio._teacher.join()


def act(client, **body):
    reply = client.post("do/act", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def taught(client, *, telling: str, after: int = 0):
    """Wait until the model says what it learned from."""
    for _ in range(600):
        view = client.get("ask/view").json()
        if telling in view["model"]["text"] and not view["model"]["busy"] and view["model"]["version"] >= after:
            return view
        time.sleep(0.05)
    raise AssertionError(view["model"])


def test_raw_text_without_any_label(studio_of):
    client = studio_of()
    view = taught(client, telling="Nothing to learn")
    assert view["labels"] == []
    assert view["board"]["columns"] == []
    assert view["item"]["suggestion"] is None
    assert {word for word, _ in view["board"]["uncovered"]} >= {"dog", "."}
    act(client, do="name", name="N")
    act(client, do="word", word="dog", to="N")
    taught(client, telling="Give words to a second one")
    act(client, do="word", word="barks", to="V")
    view = taught(client, telling="2 words of 2 labels")
    assert view["item"]["suggestion"]
    assert view["sample"][0]["tags"]


def test_an_edit_of_the_board_changes_tags_and_marks_them(studio_of):
    client = studio_of(lists=LISTS)
    before = taught(client, telling="5 words")
    column = next(c for c in before["board"]["columns"] if c["label"] == "N")
    assert column["words"] == [
        ["dog", sum(s.count("dog") for s in SENTENCES)],
        ["cat", sum(s.count("cat") for s in SENTENCES)],
    ]
    assert 0 < before["board"]["prototype_share"] < 1
    act(client, do="word", word="dog", to="V", **{"from": "N"})
    after = taught(client, telling="5 words", after=1)
    dogs = 0
    for one, old in zip(after["sample"], before["sample"], strict=True):
        assert one["row"] == old["row"]
        assert one["changed"] == [at for at in range(5) if one["tags"][at] != old["tags"][at]]
        dogs += "dog" in one["tokens"] and 1 in one["changed"] and one["tags"][1] == "V"
    assert dogs
    assert act(client, do="undo")["board"]["columns"][1]["words"][0][0] == "dog"


def test_words_move_once(studio_of):
    client = studio_of(lists=LISTS)
    for body in (
        {"word": "dog", "to": "N"},
        {"word": "horse", "from": "N"},
        {"word": "two words", "to": "N"},
        {"word": "", "to": "N"},
        {"word": "dog"},
        {"word": None, "to": "N"},
        {"word": "bird", "to": "x" * 101},
    ):
        assert client.post("do/act", json={"do": "word", **body}).status_code == 400
    view = act(client, do="word", word="bird", to="N")
    assert [word for word, _ in view["board"]["columns"][1]["words"]] == ["dog", "cat", "bird"]
    view = act(client, do="word", word="dog", **{"from": "N"})
    assert [word for word, _ in view["board"]["columns"][1]["words"]] == ["cat", "bird"]


def test_spans_tokens_and_whole_sentences(studio_of):
    raw = [("Eve", "went", "to", "New", "York"), ("Bob", "went", "home"), ("Ann", "came", "to", "York")]
    client = studio_of(raw, tagged=TRAIN, spans=True)
    view = taught(client, telling="CRF from 5 tagged")
    assert [label["name"] for label in view["labels"]] == ["LOC", "PER"]
    assert view["board"] is None
    item = next(one for one in [client.get("ask/sentence?row=0").json()])
    assert item["suggestion"][3:] == ["B-LOC", "I-LOC"]
    act(client, do="span", item=0, start=0, stop=2, label="PER")
    assert client.get("ask/sentence?row=0").json()["tags"][:3] == ["B-PER", "I-PER", None]
    act(client, do="span", item=0, start=0, stop=1, label=None)  # half a span stays a span
    assert client.get("ask/sentence?row=0").json()["tags"][:3] == ["O", "B-PER", None]
    act(client, do="span", item=0, start=0, stop=1, label="PER")
    act(client, do="span", item=0, start=1, stop=2, label=None)
    view = act(client, do="accept", item=0)
    assert view["n_done"] == 1
    done = client.get("ask/sentence?row=0").json()
    assert done["tags"] == ["B-PER", "O", "O", "B-LOC", "I-LOC"]
    taught(client, telling="1 of them yours", after=5)  # the correction teaches
    assert act(client, do="undo")["n_done"] == 0
    assert client.get("ask/sentence?row=0").json()["tags"][2] is None
    assert client.post("do/act", json={"do": "word", "word": "Ann", "to": "PER"}).status_code == 400


def test_tags_teach_from_nothing(studio_of):
    client = studio_of(spans=True)
    for row in range(3):
        act(client, do="span", item=row, start=1, stop=2, label="ANIMAL")
        act(client, do="accept", item=row)
    view = taught(client, telling="CRF from 3 tagged", after=6)
    assert view["labels"] == [{"name": "ANIMAL", "key": "1", "count": 3}]
    suggested = [client.get(f"ask/sentence?row={row}").json()["suggestion"] for row in range(10, 30)]
    assert suggested.count(["O", "B-ANIMAL", "O", "O", "O"]) >= 15  # from three sentences, and only two animals


@pytest.mark.parametrize(
    "body",
    [
        {"item": 0, "start": 2, "stop": 2, "label": "a"},
        {"item": 0, "start": 0, "stop": 6, "label": "a"},
        {"item": 0, "start": -1, "stop": 2, "label": "a"},
        {"item": 120, "start": 0, "stop": 1, "label": "a"},
        {"item": 0, "start": 0, "stop": 1, "label": ""},
        {"item": 0, "start": "0", "stop": 1, "label": "a"},
        {"item": 0},
    ],
)
def test_bad_spans_are_refused(studio_of, body):
    client = studio_of()
    assert client.post("do/act", json={"do": "span", **body}).status_code == 400
    assert client.get("ask/view").json()["version"] == 0


def test_nothing_is_accepted_where_nothing_is_said(studio_of):
    client = studio_of()
    taught(client, telling="Nothing to learn")
    assert "no token has a tag" in client.post("do/act", json={"do": "accept", "item": 0}).json()["error"]
    for what in ("tags", "words", "predictions", "model", "../x"):
        assert client.post("do/export", json={"what": what}).status_code == 400


def test_exports_and_reopening(studio_of, tmp_path):
    from handful import load
    from handful.corpora.formats import read_prototypes
    from handful.corpora.tagged import read_tagged

    client = studio_of(lists=LISTS)
    taught(client, telling="5 words")
    act(client, do="word", word="sleeps", to="V")
    row = client.get("ask/view").json()["item"]["row"]
    view = act(client, do="accept", item=row)
    assert view["item"]["row"] != row
    taught(client, telling="6 words of 4 labels and 1 tagged")
    for what in ("tags", "words", "predictions", "model"):
        assert client.post("do/export", json={"what": what}).status_code == 200
    assert read_prototypes(tmp_path / "text.prototypes.tsv")["V"] == ["barks", "sleeps"]
    assert read_tagged(tmp_path / "text.tags.tsv").sentences[0].tokens == SENTENCES[row]
    told = read_tagged(tmp_path / "text.predictions.tsv")
    assert [sentence.tokens for sentence in told.sentences] == SENTENCES
    model = load(tmp_path / "text.handful")
    assert [tuple(tags) for tags in model.predict([list(s) for s in SENTENCES[:9]])] == list(told.tags[:9])
    client.studio.close()
    again = studio_of(lists=LISTS)
    view = again.get("ask/view").json()
    assert (view["n_done"], view["version"]) == (1, 2)
    assert act(again, do="undo")["n_done"] == 0


def test_audits_measure_suggestions(studio_of):
    client = studio_of(lists=LISTS)
    taught(client, telling="5 words")
    desk = client.studio.desk
    for _ in range(12):
        item = client.get("ask/view").json()["item"]
        if "audit" in item["reason"]:
            wrong = "N" if item["suggestion"][0] != "N" else "V"
            act(client, do="span", item=item["row"], start=0, stop=1, label=wrong)
        act(client, do="accept", item=item["row"])
    held = list(desk.state["audits"].values())
    assert held
    assert all(one == {"right": 4, "tokens": 5} for one in held)


def test_hostile_text(studio_of):
    hostile = [
        ("<script>alert(1)</script>", "\u202eevil", "x" * 1_000_000),
        tuple("y" for _ in range(5_000)),
        ("a",),
        (),
    ]
    client = studio_of(hostile)
    taught(client, telling="Nothing to learn")
    first, second = (client.get(f"ask/sentence?row={row}").json() for row in (0, 1))
    assert [len(token) for token in first["tokens"]] == [25, 5, 200]
    assert (len(second["tokens"]), second["more"]) == (400, 4_600)
    act(client, do="span", item=0, start=0, stop=1, label="<b>\u202e")
    act(client, do="accept", item=0)
    assert len(client.get("ask/view").text) < 200_000


def test_a_thousand_random_actions_replay_to_the_same_desk(tmp_path):
    rng = random.Random(1)

    def anything():
        row = rng.randrange(-1, 121)
        label = rng.choice(["N", "V", "<i>", "\u202e", "", None, 7])
        start = rng.randrange(-1, 6)
        return rng.choice(
            [
                {"do": "span", "item": row, "start": start, "stop": start + rng.randrange(4), "label": label},
                {"do": "accept", "item": row},
                {
                    "do": "word",
                    "word": rng.choice([*THINGS, "", "two words"]),
                    "to": label,
                    "from": rng.choice(["N", None]),
                },
                {"do": "name", "name": label},
                {"do": "skip", "item": row},
                {"do": "undo"},
            ]
        )

    def desk():
        return TextDesk("text.txt", SENTENCES, Journal(tmp_path / "j", "key"), tmp_path, lists=LISTS, spans=True)

    def facts(one):
        return one.lists, one.done, one.label_names(), one.state.maps, one.state.n_actions

    held, n_refused = desk(), 0
    for _ in range(1_000):
        try:
            held.act(anything())
        except DataError:
            n_refused += 1
    held.close()
    again = desk()
    assert facts(again) == facts(held)
    assert again.state.n_actions == 1_000 - n_refused > 300
    while again.state.can_undo:
        again.act({"do": "undo"})
    assert (again.lists, again.done) == (LISTS, {})
    again.close()
