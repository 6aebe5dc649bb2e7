"""Second-order chain kernels against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.chain import enumerate_chain

from handful.kernels import chains as chain

LENGTHS = [4, 4, 3, 2, 2, 1, 1]


def problem(rng, n_labels, spread, per_position, ends):
    node = rng.normal(scale=spread, size=(LENGTHS[0], n_labels, len(LENGTHS)))
    shape = (LENGTHS[0], n_labels, n_labels, len(LENGTHS)) if per_position else (n_labels, n_labels)
    edge = rng.normal(scale=spread, size=shape)
    triple = rng.normal(scale=spread, size=(n_labels,) * 3)
    first, last = rng.normal(scale=spread, size=(2, n_labels, n_labels)) if ends else np.zeros((2, n_labels, n_labels))
    active = np.array([sum(n > t for n in LENGTHS) for t in range(LENGTHS[0])])
    return node, edge, triple, active, first, last


def literal(node, edge, triple, first, last, s, n):
    pairs = np.broadcast_to(edge, (n, *edge.shape)).copy() if edge.ndim == 2 else edge[:n, :, :, s].copy()
    if n > 1:
        pairs[1] += first
        pairs[n - 1] += last
    return enumerate_chain(node[:n, :, s], pairs, triple)


@pytest.mark.parametrize("per_position", [False, True])
@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("spread", [1.0, 2000.0])
def test_pairs_equal_enumeration(per_position, ends, n_labels, spread):
    rng = np.random.default_rng(n_labels)
    node, edge, triple, active, first, last = problem(rng, n_labels, spread, per_position, ends)
    sums = chain.forward_backward(node, edge, active, triple, first, last)
    labels, scores = chain.viterbi(node, edge, active, triple, first, last)
    triples, edges = np.zeros((n_labels,) * 3), np.zeros((n_labels, n_labels))
    firsts, lasts = np.zeros((2, n_labels, n_labels))
    for s, n in enumerate(LENGTHS):
        expected = literal(node, edge, triple, first, last, s, n)
        np.testing.assert_allclose(sums.log_partition[s], expected[0], rtol=1e-11)
        np.testing.assert_allclose(sums.node[:n, :, s], expected[1], atol=1e-10)
        assert not sums.node[n:, :, s].any()
        if per_position:
            np.testing.assert_allclose(sums.edge[1:n, :, :, s], expected[2][1:], atol=1e-10)
        edges += expected[2].sum(axis=0)
        triples += expected[3]
        if n > 1:
            firsts += expected[2][1]
            lasts += expected[2][n - 1]
        assert labels[:n, s].tolist() == list(expected[4])
        assert (labels[n:, s] == -1).all()
        assert scores[s] == pytest.approx(expected[5])
    np.testing.assert_allclose(sums.triple, triples, atol=1e-10)
    np.testing.assert_allclose(sums.first, firsts, atol=1e-10)
    np.testing.assert_allclose(sums.last, lasts, atol=1e-10)
    if not per_position:
        np.testing.assert_allclose(sums.edge, edges, atol=1e-10)


def test_without_triples_second_order_is_first_order():
    rng = np.random.default_rng(0)
    node, edge, triple, active, _, _ = problem(rng, 3, 1.0, False, False)
    sums = chain.forward_backward(node, edge, active, np.zeros_like(triple))
    log_partition, nodes, edges = chain.forward_backward(node, edge, active)[:3]
    np.testing.assert_allclose(sums.log_partition, log_partition)
    np.testing.assert_allclose(sums.node, nodes, atol=1e-12)
    np.testing.assert_allclose(sums.edge, edges, atol=1e-12)


def test_a_locked_position_and_a_dead_sentence():
    rng = np.random.default_rng(1)
    node, edge, triple, active, first, last = problem(rng, 3, 1.0, False, True)
    node[1, 1:, 0] = -np.inf
    node[2, :, 1] = -np.inf
    sums = chain.forward_backward(node, edge, active, triple, first, last)
    assert sums.node[1, 0, 0] == pytest.approx(1.0)
    assert sums.log_partition[1] == -np.inf
    assert not sums.node[:, :, 1].any()
    expected = sum(literal(node, edge, triple, first, last, s, n)[3] for s, n in enumerate(LENGTHS) if s != 1)
    np.testing.assert_allclose(sums.triple, expected, atol=1e-12)
