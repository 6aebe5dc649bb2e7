from __future__ import annotations

import csv
import gzip
import json
import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from handful.cli import main
from handful.cli.fit_table import _percents, _surest
from handful.methods import CATALOGUE

QUICK = {name: CATALOGUE["table"][name] for name in ("k-nn", "logistic-regression", "self-training")}


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as done:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return done.value.code, out, err


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
    code, out, err = run(capsys, "predict", model, data)
    rows = list(csv.DictReader(out.splitlines()))
    assert code == 0
    assert list(rows[0]) == ["size", "color", "note", "label", "predicted", "confidence"]
    assert np.mean([row["predicted"] == ("low" if i % 2 == 0 else "high") for i, row in enumerate(rows)]) > 0.95
    assert rows[40]["label"] == ""
    assert rows[3]["note"] == "a, 3"
    assert "120 rows answered" in err
    code, out, _ = run(capsys, "inspect", model, "--json")
    told = json.loads(out)
    assert code == 0
    assert told["method"] == "ordinal-knn"
    assert told["how it was trained"]["target"] == "label"
    assert sum(told["rows kept by class"].values()) == 120
    assert "numeric" in told["columns"]["size"]
    assert "ordinal-knn" in run(capsys, "inspect", model)[1]


def test_cells_that_are_no_numbers_are_told(capsys, data, tmp_path):
    run(capsys, "fit", "table", data, "--target", "label", "--method", "k-nn")
    other = tmp_path / "other.csv"
    other.write_text("size,color,note\n1.5,red,a\nn/k,red,a\n,blue,a\n")
    code, out, err = run(capsys, "predict", tmp_path / "rows.handful", other)
    assert code == 0
    assert len(out.splitlines()) == 4
    assert "cells of numeric columns that are no numbers, or infinite, count as missing: 'size' (1 of " in err


def test_a_column_of_another_name_is_pointed_at(capsys, data, tmp_path):
    run(capsys, "fit", "table", data, "--target", "label", "--method", "k-nn")
    other = tmp_path / "other.csv"
    other.write_text("Size,color,note\n1.5,red,a\n")
    code, _, err = run(capsys, "predict", tmp_path / "rows.handful", other)
    assert code == 1
    assert err.endswith("got none named 'size'. Is 'size' called 'Size' there?\n")


def test_empty_rows_are_told(capsys, data, tmp_path):
    run(capsys, "fit", "table", data, "--target", "label", "--method", "k-nn")
    other = tmp_path / "other.csv"
    other.write_text("size,color,note,more\n1.5,red,a,b\n,,,b\n ,,,\n")
    code, out, err = run(capsys, "predict", tmp_path / "rows.handful", other)
    assert code == 0
    assert len(out.splitlines()) == 4
    assert "2 rows are empty in every column that the model reads; what it answers there means nothing." in err


def test_without_a_kind_a_table_is_meant_and_the_winner_is_fitted(capsys, data, tmp_path, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "table", QUICK)
    options = ("--model", tmp_path / "m.handful", "--jobs", "1")
    code, out, err = run(capsys, "fit", data, "--target", "label", *options)
    assert code == 0
    chosen = err.rsplit("Best bet: ", 1)[1].split(",")[0]
    assert out.startswith(chosen)
    assert re.search(r"and the model \d+\.\d kB of memory\.", err)
    assert re.search(r"m\.handful \(\d+\.\d kB on disk\)\n", out)
    assert run(capsys, "fit", "--help")[0] == 0


def test_shares_of_the_classes_are_asked_for_and_taken(capsys, data, tmp_path):
    options = ("--target", "label", "--method", "logistic-regression", "--model", tmp_path / "m.handful")
    _, _, err = run(capsys, "fit", data, *options)
    assert "Labels look picked class by class" in err
    assert "(2 of 2 classes have 15 each)" in err
    suggested = err.split("--shares ")[1].split()[0]
    told = re.findall(r"(\d+)% are answered (\w+)", err)
    assert suggested == ",".join(f"{name}={int(percent) / 100:.2f}" for percent, name in told)
    assert suggested.startswith("high=0.")
    assert sum(float(part.split("=")[1]) for part in suggested.split(",")) == pytest.approx(1)
    assert run(capsys, "fit", data, *options, "--shares", suggested)[0] == 0
    code, _, err = run(capsys, "fit", data, *options, "--shares", "high=0.001,low=0.999")
    assert code == 0
    assert "picked class by class" not in err
    _, out, _ = run(capsys, "predict", tmp_path / "m.handful", data)
    assert sum(row["predicted"] == "high" for row in csv.DictReader(out.splitlines())) < 60


