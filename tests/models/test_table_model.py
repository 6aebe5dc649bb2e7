from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest

import handful
from handful.comparison.trials import Limits
from handful.data.table import as_frame
from handful.errors import DataError, ModelFileError, ParameterError
from handful.models.table_model import TableModel
from handful.persistence.model_file import _read_parts
from handful.preprocessing.table_encoder import UnreadableWarning
from handful.registry import method_names


def rows(n: int = 60) -> tuple[pl.DataFrame, list[str | None], list[str]]:
    rng = np.random.default_rng(0)
    truth = ["low" if i % 2 else "high" for i in range(n)]
    size = [rng.normal(0 if label == "low" else 6) for label in truth]
    color = [("red" if label == "low" else "blue") if rng.random() < 0.9 else "green" for label in truth]
    frame = pl.DataFrame({"size": size, "color": color})
    return frame, [label if i < 14 else None for i, label in enumerate(truth)], truth


@pytest.mark.parametrize("name", method_names("table"))
def test_every_method_is_fitted_saved_and_loaded(name, tmp_path):
    frame, few, truth = rows()
    model = TableModel(name).fit(frame, few)
    assert np.mean(model.predict(frame) == truth) > 0.8
    labels, confidence = model.predict_with_confidence(frame)
    assert labels.tolist() == model.predict(frame).tolist()
    assert ((confidence >= 0) & (confidence <= 1)).all()
    shares = model.predict_proba(frame)
    assert shares.shape == (len(truth), 2)
    handful.save(model, tmp_path / "model.handful")
    again = handful.load(tmp_path / "model.handful")
    assert again.predict(frame).tolist() == model.predict(frame).tolist()
    assert np.array_equal(again.predict_proba(frame), shares)


@pytest.mark.parametrize("name", ["logistic-regression", "ensemble"])
def test_known_shares_of_the_classes_move_the_answers(name, tmp_path):
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(500) < 0.1, "rare", "common")
    frame = pl.DataFrame({"x": rng.normal(size=500) + (truth == "rare"), "y": rng.normal(size=500)})
    few = np.full(500, None, dtype=object)
    for label in ("rare", "common"):
        few[np.flatnonzero(truth == label)[:8]] = label
    params = {"n_trees": 10} if name == "ensemble" else {}
    models = {
        share: TableModel(name, params=params, shares={"common": 1 - share, "rare": share}).fit(frame, few)
        for share in (0.1, 0.5, 0.9)
    }
    answers = {share: model.predict(frame) for share, model in models.items()}
    n_rare = [(answers[share] == "rare").sum() for share in (0.1, 0.5, 0.9)]
    assert n_rare[0] < n_rare[1] < n_rare[2]
    assert np.mean(answers[0.1] == truth) > np.mean(answers[0.5] == truth) + 0.05
    told = models[0.1].calibrate(frame, few)
    assert told.predict(frame).tolist() == answers[0.1].tolist()
    handful.save(told, tmp_path / "model.handful")
    again = handful.load(tmp_path / "model.handful")
    assert again.predict(frame).tolist() == told.predict(frame).tolist()
    with pytest.raises(ParameterError, match="the classes are common, rare, got common, maybe"):
        TableModel(name, params=params, shares={"common": 0.9, "maybe": 0.1}).fit(frame, few)


def test_any_kind_of_rows_will_do():
    frame, few, _ = rows()
    model = TableModel("k-nn").fit(frame, few)
    expected = model.predict(frame).tolist()
    assert model.predict(frame.to_pandas()).tolist() == expected
    assert model.predict({name: frame[name].to_list() for name in frame.columns}).tolist() == expected
    assert model.predict(frame.with_columns(pl.all().cast(pl.String))).tolist() == expected
    assert model.predict(frame[:0]).tolist() == []
    assert as_frame(pd.DataFrame({"a": ["x", None], 3: [1, 2]})).columns == ["a", "3"]


def test_labels_only_means_labels_only():
    frame, few, _ = rows()
    alone = TableModel("label-spreading", use_unlabeled=False).fit(frame, few)
    assert (alone.n_labeled_, alone.n_unlabeled_) == (14, 0)
    assert TableModel("label-spreading").fit(frame, few).n_unlabeled_ == len(few) - 14


def test_wrong_use_is_told():
    frame, few, _ = rows()
    with pytest.raises(ParameterError, match="Did you mean 'ordinal-knn'"):
        TableModel("ordinal-kn").fit(frame, few)
    with pytest.raises(DataError, match="of one length"):
        TableModel().fit(frame, few[:-1])
    with pytest.raises(ModelFileError, match="must be fitted"):
        handful.save(TableModel(), "never.handful")
    with pytest.raises(DataError, match="no column 'size'"):
        TableModel().fit(frame, few).predict(frame.drop("size"))


def test_a_model_of_an_array_takes_a_frame_of_as_many_columns_and_no_other():
    X = np.array([[0.0, 1.0], [9.0, 8.0]] * 6)
    model = TableModel("k-nn").fit(X, ["a", "b"] * 6)
    assert model.predict(pd.DataFrame(X, columns=["width", "height"])).tolist() == ["a", "b"] * 6
    with pytest.raises(DataError, match="no column 'x0'"):
        model.predict(pd.DataFrame(X[:, :1], columns=["width"]))
    with pytest.raises(DataError, match="columns must have different names, got '0' twice"):
        as_frame(pd.DataFrame(X, columns=[0, 0]))


