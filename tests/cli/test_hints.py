"""Hints for wrong commands, and numbers of few labels."""

from pathlib import Path

import numpy as np
import pytest

from handful.cli import main


def _run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_tagged_sentences_are_not_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = tmp_path / "train.tsv"
    train.write_text("Anna\tB-PER\nlives\tO\n\nBob\tB-PER\nmet\tO\n\n" * 5)
    assert _run("fit", train, "--target", "tag") == 1
    assert f"handful fit tagger {train}" in capsys.readouterr().err


def test_a_command_that_is_gone_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("warmup") == 2
    assert "not needed any more" in capsys.readouterr().err


def test_few_labels_give_whole_percents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(0).normal(size=60)
    labels = [("yes" if value > 0 else "no") if row < 30 else "" for row, value in enumerate(x)]
    data, model = tmp_path / "data.csv", tmp_path / "data.handful"
    data.write_text("x,label\n" + "".join(f"{value:.3f},{label}\n" for value, label in zip(x, labels, strict=True)))
    assert _run("prevalence", data, "--target", "label") == 0
    frequencies = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("yes", "no"))]
    assert len(frequencies) == 2
    assert not any("." in line for line in frequencies)
    assert _run("fit", data, "--target", "label", "-o", model) == 0
    capsys.readouterr()
    assert _run("inspect", model) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("how it was trained"))
    assert "accuracy" in line
    assert "95% interval" in line
    assert ".;" not in line


def test_a_comparison_of_few_labels_prints_whole_percents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(0).normal(size=80)
    data = tmp_path / "data.csv"
    labels = [("yes" if value > 0 else "no") if row < 40 else "" for row, value in enumerate(x)]
    data.write_text("x,label\n" + "".join(f"{value:.3f},{label}\n" for value, label in zip(x, labels, strict=True)))
    options = ("--methods", "k-nn,random-forest", "--n-splits", 2, "--trials", 4)
    assert _run("compare", data, "--target", "label", *options) == 0
    out = capsys.readouterr().out
    sentence = next(line for line in out.splitlines() if line.startswith("Selected: "))
    percents = sentence.split(" accuracy")[0].rsplit(" ", 1)[1]
    assert percents.endswith("%")
    assert "." not in percents


def test_inspect_names_a_missing_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("inspect", tmp_path / "none.handful") == 1
    assert "no such file" in capsys.readouterr().err
