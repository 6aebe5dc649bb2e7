from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from cli_run import run
from sklearn.datasets import load_iris, load_wine

import handful
from handful.comparison.condense import condense_model
from handful.errors import ModelFileError, ParameterError
from handful.models.condensed_rows import CondensedModel, NearestRows, _choose
from handful.models.inspection import inspect_model
from handful.models.table_model import TableModel


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    few = np.where(np.random.default_rng(0).permutation(len(y)) < 40, y, -1)
    model = TableModel("logistic-regression").fit(X, few)
    return X, few, model


def test_few_rows_predict_what_the_model_predicts(wine):
    X, few, model = wine
    small = condense_model(model, X, few, n_rows=20)
    assert (small.predict(X) == model.predict(X)).mean() > 0.95
    fidelity, estimate = small.training_["fidelity"], small.training_["estimate"]
    assert fidelity["n"] == len(X)
    assert estimate["n"] == (few >= 0).sum()
    assert fidelity["low"] < fidelity["value"] < fidelity["high"]
    assert small.covers_.sum() == len(X)
    assert small.cells_["x0"] == [str(X[row, 0]) for row in small.kept_]


def test_every_kept_row_predicts_itself_and_every_class_has_one(wine):
    X, _, model = wine
    small = CondensedModel(5).fit(X, model.predict(X))
    assert (small.predict(X[small.kept_]) == model.predict(X)[small.kept_]).all()
    assert set(small.rows()["prediction"]) == {"0", "1", "2"}


def test_auto_takes_no_more_rows_than_needed():
    X = np.r_[np.zeros((50, 1)), np.ones((50, 1))] + np.random.default_rng(0).normal(0, 0.05, (100, 1))
    y = np.repeat(["a", "b"], 50)
    small = condense_model(TableModel("k-nn").fit(X, y), X, y, n_rows="auto")
    assert len(small.kept_) == 2
    assert small.training_["fidelity"]["value"] == 1.0


def test_rows_are_added_greedily_to_the_medoids():
    distances = np.abs(
        np.subtract.outer([0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 4.9], [0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 4.9])
    )
    codes = np.array([0, 0, 0, 1, 1, 1, 1])
    assert _choose(distances, codes, np.arange(7), 3) == [1, 3, 6]


def test_more_rows_extend_the_choice(wine):
    X, _, model = wine
    predictions = model.predict(X)
    assert NearestRows(30).fit(X, predictions).kept_[:10].tolist() == NearestRows(10).fit(X, predictions).kept_.tolist()


def test_a_saved_model_predicts_and_explains_alike(wine, tmp_path):
    X, few, model = wine
    small = condense_model(model, X, few, n_rows=12)
    handful.save(small, tmp_path / "small.handful")
    again = handful.load(tmp_path / "small.handful")
    assert (again.predict_proba(X) == small.predict_proba(X)).all()
    explanation = again.explain(X[small.kept_[3]])
    assert (explanation.near[0].row, explanation.near[0].distance) == (small.kept_[3], pytest.approx(0, abs=1e-6))
    assert explanation.near[0].cells["x1"] == str(X[small.kept_[3], 1])


def test_importances_that_rounding_leaves_below_zero_count_as_zero(monkeypatch):
    from sklearn.ensemble import ExtraTreesClassifier

    monkeypatch.setattr(ExtraTreesClassifier, "feature_importances_", np.array([1.0, -1e-17]))
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert np.isfinite(NearestRows(2).fit(X, X[:, 0] > 0).rows_).all()


def test_texts_are_scored_by_models_that_forget_words(monkeypatch):
    texts = ["cheap pills now", "buy cheap pills", "meeting at noon", "noon meeting moved"] * 10
    model = TableModel("complement-nb", text="words").fit(texts, ["spam", "spam", "ham", "ham"] * 10)
    monkeypatch.setattr(CondensedModel, "predict", lambda self, X: np.full(len(X), "spam", dtype=object))
    assert condense_model(model, texts, n_rows=4).training_["fidelity"]["value"] == 0.5


def test_texts_keep_the_words_of_their_rows_alone():
    texts = ["cheap pills now", "buy cheap pills", "meeting at noon", "noon meeting moved"] * 15
    small = CondensedModel(2).fit(texts, ["spam", "spam", "ham", "ham"] * 15)
    words = set(small.columns_["text"]["words"])
    assert words <= {
        word
        for row in small.cells_["text"]
        for word in [*row.split(), *map(" ".join, zip(row.split(), row.split()[1:], strict=False))]
    }
    assert small.predict(["pills, cheap!", "a meeting"]).tolist() == ["spam", "ham"]


def test_labels_that_score_the_rows_were_not_seen():
    X = np.random.default_rng(0).normal(size=(200, 5))
    noise = np.random.default_rng(1).integers(0, 2, 200)
    small = condense_model(TableModel("k-nn").fit(X, noise), X, noise, n_rows=60)
    assert small.training_["estimate"]["low"] < 0.5 < small.training_["estimate"]["high"]


def test_fewer_rows_than_classes_and_condensed_models_are_refused(wine):
    X, few, model = wine
    with pytest.raises(ParameterError, match="at least 3"):
        condense_model(model, X, few, n_rows=2)
    with pytest.raises(ParameterError, match="condensed already"):
        condense_model(CondensedModel(3).fit(X, model.predict(X)), X)


@pytest.fixture
def files(tmp_path, capsys):
    X, y = load_iris(return_X_y=True)
    label = [None if row % 3 else f"kind {code}" for row, code in enumerate(y)]
    pl.DataFrame({**dict(zip("abcd", X.T, strict=False)), "label": label}).write_csv(tmp_path / "iris.csv")
    run(capsys, "fit", tmp_path / "iris.csv", "--target", "label", "--method", "shrunk-lda")
    return tmp_path / "iris.handful", tmp_path / "iris.csv"