@pytest.mark.parametrize(
    ("shares", "percents"),
    [
        ((0.5755, 0.4245), (58, 42)),
        ((0.574, 0.426), (57, 43)),
        ((1 / 3, 1 / 3, 1 / 3), (34, 33, 33)),
        ((0.29, 0.71), (29, 71)),
        ((0.0, 1.0), (1, 99)),
        ((0.0, 0.384, 0.236, 0.38), (1, 38, 23, 38)),
    ],
)
def test_whole_percents_add_up(shares, percents):
    found = _percents({str(place): share for place, share in enumerate(shares)})
    assert tuple(found.values()) == percents


def test_labels_that_are_kept_or_mean_none_are_checked(capsys, data):
    options = ("fit", data, "--target", "label", "--method", "k-nn")
    code, _, err = run(capsys, *options, "--keep-label", "low", "--unlabeled-mark", "low")
    assert code == 2
    assert "'low' must be in one of them, got it in both" in err
    code, _, err = run(capsys, *options, "--keep-label", "Low", "--unlabeled-mark", "zzz")
    assert code == 0
    assert "No cell of 'label' is 'Low', which --keep-label names. Did you mean 'low'?" in err
    assert "No cell of 'label' is 'zzz', which --unlabeled-mark names." in err


def test_a_metric_reaches_a_method_that_was_named(capsys, data, tmp_path):
    options = ("--target", "label", "--metric", "balanced accuracy", "--json", "--model", tmp_path / "m.handful")
    code, out, err = run(capsys, "fit", data, *options, "--method", "team")
    assert (code, json.loads(out)["params"]["balance"], "--metric is not used" in err) == (0, 0.75, False)
    code, out, err = run(capsys, "fit", data, *options, "--method", "k-nn")
    assert (code, "--metric is not used" in err) == (0, True)


def test_a_few_unlabeled_rows_tell_nothing_of_the_shares(capsys, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(12)) + "3,\n")
    code, _, err = run(capsys, "fit", path, "--target", "y", "--method", "k-nn")
    assert code == 0
    assert "--shares" not in err


def test_answers_keep_the_separator_and_decimal_commas_of_the_data(capsys, tmp_path):
    rows = [f"{1 + i % 2}.{i:03},5;{'low' if i % 2 == 0 else 'high'}" for i in range(40)]
    data, model, answers = tmp_path / "rows.csv", tmp_path / "m.handful", tmp_path / "answers.csv"
    data.write_text("sum;label\n" + "\n".join(rows) + "\n")
    run(capsys, "fit", data, "--target", "label", "--method", "logistic-regression", "--model", model)
    assert run(capsys, "predict", model, data, "-o", answers)[0] == 0
    header, *lines = answers.read_text().splitlines()
    assert header == "sum;label;predicted;confidence"
    assert [line.rsplit(";", 2)[0] for line in lines] == rows
    assert all(re.fullmatch(r"[01],\d+", line.rsplit(";", 1)[1]) for line in lines)


