"""Structure and difficulty of the generated sense contexts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from handful.errors import ParameterError
from papers.generated_english import DEFAULT_WORD_SENSES, make_sense_contexts


def test_a_seed_fixes_the_contexts():
    words = {"bank.n": 2}
    assert make_sense_contexts(words, 9, 9, 1) == make_sense_contexts(words, 9, 9, 1)
    assert make_sense_contexts(words, 9, 9, 1) != make_sense_contexts(words, 9, 9, 2)
    assert make_sense_contexts({}, 9, 9, 1) == []


def test_counts_order_and_names():
    made = make_sense_contexts(n_labeled=3, n_unlabeled=2, random_state=0)
    assert [one.word for one in made] == [word for word in DEFAULT_WORD_SENSES for _ in range(5)]
    assert [bool(one.senses) for one in made] == [True, True, True, False, False] * len(DEFAULT_WORD_SENSES)
    assert len({one.id for one in made}) == len(made)


def test_all_senses_occur_and_the_first_has_about_half():
    made = make_sense_contexts(n_labeled=500, n_unlabeled=0, random_state=0)
    for word, n_senses in DEFAULT_WORD_SENSES.items():
        counts = Counter(one.senses[0] for one in made if one.word == word)
        assert set(counts) == {f"{word}%{i}" for i in range(1, n_senses + 1)}
        assert counts.most_common(1)[0][0] == f"{word}%1"
        assert 0.4 < counts[f"{word}%1"] / 500 < 0.6


def test_targets_are_forms_of_the_word_and_satellites_are_particles():
    made = make_sense_contexts({"draw.v": 5, "city.n": 2, "clear.a": 2, "odd": 2}, 200, 0, 0)
    forms = {word: {one.tokens[one.target] for one in made if one.word == word} for word in ("draw.v", "city.n")}
    assert forms["draw.v"] == {"draw", "draws", "drew", "drawn", "drawing"}
    assert forms["city.n"] == {"city", "cities"}
    assert {one.tokens[one.target] for one in made if one.word == "clear.a"} == {"clear"}
    assert {one.tokens[one.target] for one in made if one.word == "odd"} == {"odd", "odds"}
    phrasal = [one for one in made if one.satellites]
    assert {one.word for one in phrasal} == {"draw.v"}
    assert all(one.tokens[place] in ("up", "out", "off", "in") for one in phrasal for place in one.satellites)


def test_senses_may_be_named():
    made = make_sense_contexts({"bank.n": ["river", "money"]}, 60, 0, 0)
    assert Counter(one.senses[0] for one in made).keys() == {"river", "money"}


@pytest.mark.parametrize("senses", [1, 0, -2, 101, ["one"], ["same", "same"], "ab"])
def test_too_few_or_too_many_senses_are_refused(senses):
    with pytest.raises(ParameterError, match=r"each word must have 2 to 100 different senses, got .* for 'bank\.n'"):
        make_sense_contexts({"bank.n": senses})


def test_as_many_senses_as_allowed_can_be_made():
    assert len(make_sense_contexts({"run.v": 100}, 5, 0, 0)) == 5


@pytest.mark.parametrize("name", ["n_labeled", "n_unlabeled"])
def test_an_illegal_number_is_named(name):
    with pytest.raises(ParameterError, match=f"make_sense_contexts: {name} must be an integer of at least 0, got -1"):
        make_sense_contexts(**{name: -1})


def test_a_simple_learner_beats_the_first_sense_and_gains_from_labels():
    train = make_sense_contexts(n_labeled=400, n_unlabeled=0, random_state=1)
    test = make_sense_contexts(n_labeled=150, n_unlabeled=0, random_state=2)
    few, many, first = [], [], []
    for word in DEFAULT_WORD_SENSES:
        contexts = [one for one in train if one.word == word]
        new = [one for one in test if one.word == word]
        gold = np.array([one.senses[0] for one in new])
        first.append(np.mean(gold == f"{word}%1"))
        for accuracies, n in ((few, 40), (many, 400)):
            vectorizer = CountVectorizer(analyzer=_features, binary=True)
            model = MultinomialNB(alpha=0.1).fit(
                vectorizer.fit_transform(contexts[:n]), [one.senses[0] for one in contexts[:n]]
            )
            accuracies.append(np.mean(model.predict(vectorizer.transform(new)) == gold))
    assert 0.4 < np.mean(first) < 0.6
    assert np.mean(few) > np.mean(first) + 0.03
    assert np.mean(few) + 0.1 < np.mean(many) < 0.97


def _features(one):
    around = one.tokens[: one.target] + one.tokens[one.target + 1 :]
    left = one.tokens[one.target - 1] if one.target else ""
    right = one.tokens[one.target + 1] if one.target + 1 < len(one.tokens) else ""
    return [*around, f"l={left}", f"r={right}"]


@pytest.mark.parametrize(
    ("senses", "message"),
    [
        ({"a": 2.0}, "each word must have 2 to 100 different senses, got 2.0 for 'a'"),
        ({"a": True}, "each word must have 2 to 100 different senses, got True for 'a'"),
        ({"a": ["x", ""]}, "the senses of 'a' must have names"),
        ({"a": ["x", 1]}, "the senses of 'a' must have names"),
        ({1: 2}, "a word must be a filled string, such as 'bank.n', got 1"),
        ({" ": 2}, "a word must be a filled string, such as 'bank.n', got ' '"),
        (["a"], "word_senses must be a mapping, such as {'bank.n': 3}, got \\['a'\\]"),
    ],
)
def test_illegal_words_and_senses_are_named(senses, message):
    with pytest.raises(ParameterError, match=f"make_sense_contexts: {message}"):
        make_sense_contexts(senses, 1, 1, 0)


def test_ids_of_different_samples_differ():
    first, second = (make_sense_contexts({"bank.n": 2}, 5, 5, seed) for seed in (1, 2))
    assert not {one.id for one in first} & {one.id for one in second}
    assert all(one.id.startswith("bank.n.") for one in first)
