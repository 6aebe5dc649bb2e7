from __future__ import annotations

import json

import numpy as np
import pytest
from cli_run import run
from sklearn.datasets import load_iris

from handful.comparison.compare import compare
from handful.comparison.trials import Limits
from handful.registry import METHODS

TRIED = ("k-nn", "logistic-regression", "self-training", "ordinal-knn")


@pytest.fixture(autouse=True)
def own_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("HANDFUL_RUNS", str(tmp_path / "runs"))
    monkeypatch.setitem(METHODS, "table", {name: METHODS["table"][name] for name in TRIED})


@pytest.fixture
def iris(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "iris.csv"
    lines = [",".join(map(str, row)) + f",k{label}" for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("a,b,c,d,label\n" + "\n".join(lines) + "\n")
    return path


QUICK = ("--labels", "5-per-class", "--trials", "24", "--methods", "self-training", "--jobs", "1")


def test_the_main_job(capsys, iris, tmp_path):
    reports = [tmp_path / name for name in ("r.html", "r.json")]
    options = [word for path in reports for word in ("--report", path)]
    code, out, _err = run(capsys, "compare", iris, "--target", "label", *QUICK, *options)
    assert code == 0
    assert "self-training" in out
    assert "Selected: self-training" in out
    page = reports[0].read_text(encoding="utf-8")
    assert "handful compare" in page
    assert "--labels 5-per-class" in page
    report = json.loads(reports[1].read_text(encoding="utf-8"))
    assert (report["selected"], report["n_labels"], report["facts"]["trials"]) == ("self-training", 15, 24)
    assert [line["method"] for line in report["methods"] if line["is_selected"]] == ["self-training"]
    assert report["selection"] in page
    code, again, _err = run(capsys, "compare", iris, "--target", "label", *QUICK)
    assert code == 0
    assert again.split("\nNext:")[0] == out.split("\nNext:")[0]


def test_json_on_stdout_is_json_alone(capsys, iris):
    code, out, _ = run(capsys, "compare", iris, "--target", "label", *QUICK, "--json")
    report = json.loads(out)
    assert code == 0
    assert {"k-nn", "logistic-regression", "self-training"} <= {line["method"] for line in report["methods"]}
    assert report["command"].startswith("handful compare ")


def table(path, text):
    path.write_text(text)
    return path


MANY = "x,y\n" + "".join(f"{i},c{i // 2}\n" for i in range(20_000))
WRONG = {
    "no labels": ("x,y\n1,\n2,\n3,\n", "y", 1, "column 'y': no row has a label."),
    "one class": ("x,y\n1,a\n2,a\n3,\n", "y", 1, "column 'y': all labels are 'a'."),
    "one label per class": ("x,y\n1,a\n2,b\n3,\n4,\n", "y", 1, "at least one class needs two labeled rows"),
    "a name twice": ("x,x,y\n1,2,a\n", "y", 1, "expected each column name once, got 'x' again"),
    "ten thousand classes": (MANY, "y", 1, "column 'y': 10,000 classes, at most 1,000 are possible."),
    "no such target": ("x,label\n1,a\n2,b\n", "lable", 2, "Did you mean 'label'?"),
    "all labeled": ("x,y\n1,a\n2,b\n3,a\n4,b\n", "y", 2, "for example --labels 10%"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_is_one_sentence(capsys, tmp_path, name):
    text, target, expected, message = WRONG[name]
    code, out, err = run(capsys, "compare", table(tmp_path / "t.csv", text), "--target", target)
    assert (code, out) == (expected, "")
    assert message in err
    assert err.splitlines()[-1].startswith("handful: ")
    assert len(err.splitlines()) <= 3  # what was read, and what is wrong with it


def test_a_text_is_no_table(capsys, tmp_path):
    path = table(tmp_path / "story.txt", "It was a dark night\nand the rain fell\n")
    code, _, _err = run(capsys, "compare", path, "--target", "y")
    assert code == 1
    assert run(capsys, "compare", tmp_path / "none.csv", "--target", "y")[0] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--target: missing."),
        (("--target", "label", "--labels", "many"), "labels must be like 10%, 5-per-class or 20, got 'many'."),
        (("--target", "label", "--labels", "10%", "--methods", "ordinal"), "Did you mean 'ordinal-knn'?"),
        (("--target", "label", "--labels", "10%", "--report", "out.pdf"), "out.pdf: not the name of a report."),
        (("--target", "label", "--labels", "10%", "--columns", "a"), "--columns: 'a' is not NAME=KIND."),
        (
            ("--target", "label", "--labels", "10%", "--columns", "a=odd"),
            "'a' cannot be 'odd'. Choose one of numeric, categorical",
        ),
        (("--target", "label", "--labels", "10%", "--minutes", "0"), "0"),
    ],
)
def test_wrong_use_ends_with_two(capsys, iris, options, message):
    code, _, err = run(capsys, "compare", iris, *options)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_an_interrupt_ends_with_130_and_keeps_what_is_done(capsys, iris, monkeypatch):
    from handful.comparison.tables import TableExperiment

    whole, calls = TableExperiment.run, []

    def stop(self, task):
        calls.append(task)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return whole(self, task)

    monkeypatch.setattr(TableExperiment, "run", stop)
    code, _out, _err = run(capsys, "compare", iris, "--target", "label", *QUICK)
    assert code == 130
    calls.clear()
    monkeypatch.setattr(TableExperiment, "run", lambda self, task: calls.append(task) or whole(self, task))
    code, _, _ = run(capsys, "compare", iris, "--target", "label", *QUICK)
    assert code == 0
    assert 0 < len(calls) <= 24 - 8


def test_missing_marks_and_kinds_are_heeded(capsys, tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal(3 * (i % 2)):.3f},{i % 3},{'ab'[i % 2] if i % 4 < 2 else '?'}" for i in range(80)]
    path = table(tmp_path / "t.csv", "x,zone,y\n" + "\n".join(lines) + "\n")
    options = ("--methods", "k-nn", "--trials", "6", "--jobs", "1", "--json")
    code, out, _ = run(
        capsys, "compare", path, "--target", "y", "--missing-label", "?", "--columns", "zone=categorical", *options
    )
    report = json.loads(out)
    assert code == 0
    assert report["facts"]["rows with a label"] == 40
    assert report["columns"] == {"x": "numeric", "zone": "categorical"}


def test_where_labels_are_hidden_none_is_a_class(capsys, tmp_path):
    lines = [f"{i % 7},{i % 3},{'none' if i % 5 < 3 else 'ab'[i % 2]}" for i in range(90)]
    path = table(tmp_path / "t.csv", "x,zone,y\n" + "\n".join(lines) + "\n")
    options = ("--target", "y", "--methods", "k-nn", "--trials", 2, "--jobs", 1)
    code, _, err = run(capsys, "compare", path, "--labels", "20", *options)
    assert code == 0
    assert "'none' (54) in 'y' is a class." in " ".join(err.split())
    _, _, err = run(capsys, "compare", path, *options)
    planned = compare(path, "y", labels=20, methods=["k-nn"], limits=Limits(trials=2, n_jobs=1))
    assert planned.experiment.table.classes.tolist() == ["a", "b", "none"]


def test_a_report_that_cannot_be_written_is_told_before_the_work(capsys, iris, tmp_path):
    where = tmp_path / "nowhere" / "r.html"
    code, out, err = run(capsys, "compare", iris, "--target", "label", *QUICK, "--report", where)
    assert (code, out) == (1, "")
    assert "rows" not in err


def test_where_there_is_next_to_no_time_two_methods_are_measured(capsys, iris):
    code, _out, _ = run(capsys, "compare", iris, "--target", "label", "--labels", "15", "--minutes", "0.000001")
    assert code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sklearn.svm", "not MODULE:CLASS"),
        ("no_such:Thing", "cannot be imported"),
        ("sklearn.svm:SVX", "no class"),
        ("sys:exit", "not a class with fit and predict"),
        ("os:abort", "not a class with fit and predict"),
        ("sklearn.preprocessing:StandardScaler", "not a class with fit and predict"),
        ("sklearn.multiclass:OneVsRestClassifier", "cannot be made without parameters"),
    ],
)
def test_a_class_that_is_not_there_is_one_sentence(capsys, iris, text, message):
    code, _, err = run(capsys, "compare", iris, "--target", "label", "--labels", "15", "--with", text)
    assert code == 2
    assert message in err


def test_every_method_is_listed(capsys):
    from handful.registry import method_names

    code, out, _ = run(capsys, "methods", "-v")
    assert code == 0
    assert set(method_names()) <= {line.split()[0] for line in out.splitlines()}


def test_an_interrupt_before_the_first_score_ends_with_130(capsys, iris, monkeypatch):
    from handful.comparison.tables import TableExperiment

    def stop(self, task):
        raise KeyboardInterrupt

    monkeypatch.setattr(TableExperiment, "run", stop)
    code, out, err = run(capsys, "compare", iris, "--target", "label", *QUICK)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "handful: interrupted."