def test_the_unsure_are_left_blank(capsys, data, tmp_path):
    run(capsys, "fit", data, "--target", "label", "--method", "logistic-regression", "--model", tmp_path / "m.handful")
    target = tmp_path / "out.jsonl.gz"
    code, out, err = run(
        capsys, "predict", tmp_path / "m.handful", data, "-o", target, "--abstain", "0.95", "--column", "answer"
    )
    assert (code, out) == (0, "")
    rows = [json.loads(line) for line in gzip.decompress(target.read_bytes()).decode().splitlines()]
    assert all((row["answer"] is None) == (row["confidence"] < 0.95) for row in rows)
    n_blank = sum(row["answer"] is None for row in rows)
    assert 0 < n_blank < 120
    assert f"{len(rows) - n_blank} of {len(rows)} rows answered, {n_blank} left blank" in err
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
        "--model",
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
    run(capsys, "fit", data, "--target", "label", "--method", "k-nn", "--model", model)
    other = tmp_path / "other.csv"
    other.write_text("size,label\n1,\n")
    clash = tmp_path / "clash.csv"
    clash.write_text("size,color,note,predicted\n1,red,a,b\n")
    for arguments, expected, message in [
        (("fit", data, "--target", "lable"), 2, "Did you mean 'label'"),
        (("fit", data, "--target", "label", "--method", "knn"), 2, "Did you mean"),
        (("fit", data), 2, "Missing option '--target'"),
        (("fit", data, "--target", "label", "--method", "logistik"), 2, "Did you mean 'logistic-regression'?"),
        (("fit", data, "--target", "label", "--columns", "label=skip"), 2, "the column of labels cannot be skipped"),
        (("next", data, "--target", "label", "--columns", "label=skip"), 2, "the column of labels cannot be skipped"),
        (("fit", tmp_path / "none.csv", "--target", "label", "--minutes", "nan"), 2, "'nan' is not a valid number"),
        (("fit", data, "--target", "label", "--trials", "many"), 2, "'many' is not a valid integer"),
        (("fit", data, "--target", "label", "--method", "k-nn", "--with", "sklearn.svm:SVC"), 2, "--with and --method"),
        (("fit", data, "--target", "label", "--set", "k=3"), 2, "--set needs --method"),
        (("fit", data, "--target", "label", "--shares", "high"), 2, "--shares expects LABEL=SHARE"),
        (("fit", data, "--target", "label", "--shares", "high=0.3,low=x"), 2, "--shares expects LABEL=SHARE"),
        (("fit", data, "--target", "label", "--shares", "high=0.3,low=0.3"), 2, "add up to 1"),
        (("fit", data, "--target", "label", "--shares", "high=0.3,l=0.7"), 2, "the classes are high, low"),
        (("predict", data, data), 1, "is not a handful model file"),
        (("predict", model, other), 1, "got none named 'color', 'note'"),
        (("predict", model, clash), 2, "Choose another name with --column"),
        (("predict", model, data, "--confidence", "size"), 2, "Choose another name with --confidence"),
        (("predict", model, data, "--column", "p", "--confidence", "p"), 2, "must be two names, got 'p' for both"),
        (("predict", model, data, "--abstain", "80%"), 2, "'80%' is a percentage. Write 0.8."),
        (("predict", model, data, "--abstain", "x%"), 2, "'x%' is not a valid number"),
        (("condense", model, data, data), 1, "got k-nn."),
        (("predict", model, data, "-o", "x.pdf"), 2, "the name of a table must end in"),
        (("predict", model, tmp_path / "none.csv"), 1, "no such file"),
        (("inspect", tmp_path / "none"), 1, "no such file"),
    ]:
        code, _, err = run(capsys, *arguments)
        assert (code, message in err) == (expected, True), err
        assert "Traceback" not in err


def test_inspect_writes_days_and_times_as_such(capsys, tmp_path):
    data = tmp_path / "visits.csv"
    rows = [f"2024-01-{day:02d},{8 + day % 3}:30,${day},{'ab'[day % 2]}" for day in range(1, 31)]
    data.write_text("seen,at,paid,kind\n" + "\n".join(rows) + "\n")
    assert run(capsys, "fit", "table", data, "--target", "kind", "--method", "k-nn")[0] == 0
    code, out, _ = run(capsys, "inspect", tmp_path / "visits.handful", "--json")
    columns = json.loads(out)["columns"]
    assert code == 0
    assert columns["seen"] == "date, mean 2024-01-16, spread 9 days"
    assert columns["at"] == "time of day, mean 09:30, spread 0.82 hours"
    assert columns["paid"] == "numeric (amount), mean 15.5, spread 8.655"


