from __future__ import annotations

import csv
import gzip
import json
import re

import numpy as np
import polars as pl
import pytest
from cli_run import run

from handful.registry import METHODS

QUICK = {name: METHODS["table"][name] for name in ("k-nn", "logistic-regression", "self-training")}


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for i in range(120):
        low = i % 2 == 0
        color = "red" if low else "blue"
        lines.append(
            f'{rng.normal(0 if low else 5):.4f},{color},"a, {i % 7}",{("low" if low else "high") if i < 30 else ""}'
        )
    path = tmp_path / "rows.csv"
    path.write_text("size,color,note,label\n" + "\n".join(lines) + "\n")
    return path


def test_fit_predict_inspect(capsys, data, tmp_path):
    code, out, _ = run(capsys, "fit", "table", data, "--target", "label", "--method", "ordinal-knn", "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["method"], facts["labeled"], facts["unlabeled"]) == ("ordinal-knn", 30, 90)
    model = tmp_path / "rows.handful"
    assert facts["model"] == str(model)
    code, out, _err = run(capsys, "predict", model, data)
    rows = list(csv.DictReader(out.splitlines()))
    assert code == 0
    assert list(rows[0]) == ["size", "color", "note", "label", "predicted", "confidence"]
    assert np.mean([row["predicted"] == ("low" if i % 2 == 0 else "high") for i, row in enumerate(rows)]) > 0.95
    assert rows[40]["label"] == ""
    assert rows[3]["note"] == "a, 3"
    code, out, _ = run(capsys, "inspect", model, "--json")
    told = json.loads(out)
    assert code == 0
    assert told["method"] == "ordinal-knn"
    assert told["how it was trained"]["target"] == "label"
    assert sum(told["rows kept by class"].values()) == 120
    assert "numeric" in told["columns"]["size"]
    assert "ordinal-knn" in run(capsys, "inspect", model)[1]


def test_an_early_end_and_what_abstention_keeps_are_told(capsys, data):
    code, out, _ = run(capsys, "fit", data, "--target", "label", "--method", "k-nn", "--trials", "2")
    assert code == 0
    assert "2 of 5 splits" in out
    code, out, _ = run(capsys, "fit", data, "--target", "label", "--method", "k-nn", "--force", "--json")
    told = json.loads(out)["abstain"]
    assert told["coverage"] == told["n_kept"] / told["n_tested"]
    assert told["correct"] == told["n_correct"] / told["n_kept"]


@pytest.mark.parametrize(("n_high", "asked"), [(15, True), (60, False)])
def test_priors_are_asked_for_where_predictions_contradict_equal_numbers_of_labels(capsys, tmp_path, n_high, asked):
    sizes = np.random.default_rng(0).normal(size=120) + 5 * (np.arange(120) < n_high)
    labels = ["high"] * 12 + [""] * (n_high - 12) + ["low"] * 12 + [""] * (108 - n_high)
    data = tmp_path / "rows.csv"
    data.write_text(
        "size,label\n" + "\n".join(f"{size:.3f},{label}" for size, label in zip(sizes, labels, strict=True))
    )
    _, _, err = run(capsys, "fit", data, "--target", "label", "--method", "k-nn")
    shares = [float(share) for share in re.findall(r"=([0-9.]+)", err.partition("--class-priors")[2])]
    assert len(shares) == 2 * asked
    assert sum(shares) == pytest.approx(float(asked), abs=1e-9)


def test_cells_that_are_no_numbers_are_told(capsys, data, tmp_path):
    run(capsys, "fit", "table", data, "--target", "label", "--method", "k-nn")
    other = tmp_path / "other.csv"
    other.write_text("size,color,note\n1.5,red,a\nn/k,red,a\n,blue,a\n")
    code, out, err = run(capsys, "predict", tmp_path / "rows.handful", other)
    assert code == 0
    assert len(out.splitlines()) == 4
    assert "'size' (1 of 2)" in err


def test_a_column_of_another_name_is_pointed_at(capsys, data, tmp_path):
    run(capsys, "fit", "table", data, "--target", "label", "--method", "k-nn")
    other = tmp_path / "other.csv"
    other.write_text("Size,color,note\n1.5,red,a\n")
    code, out, err = run(capsys, "predict", tmp_path / "rows.handful", other)
    assert (code, out) == (1, "")
    assert "'size'" in err
    assert "'Size'" in err


def test_empty_rows_are_told(capsys, data, tmp_path):
    run(capsys, "fit", "table", data, "--target", "label", "--method", "k-nn")
    other = tmp_path / "other.csv"
    other.write_text("size,color,note,more\n1.5,red,a,b\n,,,b\n ,,,\n")
    code, out, err = run(capsys, "predict", tmp_path / "rows.handful", other)
    assert code == 0
    assert len(out.splitlines()) == 4
    assert err.startswith(f"{other}: 2 rows empty")


def test_without_a_kind_a_table_is_meant(capsys, data, tmp_path):
    options = ("--method", "k-nn", "-o", tmp_path / "m.handful", "--json")
    code, out, _ = run(capsys, "fit", data, "--target", "label", *options)
    assert (code, json.loads(out)["method"]) == (0, "k-nn")


def test_class_priors_are_taken(capsys, data, tmp_path):
    options = ("--target", "label", "--method", "logistic-regression", "-o", tmp_path / "m.handful")
    code, _, _ = run(capsys, "fit", data, *options, "--class-priors", "high=0.001,low=0.999")
    assert code == 0
    _, out, _ = run(capsys, "predict", tmp_path / "m.handful", data)
    assert sum(row["predicted"] == "high" for row in csv.DictReader(out.splitlines())) < 60


def test_labels_that_are_kept_or_mean_none_are_checked(capsys, data):
    options = ("fit", data, "--target", "label", "--method", "k-nn")
    code, _, err = run(capsys, *options, "--keep-label", "low", "--missing-label", "low")
    assert (code, "'low' is in both" in err) == (2, True)
    code, _, err = run(capsys, *options, "--keep-label", "Low", "--missing-label", "zzz")
    assert code == 0
    assert "No cell of 'label' is 'zzz'." in err
    assert "Did you mean 'low'?" in err


def test_a_metric_reaches_a_method_that_was_named(capsys, data, tmp_path):
    options = ("--target", "label", "--metric", "balanced_accuracy", "--json", "-o", tmp_path / "m.handful")
    code, out, _ = run(capsys, "fit", data, *options, "--method", "ensemble")
    assert (code, json.loads(out)["params"]["balance"]) == (0, 0.75)
    code, out, _err = run(capsys, "fit", data, *options, "--method", "k-nn")
    assert (code, json.loads(out)["estimate"]["metric"]) == (0, "balanced_accuracy")


def test_a_few_unlabeled_rows_tell_nothing_of_the_shares(capsys, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(12)) + "3,\n")
    code, _, err = run(capsys, "fit", path, "--target", "y", "--method", "k-nn")
    assert code == 0
    assert "--class-priors" not in err


