from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from cli_run import run

from handful.cli import demo


def n_labels(path):
    with path.open(newline="") as file:
        return sum(bool(row["digit"]) for row in csv.DictReader(file))


@pytest.mark.slow
def test_the_demo_runs_commands_and_reveals_the_truth(capsys, tmp_path, monkeypatch):
    folder = tmp_path / "demo"
    made = demo._Demo
    monkeypatch.setattr(demo, "_Demo", lambda quiet: made(quiet=False))  # what is printed, and the figures, of one run
    code, out, err = run(capsys, "demo", "--folder", folder, "--json")
    assert code == 0, err
    out, _, figures = out.partition("\n{")
    facts = json.loads("{" + figures)
    assert out.count("\n") <= 40
    assert sum(line.startswith("$ handful ") for line in out.splitlines()) >= 8
    assert {"digits.csv", "digits.handful", "wine.csv", "ads.txt", "ads.handful"} <= {p.name for p in folder.iterdir()}
    # The tutorial writes these in the same folder.
    assert not {"predictions.csv", "todo.csv", "wine.handful", "wine2.csv", "wine2.handful"} & {
        p.name for p in folder.iterdir()
    }
    assert facts["few_labels"]["accuracy"] > 0.8
    active = facts["next"]  # whichever side wins, it is the same in every run, and printed
    assert active["method"] == "logistic-regression"
    assert len(set(active["random_draws"])) > 1
    assert active["random"] == pytest.approx(np.mean(active["random_draws"]))
    assert f"{100 * (active['chosen'] - active['random']):+.1f} points" in out
    assert "mean of 5 draws" in out
    assert n_labels(folder / "pool.csv") == 20
    assert n_labels(folder / "chosen.csv") == n_labels(folder / "random.csv") == 40
    assert (active["tested"], n_labels(folder / "test.csv")) == (797, 0)
    tested = (folder / "test.csv").read_text().splitlines()[1:]
    assert not {row.rpartition(",")[0] for row in tested} & {
        row.rpartition(",")[0] for row in (folder / "chosen.csv").read_text().splitlines()[1:]
    }
    assert facts["ads"]["accuracy"] > 0.6


def test_a_folder_of_others_is_not_written_to(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "mine").mkdir()
    for folder in (tmp_path / "file" / "demo", tmp_path / "mine"):
        code, _, err = run(capsys, "demo", "--folder", folder)
        assert (code, err.startswith(f"handful: {folder}: ")) == (1, True)
    code, _, err = run(capsys, "demo", "--folder", tmp_path / "file")
    assert (code, err.startswith("handful: --folder: "), err.count("\n")) == (2, True, 1)
    assert not list((tmp_path / "mine").iterdir())