def test_an_earlier_model_is_told_or_kept(capsys, data, tmp_path):
    fit = ("fit", data, "--method", "k-nn", "--target")
    model = tmp_path / "rows.handful"
    assert "replaced" not in run(capsys, *fit, "label")[2]
    code, _, err = run(capsys, *fit, "label")
    assert code == 0
    assert f"{model}: the earlier model was replaced (k-nn for 'label', from rows.csv)." in err
    before = model.read_bytes()
    code, _, err = run(capsys, *fit, "color")
    assert code == 1
    assert (
        "answers 'label', not 'color' (k-nn for 'label', from rows.csv). Name another file with --model, or delete"
        in err
    )
    tags = tmp_path / "tags.tsv"
    tags.write_text("the\tD\ndog\tN\n\n" * 4)
    code, _, err = run(capsys, "fit", "tagger", tags, "--model", model)
    assert code == 1
    assert "is there already, and is a model of table rows (k-nn for 'label', from rows.csv)." in err
    assert model.read_bytes() == before
    code, _, err = run(capsys, *fit, "label", "--model", tags)
    assert code == 1
    assert "is no model that can be read" in err
    model.write_bytes(b"")  # such as mktemp makes
    assert run(capsys, *fit, "label")[0] == 0


def test_fit_counts_the_answers_that_it_tells_of(capsys, data, tmp_path):
    _, out, _ = run(capsys, "fit", data, "--target", "label", "--method", "k-nn")
    n_sure, n_held, n_right, of = map(
        int, re.search(r"\((\d+) of (\d+) answers\), .* right \((\d+) of (\d+), so likely", out).groups()
    )
    assert (n_held, of) == (30, n_sure)
    assert n_right <= n_sure <= n_held
    few = tmp_path / "few.csv"
    lines = data.read_text().splitlines()
    few.write_text("\n".join([*lines[:5], *(line.rsplit(",", 1)[0] + "," for line in lines[5:])]) + "\n")
    _, out, _ = run(capsys, "fit", few, "--target", "label", "--method", "k-nn")
    assert "Confidence is kept low: at most 0.75" in out
    _, out, _ = run(capsys, "predict", tmp_path / "few.handful", few, "--abstain", "0.8")
    assert {row["predicted"] for row in csv.DictReader(out.splitlines())} == {""}


def test_an_interrupted_race_keeps_the_earlier_model(capsys, data, tmp_path, monkeypatch):
    from handful.experiment.arena_tables import TableArena

    monkeypatch.setitem(CATALOGUE, "table", QUICK)
    whole, calls = TableArena.run, []

    def stop(self, task):
        calls.append(task)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return whole(self, task)

    monkeypatch.setattr(TableArena, "run", stop)
    model = tmp_path / "rows.handful"
    race = ("fit", data, "--target", "label", "--jobs", "1")
    code, _, err = run(capsys, *race)
    assert (code, model.exists()) == (130, True)
    assert "Interrupted: the best bet so far was fitted and saved." in err
    assert re.search(r"Now \S+ is fitted to all 30 labels.* Ctrl-C once more ends at once, without a model\.", err)
    before = model.read_bytes()
    for name in ("rows.interrupted.handful", "rows.interrupted1.handful"):
        calls.clear()
        code, out, err = run(capsys, *race)
        assert code == 130
        assert f"fitted and saved in {tmp_path / name}; the earlier model stays in {model}." in err
        assert "was replaced" not in err
        assert str(tmp_path / name) in out
        assert (tmp_path / name).stat().st_size
        assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("method", "setting", "message"),
    [
        ("k-nn", "foo=3", "which has algorithm, leaf_size"),
        ("k-nn", "n_neighbours=3", "Did you mean 'n_neighbors'?"),
        ("k-nn", "n_neighbors=abc", "must be an int in the range [1, inf)"),
        ("k-nn", "n_neighbors=1000", "does not go with the data"),
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
    ("surest", "counts", "told", "untold"),
    [
        ((0.42, 20 / 21), [21, 20, 50], "(21 of 50 answers)", "more than once"),
        ((0.2, 1.0), [8, 8, 40], "100% of them right (8 of 8, so likely 63% to 100%).", "once"),
        ((0.16, 1.0), [16, 16, 100], "100% of them right (16 of 16, so likely 63% to 100%).", "Percentages"),
        ((0.2, 0.9), [10, 8, 50], "90% of them right (8 of 10, so likely 55% to 100%).", "once"),
        ((0.725, 55 / 58), [58, 55, 80], "held out (each was asked more than once) (58 of 80 answers)", "Percentages"),
        ((0.72, 1.0), [5, 5, 8], "Percentages count each class as often as it is answered for unlabeled rows.", "once"),
        (
            (0.0, 0.0),
            [0, 0, 80],
            "None of 80 answers to labeled rows that were held out (each was asked more than",
            "%",
        ),
    ],
)
def test_percentages_say_what_they_are_of(surest, counts, told, untold):
    model = SimpleNamespace(confidence_={"few": None, "surest": surest, "counts": counts}, n_labeled_=50)
    assert told in _surest(model)
    assert untold not in _surest(model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "Label"), "Did you mean 'label'?"),
        (("--target", "label", "--shares", "low=9,high=1"), "add up to 1"),
        (("--target", "label", "--columns", "sise=skip"), "'sise'"),
    ],
)
def test_what_names_something_that_is_not_there_is_wrong_use(capsys, data, options, message):
    code, _, err = run(capsys, "fit", "table", data, "--method", "k-nn", *options)
    assert code == 2
    assert message in err