def test_answers_keep_the_separator_and_decimal_commas_of_the_data(capsys, tmp_path):
    rows = [f"{1 + i % 2}.{i:03},5;{'low' if i % 2 == 0 else 'high'}" for i in range(40)]
    data, model, answers = tmp_path / "rows.csv", tmp_path / "m.handful", tmp_path / "answers.csv"
    data.write_text("sum;label\n" + "\n".join(rows) + "\n")
    run(capsys, "fit", data, "--target", "label", "--method", "logistic-regression", "-o", model)
    assert run(capsys, "predict", model, data, "-o", answers)[0] == 0
    header, *lines = answers.read_text().splitlines()
    assert header == "sum;label;predicted;confidence"
    assert [line.rsplit(";", 2)[0] for line in lines] == rows


def test_the_unsure_are_left_blank(capsys, data, tmp_path):
    run(capsys, "fit", data, "--target", "label", "--method", "logistic-regression", "-o", tmp_path / "m.handful")
    target = tmp_path / "out.jsonl.gz"
    code, out, _err = run(
        capsys, "predict", tmp_path / "m.handful", data, "-o", target, "--abstain", "0.95", "--column", "answer"
    )
    assert (code, out) == (0, "")
    rows = [json.loads(line) for line in gzip.decompress(target.read_bytes()).decode().splitlines()]
    assert all((row["answer"] is None) == (row["confidence"] < 0.95) for row in rows)
    n_blank = sum(row["answer"] is None for row in rows)
    assert 0 < n_blank < 120
    told = json.loads(run(capsys, "inspect", tmp_path / "m.handful", "--json")[1])
    assert told["top features"]["high"][0].split()[0] in ("size", "color=blue")


