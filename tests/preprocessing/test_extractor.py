"""Extraction against a literal version."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from oracles.templates import observe

from handful.data.records import Sentence
from handful.errors import DataError, ParameterError
from handful.preprocessing.extractor import Extractor

WORDS = ["a", "A", "bc", "Bc", "abc", "x-1", "é", "日本"]
TEMPLATES = {
    "word[0]": [("word", "", 0)],
    "word.lower[-2]": [("word", "lower", -2)],
    "word.suffix2[1]": [("word", "suffix2", 1)],
    "word.prefix3[0]": [("word", "prefix3", 0)],
    "pos[0]": [("pos", "", 0)],
    "word.lower[-1]|pos[0]": [("word", "lower", -1), ("pos", "", 0)],
    "pos[-1]|pos[0]|pos[1]": [("pos", "", -1), ("pos", "", 0), ("pos", "", 1)],
    "word.suffix2[0]|word.suffix2[1]": [("word", "suffix2", 0), ("word", "suffix2", 1)],
}


def corpus(seed, n=12):
    rng = np.random.default_rng(seed)
    out = []
    for length in rng.integers(0, 6, size=n):
        tokens = rng.choice(WORDS, size=length).tolist()
        out.append(Sentence(tokens, {"pos": rng.choice(["N", "V"], size=length).tolist()}))
    return out


def literal(sentences):
    """Names of all observations, a set a token."""
    rows = []
    for sentence in sentences:
        columns = {"word": sentence.tokens, **sentence.columns}
        for t in range(len(sentence)):
            seen = {name: observe(columns, atoms, t) for name, atoms in TEMPLATES.items()}
            rows.append({f"{name}={value}" for name, value in seen.items() if value is not None})
    return rows


def named(extractor, predicates):
    names = extractor.names(range(extractor.n_predicates))
    return [{names[p] for p in row if p >= 0} for row in predicates.ids]


@pytest.mark.parametrize("seed", range(5))
def test_extraction_equals_the_literal_one(seed):
    train, test = corpus(seed), corpus(seed + 100)
    extractor = Extractor(TEMPLATES)
    assert named(extractor, extractor.fit_transform(train)) == literal(train)
    known = set().union(*literal(train))
    assert named(extractor, extractor.transform(test)) == [row & known for row in literal(test)]
    assert extractor.n_predicates == len(known)


def test_cut_off_drops_rare_observations():
    train = corpus(0, n=30)
    counts = Counter(name for row in literal(train) for name in row)
    extractor = Extractor(TEMPLATES, min_count=3).fit(train)
    assert set(extractor.names(range(extractor.n_predicates))) == {name for name, n in counts.items() if n >= 3}


def test_a_window_forgets_the_distance_and_sees_no_padding():
    extractor = Extractor(["word[-2..-1]"])
    found = named(extractor, extractor.fit_transform([["a", "b", "c"]]))
    assert found == [set(), {"word[-2..-1]=a"}, {"word[-2..-1]=a", "word[-2..-1]=b"}]


def test_lookups_read_one_or_several_values():
    lookups = {"path": {"Rome": "0110", "fell": "10"}, "lists": {"Rome": ["city", "club"]}}
    extractor = Extractor(["path.prefix3[0]", "lists[0]", "lists[0]|path[1]"], lookups=lookups)
    found = named(extractor, extractor.fit_transform([["Rome", "fell", "now"]]))
    assert found == [
        {
            "path.prefix3[0]=011",
            "lists[0]=city",
            "lists[0]=club",
            "lists[0]|path[1]=city|10",
            "lists[0]|path[1]=club|10",
        },
        set(),
        set(),
    ]


def test_keeping_some_predicates_keeps_their_names_and_state_survives():
    train = corpus(3)
    extractor = Extractor(TEMPLATES).fit(train)
    kept = np.arange(extractor.n_predicates) % 3 == 0
    smaller = extractor.keep(kept)
    assert smaller.names(range(smaller.n_predicates)) == extractor.names(np.flatnonzero(kept))
    again = Extractor.from_state(smaller.state())
    assert named(again, again.transform(train)) == named(smaller, smaller.transform(train))
    wanted = set(smaller.names(range(smaller.n_predicates)))
    assert named(smaller, smaller.transform(train)) == [row & wanted for row in literal(train)]


def test_a_damaged_state_is_refused():
    state = Extractor(TEMPLATES).fit(corpus(3)).state()
    keys = [k + 10**9 for k in state["keys"]]
    with pytest.raises(DataError, match="damaged"):
        Extractor.from_state(state | {"keys": keys})
    with pytest.raises(DataError, match="does not fit"):
        Extractor.from_state(state | {"keys": state["keys"][:-1]})
    with pytest.raises(DataError, match="hash_bits must be at most 24"):
        Extractor.from_state(state | {"hash_bits": 60})


def test_hashing_needs_no_vocabulary_and_keeps_templates_apart():
    train = corpus(4, n=30)
    hashed = Extractor(TEMPLATES, hash_bits=16)
    buckets = hashed.fit_transform(train)
    assert hashed.state()["strings"] == {}
    again = Extractor.from_state(hashed.state())
    assert np.array_equal(again.transform(train).ids, buckets.ids)
    exact = Extractor(TEMPLATES)
    plain = exact.fit_transform(train)
    pairs = {(p, b) for p, b in zip(np.sort(plain.ids).ravel(), np.sort(buckets.ids).ravel(), strict=True) if p >= 0}
    assert len(pairs) == exact.n_predicates  # nothing collides in so small a text
    slots = (buckets.ids[buckets.ids >= 0] >> 16).tolist()
    assert set(slots) == set(range(len(TEMPLATES)))


def test_predicates_can_be_split_into_those_with_labels_and_with_pairs():
    extractor = Extractor(["u", "b", "word[0]", "b:word.lower[0]", "b:word[0]|word[1]"])
    observed = extractor.fit_transform([["A", "b"]])
    alone = named(extractor, observed.only(extractor.predicates_with(pairs=False)))
    pairs = named(extractor, observed.only(extractor.predicates_with(pairs=True)))
    assert alone == [{"u", "word[0]=A"}, {"u", "word[0]=b"}]
    assert pairs == [{"word.lower[0]=a", "word[0]|word[1]=A|b"}, {"word.lower[0]=b", "word[0]|word[1]=b|</s>"}]


@pytest.mark.parametrize(
    ("sentences", "what"),
    [
        (["Rome fell"], "Split it into tokens"),
        ([["a", 1]], "tokens must be strings, got int"),
        ([["a", ["b"]]], "tokens must be strings, got list"),
        ([["a", None]], "tokens must be strings, got NoneType"),
        ([3], "must be a list of tokens, got int"),
        ("Rome", "must be a list of lists"),
        ([["a"]], "column 'pos', but sentence 0 has tokens only"),
        ([Sentence(["a"])], "column 'pos', but sentence 0 has tokens only"),
        ([Sentence(["a"], {"chunk": ["O"]})], "column 'pos', but sentence 0 has the column chunk"),
    ],
)
def test_unusable_sentences_are_named(sentences, what):
    with pytest.raises(DataError, match=what):
        Extractor(["word[0]", "pos[0]"]).fit(sentences)


def test_unusable_lookups_and_conjunctions_are_named():
    with pytest.raises(ParameterError, match="'brown' must be a mapping"):
        Extractor(["brown[0]"], lookups={"brown": ["x"]})
    words = [[f"w{i}" for i in range(40_000)]]
    with pytest.raises(ParameterError, match="joins too many"):
        Extractor(["word[-1]|word[0]|word[1]|word[2]|word[3]"]).fit(words)


def test_no_sentences_give_no_predicates():
    extractor = Extractor(["word[0]", "word[0]|word[1]", "u"])
    assert extractor.fit_transform([]).ids.shape[0] == 0
    assert extractor.fit([["a"]]).transform([[]]).ids.shape[0] == 0
