from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import handful
from handful.data.records import Occurrence, Sentence
from handful.errors import DataError
from handful.models.explain import explain_sense, explain_tags
from handful.models.table_model import TableModel
from handful.preprocessing.extractor import in_words
from handful.preprocessing.templates import parse_templates
from handful.tagging.base import add_columns
from handful.tagging.crf import CRF
from handful.tagging.frequent import FrequentTag
from handful.tagging.prototypes.tagger import PrototypeTagger

ROWS = pl.DataFrame({"size": [1.0, 2.0, 9.0, 8.0, 1.5, 8.5], "color": ["red", "red", "blue", "blue", "red", "blue"]})


def test_cells_support_the_prediction_or_oppose_it():
    model = TableModel("logistic-regression").fit(ROWS, ["s", "s", "l", "l", None, None])
    told = model.explain({"size": 9.5, "color": "blue"})
    assert (told.label, told.runner_up) == ("l", "s")
    assert {item.what for item in told.evidence} == {"size = 9.5", "color = blue"}
    assert all(item.weight > 0 for item in told.evidence)
    against = model.explain({"size": 9.5, "color": "red"})
    assert {item.what: item.weight < 0 for item in against.evidence} == {"size = 9.5": False, "color = red": True}


def test_neighbors_show_the_deciding_rows():
    model = TableModel("k-nn", params={"n_neighbors": 2}).fit(ROWS, ["s", "s", "l", "l", None, None])
    told = model.explain({"size": 8.2, "color": "blue"})
    assert [near.label for near in told.near] == ["l", "l"]
    assert told.near[0].cells == {"size": 8.0, "color": "blue"}
    assert told.near[0].distance <= told.near[1].distance


def test_a_pseudo_label_is_traced_to_a_given_one():
    rows = pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 20.0, 21.0]})
    model = TableModel("ordinal-knn").fit(rows, ["a", None, None, None, "b", None])
    told = model.explain({"x": 3.1})
    assert told.label == "a"
    assert told.near[0].row == 3
    assert told.near[0].lineage[-1] == 0
    assert model.explain({"x": 0.0}).near[0].lineage == ()


def test_words_speak_for_texts_in_any_model():
    texts = pl.DataFrame({"text": ["bad film really bad", "good film really good"] * 6})
    kinds = {"text": "text"}
    model = TableModel("k-nn", kinds=kinds).fit(texts, ["-", "+"] * 6)
    told = model.explain({"text": "a good film"})
    assert told.label == "+"
    assert told.evidence[0].what == "text: good"
    linear = TableModel("logistic-regression", kinds=kinds).fit(texts, ["-", "+"] * 6)
    assert "good" in linear.explain({"text": "a good film"}).evidence[0].what


def test_one_row_is_explained_at_a_time():
    model = TableModel("k-nn").fit(ROWS, ["s", "s", "l", "l", None, None])
    with pytest.raises(DataError, match="one row is needed, got 6"):
        model.explain(ROWS)


def test_a_crf_shows_observations_and_the_tag_before():
    sentences = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 3
    tagger = CRF(strength=0.1).fit(sentences, [["D", "N", "V"]] * 6)
    told = tagger.explain(["the", "cat", "barks"])
    assert [t.subject for t in told] == ["the", "cat", "barks"]
    assert [t.label for t in told] == ["D", "N", "V"]
    for explanation in told:
        assert explanation.runner_up != explanation.label
        assert explanation.evidence
        weights = [abs(item.weight) for item in explanation.evidence]
        assert weights == sorted(weights, reverse=True)
    assert any(item.what == "after D" and item.weight > 0 for item in told[1].evidence) or len(told[1].evidence) == 6
    assert np.isclose(told[0].confidence, tagger.predict_proba([["the", "cat", "barks"]])[0][0].max())


def test_clusters_are_told_by_their_words():
    paths = {"monday": "1110", "friday": "1110", "sunday": "1110", "may": "1111", "rome": "0"}
    text, tags = [["in", "rome"], ["on", "monday"]] * 4, [["P", "L"], ["P", "D"]] * 4
    tagger = CRF(["brown.prefix4[0]", "brown.prefix3[0]"], lookups={"brown": paths}, strength=0.1).fit(text, tags)
    told = {item.what for item in tagger.explain(["on", "Friday"])[1].evidence}
    assert 'the word is of a cluster with "monday", "sunday" (brown 1110)' in told
    assert 'the word is of a cluster with "monday", "may", "sunday" (brown 111)' in told
    small = tagger.with_small_lookups()  # keeps no words
    assert "the word is of one cluster of words (brown 1110)" in {
        item.what for item in small.explain(["on", "Friday"])[1].evidence
    }