def test_every_format_gives_the_same_answers(capsys, data, tmp_path):
    run(
        capsys,
        "fit",
        data,
        "--target",
        "label",
        "--method",
        "k-nn",
        "--set",
        "n_neighbors=3",
        "-o",
        tmp_path / "m",
    )
    expected = [
        row["predicted"] for row in csv.DictReader(run(capsys, "predict", tmp_path / "m", data)[1].splitlines())
    ]
    frame = pl.read_csv(data)
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ndjson(tmp_path / "t.jsonl")
    frame.write_csv(tmp_path / "t.tsv", separator="\t")
    for name in ("t.parquet", "t.jsonl", "t.tsv"):
        code, _, _ = run(capsys, "predict", tmp_path / "m", tmp_path / name, "-o", tmp_path / "out.tsv")
        assert code == 0
        assert pl.read_csv(tmp_path / "out.tsv", separator="\t")["predicted"].to_list() == expected
    assert json.loads(run(capsys, "inspect", tmp_path / "m", "--json")[1])["parameters"]["n_neighbors"] == 3


def test_wrong_use_is_one_sentence(capsys, data, tmp_path):
    model = tmp_path / "m.handful"
    run(capsys, "fit", data, "--target", "label", "--method", "k-nn", "-o", model)
    other = tmp_path / "other.csv"
    other.write_text("size,label\n1,\n")
    clash = tmp_path / "clash.csv"
    clash.write_text("size,color,note,predicted\n1,red,a,b\n")
    for arguments, expected in [
        (("fit", data, "--target", "lable"), 2),
        (("fit", data, "--target", "label", "--method", "knn"), 2),
        (("fit", data), 2),
        (("fit", data, "--target", "label", "--method", "logistik"), 2),
        (("fit", data, "--target", "label", "--columns", "label=skip"), 2),
        (("next", data, "--target", "label", "--columns", "label=skip"), 2),
        (("fit", tmp_path / "none.csv", "--target", "label", "--minutes", "nan"), 2),
        (("fit", data, "--target", "label", "--trials", "many"), 2),
        (("fit", data, "--target", "label", "--method", "k-nn", "--with", "sklearn.svm:SVC"), 2),
        (("fit", data, "--target", "label", "--set", "k=3"), 2),
        (("fit", data, "--target", "label", "--class-priors", "high"), 2),
        (("fit", data, "--target", "label", "--class-priors", "high=0.3,low=x"), 2),
        (("fit", data, "--target", "label", "--class-priors", "high=0.3,low=0.3"), 2),
        (("fit", data, "--target", "label", "--class-priors", "high=0.3,l=0.7"), 2),
        (("predict", data, data), 1),
        (("predict", model, other), 1),
        (("predict", model, clash), 2),
        (("predict", model, data, "--confidence", "size"), 2),
        (("predict", model, data, "--column", "p", "--confidence", "p"), 2),
        (("predict", model, data, "--abstain", "80%"), 2),
        (("predict", model, data, "--abstain", "x%"), 2),
        (("condense", model, data, data), 2),
        (("predict", model, data, "-o", "x.pdf"), 2),
        (("predict", model, tmp_path / "none.csv"), 1),
        (("inspect", tmp_path / "none"), 1),
    ]:
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (expected, ""), arguments
        assert err.splitlines()[-1].startswith("handful: ")
        assert "Traceback" not in err


