"""Chain kernels against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from oracles.chain import enumerate_chain, score

from handful.kernels import chains as chain

LENGTHS = [4, 4, 3, 2, 1, 1]


def block(rng, n_labels, lengths, spread=1.0, per_position=True):
    lengths = sorted(lengths, reverse=True)
    node = rng.normal(scale=spread, size=(lengths[0], n_labels, len(lengths)))
    shape = (lengths[0], n_labels, n_labels, len(lengths)) if per_position else (n_labels, n_labels)
    edge = rng.normal(scale=spread, size=shape)
    active = np.array([sum(n > t for n in lengths) for t in range(lengths[0])])
    return node, edge, active, lengths


def edges_of(edge, n, s):
    return np.broadcast_to(edge, (n, *edge.shape)) if edge.ndim == 2 else edge[:n, :, :, s]


@pytest.mark.parametrize("per_position", [False, True])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("spread", [1.0, 30.0, 2000.0])
def test_forward_backward_equals_enumeration(per_position, n_labels, spread):
    rng = np.random.default_rng(n_labels)
    node, edge, active, lengths = block(rng, n_labels, LENGTHS, spread, per_position)
    given = node.copy(), edge.copy()
    log_partition, nodes, edges = chain.forward_backward(node, edge, active)[:3]
    assert np.array_equal(node, given[0])
    assert np.array_equal(edge, given[1])
    total = np.zeros((n_labels, n_labels))
    for s, n in enumerate(lengths):
        expected = enumerate_chain(node[:n, :, s], edges_of(edge, n, s))
        np.testing.assert_allclose(log_partition[s], expected[0], rtol=1e-12)
        np.testing.assert_allclose(nodes[:n, :, s], expected[1], atol=1e-11)
        assert not nodes[n:, :, s].any()
        total += expected[2].sum(axis=0)
        if per_position:
            np.testing.assert_allclose(edges[1:n, :, :, s], expected[2][1:], atol=1e-11)
            assert not edges[n:, :, :, s].any()
    if not per_position:
        np.testing.assert_allclose(edges, total, atol=1e-11)


@pytest.mark.parametrize("per_position", [False, True])
def test_viterbi_equals_enumeration(per_position):
    rng = np.random.default_rng(0)
    for n_labels in (1, 2, 3):
        node, edge, active, lengths = block(rng, n_labels, LENGTHS, 1.0, per_position)
        labels, scores = chain.viterbi(node, edge, active)
        for s, n in enumerate(lengths):
            expected = enumerate_chain(node[:n, :, s], edges_of(edge, n, s))
            assert labels[:n, s].tolist() == list(expected[4])
            assert (labels[n:, s] == -1).all()
            assert scores[s] == pytest.approx(expected[5])


def test_viterbi_with_ties_is_among_the_best():
    rng = np.random.default_rng(1)
    for _ in range(50):
        node, edge, active, lengths = block(rng, 3, LENGTHS)
        node, edge = node.round(), edge.round()
        labels, _ = chain.viterbi(node, edge, active)
        for s, n in enumerate(lengths):
            best = enumerate_chain(node[:n, :, s], edge[:n, :, :, s])[5]
            assert score(node[:n, :, s], edge[:n, :, :, s], np.zeros((3, 3, 3)), labels[:n, s]) == best


@pytest.mark.parametrize("per_position", [False, True])
def test_forbidden_labels_and_pairs_have_no_share(per_position):
    rng = np.random.default_rng(2)
    node, edge, active, lengths = block(rng, 3, LENGTHS, 1.0, per_position)
    node[0, 1:, 0] = -np.inf
    if per_position:
        edge[:, 0, 1] = -np.inf
    else:
        edge[0, 1] = -np.inf
    log_partition, nodes, _ = chain.forward_backward(node, edge, active)[:3]
    for s, n in enumerate(lengths):
        expected = enumerate_chain(node[:n, :, s], edges_of(edge, n, s))
        np.testing.assert_allclose(log_partition[s], expected[0])
        np.testing.assert_allclose(nodes[:n, :, s], expected[1], atol=1e-12)
    assert nodes[0, 0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("per_position", [False, True])
def test_a_sentence_without_a_legal_labeling_leaves_the_others_alone(per_position):
    rng = np.random.default_rng(3)
    node, edge, active, lengths = block(rng, 2, LENGTHS, 1.0, per_position)
    node[1, :, 1] = -np.inf
    log_partition, nodes, edges = chain.forward_backward(node, edge, active)[:3]
    assert log_partition[1] == -np.inf
    assert not nodes[:, :, 1].any()
    total = np.zeros((2, 2))
    for s, n in enumerate(lengths):
        if s != 1:
            expected = enumerate_chain(node[:n, :, s], edges_of(edge, n, s))
            np.testing.assert_allclose(nodes[:n, :, s], expected[1], atol=1e-12)
            total += expected[2].sum(axis=0)
    assert np.isfinite(edges).all()
    if not per_position:
        np.testing.assert_allclose(edges, total, atol=1e-12)


def test_a_sentence_of_five_thousand_positions_keeps_its_probabilities():
    rng = np.random.default_rng(4)
    node = rng.normal(scale=5, size=(5000, 4, 1))
    log_partition, nodes, edges = chain.forward_backward(node, rng.normal(size=(4, 4)), np.ones(5000, dtype=np.int64))[
        :3
    ]
    assert np.isfinite(log_partition).all()
    np.testing.assert_allclose(nodes.sum(axis=1), 1.0, rtol=1e-9)
    assert edges.sum() == pytest.approx(4999)


@pytest.mark.parametrize("per_position", [False, True])
def test_of_equally_good_labelings_viterbi_takes_the_lower_label_from_the_end_on(per_position):
    rng = np.random.default_rng(3)
    n_ties = 0
    for _ in range(50):
        node, edge, active, lengths = block(rng, 3, LENGTHS, 0.7, per_position)
        node, edge = node.round(), edge.round()
        labels, _ = chain.viterbi(node, edge, active)
        for s, n in enumerate(lengths):
            scores = {
                path: score(node[:n, :, s], edges_of(edge, n, s), np.zeros((3, 3, 3)), path)
                for path in product(range(3), repeat=n)
            }
            best = [path for path, value in scores.items() if value == max(scores.values())]
            n_ties += len(best) > 1
            assert tuple(labels[:n, s]) == min(best, key=lambda path: path[::-1])
    assert n_ties > 50
