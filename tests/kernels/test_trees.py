from __future__ import annotations

import numpy as np
import pytest
from oracles.trees import all_trees, pairs_of

from handful.kernels.trees import best_crossing_tree, best_tree, pair_starts, siblings_of, tree_marginals

NO_PAIRS = np.empty(0), np.empty((0, 0), dtype=np.int64)


def pair_number(starts, head, sibling, child):
    return starts[head, child] + (0 if sibling is None else abs(sibling - head))


def total(heads, arcs, pairs, starts, second):
    value = sum(arcs[h, m] for m, h in enumerate(heads, start=1))
    if second:
        value += sum(pairs[pair_number(starts, *pair)] for pair in pairs_of(heads))
    return value


def draw(n, seed, single_root, *, ties):
    rng = np.random.default_rng([n, seed])
    starts, n_pairs = pair_starts(n, single_root)
    if ties:
        return rng.integers(-2, 3, (n + 1, n + 1)).astype(float), rng.integers(-2, 3, n_pairs).astype(float), starts
    return rng.normal(size=(n + 1, n + 1)), rng.normal(size=n_pairs), starts


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_best_projective_tree_is_the_best_of_all(n, second, single_root):
    trees = all_trees(n, True, single_root)
    for seed in range(12):
        given = draw(n, seed, single_root, ties=seed % 2 == 0)
        values = {heads: total(heads, *given, second) for heads in trees}
        heads, value = best_tree(*given, second, single_root)
        assert value == pytest.approx(max(values.values()))
        assert values[tuple(heads.tolist())] == pytest.approx(value)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_best_crossing_tree_is_the_best_of_all(n, single_root):
    trees = all_trees(n, False, single_root)
    for seed in range(20):
        arcs, pairs, starts = draw(n, seed, single_root, ties=seed % 2 == 0)
        values = {heads: total(heads, arcs, pairs, starts, False) for heads in trees}
        heads, value = best_crossing_tree(arcs, single_root)
        assert value == pytest.approx(max(values.values()))
        assert values[tuple(heads.tolist())] == pytest.approx(value)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_marginals_are_sums_over_all_trees(n, second, single_root):
    trees = all_trees(n, True, single_root)
    for seed in range(4):
        arcs, pairs, starts = draw(n, seed, single_root, ties=False)
        scores = np.array([total(heads, arcs, pairs, starts, second) for heads in trees])
        log_partition = np.logaddexp.reduce(scores)
        arc_shares, pair_shares = np.zeros_like(arcs), np.zeros(len(pairs) if second else 0)
        for heads, share in zip(trees, np.exp(scores - log_partition), strict=True):
            for pair in pairs_of(heads):
                arc_shares[pair[0], pair[2]] += share
                if second:
                    pair_shares[pair_number(starts, *pair)] += share
        found = tree_marginals(arcs, pairs, starts, second, single_root)
        assert found[0] == pytest.approx(log_partition)
        np.testing.assert_allclose(found[1], arc_shares, atol=1e-12)
        np.testing.assert_allclose(found[2], pair_shares, atol=1e-12)


def test_marginals_survive_scores_far_apart():
    arcs = np.random.default_rng(0).normal(size=(30, 30)) * 2000.0
    log_partition, shares, _ = tree_marginals(arcs, *NO_PAIRS, False, True)
    heads, value = best_tree(arcs, *NO_PAIRS, False, True)
    assert log_partition == pytest.approx(value)
    np.testing.assert_allclose(shares[heads, np.arange(1, 30)], 1.0)
    np.testing.assert_allclose(shares.sum(axis=0)[1:], 1.0)


def test_longer_trees_score_what_they_say_and_never_below_arcs_that_cross_not():
    for n in (17, 40):
        arcs, pairs, starts = draw(n, 1, True, ties=False)
        heads, value = best_tree(arcs, pairs, starts, True, True)
        assert value == pytest.approx(total(tuple(heads.tolist()), arcs, pairs, starts, True))
        straight, crossing = best_tree(arcs, *NO_PAIRS, False, True)[1], best_crossing_tree(arcs, True)
        assert crossing[1] >= straight
        assert (crossing[0] == 0).sum() == 1


def test_siblings_are_the_nearest_between_word_and_head():
    rng = np.random.default_rng(5)
    trees = all_trees(5, False, False)
    for number in rng.choice(len(trees), 200):
        heads = trees[number]
        wanted = [0 if s is None else abs(s - h) for h, s, _ in pairs_of(heads)]
        assert siblings_of(np.array(heads)).tolist() == wanted


def test_a_sentence_of_no_words_has_the_empty_tree():
    heads, value = best_tree(np.zeros((1, 1)), *NO_PAIRS, False, True)
    assert (len(heads), value) == (0, 0.0)
    assert tree_marginals(np.zeros((1, 1)), *NO_PAIRS, False, True)[0] == 0.0


# By first order the split further left wins; by second order, before that, a child without a sibling between.
TIED = [
    ([], [0, 1, 2, 3], [0, 1, 2, 3]),
    ([(0, 4)], [4, 4, 4, 0], [4, 1, 2, 0]),
    ([(0, 3)], [3, 3, 0, 3], [3, 1, 0, 3]),
    ([(1, 3)], [0, 3, 1, 3], [0, 3, 1, 3]),
    ([(4, 1)], [4, 4, 4, 0], [4, 1, 2, 0]),
    ([(2, 4)], [0, 1, 4, 2], [0, 1, 4, 2]),
]


@pytest.mark.parametrize(("forced", "first", "second"), TIED)
def test_ties_between_trees(forced, first, second):
    starts, n_pairs = pair_starts(4, True)
    arcs = np.zeros((5, 5))
    for arc in forced:
        arcs[arc] = 1.0
    for paired, expected in ((False, first), (True, second)):
        heads, value = best_tree(arcs, np.zeros(n_pairs), starts, paired, True)
        assert value == len(forced)
        assert heads.tolist() == expected
