from __future__ import annotations

import json

import pytest

from handful.cli import main
from handful.methods import CATALOGUE

METHODS = ("k-nn", "logistic-regression", "self-training", "label-spreading", "ordinal-knn")


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as done:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return done.value.code, out, err


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setitem(CATALOGUE, "table", {name: CATALOGUE["table"][name] for name in METHODS})
    monkeypatch.setattr("handful.cli.demo._N_ADS", 60)
    monkeypatch.setattr("handful.cli.demo._METHODS", METHODS)


@pytest.mark.slow
def test_the_demo_compares_tags_and_tells_what_is_next(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("handful.cli.demo._compiled", lambda: False)
    code, out, err = run(capsys, "demo", "--folder", tmp_path / "demo", "--trials", "14", "--jobs", "1")
    assert code == 0
    assert "compiles the kernels" in err
    monkeypatch.setattr("handful.cli.demo._compiled", lambda: True)
    for piece in (
        "label-spreading",
        "Best bet: ",
        "ten at random",
        " generated apartment ads",
        "FEATURES",
        "[",
        "handful predict YOURS.handful",
    ):
        assert piece in out
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {
        "report.html",
        "digits.csv",
        "wine.csv",
        "ads.handful",
    }
    code, out, err = run(capsys, "demo", "--folder", tmp_path / "demo", "--trials", "14", "--jobs", "1", "--json")
    assert "compiles the kernels" not in err
    found = json.loads(out)
    assert code == 0
    assert found["wine"]["facts"]["labels used for training"] == 18
    assert found["digits"]["facts"]["labels used for training"] == 50
    assert found["next"]["before"] < found["next"]["chosen"]
    assert len({pick["row"] for pick in found["next"]["rows"]}) == 10
    assert 0.2 < found["ads"]["accuracy"] < 1
    assert found["ads"]["labels"] == 0


def test_a_folder_that_cannot_be_made_is_one_sentence(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run(capsys, "demo", "--folder", tmp_path / "file" / "demo")
    assert code == 1
    assert "cannot be made" in err
