"""The harvest of unlabeled contexts reads a stream once, and no further than it must."""

from __future__ import annotations

from handful.data.records import Occurrence, Sentence
from handful.senses.harvesting import harvest


def test_stops_reading_when_every_word_has_enough():
    read = []

    def stream():
        for i in range(100_000):
            read.append(i)
            yield ("He", "called", str(i))

    found = harvest(stream(), ["call.v"], limit=3)
    assert [o.tokens[2] for o in found] == ["0", "1", "2"]
    assert len(read) < 5_000


def test_tags_decide_between_parts_of_speech():
    text = [Sentence(("a", "call", "came")), ["they", "call"], ["Calls", "came"]]

    def tagger(sentences):
        table = {"call": "NN", "Calls": "NNS"}
        return [["VBP" if s == ["they", "call"] and w == "call" else table.get(w, "DT") for w in s] for s in sentences]

    found = harvest(text, ["call.v", "call.n"], tagger=tagger)
    assert [(o.word, o.id, o.target) for o in found] == [
        ("call.n", "call.n.1", 1),
        ("call.n", "call.n.3", 0),
        ("call.v", "call.v.2", 1),
    ]
    assert all(o.senses == () for o in found)


def test_excluded_contexts_are_left_out():
    known = Occurrence("call.v", "t1", ("Yes.", "He", "called", "it", "a", "day,", "then", "left."), 2)
    text = [
        ["Yes", ".", "He", "called", "it", "a", "day", ","],
        ["Yes", ".", "He", "called", "it", "a", "day", ",", "then", "left", "."],
        ["He", "called", "twice"],
    ]
    assert len(harvest(text, ["call.v"])) == 3
    assert [o.tokens[-1] for o in harvest(text, ["call.v"], exclude=[known])] == ["twice"]


def test_sentences_before_belong_to_the_context():
    text = [["one"], ["two", "cats"], ["three"], ["He", "called"]]
    (found,) = harvest(text, ["call.v"], before=2)
    assert found.tokens == ("two", "cats", "three", "He", "called")
    assert found.tokens[found.target] == "called"


def test_a_word_without_a_part_of_speech_is_looked_for_as_it_stands():
    text = [["The", "Bank", "fell"], ["Two", "banks"], ["a", "bank", "account"], ["Mr.", "A.n"]]
    found = harvest(text, ["bank", ".n"], tagger=lambda sentences: [["X"] * len(s) for s in sentences])
    assert [(o.word, o.tokens[o.target]) for o in found] == [("bank", "Bank"), ("bank", "bank")]


def test_progress_is_told():
    steps = []
    harvest([["a", "call"]] * 10, ["call.n"], progress=steps.append)
    assert steps[-1].done == 10
    assert steps[-1].figures["contexts"] == 10
