"""Trees as a structure: against enumeration of all trees."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.trees import all_trees, pairs_of

from handful.kernels.trees import pair_starts
from handful.linear.batch import log_loss, minimize
from handful.linear.online import OnlineRule, train_online
from handful.linear.structure import feature_counts
from handful.linear.tree import PartFeatures, TreeStructure, crossing_marginals

N_FEATURES = 25


class Sentences:
    """Random features of the parts of random sentences."""

    def __init__(self, seed, lengths, *, second=False, single_root=True):
        rng = np.random.default_rng(seed)
        self.lengths = lengths
        self.offsets = np.concatenate([[0], np.cumsum(lengths)])
        self.single_root = single_root
        self.found = []
        for n in lengths:
            n_parts = (n + 1) ** 2 + (pair_starts(n, single_root)[1] if second else 0)
            sizes = rng.integers(0, 4, n_parts)
            ends = np.cumsum(sizes)
            ids = rng.integers(0, N_FEATURES, ends[-1]).astype(np.int32)
            self.found.append(PartFeatures(ids, ends - sizes, ends))

    def __call__(self, number):
        return self.found[number]

    def amounts(self, number, heads, second):
        """Return the features of one tree, by the letter."""
        ids, begins, ends = self.found[number]
        n = self.lengths[number]
        starts = pair_starts(n, self.single_root)[0]
        out = np.zeros(N_FEATURES)
        for h, s, m in pairs_of(heads):
            parts = [h * (n + 1) + m]
            if second:
                parts.append((n + 1) ** 2 + starts[h, m] + (0 if s is None else abs(s - h)))
            for part in parts:
                for k in range(begins[part], ends[part]):
                    out[ids[k]] += 1.0
        return out


def structure(sentences, order=1, **options):
    rules = {"single_root": sentences.single_root, **options}
    return TreeStructure(sentences.offsets, sentences, N_FEATURES, order=order, **rules)


CASES = [
    (1, True, True),
    (1, True, False),
    (2, True, True),
    (2, True, False),
    (1, False, True),
]


@pytest.mark.parametrize(("order", "projective", "single_root"), CASES)
def test_best_marginals_and_parts_equal_enumeration(order, projective, single_root):
    second = order == 2
    sentences = Sentences(order, [1, 3, 4], second=second, single_root=single_root)
    trees = structure(sentences, order, projective=projective)
    weights = np.random.default_rng(3).normal(size=N_FEATURES)
    best = trees.argmax(weights)
    log_partition, expected = 0.0, np.zeros(N_FEATURES)
    for number, n in enumerate(sentences.lengths):
        options = all_trees(n, projective, single_root)
        amounts = np.array([sentences.amounts(number, heads, second) for heads in options])
        scores = amounts @ weights
        mine = sentences.amounts(number, tuple(best[sentences.offsets[number] :][:n].tolist()), second)
        assert mine @ weights == pytest.approx(scores.max())
        log_partition += np.logaddexp.reduce(scores)
        expected += np.exp(scores - np.logaddexp.reduce(scores)) @ amounts
    found = trees.expected_counts(weights)
    assert found[0] == pytest.approx(log_partition)
    np.testing.assert_allclose(found[1], expected, atol=1e-10)
    cuts = np.split(best, sentences.offsets[1:-1])
    gold = [sentences.amounts(number, tuple(mine.tolist()), second) for number, mine in enumerate(cuts)]
    np.testing.assert_allclose(feature_counts(trees, best), np.sum(gold, axis=0), atol=1e-12)


def test_parts_of_nothing_chosen_have_the_share_of_one_tree():
    sentences = Sentences(0, [3], second=True)
    ids, begins, ends = sentences.found[0]
    starts, n_pairs = pair_starts(3, True)
    wanted = np.zeros(N_FEATURES)
    for h in range(4):
        for m in range(1, 4):
            if h != m:
                part = h * 4 + m
                np.add.at(wanted, ids[begins[part] : ends[part]], 1 / 3)
    for pair in range(n_pairs):
        np.add.at(wanted, ids[begins[16 + pair] : ends[16 + pair]], 3 / n_pairs)
    unused = [p for p in range(16) if p % 4 == 0 or p // 4 == p % 4]
    for part in unused:  # arcs to the root and to itself are no parts and have no features
        begins[part] = ends[part]
    np.testing.assert_allclose(feature_counts(structure(sentences, 2)), wanted)
    assert n_pairs == 3 + 8
    assert starts[0, 1] == 0


@pytest.mark.parametrize("order", [1, 2])
def test_gradient_of_the_log_loss_by_differences(order):
    sentences = Sentences(4, [2, 4, 5], second=order == 2)
    trees = structure(sentences, order)
    rng = np.random.default_rng(1)
    gold = trees.argmax(rng.normal(size=N_FEATURES))
    objective = log_loss(trees, gold)
    weights = rng.normal(size=N_FEATURES)
    _, gradient = objective(weights)
    for k in range(N_FEATURES):
        step = np.zeros(N_FEATURES)
        step[k] = 1e-5
        slope = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
        assert slope == pytest.approx(gradient[k], abs=1e-6)


@pytest.mark.parametrize("algorithm", ["pa", "fobos"])
def test_features_made_ahead_in_threads_change_nothing(algorithm):
    sentences = Sentences(8, [4, 1, 6, 5, 3, 7], second=True)
    gold = structure(sentences, 2).argmax(np.random.default_rng(2).normal(size=N_FEATURES))
    options = {"rule": OnlineRule(algorithm, 0.05, l1=0.5), "max_passes": 4, "seed": 3}
    one, two = (train_online(structure(sentences, 2, n_jobs=n), gold, **options) for n in (1, 2))
    np.testing.assert_array_equal(one.weights, two.weights)
    assert np.count_nonzero(one.weights) > N_FEATURES // 2


def test_threads_change_nothing():
    sentences = Sentences(9, [5, 8, 2, 6, 9], second=True)
    weights = np.random.default_rng(0).normal(size=N_FEATURES)
    one, two = structure(sentences, 2), structure(sentences, 2, n_jobs=2)
    np.testing.assert_array_equal(one.argmax(weights), two.argmax(weights))
    np.testing.assert_array_equal(one.expected_counts(weights)[1], two.expected_counts(weights)[1])


def test_learners_come_to_the_right_trees():
    sentences = Sentences(17, [3, 4, 5])  # features that tell the right trees apart
    trees = structure(sentences)
    gold = trees.argmax(np.random.default_rng(5).normal(size=N_FEATURES))
    learned = train_online(trees, gold, OnlineRule("pa"), max_passes=60)
    assert learned.loss == pytest.approx(0.0)
    np.testing.assert_array_equal(trees.argmax(learned.weights), gold)
    np.testing.assert_array_equal(
        trees.argmax(minimize(log_loss(trees, gold), np.zeros(N_FEATURES), l2=1e-3).weights), gold
    )


def test_crossing_marginals_of_one_word_and_of_none():
    assert crossing_marginals(np.array([[0.0, 2.0], [0.0, 0.0]]), True)[0] == pytest.approx(2.0)
    assert crossing_marginals(np.zeros((1, 1)), False)[0] == 0.0
