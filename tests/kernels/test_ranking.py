"""Ordinal labeling with tiles, moved slots and threads equals a plain computation from scratch."""

from __future__ import annotations

import numpy as np
import pytest

from handful.kernels.distances import TILE, WORTH_THREADS, Rule
from handful.kernels.ordinal import Ordinal, _exp, rank_and_label
from handful.neighbors.rows import from_dense


def factor(x, members, codes, sigma):
    distances = []
    for j in np.unique(codes):
        own = members[codes == j]
        log_weight = -(np.linalg.norm(own - x, axis=1) ** 2) / (2 * sigma**2)
        w = np.exp(log_weight - log_weight.max())
        distances.append(np.linalg.norm((w / w.sum()) @ own - x))
    return min(distances) / sum(distances)


def from_scratch(X, labeled, codes, waiting, sigma):
    """One neighbor, everything inserted."""
    stored, stored_codes, left = list(labeled), list(codes), list(waiting)
    order, factors, labels = [], [], []
    while left:
        members, member_codes = X[stored], np.array(stored_codes)
        all_factors = {i: factor(X[i], members, member_codes, sigma) for i in left}
        i = min(left, key=all_factors.get)
        nearest = int(np.argmin(np.linalg.norm(members - X[i], axis=1)))
        order.append(i)
        factors.append(all_factors[i])
        labels.append(member_codes[nearest])
        stored.append(i)
        stored_codes.append(member_codes[nearest])
        left.remove(i)
    return order, factors, labels


def run(X, labeled, codes, waiting, sigma, answers=()):
    settings = Ordinal(1, Rule.of("uniform"), 0.5 / sigma**2, 1.0)
    true_codes = np.array(answers, dtype=np.int32)
    return rank_and_label(from_dense(X), labeled, codes, waiting, settings, true_codes=true_codes)


def clouds(n, d, n_classes, n_labeled, seed):
    rng = np.random.default_rng(seed)
    codes = (np.arange(n) % n_classes).astype(np.int32)
    X = rng.normal(size=(n, d)) + 2 * codes[:, None]
    rows = rng.permutation(n)
    labeled = np.sort(np.concatenate([rows[codes[rows] == j][:n_labeled] for j in range(n_classes)]))
    return X, labeled, codes[labeled], np.setdiff1d(rows, labeled)


def test_equals_computation_from_scratch():
    X, labeled, codes, waiting = clouds(2 * TILE + 30, 3, 3, 3, seed=9)
    order, factors, labels = from_scratch(X, labeled, codes, waiting, 0.8)
    got = run(X, labeled, codes, waiting, 0.8)
    assert waiting[got[0]].tolist() == order
    np.testing.assert_allclose(got[3], factors, rtol=1e-9)
    assert got[1].tolist() == labels


def test_threads_give_what_one_thread_gives():
    X, labeled, codes, waiting = clouds(1050, 1000, 2, 1, seed=9)
    assert len(waiting) * X.shape[1] > WORTH_THREADS
    got = run(X, labeled, codes, waiting, 20.0)
    stored, stored_codes = np.concatenate([labeled, waiting[got[0]]]), np.concatenate([codes, got[1]])
    for step in (0, 1, 300, 1000):
        x, known = X[waiting[got[0][step]]], stored[: 2 + step]
        assert got[3][step] == pytest.approx(factor(x, X[known], stored_codes[: 2 + step], 20.0), rel=1e-9)
        nearest = int(np.argmin(((X[known] - x) ** 2).sum(axis=1)))
        assert (got[5][step], got[1][step]) == (nearest, stored_codes[nearest])
    assert sorted(got[0].tolist()) == list(range(len(waiting)))


def test_answers_are_stored_instead_of_predictions():
    X = np.array([[0.0], [10.0], [1.0], [1.5]])
    labeled, codes, waiting = np.array([0, 1]), np.array([0, 1], dtype=np.int32), np.array([2, 3])
    got = run(X, labeled, codes, waiting, 1.0, answers=[1, 0])
    # Row 2 is predicted as 0 but stored as 1, and row 3, whose nearest it is, is therefore predicted as 1.
    assert (got[0].tolist(), got[1].tolist()) == ([0, 1], [0, 1])


def test_exponential_is_exact_to_the_last_bits():
    x = np.linspace(-45.0, 0.0, 5001)
    np.testing.assert_allclose([_exp(v) for v in x], np.exp(x), rtol=4e-16)
    assert _exp(0.0) == 1.0
