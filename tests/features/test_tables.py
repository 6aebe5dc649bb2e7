from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from handful.core.errors import DataError
from handful.features.scales import SCALES, find_scale
from handful.features.tables import TableEncoder, told_unreadable


def test_scales_are_those_of_the_training_rows():
    train = pl.DataFrame({"x": [0.0, 10.0], "z": ["a", "b"]})
    encoder = TableEncoder.learn(train, {"x": "numeric", "z": "nominal"})
    new = pl.DataFrame({"z": ["c", None, "b"], "x": [20.0, None, 5.0]})
    found = encoder.transform(new)
    assert found[:, 0].tolist() == [3.0, 0.0, 0.0]
    assert found[:, 1:].round(3).tolist() == [[0, 0], [0, 0], [0, 0.707]]
    assert encoder.width == len(encoder.names) == found.shape[1]


def test_rows_that_differ_in_one_name_are_one_apart():
    frame = pl.DataFrame({"z": ["a", "b"]})
    rows = TableEncoder.learn(frame, {"z": "nominal"}).transform(frame)
    assert np.linalg.norm(rows[0] - rows[1]) == pytest.approx(1.0)


def test_unreadable_and_endless_numbers_become_the_mean():
    encoder = TableEncoder.learn(pl.DataFrame({"x": [1.0, 3.0]}), {"x": "numeric"})
    odd = pl.DataFrame({"x": ["abc", "inf", "", None, " 3 "]})
    assert encoder.transform(odd).ravel().tolist() == [0, 0, 0, 0, 1]
    assert encoder.unreadable(odd) == {"x": 2}
    assert encoder.unreadable(pl.DataFrame({"x": [1.0, float("nan"), None, float("inf")]})) == {"x": 1}
    assert encoder.unreadable(pl.DataFrame({"x": [1, 2]})) == {}
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
    encoder = TableEncoder.learn(frame, {"x": "numeric", "z": "nominal"})
    again = TableEncoder(encoder.state())
    assert np.array_equal(again.transform(frame), encoder.transform(frame))
    with pytest.raises(DataError, match="got none named 'x'"):
        again.transform(frame.drop("x"))


def test_numbers_keep_the_form_that_they_were_learned_in():
    frame = pl.DataFrame({"price": ["$1,000", "$3,000", "?"], "day": ["31/01/2020", "01/02/2020", None]})
    encoder = TableEncoder.learn(frame, {"price": "numeric", "day": "numeric"})
    assert encoder.transform(frame)[:2].round(6).tolist() == [[-1.0, -1.0], [1.0, 1.0]]
    # Alone, the day could as well be the second of January.
    new = pl.DataFrame({"price": ["$2,000"], "day": ["01/02/2020"]})
    assert TableEncoder(encoder.state()).transform(new).round(6).tolist() == [[0.0, 1.0]]
    assert encoder.unreadable(pl.DataFrame({"price": ["cheap", "n/a"], "day": ["soon", ""]})) == {"price": 1, "day": 1}


def test_blanks_around_names_do_not_count():
    encoder = TableEncoder.learn(pl.DataFrame({"z": ["a", "b"]}), {"z": "nominal"})
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
    told = told_unreadable({f"c{n}": n for n in range(1, 8)}, 9)
    assert told.endswith(
        "missing: 'c7' (7 of 9), 'c6' (6 of 9), 'c5' (5 of 9), 'c4' (4 of 9), 'c3' (3 of 9) and 2 more columns."
    )


def test_answers_on_a_scale_have_their_place_beside_them():
    answers = ["Never", "often", "sometimes", None, "always", "don't know"]
    frame = pl.DataFrame({"how": answers, "what": ["a", "b", "c", "a", "b", "c"]})
    encoder = TableEncoder.learn(frame, {"how": "nominal", "what": "nominal"})
    place = encoder.names.index("how on its scale")
    assert encoder.names[encoder.places("how")[-1]] == "how on its scale"
    assert sum("on its scale" in name for name in encoder.names) == 1
    column = encoder.transform(frame)[:, place]
    assert np.argsort(column[[0, 2, 1, 4]]).tolist() == [0, 1, 2, 3]
    assert column[[3, 5]].tolist() == [0.0, 0.0], "no answer is the mean"
    assert encoder.transform(frame).shape == (6, encoder.width)
    again = TableEncoder(encoder.state()).transform(pl.DataFrame({"how": ["ALWAYS", "new"], "what": ["a", "a"]}))
    assert again[:, place].tolist() == [column[4], 0.0]
    wide = frame.with_columns(**{f"n{i}": pl.Series(range(6)) for i in range(1_000)})
    encoder = TableEncoder.learn(
        wide, {name: "nominal" if name in ("how", "what") else "numeric" for name in wide.columns}
    )
    assert encoder.transform(wide).toarray()[:, encoder.names.index("how on its scale")].tolist() == column.tolist()


def test_a_scale_is_taken_by_a_whole_column_of_three_steps_or_more():
    assert find_scale(["Strongly disagree", "agree", "Neutral"]) is not None
    assert find_scale(["sehr gut", "gut", "Befriedigend"])[-1] == "sehr gut"
    assert find_scale(["jamais", "souvent", "toujours"]) == ("jamais", "souvent", "toujours")
    for values in (
        ["low", "high"],
        ["low", "medium", "high", "blue"],
        ["good", "fine", "bad"],
        ["poor", "bad", "good"],
        [],
    ):
        assert find_scale(values) is None, values
    for steps in SCALES:
        assert find_scale([step.split("|")[-1] for step in steps]) == steps