def test_a_prototype_tagger_shows_links():
    text = [s.split() for s in ["the dog barks", "a dog sleeps", "the cat sleeps", "a cat barks", "the cat runs"]]
    tagger = PrototypeTagger({"D": ["the", "a"], "N": ["dog"], "V": ["barks"]}, order=1).fit(text)
    tagger.links_ = {"cat": ["dog"]}
    told = tagger.explain(["the", "cat"])
    assert (told[0].links, told[0].prototype_of) == ((), ("D",)), "a prototype is not linked to itself"
    assert not any(f'linked to "{told[0].subject}"' in item.what for item in told[0].evidence)
    assert told[1].links == ("dog (N)",)
    assert {'the word is "cat"', 'the word ends in "at"'} <= {evidence.what for evidence in told[1].evidence}


def _reviews() -> tuple[pl.DataFrame, list[str | None]]:
    """Texts enough to be learned as vectors, behind rows without a label."""
    good = [f"good film number {i} really good" for i in range(30)]
    bad = [f"bad film number {i} really bad" for i in range(30)]
    return pl.DataFrame({"text": good + bad, "stars": [4.0, 5.0] * 15 + [1.0, 2.0] * 15}), (
        [None] * 20 + ["+"] * 10 + [None] * 20 + ["-"] * 10
    )


def test_words_inside_vectors_speak_by_what_leaving_them_out_takes_away():
    texts, labels = _reviews()
    model = TableModel("logistic-regression", kinds={"text": "text", "stars": "numeric"}).fit(texts, labels)
    row = texts[0]
    told = model.explain(row)
    assert model._encoder.vector_columns == ["text"]
    weights = {item.what: item.weight for item in told.evidence}
    assert weights["text: good"] > 0
    assert weights["stars = 4.0"] > 0
    without = model.predict_proba(row.with_columns(text=pl.lit("film number 0 really")))[0]
    code = model.classes_.tolist().index(told.label)
    assert weights["text: good"] == pytest.approx(model.predict_proba(row)[0, code] - without[code])


def test_a_text_of_many_small_hints_speaks_as_a_whole_beside_other_columns():
    hints = {"+": ["good", "fine", "great", "lovely"], "-": ["bad", "poor", "awful", "dull"]}
    labels = ["+", "-"] * 20
    texts = [" ".join(hints[label]) for label in labels]
    rows = pl.DataFrame({"text": texts, "stars": [float(i % 3) for i in range(40)]})
    model = TableModel("random-forest", kinds={"text": "text", "stars": "numeric"}).fit(rows, labels)
    told = model.explain(rows[0])
    assert (told.label, told.evidence[0].what) == ("+", "text (whole text)")
    assert told.evidence[0].weight > 0


@pytest.mark.filterwarnings("ignore::handful.neighbors.rows.ScalingWarning")
def test_deciding_rows_carry_their_numbers_in_the_table_and_words_they_hold():
    texts, labels = _reviews()
    for method in ("k-nn", "condensed-nn"):  # these see the labeled rows alone
        told = TableModel(method, kinds={"text": "text"}).fit(texts, labels).explain({"text": "bad film really bad"})
        assert told.label == "-"
        near = told.near[0]
        assert labels[near.row] == "-"
        assert "bad" in near.cells["text"].split()
        assert "good" not in near.cells["text"].split()


def test_a_file_keeps_the_numbers_of_rows(tmp_path):
    from handful.persistence.model_file import load, save

    model = TableModel("k-nn").fit(ROWS, [None, None, "l", "l", "s", None])
    save(model, tmp_path / "model.handful")
    assert load(tmp_path / "model.handful").explain({"size": 1.4, "color": "red"}).near[0].row == 4


def test_inspect_shows_the_words_of_any_text_model(tmp_path):
    from handful.models.inspection import inspect_model
    from handful.persistence.model_file import save

    texts, labels = _reviews()
    for method in ("logistic-regression", "ensemble"):
        save(TableModel(method, kinds={"text": "text"}).fit(texts, labels), tmp_path / f"{method}.handful")
        words = inspect_model(tmp_path / f"{method}.handful")["words of text by class"]
        assert words["+"][0].startswith("good ")
        assert words["-"][0].startswith("bad ")


