from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from handful.data.columns import unread_cells
from handful.errors import DataError
from handful.preprocessing.table_encoder import TableEncoder, unread_notices


def test_scales_are_those_of_the_training_rows():
    train = pl.DataFrame({"x": [0.0, 10.0], "z": ["a", "b"]})
    encoder = TableEncoder.learn(train, {"x": "numeric", "z": "categorical"})
    new = pl.DataFrame({"z": ["c", None, "b"], "x": [20.0, None, 5.0]})
    found = encoder.transform(new)
    assert found[:, 0].tolist() == [3.0, 0.0, 0.0]
    assert found[:, 1:].round(3).tolist() == [[0, 0], [0, 0], [0, 0.707]]
    assert encoder.width == len(encoder.names) == found.shape[1]


def test_rows_that_differ_in_one_name_are_one_apart():
    frame = pl.DataFrame({"z": ["a", "b"]})
    rows = TableEncoder.learn(frame, {"z": "categorical"}).transform(frame)
    assert np.linalg.norm(rows[0] - rows[1]) == pytest.approx(1.0)


def test_unreadable_and_endless_numbers_become_the_mean():
    encoder = TableEncoder.learn(pl.DataFrame({"x": [1.0, 3.0]}), {"x": "numeric"})
    odd = pl.DataFrame({"x": ["abc", "inf", "", None, " 3 "]})
    assert encoder.transform(odd).ravel().tolist() == [0, 0, 0, 0, 1]
    assert unread_cells(odd, encoder.specs) == {"x": (2, 3)}
    huge = pl.DataFrame({"x": [1e300, -1e300, 1e300, -1e300]})
    scaled = TableEncoder.learn(huge, {"x": "numeric"}).transform(huge)
    assert np.abs(scaled).ravel().tolist() == pytest.approx([1.0] * 4)
    constant = pl.DataFrame({"x": [7.0, 7.0]})
    assert TableEncoder.learn(constant, {"x": "numeric"}).transform(constant).tolist() == [[0.0], [0.0]]


def test_text_is_weighted_words_of_length_one():
    frame = pl.DataFrame({"t": ["the dog barks", "the cat sleeps", "", None], "x": [1.0, 2.0, 3.0, 4.0]})
    encoder = TableEncoder.learn(frame, {"t": "text", "x": "numeric"})
    assert len(encoder.names) == encoder.width == 10
    assert {"t~dog", "t~the dog", "x"} <= set(encoder.names)
    rows = encoder.transform(frame)
    assert np.linalg.norm(rows[:, :-1], axis=1).tolist() == pytest.approx([1, 1, 0, 0])
    rare, common = (rows[0, encoder.names.index(name)] for name in ("t~dog", "t~the"))
    assert rare > common > 0  # a word of both sentences weighs less than a word of one
    unseen = encoder.transform(pl.DataFrame({"t": ["a bird"], "x": [1.0]}))
    assert not unseen[0, :-1].any()
    empty = TableEncoder.learn(pl.DataFrame({"t": ["- -", "!"]}), {"t": "text"})
    assert empty.transform(frame).shape == (4, 0)


def test_many_columns_are_sparse():
    texts = [" ".join(f"word{i * 20 + j}" for j in range(20)) for i in range(40)]
    frame = pl.DataFrame({"t": texts})
    rows = TableEncoder.learn(frame, {"t": "text"}).transform(frame)
    assert sparse.issparse(rows)
    assert rows.shape == (40, 40 * 39)


def test_words_without_weights_are_refused():
    with pytest.raises(DataError, match="must differ and have a weight each"):
        TableEncoder({"t": {"kind": "text", "words": ["a", "a"], "weights": np.ones(2)}})


def test_what_was_learned_can_be_carried_over():
    frame = pl.DataFrame({"x": [1.0, 3.0], "z": ["a", "b"]})
    encoder = TableEncoder.learn(frame, {"x": "numeric", "z": "categorical"})
    again = TableEncoder(encoder.state())
    assert np.array_equal(again.transform(frame), encoder.transform(frame))
    with pytest.raises(DataError, match="no column 'x', which the model was trained on"):
        again.transform(frame.drop("x"))


def test_numbers_keep_the_reading_that_they_were_learned_in():
    frame = pl.DataFrame({"price": ["1.000,5", "3.000,5", "?"]})
    encoder = TableEncoder.learn(frame, {"price": "numeric"})
    assert encoder.transform(frame)[:2].round(6).tolist() == [[-1.0], [1.0]]
    new = pl.DataFrame({"price": ["2.000,5"]})
    assert TableEncoder(encoder.state()).transform(new).round(6).tolist() == [[0.0]]


DAYS = ["2020-01-01", "2020-12-30", "2021-01-01", "2021-07-15", None]


