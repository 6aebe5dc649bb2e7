"""Labels may be a column of a data frame, in every function alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import handful
from handful.active.curve import learning_curve
from handful.active.label_errors import find_label_errors
from handful.active.query import ActiveLearner, suggest
from handful.comparison.tables import labeled_table
from handful.data.table import as_frame
from handful.errors import DataError, ParameterError


def table(n_labeled: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 60)
    cells = pd.DataFrame({"width": rng.normal(size=60) + kind, "height": rng.normal(size=60)})
    cells["Label"] = np.where(kind, "x", "z").astype(object)
    cells.loc[n_labeled:, "Label"] = None
    cells.index = cells.index[::-1] + 7
    return cells


ASKED = [
    pytest.param(lambda X, y: find_label_errors(X, y).errors, id="find_label_errors"),
    pytest.param(lambda X, y: learning_curve(X, y, model="k-nn", n_splits=2).mean, id="learning_curve"),
    pytest.param(lambda X, y: suggest(X, y, n=3, model="k-nn"), id="suggest"),
    pytest.param(lambda X, y: ActiveLearner(X, y, "k-nn").next(3), id="ActiveLearner"),
]


@pytest.mark.parametrize("asked", ASKED)
def test_labels_may_be_a_column_of_the_frame(asked):
    cells = table(n_labeled=40)
    apart = asked(cells[["width", "height"]], cells["Label"])
    assert asked(cells, "Label") == apart
    assert asked(cells, cells["Label"]) == apart, "a series that is a column of the frame is no feature"
    assert asked(cells, cells["Label"].to_numpy()) == apart, "a column that is filled only where there is a label"
    assert asked(as_frame(cells), "Label") == apart
    assert asked(as_frame(cells).to_dict(as_series=False), "Label") == apart


def test_a_series_that_is_a_column_of_the_frame_is_no_feature_of_fit():
    cells = table()
    assert list(labeled_table(cells, cells["Label"]).kinds) == ["width", "height"]
    other = cells["Label"].replace({"x": "z", "z": "x"}).sample(frac=1, random_state=0)
    assert "Label" in labeled_table(cells, other).kinds, "of the same name, but other cells"


@pytest.mark.parametrize("asked", [handful.fit, handful.compare, suggest, find_label_errors, learning_curve])
def test_what_is_wrong_with_rows_is_told_in_one_sentence(asked):
    cells = table()
    for empty, labels in [(cells.head(0), "Label"), (np.zeros((0, 2)), []), ([], []), (pl.DataFrame({"a": []}), [])]:
        with pytest.raises(DataError, match=r"[Aa]t least one row is needed"):
            asked(empty, labels)
    with pytest.raises(ParameterError, match="Did you mean 'Label'"):
        asked(cells, "label")
    with pytest.raises(ParameterError, match=r"Only data frames have columns with names|no column 'Label'"):
        asked([[1.0], [2.0]], "Label")
    with pytest.raises(DataError, match=r"no column to learn from\. Column 'same' is left out"):
        asked(pd.DataFrame({"same": ["a"] * 20}), ["p", "q"] * 8 + [None] * 4)
