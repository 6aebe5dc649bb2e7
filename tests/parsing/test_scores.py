"""Scores under fixed weights, and which pairs they leave out, against the scores by lists of features."""

from __future__ import annotations

import numpy as np
import pytest

from handful.data.records import Sentence, Tree
from handful.kernels.hashing import make_key_table, sum_of_weights
from handful.kernels.tree_features import likely_arcs, score_parts
from handful.kernels.trees import pair_starts
from handful.parsing.inputs import with_columns
from handful.parsing.parser import DependencyParser
from handful.parsing.part_features import SentenceFeatures


def make_tree(rng):
    """Return a sentence of random words, in which words hang from the one before or from the first."""
    n = int(rng.integers(1, 10))
    words = rng.choice(["a", "b", "c", "d"], n)
    heads = [0, *(int(rng.choice([1, m])) for m in range(1, n))]
    return Tree(Sentence(tuple(map(str, words)), {"xpos": tuple(w.upper() for w in words)}), tuple(heads), ("x",) * n)


@pytest.fixture(scope="module")
def trees():
    rng = np.random.default_rng(1)
    return [make_tree(rng) for _ in range(20)]


@pytest.fixture(scope="module", params=[True, False])
def parser(request, trees):
    return DependencyParser(order=2, max_iter=2, single_root=request.param).fit(trees)


@pytest.fixture(scope="module")
def random_weights(parser):
    return np.random.default_rng(0).normal(size=len(parser.weights_))


def features(parser, trees):
    return SentenceFeatures(parser.features, with_columns([tree.sentence for tree in trees], parser.columns_))


def test_with_all_arcs_kept_the_scores_are_those_of_the_features(parser, trees, random_weights):
    found = features(parser, trees)
    for number in range(len(trees)):
        right = score_parts(*found(number), random_weights)
        np.testing.assert_allclose(found.scores(number, random_weights, 1.0, 0.0), right, rtol=0, atol=1e-9)


def test_pairs_of_kept_arcs_have_their_scores_and_other_arcs_lose_a_million(parser, trees, random_weights):
    found = features(parser, trees)
    n_kept = 0
    for number, tree in enumerate(trees):
        n = len(tree.sentence)
        size = n + 1
        starts, n_pairs = pair_starts(n, parser.single_root)
        right = score_parts(*found(number), random_weights)
        arcs = right[: size * size].reshape(size, size)
        kept = likely_arcs(arcs, parser.single_root, 1.0, 0.2)
        expected = right.copy()
        for h in range(size):
            for m in range(1, size):
                if h == m:
                    continue
                if not kept[h, m]:
                    expected[h * size + m] -= 1e6
                for k in range(1 if h == 0 and parser.single_root else abs(h - m)):
                    sibling = h + k if m > h else h - k
                    if not kept[h, m] or (k > 0 and not kept[h, sibling]):
                        expected[size * size + starts[h, m] + k] = 0.0
        n_kept += int(kept.sum())
        assert len(expected) == size * size + n_pairs
        np.testing.assert_allclose(found.scores(number, random_weights, 1.0, 0.2), expected, rtol=0, atol=1e-8)
    assert 0 < n_kept < sum((len(tree.sentence)) ** 2 for tree in trees)


def test_what_is_left_out_changes_no_head_of_a_trained_parser(parser, trees):
    found = features(parser, trees)
    exact = parser.structure(parser.features, found).argmax(parser.weights_)
    pruned = parser.structure(parser.features, found).argmax_by(lambda n: found.scores(n, parser.weights_, 0.3, 0.003))
    np.testing.assert_array_equal(pruned, exact)


def test_all_arcs_are_kept_where_their_sums_overflow():
    assert likely_arcs(np.full((3, 3), np.inf), True, 1.0, 0.5).all()


@pytest.mark.parametrize("n", [0, 1, 3, 1000])
def test_a_table_of_weights_knows_its_keys_alone(n):
    rng = np.random.default_rng(n)
    keys = rng.choice(1 << 40, 2 * n + 5, replace=False)
    weights = rng.integers(-9, 9, n).astype(float)
    table = make_key_table(keys[:n], weights.view(np.int64))
    assert sum_of_weights(table, keys, len(keys)) == weights.sum()
    assert [sum_of_weights(table, keys[k : k + 1], 1) for k in range(n)] == weights.tolist()
    assert sum_of_weights(table, keys[n:], n + 5) == 0.0
