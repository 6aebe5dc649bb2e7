"""OWL-QN and FOBOS on chains come to the optimum that general convex solvers find over all labelings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from oracles.optima import feature_rows, hinge_optimum, hinge_value, log_loss_optimum, log_loss_value

from handful.linear.batch import log_loss, minimize
from handful.linear.chain import ChainStructure
from handful.linear.chain_layout import build_layout
from handful.linear.online import OnlineRule, train_online
from handful.preprocessing.extractor import Predicates

LENGTHS = [3, 1, 4, 2, 3, 2, 4, 1]
N_PREDICATES, N_LABELS = 5, 3


def chain_problem(seed):
    """Return a chain with its right labels, and the same problem as feature counts of every labeling."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    ids = rng.integers(-1, N_PREDICATES, size=(offsets[-1], 2)).astype(np.int32)
    ids[ids[:, 0] == ids[:, 1], 1] = -1
    codes = rng.integers(0, N_LABELS, size=offsets[-1]).astype(np.int32)
    node = Predicates.of(ids, offsets)
    edge = Predicates.of(np.empty((offsets[-1], 0)), offsets)
    layout = build_layout(N_PREDICATES, N_LABELS, node, edge, codes, all_labels=True)
    problem, costs = [], []
    for a, b in pairwise(offsets):
        outputs, rows = feature_rows([row[row >= 0] for row in ids[a:b]], N_PREDICATES, N_LABELS)
        right = outputs.index(tuple(codes[a:b].tolist()))
        problem.append((rows, right))
        costs.append((np.array(outputs) != codes[a:b]).sum(axis=1))
    return ChainStructure(layout, node, edge), codes, problem, costs


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("l1", [0.1, 0.7, 2.0])
def test_owlqn_comes_to_the_optimum_of_a_bounded_solver(seed, l1):
    chain, codes, problem, _ = chain_problem(seed)
    best, weights = log_loss_optimum(problem, chain.n_features, l1)
    found = minimize(log_loss(chain, codes), np.zeros(chain.n_features), l1=l1, tol=1e-10)
    assert found.value == pytest.approx(best, rel=1e-7)
    assert np.count_nonzero(found.weights) < chain.n_features
    assert log_loss_value(problem, weights)[0] == pytest.approx(log_loss(chain, codes)(weights)[0], rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_fobos_comes_to_the_optimum_of_a_linear_program(seed):
    chain, codes, problem, costs = chain_problem(seed)
    best = hinge_optimum(problem, costs, chain.n_features, 0.7)
    gaps = []
    for n_passes in (200, 800):
        learned = train_online(chain, codes, OnlineRule("fobos", l1=0.7, rate=0.2), max_passes=n_passes)
        gaps.append(hinge_value(problem, costs, learned.weights, 0.7) / best - 1.0)
    assert gaps[1] > -1e-9
    assert gaps[1] < 0.02
    assert gaps[1] < 0.6 * gaps[0]  # the rate that theory promises: four times the passes, half the gap