def test_the_command_writes_a_model_and_a_table_of_rows(files, tmp_path, capsys):
    model, data = files
    code, out, _ = run(capsys, "condense", model, data, "--rows", 8, "--yes", "--json", "-o", tmp_path / "rows.csv")
    facts = json.loads(out)
    assert (code, facts["n_rows"], facts["fidelity"]["n"]) == (0, 8, 150)
    rows, cells = pl.read_csv(tmp_path / "rows.csv"), pl.read_csv(data)
    assert rows["a"].to_list() == cells["a"].gather(rows["row"] - 1).to_list()
    code, out, _ = run(capsys, "predict", tmp_path / "iris-condensed.handful", data)
    assert code == 0
    assert out.count("kind 0") > 40
    code, out, _ = run(capsys, "explain", tmp_path / "iris-condensed.handful", data, "--row", rows["row"][0])
    assert f"near training row {rows['row'][0]}" in out


def test_fewer_rows_than_asked_for_are_a_notice(files, tmp_path, capsys):
    small = tmp_path / "small.handful"
    code, out, err = run(capsys, "condense", *files, "--rows", 500, "--yes", "--json", "-o", small)
    assert (code, json.loads(out)["n_rows"]) == (0, 120)
    assert "--rows: 120 rows kept, not 500." in err
    code, _, err = run(capsys, "condense", small, files[1], "--yes")
    assert (code, err) == (2, f"handful: {small}: condensed already. Condense the model that it was made from.\n")
    assert "--rows: " not in run(capsys, "condense", *files, "--rows", 8, "--yes", "-o", small)[2]


def test_too_few_rows_are_one_sentence(files, tmp_path, capsys):
    (tmp_path / "few.csv").write_text("a,b,c,d\n" + "1,2,3,4\n" * 4)
    code, _, err = run(capsys, "condense", files[0], tmp_path / "few.csv", "--yes")
    assert (code, err.splitlines()[-1]) == (1, "handful: 4 rows are too few; 5 are needed. Add rows.")


def test_long_texts_are_cut_in_the_printed_rows(tmp_path, capsys):
    lines = [f"{row % 7},{'fine' if row % 2 else 'poor'} {'and so on ' * 9},{'ab'[row % 2]}" for row in range(30)]
    (tmp_path / "notes.csv").write_text("\n".join(["x,note,label", *lines]) + "\n")
    columns = ("--columns", "x=numeric,note=text")
    fit = ("fit", tmp_path / "notes.csv", "--target", "label", "--method", "nearest-centroid", *columns)
    assert run(capsys, *fit)[0] == 0
    condense = ("condense", tmp_path / "notes.handful", tmp_path / "notes.csv", "--rows", 4, "--yes")
    code, out, _ = run(capsys, *condense)
    assert (code, out.count("and so on")) == (0, 6)
    assert run(capsys, *condense, "-v")[1].count("and") > 20


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--yes"),
        (("--rows", "0", "--yes"), "--rows"),
        (("--rows", "2", "--yes"), "at least 3"),
        (("x.csv", "--yes"), "two files"),
    ],
)
def test_wrong_use_is_one_sentence(files, capsys, arguments, words):
    code, _, err = run(capsys, "condense", *files, *arguments)
    assert code != 0
    assert words in err


@pytest.mark.parametrize("content", ["a,b,label\n1,2,x\n", "a,b,c,d\n"])
def test_data_without_the_columns_or_rows_of_the_model_are_one_sentence(files, capsys, tmp_path, content):
    (tmp_path / "other.csv").write_text(content)
    code, _, err = run(capsys, "condense", files[0], tmp_path / "other.csv", "--yes")
    assert code == 1
    assert "other.csv: no " in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("labels_given", [True, False])
def test_confidence_is_limited_by_the_number_of_labels(wine, tmp_path, labels_given):
    X, few, model = wine
    small = condense_model(model, X, few if labels_given else None, n_rows=20)
    assert small.predict_proba(X).max() <= 41 / 42 + 1e-9
    assert small.n_labeled_ == 40
    handful.save(small, tmp_path / "small.handful")
    facts = inspect_model(tmp_path / "small.handful")
    assert facts["first of them"] == (small.kept_[:8] + 1).tolist()
    assert (facts["labeled rows"], facts["unlabeled rows"]) == (40, len(X) - 40 * labels_given)


def test_confidence_follows_held_out_labels():
    X = np.r_[np.zeros((100, 1)), np.ones((100, 1))] + np.random.default_rng(0).normal(0, 0.05, (200, 1))
    y = np.repeat([0, 1], 100)
    noisy = np.where(np.random.default_rng(1).random(200) < 0.3, 1 - y, y)
    small = condense_model(TableModel("logistic-regression").fit(X, noisy), X, noisy, n_rows=4)
    assert 0.6 < small.predict_with_confidence(X)[1].mean() < 0.8


def test_a_file_without_a_limit_of_confidence_gets_it_when_it_is_loaded(wine, tmp_path):
    X, few, model = wine
    small = condense_model(model, X, few, n_rows=6)
    small.confidence_ = None
    handful.save(small, tmp_path / "early.handful")
    n = small.n_labeled_
    assert handful.load(tmp_path / "early.handful").predict_proba(X).max() <= (n + 1) / (n + 2)


def test_a_file_whose_distances_would_overflow_is_refused(tmp_path):
    rows = NearestRows(2).fit(np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1])
    rows.rows_ = rows.rows_ * 1e300
    handful.save(rows, tmp_path / "far.handful")
    with pytest.raises(ModelFileError):
        handful.load(tmp_path / "far.handful")
