"""Tokens, lemmas, forms, syntactic patterns and features of contexts."""

from __future__ import annotations

import pytest

from handful.data.records import Occurrence
from handful.senses.features import (
    context_features,
    forms,
    lemma,
    make_contexts,
    patterns,
    sentence_bounds,
    split_token,
    tokenize_context,
)


@pytest.mark.parametrize(
    ("token", "pieces"),
    [
        ("word", ["word"]),
        ("[bquo]Hello,", ['"', "Hello", ","]),
        ("caf[eacute].", ["cafe", "."]),
        ("can't", ["ca", "n't"]),
        ("dog's", ["dog", "'s"]),
        ("U.S.", ["U.S."]),
        ("Mr.", ["Mr."]),
        ("1,234.5%", ["1,234.5", "%"]),
        ("well-known;", ["well-known", ";"]),
        ("--", ["--"]),
        ("end[mdash]and", ["end", "--", "and"]),
        ("[unknown]", ["unknown"]),
    ],
)
def test_split_token(token, pieces):
    assert list(split_token(token)) == pieces


def test_tokenize_keeps_the_word_and_its_satellites():
    o = Occurrence("carry.v", "1", ('"He', "[bquo]carried", 'it,"', "out."), 1, ("s",), (3,), "doc")
    fine = tokenize_context(o)
    assert fine.tokens[fine.target] == "carried"
    assert [fine.tokens[i] for i in fine.satellites] == ["out"]
    assert (fine.word, fine.id, fine.senses, fine.source) == ("carry.v", "1", ("s",), "doc")


def test_sentence_bounds_stop_at_ends_and_at_the_limit():
    tokens = ("a", ".", "b", "c", "!", '"', "d")
    assert sentence_bounds(tokens, 3) == (2, 6)
    assert sentence_bounds(("x",) * 200, 100, limit=10) == (90, 110)


@pytest.mark.parametrize(
    ("word", "tag", "base"),
    [
        ("makes", "VBZ", "make"),
        ("hoping", "VBG", "hope"),
        ("hopping", "VBG", "hop"),
        ("visited", "VBD", "visit"),
        ("treated", "VBN", "treat"),
        ("changed", "VBD", "change"),
        ("hanging", "VBG", "hang"),
        ("agreed", "VBD", "agree"),
        ("called", "VBD", "call"),
        ("carried", "VBD", "carry"),
        ("left", "VBD", "leave"),
        ("Children", "NNS", "child"),
        ("churches", "NNS", "church"),
        ("class", "NN", "class"),
        ("better", "JJR", "good"),
        ("1990s", "CD", "1990s"),
    ],
)
def test_lemma(word, tag, base):
    assert lemma(word, tag) == base


@pytest.mark.parametrize("base", ["call", "carry", "use", "match", "begin", "strike", "see", "train", "live", "wander"])
def test_forms_lead_back_to_the_lemma(base):
    regular = {"v": forms(base, "v")}
    assert base in regular["v"]
    # forms that do not exist may be made up; the real ones lead back
    for form in (base, f"{base[:-1]}ies" if base.endswith("y") else base):
        assert lemma(form, "VB") == base
    tags = {"began": "begin", "begun": "begin", "struck": "strike", "saw": "see", "seen": "see", "seeing": "see"}
    for form, owner in tags.items():
        if owner == base:
            assert form in regular["v"]
            assert lemma(form, "VBD") == base


def test_forms_of_nouns_and_adjectives():
    assert {"church", "churches"} <= forms("church", "n")
    assert {"child", "children"} <= forms("child", "n")
    assert {"fine", "finer", "finest"} <= forms("fine", "a")
    assert {"fit", "fitter"} <= forms("fit", "a")


def roles(text, target, part):
    pairs = [item.rsplit("/", 1) for item in text.split()]
    return set(patterns([w for w, _ in pairs], [t for _, t in pairs], target, part))


def test_verb_patterns():
    active = roles("She/PRP turned/VBD the/DT old/JJ radio/NN off/RP", 1, "v")
    assert {"subj=she", "obj=radio", "prt=off"} <= active
    passive = roles("The/DT plan/NN was/VBD quickly/RB carried/VBN out/RP by/IN workers/NNS", 4, "v")
    assert {"obj=plan", "passive", "prt=out", "prep=by", "pobj=worker"} <= passive
    assert not any(name.startswith("subj=") for name in passive)
    assert "comp=go" in roles("They/PRP began/VBD to/TO go/VB", 1, "v")


def test_noun_and_adjective_patterns():
    noun = roles("He/PRP opened/VBD the/DT modern/JJ art/NN gallery/NN in/IN London/NNP", 4, "n")
    assert {"mod=modern", "objof=open", "modof=gallery"} <= noun
    assert {"pobjof=of", "pobjof=sense+of"} <= roles("a/DT sense/NN of/IN art/NN", 3, "n")
    assert "npp=of+NAME" in roles("the/DT bank/NN of/IN Rome/NNP", 1, "n")
    assert "modof=light" in roles("the/DT green/JJ light/NN", 1, "a")
    assert "pred=sky" in roles("the/DT sky/NN is/VBZ green/JJ", 3, "a")


def test_features_are_grouped_and_weighted():
    o = Occurrence("call.v", "1", ("They", "called", "the", "Meeting", "off", "."), 1, ("secret",), (4,))
    tags = ["PRP", "VBD", "DT", "NN", "RP", "."]
    context = make_contexts([o], lambda sentences: [tags])[0]
    found = context_features(context)
    assert found["satellite off"] == 2.0
    assert {"bag meeting", "next -1 they", "near +2 meeting", "tag 0 VBD", "colloc -1+1 they the"} <= set(found)
    assert {"syntax obj=meeting", "syntax prt=off", "form called"} <= set(found)
    assert not any("secret" in name for name in found)
    bare = context_features(make_contexts([o])[0])
    assert not any(name.startswith(("tag ", "syntax ")) for name in bare)


def test_the_bag_has_35_words_to_either_side():
    tokens = ("far", *["the"] * 35, "art", *["the"] * 34, "near")
    context = make_contexts([Occurrence("art.n", "1", tokens, 36)])[0]
    assert "bag near" in context_features(context)
    assert "bag far" not in context_features(context)


def test_names_are_told_by_their_capitals():
    context = make_contexts([Occurrence("art.n", "1", ("the", "Royal", "Art", "Gallery"), 2)])[0]
    assert {"case capital", "case capital next", "case capital before"} <= set(context_features(context))
    first = make_contexts([Occurrence("art.n", "1", ("Art", "sells"), 0)])[0]
    assert "case first" in context_features(first)
