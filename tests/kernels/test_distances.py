"""Distances in tiles equal distances one by one; identical rows are found in every form of a table."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from handful.kernels.distances import TILE, Rule
from handful.neighbors.rows import distinct, from_csr, from_dense, kneighbors, take_rows


def measured(rows, s, n):
    """Return the distances of all rows to row `s`."""
    store = take_rows(rows, np.array([s]))
    return kneighbors(store, np.zeros(1, dtype=np.int32), 1, rows, 1, Rule.of("uniform")).distance[:n, 0]


@pytest.mark.parametrize("n", [1, 5, TILE])
def test_tile_equals_one_by_one(n):
    rng = np.random.default_rng(n)
    X, symbols = rng.normal(size=(n, 7)), rng.integers(0, 3, size=(n, 2)).astype(np.int32)
    for s in range(n):
        gaps = np.hstack([X - X[s], (symbols != symbols[s]).astype(float)])
        np.testing.assert_allclose(measured(from_dense(X, symbols), s, n), np.linalg.norm(gaps, axis=1), rtol=1e-12)


def test_sparse_equals_dense_to_the_last_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 9)) * (rng.random((20, 9)) < 0.4)
    for kind in (np.float64, np.float32):
        table = X.astype(kind)
        for s in range(20):
            a = measured(from_dense(table), s, 20)
            assert np.array_equal(a, measured(from_csr(sp.csr_array(table)), s, 20))
            assert np.array_equal(a, measured(from_dense(table.astype(np.float64)), s, 20))


@pytest.mark.parametrize("convert", [from_dense, lambda X: from_csr(sp.csr_array(X))], ids=["dense", "csr"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_identical_rows_are_found(convert, kind):
    rng = np.random.default_rng(1)
    X = rng.integers(-1, 2, size=(200, 3)).astype(kind)
    X[rng.random(X.shape) < 0.1] *= -0.0  # a negative zero is a zero
    first, which = distinct(convert(X))
    assert len(first) == len(np.unique(X, axis=0))
    assert np.array_equal(X[first][which], X)


def test_categorical_columns_tell_rows_apart():
    rows = from_dense(np.zeros((4, 1)), np.array([[0, 1], [1, 0], [0, 1], [1, 1]], dtype=np.int32))
    first, which = distinct(rows)
    assert len(first) == 3
    assert which[0] == which[2]


def test_equal_keys_of_unequal_rows_do_no_harm(monkeypatch):
    monkeypatch.setattr("handful.neighbors.rows.row_keys", lambda rows, *_: np.zeros(len(rows.dense), dtype=np.uint64))
    first, which = distinct(from_dense(np.array([[1.0], [2.0], [1.0]])))
    assert first.tolist() == which.tolist() == [0, 1, 2]


def test_rows_are_taken_in_the_order_asked_for():
    X = np.arange(12.0).reshape(4, 3)
    asked = np.array([3, 0, 3])
    assert np.array_equal(take_rows(from_dense(X), asked).dense, X[asked])
    taken = take_rows(from_csr(sp.csr_array(X)), asked)
    assert np.array_equal(sp.csr_array((taken.data, taken.indices, taken.indptr), shape=(3, 3)).toarray(), X[asked])