def test_inspect_ranks_words_by_what_the_method_says_of_them_itself(tmp_path):
    from handful.models.inspection import inspect_model
    from handful.persistence.model_file import save

    texts, labels = _reviews()
    model = TableModel("logistic-regression", kinds={"text": "text"}).fit(texts, labels).calibrate(texts, labels)
    save(model, tmp_path / "calibrated.handful")
    shown = inspect_model(tmp_path / "calibrated.handful")["words of text by class"]["+"]
    words = [entry.split()[0] for entry in shown]
    shares = model.own_proba(pl.DataFrame({"text": words, "stars": [None] * len(words)}))
    assert np.allclose(shares.sum(axis=1), 1.0)
    own = shares[:, model.classes_.tolist().index("+")]
    assert [float(entry.split()[1]) for entry in shown] == own.round(2).tolist()
    assert own.tolist() == sorted(own, reverse=True)


def test_any_tagger_shows_the_words_that_change_its_answer():
    sentences = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 3
    tagger = FrequentTag().fit(sentences, [["D", "N", "V"]] * 6)
    told = explain_tags(tagger, ["the", "cat", "sleeps"])
    assert [(t.subject, t.label) for t in told] == [("the", "D"), ("cat", "N"), ("sleeps", "V")]
    assert [[item.what for item in t.evidence] for t in told] == [[], ["without cat: D"], ["without sleeps: D"]]
    assert told[1].runner_up == "D"  # a word that it never saw is the most frequent tag, and so is the first one


def test_a_second_pass_shows_its_own_observations():
    model = handful.load(Path(__file__).parents[1] / "models" / "0.1.0" / "tagger.two-pass.handful")
    sentence = Sentence(("in", "Rome"), {"pos": ("IN", "NNP")})
    told = model.explain(sentence)
    assert [[t.label for t in told]] == model.predict([sentence])
    widened = add_columns(sentence, {"same_near": ("-", "-"), "same_far": ("-", "-")})
    assert told == model.second_.explain(widened)  # nothing is elsewhere


def test_senses_show_the_words_of_the_context_that_change_them():
    asked = []

    def answer(occurrences):
        asked.extend(occurrences)
        return ["river" if "river" in occurrence.tokens else "money" for occurrence in occurrences]

    tokens = ("the", "muddy", "bank", "of", "a", "river")
    told = explain_sense(answer, Occurrence("bank.n", "1", tokens, 2))
    assert (told.label, told.runner_up, told.subject) == ("river", "money", "bank")
    assert [item.what for item in told.evidence] == ["without river: money"]
    assert all(occurrence.tokens[2] == "bank" for occurrence in asked)


def test_tags_are_those_that_people_wrote_and_observations_are_told_in_words():
    sentences = [["take", "Aspirin", "now"], ["take", "Old", "Rum", "now"], ["Go", "away", "now"]] * 4
    tags = [["O", "B-DRUG", "O"], ["O", "B-DRUG", "I-DRUG", "O"], ["O", "O", "O"]] * 4
    tagger = CRF("general", encoding="iobes", strength=0.1).fit(sentences, tags)
    assert "S-DRUG" in tagger.classes_
    told = tagger.explain(["take", "Aspirin", "now"])
    assert [t.label for t in told] == ["O", "B-DRUG", "O"]
    assert all({t.label, t.runner_up} <= {"O", "B-DRUG", "I-DRUG"} for t in told)
    assert all(t.label != t.runner_up for t in told)
    marks = {item.what for t in told for item in t.evidence}
    assert 'the word after is "now"' in marks
    assert all(len({item.what for item in t.evidence}) == len(t.evidence) for t in told)
    assert not any("[" in mark or mark == "u" for mark in marks)


@pytest.mark.parametrize(
    ("template", "values", "told"),
    [
        ("word[0]", ["Rome"], 'the word is "Rome"'),
        ("word.lower.suffix3[0]", ["ome"], 'the word ends in "ome"'),
        ("word.prefix2[-2]", ["in"], 'the second word before starts with "in"'),
        ("word.shape[1]", ["Aa0"], 'the word after is written like "Aa0"'),
        ("word.pattern[0]", ["A-00"], 'the word is written like "A-00"'),
        ("word.type[0]", ["--A"], "the word has punctuation only"),
        ("word.type[1]", ["ISS"], "the word after has a capital first and some digits and some punctuation"),
        ("word.type[0]", ["---"], "the word has small letters only"),
        ("word.hyphen[0]", ["yes"], "the word has a hyphen"),
        ("word.lower[-1]", ["<s>"], "the sentence begins right before the word"),
        ("word[2]", ["</s>"], "the sentence ends less than 2 words after the word"),
        ("word[-4..-1]", ["Bonn"], 'one of the 4 words before is "Bonn"'),
        ("pos[1]", ["NN"], 'pos of the word after is "NN"'),
        ("u", [], "the tag itself, whatever the words"),
    ],
)
def test_observations_in_words(template, values, told):
    assert in_words(parse_templates([template])[0].atoms, values) == told
