"""Tree kernels equal the enumeration of all trees, and the enumeration is right by other ways of counting."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import enumerated_trees as trees

from handful.kernels.trees import pair_starts
from handful.linear.structure import feature_counts
from handful.linear.tree import PartFeatures, TreeStructure

# -- problems ---------------------------------------------------------------------------------------------------------


def random_scores(seed, n_words, whole=False):
    """Scores of arcs and of sibling triples; whole numbers give many ties."""
    rng = np.random.default_rng([seed, n_words])
    arc, sibling = rng.normal(size=(n_words + 1,) * 2) * 2, rng.normal(size=(n_words + 1,) * 3)
    return (np.rint(arc), np.rint(sibling)) if whole else (arc, sibling)


# -- the oracle itself ------------------------------------------------------------------------------------------------


def count_projective(n_words):
    """Return how many projective trees have one root child, and how many have any number.

    A word splits its phrase into modifiers on the left and on the right; either side is a row of phrases.
    """
    phrases, rows = [0], [1]
    for k in range(1, n_words + 1):
        phrases.append(sum(rows[i] * rows[k - 1 - i] for i in range(k)))
        rows.append(sum(phrases[j] * rows[k - j] for j in range(1, k + 1)))
    return phrases[n_words], rows[n_words]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_enumeration_finds_the_known_numbers_of_trees(n):
    one, several = count_projective(n)
    assert len(trees.all_trees(n, projective=True, single_root=True)) == one
    assert len(trees.all_trees(n, projective=True, single_root=False)) == several
    assert len(trees.all_trees(n, projective=False, single_root=True)) == n ** (n - 1)
    assert len(trees.all_trees(n, projective=False, single_root=False)) == (n + 1) ** (n - 1)


def test_counts_of_projective_trees_are_those_of_the_literature():
    assert [count_projective(n) for n in range(1, 6)] == [(1, 1), (2, 3), (7, 12), (30, 55), (143, 273)]


def matrix_tree(arc, single_root):
    """Return the log partition over all trees by a determinant (Tutte 1984; Koo et al. 2007 for one root child)."""
    weight = np.exp(arc[1:, 1:])
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=0)) - weight
    if single_root:
        laplacian[0] = np.exp(arc[0, 1:])
    else:
        laplacian += np.diag(np.exp(arc[0, 1:]))
    return float(np.log(np.linalg.det(laplacian)))


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_enumerated_partition_is_a_determinant_and_its_slope_the_marginals(n, single_root):
    arc, _ = random_scores(0, n)
    _, _, log_partition, marginals, _ = trees.enumerate_trees(arc, projective=False, single_root=single_root)
    assert log_partition == pytest.approx(matrix_tree(arc, single_root), abs=1e-9)
    for head in range(n + 1):
        for modifier in range(1, n + 1):
            if head != modifier:
                up, down = arc.copy(), arc.copy()
                up[head, modifier] += 1e-5
                down[head, modifier] -= 1e-5
                slope = (matrix_tree(up, single_root) - matrix_tree(down, single_root)) / 2e-5
                assert marginals[head, modifier] == pytest.approx(slope, abs=1e-7)


def test_siblings_are_neighbors_on_one_side_counted_from_the_head():
    assert trees.siblings((3, 3, 0, 3, 3)) == [(3, 2, 1), (3, 3, 2), (0, 0, 3), (3, 3, 4), (3, 4, 5)]
    assert trees.siblings((0, 1, 1, 0)) == [(0, 0, 1), (1, 1, 2), (1, 2, 3), (0, 1, 4)]
    assert not trees.is_projective((3, 0, 2))
    assert not trees.is_projective((0, 4, 0, 1))
    assert trees.is_projective((2, 0, 2))


@pytest.mark.parametrize("projective", [True, False])
def test_marginals_of_siblings_add_up_to_those_of_arcs(projective):
    arc, sibling = random_scores(1, 4)
    best, top, log_partition, arcs, triples = trees.enumerate_trees(arc, sibling, projective)
    np.testing.assert_allclose(triples.sum(axis=1), arcs)
    np.testing.assert_allclose(arcs.sum(axis=0), [0, 1, 1, 1, 1])
    assert len(best) == 1
    assert top < log_partition
    assert arcs[0].sum() == pytest.approx(1.0)


# -- the kernels against the oracle -----------------------------------------------------------------------------------


def structure_of(arc, sibling, projective, single_root):
    """Return a `Tree` of one sentence, a feature for each part, their weights, and the part behind each feature."""
    n = len(arc) - 1
    parts = [(head, modifier) for head in range(n + 1) for modifier in range(n + 1)]
    weights = [arc[part] for part in parts]
    if sibling is not None:
        starts, n_pairs = pair_starts(n, single_root)
        parts += [None] * n_pairs
        weights += [np.nan] * n_pairs
        for head, modifier in parts[: (n + 1) ** 2]:
            if modifier in (0, head):
                continue
            side = 1 if modifier > head else -1
            for distance in range(abs(head - modifier)) if head or not single_root else [0]:
                number = (n + 1) ** 2 + starts[head, modifier] + distance
                parts[number] = (head, head + side * distance, modifier)
                weights[number] = sibling[parts[number]]
    begins = np.arange(len(parts))
    ends = begins + [part[-1] not in (0, part[0]) for part in parts]  # nothing is its own head or the head of the root
    features = PartFeatures(begins.astype(np.int32), begins, ends)
    order = 1 if sibling is None else 2
    tree = TreeStructure(
        np.array([0, n]), lambda _: features, len(parts), order=order, projective=projective, single_root=single_root
    )
    return tree, np.array(weights), parts


CASES = [(True, False), (True, True), (False, False)]  # projective, with siblings


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize(("projective", "paired"), CASES)
@pytest.mark.parametrize("whole", [False, True])
def test_best_tree_is_that_of_the_enumeration(projective, paired, single_root, whole):
    for n in (1, 2, 3, 4, 5):
        for seed in range(40 if n < 5 else 10):
            arc, sibling = random_scores(seed, n, whole)
            sibling = sibling if paired else None
            tree, weights, _ = structure_of(arc, sibling, projective, single_root)
            heads = tuple(tree.argmax(weights).tolist())
            candidates = trees.all_trees(n, projective, single_root)
            assert heads in candidates
            top = max(trees.score(y, arc, sibling) for y in candidates)
            assert trees.score(heads, arc, sibling) == pytest.approx(top, abs=1e-9)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize(("projective", "paired"), CASES)
def test_marginals_are_those_of_the_enumeration(projective, paired, single_root):
    for n in (1, 2, 3, 4, 5):
        for seed in range(4):
            arc, sibling = random_scores(seed, n)
            sibling = sibling if paired else None
            tree, weights, parts = structure_of(arc, sibling, projective, single_root)
            log_partition, shares = tree.expected_counts(weights)
            _, _, expected, arcs, triples = trees.enumerate_trees(arc, sibling, projective, single_root)
            assert log_partition == pytest.approx(expected, abs=1e-9)
            by_part = {part: (arcs if len(part) == 2 else triples)[part] for part in parts}
            np.testing.assert_allclose(shares, [by_part[part] for part in parts], atol=1e-9)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("paired", [False, True])
def test_parts_are_those_of_the_enumeration(paired, single_root):
    """Arcs, and triples as another kind, each kind with the share that the parts of one tree have among all."""
    for n in (1, 2, 3, 4):
        arc, sibling = random_scores(0, n)
        tree, _, parts = structure_of(arc, sibling if paired else None, True, single_root)
        outputs = trees.all_trees(n, True, single_root)
        expected = dict.fromkeys(parts, 0.0)
        for kind in (trees.arcs, trees.siblings)[: 1 + paired]:
            found = {part for heads in outputs for part in kind(heads)}
            expected |= dict.fromkeys(found, n / len(found))
        np.testing.assert_allclose(feature_counts(tree), [expected[part] for part in parts], atol=1e-12)
        for heads in outputs:
            mine = set(trees.arcs(heads)) | set(trees.siblings(heads) if paired else [])
            assert feature_counts(tree, np.array(heads)).tolist() == [float(part in mine) for part in parts]
