"""The chain structure against enumeration and finite differences."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from oracles.chain import enumerate_chain

from handful.errors import DataError
from handful.linear import chain as sides_module
from handful.linear.chain import ChainStructure
from handful.linear.chain_layout import build_layout
from handful.linear.structure import feature_counts
from handful.preprocessing.extractor import Predicates

LENGTHS = [3, 1, 4, 2, 0, 4]
N_PREDICATES = 6


def observations(rng, grouped):
    """Random predicates; grouped ones fire together by rows, as the extractor makes them."""
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    n = offsets[-1]
    direct = rng.integers(-1, N_PREDICATES, size=(n, 2)).astype(np.int32)
    if not grouped:
        return Predicates.of(direct, offsets)
    rows = np.stack([rng.integers(0, 3, size=n), rng.integers(3, 5, size=n)], axis=1).astype(np.int32)
    row_ids = np.array([0, 1, 2, 2, 3, 4, 5], dtype=np.int32)
    return Predicates(rows, np.array([0, 2, 3, 3, 6, 7]), row_ids, direct, offsets)


def problem(seed, n_labels=3, order=1, grouped=True, **options):
    rng = np.random.default_rng(seed)
    node, edge = observations(rng, grouped), observations(rng, grouped)
    codes = rng.integers(0, n_labels, size=node.offsets[-1]).astype(np.int32)
    allowed = options.get("allowed")
    layout = build_layout(
        N_PREDICATES,
        n_labels,
        node,
        edge,
        codes,
        order=order,
        all_labels=options.get("all_labels", False),
        allowed=allowed,
    )
    chain = ChainStructure(layout, node, edge, order=order, allowed=allowed, allowed_first=options.get("allowed_first"))
    return chain, codes, rng.normal(size=layout.n_features)


def scores_of(chain, weights, number):
    """Node, edge and triple scores of one sentence, feature by feature."""
    lay, n = chain.layout, chain.layout.n_labels
    node_w, edge_w, pair_w, triple_w = lay.split(weights)
    rows = range(chain.offsets[number], chain.offsets[number + 1])
    node, edge, triple = np.zeros((len(rows), n)), np.zeros((len(rows), n, n)), np.zeros(n**3)
    node_ids, edge_ids = chain.node.observed.ids, chain.edge.observed.ids
    for t, row in enumerate(rows):
        for p in node_ids[row][node_ids[row] >= 0]:
            for f in range(lay.node_offsets[p], lay.node_offsets[p + 1]):
                node[t, lay.node_targets[f]] += node_w[f]
        for p in edge_ids[row][edge_ids[row] >= 0]:
            for f in range(lay.edge_offsets[p], lay.edge_offsets[p + 1]):
                edge[t].flat[lay.edge_targets[f]] += edge_w[f]
        edge[t].flat[lay.pairs] += pair_w
    triple[lay.triples] += triple_w
    edge[:, ~chain.allowed] = -np.inf
    if len(rows):
        node[0, ~chain.allowed_first] = -np.inf
    return node, edge, triple.reshape((n,) * 3)


CASES = [
    {"order": 1, "grouped": True},
    {"order": 1, "grouped": False},
    {"order": 2, "grouped": True},
    {"order": 1, "all_labels": True},
    {
        "order": 1,
        "allowed": np.array([[True, True, False], [True, True, True], [True, False, True]]),
        "allowed_first": np.array([True, True, False]),
        "all_labels": True,
    },
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("most_dense", [0, 40])
def test_best_and_marginals_equal_enumeration(case, most_dense, monkeypatch):
    monkeypatch.setattr(sides_module, "_MOST_DENSE", most_dense)
    chain, _, weights = problem(0, **case)
    total = 0.0
    best = []
    shares = []
    for number in range(chain.n_inputs):
        if LENGTHS[number]:
            expected = enumerate_chain(*scores_of(chain, weights, number))
            total += expected[0]
            shares.append(expected[1])
            best.extend(expected[4])
    log_partition, _ = chain.expected_counts(weights)
    assert log_partition == pytest.approx(total, rel=1e-12)
    assert chain.argmax(weights).tolist() == best
    np.testing.assert_allclose(chain.label_marginals(weights), np.concatenate(shares), atol=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("most_dense", [0, 40])
def test_expected_counts_are_the_gradient_of_the_log_partition(case, most_dense, monkeypatch):
    monkeypatch.setattr(sides_module, "_MOST_DENSE", most_dense)
    chain, _, weights = problem(1, **case)
    _, expected = chain.expected_counts(weights)
    for f in range(chain.n_features):
        step = np.zeros(chain.n_features)
        step[f] = 1e-5
        slope = (chain.expected_counts(weights + step)[0] - chain.expected_counts(weights - step)[0]) / 2e-5
        assert slope == pytest.approx(expected[f], abs=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_parts_of_an_output_add_up_to_its_score(case):
    chain, _, weights = problem(2, **case)
    best = chain.argmax(weights)
    scores = [enumerate_chain(*scores_of(chain, weights, i))[5] for i in range(chain.n_inputs) if LENGTHS[i]]
    assert float(weights @ feature_counts(chain, best)) == pytest.approx(sum(scores))
    one_by_one = np.zeros(chain.n_features)
    steps = chain
    for i in range(chain.n_inputs):
        if LENGTHS[i]:
            ids, values = steps.joint_features_at(i, steps.take(i, best))
            np.add.at(one_by_one, ids, values)
            assert set(ids) <= set(steps.possible_features(i))
    assert np.array_equal(one_by_one, feature_counts(chain, best))


@pytest.mark.parametrize("case", CASES)
def test_all_parts_are_weighted_by_the_share_of_one_output(case):
    """A part is (label), (label before, label) or, for order 2, (two before, before, label) at a position."""
    chain, _, _ = problem(3, **case)
    order, n_labels = case["order"], chain.layout.n_labels
    expected = np.zeros(chain.n_features)
    for number, n in enumerate(LENGTHS):
        parts = set()
        for labels in product(range(n_labels), repeat=n):
            if n and chain.allowed_first[labels[0]] and all(chain.allowed[a, b] for a, b in pairwise(labels)):
                parts |= {(t, labels[max(0, t - order) : t + 1]) for t in range(n)}
        for t, labels in parts:
            for f in features_of_part(chain, chain.offsets[number] + t, labels):
                expected[f] += n / len(parts)
    np.testing.assert_allclose(feature_counts(chain), expected, atol=1e-12)


def features_of_part(chain, row, labels):
    lay, n, starts = chain.layout, chain.layout.n_labels, chain.layout.starts
    node_ids, edge_ids = chain.node.observed.ids, chain.edge.observed.ids
    found = []
    for p in node_ids[row][node_ids[row] >= 0]:
        found += [f for f in range(lay.node_offsets[p], lay.node_offsets[p + 1]) if lay.node_targets[f] == labels[-1]]
    if len(labels) > 1:
        pair = labels[-2] * n + labels[-1]
        for p in edge_ids[row][edge_ids[row] >= 0]:
            span = range(lay.edge_offsets[p], lay.edge_offsets[p + 1])
            found += [starts[1] + f for f in span if lay.edge_targets[f] == pair]
        found += (starts[2] + np.flatnonzero(lay.pairs == pair)).tolist()
    if len(labels) > 2:
        triple = (labels[-3] * n + labels[-2]) * n + labels[-1]
        found += (starts[3] + np.flatnonzero(lay.triples == triple)).tolist()
    return found


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 12, size=600)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    node = Predicates.of(rng.integers(0, 50, size=(offsets[-1], 4)), offsets)
    edge = Predicates.of(np.empty((offsets[-1], 0)), offsets)
    codes = rng.integers(0, 5, size=offsets[-1])
    layout = build_layout(50, 5, node, edge, codes)
    weights = rng.normal(size=layout.n_features)
    one, *others = (ChainStructure(layout, node, edge, n_jobs=n).expected_counts(weights) for n in (1, 2, 3, 5))
    for several in others:
        assert one[0] == several[0]
        assert np.array_equal(one[1], several[1])


def test_a_sentence_that_no_labeling_fits_is_an_error():
    allowed = np.zeros((2, 2), dtype=bool)
    observed = Predicates.of(np.zeros((2, 1)), np.array([0, 2]))
    layout = build_layout(1, 2, observed, Predicates.of(np.empty((2, 0)), observed.offsets), np.array([0, 1]))
    chain = ChainStructure(layout, observed, Predicates.of(np.empty((2, 0)), observed.offsets), allowed=allowed)
    with pytest.raises(DataError, match="legal labeling"):
        chain.expected_counts(np.zeros(layout.n_features))


def test_a_layout_keeps_what_it_is_told_and_survives_its_state():
    chain, _, _ = problem(4)
    kept = np.arange(chain.n_features) % 2 == 0
    layout, left = chain.layout.keep(kept)
    assert layout.n_features == kept.sum()
    assert layout.n_predicates == left.sum()
    renumber = np.cumsum(left) - 1
    old = chain.layout.predicate_of()[kept]
    assert np.array_equal(layout.predicate_of()[old >= 0], renumber[old[old >= 0]])
    assert np.array_equal(layout.targets(), chain.layout.targets()[kept])
    again = type(layout).from_state(layout.state())
    assert again.n_features == layout.n_features
    broken = layout.state() | {"node_targets": layout.node_targets + 100}
    with pytest.raises(DataError):
        type(layout).from_state(broken)
