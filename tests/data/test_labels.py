from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.data.labels import encode_labels
from handful.errors import AmbiguousLabelsError, DataError


@pytest.mark.parametrize(
    ("y", "codes", "classes"),
    [
        ([0, 1, -1, 1], [0, 1, -1, 1], [0, 1]),
        (np.array([2, -1, 0]), [1, -1, 0], [0, 2]),
        (np.array([1.0, np.nan, 0.0]), [1, -1, 0], [0, 1]),
        (np.array([1.0, -1.0, 0.0]), [1, -1, 0], [0, 1]),
        ([None, "x", "y", float("nan")], [-1, 0, 1, -1], ["x", "y"]),
        (np.array(["b", "a"]), [1, 0], ["a", "b"]),
        (np.array(["-1", "1"]), [0, 1], ["-1", "1"]),
        ([True, False, None], [1, 0, -1], [False, True]),
        (pd.Series(["a", None, "b"]), [0, -1, 1], ["a", "b"]),
        (pd.Series([1, pd.NA, 0], dtype="Int64"), [1, -1, 0], [0, 1]),
        (pl.Series(["a", None]), [0, -1], ["a"]),
        (pl.Series([3, None, -1, 4]), [0, -1, -1, 1], [3, 4]),
        ([1, None, 2.0], [0, -1, 1], [1, 2]),
        (np.array([[1], [0]]), [1, 0], [0, 1]),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), [0, -1, 1], [1, 3]),
        (np.array([1, 0, 255], dtype=np.uint8), [1, 0, 2], [0, 1, 255]),
        ([-1, 0, 1], [-1, 0, 1], [0, 1]),
    ],
)
def test_what_counts_as_unlabeled(y, codes, classes):
    found = encode_labels(y)
    assert found.codes.tolist() == codes
    assert found.classes.tolist() == classes
    assert found.codes.dtype == np.int32


@pytest.mark.parametrize("y", [[-1, 1], np.array([1, -1, 1]), np.array([-1.0, 1.0, np.nan]), [None, -1, 1]])
def test_minus_one_and_plus_one_are_ambiguous(y):
    with pytest.raises(AmbiguousLabelsError, match="Rename the classes"):
        encode_labels(y)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([], "at least one row must have a label, got 0 rows"),
        ([None, None], "got 2 rows without any"),
        ([-1, -1, -1], "got 3 rows without any"),
        ([1, "a"], "labels must all be of one kind, got integer and string"),
        ([0.5, 1.0], "Unknown label type: labels must be classes, got the fraction 0.5"),
        ([float("inf"), 1.0], "must not be infinite"),
        (np.zeros((2, 2)), r"one dimension, got shape \(2, 2\)"),
        (5, "must be a sequence of labels, got int"),
        ("abc", "must be a sequence of labels, got str"),
        ({"a", "b"}, "must be a sequence of labels, got set"),
        ([1e300, 2e300, 1.0], "must stay below"),
        ([2**53 + 2, 0.0], "must stay below"),
        (np.array(["a", np.nan, "b"]), 'hold the text "nan"'),
        ([[1], [2]], "got list"),
        ([2**70, 1], "must fit into 64 bits"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "got datetime64"),
    ],
)
def test_bad_labels_have_their_sentence(y, sentence):
    with pytest.raises(DataError, match=sentence):
        encode_labels(y)


def test_one_class_is_refused_where_two_are_needed():
    with pytest.raises(DataError, match=r"Model: labels must hold at least 2 classes, got 1 class \(a\)"):
        encode_labels(["a", "a", None], who="Model", min_classes=2)


@given(
    st.lists(st.one_of(st.none(), st.text("ab1\n", min_size=1, max_size=3).filter(str.strip)), min_size=1).filter(any)
)
def test_decoding_gives_the_labels_back(y):
    found = encode_labels(y)
    assert found.decode(found.codes[found.labeled]).tolist() == [v for v in y if v is not None]
    assert [y[i] for i in found.unlabeled] == [None] * len(found.unlabeled)


@pytest.mark.parametrize("kind", [object, str])
def test_an_empty_string_is_no_label(kind):
    labels = encode_labels(np.array(["a", "", "b", " "], dtype=kind))
    assert labels.codes.tolist() == [0, -1, 1, -1]
