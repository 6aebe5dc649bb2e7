from __future__ import annotations

import csv
import json
import sys

import pytest
from cli_run import run
from tiny_encoder import write_encoder

from handful.preprocessing import sentence_encoders as vectors

WORDS = ["dog", "cat", "fur", "paw", "boat", "wave", "salt", "sail", "the", "a", "of", "and", "in", "to"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "_KNOWN", [])
    write_encoder(tmp_path / "tiny", WORDS)
    path = tmp_path / "texts.csv"
    lines = [
        f"the {WORDS[i % 4]} and {WORDS[(i // 4) % 4]},pet"
        if i % 2
        else f"a {WORDS[4 + i % 4]} in {WORDS[4 + i // 4 % 4]},sea"
        for i in range(120)
    ]
    path.write_text("\n".join(["text,label", *(line if i < 20 else line[:-3] for i, line in enumerate(lines))]) + "\n")
    return path


def test_fit_predict_inspect_with_an_encoder(capsys, data, tmp_path, monkeypatch):
    fit = ["fit", "table", data, "--target", "label", "--method", "ensemble", "--columns", "text=text"]
    code, out, err = run(capsys, *fit, "--text", tmp_path / "tiny", "-o", tmp_path / "m.handful")
    assert code == 0, err
    code, out, _ = run(capsys, "inspect", tmp_path / "m.handful", "--json")
    assert "vectors of" in json.loads(out)["columns"]["text"]
    code, _, err = run(capsys, "predict", tmp_path / "m.handful", data, "-o", tmp_path / "out.csv")
    assert code == 0, err
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["predicted"] for row in rows[:4]] == ["sea", "pet", "sea", "pet"]
    monkeypatch.setattr(vectors, "_KNOWN", [])
    for file in (tmp_path / "tiny").iterdir():
        file.unlink()
    (tmp_path / "tiny").rmdir()
    code, _, err = run(capsys, "predict", tmp_path / "m.handful", data, "-o", tmp_path / "again.csv")
    assert code == 1


def test_show(capsys, data, tmp_path, monkeypatch):
    monkeypatch.setenv(vectors.ENVIRONMENT, str(tmp_path / "tiny"))
    code, out, _ = run(capsys, "vectors", "show", "--json")
    assert code == 0
    assert json.loads(out)["width"] == 8
    code, out, _ = run(capsys, "vectors", "show", tmp_path / "tiny")


def test_what_is_missing_is_told(capsys, data, tmp_path, monkeypatch):
    code, _, _ = run(capsys, "vectors", "show")
    assert code != 0
    code, _, _ = run(capsys, "vectors", "distill", "some-model", "-o", tmp_path / "tiny")
    assert code != 0
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, _ = run(capsys, "vectors", "distill", "some-model", "-o", tmp_path / "new")
    assert code == 1
    code, _, _err = run(
        capsys,
        "fit",
        "table",
        data,
        "--target",
        "label",
        "--method",
        "ensemble",
        "--columns",
        "text=text",
        "--text",
        tmp_path / "none",
    )
    assert code == 1
