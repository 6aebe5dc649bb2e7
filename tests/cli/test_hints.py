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