def test_a_list_of_texts_may_have_gaps_and_one_text_is_no_list():
    model = TableModel("logistic-regression").fit(
        ["good film", "bad film", None, float("nan")] * 4, ["+", "-", None, None] * 4
    )
    assert model.predict(["good film", None])[0] == "+"
    with pytest.raises(DataError, match=r"X: rows are needed, got one text. Give a list of texts: \[text\]."):
        model.predict("good film")


def test_a_pipeline_is_not_saved_but_told_the_way_out(tmp_path):
    from sklearn.pipeline import make_pipeline

    with pytest.raises(
        ModelFileError, match=r"Pipeline is not a method of handful.* TableModel\(NAME\).fit\(X, y\) can be saved"
    ):
        handful.save(make_pipeline("passthrough"), tmp_path / "m.handful")


def test_infinite_numbers_count_as_missing_and_are_told():
    frame, few, _ = rows()
    endless = frame.with_columns(size=pl.Series([np.inf, -np.inf, *frame["size"][2:]]))
    empty = frame.with_columns(size=pl.Series([None, None, *frame["size"][2:]]))
    told = r"count as missing: 'size' \(2 of 60\)"
    with pytest.warns(UnreadableWarning, match=told):
        model = TableModel("k-nn").fit(endless, few)
    plain = TableModel("k-nn").fit(empty, few)
    assert np.array_equal(model.predict_proba(empty), plain.predict_proba(empty))
    notes = handful.compare(endless, few, methods=["k-nn"], limits=Limits(splits=2)).report.notes
    assert notes[0].startswith("Column 'size' has 2 infinite numbers")


@pytest.mark.parametrize("ask", [TableModel.predict, TableModel.predict_proba])
def test_strings_for_numbers_are_told(ask):
    frame, few, _ = rows()
    model = TableModel("k-nn").fit(frame, few)
    with pytest.warns(UnreadableWarning, match=r"count as missing: 'size' \(60 of 60\)"):
        ask(model, frame.with_columns(size=pl.lit("large")))
    ask(model, frame.with_columns(size=pl.lit("NA")))  # a missing number is nothing odd


def test_an_array_has_no_names_of_columns():
    frame, few, truth = rows()
    model = TableModel("k-nn").fit(frame, few)
    told = r"trained on \('size', 'color'\), got rows without names of columns\. Give a data frame"
    for ask in (model.predict, model.predict_proba, model.predict_with_confidence, model.unread):
        with pytest.raises(DataError, match=told):
            ask(frame.to_numpy())
    assert np.mean(model.predict(frame.to_dict(as_series=False)) == truth) > 0.8


class _Letters:
    """Embeddings: a random projection of how often each pair of letters occurs."""

    def encode(self, texts):
        counts = np.zeros((len(texts), 1000))
        for row, text in enumerate(texts):
            np.add.at(counts[row], [(31 * ord(a) + ord(b)) % 1000 for a, b in pairwise(text)], 1)
        return counts @ np.random.default_rng(0).normal(size=(1000, 384))


def test_a_model_of_texts_with_many_classes_is_stored_in_few_bytes(tmp_path):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(540)]
    codes = np.arange(600) % 60
    texts = [" ".join([*rng.choice(words[:60], 4), *rng.choice(words[60 + 8 * code :][:8], 5)]) for code in codes]
    few = [f"class {code}" if row < 180 else None for row, code in enumerate(codes)]
    frame = pl.DataFrame({"text": texts})
    model = TableModel("ensemble", kinds={"text": "text"}, text=_Letters()).fit(frame, few)
    assert {"label-spreading-vectors", "label-spreading-lsa"} <= set(model.estimator_.members_)
    handful.save(model, tmp_path / "model.handful")
    again = handful.load(tmp_path / "model.handful")
    expected = model.predict_proba(frame)
    np.testing.assert_array_equal(again.predict_proba(frame), expected)

    arrays = _read_parts(tmp_path / "model.handful", 1 << 30)[2].values()
    n_bytes = {name: sum(array.nbytes for array in arrays if array.dtype == name) for name in ("f8", "f4", "i1")}
    n_words, n_letters = (len(model.columns_["text"][name]) for name in ("words", "letters"))
    in_graphs = 600 * (384 + 100 + 2 * 60)  # rows and shares of two graphs
    assert n_bytes["f4"] <= 4 * (in_graphs + 60 * n_words + 4 * (n_words + n_letters))
    assert n_bytes["i1"] <= (100 + 50) * (n_words + n_letters)
    assert n_bytes["f8"] < 1.2 * 8 * 60 * (384 + 100 + 50)  # logistic regression

    for name, member in zip(model.estimator_.members_, model.estimator_.estimators_, strict=True):
        if name.startswith("label-spreading"):
            view = model.estimator_._view(model._encoder.transform(frame), name.removeprefix("label-spreading-"))
            assert member.rows_.dtype == member.shares_.dtype == np.float32
            member.rows_ = np.asarray(view)[member_rows(member, view)]
    np.testing.assert_allclose(model.predict_proba(frame), expected, atol=1e-5)


def member_rows(graph, view):
    """Return which rows of a view a label graph holds."""
    from sklearn.neighbors import NearestNeighbors

    distance, place = NearestNeighbors(n_neighbors=1).fit(view).kneighbors(graph.rows_)
    assert distance.max() < 1e-6
    return place.ravel()