def test_a_column_of_answers_on_a_scale_is_called_one(tmp_path, capsys):
    path = tmp_path / "survey.csv"
    moods, colors = ("never", "rarely", "often"), ("red", "blue")
    rows = [f"{moods[i % 3]},{colors[i % 2]},{'low' if i % 3 == 0 else 'high' if i < 30 else ''}" for i in range(60)]
    path.write_text("\n".join(["mood,color,label", *rows]))
    model = tmp_path / "m.handful"
    code, _, err = run(capsys, "fit", path, "--target", "label", "--method", "k-nn", "--model", model)
    assert code == 0
    assert "Columns: 1 nominal (color); 1 scale (mood)." in err
    code, out, _ = run(capsys, "inspect", model)
    assert "mood: scale (never, rarely, often), 3 values" in out
    assert "color: nominal, 2 values" in out


def test_options_of_a_race_are_told_to_be_unused_by_a_named_method(capsys, data, tmp_path):
    named = ("fit", data, "--target", "label", "--method", "k-nn", "--model", tmp_path / "m.handful")
    code, _, err = run(capsys, *named, "--trials", 3, "--minutes", 1)
    assert code == 0
    assert "--minutes and --trials: not used, for there is no race where --method names the method." in err
    assert "not used" not in run(capsys, *named)[2]


@pytest.mark.parametrize(("name", "typed"), [("my röws.handful", "'my röws.handful'"), ("-m.handful", "./-m.handful")])
def test_the_next_command_can_be_typed(capsys, data, tmp_path, monkeypatch, name, typed):
    monkeypatch.chdir(tmp_path)
    _, out, _ = run(capsys, "fit", data, "--target", "label", "--method", "k-nn", f"--model={name}")
    assert f"Next: handful predict {typed} NEW.csv" in out


def test_one_row_that_is_tried_warns_of_nothing(capsys, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(
        "size,label\n" + "".join(f"{'inf' if i % 5 == 0 else i % 2 + i / 100},{'ab'[i % 2]}\n" for i in range(30))
    )
    code, _, err = run(capsys, "fit", path, "--target", "label", "--method", "logistic-regression")
    assert code == 0
    assert "Column 'size' has 6 infinite numbers" in err
    assert "warning" not in err


def test_a_table_without_rows_is_told(capsys, data, tmp_path):
    model, empty = tmp_path / "m.handful", tmp_path / "empty.csv"
    run(capsys, "fit", data, "--target", "label", "--method", "k-nn", "--model", model)
    empty.write_text("size,color,note\n")
    code, out, err = run(capsys, "predict", model, empty)
    assert (code, out) == (0, "size,color,note,predicted,confidence\n")
    assert f"{empty}: has no rows, but a header alone." in err
