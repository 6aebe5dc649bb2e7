from __future__ import annotations

import csv

import pytest
from cli_run import run


def n_labels(path):
    with path.open(newline="") as file:
        return sum(bool(row["digit"]) for row in csv.DictReader(file))


@pytest.mark.slow
def test_the_demo_runs_commands_and_reveals_the_truth(capsys, tmp_path):
    folder = tmp_path / "demo"
    code, out, _ = run(capsys, "demo", "--folder", folder)
    assert code == 0
    assert out.count("\n") <= 40
    assert sum(line.startswith("$ handful ") for line in out.splitlines()) >= 8
    assert out.rstrip().splitlines()[-1].startswith("Next:  handful fit ")
    assert {"digits.csv", "digits.handful", "wine.csv", "ads.txt", "ads.handful"} <= {p.name for p in folder.iterdir()}
    shown = {name.strip(): value for name, _, value in (line.partition(": ") for line in out.splitlines()) if value}
    true = [float(value.split("%")[0]) for name, value in shown.items() if name.startswith("True accuracy")]
    few_labels, forty_rows, ads = true[0], true[-2], true[-1]
    assert (few_labels > 80, forty_rows > 80, ads > 60) == (True, True, True), out
    bars = [float(line.split()[-1].rstrip("%")) for line in out.splitlines() if "█" in line]
    assert len(bars) == 3
    assert abs(bars[2] - bars[1] - float(shown["'next' against random"].split()[0])) < 0.15
    assert "mean of 5 draws" in out
    assert n_labels(folder / "pool.csv") == 20
    assert n_labels(folder / "chosen.csv") == n_labels(folder / "random.csv") == 40
    assert n_labels(folder / "test.csv") == 0
    tested = (folder / "test.csv").read_text().splitlines()[1:]
    assert not {row.rpartition(",")[0] for row in tested} & {
        row.rpartition(",")[0] for row in (folder / "chosen.csv").read_text().splitlines()[1:]
    }


def test_a_folder_of_others_is_not_written_to(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "mine").mkdir()
    for folder in (tmp_path / "file" / "demo", tmp_path / "mine"):
        code, _, err = run(capsys, "demo", "--folder", folder)
        assert (code, err.startswith(f"handful: {folder}: ")) == (1, True)
    code, _, err = run(capsys, "demo", "--folder", tmp_path / "file")
    assert (code, err.startswith("handful: --folder: "), err.count("\n")) == (2, True, 1)
    assert not list((tmp_path / "mine").iterdir())
