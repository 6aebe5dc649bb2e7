"""Features against templates read literally, on strings."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from oracles.trees import all_trees, pairs_of

from handful.data.records import Sentence, Tree
from handful.errors import DataError
from handful.kernels.tree_features import parts_of_tree
from handful.kernels.trees import pair_starts
from handful.parsing.encoding import TokenEncoder
from handful.parsing.part_features import SentenceFeatures, TreeFeatures
from handful.parsing.templates import TemplateSet

CLUSTERS = {"Rome": "01101", "fell": "110", "burned": "1101110"}
TAGS = {"Rome": "NNP", "fell": "VBD", "burned": "VBN", ",": ",", "and": "CC", "slowly": "RB"}
GAPS = ["1", "2", "3", "4", "5"] + ["6-10"] * 5 + ["11+"] * 90


def sentence_of(rng, n):
    words = tuple(rng.choice(list(TAGS), n).tolist())
    return Sentence(words, {"xpos": tuple(TAGS[w] for w in words)})


def look(sentence, place, attribute):
    """Return what stands at a place (None outside, 0 root, -1 no sibling), or None if nothing is observed there."""
    n = len(sentence)
    special = {0: "<root>", -1: "<none>"}.get(place, "<outside>" if place is None or place > n else None)
    if special is not None:
        return None if attribute == "prefix" else special
    word, tag = sentence.tokens[place - 1], sentence["xpos"][place - 1]
    if attribute.startswith("bits"):
        return CLUSTERS[word][: int(attribute[4:] or 99)] if word in CLUSTERS else None
    return {"word": word, "pos": tag, "coarse": tag[:2], "prefix": word[:5] if len(word) > 5 else None}[attribute]


def literal(sentence, templates, h, m, s, with_pair):
    """Return the features of an arc, with those of its pair, as the templates say."""
    inner = range(min(h, m) + 1, max(h, m))
    sibling = -1 if s is None else s
    places = {"h": h, "m": m, "s": sibling, "m-1": m - 1, "m+1": m + 1, "h+1": h + 1, "h-1": h - 1 if h else None}
    places |= {"m-2": m - 2 if m > 1 else None, "m+2": m + 2, "h-2": h - 2 if h > 1 else None, "h+2": h + 2}
    places["s-1"], places["s+1"] = (-1, -1) if s is None else (s - 1, s + 1)
    tags = [sentence["xpos"][b - 1] for b in inner]
    whole = {
        "verbs": min(3, sum(t.startswith("VB") for t in tags)),
        "punctuation": min(3, tags.count(",")),
        "conjunctions": min(3, tags.count("CC")),
        "reach": 7 if s is None else GAPS.index(GAPS[abs(s - m) - 1]) if abs(s - m) <= 6 else None,
    }
    if whole["reach"] is None:
        whole["reach"] = 5 if abs(s - m) <= 10 else 6
    out = Counter()
    side = " right" if m > h else " left"
    for text in (*templates.arcs, *(templates.pairs if with_pair else ())):
        tokens = sorted(set(tags)) if text.startswith("b.") else [None]
        for between in tokens:
            shown = []
            for atom in text.split():
                place, _, attribute = atom.partition(".")
                value = (
                    whole[atom]
                    if not attribute
                    else {"pos": between, "coarse": (between or "")[:2]}[attribute]
                    if place == "b"
                    else look(sentence, places[place], attribute)
                )
                shown.append(None if value is None else f"{atom}={value}")
            if None not in shown:
                out[" ".join(shown) + side] += 1
                if text in templates.arcs and between is None:
                    out[" ".join(shown) + side + f" distance={GAPS[abs(h - m) - 1]}"] += 1
    return out


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
@pytest.mark.parametrize(("order", "single_root"), [(1, True), (2, True), (2, False)])
def test_features_are_what_the_templates_say(order, single_root, clusters):
    rng = np.random.default_rng(0)
    templates = TemplateSet.ready(order=order, clusters=clusters is not None)
    trees = {n: all_trees(n, True, single_root) for n in (1, 4, 5)}
    sentences = [sentence_of(rng, n) for n in (1, 4, 5, 5)]
    heads = [trees[len(s)][rng.integers(len(trees[len(s)]))] for s in sentences]
    sentences.append(sentence_of(rng, 14))  # a chain with one long arc back
    heads.append((*range(13), 1))
    encoder = TokenEncoder.learn(sentences, ("xpos",), clusters, templates)
    together = np.concatenate([np.array(h, dtype=np.int32) for h in heads])
    rules = {"order": order, "single_root": single_root}
    features = TreeFeatures.learn(sentences, together, templates, encoder, min_count=1, **rules)
    parts = SentenceFeatures(features, sentences)
    names = features.names(np.arange(features.n_features))
    assert len(set(names)) == len(names)
    seen = Counter()
    for number, (sentence, mine) in enumerate(zip(sentences, heads, strict=True)):
        ids, begins, ends = parts(number)
        starts = pair_starts(len(sentence), single_root)[0]
        chosen = parts_of_tree(np.array(mine), starts, order == 2)
        found = Counter(names[i] for p in chosen for i in ids[begins[p] : ends[p]])
        wanted = Counter()
        for h, s, m in pairs_of(mine):
            wanted += literal(sentence, templates, h, m, s, order == 2)
        assert found == wanted
        seen += wanted
    assert set(seen) == set(names)
    # Arcs that are in no tree have those of their features that some tree has.
    sentence, (ids, begins, ends) = sentences[2], parts(2)
    for h in range(6):
        for m in range(1, 6):
            if h != m:
                part = h * 6 + m
                wanted = literal(sentence, templates, h, m, None, False)
                known = Counter({name: count for name, count in wanted.items() if name in seen})
                assert Counter(names[i] for i in ids[begins[part] : ends[part]]) == known


def test_rare_features_are_left_out_and_types_are_in_order():
    rng = np.random.default_rng(1)
    sentences = [sentence_of(rng, 3) for _ in range(6)]
    heads = np.array([0, 1, 2] * 6, dtype=np.int32)
    templates = TemplateSet.ready(order=1, clusters=False)
    encoder = TokenEncoder.learn(sentences, ("xpos",), None, templates)
    rules = {"order": 1, "single_root": True}
    all_of_them = TreeFeatures.learn(sentences, heads, templates, encoder, min_count=1, **rules)
    often = TreeFeatures.learn(sentences, heads, templates, encoder, min_count=3, **rules)
    assert 0 < often.n_features < all_of_them.n_features
    assert set(often.keys) < set(all_of_them.keys)
    assert (np.diff(all_of_them.types) >= 0).all()
    assert all_of_them.types.max() < len(templates.types)


def test_the_cache_gives_the_same():
    rng = np.random.default_rng(2)
    sentences = [sentence_of(rng, n) for n in (3, 6)]
    templates = TemplateSet.ready(order=2, clusters=False)
    encoder = TokenEncoder.learn(sentences, ("xpos",), None, templates)
    heads = np.array([0, 1, 2, 0, 1, 2, 3, 4, 5], dtype=np.int32)
    features = TreeFeatures.learn(sentences, heads, templates, encoder, order=2, single_root=True, min_count=1)
    plain, cached = SentenceFeatures(features, sentences), SentenceFeatures(features, sentences, 1 << 20)
    for number in (0, 1, 0, 1):
        for one, two in zip(plain(number), cached(number), strict=True):
            np.testing.assert_array_equal(one, two)
    assert cached(0) is cached(0)


def test_words_that_have_no_room_give_way_to_frequent_ones():
    templates = TemplateSet(("h.word h.pos m.word m.pos h+1.pos m+1.pos",), ())
    many = Sentence(tuple(f"w{k}" for k in range(3000)), {"xpos": tuple(f"T{k % 200}" for k in range(3000))})
    often = Sentence(("often",) * 2, {"xpos": ("T0", "T1")})
    encoder = TokenEncoder.learn([many, often], ("xpos",), None, templates)
    assert encoder.values["word"][0] == "often"
    assert len(encoder.values["word"]) + 4 == 2**9
    tags = Sentence(("a",) * 9000, {"xpos": tuple(f"T{k}" for k in range(9000))})
    with pytest.raises(DataError, match="at most some thousand different tags"):
        TokenEncoder.learn([tags], ("xpos",), None, TemplateSet.ready(order=1, clusters=False))


def test_morphological_features_are_read_where_training_trees_have_them(tmp_path):
    """Which of two nouns is the subject shows in their case alone."""
    import handful
    from handful.parsing.parser import DependencyParser

    rng = np.random.default_rng(0)

    def tree(with_feats=True):
        subject_first = bool(rng.integers(2))
        cases = ("Nom", "Acc") if subject_first else ("Acc", "Nom")
        words = (f"noun{rng.integers(50)}", f"noun{rng.integers(50)}", f"verb{rng.integers(50)}")
        feats = (*(f"Case={case}|Number=Sing" for case in cases), "Mood=Ind|VerbForm=Fin")
        columns = {"upos": ("NOUN", "NOUN", "VERB")} | ({"feats": feats} if with_feats else {})
        labels = ("subj", "obj", "root") if subject_first else ("obj", "subj", "root")
        return Tree(Sentence(words, columns), (3, 3, 0), labels)

    train, test = [tree() for _ in range(80)], [tree() for _ in range(40)]
    parser = DependencyParser(max_iter=3).fit(train)
    assert parser.score(test).las > 0.95
    assert DependencyParser(max_iter=3, feats=False).fit(train).score(test).las < 0.85
    handful.save(parser, tmp_path / "p.handful")
    assert handful.load(tmp_path / "p.handful").predict(test) == parser.predict(test)
    bare = [tree(with_feats=False) for _ in range(10)]
    assert parser.predict(bare)[0] == [[3, 3, 0]] * 10


@pytest.mark.parametrize("core", [1 << 62, (1 << 40) - 1])
def test_features_of_a_changed_file_are_refused_when_they_are_named(core):
    """A key without a template, or with a word that training had not, ended in a traceback."""
    sentences = [Sentence(("Rome", "fell"), {"xpos": ("NNP", "VBD")})]
    templates = TemplateSet.ready(order=1, clusters=False)
    encoder = TokenEncoder.learn(sentences, ("xpos",), None, templates)
    features = TreeFeatures(templates, encoder, np.array([core]), order=1, single_root=True)
    with pytest.raises(DataError, match="Train the parser again"):
        features.names(np.array([0]))