def test_dates_become_elapsed_time_and_cycles():
    encoder = TableEncoder.learn(pl.DataFrame({"day": DAYS}), {"day": "datetime"})
    parts = ["elapsed", "year", "month sin", "month cos", "weekday sin", "weekday cos"]
    assert encoder.names == [f"day: {part}" for part in parts], "the hour of days never varies"
    matrix = encoder.transform(pl.DataFrame({"day": DAYS}))
    assert matrix[4].tolist() == [0.0] * 6, "a missing day is the mean"
    assert np.allclose(matrix[:4].mean(axis=0), 0)
    assert np.allclose(matrix[:4, :2].std(axis=0), 1)
    assert np.allclose(matrix[:4, 2:].std(axis=0), 1 / np.sqrt(2)), "sine and cosine count as one"
    again = TableEncoder(encoder.state()).transform(pl.DataFrame({"day": DAYS}))
    assert np.array_equal(matrix, again)
    clock = TableEncoder.learn(pl.DataFrame({"t": ["13:30", "23:50", "0:10"]}), {"t": "datetime"})
    assert clock.names == ["t: hour sin", "t: hour cos"]
    rows = clock.transform(pl.DataFrame({"t": ["23:50", "0:10", "12:00"]}))
    assert np.linalg.norm(rows[0] - rows[1]) < 0.5 * np.linalg.norm(rows[0] - rows[2]), "midnight has two sides"


def test_dates_are_compared_with_each_other():
    frame = pl.DataFrame(
        {"start": ["2020-01-01", "2020-03-01", "2020-06-01"], "end": ["2020-01-02", "2020-03-11", "2020-06-03"]}
    )
    encoder = TableEncoder.learn(frame, dict.fromkeys(frame.columns, "datetime"))
    lengths = encoder.transform(frame)[:, encoder.names.index("end: since start")]
    assert np.argsort(lengths).tolist() == [0, 2, 1]
    assert np.corrcoef(lengths, [1, 10, 2])[0, 1] == pytest.approx(1.0)


def test_nearly_identical_numbers_count_once():
    rng = np.random.default_rng(0)
    x, other = rng.normal(size=200), rng.normal(size=200)
    frame = pl.DataFrame({"a": x, "b": 2 * x + 1, "c": -x + 1e-4 * rng.normal(size=200), "d": other})
    spread = TableEncoder.learn(frame, dict.fromkeys("abcd", "numeric")).transform(frame).std(axis=0)
    assert spread == pytest.approx([1 / np.sqrt(3)] * 3 + [1.0], abs=1e-3)


def test_a_column_of_an_old_model_file_is_read_in_the_new_terms():
    dates = TableEncoder({"day": {"kind": "numeric", "form": "day first", "center": 18262.0, "scale": 31.0}})
    assert dates.transform(pl.DataFrame({"day": ["01/02/2020", "01.01.2020", None]})).tolist() == [[1.0], [0.0], [0.0]]
    commas = TableEncoder({"x": {"kind": "numeric", "form": "decimal comma", "center": 1.0, "scale": 0.5}})
    assert commas.transform(pl.DataFrame({"x": ["1,5"]})).tolist() == [[1.0]]
    scale = {
        "kind": "nominal",
        "values": ["often"],
        "steps": ["never", "often|frequently"],
        "center": 0.5,
        "scale": 0.5,
    }
    answers = pl.DataFrame({"how": ["Never", "often", "rarely"]})
    assert TableEncoder({"how": scale}).transform(answers)[:, 1].tolist() == [-0.5, 0.5, 0.0]
    with pytest.raises(DataError, match="units or ranges"):
        TableEncoder({"x": {"kind": "numeric", "form": "quantity", "unit": "kg", "center": 1.0, "scale": 0.5}})


def test_blanks_around_names_do_not_count():
    encoder = TableEncoder.learn(pl.DataFrame({"z": ["a", "b"]}), {"z": "categorical"})
    assert encoder.transform(pl.DataFrame({"z": [" a", "b ", " "]})).round(2).tolist() == [[0.71, 0], [0, 0.71], [0, 0]]
    assert encoder.get_feature_names_out().tolist() == ["z=a", "z=b"]


def test_a_missing_text_counts_as_a_text_without_the_word():
    frame = pl.DataFrame({"t": ["dog barks", None, "dog", None, "barks dog dog"]})
    words = TableEncoder.learn(frame, {"t": "text"}).state()["t"]
    weight = dict(zip(words["words"], words["weights"], strict=True))
    # log((1 + rows) / (1 + rows with the word)) + 1, the formula of scikit-learn's TfidfTransformer, over all five rows
    assert weight["dog"] == pytest.approx(np.log(6 / 4) + 1)
    assert weight["barks"] == pytest.approx(np.log(6 / 3) + 1)


def test_of_many_unreadable_columns_five_are_named():
    told = str(unread_notices({f"c{n}": (n, 20) for n in range(1, 8)})[0])
    assert told.endswith(
        "'c7' (7 of 20), 'c6' (6 of 20), 'c5' (5 of 20), 'c4' (4 of 20), 'c3' (3 of 20) and 2 more columns."
    )
