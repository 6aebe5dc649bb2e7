"""Shots: labeled rows for a prompt."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris

import handful
from handful.cli import main
from handful.errors import ParameterError


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.where(np.arange(150) % 3 == 0, y, -1)


def test_every_label_is_present_and_more_shots_extend_fewer(iris):
    X, y = iris
    few, many = handful.shots(X, y, 3), handful.shots(X, y, 12)
    assert sorted(y[few]) == [0, 1, 2]
    assert many[:3].tolist() == few.tolist()
    assert len(set(many.tolist())) == 12
    assert (y[many] >= 0).all()
    assert many.tolist() == handful.shots(X, y, 12).tolist()


def test_the_medoid_of_the_most_frequent_class_comes_first():
    rows = {"x": [0.0, 1.0, 2.0, 9.0, 10.0]}
    assert handful.shots(rows, ["a", "a", "a", "b", "b"], 2)[0] == 1


def test_as_many_rows_as_there_are_and_fewer_than_classes(iris):
    X, y = iris
    assert len(handful.shots(X, y, 500)) == 50
    with pytest.raises(ParameterError, match="at least 3"):
        handful.shots(X, y, 2)


def test_the_command_writes_json_lines_and_prompts(tmp_path, capsys):
    data = tmp_path / "t.csv"
    text = ["good\nday", "bad day", "good one", "bad two", "fine"]
    pl.DataFrame({"text": text, "n": ["1", None, "3", "4", "5"], "label": ["p", "q", "p", "q", None]}).write_csv(data)
    with pytest.raises(SystemExit) as ended:
        main(["shots", str(data), "--target", "label", "-n", "4", "--as", "jsonl", "-o", str(tmp_path / "s.jsonl")])
    assert ended.value.code == 0
    records = list(map(json.loads, (tmp_path / "s.jsonl").read_text().splitlines()))
    assert {record["label"] for record in records[:2]} == {"p", "q"}
    assert sorted(record["text"] for record in records) == sorted(text[:4])
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["shots", str(data), "--target", "label", "-n", "4"])
    out = capsys.readouterr().out
    assert out.count("\nlabel: ") == 4
    assert "text: good day\n" in out
    assert out.startswith("Give each row one of these labels for label: p, q.")
