"""Ensembles of prototype taggers."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from handful.errors import DataError, ParameterError
from handful.persistence.model_file import load, save
from handful.tagging.prototypes.ensemble import PrototypeEnsemble, learn_mixture, mix
from handful.tagging.prototypes.features import sample_sentences
from papers.generated import APARTMENT_FIELDS, APARTMENT_PROTOTYPES, make_apartment_ads

WORDS = {
    "D": ["the", "a", "every"],
    "N": ["dog", "cat", "bird", "fish", "horse"],
    "V": ["barks", "sleeps", "runs", "eats"],
}
LISTS = {"D": ["the", "a"], "N": ["dog", "cat"], "V": ["barks", "sleeps"]}


def make_text(n, seed=0):
    rng = np.random.default_rng(seed)
    tags = ["D", "N", "V"]
    return [[str(rng.choice(WORDS[tag])) for tag in tags] for _ in range(n)], [tags] * n


def test_an_ensemble_votes_and_is_stored(tmp_path):
    text, tags = make_text(150)
    ensemble = PrototypeEnsemble(LISTS).fit(text)
    assert ensemble.score(text, tags) == 1.0
    assert [s["similarity"] for s in ensemble.settings_] == ["place-roots", "nearby-roots"], "little text"
    for rows in ensemble.predict_proba(text[:5]):
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    save(ensemble, tmp_path / "ensemble.handful")
    again = load(tmp_path / "ensemble.handful")
    assert again.predict(text) == ensemble.predict(text)
    assert again.settings_ == ensemble.settings_


def test_in_much_text_counts_are_decomposed(monkeypatch):
    monkeypatch.setattr("handful.tagging.prototypes.ensemble._MUCH_TEXT", 60)
    text, _ = make_text(30)
    ensemble = PrototypeEnsemble(LISTS, max_iter=5).fit(text)
    assert [setting["similarity"] for setting in ensemble.settings_] == ["places", "nearby", "none"]


def test_settings_that_the_user_names_are_kept():
    text, _ = make_text(30)
    ensemble = PrototypeEnsemble(
        LISTS, similarity="places", spelling=False, max_iter=3, suffix_length=1, sticky=1.0
    ).fit(text)
    assert ensemble.settings_ == [{"similarity": "places", "sticky": 1.0}]
    (member,) = ensemble.members_
    assert (member.spelling, member.suffix_length, member.threshold, member.order) == (False, 1, 0.35, 1)
    assert member.n_iter_ <= 3


def test_the_seed_does_not_matter_in_a_text_that_is_read_whole():
    text, _ = make_text(40)
    one, other = (PrototypeEnsemble(LISTS, max_iter=5, random_state=seed).fit(text) for seed in (0, 1))
    for a, b in zip(one.predict_proba(text), other.predict_proba(text), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("length", "expected"), [(1, {0.0}), (4, {4.0, 6.0})])
def test_fields_are_sticky_where_labels_go_on(length, expected):
    text = [
        [str(w) for tag in ("D", "N", "V") for w in np.random.default_rng(i).choice(WORDS[tag], length)]
        for i in range(60)
    ]
    lists = {tag: words[:2] for tag, words in WORDS.items()}
    ensemble = PrototypeEnsemble(lists, fields=True, max_iter=5).fit(text)
    assert {setting["sticky"] for setting in ensemble.settings_} == expected


@pytest.mark.parametrize("length", [1, 4])
def test_the_text_shows_whether_labels_are_fields(length, tmp_path):
    rng = np.random.default_rng(0)
    text = [[str(w) for tag in "DNV" for w in rng.choice(WORDS[tag], length)] for _ in range(60)]
    ensemble = PrototypeEnsemble(WORDS, max_iter=5).fit(text)
    assert ensemble.fields_ == (length > 1)
    assert len(ensemble.members_) == (4 if length > 1 else 2)
    assert PrototypeEnsemble(WORDS, fields=length == 1, max_iter=2).fit(text).fields_ == (length == 1), (
        "the user decides"
    )
    save(ensemble, tmp_path / "ensemble.handful")
    assert load(tmp_path / "ensemble.handful").fields_ == ensemble.fields_


def test_frequent_words_are_outside_of_spans():
    text = [s.split() for s in ("he went to Rome .", "to Oslo he flew .", "he likes Bonn .", "she saw Paris .")] * 3
    ensemble = PrototypeEnsemble({"PLACE": ["Rome", "Oslo", "Bonn"]}, outside="O", fields=False, max_iter=20).fit(text)
    assert ensemble.classes_.tolist() == ["O", "PLACE"]
    assert ensemble.predict([["he", "saw", "Rome", "."]]) == [["O", "O", "PLACE", "O"]]
    assert "Rome" not in ensemble.members_[0].prototypes["O"]


def test_separators_take_the_field_before_them_and_sticky_labels_go_on():
    ads = make_apartment_ads(40, random_state=0)
    text = [ad.tokens for ad in ads]
    settings = {"similarity": "nearby-roots", "spelling": False, "max_iter": 15}
    runs = []
    for sticky in (0.0, 8.0):
        ensemble = PrototypeEnsemble(
            APARTMENT_PROTOTYPES, True, labels=APARTMENT_FIELDS, boundary="BOUNDARY", sticky=sticky, **settings
        ).fit(text)
        tags = ensemble.predict(text)
        assert not any("BOUNDARY" in mine for mine in tags)
        runs.append(sum(a != b for mine in tags for a, b in pairwise(mine)))
    assert runs[1] < runs[0]


REFERENCES = [
    [*name, ",", *title, ".", "(", year, ")"]
    for name in (("Weber", "Anna"), ("Klein", "Jo"), ("Novak", "Tom"), ("Berg", "Ida"))
    for title in (("deep", "models"), ("sparse", "graphs"), ("fast", "parsers"), ("large", "models"))
    for year in ("1999", "2001", "2010")
]
REFERENCE_LISTS = {"AUTHOR": ["Weber", "Klein"], "TITLE": ["deep", "models"], "DATE": ["1999", "2001"]}


def test_separators_that_nobody_named_have_no_label_of_their_own(tmp_path):
    ensemble = PrototypeEnsemble(REFERENCE_LISTS, fields=True, similarity="place-roots", max_iter=20).fit(REFERENCES)
    assert sorted(ensemble.separators_) == ["(", ")", ",", "."]
    assert ensemble.classes_.tolist() == ["AUTHOR", "DATE", "TITLE"]
    answers = ensemble.predict(REFERENCES)
    for words, labels in zip(REFERENCES, answers, strict=True):
        for place in range(1, len(words)):
            assert words[place] not in ensemble.separators_ or labels[place] == labels[place - 1]
    for rows in ensemble.predict_proba([*REFERENCES[:3], [",", "."]]):
        assert rows.shape[1] == 3
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    save(ensemble, tmp_path / "ensemble.handful")
    again = load(tmp_path / "ensemble.handful")
    assert again.predict(REFERENCES) == answers
    assert again.separators_ == ensemble.separators_


@pytest.mark.parametrize(
    "settings",
    [
        {"separators": False},
        {"fields": False},
        {"labels": ["OTHER"]},
        {"prototypes": {**REFERENCE_LISTS, "SIGN": [",", ".", "(", ")"]}},
    ],
    ids=["not wanted", "no fields", "a label without prototypes", "listed"],
)
def test_punctuation_is_words_where_the_user_wants_it(settings):
    ensemble = PrototypeEnsemble(
        **{"prototypes": REFERENCE_LISTS, "fields": True, "similarity": "none", "max_iter": 5, **settings}
    )
    assert ensemble.fit(REFERENCES).separators_ == []


def test_one_label_is_refused_with_separators():
    with pytest.raises(DataError, match="at least two labels"):
        PrototypeEnsemble({"AUTHOR": ["Weber", "Klein"]}, fields=True).fit(REFERENCES)


def test_punctuation_is_words_where_tagged_sentences_label_it_apart():
    apart = [["AUTHOR", "AUTHOR", "DATE", "TITLE", "TITLE", "DATE", "DATE", "DATE", "DATE"]] * 4
    within = [["AUTHOR", "AUTHOR", "AUTHOR", "TITLE", "TITLE", "TITLE", "DATE", "DATE", "DATE"]] * 4
    rest = [None] * (len(REFERENCES) - 4)
    ensemble = PrototypeEnsemble(REFERENCE_LISTS, fields=True, similarity="none", max_iter=5)
    assert ensemble.fit(REFERENCES, [*apart, *rest]).separators_ == []
    assert ensemble.fit(REFERENCES, [*within, *rest]).separators_ != []


def test_a_word_under_two_labels_that_leaves_nothing_to_learn_is_no_error():
    text = [words.split() for words in ("the dog sat", "a cat ran", "the cat ran", "a dog sat")] * 20
    ensemble = PrototypeEnsemble({"D": ["the", "a"], "N": ["the", "cat"]}, max_iter=5).fit(text)
    assert {tag for row in ensemble.predict(text) for tag in row} == {"D", "N"}


def test_a_boundary_that_is_no_label_is_refused():
    with pytest.raises(ParameterError, match="boundary must be one of the labels, got 'MARK'"):
        PrototypeEnsemble(LISTS, boundary="MARK", similarity="none", spelling=False, max_iter=3).fit(make_text(5)[0])


@pytest.mark.parametrize("codes", [[0, 1, 2], [1, 2, 0]], ids=["right", "wrong"])
def test_tagged_sentences_correct_what_prototypes_say(codes):
    text, tags = make_text(30)
    classes = np.array(["D", "N", "V"])
    guessed = [0.9 * np.eye(3)[codes] + 0.1 / 3] * len(text)
    crf, weight = learn_mixture(text, tags, guessed, classes)
    for rows, right in zip(mix(crf, weight, text, guessed, classes), tags, strict=True):
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        assert classes[rows.argmax(axis=1)].tolist() == right


def test_prototypes_that_know_more_than_the_tagged_sentences_keep_the_word():
    # the tags are chance, but what prototypes say is right: no weight on the CRF could be better
    rng = np.random.default_rng(0)
    text = [[f"w{rng.integers(10_000)}" for _ in range(4)] for _ in range(20)]
    tags = [rng.choice(["A", "B"], 4).tolist() for _ in text]
    classes = np.array(["A", "B"])
    guessed = [np.array([[0.6, 0.4] if tag == "A" else [0.4, 0.6] for tag in mine]) for mine in tags]
    crf, weight = learn_mixture(text, tags, guessed, classes)
    found = mix(crf, weight, text, guessed, classes)
    assert [classes[rows.argmax(axis=1)].tolist() for rows in found] == tags


def test_tagged_sentences_join_an_ensemble():
    text, tags = make_text(60)
    ensemble = PrototypeEnsemble(LISTS, similarity="none", spelling=False, max_iter=10)
    ensemble.fit(text, [*tags[:6], *[None] * 54])
    assert ensemble.crf_ is not None
    assert ensemble.score(text, tags) == 1.0
    few = ensemble.fit(text, [*tags[:2], *[None] * 58])
    assert few.crf_ is None


def test_the_example_of_the_howto_runs(capsys):
    howto = (Path(__file__).parents[2] / "docs" / "howto-prototypes.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", howto, re.DOTALL)
    exec(compile(block, "howto-prototypes.md", "exec"), {})
    assert "[['D', 'N', 'V']]" in capsys.readouterr().out


def test_tagged_sentences_may_have_tags_of_spans_and_hardly_any():
    text = [*[["in", "no", "time"]] * 5, *[["in", "Rome", "now"], ["to", "Oslo", "then"]] * 4]
    tags: list[list[str] | None] = [["O", "O", "O"]] * 5 + [["O", "B-LOC", "O"]]
    lists = {"O": ["in", "to"], "B-LOC": ["Rome", "Oslo"]}
    ensemble = PrototypeEnsemble(lists, similarity="none", spelling=False, max_iter=10)
    ensemble.fit(text, [*tags, *[None] * 7])
    assert set(ensemble.crf_.classes_) == {"O", "B-LOC"}
    assert ensemble.predict([["to", "Rome", "then"]])[0][1] == "B-LOC"


def test_taggers_learn_from_a_sample_of_a_long_text():
    """The cost of training does not grow with the text; tagged sentences and rare prototypes stay in the sample."""
    rng = np.random.default_rng(0)
    nouns, verbs = [f"noun{i}" for i in range(20)], [f"verb{i}" for i in range(20)]
    text = [["the", str(rng.choice(nouns)), str(rng.choice(verbs))] for _ in range(2000)]
    text[1700] = ["a", "noun1", "rarely"]
    tags = [None] * len(text)
    tags[1900] = ["D", None, None]
    lists = {"D": ["the"], "N": ["noun1", "noun2"], "V": ["verb1", "rarely"]}
    settings = {"similarity": "none", "spelling": True, "max_iter": 3}
    learner = PrototypeEnsemble(lists, max_tokens=300, **settings)
    samples = [sample_sentences(text, 300, {"rarely"}, seed, chosen=[1900]) for seed in (0, 1)]
    assert samples[0] != samples[1]
    for sample in samples:
        assert {1700, 1900} <= set(sample)
        assert 300 <= sum(len(text[i]) for i in sample) <= 320
    assert learner.fit(text, tags).predict([["the", "noun3", "verb3"]]) == [["D", "N", "V"]]
    assert sample_sentences(text, 10_000, {"rarely"}, 0) == list(range(2000))
