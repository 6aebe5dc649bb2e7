"""What must not change a prediction: names of classes and columns, scales, the order of rows and columns, saving, and batches."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import handful
from handful.models.table_model import TableModel
from handful.registry import all_methods

QUICK = {
    "ensemble": {"quick": True, "n_trees": 3},
    "extra-trees": {"n_estimators": 8},
    "random-forest": {"n_estimators": 8},
}
# Methods whose rule depends on an order, as their pages say.
BY_ROW_ORDER = {
    "complement-nb": "the rows below have no words, so that folds alone decide",
    "condensed-nn": "Hart's algorithm visits the rows in their order",
    "semi-supervised-condensed-nn": "Hart's algorithm visits the rows in their order",
}
METHODS = [spec.name for spec in all_methods("table")]
TRUTH = np.arange(45) % 3
RNG = np.random.default_rng(4)
NUMBERS = np.round(RNG.normal(size=(45, 3)) + 1.2 * TRUTH[:, None], 3)
COLORS = [("red", "blue", "green")[(code + (RNG.random() < 0.3)) % 3] for code in TRUTH]
ROWS = pl.DataFrame({"size": NUMBERS[:, 0], "weight": NUMBERS[:, 1], "tall": NUMBERS[:, 2], "color": COLORS})
LABELS = [("ash", "elm", "oak")[code] if number < 24 else None for number, code in enumerate(TRUTH)]


def fitted(name, rows=ROWS, labels=LABELS):
    return TableModel(name, params=QUICK.get(name)).fit(rows, labels)


@pytest.fixture(scope="module")
def plain():
    return {name: fitted(name) for name in METHODS}


def assert_same(one, other):
    np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_names_of_classes_in_another_order_change_nothing(name, plain):
    renamed = {"ash": "z", "elm": "a", "oak": "m"}
    model = fitted(name, labels=[renamed.get(label) for label in LABELS])
    order = [model.classes_.tolist().index(renamed[label]) for label in plain[name].classes_]
    assert_same(model.predict_proba(ROWS)[:, order], plain[name].predict_proba(ROWS))


@pytest.mark.parametrize("name", METHODS)
def test_names_of_columns_change_nothing(name, plain):
    renamed = ROWS.rename({"size": "q9", "weight": "a b", "tall": "W", "color": "k"})
    assert_same(fitted(name, renamed).predict_proba(renamed), plain[name].predict_proba(ROWS))


@pytest.mark.parametrize("name", METHODS)
def test_scales_of_columns_change_nothing(name, plain):
    scaled = ROWS.with_columns(pl.col("size") * 1024 + 512, pl.col("tall") / 256)
    assert_same(fitted(name, scaled).predict_proba(scaled), plain[name].predict_proba(ROWS))


@pytest.mark.parametrize("name", [name for name in METHODS if name not in BY_ROW_ORDER])
def test_the_order_of_rows_changes_nothing(name, plain):
    order = np.random.default_rng(1).permutation(len(LABELS))
    model = fitted(name, ROWS[order], [LABELS[i] for i in order])
    assert_same(model.predict_proba(ROWS), plain[name].predict_proba(ROWS))


@pytest.mark.parametrize("name", METHODS)
def test_the_order_of_columns_changes_nothing(name, plain):
    other = fitted(name, ROWS.select("color", "tall", "size", "weight"))
    assert_same(other.predict_proba(ROWS), plain[name].predict_proba(ROWS))


@pytest.mark.parametrize("name", METHODS)
def test_one_row_is_predicted_as_among_others_and_after_saving(name, plain, tmp_path):
    expected = plain[name].predict_proba(ROWS)
    assert_same(np.vstack([plain[name].predict_proba(ROWS[i : i + 1]) for i in range(8)]), expected[:8])
    handful.save(plain[name], tmp_path / "model.handful")
    assert_same(handful.load(tmp_path / "model.handful").predict_proba(ROWS), expected)
