from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from tiny_encoder import write_encoder

from handful.cli import main
from handful.features import vectors

HOWTO = Path(__file__).parents[2] / "docs" / "howto-texts.md"


def test_the_example_of_the_howto_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], str(HOWTO), "exec"), {})
    told = capsys.readouterr().out
    assert told.startswith("['Topics (answers-")
    assert float(told.split()[-1]) > 0.9


def test_the_commands_of_the_howto_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(vectors, "_KNOWN", [])
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = {"good": ["fine", "great", "lovely", "superb"], "bad": ["awful", "poor", "dull", "sad"]}
    lines = []
    for number in range(120):
        label = "good" if number % 2 else "bad"
        text = f"a {rng.choice(words[label])} and {rng.choice(words[label])} thing number {number}"
        lines.append(f"{text},{label if number < 20 else ''}")
    Path("texts.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    Path("new.csv").write_text("text\na great and superb thing\n")
    write_encoder("encoder", [*words["good"], *words["bad"], "a", "and", "thing"])
    commands = [
        line.split("#")[0].strip()
        for block in re.findall(r"```\n(.*?)```", HOWTO.read_text(), re.DOTALL)
        for line in block.splitlines()
        if line.startswith("handful ") and "distill" not in line
    ]
    assert len(commands) == 4
    for command in commands:
        arguments = shlex.split(command)[1:]
        if arguments[0] == "fit":
            arguments += ["--trials", "4", "--jobs", "1"]
        with pytest.raises(SystemExit) as done:
            main(arguments)
        assert done.value.code in (0, None), capsys.readouterr().err
    assert "vectors of 8 numbers" in capsys.readouterr().out
