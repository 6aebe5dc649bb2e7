"""A text on the session: spans, suggestions, the board of words, what an edit changed; through the server, as the page does."""

from __future__ import annotations

import random
import threading
import time

import pytest
from studio_client import OWN, TOKEN, fixed

from handful.errors import DataError
from handful.studio.annotations import AnnotationLog
from handful.studio.text_session import TaggingTask, TextSession, TextStudio, filled

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
        log = AnnotationLog(tmp_path / "text.txt.studio", fixed("key"))
        studio = TextStudio(TextSession("text.txt", list(sentences), log, tmp_path, TaggingTask(**given)))
        client = TestClient(studio.app(TOKEN), base_url=f"http://127.0.0.1:8000/{TOKEN}/", headers=OWN)
        client.studio = studio
        made.append(studio)
        return client

    yield make
    for studio in made:
        studio.close()
        studio.threads[0].join()


def act(client, route, **body):
    reply = client.post(route, json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def trained(client, *, text: str, after: int = 0):
    """Wait until the model says what it learned from."""
    for _ in range(600):
        view = client.get("view").json()
        if text in view["model"]["text"] and not view["model"]["busy"] and view["model"]["version"] >= after:
            return view
        time.sleep(0.05)
    raise AssertionError(view["model"])


def test_raw_text_without_any_label(studio_of):
    client = studio_of()
    view = trained(client, text="Nothing to learn")
    assert view["labels"] == []
    assert view["board"]["columns"] == []
    assert view["queue"][0]["suggestion"] is None
    assert {word for word, _ in view["board"]["uncovered"]} >= {"dog", "."}
    act(client, "names", name="N")
    act(client, "words", word="dog", to="N")
    trained(client, text="There is only one label")
    act(client, "words", word="barks", to="V")
    view = trained(client, text="2 words of 2 labels")
    assert view["queue"][0]["suggestion"]
    assert view["sample"][0]["tags"]


def test_an_edit_of_the_board_changes_tags_and_marks_them(studio_of):
    client = studio_of(lists=LISTS)
    before = trained(client, text="5 words")
    column = next(c for c in before["board"]["columns"] if c["label"] == "N")
    assert column["words"] == [
        ["dog", sum(s.count("dog") for s in SENTENCES)],
        ["cat", sum(s.count("cat") for s in SENTENCES)],
    ]
    assert 0 < before["board"]["prototype_share"] < 1
    act(client, "words", word="dog", to="V", **{"from": "N"})
    after = trained(client, text="5 words", after=1)
    dogs = 0
    for one, old in zip(after["sample"], before["sample"], strict=True):
        assert one["row"] == old["row"]
        assert one["changed"] == [at for at in range(5) if one["tags"][at] != old["tags"][at]]
        dogs += "dog" in one["tokens"] and 1 in one["changed"] and one["tags"][1] == "V"
    assert dogs
    assert act(client, "undo")["board"]["columns"][1]["words"][0][0] == "dog"


def test_random_sentences_only_on_request(studio_of):
    client = studio_of(spans=True, tagged=TRAIN)
    trained(client, text="CRF from 5 tagged")
    assert client.post("strategy", json={"strategy": "review"}).status_code == 400
    view = client.post("strategy", json={"strategy": "random"}).json()
    assert all(item["random"] and item["suggestion"] is None for item in view["queue"])  # at once
    act(client, "accepted", item=view["queue"][0]["row"], random=True)
    view = trained(client, text="CRF from 6 tagged", after=1)
    assert view["strategy"] == "random"
    assert all(item["random"] for item in view["queue"])
    assert view["audit"]["needed"] == 19
    client.post("strategy", json={"strategy": "auto"})
    for _ in range(600):
        if any(item["suggestion"] for item in client.get("view").json()["queue"]):
            return
        time.sleep(0.05)
    raise AssertionError("only random sentences")


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
        assert client.post("words", json={**body}).status_code == 400
    view = act(client, "words", word="bird", to="N")
    assert [word for word, _ in view["board"]["columns"][1]["words"]] == ["dog", "cat", "bird"]
    view = act(client, "words", word="dog", **{"from": "N"})
    assert [word for word, _ in view["board"]["columns"][1]["words"]] == ["cat", "bird"]


def test_spans_tokens_and_whole_sentences(studio_of):
    raw = [("Eve", "went", "to", "New", "York"), ("Bob", "went", "home"), ("Ann", "came", "to", "York")]
    client = studio_of(raw, tagged=TRAIN, spans=True)
    view = trained(client, text="CRF from 5 tagged")
    assert [label["name"] for label in view["labels"]] == ["LOC", "PER"]
    assert view["board"] is None
    item = next(one for one in [client.get("items/0").json()])
    assert item["suggestion"][3:] == ["B-LOC", "I-LOC"]
    act(client, "spans", item=0, start=0, stop=2, label="PER")
    assert client.get("items/0").json()["tags"][:3] == ["B-PER", "I-PER", None]
    act(client, "spans", item=0, start=0, stop=1, label=None)  # half a span stays a span
    assert client.get("items/0").json()["tags"][:3] == ["O", "B-PER", None]
    act(client, "spans", item=0, start=0, stop=1, label="PER")
    act(client, "spans", item=0, start=1, stop=2, label=None)
    view = act(client, "accepted", item=0)
    assert view["n_done"] == 1
    done = client.get("items/0").json()
    assert done["tags"] == ["B-PER", "O", "O", "B-LOC", "I-LOC"]
    trained(client, text="6 tagged", after=5)  # the correction teaches
    assert act(client, "undo")["n_done"] == 0
    assert client.get("items/0").json()["tags"][2] is None
    assert client.post("words", json={"word": "Ann", "to": "PER"}).status_code == 400


def test_tags_teach_from_nothing(studio_of):
    client = studio_of(spans=True)
    for row in range(3):
        act(client, "spans", item=row, start=1, stop=2, label="ANIMAL")
        act(client, "accepted", item=row)
    view = trained(client, text="CRF from 3 tagged", after=6)
    assert view["labels"] == [{"name": "ANIMAL", "key": "1", "count": 3, "hue": 0, "color": ""}]
    suggested = [client.get(f"items/{row}").json()["suggestion"] for row in range(10, 30)]
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
    assert client.post("spans", json={**body}).status_code == 400
    assert client.get("view").json()["version"] == 0


def test_nothing_is_accepted_where_nothing_is_said(studio_of):
    client = studio_of()
    trained(client, text="Nothing to learn")
    assert "no token has a tag" in client.post("accepted", json={"item": 0}).json()["error"]
    for what in ("tags", "words", "predictions", "model", "../x"):
        assert client.post("exports", json={"what": what}).status_code == 400


def test_exports_and_reopening(studio_of, tmp_path):
    from handful.data.tagged import read_tagged
    from handful.data.word_lists import read_prototypes
    from handful.persistence.model_file import load

    client = studio_of(lists=LISTS)
    trained(client, text="5 words")
    act(client, "words", word="sleeps", to="V")
    row = client.get("view").json()["queue"][0]["row"]
    view = act(client, "accepted", item=row)
    assert view["queue"][0]["row"] != row
    trained(client, text="6 words of 4 labels and 1 tagged")
    for what in ("tags", "words", "predictions", "model"):
        assert client.post("exports", json={"what": what}).status_code == 200
    assert read_prototypes(tmp_path / "text.prototypes.tsv")["V"] == ["barks", "sleeps"]
    assert read_tagged(tmp_path / "text.tags.tsv").sentences[0].tokens == SENTENCES[row]
    told = read_tagged(tmp_path / "text.predictions.tsv")
    assert [sentence.tokens for sentence in told.sentences] == SENTENCES
    model = load(tmp_path / "text.handful")
    assert [tuple(tags) for tags in model.predict([list(s) for s in SENTENCES[:9]])] == list(told.tags[:9])
    client.studio.close()
    again = studio_of(lists=LISTS)
    view = again.get("view").json()
    assert (view["n_done"], view["version"]) == (1, 2)
    assert act(again, "undo")["n_done"] == 0


def test_tagging_is_measured_with_and_without_the_board_and_the_better_one_suggests(studio_of):
    client = studio_of(lists={"D": ["dog", "cat"], "N": ["the"], "V": ["loudly"], "X": ["barks"]})  # a bad board
    session, trainer = client.studio.session, client.studio
    for thread in client.studio.threads:
        thread.end()
        thread.join()
    for row in range(20):
        assert session.measured == {}
        session.state["tags"][str(row)] = {"tags": ["D", "N", "V", "R", "X"], "done": True}
        session.state["audits"][str(row)] = {}
    trainer.measure()
    audit = session.view()["audit"]
    assert (audit["needed"], audit["tagged"]["n_sentences"], audit["board"]["n_sentences"]) == (0, 20, 20)
    assert min(audit["tagged"]["score"], audit["board"]["score"]) > 0.95
    session.measured["board"]["score"] = 0.5
    trainer._compares = False
    trainer.worker._wake.clear()  # one that ended starts again for ever
    trainer.train()
    assert session.learned_model.text == "A CRF from 20 tagged sentences."
    model = trainer.final(session.learned_model.tagger, session.done)  # that of fit tagger
    assert model.predict([list(SENTENCES[50])]) == [["D", "N", "V", "R", "X"]]


def test_random_sentences_come_without_a_suggestion(studio_of):
    client = studio_of(lists=LISTS)
    trained(client, text="5 words")
    session, n_random = client.studio.session, 0
    for _ in range(12):
        item = client.get("view").json()["queue"][0]
        if item["random"]:
            n_random += 1
            assert item["suggestion"] is None
            predicted = session.suggestion(item["row"])["suggestion"]
            for at, tag in enumerate(predicted):
                wrong = "N" if tag != "N" else "V"
                act(client, "spans", item=item["row"], start=at, stop=at + 1, label=tag if at else wrong)
        act(client, "accepted", item=item["row"], random=item["random"])
    assert len(session.state["audits"]) == n_random > 0
    assert client.get("view").json()["audit"]["needed"] == 20 - n_random


def test_every_fifth_sentence_is_random_and_ten_wait(studio_of):
    client = studio_of(lists=LISTS)
    session, n_random = client.studio.session, 0
    for number in range(10):
        view = trained(client, text="5 words", after=number)
        assert len(view["queue"]) == 10
        item = view["queue"][0]
        assert item["random"] == (number % 5 == 4)
        n_random += item["random"]
        if item["random"]:
            for at in range(5):
                act(client, "spans", item=item["row"], start=at, stop=at + 1, label="N")
        act(client, "accepted", item=item["row"], random=item["random"])
    assert len(session.state["audits"]) == n_random == 2


def test_an_accepted_sentence_never_waits_for_the_model(studio_of, monkeypatch):
    client = studio_of(lists=LISTS)
    queue = trained(client, text="5 words")["queue"]
    trainer, started, go_on = client.studio.threads[0], threading.Event(), threading.Event()

    def slow():
        started.set()
        assert go_on.wait(20)

    monkeypatch.setattr(trainer, "_works", (slow,))
    trainer.wake()
    assert started.wait(20)
    try:
        for number, item in enumerate(one for one in queue if not one["random"]):
            view = act(client, "accepted", item=item["row"])
            assert view["n_done"] == number + 1
            assert len(view["queue"]) == 10
    finally:
        go_on.set()


def test_a_span_stays_as_short_as_a_person_made_it(studio_of):
    assert filled([None, None, "B-LOC", None, None], ["O", "O", "O", "B-LOC", "I-LOC"], True)[3:] == ["B-LOC", "I-LOC"]
    client = studio_of([("Ann", "went", "to", "New", "York")] * 3, tagged=TRAIN, spans=True)
    trained(client, text="tagged sentences")
    item = client.get("view").json()["queue"][0]
    assert item["suggestion"][3:] == ["B-LOC", "I-LOC"]
    act(client, "spans", item=item["row"], start=4, stop=5, label="LOC")
    act(client, "accepted", item=item["row"], random=item["random"])
    assert client.studio.session.done[item["row"]] == ["B-PER", "O", "O", "O", "B-LOC"]


def test_with_prototypes_of_spans_there_is_an_outside(studio_of):
    client = studio_of(lists={"ANIMAL": ["dog", "cat"], "ACTION": ["barks"]}, spans=True)
    trained(client, text="Prototypes")
    tags = client.studio.session.suggestion(0)["suggestion"]
    assert "O" in tags


def test_hostile_text(studio_of):
    hostile = [
        ("<script>alert(1)</script>", "\u202eevil", "x" * 1_000_000),
        tuple("y" for _ in range(5_000)),
        ("a",),
        (),
    ]
    client = studio_of(hostile)
    trained(client, text="Nothing to learn")
    first, second = (client.get(f"items/{row}").json() for row in (0, 1))
    assert [len(token) for token in first["tokens"]] == [25, 5, 200]
    assert (len(second["tokens"]), second["more"]) == (400, 4_600)
    act(client, "spans", item=0, start=0, stop=1, label="<b>\u202e")
    act(client, "accepted", item=0)
    assert len(client.get("view").text) < 200_000


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

    def session():
        task = TaggingTask(LISTS, spans=True)
        return TextSession("text.txt", SENTENCES, AnnotationLog(tmp_path / "j", fixed("key")), tmp_path, task)

    def facts(one):
        return one.lists, one.done, one.label_names(), one.state.maps, one.state.n_actions

    held, n_refused = session(), 0
    for _ in range(1_000):
        try:
            held.act(anything())
        except DataError:
            n_refused += 1
    held.close()
    again = session()
    assert facts(again) == facts(held)
    assert again.state.n_actions == 1_000 - n_refused > 300
    while again.state.can_undo:
        again.act({"do": "undo"})
    assert (again.lists, again.done) == (LISTS, {})
    again.close()
