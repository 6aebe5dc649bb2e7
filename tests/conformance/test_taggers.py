"""Our contract for every tagger of the catalogue."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import pytest

import handful
from handful.registry import all_methods
from handful.tagging.base import ProbabilisticTagger, Tagger
from handful.tagging.recipes import TaggerSetup
from papers.generated_english import make_tagged_sentences

MADE = make_tagged_sentences(90, random_state=3)
SENTENCES = [tree.sentence.tokens for tree in MADE]
TAGS = [[tag[0] for tag in tree.sentence["pos"]] for tree in MADE]  # few tags, every one often
TRAINED = [spec.name for spec in all_methods("sentences") if spec.train is not None]
CARDS = {spec.name: spec for spec in all_methods("sentences")}


def fitted(name, sentences=None, tags=None, unlabeled=None):
    """Return a tagger as `fit tagger --method` and `compare` make it."""
    setup = TaggerSetup("general", max_iter=15, n_jobs=1)
    sentences = [list(s) for s in SENTENCES[:30]] if sentences is None else sentences
    tags = TAGS[:30] if tags is None else tags
    unlabeled = [list(s) for s in SENTENCES[30:60]] if unlabeled is None else unlabeled
    return CARDS[name].train(setup, sentences, tags, unlabeled)


@cache
def tagger_of(name):
    return fitted(name)


@pytest.fixture(scope="module", params=TRAINED)
def trained(request):
    return request.param, tagger_of(request.param)


def test_it_learns_and_gives_one_tag_per_token(trained):
    _, tagger = trained
    assert isinstance(tagger, Tagger)
    predicted = tagger.predict(SENTENCES[60:])
    assert [len(row) for row in predicted] == [len(sentence) for sentence in SENTENCES[60:]]
    assert {tag for row in predicted for tag in row} <= {tag for row in TAGS for tag in row}
    common = max({tag for row in TAGS for tag in row}, key=lambda tag: sum(row.count(tag) for row in TAGS))
    always = np.mean([tag == common for row in TAGS[60:] for tag in row])
    assert tagger.score(SENTENCES[60:], TAGS[60:]) > always + 0.1


def test_inputs_stay_and_a_second_fit_gives_the_same(trained):
    name, tagger = trained
    given = [list(s) for s in SENTENCES[:30]], copy.deepcopy(TAGS[:30]), [list(s) for s in SENTENCES[30:60]]
    before = copy.deepcopy(given)
    assert fitted(name, *given).predict(SENTENCES[60:]) == tagger.predict(SENTENCES[60:])
    assert given == before


def test_names_of_labels_do_not_matter(trained):
    name, tagger = trained
    other = {tag: f"label {number:02}" for number, tag in enumerate(sorted({tag for row in TAGS for tag in row}))}
    renamed = fitted(name, tags=[[other[tag] for tag in row] for row in TAGS[:30]])
    expected = [[other[tag] for tag in row] for row in tagger.predict(SENTENCES[60:])]
    assert renamed.predict(SENTENCES[60:]) == expected


def test_saved_and_loaded_it_answers_the_same(trained, tmp_path):
    _, tagger = trained
    handful.save(tagger, tmp_path / "model.handful")
    loaded = handful.load(tmp_path / "model.handful")
    assert type(loaded) is type(tagger)
    assert loaded.predict(SENTENCES[60:]) == tagger.predict(SENTENCES[60:])


def test_short_empty_and_unseen_sentences_are_answered(trained):
    _, tagger = trained
    assert tagger.predict([]) == []
    assert tagger.predict([[]]) == [[]]
    rows = tagger.predict([[SENTENCES[0][0]], [], ["zzyzx"], ["Qwertz", "uiop", "été", "日本", " ", "1,000.5"]])
    assert [len(row) for row in rows] == [1, 0, 1, 6]


def test_a_sentence_is_tagged_by_itself_in_any_order(trained):
    _, tagger = trained
    sentences = SENTENCES[60:]
    together = tagger.predict(sentences)
    assert tagger.predict(sentences[::-1]) == together[::-1]
    assert [tagger.predict([sentence])[0] for sentence in sentences] == together


def test_the_order_of_training_sentences_hardly_matters(trained):
    name, tagger = trained
    if name == "crf+stacked-condensed-nn":
        pytest.skip("Hart's algorithm visits the rows in their order")
    other = fitted(name, [list(s) for s in SENTENCES[29::-1]], TAGS[29::-1], [list(s) for s in SENTENCES[59:29:-1]])
    rows = zip(tagger.predict(SENTENCES[60:]), other.predict(SENTENCES[60:]), strict=True)
    assert np.mean([a == b for one, two in rows for a, b in zip(one, two, strict=True)]) > 0.95


def test_probabilities_fit_the_tags(trained):
    _, tagger = trained
    if not isinstance(tagger, ProbabilisticTagger):
        pytest.skip("gives no probabilities")
    shares = tagger.predict_proba(SENTENCES[60:63])
    assert [len(rows) for rows in shares] == [len(sentence) for sentence in SENTENCES[60:63]]
    for rows in shares:
        assert rows.shape[1] == len(tagger.classes_)
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-6)
    tags, at_once = tagger.predict_with_proba(SENTENCES[60:63])
    assert tags == tagger.predict(SENTENCES[60:63])
    for one, other in zip(at_once, shares, strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_class_of_a_tagger_is_trained_by_some_card():
    taggers = [tagger_of(name) for name in TRAINED]
    models = {type(part) for tagger in taggers for part in (tagger, *getattr(tagger, "members_", ()))}
    of_files = {"two-pass-tagger"}  # no longer trained
    assert {spec.cls for spec in CARDS.values() if spec.cls is not None and spec.name not in of_files} <= models
