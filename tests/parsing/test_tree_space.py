"""Condensed features of a parser, counted by the letter."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import handful
from handful.data.records import Sentence, Tree
from handful.linear.structure import feature_counts
from handful.parsing.parser import DependencyParser
from handful.representations.condensed_features import CondensedFeatures
from handful.representations.potency import Condensable

WORDS = {"D": ["the", "a"], "N": ["dog", "cat", "bird"], "V": ["sees", "likes"]}


def make_tree(rng):
    words = [str(rng.choice(WORDS[tag])) for tag in "DNVDN"]
    return Tree(
        Sentence(tuple(words), {"xpos": tuple("DNVDN")}), (2, 3, 0, 5, 3), ("det", "subj", "root", "det", "obj")
    )


@pytest.fixture(scope="module")
def trees():
    rng = np.random.default_rng(0)
    return [make_tree(rng) for _ in range(30)]


@pytest.mark.parametrize("order", [1, 2])
def test_counts_are_those_of_the_structure(order, trees):
    parser = DependencyParser(order=order, max_iter=3).fit(trees[:10])
    assert isinstance(parser, Condensable)
    space = parser.feature_space(trees)
    assert space.n_features > parser.n_active_
    every = np.arange(space.n_features)
    chosen, basis = np.zeros((2, space.n_features))
    assert space.count(trees, chosen, basis) == 150
    structure = space.structure(every, trees)
    best = structure.argmax(space.base_weights(every))
    np.testing.assert_array_equal(best, np.concatenate(parser.predict(trees)[0]))
    np.testing.assert_allclose(chosen, feature_counts(structure, best))
    np.testing.assert_allclose(basis, feature_counts(structure))
    _check_tag_pairs(space, trees, np.concatenate(parser.predict(trees)[0]), chosen, basis)
    assert len(space.type_names) == space.types(every).max() + 1
    again = parser.stored_space(space.state())
    assert again.fingerprint == space.fingerprint
    assert space.seen(every, trees).all()
    assert not space.seen(every, trees[:1]).all()


def _check_tag_pairs(space, trees, heads, chosen, basis):
    """Count arcs by the tags at their ends, in the best trees and in all arcs, a word's arc being one of n."""
    in_best, in_all = Counter(), Counter()
    for number, tree in enumerate(trees):
        tags, n = tree.sentence["xpos"], len(tree)
        for child in range(1, n + 1):
            for head in (h for h in range(1, n + 1) if h != child):
                name = f"h.pos={tags[head - 1]} m.pos={tags[child - 1]} {'right' if child > head else 'left'}"
                in_all[name] += 1 / n
                in_best[name] += heads[number * n + child - 1] == head
    places = {name: i for i, (name, _) in enumerate(space.describe(np.arange(space.n_features))) if name in in_all}
    assert len(places) == 3
    assert {name: round(float(chosen[i]), 9) for name, i in places.items()} == {n: float(in_best[n]) for n in places}
    np.testing.assert_allclose([basis[i] for i in places.values()], [in_all[name] for name in places])


def _word_pairs(space):
    ids = np.flatnonzero(space.types(np.arange(space.n_features)) == space.type_names.index("h.word m.word"))
    return {name for name, _ in space.describe(ids) if "<root>" not in name}


@pytest.mark.parametrize("shard", [1, 30])
def test_features_of_the_trees_of_raw_text_join_the_vocabulary(shard, trees, monkeypatch):
    known, raw = trees[:4], [t.sentence for t in trees]
    parser = DependencyParser(order=1, max_iter=3).fit(known)
    parts = lambda *_: (raw[k : k + shard] for k in range(0, len(raw), shard))  # noqa: E731
    monkeypatch.setattr("handful.representations.condensed_features.shards_of", parts)
    wide = CondensedFeatures(parser, discount=0.5, vocabulary="all", min_count=3).fit(raw, labeled=known)
    words = set(known[0].sentence.tokens).union(*(t.sentence.tokens for t in known))
    pairs = Counter()
    for sentence, heads in zip(raw, parser.predict(raw)[0], strict=True):
        for child, head in enumerate(heads, start=1):
            if head and {sentence.tokens[head - 1], sentence.tokens[child - 1]} <= words:
                side = "right" if child > head else "left"
                pairs[f"h.word={sentence.tokens[head - 1]} m.word={sentence.tokens[child - 1]} {side}"] += 1
    mine, labeled = _word_pairs(wide._space), _word_pairs(parser.feature_space(known))
    assert mine == labeled | {name for name, count in pairs.items() if count >= 3}
    assert labeled < mine
    chosen, even = np.zeros((2, wide._space.n_features))
    wide._space.count(raw, chosen, even)
    np.testing.assert_array_equal(wide.counts_.chosen, chosen[wide.counts_.chosen_ids])
    np.testing.assert_allclose(wide.counts_.basis, even)


@pytest.mark.parametrize(("order", "algorithm"), [(1, "pa"), (2, "fobos"), (1, "lbfgs")])
def test_a_condensed_parser_parses_and_is_small(order, algorithm, trees, tmp_path):
    parser = DependencyParser(order=order, max_iter=3).fit(trees[:10])
    features = CondensedFeatures(parser, discount=0.5).fit([t.sentence for t in trees], labeled=trees[:10])
    small = features.retrain(trees[:10], None, algorithm=algorithm, strength=0.1, max_iter=10)
    assert small.score(trees).uas == 1.0
    assert 0 < small.n_active_condensed_ < parser.n_active_ / 3
    handful.save(small, tmp_path / "small.handful")
    assert handful.load(tmp_path / "small.handful").predict(trees) == small.predict(trees)


def test_without_phi_a_penalty_sets_condensed_features_to_zero(trees):
    parser = DependencyParser(order=1, max_iter=3).fit(trees[:10])
    features = CondensedFeatures(parser, discount=0.5).fit([t.sentence for t in trees], labeled=trees[:10])
    settings = {"algorithm": "fobos", "strength": 1.0, "rate": 0.01, "max_iter": 5}
    with_phi, without = (features.retrain(trees[:10], None, **settings, phi_scale=scale) for scale in (1.0, 0.0))
    assert 0 < without.n_active_condensed_ < with_phi.n_active_condensed_
    # One weight a condensed feature, whatever its bin: nothing of phi is left.
    again = features.fold(np.concatenate([without.condensed_weights_, np.zeros(len(features.type_names_))]))
    np.testing.assert_array_equal(again.weights_, without.weights_)


def test_a_scaled_phi_is_trained_as_such_and_folded_back(trees):
    parser = DependencyParser(order=1, max_iter=3).fit(trees[:10])
    features = CondensedFeatures(parser, discount=0.5).fit([t.sentence for t in trees], labeled=trees[:10])
    # The first step of a pass over one tree: phi moves by the square of its scale.
    tree, settings = trees[:1], {"algorithm": "fobos", "strength": 1e-9, "rate": 0.01, "max_iter": 1}
    none, half, whole = (features.retrain(tree, None, **settings, phi_scale=s).condensed_weights_ for s in (0, 0.5, 1))
    assert np.abs(whole - none).max() > 0
    np.testing.assert_allclose(half - none, (whole - none) / 4, atol=1e-8)
