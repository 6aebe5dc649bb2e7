"""Labels may be a column of a data frame, in every function alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import handful
from handful.core.errors import DataError, ParameterError
from handful.experiment.problem import problem_of
from handful.features.frames import as_frame
from handful.labeling import LabelLoop, doubtful_labels, label_budget, next_rows


def table(n_labeled: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 60)
    cells = pd.DataFrame({"width": rng.normal(size=60) + kind, "height": rng.normal(size=60)})
    cells["Label"] = np.where(kind, "x", "z").astype(object)
    cells.loc[n_labeled:, "Label"] = None
    cells.index = cells.index[::-1] + 7
    return cells


ASKED = [
    pytest.param(lambda X, y: doubtful_labels(X, y).doubts, id="doubtful_labels"),
    pytest.param(lambda X, y: label_budget(X, y, n_draws=2).lines, id="label_budget"),
    pytest.param(lambda X, y: next_rows(X, y, n=3), id="next_rows"),
    pytest.param(lambda X, y: LabelLoop(X, y).next(3), id="LabelLoop"),
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
    assert list(problem_of(cells, cells["Label"]).kinds) == ["width", "height"]
    other = cells["Label"].replace({"x": "z", "z": "x"}).sample(frac=1, random_state=0)
    assert "Label" in problem_of(cells, other).kinds, "of the same name, but other cells"


@pytest.mark.parametrize("asked", [handful.fit, handful.compare, next_rows, doubtful_labels, label_budget])
def test_what_is_wrong_with_rows_is_told_in_one_sentence(asked):
    cells = table()
    for empty, labels in [(cells.head(0), "Label"), (np.zeros((0, 2)), []), ([], []), (pl.DataFrame({"a": []}), [])]:
        with pytest.raises(DataError, match=r"^\w+: at least one row is needed, got none\.$"):
            asked(empty, labels)
    with pytest.raises(ParameterError, match=r"y must name a column of X, got 'label'\. Did you mean 'Label'\?$"):
        asked(cells, "label")
    with pytest.raises(ParameterError, match=r"got .Label.\. Only data frames have columns with names"):
        asked([[1.0], [2.0]], "Label")
    with pytest.raises(DataError, match=r"must tell rows apart, got none: 'same' is left out: it has the same value"):
        asked(pd.DataFrame({"same": ["a"] * 20}), ["p", "q"] * 8 + [None] * 4)
