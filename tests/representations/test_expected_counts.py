"""Counts by marginals are the means over all outputs, taken one at a time, and add up to the last bit."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from oracles import cofer
from oracles.enumerated_trees import all_trees
from sklearn.linear_model import LogisticRegression

import handful
from handful.data.records import Sentence, Tree
from handful.errors import DataError
from handful.parsing.parser import DependencyParser
from handful.representations.condensed_features import CondensedFeatures
from handful.tagging.crf import CRF

TAGS = ("a", "b", "c")
TEMPLATES = ["u", "u:word[0]", "u:word[-1]", "b", "b:word[0]"]
STEPS = 2.0**-20  # what probabilities are rounded to, for each shard


def chain_features(words, part):
    i, *labels = part
    found = Counter({("u", "", tuple(labels[-1:])): 1, ("u:word[0]", words[i], tuple(labels[-1:])): 1})
    found["u:word[-1]", words[i - 1] if i else "<s>", tuple(labels[-1:])] += 1
    if len(labels) > 1:
        found["b", "", tuple(labels[-2:])] += 1
        found["b:word[0]", words[i], tuple(labels[-2:])] += 1
    if len(labels) > 2:
        found["triple", "", tuple(labels)] += 1
    return found


def some_sentences(rng, n, words):
    return [tuple(rng.choice(list(words), size=rng.integers(1, 5)).tolist()) for _ in range(n)]


def tagger_and_text(order, penalty="l2"):
    rng = np.random.default_rng(order)
    train = some_sentences(rng, 30, "vwxyz")
    tags = [rng.choice(TAGS, size=len(words)).tolist() for words in train]
    base = CRF(TEMPLATES, strength=0.2, order=order, penalty=penalty).fit(train, tags)
    return base, train, some_sentences(rng, 12, "xyzN")  # N is new


def named(space):
    """Return names of all features of a tagger, and their base weights."""
    ids = np.arange(space.n_features)
    types = [space.type_names[kind] for kind in space.types(ids)]
    names = [
        (kind, name.partition("=")[2], labels) for kind, (name, labels) in zip(types, space.describe(ids), strict=True)
    ]
    return names, dict(zip(names, space.base_weights(ids).tolist(), strict=True))


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("order", [1, 2])
def test_a_tagger_counts_what_it_expects(order, penalty):
    base, train, text = tagger_and_text(order, penalty)
    outputs = {k: cofer.chain_outputs(k, TAGS, order=order) for k in range(1, 5)}
    condensed = CondensedFeatures(base, 0.25, decisions="marginals").fit(text, labeled=train)
    names, weights = named(condensed._space)
    counts = cofer.expected(text, lambda words: outputs[len(words)], weights, chain_features)
    chosen, even = condensed.counts_.of(condensed._space, np.arange(len(names)))
    np.testing.assert_allclose(chosen, [counts.get(name, 0.0) for name in names], atol=STEPS)
    plain = CondensedFeatures(base, 0.25).fit(text, labeled=train)
    np.testing.assert_array_equal(even, plain.counts_.of(plain._space, np.arange(len(names)))[1])


@pytest.mark.parametrize("n_labels", [2, 3])
def test_a_classifier_counts_what_it_expects(n_labels):
    rng = np.random.default_rng(n_labels)
    rows = rng.poisson(0.8, size=(40, 5))
    base = LogisticRegression().fit(rows, np.arange(40) % n_labels)
    condensed = CondensedFeatures(base, decisions="marginals").fit(rows)
    wanted = np.column_stack([rows, np.ones(40)]).T @ base.predict_proba(rows)
    chosen, _ = condensed.counts_.of(condensed._space, np.arange(6 * n_labels))
    np.testing.assert_allclose(chosen, wanted.ravel(), atol=STEPS)


@pytest.mark.parametrize(("order", "projective"), [(1, True), (1, False), (2, True)])
def test_a_parser_counts_what_it_expects(order, projective):
    rng = np.random.default_rng(0)
    found = {n: all_trees(n, projective=projective, single_root=True) for n in (2, 3, 4)}
    trees = []
    for _ in range(12):
        n = int(rng.integers(2, 5))
        words, tags = (tuple(rng.choice(list(letters), size=n).tolist()) for letters in ("xyz", "NV"))
        heads = found[n][rng.integers(len(found[n]))]
        trees.append(Tree(Sentence(words, {"xpos": tags}), tuple(heads), ("_",) * n))
    rules = {"order": order, "projective": projective, "rehang": False, "rounding": 0.0, "labeled": False}
    base = DependencyParser(max_iter=2, **rules).fit(trees)
    condensed = CondensedFeatures(base, 0.1, decisions="marginals").fit([t.sentence for t in trees], labeled=trees)
    space = condensed._space
    total = np.zeros(space.n_features)
    for tree in trees:
        vectors = [
            vector_of(space, [Tree(tree.sentence, tuple(heads), tree.labels)]) for heads in found[len(tree.heads)]
        ]
        likely = np.exp([each @ space._weights for each in vectors])
        total += (likely / likely.sum()) @ vectors
    chosen, _ = condensed.counts_.of(space, np.arange(space.n_features))
    assert total.sum() > 10
    np.testing.assert_allclose(chosen, total, atol=STEPS)


def vector_of(space, trees):
    """Return how much of each feature right trees have."""
    every = np.arange(space.n_features)
    structure = space.structure(every, trees)
    ids, amounts = structure.joint_features(space.encode(trees, None))
    return np.bincount(ids, weights=amounts, minlength=space.n_features)


def test_sums_do_not_depend_on_order_or_workers(tmp_path, monkeypatch):
    base, train, text = tagger_and_text(1)
    monkeypatch.setattr("handful.representations.counts._PART_BYTES", 12)
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file, some in zip(files, (text[:7], text[7:]), strict=True):
        file.write_text("".join(" ".join(words) + "\n" for words in some))
    ways = [
        CondensedFeatures(base, decisions="marginals").fit(files, labeled=train),
        CondensedFeatures(base, decisions="marginals").fit(files[::-1], labeled=train),
        CondensedFeatures(base, decisions="marginals").fit(files[:1], labeled=train).extend(files[1]),
        CondensedFeatures(base, decisions="marginals").fit(files, labeled=train, n_jobs=2),
    ]
    assert ways[0].counts_.n_shards_ > 3
    for other in ways[1:]:
        np.testing.assert_array_equal(ways[0].counts_.chosen, other.counts_.chosen)
        np.testing.assert_array_equal(ways[0].counts_.chosen_ids, other.counts_.chosen_ids)


def test_counts_of_best_outputs_and_of_marginals_are_kept_apart(tmp_path):
    base, train, text = tagger_and_text(1)
    expecting = CondensedFeatures(base, decisions="marginals").fit(text, labeled=train)
    expecting.save_counts(tmp_path / "counts")
    again = CondensedFeatures(base, decisions="marginals").fit_counts(tmp_path / "counts")
    np.testing.assert_array_equal(again.bins_, expecting.bins_)
    with pytest.raises(DataError, match='must be made with decisions="best", got "marginals"'):
        CondensedFeatures(base).fit_counts(tmp_path / "counts")
    best = CondensedFeatures(base).fit(text, labeled=train)
    with pytest.raises(DataError, match="same base model"):
        expecting.counts_.plus(best.counts_)
    handful.save(expecting, tmp_path / "features.handful")
    np.testing.assert_array_equal(handful.load(tmp_path / "features.handful").bins_, expecting.bins_)
