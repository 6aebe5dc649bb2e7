"""Tables of every kind give the same answers; what cannot be used is told in one sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from handful.errors import DataError, ParameterError
from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN
from handful.neighbors.ordinal import OrdinalKNN
from handful.neighbors.rows import ScalingWarning

TAGS, CLUSTERS = ["NN", "VB", "NN", "JJ", "VB", "NN"], ["1", "1*", "1", "4", "4", "1*"]
Y = ["a", "b", "a", "b", "b", "a"]


def test_strings_are_categorical_in_every_container():
    tables = [
        pd.DataFrame({"tag": TAGS, "cluster": pd.Categorical(CLUSTERS)}),
        pl.DataFrame({"tag": TAGS, "cluster": CLUSTERS}),
        np.array([TAGS, CLUSTERS]).T,
        np.array([TAGS, CLUSTERS], dtype=object).T,
        [list(pair) for pair in zip(TAGS, CLUSTERS, strict=True)],
    ]
    shares = [CondensedNN(3, ties="all").fit(table, Y).predict_proba(table) for table in tables]
    assert all(np.array_equal(shares[0], other) for other in shares[1:])


def test_numbers_can_be_categorical():
    X = np.array([[0.0, 5.0], [0.0, 900.0], [0.4, 5.0]])
    model = CondensedNN(categorical=[1]).fit(X, ["a", "b", "a"])
    assert model.categorical_columns_.tolist() == [1]
    # 900 and 7 differ from 5 by 1 each; 7 was never seen.
    assert model.predict([[0.0, 900.0], [0.3, 5.0], [0.0, 7.0]]).tolist() == ["b", "a", "a"]
    frame = pd.DataFrame(X, columns=["x", "cluster"])
    assert CondensedNN(categorical=["cluster"]).fit(frame, ["a", "b", "a"]).kept_.tolist() == model.kept_.tolist()


def test_missing_symbols_are_one_symbol():
    table = pd.DataFrame({"tag": ["NN", None, np.nan, "VB"]})
    model = CondensedNN().fit(table, ["a", "b", "b", "c"])
    assert model.kept_.tolist() == [0, 1, 3]
    assert model.predict(pd.DataFrame({"tag": [None, "VB"]})).tolist() == ["b", "c"]


def test_categorical_columns_in_ordinal_ranking_are_at_overlap_distance():
    table = pd.DataFrame({"tag": TAGS, "cluster": CLUSTERS, "x": np.arange(6.0)})
    y = ["a", "b", None, None, None, None]
    codes = np.array([[t == v for v in dict.fromkeys(TAGS)] for t in TAGS], dtype=float)
    more = np.array([[c == v for v in dict.fromkeys(CLUSTERS)] for c in CLUSTERS], dtype=float)
    points = np.hstack([np.arange(6.0)[:, None], np.sqrt(0.5) * codes, np.sqrt(0.5) * more])
    model, same = OrdinalKNN().fit(table, y), OrdinalKNN().fit(points, y)
    assert model.order_.tolist() == same.order_.tolist()
    np.testing.assert_allclose(model.distance_factor_, same.distance_factor_, rtol=1e-12)
    assert model.predict(table).tolist() == same.predict(points).tolist()


def test_numbers_keep_their_type():
    X = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    y = np.arange(20) % 2
    assert CondensedNN().fit(X, y).stored_numbers_.dtype == np.float32
    assert CondensedNN().fit(sp.csr_array(X), y).stored_numbers_.dtype == np.float32
    # A float32 model asked in float64 compares the numbers as they are.
    model = CondensedNN().fit(X, y)
    assert np.array_equal(model.predict(X), model.predict(X.astype(np.float64)))


def test_sparse_and_dense_can_be_mixed():
    X = np.random.default_rng(0).integers(0, 3, size=(30, 4)).astype(float)
    y = np.arange(30) % 3
    dense, sparse = CondensedNN(3).fit(X, y), CondensedNN(3).fit(sp.csr_matrix(X), y)
    for model in (dense, sparse):
        assert np.array_equal(model.predict_proba(X), dense.predict_proba(X))
        assert np.array_equal(model.predict_proba(sp.csr_array(X)), dense.predict_proba(X))


def test_unscaled_tables_are_warned_about():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CondensedNN().fit(X, y)
        CondensedNN().fit(np.column_stack([X, np.ones(30)]), y)  # a constant has no range
    for method in (CondensedNN(), SemiSupervisedCondensedNN(), OrdinalKNN()):
        with pytest.warns(ScalingWarning, match=r"make_pipeline\(StandardScaler\(\)") as caught:
            method.fit(X * [1, 1, 1000], y)
        assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("fit", "error", "told"),
    [
        (
            lambda X, y: CondensedNN(categorical=[9]).fit(X, y),
            ParameterError,
            "categorical must name columns of X, got 9",
        ),
        (
            lambda X, y: CondensedNN(categorical=[0]).fit(sp.csr_array(X), y),
            DataError,
            "categorical columns must be dense",
        ),
        (lambda X, y: CondensedNN(vote="unifrom").fit(X, y), ParameterError, "Did you mean 'uniform'?"),
        (lambda X, y: CondensedNN().fit(X, y[:-1]), DataError, "same number of rows, got 4 and 3"),
        (lambda X, y: CondensedNN().fit(X, [None] * 4), DataError, "at least one row must have a label"),
        (lambda X, y: OrdinalKNN(sigma=0).fit(X, y), ParameterError, "sigma must be a number above 0, got 0"),
        (lambda X, y: CondensedNN().fit(X * np.nan, y), DataError, "contains NaN"),
    ],
)
def test_errors_say_what_to_do(fit, error, told):
    with pytest.raises(error, match=told.replace("?", r"\?")):
        fit(np.arange(8.0).reshape(4, 2), ["a", "b", "a", "b"])


def test_too_many_features_for_class_means(monkeypatch):
    monkeypatch.setattr("handful.neighbors.ordinal._MOST_CELLS", 5)
    with pytest.raises(DataError, match="TruncatedSVD"):
        OrdinalKNN().fit(np.arange(8.0).reshape(4, 2), ["a", "b", None, None])