@pytest.mark.parametrize(
    ("method", "setting", "message"),
    [
        ("k-nn", "foo=3", "which has algorithm, leaf_size"),
        ("k-nn", "n_neighbours=3", "Did you mean 'n_neighbors'?"),
        ("k-nn", "n_neighbors=abc", "must be an int in the range [1, inf)"),
        ("k-nn", "n_neighbors=1000", "--set n_neighbors=1000: does not suit the data"),
        ("ordinal-knn", "n_neighbors=0", "n_neighbors must be an integer of at least 1"),
        ("svm-rbf", "C=-1", "C must be"),
    ],
)
def test_a_parameter_that_cannot_be_is_one_sentence_and_no_model(capsys, data, tmp_path, method, setting, message):
    code, _, err = run(capsys, "fit", "table", data, "--target", "label", "--method", method, "--set", setting)
    assert code == 2
    assert message in err
    assert "unexpected" not in err
    assert not (tmp_path / "rows.handful").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "Label"), "Did you mean 'label'?"),
        (("--target", "label", "--class-priors", "low=9,high=1"), "add up to 1"),
        (("--target", "label", "--columns", "sise=skip"), "'sise'"),
    ],
)
def test_what_names_something_that_is_not_there_is_wrong_use(capsys, data, options, message):
    code, _, err = run(capsys, "fit", "table", data, "--method", "k-nn", *options)
    assert code == 2
    assert message in err


def test_answers_on_a_scale_are_categories(tmp_path, capsys):
    path = tmp_path / "survey.csv"
    moods, colors = ("never", "rarely", "often"), ("red", "blue")
    rows = [f"{moods[i % 3]},{colors[i % 2]},{'low' if i % 3 == 0 else 'high' if i < 30 else ''}" for i in range(60)]
    path.write_text("\n".join(["mood,color,label", *rows]))
    model = tmp_path / "m.handful"
    assert run(capsys, "fit", path, "--target", "label", "--method", "k-nn", "-o", model)[0] == 0
    code, out, _ = run(capsys, "inspect", model, "--json")
    columns = json.loads(out)["columns"]
    assert code == 0
    assert columns["mood"].startswith("categorical, 3 values")
    assert columns["color"].startswith("categorical, 2 values")


def test_a_named_method_takes_the_limits_of_a_search(capsys, data, tmp_path):
    named = ("fit", data, "--target", "label", "--method", "k-nn", "-o", tmp_path / "m.handful", "--json")
    code, out, _err = run(capsys, *named, "--trials", 3, "--minutes", 1)
    assert (code, json.loads(out)["estimate"]["n_fits"]) == (0, 3)
    assert json.loads(run(capsys, *named)[1])["estimate"]["n_fits"] == 10


def test_one_row_that_is_tried_warns_of_nothing(capsys, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(
        "size,label\n" + "".join(f"{'inf' if i % 5 == 0 else i % 2 + i / 100},{'ab'[i % 2]}\n" for i in range(30))
    )
    code, _, err = run(capsys, "fit", path, "--target", "label", "--method", "logistic-regression")
    assert code == 0
    assert "warning" not in err


def test_a_table_without_rows_is_told(capsys, data, tmp_path):
    model, empty = tmp_path / "m.handful", tmp_path / "empty.csv"
    run(capsys, "fit", data, "--target", "label", "--method", "k-nn", "-o", model)
    empty.write_text("size,color,note\n")
    code, out, _err = run(capsys, "predict", model, empty)
    assert (code, out) == (0, "size,color,note,predicted,confidence\n")
